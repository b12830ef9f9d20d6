/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A version of SEARCH as a congestion control: the kernel's own CUBIC, with SEARCH in
 * HyStart's place.  The file of a version, tcp_search*.c, defines and then includes:
 *
 *	SEARCH_NAME		its name, "search2"
 *	SEARCH_VERSION		its parameters, a struct search_params (search_core.h)
 *	SEARCH_IN_SOCKET	if its flows' state lies in the socket
 *	SEARCH_DRAINS		if it can drain the queue on exit
 *
 * CUBIC keeps every decision but one: when to leave slow start.  There SEARCH
 * (search_core.c) judges each ACK, and when its verdict is exit, ssthresh becomes
 * search_exit_pkts(): cwnd, unless the version lowers it.  The hook runs before
 * CUBIC's cong_avoid in the same ACK, so growth stops with the ACK that decided.
 *
 * SEARCH measures one slow start at a time (again = 0; the published code differs, see
 * tcp_search2.c).  It starts at the first ACK with an RTT sample in slow start, and again:
 *
 *  - after an idle restart and after a timeout, as in the thesis;
 *  - whenever a flow that had left slow start, by whatever way, is in it again.
 *    The kernel can lower cwnd below ssthresh without a call of this module (an
 *    application-limited flow), and bins from before that would be stale.
 *
 * During recovery and CWR, cwnd below ssthresh is the work of proportional rate
 * reduction and not slow start: unless in_recovery is set, nothing is measured, and
 * ssthresh is left alone.
 *
 * Unless epoch_blind_ms is set, SEARCH is not blind for the first second of a CUBIC epoch,
 * as the published code is: it would miss a slow start that resumes.  And where a version
 * drains, ssthresh is its new value from the decision on, not only when the drain has
 * ended: the flow is out of slow start for every reader.
 */
#ifndef TCP_SEARCH_H
#define TCP_SEARCH_H

#ifndef __KERNEL__
#include "search_version.h"
#else

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_search_ops
#include "kernel_cubic.h"

#include "search_core.h"
#include "search_trace.h"
#include "slow_start.h"
#include "tcp_search_params.h"

#ifdef SEARCH_IN_SOCKET
#include "tcp_search_socket.h"
#else
#include "tcp_search_heap.h"
#endif
#include "tcp_search_drain.h"

static int flow_bytes_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%zu\n", search_flow_bytes());
}

static const struct kernel_param_ops flow_bytes_ops = {
	.get = flow_bytes_get,
};

module_param_cb(flow_bytes, &flow_bytes_ops, NULL, 0444);
MODULE_PARM_DESC(flow_bytes, "memory of a flow, CUBIC's included, in bytes (read only)");

/* May come in mid-flow, by setsockopt(): SEARCH then starts from that point. */
static void tcp_search_init(struct sock *sk)
{
	cubictcp_init(sk);
	search_flow_init(inet_csk_ca(sk));
	search_flow_reset(inet_csk_ca(sk), tcp_sk(sk)->bytes_acked);
}

static void tcp_search_release(struct sock *sk)
{
	search_flow_release(inet_csk_ca(sk));
}

/* The flow left slow start, or is out of it. */
static void tcp_search_stop(struct sock *sk, struct tcp_search *ca)
{
	switch (search_flow_params(ca)->again) {
	case SEARCH_AGAIN_NEW:
		search_flow_reset(ca, tcp_sk(sk)->bytes_acked);
		break;
	case SEARCH_AGAIN_NEVER:
		search_flow_stop(ca);
		break;
	}
}

static void tcp_search_leave(struct sock *sk, const struct search_decision *decision)
{
	const struct search_params *params = search_flow_params(inet_csk_ca(sk));
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tcp_snd_cwnd(tp);

	tp->snd_ssthresh = search_exit_pkts(params, decision, cwnd_pkts, tp->mss_cache);
	if (params->on_exit == SEARCH_ROLL_BACK)
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
	else if (params->on_exit == SEARCH_DRAIN)
		search_drain_begin(sk);
	if (params->again == SEARCH_AGAIN_NEVER)
		search_flow_stop(inet_csk_ca(sk));
	slow_start_left(sk, cwnd_pkts, decision->rtt_us, "search");
}

static bool tcp_search_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	switch (search_flow_params(inet_csk_ca(sk))->app_limited) {
	case SEARCH_LIMITED_SOCKET:
		return tp->app_limited;
	case SEARCH_LIMITED_SAMPLE:
		return tp->rate_app_limited;
	case SEARCH_LIMITED_WINDOW:
		return !tcp_is_cwnd_limited(sk);
	default:
		return false;
	}
}

static struct search_ack tcp_search_sample(const struct sock *sk, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct search_ack) {
		.now_us = tp->tcp_mstamp,
		.delivered_bytes = tp->bytes_acked,
		.sent_bytes = tp->bytes_sent,
		.rtt_us = rtt_us,
		.limited = tcp_search_limited(sk),
	};
}

/* Apart from tcp_search_update(): most flows are not traced, ... */
static noinline void tcp_search_record(struct sock *sk, struct tcp_search *ca, u32 rtt_us)
{
	struct search_ack ack = tcp_search_sample(sk, rtt_us);

	trace_search_ack(sk, &ack, !search_flow_started(ca));
}

