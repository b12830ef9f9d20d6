// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PCC Vivace: try a higher and a lower rate, and move towards the one of larger utility.
 *
 * Source: M. Dong, T. Meng, D. Zarchy, E. Arslan, Y. Gilad, B. Godfrey, M. Schapira, "PCC Vivace:
 * Online-Learning Congestion Control", NSDI 2018.  The rules, by the paper's sections:
 *
 *  - 3 (utility): u(x) = x^0.9 - b x dRTT/dT - c x L, with the rate x in Mb/s, the gradient of the
 *    round-trip time, the share L of lost packets, b = 900, c = 11.35;
 *  - 4 (start): the rate doubles each interval until the utility falls, and goes back by one;
 *  - 4 (rate control): two intervals, at r (1 + e) and r (1 - e), e = 0.05, in random order, give the
 *    gradient of the utility (u+ - u-) / 2 e r.  The rate moves by m(tau) theta times it, theta = 1;
 *  - confidence amplifier: m(tau) = tau for up to three decisions in a row in one direction, then
 *    2 tau - 3;
 *  - dynamic change boundary: a step is at most (0.05 + 0.1 k) r.  k grows by one with each step that
 *    is cut by it, is else the least that the step needs, and 0 after a change of direction;
 *  - unreliable statistics: the gradient of the round-trip time is that of a linear regression, and
 *    0 where it is below 0.01.
 *
 * Differences from the paper
 *
 *  1. Between a trial and what it measured the present rate is sent.
 *  2. The first rate is the initial window in a round trip; the least is 100 kb/s.
 *  3. x^0.9 is within 0.00016 of its value and a thousandth, by a logarithm to base 2 and a cubic polynomial.
 *  4. A timeout halves the rate, ends the start and voids a trial; an interval that the application
 *     limits is tried again: the paper is silent.
 *  5. Samples of one interval that look wrong are not measured again.
 */
#include "vivace_core.h"

#define VIVACE_TIME_SHIFT	4	/* times count in 16 us */
#define VIVACE_PPM		1000000
#define VIVACE_NOISE_PPM	10000
#define VIVACE_Q		16	/* of a logarithm */
#define VIVACE_LOG_1000		653115	/* log2(1000) << 16 */
#define VIVACE_BOUNDARY_PCT	5
#define VIVACE_WIDER_PCT	10
#define VIVACE_WIDENED_MAX	9	/* a step is less than the rate */
#define VIVACE_IN_A_ROW_MAX	100
#define VIVACE_LINEAR		3	/* the amplifier is tau up to here */

static u32 vivace_bounded_kbps(s64 rate_kbps)
{
	if (rate_kbps < VIVACE_LEAST_KBPS)
		return VIVACE_LEAST_KBPS;
	return rate_kbps < VIVACE_MOST_KBPS ? rate_kbps : VIVACE_MOST_KBPS;
}

static s64 vivace_divide(s64 value, u32 by)
{
	return value < 0 ? -(s64)div64_u64(-value, by) : (s64)div64_u64(value, by);
}

bool vivace_params_valid(const struct vivace_params *params)
{
	return params->latency <= VIVACE_LATENCY_MAX && params->loss_pct <= VIVACE_LOSS_PCT_MAX &&
	       params->epsilon_pct >= VIVACE_EPSILON_PCT_MIN && params->epsilon_pct <= VIVACE_EPSILON_PCT_MAX;
}
search_export(vivace_params_valid);

void vivace_begin(struct vivace_state *state, u32 rate_kbps, u32 seed)
{
	*state = (struct vivace_state) {
		.rate_kbps = vivace_bounded_kbps(rate_kbps),
		.random = seed | 1,
	};
}
search_export(vivace_begin);

/* Utility */

