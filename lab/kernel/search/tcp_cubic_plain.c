// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "cubic_plain": the kernel's own CUBIC without HyStart.
 *
 * The sender that leaves slow start by loss alone.  A module of its own, so that
 * it and the kernel's "cubic" (with HyStart) can run at the same time, which one
 * global hystart parameter would not allow.
 */
#define KERNEL_CUBIC_OPS cubic_plain
#include "kernel_cubic.h"

#include "slow_start.h"

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct cubic_plain {
	struct bictcp cubic;
	bool reducing;		/* see slow_start.h */
};

static u32 cubic_plain_ssthresh(struct sock *sk)
{
	struct cubic_plain *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	return cubictcp_recalc_ssthresh(sk);
}

static void cubic_plain_state(struct sock *sk, u8 new_state)
{
	struct cubic_plain *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	cubictcp_state(sk, new_state);
}

static struct tcp_congestion_ops cubic_plain __read_mostly = {
	.init		= cubictcp_init,
	.ssthresh	= cubic_plain_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= cubic_plain_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= cubictcp_acked,
	.owner		= THIS_MODULE,
	.name		= "cubic_plain",
};

KERNEL_CUBIC_HOLDS(struct cubic_plain);

module_init(kernel_cubic_register);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC without HyStart");