/* ... and most ACKs end no bin. */
static noinline void tcp_search_decide(struct sock *sk, struct tcp_search *ca, u32 rtt_us)
{
	struct search_ack ack = tcp_search_sample(sk, rtt_us);
	struct search_decision decision;
	enum search_verdict verdict;

	verdict = search_flow_on_ack(ca, &ack, &decision);
	if (verdict == SEARCH_BIN_OPEN)
		return;

	trace_search_bin(sk, &decision);
	if (verdict == SEARCH_EXIT)
		tcp_search_leave(sk, &decision);
}

/* The flow is in no slow start that counts, or not yet. */
static bool tcp_search_blind(const struct sock *sk, const struct tcp_search *ca)
{
	const struct search_params *params = search_flow_params(ca);
	u32 epoch_start = ca->cubic.epoch_start;

	if (tcp_in_cwnd_reduction(sk) && !params->in_recovery)
		return true;

	return params->epoch_blind_ms && epoch_start &&
	       (s32)(tcp_jiffies32 - epoch_start) < (s32)msecs_to_jiffies(params->epoch_blind_ms);
}

static void tcp_search_update(struct sock *sk, struct tcp_search *ca, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!search_flow_ready(ca) || tcp_search_blind(sk, ca))
		return;
	if (!tcp_in_slow_start(tp)) {
		tcp_search_stop(sk, ca);
		return;
	}
	if (search_flow_stopped(ca))
		return;
	if (trace_search_ack_enabled())
		tcp_search_record(sk, ca, rtt_us);
	if (search_flow_due(ca, tp->tcp_mstamp))
		tcp_search_decide(sk, ca, rtt_us);
}

static noinline void tcp_search_acked_busy(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_search *ca = inet_csk_ca(sk);

	cubictcp_acked(sk, sample);
	search_drain(sk, sample->pkts_acked);
	/* Negative: an ACK for data sent more than once has no RTT sample.  0: below the clock's
	 * resolution, taken as 1 us as CUBIC does.
	 */
	if (sample->rtt_us >= 0)
		tcp_search_update(sk, ca, max(sample->rtt_us, 1));
}

/* May come before init: for the SYN of a flow that this host opens. */
static void tcp_search_acked(struct sock *sk, const struct ack_sample *sample)
{
	if (tcp_in_slow_start(tcp_sk(sk)) || search_flow_busy(inet_csk_ca(sk)))
		tcp_search_acked_busy(sk, sample);
	else
		cubictcp_acked(sk, sample);
}

static void tcp_search_restart(struct sock *sk)
{
	search_drain_end(inet_csk_ca(sk));
	search_flow_reset(inet_csk_ca(sk), tcp_sk(sk)->bytes_acked);
}

static void tcp_search_timeout(struct sock *sk)
{
	const struct tcp_search *ca = inet_csk_ca(sk);

	if (search_flow_ready(ca) && search_flow_params(ca)->again != SEARCH_AGAIN_NEVER)
		tcp_search_restart(sk);
}

static void tcp_search_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_CWND_RESTART)
		tcp_search_restart(sk);
	cubictcp_cwnd_event(sk, event);
}

static u32 tcp_search_ssthresh(struct sock *sk)
{
	bool reducing;

	slow_start_reducing(sk, &reducing);
	search_flow_set_reducing(inet_csk_ca(sk), reducing);
	return cubictcp_recalc_ssthresh(sk);
}

static void tcp_search_state(struct sock *sk, u8 new_state)
{
	struct tcp_search *ca = inet_csk_ca(sk);
	bool reducing = search_flow_reducing(ca);

	slow_start_reduced(sk, new_state, &reducing);
	search_flow_set_reducing(ca, reducing);
	cubictcp_state(sk, new_state);
	if (new_state == TCP_CA_Loss)
		tcp_search_timeout(sk);
}

static struct tcp_congestion_ops tcp_search_ops __read_mostly = {
	.init		= tcp_search_init,
	.release	= tcp_search_release,
	.ssthresh	= tcp_search_ssthresh,
	.cong_avoid	= search_cong_avoid,
	.set_state	= tcp_search_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= tcp_search_cwnd_event,
	.pkts_acked	= tcp_search_acked,
	.owner		= THIS_MODULE,
	.name		= SEARCH_NAME,
};

KERNEL_CUBIC_HOLDS(struct tcp_search);

static int __init tcp_search_module_init(void)
{
	if (!search_params_valid(&search_params_now)) {
		pr_err("SEARCH_VERSION: must be within the ranges of search_core.h\n");
		return -EINVAL;
	}
#ifdef SEARCH_IN_SOCKET
	if (!search_compact_fits(&search_params_now)) {
		pr_err("bins=%u extra_bins=%u: must be at most %u in all\n", search_params_now.bins,
		       search_params_now.extra_bins, SEARCH_COMPACT_COUNTS - 1);
		return -EINVAL;
	}
#endif
	return kernel_cubic_register();
}

module_init(tcp_search_module_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with SEARCH (" SEARCH_NAME "): Slow start Exit At Right CHokepoint");

#endif /* __KERNEL__ */

#endif /* TCP_SEARCH_H */
