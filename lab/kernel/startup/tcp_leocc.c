// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "leocc": LeoCC (SIGCOMM 2025) around BBR version 3, with reconfigurations at given instants.
 *
 * LeoCC (leocc_core.c) has BBR's place; the rest is that of "bbr3" (bbr3_tcp.h, with the differences in
 * tcp_bbr3.c).
 *
 * What is approximated, in addition to what the core says
 *
 *  1. The instants count from the end of the flow's handshake, and are the same for all flows: the text's
 *     simulation has them count from the trace's begin.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "leocc_core.h"

#define BBR3_TCP_OPS tcp_leocc
#define BBR3_TCP_NAME "leocc"
#define BBR3_TCP_STATE struct leocc_state
#include "bbr3_tcp.h"

#define LEOCC_PARAM(name, NAME, initial)				\
	static u32 name __read_mostly = initial;			\
	BOUNDED_PARAM(name, &name, LEOCC_##NAME##_MIN, LEOCC_##NAME##_MAX, 0644)

LEOCC_PARAM(period_ms, PERIOD_MS, 15000);
MODULE_PARM_DESC(period_ms, "from one reconfiguration to the next, in ms (0: none, to 3600000, default 15000)");

LEOCC_PARAM(offset_ms, OFFSET_MS, 15000);
MODULE_PARM_DESC(offset_ms, "from a flow's begin to its first reconfiguration, in ms (0 to 3600000, default 15000)");

LEOCC_PARAM(fluctuation_us, FLUCTUATION_US, 10000);
MODULE_PARM_DESC(fluctuation_us,
		 "a round trip so far above the least one is a queue, in us (0 to 1000000, default 10000)");

static struct leocc_params leocc_params(void)
{
	return (struct leocc_params) {
		.bbr = bbr3_params(),
		.period_ms = READ_ONCE(period_ms),
		.offset_ms = READ_ONCE(offset_ms),
		.fluctuation_us = READ_ONCE(fluctuation_us),
	};
}

static void bbr3_model_begin(struct bbr3_flow *flow, const struct bbr3_start *start)
{
	leocc_begin(&flow->state, start);
}

static void bbr3_model_lost(struct bbr3_flow *flow, const struct bbr3_loss *loss)
{
	struct leocc_params params = leocc_params();

	leocc_lost(&flow->state, &params, loss);
}

static u32 bbr3_model_on_ack(struct bbr3_flow *flow, const struct bbr3_ack *ack)
{
	struct leocc_params params = leocc_params();

	return leocc_on_ack(&flow->state, &params, ack);
}

module_init(bbr3_tcp_register);
module_exit(bbr3_tcp_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP LeoCC (SIGCOMM 2025), reconfigurations by parameter");
