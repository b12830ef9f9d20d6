// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search": the kernel's own CUBIC, with SEARCH in HyStart's place.
 *
 * CUBIC keeps every decision but one: when to leave slow start.  There SEARCH
 * (search_core.c) is asked on each ACK, and when it says exit, ssthresh becomes
 * cwnd, as in the thesis; nothing is rolled back.  The hook runs before CUBIC's
 * cong_avoid in the same ACK, so growth stops with the ACK that decided.
 *
 * SEARCH measures one slow start at a time.  It starts at the first ACK with an
 * RTT sample in slow start, and anew:
 *
 *  - after an idle restart and after a timeout, as in the thesis;
 *  - whenever a flow that had left slow start, by whatever way, is in it again.
 *    The kernel can lower cwnd below ssthresh without a word to this module (an
 *    application-limited flow), and bins from before that would be stale.
 *
 * During recovery and CWR, cwnd below ssthresh is the work of proportional rate
 * reduction and not slow start: nothing is measured, and ssthresh is left alone.
 *
 * Unlike the published Linux code, SEARCH is not blind for the first second of a
 * CUBIC epoch: it would miss a slow start that resumes.
 *
 * Not handled, as in SEARCH 2.0: a flow that its application or the receiver's
 * window limits stops doubling too, and may exit early.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#define KERNEL_CUBIC_OPS tcp_search
#include "kernel_cubic.h"

#include "search_core.h"
#include "slow_start.h"
#include "tcp_search_params.h"

#define CREATE_TRACE_POINTS
#include "search_trace.h"

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct tcp_search {
	struct bictcp cubic;
	struct search_state *search;	/* NULL: plain CUBIC */
	bool reducing;			/* see slow_start.h */
};

static atomic_t no_memory_flows = ATOMIC_INIT(0);

static int no_memory_flows_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", atomic_read(&no_memory_flows));
}

static const struct kernel_param_ops no_memory_flows_ops = {
	.get = no_memory_flows_get,
};

module_param_cb(no_memory_flows, &no_memory_flows_ops, NULL, 0444);
MODULE_PARM_DESC(no_memory_flows,
		 "flows that run plain CUBIC for want of memory for SEARCH (read only)");

static void tcp_search_reset(struct sock *sk)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	if (ca->search)
		search_reset(ca->search);
}

/* May come in mid-flow, by setsockopt(): SEARCH then starts from that point. */
static void tcp_search_init(struct sock *sk)
{
	struct tcp_search *ca = inet_csk_ca(sk);
	struct search_params params;

	cubictcp_init(sk);

	tcp_search_params_get(&params);
	ca->search = kmalloc(search_state_bytes(&params), GFP_ATOMIC | __GFP_NOWARN);
	if (!ca->search) {
		atomic_inc(&no_memory_flows);
		pr_warn_ratelimited("no memory for SEARCH: this flow runs plain CUBIC\n");
		return;
	}
	search_setup(ca->search, &params);
}

/* May come more than once, and for a socket that was never initialised. */
static void tcp_search_release(struct sock *sk)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	kfree(ca->search);
	ca->search = NULL;
}

static void tcp_search_exit_slow_start(struct sock *sk, u32 rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_ssthresh = tcp_snd_cwnd(tp);
	slow_start_left(sk, tcp_snd_cwnd(tp), rtt_us, SLOW_START_SEARCH);
}

static void tcp_search_update(struct sock *sk, struct search_state *search, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct search_decision decision;
	enum search_verdict verdict;

	if (tcp_in_cwnd_reduction(sk))
		return;
	if (!tcp_in_slow_start(tp)) {
		search_reset(search);
		return;
	}

	verdict = search_on_ack(search, tp->tcp_mstamp, rtt_us, tp->bytes_acked, &decision);
	if (verdict == SEARCH_BIN_OPEN)
		return;

	trace_search_bin(sk, &decision);
	if (verdict == SEARCH_EXIT)
		tcp_search_exit_slow_start(sk, rtt_us);
}

/* May come before init: for the SYN of a flow that this host opens. */
static void tcp_search_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	cubictcp_acked(sk, sample);

	/* Negative: an ACK for data sent more than once tells no RTT.  0: below the clock's
	 * resolution, taken as 1 us as CUBIC does.
	 */
	if (ca->search && sample->rtt_us >= 0)
		tcp_search_update(sk, ca->search, max(sample->rtt_us, 1));
}

static void tcp_search_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_CWND_RESTART)
		tcp_search_reset(sk);
	cubictcp_cwnd_event(sk, event);
}

static u32 tcp_search_ssthresh(struct sock *sk)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	return cubictcp_recalc_ssthresh(sk);
}

static void tcp_search_state(struct sock *sk, u8 new_state)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	if (new_state == TCP_CA_Loss)
		tcp_search_reset(sk);
	cubictcp_state(sk, new_state);
}

static struct tcp_congestion_ops tcp_search __read_mostly = {
	.init		= tcp_search_init,
	.release	= tcp_search_release,
	.ssthresh	= tcp_search_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= tcp_search_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= tcp_search_cwnd_event,
	.pkts_acked	= tcp_search_acked,
	.owner		= THIS_MODULE,
	.name		= "search",
};

static int __init tcp_search_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct tcp_search) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(offsetof(struct tcp_search, cubic));

	return kernel_cubic_register();
}

module_init(tcp_search_module_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with SEARCH: Slow start Exit At Right CHokepoint");