/* log2, in 1 / 65536: a square of the mantissa gives a binary digit. */
static s32 vivace_log2(u32 value)
{
	u64 mantissa = (u64)value << 30;
	s32 log = 0;
	int i;

	for (; mantissa >= 2ULL << 30; mantissa >>= 1)
		log += 1 << VIVACE_Q;
	for (i = VIVACE_Q - 1; i >= 0; i--) {
		mantissa = (mantissa * mantissa) >> 30;
		if (mantissa < 2ULL << 30)
			continue;
		mantissa >>= 1;
		log += 1 << i;
	}
	return log;
}

/* 1000 x 2^(log / 65536), by 1 + 0.6957 f + 0.2251 f^2 + 0.0792 f^3 for the fraction f. */
static s64 vivace_thousand_exp2(s32 log)
{
	s64 fraction = log & ((1 << VIVACE_Q) - 1);
	s64 power = 5190;

	power = 14752 + ((power * fraction) >> VIVACE_Q);
	power = 45594 + ((power * fraction) >> VIVACE_Q);
	power = 65536 + ((power * fraction) >> VIVACE_Q);
	power *= 1000;
	return log < 0 ? power >> (VIVACE_Q - (log >> VIVACE_Q)) : (power << (log >> VIVACE_Q)) >> VIVACE_Q;
}

static s64 vivace_throughput_utility(u32 rate_kbps)
{
	s32 log = vivace_log2(rate_kbps) - VIVACE_LOG_1000;

	return vivace_thousand_exp2(log - log / 10);
}

s64 vivace_utility(const struct vivace_params *params, const struct vivace_interval *interval)
{
	s32 gradient_ppm = interval->gradient_ppm;
	s64 latency;
	s64 loss;

	if (gradient_ppm > -VIVACE_NOISE_PPM && gradient_ppm < VIVACE_NOISE_PPM)
		gradient_ppm = 0;
	latency = vivace_divide((s64)interval->rate_kbps * params->latency * gradient_ppm, VIVACE_PPM);
	loss = div_u64((u64)interval->rate_kbps * params->loss_pct * interval->loss_ppm, 100 * VIVACE_PPM);
	return vivace_throughput_utility(interval->rate_kbps) - latency - loss;
}
search_export(vivace_utility);

/* The gradient of the round-trip time */

void vivace_sample(struct vivace_slope *slope, u32 sent_us, u32 rtt_us)
{
	s64 time = sent_us >> VIVACE_TIME_SHIFT;
	s64 rtt;

	if (!slope->samples)
		slope->first_us = rtt_us;
	rtt = (s64)rtt_us - slope->first_us;
	slope->samples++;
	slope->times += time;
	slope->rtts += rtt;
	slope->products += time * rtt;
	slope->squares += time * time;
}
search_export(vivace_sample);

s32 vivace_gradient_ppm(const struct vivace_slope *slope)
{
	s64 covariance, variance, gradient;
	s64 mean_time;

	if (slope->samples < 2)
		return 0;
	mean_time = vivace_divide(slope->times, slope->samples);
	covariance = slope->products - mean_time * slope->rtts;
	variance = (slope->squares - mean_time * slope->times) << VIVACE_TIME_SHIFT;
	if (variance <= 0)
		return 0;
	while (covariance > (1LL << 42) || covariance < -(1LL << 42)) {	/* so that a million times it fits */
		covariance /= 2;
		variance /= 2;
	}
	gradient = covariance * VIVACE_PPM;
	gradient = gradient < 0 ? -(s64)div64_u64(-gradient, variance ?: 1) : (s64)div64_u64(gradient, variance ?: 1);
	if (gradient > VIVACE_PPM)
		return VIVACE_PPM;
	return gradient < -VIVACE_PPM ? -VIVACE_PPM : gradient;
}
search_export(vivace_gradient_ppm);

/* Rate control */

static bool vivace_coin(struct vivace_state *state)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 17;
	state->random ^= state->random << 5;
	return state->random >> 31;
}

