// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "bbr3": BBR version 3 (draft-ietf-ccwg-bbr), by its draft.
 *
 * BBR (bbr3_core.c) counts in packets here.  Linux keeps with a packet what was delivered as it was
 * sent; what was in flight and lost then is in a ring (sent_core.c).  Newly lost packets are found
 * in TCP's queue of packets to be acknowledged, because no hook reports them.
 *
 * Differences from the draft, in addition to those of the core
 *
 *  1. What was in flight as a packet was sent is the most after the same ACK, in windows above 256
 *     packets after one of some consecutive ACKs.
 *  2. A lost retransmission is taken as sent after the last ACK.
 *  3. A loss that its probe repaired at once (TLP) is none: TCP does not count it.
 *  4. Rates count TCP's header and IP's, as fq and TCP's own pacing do.
 *  5. TCP chooses the bursts itself: what a millisecond sends, as the draft has it.
 *  6. Without memory for its state a flow runs Reno.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define BBR3_TCP_OPS tcp_bbr3
#define BBR3_TCP_NAME "bbr3"
#define BBR3_TCP_STATE struct bbr3_state
#include "bbr3_tcp.h"

static void bbr3_model_begin(struct bbr3_flow *flow, const struct bbr3_start *start)
{
	bbr3_begin(&flow->state, start);
}

static void bbr3_model_lost(struct bbr3_flow *flow, const struct bbr3_loss *loss)
{
	struct bbr3_params params = bbr3_params();

	bbr3_lost(&flow->state, &params, loss);
}

static u32 bbr3_model_on_ack(struct bbr3_flow *flow, const struct bbr3_ack *ack)
{
	struct bbr3_params params = bbr3_params();

	return bbr3_on_ack(&flow->state, &params, ack);
}

module_init(bbr3_tcp_register);
module_exit(bbr3_tcp_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP BBR version 3 (draft-ietf-ccwg-bbr)");
