/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BBR version 3 by hand: the plateau and a probe's losses, for user space and for KUnit. */
#ifndef BBR3_VECTORS_H
#define BBR3_VECTORS_H

#include "bbr3_core.h"

#define BBR3_VECTOR_ROUNDS	6
#define BBR3_VECTOR_ROUND_US	100000

static const struct bbr3_params bbr3_defaults = {
	.growth_pct = 25, .full_rounds = 3, .loss_pct = 2, .loss_ranges = 6,
};

static const struct bbr3_start bbr3_vector_start = {
	.now_us = 1000000, .smss = 1, .most_quantum = 45, .budget_quanta = 3, .cwnd = 10,
	.srtt_us = BBR3_VECTOR_ROUND_US, .selective_acks = 1, .seed = 1,
};

/* What each round delivers in 100 ms, and whether that ends Startup. */
struct bbr3_plateau {
	const char *name;
	u32 delivered[BBR3_VECTOR_ROUNDS];
	u32 app_limited;
	u8 mode;
};

static const struct bbr3_plateau bbr3_plateaus[] = {
	{ "doubling is no plateau", { 10, 20, 40, 80, 160, 320 }, 0, BBR3_STARTUP },
	{ "two rounds without growth are none", { 10, 20, 40, 80, 80, 80 }, 0, BBR3_STARTUP },
	{ "three rounds without growth are one", { 10, 20, 40, 40, 40, 40 }, 0, BBR3_DRAIN },
	{ "24 % above the baseline is no growth", { 10, 20, 100, 124, 124, 124 }, 0, BBR3_DRAIN },
	{ "a quarter is growth", { 10, 20, 100, 100, 125, 125 }, 0, BBR3_STARTUP },
	{ "rounds that the application limits do not count", { 10, 20, 40, 40, 40, 40 }, 1, BBR3_STARTUP },
};

static inline bool bbr3_plateau_holds(const struct bbr3_plateau *vector)
{
	struct bbr3_ack ack = {
		.now_us = bbr3_vector_start.now_us, .inflight = 1000, .cwnd = 10, .rtt_us = BBR3_VECTOR_ROUND_US,
		.srtt_us = BBR3_VECTOR_ROUND_US, .interval_us = BBR3_VECTOR_ROUND_US, .has_data = 1,
	};
	struct bbr3_state state;
	size_t i;

	bbr3_begin(&state, &bbr3_vector_start);
	for (i = 0; i < BBR3_VECTOR_ROUNDS; i++) {
		ack.now_us += BBR3_VECTOR_ROUND_US;
		ack.newest = (struct bbr3_sent) { .delivered = ack.delivered, .inflight = ack.cwnd,
						  .app_limited = vector->app_limited };
		ack.acked = vector->delivered[i];
		ack.delivered += ack.acked;
		ack.cwnd = bbr3_on_ack(&state, &bbr3_defaults, &ack);
	}
	return state.mode == vector->mode;
}

/* A loss in ProbeBW_UP, where the BDP is 100 packets: 0.7 of the target is 70. */
struct bbr3_probe_loss {
	const char *name;
	u32 inflight;		/* as the packet was sent, with it */
	u32 lost;		/* since then, with it */
	u32 size;
	u8 mode;
	u32 inflight_longterm;
};

static const struct bbr3_probe_loss bbr3_probe_losses[] = {
	{ "two of a hundred are not too many", 100, 2, 1, BBR3_UP, BBR3_INFINITY },
	{ "three are: the third packet crossed 2 %", 100, 3, 1, BBR3_DOWN, 99 },
	{ "ten at once: 90 + 0.02 x 90 / 0.98", 100, 10, 10, BBR3_DOWN, 91 },
	{ "few in flight: 0.7 of the target", 20, 3, 1, BBR3_DOWN, 70 },
};

static inline bool bbr3_probe_loss_holds(const struct bbr3_probe_loss *vector)
{
	struct bbr3_loss loss = {
		.now_us = 2000000, .lost = vector->lost, .cwnd = 200, .size = vector->size,
		.packet = { .inflight = vector->inflight },
	};
	struct bbr3_state state;

	bbr3_begin(&state, &bbr3_vector_start);
	state.mode = BBR3_UP;
	state.full_bw_reached = true;
	state.probe_sample = true;
	state.min_rtt_us = 1024;
	state.bw = (100ULL << BBR3_RATE_BITS) / 1024;
	bbr3_lost(&state, &bbr3_defaults, &loss);
	return state.mode == vector->mode && state.inflight_longterm == vector->inflight_longterm;
}

#endif /* BBR3_VECTORS_H */
