// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BBR version 3: the model of the path, and what a loss does to it.
 *
 * Rules, by the draft's sections ("Updating Network Path Model Parameters"):
 *
 *  - "BBR.round_count": a round ends when a packet sent after its begin is acknowledged;
 *  - "BBR.max_bw Max Filter": the most of this and the last cycle of probing.  A sample that the
 *    application limited counts only where it is not below;
 *  - "BBR.min_rtt Min Filter": the least of ten seconds, and of five for when ProbeRTT is due;
 *  - "BBR.extra_acked": what came above max_bw's expectation, the most of ten rounds, and of one
 *    in Startup;
 *  - "Exiting Acceleration Based on Bandwidth Plateau": three rounds that the application did not
 *    limit without a quarter more are a full pipe;
 *  - "Probing for Bandwidth In ProbeBW": more than 2 % lost since a packet of a probe was sent:
 *    inflight_longterm becomes what was in flight as losses crossed 2 %, at least 0.7 of the target;
 *  - "When not Probing for Bandwidth": a round with a loss lowers the short-term bounds to what
 *    the last round delivered, by no more than 0.7;
 *  - "Updating the Model Upon Detecting a Spurious Loss Recovery": what a recovery changed returns.
 */
#include "bbr3_parts.h"

u32 bbr3_volume(u64 rate, u64 time_us)
{
	u64 volume;

	if (__builtin_mul_overflow(rate, time_us, &volume))
		return BBR3_INFINITY;
	volume >>= BBR3_RATE_BITS;
	return volume < BBR3_INFINITY ? volume : BBR3_INFINITY;
}

/* Rounds, and the windowed maxima of the rate */

static void bbr3_update_round(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	state->round_start = ack->has_data &&
			     bbr3_reached(ack->newest.delivered, state->next_round_delivered);
	if (!state->round_start)
		return;
	bbr3_start_round(state, ack->delivered);
	state->round_count++;
	state->rounds_since_up++;
	state->extra_acked_of[state->round_count % BBR3_AGGREGATION_ROUNDS] = 0;
}

/* A cycle without a sample keeps the older ones: the filter changes with a sample only. */
void bbr3_advance_max_bw(struct bbr3_state *state)
{
	if (!state->max_bw_of[0])
		return;
	state->max_bw_of[1] = state->max_bw_of[0];
	state->max_bw_of[0] = 0;
}

static void bbr3_update_max_bw(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	u64 rate = bbr3_sample_rate(ack);

	bbr3_update_round(state, ack);
	if (rate && (rate >= bbr3_max_bw(state) || !ack->newest.app_limited))
		state->max_bw_of[0] = bbr3_max_rate(state->max_bw_of[0], rate);
}

/* The delivery of the last round */

void bbr3_note_delivery(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	state->loss_round_start = false;
	state->bw_latest = bbr3_max_rate(state->bw_latest, bbr3_sample_rate(ack));
	state->inflight_latest = bbr3_max(state->inflight_latest, bbr3_sample_delivered(ack));
	if (ack->has_data && bbr3_reached(ack->newest.delivered, state->loss_round_delivered)) {
		state->loss_round_delivered = ack->delivered;
		state->loss_round_start = true;
	}
}

void bbr3_advance_delivery(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	if (!state->loss_round_start)
		return;
	state->bw_latest = bbr3_sample_rate(ack);
	state->inflight_latest = bbr3_sample_delivered(ack);
	state->loss_ranges = 0;
}

void bbr3_reset_signals(struct bbr3_state *state)
{
	state->loss_in_round = false;
	state->bw_latest = 0;
	state->inflight_latest = 0;
}

void bbr3_reset_short_term(struct bbr3_state *state)
{
	state->bw_shortterm = BBR3_INFINITE_RATE;
	state->inflight_shortterm = BBR3_INFINITY;
}

static bool bbr3_accelerates(const struct bbr3_state *state)
{
	return state->mode == BBR3_STARTUP || state->mode == BBR3_REFILL || state->mode == BBR3_UP;
}

static void bbr3_lower_bounds(struct bbr3_state *state, u32 cwnd)
{
	if (state->bw_shortterm == BBR3_INFINITE_RATE)
		state->bw_shortterm = bbr3_max_bw(state);
	if (state->inflight_shortterm == BBR3_INFINITY)
		state->inflight_shortterm = cwnd;
	state->bw_shortterm = bbr3_max_rate(state->bw_latest,
					    bbr3_rate_percent(state->bw_shortterm, BBR3_BETA_PCT));
	state->inflight_shortterm = bbr3_max(state->inflight_latest,
					     bbr3_percent(state->inflight_shortterm, BBR3_BETA_PCT));
}

void bbr3_adapt_to_congestion(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	bbr3_update_max_bw(state, ack);
	if (!state->loss_round_start)
		return;
	if (state->loss_in_round && !bbr3_accelerates(state))
		bbr3_lower_bounds(state, ack->cwnd);
	state->loss_in_round = false;
}

/* Aggregation */

static u32 bbr3_most_extra(const struct bbr3_state *state)
{
	u32 most = 0;
	u32 i;

	if (!state->full_bw_reached)
		return state->extra_acked_of[state->round_count % BBR3_AGGREGATION_ROUNDS];
	for (i = 0; i < BBR3_AGGREGATION_ROUNDS; i++)
		most = bbr3_max(most, state->extra_acked_of[i]);
	return most;
}

