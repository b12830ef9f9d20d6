// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "suss": the kernel's own CUBIC with HyStart, whose slow start SUSS accelerates.
 *
 * SUSS (suss_core.c) grants packets in addition to slow start's growth.  Its authors change TCP's output to
 * send them; here the window grows by them at once, and the flow is paced at a window per least round trip
 * until the next round begins.  For that the flow has cong_control as long as the initial slow start lasts;
 * then it gets the same hooks without it, which are CUBIC's.
 *
 * What is approximated, in addition to what the core says
 *
 *  1. All that is sent in the rest of the round is paced, ACK-clocked packets among it.
 *  2. Packets that ACKs clock out leave at 16 windows per round trip at most, so that TCP does not
 *     gather them.
 *  3. HyStart's rule on trains is the core's: Linux's has the whole least round trip for a paced flow,
 *     not half of it.  Its rule on delay is Linux's.
 *  4. The first loss, mark, timeout or exit ends SUSS, also where TCP undoes it.
 *  5. After slow start the flow is paced as Linux paces.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_suss
#define KERNEL_CUBIC_HYSTART 1
#include "kernel_cubic.h"

#include "bounded_param.h"
#include "startup_pacing.h"
#include "suss_core.h"

#define SUSS_CLOCKED_PCT	1600

#define SUSS_PARAM(name, NAME, initial)				\
	static u32 name __read_mostly = initial;		\
	BOUNDED_PARAM(name, &name, SUSS_##NAME##_MIN, SUSS_##NAME##_MAX, 0644)

SUSS_PARAM(k_max, K_MAX, 1);
MODULE_PARM_DESC(k_max, "a round grows by 2^(k + 1), with k at most this (0: slow start, to 3, default 1)");

SUSS_PARAM(least_rtt_us, LEAST_RTT_US, 10000);
MODULE_PARM_DESC(least_rtt_us,
		 "the least round trip is above this, or slow start is as usual, in us (0 to 1000000, default 10000)");

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct suss {
	struct bictcp cubic;
	struct suss_state state;
	bool started;	/* false also before the handshake's end, where hooks come for a SYN that is lost */
};

/* The same hooks without cong_control. */
static struct tcp_congestion_ops suss_cubic __read_mostly;

static bool suss_initial_slow_start(const struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh >= TCP_INFINITE_SSTHRESH && !tcp_in_cwnd_reduction(sk);
}

static void suss_hand_over(struct sock *sk)
{
	struct suss *ca = inet_csk_ca(sk);

	if (!ca->started)
		return;
	ca->started = false;
	startup_pace(sk, tcp_snd_cwnd(tcp_sk(sk)), startup_srtt_us(sk), STARTUP_AVOIDANCE_PCT);
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &suss_cubic);
}

/* Also comes in mid-flow, by setsockopt(): what has left slow start before is CUBIC's. */
static void suss_init(struct sock *sk)
{
	struct suss *ca = inet_csk_ca(sk);

	cubictcp_init(sk);
	ca->started = suss_initial_slow_start(sk);
	suss_begin(&ca->state, tcp_sk(sk)->snd_nxt);
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ca->started ? &tcp_suss : &suss_cubic);
	startup_pacing_on(sk);
	startup_pace(sk, tcp_snd_cwnd(tcp_sk(sk)), startup_srtt_us(sk), SUSS_CLOCKED_PCT);
}

static void suss_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct suss_params params = {
		.k_max = READ_ONCE(k_max),
		.least_rtt_us = READ_ONCE(least_rtt_us),
	};
	struct suss *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct suss_ack ack = {
		.now_us = tp->tcp_mstamp,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.rtt_us = sample->rtt_us < 0 ? 0 : max(sample->rtt_us, 1),
		.mss_bytes = tp->mss_cache,
		.limited = tcp_is_cwnd_limited(sk),
	};

	cubictcp_acked(sk, sample);
	if (!ca->started || !suss_initial_slow_start(sk))
		return;
	startup_set_window(sk, tcp_snd_cwnd(tp) + suss_on_ack(&ca->state, &params, &ack));
	if (ca->state.full && tcp_snd_cwnd(tp) >= hystart_low_window)
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
}

STARTUP_CONG_CONTROL(suss_control)
{
	const struct suss *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (rs->acked_sacked > 0)
		cubictcp_cong_avoid(sk, tp->snd_una, rs->acked_sacked);
	if (!suss_initial_slow_start(sk))
		suss_hand_over(sk);
	else if (suss_paces(&ca->state))
		startup_pace(sk, tcp_snd_cwnd(tp), ca->state.min_rtt_us, 100);
	else
		startup_pace(sk, tcp_snd_cwnd(tp), startup_srtt_us(sk), SUSS_CLOCKED_PCT);
}

/* The reduction that follows is TCP's: it needs the hooks without cong_control. */
static u32 suss_ssthresh(struct sock *sk)
{
	suss_hand_over(sk);
	return cubictcp_recalc_ssthresh(sk);
}

static struct tcp_congestion_ops tcp_suss __read_mostly = {
	.init		= suss_init,
	.ssthresh	= suss_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.cong_control	= suss_control,
	.set_state	= cubictcp_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= suss_acked,
	.owner		= THIS_MODULE,
	.name		= "suss",
};

KERNEL_CUBIC_HOLDS(struct suss);

static int __init suss_module_init(void)
{
	KERNEL_CUBIC_TAKE_START();
	suss_cubic = tcp_suss;
	suss_cubic.cong_control = NULL;
	return kernel_cubic_register();
}

module_init(suss_module_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with SUSS (SIGCOMM 2024), paced by TCP's rate");
