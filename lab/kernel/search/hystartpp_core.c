// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HyStart++: leave slow start on a growing RTT, but not before a second look.
 *
 * A queue at the bottleneck shows in the least RTT of a round trip's worth of data.
 * Where that has grown by an eighth against the round before (but by no less than 4
 * and no more than 16 ms), HyStart would go to congestion avoidance at once, and on
 * paths with jitter far too early.  HyStart++ goes to conservative slow start (CSS)
 * instead, a quarter as fast:
 *
 *  - the RTT falls below what it was when CSS began: the queue was none.  Back to
 *    standard slow start;
 *  - five rounds of CSS pass: the queue is real.  ssthresh becomes cwnd.
 *
 * Source: P. Balasubramanian, Y. Huang, M. Olson, "HyStart++: Modified Slow Start for
 * TCP", RFC 9406, May 2023: section 4.2 (the algorithm), section 4.3 (constants).
 *
 * Differences from the RFC
 *
 * Where it is silent, or counts in bytes what Linux counts in segments:
 *
 *  1. Units.  cwnd, N and L count segments, as all of Linux TCP does; N is what the
 *     stack passes on as delivered by the ACK.
 *  2. CSS growth.  N / CSS_GROWTH_DIVISOR of a single segment is 0.  The rest is kept,
 *     so that every fourth segment acknowledged adds one, however the ACKs fall.  L
 *     limits each ACK before, as in the RFC.
 *  3. The ACK that ends a round.  One that acknowledges windowEnd and nothing beyond
 *     has an RTT sample of the round's own data: it counts to that round.  One that
 *     acknowledges more has a sample of data sent later: it counts to the next.
 *  4. An ACK without an RTT sample ends rounds and counts no sample.  A round without
 *     any leaves the next one without a lastRoundMinRTT, and so without a decision, as
 *     the RFC's conditions have it.
 *  5. rttSampleCount stops at 255; nothing needs more.
 *  6. The RFC looks for a spurious exit and for an exit at the same ACK in one order
 *     only: an ACK decides once.  It may begin CSS, or end it, not both.
 *
 * The caller's part (tcp_hystartpp_main.c): the initial slow start alone is measured, as the
 * RFC says it SHOULD be; and a loss or an ECN mark ends it by CUBIC's reaction, ssthresh =
 * 0.7 cwnd, where the RFC has ssthresh = cwnd.
 */
#include "hystartpp_core.h"

static bool hystartpp_within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

#define HYSTARTPP_VALID(params, name, NAME)				\
	hystartpp_within((params)->name, HYSTARTPP_##NAME##_MIN, HYSTARTPP_##NAME##_MAX)

bool hystartpp_params_valid(const struct hystartpp_params *params)
{
	return HYSTARTPP_VALID(params, min_rtt_thresh_us, MIN_RTT_THRESH_US) &&
	       HYSTARTPP_VALID(params, max_rtt_thresh_us, MAX_RTT_THRESH_US) &&
	       HYSTARTPP_VALID(params, min_rtt_divisor, MIN_RTT_DIVISOR) &&
	       HYSTARTPP_VALID(params, n_rtt_sample, N_RTT_SAMPLE) &&
	       HYSTARTPP_VALID(params, css_growth_divisor, CSS_GROWTH_DIVISOR) &&
	       HYSTARTPP_VALID(params, css_rounds, CSS_ROUNDS) &&
	       HYSTARTPP_VALID(params, l_pkts, L_PKTS);
}

static u32 hystartpp_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 hystartpp_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static bool hystartpp_in_css(const struct hystartpp_state *state)
{
	return state->css_baseline_min_rtt_us != HYSTARTPP_INFINITY_US;
}

void hystartpp_start(struct hystartpp_state *state, u32 snd_nxt)
{
	*state = (struct hystartpp_state) {
		.window_end = snd_nxt,
		.last_round_min_rtt_us = HYSTARTPP_INFINITY_US,
		.current_round_min_rtt_us = HYSTARTPP_INFINITY_US,
		.css_baseline_min_rtt_us = HYSTARTPP_INFINITY_US,
	};
}

static void hystartpp_next_round(struct hystartpp_state *state, u32 snd_nxt)
{
	state->window_end = snd_nxt;
	state->last_round_min_rtt_us = state->current_round_min_rtt_us;
	state->current_round_min_rtt_us = HYSTARTPP_INFINITY_US;
	state->rtt_samples = 0;
	if (hystartpp_in_css(state))
		state->css_rounds++;
}

static void hystartpp_begin_css(struct hystartpp_state *state)
{
	state->css_baseline_min_rtt_us = state->current_round_min_rtt_us;
	state->css_rounds = 0;
	state->css_acked_pkts = 0;
}

/* RttThresh.  max() last, as in the RFC: where the limits cross, min_rtt_thresh_us wins. */
static u32 hystartpp_thresh_us(const struct hystartpp_state *state,
			       const struct hystartpp_params *params)
{
	u32 part = state->last_round_min_rtt_us / params->min_rtt_divisor;

	return hystartpp_max(params->min_rtt_thresh_us,
			     hystartpp_min(part, params->max_rtt_thresh_us));
}

static bool hystartpp_rtt_grew(const struct hystartpp_state *state,
			       const struct hystartpp_params *params)
{
	if (state->last_round_min_rtt_us == HYSTARTPP_INFINITY_US)
		return false;

	return state->current_round_min_rtt_us >=
	       state->last_round_min_rtt_us + hystartpp_thresh_us(state, params);
}

static void hystartpp_sample(struct hystartpp_state *state,
			     const struct hystartpp_params *params, u32 rtt_us)
{
	state->current_round_min_rtt_us = hystartpp_min(state->current_round_min_rtt_us, rtt_us);
	if (state->rtt_samples < HYSTARTPP_N_RTT_SAMPLE_MAX)
		state->rtt_samples++;
	if (state->rtt_samples < params->n_rtt_sample)
		return;

	if (!hystartpp_in_css(state)) {
		if (hystartpp_rtt_grew(state, params))
			hystartpp_begin_css(state);
	} else if (state->current_round_min_rtt_us < state->css_baseline_min_rtt_us) {
		state->css_baseline_min_rtt_us = HYSTARTPP_INFINITY_US;
	}
}

enum hystartpp_phase hystartpp_on_ack(struct hystartpp_state *state,
				      const struct hystartpp_params *params, u32 snd_una,
				      u32 snd_nxt, u32 rtt_us)
{
	s32 beyond = snd_una - state->window_end;	/* sequence numbers wrap */

	if (beyond > 0)
		hystartpp_next_round(state, snd_nxt);
	if (rtt_us)
		hystartpp_sample(state, params, rtt_us);
	if (!beyond)
		hystartpp_next_round(state, snd_nxt);

	if (!hystartpp_in_css(state))
		return HYSTARTPP_SLOW_START;
	return state->css_rounds < params->css_rounds ? HYSTARTPP_CSS : HYSTARTPP_EXIT;
}

u32 hystartpp_growth_pkts(struct hystartpp_state *state, const struct hystartpp_params *params,
			  u32 acked_pkts, bool paced)
{
	u32 counted = paced ? acked_pkts : hystartpp_min(acked_pkts, params->l_pkts);
	u32 growth, rest;

	if (!hystartpp_in_css(state))
		return counted;

	growth = counted / params->css_growth_divisor;
	rest = counted % params->css_growth_divisor + state->css_acked_pkts;
	growth += rest / params->css_growth_divisor;
	state->css_acked_pkts = rest % params->css_growth_divisor;
	return growth;
}
