/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LeoCC (SIGCOMM 2025) as a pure function around BBR's (bbr3_core.h): the same goes in and comes out, and
 * the model begins again at instants that the caller names.  The story is in leocc_core.c.
 *
 *	leocc_begin(state, &params, &start);
 *	for each packet that is declared lost:
 *		leocc_lost(state, &params, &loss);
 *	on each ACK, after that:
 *		window = leocc_on_ack(state, &params, &ack);
 *		pace at state->bbr.pacing_rate
 *
 * What else BBR has is called with &state->bbr.
 */
#ifndef LEOCC_CORE_H
#define LEOCC_CORE_H

#include "bbr3_core.h"

/* Any mixture of values within these ranges is safe. */
#define LEOCC_PERIOD_MS_MIN		0
#define LEOCC_PERIOD_MS_MAX		3600000
#define LEOCC_OFFSET_MS_MIN		0
#define LEOCC_OFFSET_MS_MAX		3600000
#define LEOCC_FLUCTUATION_US_MIN	0
#define LEOCC_FLUCTUATION_US_MAX	1000000

#define LEOCC_SETTLE_ROUNDS		2	/* after a reconfiguration */
#define LEOCC_ONE			(1U << 16)	/* of the filter's variance and gain */
#define LEOCC_PROCESS			(LEOCC_ONE / 16)	/* what a round adds to the variance */
#define LEOCC_UNKNOWN			(LEOCC_ONE << 8)	/* the variance before the first sample */

struct leocc_params {
	struct bbr3_params bbr;
	u32 period_ms;		/* from one reconfiguration to the next: 15000; 0: there are none */
	u32 offset_ms;		/* the first one, after the flow's begin: 15000 */
	u32 fluctuation_us;	/* of the least round trip: 10000; more above it is a queue */
};

struct leocc_state {
	struct bbr3_state bbr;	/* first: see bbr3_tcp.h */
	u64 begin_us;		/* the flow's */
	u64 last_us;		/* the last reconfiguration; 0: none yet */
	u64 kalman_rate;	/* as BBR's; 0: no sample */
	u64 round_rate;		/* the most of this round; 0: no sample */
	u64 paced_rate[2];	/* the least of this round and of the last one */
	u32 variance;		/* of kalman_rate, by that of a measurement */
	u32 round_delivered;	/* packets of the next round since then have at least this */
	u8 settle_rounds;	/* to come; 0: BBR's model holds */
};

bool leocc_params_valid(const struct leocc_params *params);

void leocc_begin(struct leocc_state *state, const struct bbr3_start *start);

/* Take one ACK; return the window. */
u32 leocc_on_ack(struct leocc_state *state, const struct leocc_params *params, const struct bbr3_ack *ack);

/* A packet was declared lost. */
void leocc_lost(struct leocc_state *state, const struct leocc_params *params, const struct bbr3_loss *loss);

/* Whether the round trip shows a queue: the filtered rate then bounds BBR's bandwidth. */
bool leocc_queues(const struct leocc_state *state, const struct leocc_params *params, u32 srtt_us);

#endif /* LEOCC_CORE_H */
