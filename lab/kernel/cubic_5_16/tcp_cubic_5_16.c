// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "cubic_5_16": the kernel's own CUBIC, with HyStart as Linux 5.16 to 6.13 had it.
 *
 * There HyStart saw no ACK while cwnd was below hystart_low_window (4e1fddc98d25 in 5.16):
 * its first round began with the ACK at which cwnd reached it, in the middle of a train of
 * ACKs, and so did all later ones.  Since 6.14 (25c1a9ca53db) it marks the rounds from the
 * first ACK on, and only does not exit below that window.
 */
#define KERNEL_CUBIC_OPS cubic_5_16
#include "kernel_cubic.h"

static void cubic_5_16_acked(struct sock *sk, const struct ack_sample *sample)
{
	hystart = tcp_snd_cwnd(tcp_sk(sk)) >= hystart_low_window;
	cubictcp_acked(sk, sample);
	hystart = 1;
}

static struct tcp_congestion_ops cubic_5_16 __read_mostly = {
	.init		= cubictcp_init,
	.ssthresh	= cubictcp_recalc_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= cubictcp_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= cubic_5_16_acked,
	.owner		= THIS_MODULE,
	.name		= "cubic_5_16",
};

static int __init cubic_5_16_module_init(void)
{
	int err = kernel_cubic_register();

	hystart = 1;
	return err;
}

module_init(cubic_5_16_module_init);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with the HyStart of Linux 5.16 to 6.13");
