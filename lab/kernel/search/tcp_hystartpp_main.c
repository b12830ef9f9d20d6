// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "hystartpp": the kernel's own CUBIC, with HyStart++ (RFC 9406) in HyStart's place.
 *
 * CUBIC keeps congestion avoidance and the reaction to losses.  The initial slow start is
 * HyStart++'s (hystartpp_core.c): when it ends, and how fast the window grows in it.
 *
 * Only the initial one, as the RFC says it SHOULD be, that is while ssthresh is infinite:
 * a later slow start knows its threshold and is CUBIC's.  A reduction that is
 * undone makes ssthresh infinite again, and HyStart++ then starts again.
 *
 * A flow is paced, and has no limit L on what one ACK adds, where the stack paces it:
 * by fq, or because a sender or application requested it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_hystartpp
#include "kernel_cubic.h"

#include "bounded_param.h"
#include "hystartpp_core.h"
#include "slow_start.h"

#define HYSTARTPP_PARAM(name, NAME, initial)				\
	static u32 name __read_mostly = initial;			\
	BOUNDED_PARAM(name, &name, HYSTARTPP_##NAME##_MIN, HYSTARTPP_##NAME##_MAX, 0644)

HYSTARTPP_PARAM(min_rtt_thresh_us, MIN_RTT_THRESH_US, 4000);
MODULE_PARM_DESC(min_rtt_thresh_us,
		 "least growth of a round's RTT that counts, in us (1 to 1000000, default 4000)");

HYSTARTPP_PARAM(max_rtt_thresh_us, MAX_RTT_THRESH_US, 16000);
MODULE_PARM_DESC(max_rtt_thresh_us,
		 "growth of a round's RTT that always counts, in us (1 to 1000000, default 16000)");

HYSTARTPP_PARAM(min_rtt_divisor, MIN_RTT_DIVISOR, 8);
MODULE_PARM_DESC(min_rtt_divisor,
		 "between the two, the part of the last round's RTT that counts (1 to 1000, default 8)");

HYSTARTPP_PARAM(n_rtt_sample, N_RTT_SAMPLE, 8);
MODULE_PARM_DESC(n_rtt_sample, "RTT samples that make a round's minimum (1 to 255, default 8)");

HYSTARTPP_PARAM(css_growth_divisor, CSS_GROWTH_DIVISOR, 4);
MODULE_PARM_DESC(css_growth_divisor,
		 "how much slower conservative slow start grows (2 to 255, default 4)");

HYSTARTPP_PARAM(css_rounds, CSS_ROUNDS, 5);
MODULE_PARM_DESC(css_rounds, "rounds of conservative slow start (1 to 255, default 5)");

HYSTARTPP_PARAM(l_pkts, L_PKTS, 8);
MODULE_PARM_DESC(l_pkts,
		 "segments that one ACK adds at most, unless the flow is paced (1 to 65535, default 8)");

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct hystartpp {
	struct bictcp cubic;
	struct hystartpp_state state;
	bool reducing;		/* see slow_start.h */
};

/* A change of a parameter holds at once, for all flows. */
static struct hystartpp_params hystartpp_params(void)
{
	return (struct hystartpp_params) {
		.min_rtt_thresh_us = READ_ONCE(min_rtt_thresh_us),
		.max_rtt_thresh_us = READ_ONCE(max_rtt_thresh_us),
		.min_rtt_divisor = READ_ONCE(min_rtt_divisor),
		.n_rtt_sample = READ_ONCE(n_rtt_sample),
		.css_growth_divisor = READ_ONCE(css_growth_divisor),
		.css_rounds = READ_ONCE(css_rounds),
		.l_pkts = READ_ONCE(l_pkts),
	};
}

static bool hystartpp_initial_slow_start(const struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh >= TCP_INFINITE_SSTHRESH && !tcp_in_cwnd_reduction(sk);
}

static bool hystartpp_paced(const struct sock *sk)
{
	return READ_ONCE(sk->sk_pacing_status) != SK_PACING_NONE;
}

/* May come in mid-flow, by setsockopt(): the first round is then what is in flight. */
static void hystartpp_init(struct sock *sk)
{
	struct hystartpp *ca = inet_csk_ca(sk);

	cubictcp_init(sk);
	ca->reducing = false;
	hystartpp_start(&ca->state, tcp_sk(sk)->snd_nxt);
}

static void hystartpp_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct hystartpp_params params = hystartpp_params();
	struct hystartpp *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = 0;

	cubictcp_acked(sk, sample);
	if (!hystartpp_initial_slow_start(sk))
		return;

	/* Negative: an ACK for data sent more than once has no RTT sample.  0: below the clock's
	 * resolution, taken as 1 us as CUBIC does.
	 */
	if (sample->rtt_us >= 0)
		rtt_us = max(sample->rtt_us, 1);
	if (hystartpp_on_ack(&ca->state, &params, tp->snd_una, tp->snd_nxt, rtt_us) != HYSTARTPP_EXIT)
		return;

	tp->snd_ssthresh = tcp_snd_cwnd(tp);
	slow_start_left(sk, tcp_snd_cwnd(tp), rtt_us ?: tp->rack.rtt_us, "hystartpp");
}

static void hystartpp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct hystartpp_params params = hystartpp_params();
	struct hystartpp *ca = inet_csk_ca(sk);

	if (!hystartpp_initial_slow_start(sk))
		cubictcp_cong_avoid(sk, ack, acked);
	else if (tcp_is_cwnd_limited(sk))
		tcp_slow_start(tcp_sk(sk), hystartpp_growth_pkts(&ca->state, &params, acked,
								 hystartpp_paced(sk)));
}

static u32 hystartpp_ssthresh(struct sock *sk)
{
	struct hystartpp *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	hystartpp_start(&ca->state, tcp_sk(sk)->snd_nxt);
	return cubictcp_recalc_ssthresh(sk);
}

static void hystartpp_set_state(struct sock *sk, u8 new_state)
{
	struct hystartpp *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	cubictcp_state(sk, new_state);
}

static struct tcp_congestion_ops tcp_hystartpp __read_mostly = {
	.init		= hystartpp_init,
	.ssthresh	= hystartpp_ssthresh,
	.cong_avoid	= hystartpp_cong_avoid,
	.set_state	= hystartpp_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= hystartpp_acked,
	.owner		= THIS_MODULE,
	.name		= "hystartpp",
};

KERNEL_CUBIC_HOLDS(struct hystartpp);

module_init(kernel_cubic_register);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with HyStart++ (RFC 9406)");
