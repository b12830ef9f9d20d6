/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCC Vivace by hand: utilities and decisions, for user space and for KUnit. */
#ifndef VIVACE_VECTORS_H
#define VIVACE_VECTORS_H

#include "vivace_core.h"

static const struct vivace_params vivace_defaults = { .latency = 900, .loss_pct = 1135, .epsilon_pct = 5 };

struct vivace_utility_vector {
	const char *name;
	struct vivace_interval interval;
	s64 utility;
};

/* 1 Mb/s to the power of 0.9 is 1, 1024 Mb/s to it 512. */
static const struct vivace_utility_vector vivace_utilities[] = {
	{ "1 Mb/s", { 1000, 0, 0 }, 1000 },
	{ "1024 Mb/s", { 1024000, 0, 0 }, 512000 },
	{ "2 % lost: less by 11.35 x 0.02", { 1000, 20000, 0 }, 773 },
	{ "20 ms more in a second: less by 900 x 0.02", { 1000, 0, 20000 }, -17000 },
	{ "20 ms less in a second: more by as much", { 1000, 0, -20000 }, 19000 },
	{ "9 ms more in a second are noise", { 1000, 0, 9000 }, 1000 },
};

static inline bool vivace_utility_holds(const struct vivace_utility_vector *vector)
{
	s64 utility = vivace_utility(&vivace_defaults, &vector->interval);

	return utility >= vector->utility - vector->interval.rate_kbps / 50000 - 1 &&
	       utility <= vector->utility + vector->interval.rate_kbps / 50000 + 1;
}

/* Trials at 10 Mb/s: thousandths of utility are kb/s of a step there.  The boundary is 500 kb/s. */
struct vivace_decision {
	const char *name;
	u32 higher_loss_ppm;
	u32 trials;
	u32 least_kbps;		/* after them */
	u32 most_kbps;
	u8 widened;
};

static const struct vivace_decision vivace_decisions[] = {
	{ "8.30 - 7.59 is more than the boundary", 0, 1, 10500, 10500, 1 },
	{ "the second is twice as bold: 1423 kb/s, below 15 %", 0, 2, 11910, 11935, 1 },
	{ "0.5 % lost at the higher rate: less by 0.596", 5000, 1, 10100, 10130, 0 },
	{ "2 % lost at the higher rate: back, at the boundary", 20000, 1, 9500, 9500, 1 },
};

static inline bool vivace_decision_holds(const struct vivace_decision *vector)
{
	struct vivace_interval interval = { 0, 0, 0 };
	struct vivace_state state;
	u32 present_kbps;
	u32 i;

	vivace_begin(&state, 10000, 1);
	state.phase = VIVACE_TRIES;
	for (i = 0; i < 2 * vector->trials; i++) {
		present_kbps = state.rate_kbps;
		vivace_next(&state, &vivace_defaults, &interval.rate_kbps);
		interval.loss_ppm = interval.rate_kbps > present_kbps ? vector->higher_loss_ppm : 0;
		vivace_measured(&state, &vivace_defaults, &interval);
	}
	return state.rate_kbps >= vector->least_kbps && state.rate_kbps <= vector->most_kbps &&
	       state.widened == vector->widened;
}

#endif /* VIVACE_VECTORS_H */