void bbr3_note_aggregation(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	u32 *most = &state->extra_acked_of[state->round_count % BBR3_AGGREGATION_ROUNDS];
	u32 expected = bbr3_volume(state->bw, ack->now_us - state->aggregation_us_at);

	if (state->aggregation_acked <= expected) {
		state->aggregation_acked = 0;
		state->aggregation_us_at = ack->now_us;
		expected = 0;
	}
	state->aggregation_acked = bbr3_add(state->aggregation_acked, ack->acked);
	*most = bbr3_max(*most, bbr3_min(state->aggregation_acked - expected, ack->cwnd));
	state->extra_acked = bbr3_most_extra(state);
}

/* The plateau */

void bbr3_reset_full_bw(struct bbr3_state *state, u64 full_bw)
{
	state->full_bw = full_bw;
	state->full_bw_count = 0;
	state->full_bw_now = false;
}

void bbr3_find_plateau(struct bbr3_state *state, const struct bbr3_params *params,
		       const struct bbr3_ack *ack)
{
	u64 rate = bbr3_sample_rate(ack);

	if (state->full_bw_now || !state->round_start || !ack->interval_us || ack->newest.app_limited)
		return;
	if (rate >= bbr3_rate_percent(state->full_bw, 100 + params->growth_pct)) {
		bbr3_reset_full_bw(state, rate);
		return;
	}
	state->full_bw_count++;
	state->full_bw_now = state->full_bw_count >= params->full_rounds;
	if (state->full_bw_now)
		state->full_bw_reached = true;
}

/* The least round trip */

void bbr3_find_min_rtt(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	state->probe_rtt_expired = ack->now_us > state->probe_rtt_min_us_at + BBR3_PROBE_RTT_INTERVAL_US;
	if (ack->rtt_us != BBR3_INFINITY &&
	    (ack->rtt_us < state->probe_rtt_min_us || state->probe_rtt_expired)) {
		state->probe_rtt_min_us = ack->rtt_us;
		state->probe_rtt_min_us_at = ack->now_us;
	}
	if (state->probe_rtt_min_us < state->min_rtt_us ||
	    ack->now_us > state->min_rtt_us_at + BBR3_MIN_RTT_US) {
		state->min_rtt_us = state->probe_rtt_min_us;
		state->min_rtt_us_at = state->probe_rtt_min_us_at;
	}
}

/* Losses */

bool bbr3_too_much_lost(const struct bbr3_state *state, const struct bbr3_params *params, u32 lost,
			u32 inflight)
{
	return lost * 100ULL > (u64)inflight * params->loss_pct || (lost && !state->selective_acks);
}

void bbr3_save_state(struct bbr3_state *state, u32 cwnd)
{
	bbr3_save_cwnd(state, cwnd);
	state->undo_mode = BBR3_NO_MODE;
	state->undo_bw_shortterm = state->bw_shortterm;
	state->undo_inflight_shortterm = state->inflight_shortterm;
	state->undo_inflight_longterm = state->inflight_longterm;
}

/* How much was in flight as the losses crossed the threshold, perhaps within this packet. */
static u32 bbr3_inflight_at_loss(const struct bbr3_params *params, const struct bbr3_loss *loss)
{
	u32 before = loss->packet.inflight > loss->size ? loss->packet.inflight - loss->size : 0;
	u32 lost = loss->lost - loss->packet.lost;
	s64 allowed = (s64)before * params->loss_pct - 100LL * (lost > loss->size ? lost - loss->size : 0);

	return before + (allowed > 0 ? (u32)div_u64(allowed, 100 - params->loss_pct) : 0);
}

static void bbr3_inflight_was_too_high(struct bbr3_state *state, const struct bbr3_params *params,
				       const struct bbr3_loss *loss)
{
	u32 target = bbr3_min(bbr3_bdp(state), loss->cwnd);

	state->too_high = true;
	state->probe_sample = false;
	if (!loss->packet.app_limited)
		state->inflight_longterm = bbr3_max(bbr3_inflight_at_loss(params, loss),
						    bbr3_percent(target, BBR3_BETA_PCT));
	if (state->mode == BBR3_UP) {
		state->undo_mode = BBR3_UP;
		bbr3_start_down(state, loss->now_us, loss->delivered);
	}
}

void bbr3_lost(struct bbr3_state *state, const struct bbr3_params *params,
	       const struct bbr3_loss *loss)
{
	if (!state->loss_in_round) {
		state->loss_round_delivered = loss->delivered;
		bbr3_save_state(state, loss->cwnd);
	}
	state->loss_in_round = true;
	if (state->probe_sample &&
	    bbr3_too_much_lost(state, params, loss->lost - loss->packet.lost, loss->packet.inflight))
		bbr3_inflight_was_too_high(state, params, loss);
}
search_export(bbr3_lost);

/* Also leads out of what the losses led to, unless ProbeRTT goes on. */
u32 bbr3_spurious(struct bbr3_state *state, u32 cwnd, u32 delivered)
{
	u8 undo_mode = state->undo_mode;

	state->loss_in_round = false;
	state->undo_mode = BBR3_NO_MODE;
	bbr3_reset_full_bw(state, 0);
	state->bw_shortterm = bbr3_max_rate(state->bw_shortterm, state->undo_bw_shortterm);
	state->inflight_shortterm = bbr3_max(state->inflight_shortterm, state->undo_inflight_shortterm);
	state->inflight_longterm = bbr3_max(state->inflight_longterm, state->undo_inflight_longterm);
	if (undo_mode == BBR3_STARTUP && state->mode != BBR3_STARTUP) {
		state->full_bw_reached = false;
		if (state->mode != BBR3_PROBE_RTT)
			bbr3_enter_startup(state);
	} else if (undo_mode == BBR3_UP && state->mode != BBR3_UP && state->mode != BBR3_PROBE_RTT) {
		bbr3_start_refill(state, delivered);
	}
	return bbr3_restore_cwnd(state, cwnd);
}
search_export(bbr3_spurious);
