// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search_bpf": the lab's SEARCH for a stock kernel, without a module.
 *
 * This one file is compiled twice:
 *
 *	by clang for BPF (search_bpf_stock.h): a struct_ops that the kernel's verifier checks.
 *	The kernel's own CUBIC is called through its kfuncs, and a flow's bins lie in the
 *	storage that BPF gives to a socket
 *
 *	by Kbuild as a module (search_bpf_module.h), for the virtual kernel, which has no BPF:
 *	the same hooks around the same CUBIC, compiled in
 *
 * The algorithm is that of the modules: search_core.c and what belongs to it, unchanged.
 * SEARCH_BPF_VERSION names the file of the version to take the parameters of; one whose hooks
 * are the same as here, see docs/bpf.md.
 *
 * CUBIC's HyStart is off for these flows alone: `found` is what it sets once it has left slow
 * start, and makes it look no further.
 */
#ifdef __bpf__
#include "search_bpf_stock.h"
#else
#include "search_bpf_module.h"
#endif

#include "search_core.c"
#include "search_compare.c"
#include "search_params.c"

#define TCP_SEARCH_H	/* of the version's file, the parameters alone */
#include SEARCH_BPF_VERSION

#define SEARCH_BPF_ROOM	(2 * SEARCH_BPF_SLOTS)	/* of delivered and of sent bytes */

/* What a flow has in addition to CUBIC's part of the socket. */
struct search_flow {
	struct search_state search;
	u64 room[SEARCH_BPF_ROOM];	/* search.counts[] */
	u32 reducing;			/* see slow_start.h */
	u32 reserved;
};

SEARCH_BPF_STORAGE(search_flows, struct search_flow);

static const struct search_params search_bpf_params = SEARCH_VERSION;

static struct search_flow *search_flow_of(struct sock *sk, u64 flags)
{
	return bpf_sk_storage_get(&search_flows, sk, NULL, flags);
}

/* May come in mid-flow, by setsockopt().  Without memory the flow runs plain CUBIC. */
SEC("struct_ops")
void BPF_PROG(search_bpf_init, struct sock *sk)
{
	struct search_flow *flow;

	cubictcp_init(sk);
	flow = search_flow_of(sk, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return;

	search_setup(&flow->search, &search_bpf_params);
	search_reset(&flow->search, tcp_sk(sk)->bytes_acked);
	flow->reducing = 0;
}

SEC("struct_ops")
void BPF_PROG(search_bpf_release, struct sock *sk)
{
	bpf_sk_storage_delete(&search_flows, sk);
}

static bool search_bpf_reducing_now(const struct tcp_sock *tp)
{
	u32 reducing_states = 1 << TCP_CA_CWR | 1 << TCP_CA_Recovery;

	return reducing_states & 1 << search_bits(&tp->inet_conn, icsk_ca_state);
}

static bool search_bpf_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* tcp_is_cwnd_limited(), of a flow in slow start. */
static bool search_bpf_limited(const struct tcp_sock *tp)
{
	return !search_bits(tp, is_cwnd_limited) && tp->snd_cwnd >= 2 * tp->max_packets_out;
}

static void search_bpf_leave(struct sock *sk, const struct search_decision *decision)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tp->snd_cwnd;

	tp->snd_ssthresh = search_exit_pkts(&search_bpf_params, decision, cwnd_pkts,
					    tp->mss_cache);
	slow_start_left(sk, cwnd_pkts, decision->rtt_us, "search");
}

/* Before CUBIC's cong_avoid in the same ACK, so growth stops with the ACK that decided. */
static void search_bpf_update(struct sock *sk, struct search_state *search, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct search_decision decision;
	enum search_verdict verdict;
	struct search_ack ack;

	if (search_bpf_reducing_now(tp))
		return;
	if (!search_bpf_in_slow_start(tp)) {
		search_reset(search, tp->bytes_acked);
		return;
	}
	if (!trace_search_ack_enabled() && !search_due(search, tp->tcp_mstamp))
		return;

	ack = (struct search_ack) {
		.now_us = tp->tcp_mstamp,
		.delivered_bytes = tp->bytes_acked,
		.sent_bytes = tp->bytes_sent,
		.rtt_us = rtt_us,
		.limited = search_bpf_params.app_limited && search_bpf_limited(tp),
	};
	trace_search_ack(sk, &ack, !search->bin_us);
	verdict = search_on_ack(search, &ack, &decision);
	if (verdict == SEARCH_BIN_OPEN)
		return;

	trace_search_bin(sk, &decision);
	if (verdict == SEARCH_EXIT)
		search_bpf_leave(sk, &decision);
}

/* May come before init: for the SYN of a flow that this host opens. */
SEC("struct_ops")
void BPF_PROG(search_bpf_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct bictcp *cubic = inet_csk_ca(sk);
	struct search_flow *flow = search_flow_of(sk, 0);
	s32 rtt_us = sample->rtt_us;

	cubic->found = 1;
	cubictcp_acked(sk, sample);
	/* Negative: an ACK for data sent more than once has no RTT sample. */
	if (flow && rtt_us >= 0)
		search_bpf_update(sk, &flow->search, rtt_us ? rtt_us : 1);
}

SEC("struct_ops")
void BPF_PROG(search_bpf_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
void BPF_PROG(search_bpf_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct search_flow *flow = search_flow_of(sk, 0);

	if (flow && event == CA_EVENT_CWND_RESTART)
		search_reset(&flow->search, tcp_sk(sk)->bytes_acked);
	cubictcp_cwnd_event(sk, event);
}

SEC("struct_ops")
__u32 BPF_PROG(search_bpf_ssthresh, struct sock *sk)
{
	struct search_flow *flow = search_flow_of(sk, 0);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (flow)
		flow->reducing = search_bpf_in_slow_start(tp) && !search_bpf_reducing_now(tp);
	return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(search_bpf_state, struct sock *sk, __u8 new_state)
{
	struct search_flow *flow = search_flow_of(sk, 0);
	bool reducing = flow && flow->reducing;

	slow_start_reduced(sk, new_state, &reducing);
	if (flow)
		flow->reducing = reducing;
	cubictcp_state(sk, new_state);
	if (flow && new_state == TCP_CA_Loss)
		search_reset(&flow->search, tcp_sk(sk)->bytes_acked);
}

SEC("struct_ops")
__u32 BPF_PROG(search_bpf_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops search_bpf = {
	.init		= (void *)search_bpf_init,
	.release	= (void *)search_bpf_release,
	.ssthresh	= (void *)search_bpf_ssthresh,
	.cong_avoid	= (void *)search_bpf_cong_avoid,
	.set_state	= (void *)search_bpf_state,
	.undo_cwnd	= (void *)search_bpf_undo_cwnd,
	.cwnd_event	= (void *)search_bpf_cwnd_event,
	.pkts_acked	= (void *)search_bpf_acked,
	.name		= "search_bpf",
};

#ifdef __bpf__
#include "search_bpf_replay.h"
#endif
