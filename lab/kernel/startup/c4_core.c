// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C4: send at a nominal rate, with a window for the longest round trip that is no queue; probe by a
 * sixteenth, and push by a quarter where that found more.
 *
 * Source: C. Huitema, S. Nandakumar, C. Jennings, "Specification of Christian's Congestion Control
 * Code (C4)", draft-huitema-ccwg-c4-spec, the text of its repository after -04.  Rules, by section; those of
 * "Handling of congestion signals" are in c4_signals_core.c, those of "C4 variables" in
 * c4_estimates_core.c:
 *
 *  - "Setting pacing rate, congestion window": alpha times the rate; outside of Initial the window
 *    has a margin of a quarter of the nominal max RTT, or 15 ms;
 *  - "Initial state": alpha 2.  It ends after three eras in which the nominal rate did not grow, by
 *    delay or marks after two, by loss once more than 20 packets were acknowledged;
 *  - "Recovery state": 15/16 for an era; 7/8 where more than a BDP is in flight ("Draining the
 *    standing queues");
 *  - "Restarting Initial if High Jitter": the least RTT below 2/5 of the nominal max RTT;
 *  - "Cruising state": two eras; "Probing state": 17/16 (33/32 with marks) for an era; "Pushing
 *    state": 5/4 as long as the rate grows to 19/16 in an era; after three Initial begins again;
 *  - "Rate Reduction on Congestion": in Cruising only, by a quarter at most;
 *  - "Reaction to persistent congestion", "Trimming an overestimated nominal rate".
 *
 * Differences from the draft
 *
 *  1. Where its formulas do not fit its sentences, the sentences count: the nominal rate grows to a
 *     larger estimate; the margin, a time, is added to the nominal max RTT.
 *  2. Where its overview does not fit its sections, the sections count: Cruising lasts two eras, a
 *     drain is at 7/8.
 *  3. High jitter begins Initial again once after each other Initial: else it would do so forever.
 *  4. "Resuming" is left out: nothing is saved.  The sender careful_resume has RFC 9959.
 *  5. The nominal max RTT is at least a millisecond ("Nominal max RTT on low latency links").
 */
#include "c4_parts.h"

#define C4_LEAST_INITIAL_BPS	131072U
#define C4_MARGIN_US		15000U
#define C4_SECOND_US		1000000U
#define C4_CRUISING_ERAS	2
#define C4_PUSHING_ERAS		3
#define C4_STILL_FOR_DELAY	2

bool c4_params_valid(const struct c4_params *params)
{
	return params->still_eras >= C4_STILL_ERAS_MIN && params->still_eras <= C4_STILL_ERAS_MAX &&
	       params->loss_pkts <= C4_LOSS_PKTS_MAX;
}
search_export(c4_params_valid);

/* Window and pacing rate */

static u32 c4_carries_bytes(u64 rate_Bps, u32 time_us)
{
	u64 bytes = div_u64(rate_Bps * time_us, C4_SECOND_US);

	return bytes < C4_MOST_BYTES ? bytes : C4_MOST_BYTES;
}

u64 c4_pacing_Bps(const struct c4_state *state)
{
	u64 rate_Bps = div_u64(state->nominal_Bps * state->alpha, C4_ALPHA_ONE);

	if (!state->nominal_Bps || !state->nominal_rtt_us)
		return 0;
	if (state->mode == C4_INITIAL && rate_Bps < C4_LEAST_INITIAL_BPS)
		return C4_LEAST_INITIAL_BPS;
	return rate_Bps;
}
search_export(c4_pacing_Bps);

static void c4_set_cwnd(struct c4_state *state)
{
	u64 rate_Bps = div_u64(state->nominal_Bps * state->alpha, C4_ALPHA_ONE);
	u32 margin_us = c4_min(state->nominal_rtt_us / 4, C4_MARGIN_US);

	if (state->mode == C4_INITIAL)
		state->cwnd_bytes = c4_max(c4_carries_bytes(rate_Bps, state->nominal_rtt_us),
					   state->initial_cwnd_bytes);
	else
		state->cwnd_bytes = c4_carries_bytes(rate_Bps, state->nominal_rtt_us + margin_us);
	state->cwnd_bytes = c4_max(state->cwnd_bytes, 2 * state->mss_bytes);
}

/* Eras */

static void c4_begin_era(struct c4_state *state, u8 mode, u8 alpha, u32 delivered)
{
	state->eras = state->mode == mode ? state->eras : 0;
	state->mode = mode;
	state->last_alpha = state->alpha;
	state->alpha = alpha;
	state->era_begin_Bps = state->nominal_Bps;
	state->era_delivered = delivered;
	state->era_most_us = 0;
	state->era_least_us = 0;
	state->era_app_limited = false;
}

static void c4_begin_initial(struct c4_state *state, u32 delivered)
{
	state->still_eras = 0;
	state->initial_cwnd_bytes = c4_max(c4_carries_bytes(state->nominal_Bps, state->nominal_rtt_us),
					   2 * state->mss_bytes);
	c4_begin_era(state, C4_INITIAL, 2 * C4_ALPHA_ONE, delivered);
}

static void c4_begin_recovery(struct c4_state *state, const struct c4_ack *ack, bool congested)
{
	bool drain = ack->inflight_bytes > c4_carries_bytes(state->nominal_Bps, state->nominal_rtt_us);

	state->came_from = state->mode;
	state->congested = congested;
	c4_begin_era(state, C4_RECOVERY, C4_ALPHA_ONE * (drain ? 14 : 15) / 16, ack->delivered);
}

/* Half of the last window, at the nominal rate, is the nominal max RTT. */
static void c4_end_initial(struct c4_state *state, const struct c4_ack *ack, bool congested)
{
	u64 rtt_us = div64_u64((u64)state->cwnd_bytes * (C4_SECOND_US / 2),
			       state->nominal_Bps ? state->nominal_Bps : 1);

	state->nominal_rtt_us = c4_max(rtt_us < C4_MOST_RTT_US ? rtt_us : C4_MOST_RTT_US, C4_LEAST_RTT_US);
	c4_begin_recovery(state, ack, congested);
}

void c4_begin(struct c4_state *state, u32 cwnd_bytes, u32 mss_bytes, u32 delivered)
{
	*state = (struct c4_state) {
		.mss_bytes = mss_bytes,
		.mode = C4_INITIAL,
		.alpha = 2 * C4_ALPHA_ONE,
		.last_alpha = 2 * C4_ALPHA_ONE,
		.era_delivered = delivered,
	};
	state->initial_cwnd_bytes = c4_min(cwnd_bytes, C4_MOST_BYTES);
	c4_set_cwnd(state);
}
search_export(c4_begin);

static void c4_correct_rate(struct c4_state *state)
{
	state->successive = state->congested ? c4_min(state->successive + 1, 100) : 0;
	if (!state->recent_most_Bps)
		return;
	if (state->successive > 1)
		state->nominal_Bps = state->recent_most_Bps;
	else if (!state->congested && !state->cycle_app_limited && state->came_from == C4_PROBING &&
		 state->nominal_Bps <= state->cycle_begin_Bps)
		state->nominal_Bps = (state->nominal_Bps + state->recent_most_Bps) / 2;
}

static void c4_end_recovery(struct c4_state *state, u32 delivered)
{
	bool found = state->came_from == C4_PROBING && !state->congested &&
		     state->nominal_Bps > state->probe_begin_Bps;

	c4_correct_rate(state);
	state->recent_most_Bps = 0;
	state->cycle_begin_Bps = state->nominal_Bps;
	state->cycle_app_limited = false;
	state->congested = false;
	state->ecn_alpha = 0;
	if (found) {
		c4_begin_era(state, C4_PUSHING, C4_ALPHA_ONE * 5 / 4, delivered);
	} else if (!state->again && state->running_min_us < div_u64(2ULL * state->nominal_rtt_us, 5)) {
		state->again = true;
		c4_begin_initial(state, delivered);
	} else {
		c4_begin_era(state, C4_CRUISING, C4_ALPHA_ONE, delivered);
	}
}

static void c4_begin_probing(struct c4_state *state, u32 delivered)
{
	state->probe_begin_Bps = state->nominal_Bps;
	c4_begin_era(state, C4_PROBING, C4_ALPHA_ONE + (state->marked ? 1 : 2), delivered);
}

static void c4_end_initial_era(struct c4_state *state, const struct c4_params *params,
			       const struct c4_ack *ack)
{
	if (!state->era_app_limited)
		state->still_eras = state->nominal_Bps > state->era_begin_Bps ? 0 : state->still_eras + 1;
	if (state->still_eras >= params->still_eras)
		c4_end_initial(state, ack, false);
	else
		c4_begin_era(state, C4_INITIAL, state->alpha, ack->delivered);
}

static void c4_end_pushing_era(struct c4_state *state, const struct c4_ack *ack)
{
	bool grows = state->nominal_Bps >= div_u64(state->era_begin_Bps * 19, 16);

	if (state->eras > 1 && !grows) {
		c4_begin_recovery(state, ack, false);
	} else if (state->eras > C4_PUSHING_ERAS) {
		state->again = false;
		c4_begin_initial(state, ack->delivered);
	} else {
		c4_begin_era(state, C4_PUSHING, state->alpha, ack->delivered);
	}
}

static void c4_end_era(struct c4_state *state, const struct c4_params *params,
		       const struct c4_ack *ack)
{
	state->eras = c4_min(state->eras + 1, 100);
	c4_find_nominal_rtt(state);
	if (state->mode == C4_INITIAL)
		c4_end_initial_era(state, params, ack);
	else if (state->mode == C4_RECOVERY)
		c4_end_recovery(state, ack->delivered);
	else if (state->mode == C4_CRUISING && state->eras < C4_CRUISING_ERAS)
		c4_begin_era(state, C4_CRUISING, C4_ALPHA_ONE, ack->delivered);
	else if (state->mode == C4_CRUISING)
		c4_begin_probing(state, ack->delivered);
	else if (state->mode == C4_PROBING)
		c4_begin_recovery(state, ack, false);
	else
		c4_end_pushing_era(state, ack);
}

/* Congestion */

/* @delays: it shows by delay or marks, which in Initial may be jitter.  @beta: of C4_ONE. */
static void c4_signal(struct c4_state *state, const struct c4_params *params,
		      const struct c4_ack *ack, bool delays, u32 beta)
{
	if (state->mode == C4_RECOVERY) {
		state->congested = true;
		return;
	}
	if (state->mode == C4_INITIAL) {
		if (delays ? state->still_eras >= C4_STILL_FOR_DELAY : state->acked_pkts > params->loss_pkts)
			c4_end_initial(state, ack, true);
		return;
	}
	if (state->mode == C4_CRUISING)
		state->nominal_Bps -= div_u64(state->nominal_Bps * c4_min(beta, C4_BETA), C4_ONE);
	c4_begin_recovery(state, ack, true);
}

static void c4_note_congestion(struct c4_state *state, const struct c4_params *params,
			       const struct c4_ack *ack)
{
	u32 marks_beta = c4_marks_beta(state, ack);
	u32 delay_beta = c4_delay_beta(state, ack);

	if (c4_loses(state, ack))
		c4_signal(state, params, ack, false, C4_BETA);
	if (marks_beta)
		c4_signal(state, params, ack, true, marks_beta);
	if (delay_beta)
		c4_signal(state, params, ack, true, delay_beta);
}

/* One ACK */

void c4_on_ack(struct c4_state *state, const struct c4_params *params, const struct c4_ack *ack)
{
	state->acked_pkts += c4_min(ack->acked_pkts, ~state->acked_pkts);
	state->era_app_limited |= !!ack->app_limited;
	state->cycle_app_limited |= !!ack->app_limited;
	c4_note_rtt(state, ack->rtt_us);
	c4_note_rate(state, ack);
	if (state->mode == C4_INITIAL)
		c4_grow_initial(state, ack->acked_pkts);
	c4_note_congestion(state, params, ack);
	if (ack->has_data && (s32)(ack->sent_delivered - state->era_delivered) >= 0)	/* wraps */
		c4_end_era(state, params, ack);
	c4_set_cwnd(state);
}
search_export(c4_on_ack);
