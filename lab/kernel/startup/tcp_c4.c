// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "c4": Christian's Congestion Control Code (draft-huitema-ccwg-c4-spec), by its draft.
 *
 * C4 (c4_core.c) has the window and the pacing of the whole flow.  Its bytes are those of packets
 * with IP's and TCP's headers, as fq and TCP's own pacing count.
 *
 * Differences from the draft, in addition to those of the core
 *
 *  1. The rate is TCP's own sample, whose time begins with the last delivery before the packet was
 *     sent, not with the packet: never a larger rate.
 *  2. Marks are those that TCP's classic ECN reports, where the connection has it: after one of
 *     them all packets of a round trip count as marked.
 *  3. TCP's recovery does not reduce the window, and a timeout leaves one packet until the next ACK.
 *  4. TCP chooses the bursts itself: what a millisecond sends, where the draft has 4 ms.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "bounded_param.h"
#include "c4_core.h"
#include "slow_start.h"
#include "startup_pacing.h"

#ifndef TCP_ECN_OK	/* as Linux 7 says that a connection has ECN, classic or accurate */
#define TCP_ECN_OK TCP_ECN_MODE_ANY
#endif

static u32 still_eras __read_mostly = 3;
BOUNDED_PARAM(still_eras, &still_eras, C4_STILL_ERAS_MIN, C4_STILL_ERAS_MAX, 0644);
MODULE_PARM_DESC(still_eras, "eras without a higher rate that end Initial (1 to 10, default 3)");

static u32 loss_pkts __read_mostly = 20;
BOUNDED_PARAM(loss_pkts, &loss_pkts, C4_LOSS_PKTS_MIN, C4_LOSS_PKTS_MAX, 0644);
MODULE_PARM_DESC(loss_pkts, "packets before which no loss ends Initial (0 to 10000, default 20)");

/* What a flow keeps in its socket. */
struct c4 {
	struct c4_state state;
	u32 marked;		/* tp->delivered_ce at the last ACK */
};

static struct c4_params c4_params(void)
{
	return (struct c4_params) {
		.still_eras = READ_ONCE(still_eras),
		.loss_pkts = READ_ONCE(loss_pkts),
	};
}

static u32 c4_packet_bytes(struct sock *sk)
{
	return tcp_mss_to_mtu(sk, tcp_sk(sk)->mss_cache);
}

static void c4_pace(struct sock *sk)
{
	const struct c4 *ca = inet_csk_ca(sk);
	u64 most_Bps = READ_ONCE(sk->sk_max_pacing_rate);

	WRITE_ONCE(sk->sk_pacing_rate, min(c4_pacing_Bps(&ca->state) ?: most_Bps, most_Bps));
}

static void c4_init(struct sock *sk)
{
	struct c4 *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 packet_bytes = c4_packet_bytes(sk);

	c4_begin(&ca->state, tcp_snd_cwnd(tp) * packet_bytes, packet_bytes, tp->delivered);
	ca->marked = tp->delivered_ce;
	startup_pacing_on(sk);
	c4_pace(sk);
}

static struct c4_ack c4_ack(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct c4 *ca = inet_csk_ca(sk);
	u64 delivered_bytes = (u64)max(rs->delivered, 0) * ca->state.mss_bytes;
	u32 acked_pkts = max(rs->acked_sacked, 0);
	u32 ce_pkts = min(tp->delivered_ce - ca->marked, acked_pkts);

	return (struct c4_ack) {
		.rate_Bps = rs->interval_us > 0 ? div64_ul(delivered_bytes * USEC_PER_SEC, rs->interval_us) : 0,
		.rtt_us = rs->rtt_us < 0 ? 0 : max(rs->rtt_us, 1L),
		.delivered = tp->delivered,
		.sent_delivered = rs->prior_delivered,
		.has_data = rs->prior_mstamp && rs->delivered >= 0,
		.acked_pkts = acked_pkts,
		.lost_pkts = max(rs->losses, 0),
		.ce_pkts = ce_pkts,
		.ect_pkts = tp->ecn_flags & TCP_ECN_OK ? acked_pkts - ce_pkts : 0,
		.inflight_bytes = tcp_packets_in_flight(tp) * ca->state.mss_bytes,
		.app_limited = rs->is_app_limited,
	};
}

static void c4_leave_initial(struct sock *sk, u32 before_pkts, u32 rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return;
	tp->snd_ssthresh = max(before_pkts, 2U);
	slow_start_left(sk, before_pkts, rtt_us ?: tp->rack.rtt_us, "c4");
}

STARTUP_CONG_CONTROL(c4_control)
{
	struct c4_params params = c4_params();
	struct c4 *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct c4_ack sample = c4_ack(sk, rs);
	u32 before_pkts = tcp_snd_cwnd(tp);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && !sample.acked_pkts)
		return;
	ca->marked = tp->delivered_ce;
	ca->state.mss_bytes = c4_packet_bytes(sk);
	c4_on_ack(&ca->state, &params, &sample);
	if (ca->state.mode != C4_INITIAL)
		c4_leave_initial(sk, before_pkts, sample.rtt_us);
	startup_set_window(sk, ca->state.cwnd_bytes / ca->state.mss_bytes);
	c4_pace(sk);
	startup_allow_retransmission(sk);
}

/* TCP's own reaction to a loss or mark is none. */
static u32 c4_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static u32 c4_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops tcp_c4 __read_mostly = {
	.init		= c4_init,
	.ssthresh	= c4_ssthresh,
	.cong_control	= c4_control,
	.undo_cwnd	= c4_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "c4",
};

static_assert(sizeof(struct c4) <= ICSK_CA_PRIV_SIZE);

static int __init c4_module_init(void)
{
	return tcp_register_congestion_control(&tcp_c4);
}

static void __exit c4_module_exit(void)
{
	tcp_unregister_congestion_control(&tcp_c4);
}

module_init(c4_module_init);
module_exit(c4_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP C4 (draft-huitema-ccwg-c4-spec)");
