/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LeoCC by hand: what is known after a reconfiguration, for user space and for KUnit. */
#ifndef LEOCC_VECTORS_H
#define LEOCC_VECTORS_H

#include "leocc_core.h"

#define LEOCC_VECTOR_ROUND_US	100000

static const struct leocc_params leocc_defaults = {
	.bbr = { .growth_pct = 25, .full_rounds = 3, .loss_pct = 2, .loss_ranges = 6 },
	.period_ms = 15000, .offset_ms = 350, .fluctuation_us = 10000,
};

/* Three rounds of 100 packets in 100 ms; then the reconfiguration, and rounds of 50 packets. */
struct leocc_vector {
	const char *name;
	u32 period_ms;
	u32 rounds;		/* that are taken, of which three come before */
	u32 rtt_us;		/* of those after */
	u32 min_rtt_us;		/* known then ... */
	u32 max_bw_pkts;	/* ... and what max_bw delivers in 100 ms */
};

static const struct leocc_vector leocc_vectors[] = {
	{ "before it the path is BBR's", 15000, 3, 120000, 100000, 100 },
	{ "the round that it falls into is of the old path", 15000, 4, 120000, 100000, 100 },
	{ "so is the first one after it", 15000, 5, 120000, 100000, 100 },
	{ "after two rounds the path is a new one", 15000, 6, 120000, 120000, 50 },
	{ "without reconfigurations it is the old one", 0, 6, 120000, 100000, 100 },
};

static inline bool leocc_vector_holds(const struct leocc_vector *vector)
{
	struct bbr3_start start = {
		.now_us = 1000000, .smss = 1, .most_quantum = 45, .budget_quanta = 3, .cwnd = 10,
		.srtt_us = LEOCC_VECTOR_ROUND_US, .selective_acks = 1, .seed = 1,
	};
	struct bbr3_ack ack = { .now_us = start.now_us, .inflight = 1000, .cwnd = 100, .has_data = 1 };
	struct leocc_params params = leocc_defaults;
	struct leocc_state state;
	u64 max_bw;
	u32 i;

	params.period_ms = vector->period_ms;
	leocc_begin(&state, &start);
	for (i = 0; i < vector->rounds; i++) {
		ack.now_us += LEOCC_VECTOR_ROUND_US;
		ack.newest = (struct bbr3_sent) { .delivered = ack.delivered, .inflight = 100 };
		ack.acked = i < 3 ? 100 : 50;
		ack.delivered += ack.acked;
		ack.rtt_us = i < 3 ? LEOCC_VECTOR_ROUND_US : vector->rtt_us;
		ack.srtt_us = ack.rtt_us;
		ack.interval_us = LEOCC_VECTOR_ROUND_US;
		ack.cwnd = leocc_on_ack(&state, &params, &ack);
	}
	max_bw = state.bbr.max_bw_of[0] > state.bbr.max_bw_of[1] ? state.bbr.max_bw_of[0] : state.bbr.max_bw_of[1];
	return state.bbr.min_rtt_us == vector->min_rtt_us &&
	       max_bw == ((u64)vector->max_bw_pkts << BBR3_RATE_BITS) / LEOCC_VECTOR_ROUND_US;
}

#endif /* LEOCC_VECTORS_H */
