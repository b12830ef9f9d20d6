/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCC Vivace (NSDI 2018) as a pure function: what a monitor interval measured goes in, the rate for
 * the next one comes out.  No clock, no socket, no memory allocation, integers only.  The story is
 * in vivace_core.c.
 *
 *	vivace_begin(state, rate_kbps, seed);
 *	for each interval, of a round trip:
 *		measure = vivace_next(state, &params, &rate_kbps);
 *		send at rate_kbps
 *	for each interval to be measured, in their order, once its packets are acknowledged or lost:
 *		vivace_measured(state, &params, &interval);
 */
#ifndef VIVACE_CORE_H
#define VIVACE_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define VIVACE_LATENCY_MIN	0
#define VIVACE_LATENCY_MAX	10000
#define VIVACE_LOSS_PCT_MIN	0
#define VIVACE_LOSS_PCT_MAX	10000
#define VIVACE_EPSILON_PCT_MIN	1
#define VIVACE_EPSILON_PCT_MAX	25

#define VIVACE_LEAST_KBPS	100U
#define VIVACE_MOST_KBPS	100000000U	/* 100 Gb/s */

struct vivace_params {
	u32 latency;		/* b: 900 */
	u32 loss_pct;		/* c, in hundredths: 1135 */
	u32 epsilon_pct;	/* by how much the two rates of a trial differ from the present one: 5 */
};

/* What an interval measured.  The gradient is that of the round-trip time: microseconds per second. */
struct vivace_interval {
	u32 rate_kbps;
	u32 loss_ppm;
	s32 gradient_ppm;
};

enum vivace_phase {
	VIVACE_STARTS,		/* doubles until the utility falls */
	VIVACE_TRIES,		/* tries a higher and a lower rate, then decides */
};

enum vivace_direction { VIVACE_NOWHERE, VIVACE_UP, VIVACE_DOWN };

struct vivace_state {
	s64 utility[2];		/* of the last and this interval; of a trial's higher and lower rate */
	u32 rate_kbps;
	u32 random;
	u8 phase;		/* enum vivace_phase */
	u8 sent;		/* intervals of this decision that were sent ... */
	u8 measured;		/* ... and of which is known what they measured */
	u8 lower_first;		/* the order of a trial */
	u8 in_a_row;		/* tau: decisions in the same direction */
	u8 widened;		/* k: how often the boundary was widened */
	u8 direction;		/* of the last decision: VIVACE_UP, VIVACE_DOWN; 0: none */
	bool doubled;		/* there is a last utility */
};

/* The round-trip times of an interval, for their gradient. */
struct vivace_slope {
	s64 times;		/* sums; of products of both, and of squares of times */
	s64 rtts;
	s64 products;
	s64 squares;
	u32 samples;
	u32 first_us;		/* the first sample, from which others are counted */
};

bool vivace_params_valid(const struct vivace_params *params);

void vivace_begin(struct vivace_state *state, u32 rate_kbps, u32 seed);

/* The next interval's rate; true: report what it measured. */
bool vivace_next(struct vivace_state *state, const struct vivace_params *params, u32 *rate_kbps);

/* True: this ended the start. */
bool vivace_measured(struct vivace_state *state, const struct vivace_params *params,
		     const struct vivace_interval *interval);

/* Intervals that were not reported yet never will be: the start's, or a trial, is sent again. */
void vivace_again(struct vivace_state *state);

/* The same, at half the rate. */
void vivace_timeout(struct vivace_state *state);

/* In thousandths. */
s64 vivace_utility(const struct vivace_params *params, const struct vivace_interval *interval);

/* @sent_us: since the interval began, below 16 s; @rtt_us below 2^27 */
void vivace_sample(struct vivace_slope *slope, u32 sent_us, u32 rtt_us);

s32 vivace_gradient_ppm(const struct vivace_slope *slope);

#endif /* VIVACE_CORE_H */