bool vivace_next(struct vivace_state *state, const struct vivace_params *params, u32 *rate_kbps)
{
	u32 step_kbps = div_u64((u64)state->rate_kbps * params->epsilon_pct, 100);
	u32 intervals = state->phase == VIVACE_STARTS ? 1 : 2;

	*rate_kbps = state->rate_kbps;
	if (state->sent >= intervals)
		return false;
	if (state->phase == VIVACE_TRIES) {
		if (!state->sent)
			state->lower_first = vivace_coin(state);
		*rate_kbps += state->sent == state->lower_first ? step_kbps : -step_kbps;
	}
	state->sent++;
	return true;
}
search_export(vivace_next);

static u32 vivace_amplifier(u32 in_a_row)
{
	return in_a_row <= VIVACE_LINEAR ? in_a_row : 2 * in_a_row - VIVACE_LINEAR;
}

static u32 vivace_boundary_kbps(const struct vivace_state *state, u32 widened)
{
	return div_u64((u64)state->rate_kbps * (VIVACE_BOUNDARY_PCT + VIVACE_WIDER_PCT * widened), 100);
}

/* The step within the boundary, which it moves. */
static u32 vivace_bounded_step(struct vivace_state *state, u64 step_kbps)
{
	u32 boundary_kbps = vivace_boundary_kbps(state, state->widened);

	if (step_kbps > boundary_kbps) {
		if (state->widened < VIVACE_WIDENED_MAX)
			state->widened++;
		return boundary_kbps;
	}
	while (state->widened && step_kbps <= vivace_boundary_kbps(state, state->widened - 1))
		state->widened--;
	return step_kbps;
}

static void vivace_decide(struct vivace_state *state, const struct vivace_params *params)
{
	s64 difference = state->utility[0] - state->utility[1];
	u8 direction = difference < 0 ? VIVACE_DOWN : VIVACE_UP;
	u64 gradient = difference < 0 ? -difference : difference;
	s64 step_kbps;

	if (direction != state->direction) {
		state->in_a_row = 0;
		state->widened = 0;
	}
	if (state->in_a_row < VIVACE_IN_A_ROW_MAX)
		state->in_a_row++;
	state->direction = direction;
	/* Thousandths per kb/s are per Mb/s, and a thousand kb/s are theta. */
	gradient = gradient < 1ULL << 40 ? gradient : 1ULL << 40;
	step_kbps = div64_u64(gradient * vivace_amplifier(state->in_a_row) * 1000 * 100,
			      2ULL * params->epsilon_pct * state->rate_kbps);
	step_kbps = vivace_bounded_step(state, step_kbps);
	state->rate_kbps = vivace_bounded_kbps(state->rate_kbps + (difference < 0 ? -step_kbps : step_kbps));
}

static bool vivace_start_goes_on(struct vivace_state *state, s64 utility)
{
	if (state->doubled && utility < state->utility[0]) {
		state->rate_kbps = vivace_bounded_kbps(state->rate_kbps / 2);
		state->phase = VIVACE_TRIES;
		return false;
	}
	state->utility[0] = utility;
	state->rate_kbps = vivace_bounded_kbps(2LL * state->rate_kbps);
	state->doubled = true;
	return true;
}

bool vivace_measured(struct vivace_state *state, const struct vivace_params *params,
		     const struct vivace_interval *interval)
{
	s64 utility = vivace_utility(params, interval);

	if (state->measured >= state->sent)
		return false;
	if (state->phase == VIVACE_STARTS) {
		state->sent = 0;
		return !vivace_start_goes_on(state, utility);
	}
	state->utility[state->measured != state->lower_first] = utility;
	if (++state->measured < 2)
		return false;
	vivace_decide(state, params);
	state->sent = 0;
	state->measured = 0;
	return false;
}
search_export(vivace_measured);

void vivace_again(struct vivace_state *state)
{
	state->sent = 0;
	state->measured = 0;
}
search_export(vivace_again);

void vivace_timeout(struct vivace_state *state)
{
	vivace_again(state);
	state->rate_kbps = vivace_bounded_kbps(state->rate_kbps / 2);
	state->phase = VIVACE_TRIES;
	state->direction = VIVACE_NOWHERE;
}
search_export(vivace_timeout);
