// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "rapid_start": Rapid Start (draft-kazuho-ccwg-rapid-start), then the kernel's own CUBIC.
 *
 * Rapid Start (rapid_start_core.c) has the flow from its first packet to the end of its first
 * recovery period.  So that TCP's proportional rate reduction leaves that period alone, the flow
 * has cong_control until then; at the end it gets the same hooks without cong_control, which are
 * CUBIC's: its growth, its reductions and TCP's pacing.
 *
 * The recovery period is Rapid Start's own.  It begins as TCP enters recovery (a loss) or CWR (a
 * mark), and ends with the first ACK for a packet sent within it, as QUIC's does: TCP's recovery
 * may last for many round trips of retransmissions.  Until TCP has left it, the window then stays.
 *
 * Differences from the draft, in addition to those of the core
 *
 *  1. Newly lost packets are the growth of tp->lost: a retransmission that is lost counts again.
 *  2. A timeout ends Rapid Start: CUBIC reacts to it.
 *  3. A loss that its probe repaired at once (TLP) has no period: the window becomes 0.7 of it.
 *  4. A reduction that TCP undoes within the period returns to Rapid Start.
 *  5. The initial window is the larger one where the handshake gave an RTT to pace it over, and
 *     nothing was sent before; else it is the route's.
 *  6. After the first flight packets are paced as Linux paces slow start, and after the period as
 *     it paces congestion avoidance, also where no fq does it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_rapid_start
#include "kernel_cubic.h"

#include "bounded_param.h"
#include "rapid_start_core.h"
#include "slow_start.h"
#include "startup_pacing.h"

#define RAPID_START_PARAM(name, NAME, initial)				\
	static u32 name __read_mostly = initial;			\
	BOUNDED_PARAM(name, &name, RAPID_START_##NAME##_MIN, RAPID_START_##NAME##_MAX, 0644)

RAPID_START_PARAM(iw_pkts, IW_PKTS, 20);
MODULE_PARM_DESC(iw_pkts, "initial window, paced over a round trip (2 to 1000, default 20)");

RAPID_START_PARAM(queue_us, QUEUE_US, 4000);
MODULE_PARM_DESC(queue_us, "growth of the RTT that is a queue, in us (0 to 1000000, default 4000)");

RAPID_START_PARAM(queue_pct, QUEUE_PCT, 10);
MODULE_PARM_DESC(queue_pct, "the same in percent, where that is less (0 to 100, default 10)");

enum rapid_start_phase {
	RAPID_START_GROWS,
	RAPID_START_RECOVERS,	/* within the first recovery period */
	RAPID_START_HOLDS,	/* after it, as long as TCP's recovery lasts */
	RAPID_START_OVER,	/* CUBIC's */
};

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct rapid_start {
	struct bictcp cubic;
	struct rapid_start_state state;
	u32 before_pkts;	/* the window before the recovery period */
	u32 delivered;		/* tp's counts: at the last ACK, and from the period on at its begin */
	u32 lost;
	u32 end_delivered;	/* packets sent within the period have at least this; 0: no ACK yet */
	u8 phase;		/* enum rapid_start_phase */
	bool reducing;		/* see slow_start.h */
};

/* The same hooks without cong_control. */
static struct tcp_congestion_ops rapid_start_cubic __read_mostly;

static struct rapid_start_params rapid_start_params(void)
{
	return (struct rapid_start_params) {
		.iw_pkts = READ_ONCE(iw_pkts),
		.queue_us = READ_ONCE(queue_us),
		.queue_pct = READ_ONCE(queue_pct),
	};
}

static void rapid_start_hand_over(struct sock *sk)
{
	struct rapid_start *ca = inet_csk_ca(sk);

	ca->phase = RAPID_START_OVER;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &rapid_start_cubic);
}

static void rapid_start_count(struct rapid_start *ca, const struct tcp_sock *tp)
{
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
}

/* Also comes in mid-flow, by setsockopt(): what has left slow start before is CUBIC's. */
static void rapid_start_init(struct sock *sk)
{
	struct rapid_start *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	cubictcp_init(sk);
	ca->phase = RAPID_START_GROWS;
	ca->reducing = false;
	rapid_start_begin(&ca->state, tp->snd_nxt);
	rapid_start_count(ca, tp);
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH || tcp_in_cwnd_reduction(sk)) {
		rapid_start_hand_over(sk);
		return;
	}
	startup_pacing_on(sk);
	if (!tp->srtt_us)
		return;
	if (!tp->bytes_sent)
		tcp_snd_cwnd_set(tp, min(READ_ONCE(iw_pkts), tp->snd_cwnd_clamp));
	startup_pace(sk, tcp_snd_cwnd(tp), startup_srtt_us(sk), 100);
}

