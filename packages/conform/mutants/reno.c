// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reno from the kernel's own parts, as a module whose lines a mutant changes.
 */
#include <linux/module.h>
#include <net/tcp.h>

static void reno_init(struct sock *sk)
{
	/* init */
}

static u32 reno_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return max(cwnd >> 1, 2U);
}

static void reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static u32 reno_undo_cwnd(struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

static struct tcp_congestion_ops reno_parts __read_mostly = {
	.init		= reno_init,
	.ssthresh	= reno_ssthresh,
	.cong_avoid	= reno_cong_avoid,
	.undo_cwnd	= reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "reno_parts",
};

static int __init reno_parts_init(void)
{
	return tcp_register_congestion_control(&reno_parts);
}

static void __exit reno_parts_exit(void)
{
	tcp_unregister_congestion_control(&reno_parts);
}

module_init(reno_parts_init);
module_exit(reno_parts_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno from the kernel's own parts");
