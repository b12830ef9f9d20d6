// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own CUBIC, HyStart and all, compiled as the modules of the lab are. */
#define KERNEL_CUBIC_OPS bench_cubic
#include "kernel_cubic.h"

static struct tcp_congestion_ops bench_cubic = {
	.init		= cubictcp_init,
	.ssthresh	= cubictcp_recalc_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= cubictcp_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= cubictcp_acked,
	.owner		= THIS_MODULE,
	.name		= "cubic_again",
};

static int __init bench_cubic_init(void)
{
	return cubictcp_register();
}

static void __maybe_unused bench_cubic_exit(void)
{
	kernel_cubic_unregister();
	(void)kernel_cubic_register;
}
module_init(bench_cubic_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC, to be measured");