static void rapid_start_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct rapid_start *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	cubictcp_acked(sk, sample);
	/* Negative: an ACK for data sent more than once has no RTT sample.  0: below the clock's
	 * resolution, taken as 1 us as CUBIC does.
	 */
	if (ca->phase == RAPID_START_GROWS)
		rapid_start_sample(&ca->state, tp->snd_una, tp->snd_nxt,
				   sample->rtt_us < 0 ? 0 : max(sample->rtt_us, 1));
}

static void rapid_start_grow(struct sock *sk, u32 acked_pkts)
{
	struct rapid_start_params params = rapid_start_params();
	struct rapid_start *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (acked_pkts && tcp_is_cwnd_limited(sk))
		tcp_slow_start(tp, rapid_start_growth_pkts(&ca->state, &params, acked_pkts));
	startup_pace(sk, tcp_snd_cwnd(tp), startup_srtt_us(sk),
		     ca->state.rounds ? STARTUP_SLOW_START_PCT : 100);
	rapid_start_count(ca, tp);
}

static void rapid_start_recover(struct sock *sk, const struct rate_sample *rs)
{
	struct rapid_start_params params = rapid_start_params();
	struct rapid_start *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ca->end_delivered) {
		ca->end_delivered = tp->delivered;
	} else if (rs->prior_mstamp && !before(rs->prior_delivered, ca->end_delivered)) {
		ca->phase = RAPID_START_HOLDS;
		return;
	}
	tcp_snd_cwnd_set(tp, rapid_start_recovering_pkts(&params, ca->before_pkts,
							 tp->delivered - ca->delivered,
							 tp->lost - ca->lost));
	startup_pace(sk, tcp_snd_cwnd(tp), startup_srtt_us(sk), STARTUP_AVOIDANCE_PCT);
	startup_allow_retransmission(sk);
}

STARTUP_CONG_CONTROL(rapid_start_control)
{
	const struct rapid_start *ca = inet_csk_ca(sk);

	if (ca->phase == RAPID_START_GROWS)
		rapid_start_grow(sk, max(rs->acked_sacked, 0));
	else if (ca->phase == RAPID_START_RECOVERS)
		rapid_start_recover(sk, rs);
}

static u32 rapid_start_ssthresh(struct sock *sk)
{
	struct rapid_start_params params = rapid_start_params();
	struct rapid_start *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 ssthresh_pkts;

	slow_start_reducing(sk, &ca->reducing);
	ssthresh_pkts = cubictcp_recalc_ssthresh(sk);
	if (ca->phase != RAPID_START_GROWS)
		return ssthresh_pkts;

	ca->phase = RAPID_START_RECOVERS;
	ca->end_delivered = 0;
	ca->before_pkts = tcp_snd_cwnd(tp);
	tcp_snd_cwnd_set(tp, rapid_start_recovering_pkts(&params, ca->before_pkts, 0, 0));
	return ssthresh_pkts;
}

/* TCP has left its recovery: the period is over, too, if it was not before. */
static void rapid_start_recovered(struct sock *sk)
{
	struct rapid_start *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH) {	/* undone */
		ca->phase = RAPID_START_GROWS;
		rapid_start_count(ca, tp);
		return;
	}
	if (!ca->end_delivered && ca->phase == RAPID_START_RECOVERS)
		tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), tp->snd_ssthresh));
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
	ca->cubic.last_max_cwnd = rapid_start_w_max_pkts(tcp_snd_cwnd(tp));
	rapid_start_hand_over(sk);
}

static void rapid_start_set_state(struct sock *sk, u8 new_state)
{
	struct rapid_start *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	if (new_state == TCP_CA_Loss && ca->phase != RAPID_START_OVER)
		rapid_start_hand_over(sk);
	else if (new_state <= TCP_CA_Disorder &&
		 (ca->phase == RAPID_START_RECOVERS || ca->phase == RAPID_START_HOLDS))
		rapid_start_recovered(sk);
	cubictcp_state(sk, new_state);
}

static struct tcp_congestion_ops tcp_rapid_start __read_mostly = {
	.init		= rapid_start_init,
	.ssthresh	= rapid_start_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.cong_control	= rapid_start_control,
	.set_state	= rapid_start_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= rapid_start_acked,
	.owner		= THIS_MODULE,
	.name		= "rapid_start",
};

KERNEL_CUBIC_HOLDS(struct rapid_start);

static int __init rapid_start_module_init(void)
{
	KERNEL_CUBIC_TAKE_START();
	rapid_start_cubic = tcp_rapid_start;
	rapid_start_cubic.cong_control = NULL;
	return kernel_cubic_register();
}

module_init(rapid_start_module_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with Rapid Start (draft-kazuho-ccwg-rapid-start)");
