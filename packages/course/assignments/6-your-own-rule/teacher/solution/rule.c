// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slow start with a rule of your own; Reno does all that comes after it.
 *
 * The frame finds rounds and takes samples.  Your part is between the two lines of stars.  As it stands, the sender
 * doubles its window until a packet is lost.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "slow_start.h"

#define INFINITY_US	U32_MAX

/* What a flow keeps.  You may add fields: a socket has room for 104 bytes. */
struct rule {
	u32 round_end;		/* the round ends when this sequence number is acknowledged */
	u32 round_rtt_us;	/* smallest RTT of this round; INFINITY_US: none yet */
	u32 base_rtt_us;	/* smallest RTT of all */
	u32 slow_rounds;	/* for you: what it counts is your choice */
	bool reducing;		/* the frame's own */
};

/* ************************************************************************************************** your part */

/* A round has ended: @ca->round_rtt_us is its smallest RTT.  Is the link full? */
static bool rule_link_is_full(struct rule *ca)
{
	u32 slow_us = ca->base_rtt_us + max(ca->base_rtt_us / 3, 10000U);

	ca->slow_rounds = ca->round_rtt_us >= slow_us ? ca->slow_rounds + 1 : 0;
	return ca->slow_rounds == 2;
}

/* ********************************************************************************************* end of your part */

static void rule_init(struct sock *sk)
{
	struct rule *ca = inet_csk_ca(sk);

	*ca = (struct rule) {
		.round_end = tcp_sk(sk)->snd_nxt,
		.round_rtt_us = INFINITY_US,
		.base_rtt_us = INFINITY_US,
	};
}

static void rule_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct rule *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0) {
		ca->round_rtt_us = min_t(u32, ca->round_rtt_us, sample->rtt_us);
		ca->base_rtt_us = min(ca->base_rtt_us, ca->round_rtt_us);
	}
	if (before(tp->snd_una, ca->round_end))
		return;
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH && ca->round_rtt_us != INFINITY_US && rule_link_is_full(ca)) {
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
		slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "my_rule");
	}
	ca->round_end = tp->snd_nxt;
	ca->round_rtt_us = INFINITY_US;
}

static u32 rule_ssthresh(struct sock *sk)
{
	struct rule *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	return tcp_reno_ssthresh(sk);
}

static void rule_set_state(struct sock *sk, u8 new_state)
{
	struct rule *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
}

static struct tcp_congestion_ops rule __read_mostly = {
	.init		= rule_init,
	.pkts_acked	= rule_acked,
	.cong_avoid	= tcp_reno_cong_avoid,
	.ssthresh	= rule_ssthresh,
	.set_state	= rule_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "my_rule",
};

static int __init rule_register(void)
{
	BUILD_BUG_ON(sizeof(struct rule) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&rule);
}

static void __exit rule_unregister(void)
{
	tcp_unregister_congestion_control(&rule);
}

module_init(rule_register);
module_exit(rule_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno with an exit rule of its own");
