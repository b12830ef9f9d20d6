// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HyStart++ (RFC 9406): leave slow start on a growing round trip, but not before a second look.
 *
 * The frame below is complete: it finds the rounds, takes the RTT samples, lets Reno do all that comes after slow
 * start, and reports the exit.  Your part is between the two lines of stars: four short functions.  As they stand, the
 * sender doubles its window until a packet is lost.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "slow_start.h"

/* The constants of RFC 9406, section 4.3. */
#define MIN_RTT_THRESH_US	4000
#define MAX_RTT_THRESH_US	16000
#define MIN_RTT_DIVISOR		8
#define N_RTT_SAMPLE		8
#define CSS_GROWTH_DIVISOR	4
#define CSS_ROUNDS		5
#define L_PKTS			8	/* no pacing: one ACK counts for at most so many segments */

#define INFINITY_US		U32_MAX

/* What a flow keeps.  You may add fields: a socket has room for 104 bytes. */
struct hspp {
	u32 window_end;			/* the round ends when this sequence number is acknowledged */
	u32 last_round_min_rtt_us;	/* smallest RTT of the round before; INFINITY_US: none */
	u32 current_round_min_rtt_us;	/* smallest RTT of this round so far; INFINITY_US: none */
	u32 css_baseline_min_rtt_us;
	u32 rtt_samples;		/* of this round so far */
	u32 css_rounds;			/* rounds of CSS that are complete */
	u32 css_acked_pkts;		/* acknowledged in CSS, and not yet turned into growth */
	bool in_css;			/* conservative slow start */
	bool reducing;			/* the frame's own */
};

/* ************************************************************************************************** your part */

/* A round has ended, and the next one begins. */
static void hspp_next_round(struct hspp *ca)
{
	ca->last_round_min_rtt_us = ca->current_round_min_rtt_us;
	ca->current_round_min_rtt_us = INFINITY_US;
	ca->rtt_samples = 0;
	if (ca->in_css)
		ca->css_rounds++;
}

static bool hspp_rtt_grew(const struct hspp *ca)
{
	u32 thresh_us = clamp(ca->last_round_min_rtt_us / MIN_RTT_DIVISOR,
			      MIN_RTT_THRESH_US, MAX_RTT_THRESH_US);

	return ca->last_round_min_rtt_us != INFINITY_US &&
	       ca->current_round_min_rtt_us >= ca->last_round_min_rtt_us + thresh_us;
}

/* An ACK of this round has brought an RTT sample. */
static void hspp_sample(struct hspp *ca, u32 rtt_us)
{
	ca->current_round_min_rtt_us = min(ca->current_round_min_rtt_us, rtt_us);
	if (++ca->rtt_samples < N_RTT_SAMPLE)
		return;

	if (!ca->in_css && hspp_rtt_grew(ca)) {
		ca->in_css = true;
		ca->css_baseline_min_rtt_us = ca->current_round_min_rtt_us;
		ca->css_rounds = 0;
		ca->css_acked_pkts = 0;
	} else if (ca->in_css && ca->current_round_min_rtt_us < ca->css_baseline_min_rtt_us) {
		ca->in_css = false;
		ca->css_baseline_min_rtt_us = INFINITY_US;
	}
}

/* By how many segments does the window grow for @acked_pkts newly acknowledged ones? */
static u32 hspp_growth_pkts(struct hspp *ca, u32 acked_pkts)
{
	u32 grown_pkts;

	if (!ca->in_css)
		return acked_pkts;
	ca->css_acked_pkts += acked_pkts;
	grown_pkts = ca->css_acked_pkts / CSS_GROWTH_DIVISOR;
	ca->css_acked_pkts %= CSS_GROWTH_DIVISOR;
	return grown_pkts;
}

/* Has CSS confirmed that the link is full? */
static bool hspp_leaves(const struct hspp *ca)
{
	return ca->in_css && ca->css_rounds >= CSS_ROUNDS;
}

/* ********************************************************************************************* end of your part */

static void hspp_start(struct sock *sk)
{
	struct hspp *ca = inet_csk_ca(sk);

	*ca = (struct hspp) {
		.window_end = tcp_sk(sk)->snd_nxt,
		.last_round_min_rtt_us = INFINITY_US,
		.current_round_min_rtt_us = INFINITY_US,
		.css_baseline_min_rtt_us = INFINITY_US,
	};
}

static bool hspp_initial_slow_start(const struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh >= TCP_INFINITE_SSTHRESH && !tcp_in_cwnd_reduction(sk);
}

/* Each ACK of new data comes here first.  An RTT below 0: what it acknowledges was sent twice, so there is no sample. */
static void hspp_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hspp *ca = inet_csk_ca(sk);
	s32 beyond = tp->snd_una - ca->window_end;

	if (!hspp_initial_slow_start(sk))
		return;
	if (beyond > 0) {	/* its sample is of data of the next round */
		hspp_next_round(ca);
		ca->window_end = tp->snd_nxt;
	}
	if (sample->rtt_us >= 0)
		hspp_sample(ca, max(sample->rtt_us, 1));
	if (beyond == 0) {
		hspp_next_round(ca);
		ca->window_end = tp->snd_nxt;
	}
	if (hspp_leaves(ca)) {
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
		slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "hystartpp");
	}
}

/* Then the window may grow. */
static void hspp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!hspp_initial_slow_start(sk))
		tcp_reno_cong_avoid(sk, ack, acked);
	else if (tcp_is_cwnd_limited(sk))
		tcp_slow_start(tp, hspp_growth_pkts(inet_csk_ca(sk), min_t(u32, acked, L_PKTS)));
}

static u32 hspp_ssthresh(struct sock *sk)
{
	struct hspp *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	return tcp_reno_ssthresh(sk);
}

static void hspp_set_state(struct sock *sk, u8 new_state)
{
	struct hspp *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
}

static struct tcp_congestion_ops hspp __read_mostly = {
	.init		= hspp_start,
	.pkts_acked	= hspp_acked,
	.cong_avoid	= hspp_cong_avoid,
	.ssthresh	= hspp_ssthresh,
	.set_state	= hspp_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "my_hystartpp",
};

static int __init hspp_register(void)
{
	BUILD_BUG_ON(sizeof(struct hspp) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&hspp);
}

static void __exit hspp_unregister(void)
{
	tcp_unregister_congestion_control(&hspp);
}

module_init(hspp_register);
module_exit(hspp_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno with HyStart++ (RFC 9406)");
