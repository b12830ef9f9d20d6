// SPDX-License-Identifier: GPL-2.0-or-later
/* A sender whose hooks do nothing: what the counting itself costs. */
#include <linux/module.h>
#include <net/tcp.h>

static void bench_none_acked(struct sock *sk, const struct ack_sample *sample)
{
}

static void bench_none_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
}

static struct tcp_congestion_ops bench_none = {
	.pkts_acked	= bench_none_acked,
	.cong_avoid	= bench_none_cong_avoid,
	.name		= "none",
};

static int __init bench_none_init(void)
{
	return tcp_register_congestion_control(&bench_none);
}
module_init(bench_none_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A sender that does nothing");
