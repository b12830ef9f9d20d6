// SPDX-License-Identifier: GPL-2.0-or-later
// A student's module whose record of the exit is not what it does. EARLY: it records an exit when the round trip first
// grows, and goes on doubling. LATE: it stops doubling at 20 packets without a word, and records an exit when the round
// trip grows at last.
#include <linux/module.h>
#include <net/tcp.h>

#include "slow_start.h"

enum { FORGE_EARLY, FORGE_LATE, SMALL_PKTS = 20, LATE_ROUNDS = 14 };

struct forged {
	u32 round_end;
	u32 round_rtt_us;
	u32 base_rtt_us;
	u32 rounds;
	bool written;
};

static void forged_init(struct sock *sk)
{
	struct forged *ca = inet_csk_ca(sk);

	*ca = (struct forged) { .round_end = tcp_sk(sk)->snd_nxt, .round_rtt_us = U32_MAX, .base_rtt_us = U32_MAX };
}

static void forged_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct forged *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool full;

	if (FORGE == FORGE_LATE && tcp_snd_cwnd(tp) >= SMALL_PKTS && tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
	if (sample->rtt_us > 0) {
		ca->round_rtt_us = min_t(u32, ca->round_rtt_us, sample->rtt_us);
		ca->base_rtt_us = min(ca->base_rtt_us, ca->round_rtt_us);
	}
	if (before(tp->snd_una, ca->round_end))
		return;
	ca->rounds++;
	full = FORGE == FORGE_LATE ? ca->rounds >= LATE_ROUNDS : ca->round_rtt_us > ca->base_rtt_us + ca->base_rtt_us / 16;
	if (full && ca->round_rtt_us != U32_MAX && !ca->written) {
		ca->written = true;
		slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "my_rule");
	}
	ca->round_end = tp->snd_nxt;
	ca->round_rtt_us = U32_MAX;
}

static struct tcp_congestion_ops forged __read_mostly = {
	.init		= forged_init,
	.pkts_acked	= forged_acked,
	.cong_avoid	= tcp_reno_cong_avoid,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "my_rule",
};

static int __init forged_register(void)
{
	return tcp_register_congestion_control(&forged);
}

static void __exit forged_unregister(void)
{
	tcp_unregister_congestion_control(&forged);
}

module_init(forged_register);
module_exit(forged_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno with a forged exit");
