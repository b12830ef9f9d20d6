// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BBR version 3: send at the rate that the path delivers, with about a bandwidth-delay product in
 * flight; speed up now and then to find more, slow down to find the least round trip.
 *
 * Source: N. Cardwell, I. Swett, J. Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr, the text
 * of its repository in August 2026.  The rules of this file, by the draft's sections; those of the
 * model are in bbr3_model_core.c, those of ProbeBW and ProbeRTT in bbr3_probe_core.c:
 *
 *  - "Startup": pacing at 2.77 of the bandwidth, a window of 2 BDP, until the delivery rate has not
 *    grown by a quarter in three rounds, or more than 2 % are lost in a round, in six ranges or
 *    more, a whole round into fast recovery;
 *  - "Drain": pacing at 0.5, until what is in flight is the BDP, or three rounds;
 *  - "Pacing Rate": the gain times the bandwidth less 1 %; before the pipe was full it only grows;
 *  - "Send Quantum": what a millisecond sends, from two packets to 64 kB;
 *  - "Congestion Window": grows by what is acknowledged up to gain x BDP + extra_acked; at least
 *    three quanta (of TCP) and four packets; bounded by the model, and in ProbeRTT by half a BDP;
 *  - "Modulating cwnd in Loss Recovery": the window before a recovery returns after it.
 *
 * Differences from the draft
 *
 *  1. The ranges lost in a round are the ACKs of that round upon which a packet was declared lost.
 *  2. The maxima of the bandwidth are those of two cycles, those of aggregation those of ten rounds,
 *     each kept by itself, where the draft suggests an estimator of three values.
 *  3. inflight_longterm after a loss is at least what was in flight before the packet: the draft's
 *     prefix may be negative.
 *  4. A loss that ends Startup sets full_bw_now, as the draft's test cases have it; its section does
 *     not.
 *  5. Gains are those of the draft's table by state: its functions leave some of them unset.
 *  6. An ACK that begins a round, but without a rate sample, is no round without growth.
 *  7. What has reached inflight_longterm is what was in flight before the ACK: after it, a window
 *     of that size is never full.
 *  8. Rates are bounded by 2^24 units per microsecond.
 */
#include "bbr3_parts.h"

#define BBR3_PACING_MARGIN_PCT	1
#define BBR3_DRAIN_ROUNDS	3

static const u16 bbr3_pacing_pct[] = {
	[BBR3_STARTUP] = 277, [BBR3_DRAIN] = 50, [BBR3_DOWN] = 90, [BBR3_CRUISE] = 100,
	[BBR3_REFILL] = 100, [BBR3_UP] = 125, [BBR3_PROBE_RTT] = 100,
};

static const u16 bbr3_cwnd_pct[] = {
	[BBR3_STARTUP] = 200, [BBR3_DRAIN] = 200, [BBR3_DOWN] = 200, [BBR3_CRUISE] = 200,
	[BBR3_REFILL] = 200, [BBR3_UP] = 225, [BBR3_PROBE_RTT] = 50,
};

bool bbr3_params_valid(const struct bbr3_params *params)
{
	return params->growth_pct >= BBR3_GROWTH_PCT_MIN && params->growth_pct <= BBR3_GROWTH_PCT_MAX &&
	       params->full_rounds >= BBR3_FULL_ROUNDS_MIN && params->full_rounds <= BBR3_FULL_ROUNDS_MAX &&
	       params->loss_pct >= BBR3_LOSS_PCT_MIN && params->loss_pct <= BBR3_LOSS_PCT_MAX &&
	       params->loss_ranges >= BBR3_LOSS_RANGES_MIN && params->loss_ranges <= BBR3_LOSS_RANGES_MAX;
}
search_export(bbr3_params_valid);

/* The initial window in a round trip, or in a millisecond where none is known. */
static void bbr3_first_pacing_rate(struct bbr3_state *state, u32 srtt_us)
{
	u64 nominal = div_u64((u64)state->initial_cwnd << BBR3_RATE_BITS, srtt_us ? srtt_us : 1000);

	state->seen_rtt = srtt_us;
	state->pacing_rate = bbr3_rate_percent(nominal, bbr3_pacing_pct[BBR3_STARTUP]);
}

static void bbr3_set_quantum(struct bbr3_state *state)
{
	state->quantum = bbr3_max(bbr3_min(bbr3_volume(state->pacing_rate, 1000), state->most_quantum),
				  2 * state->smss);
}

void bbr3_begin(struct bbr3_state *state, const struct bbr3_start *start)
{
	*state = (struct bbr3_state) {
		.min_rtt_us = start->srtt_us ? start->srtt_us : BBR3_INFINITY,
		.min_rtt_us_at = start->now_us,
		.probe_rtt_min_us = BBR3_INFINITY,
		.probe_rtt_min_us_at = start->now_us,
		.aggregation_us_at = start->now_us,
		.next_round_delivered = start->delivered,
		.loss_round_delivered = start->delivered,
		.begin_delivered = start->delivered,
		.inflight_longterm = BBR3_INFINITY,
		.undo_mode = BBR3_NO_MODE,
		.up_acked_per_inc = BBR3_INFINITY,
		.smss = start->smss,
		.most_quantum = start->most_quantum,
		.budget_quanta = start->budget_quanta,
		.initial_cwnd = start->cwnd,
		.selective_acks = !!start->selective_acks,
		.random = start->seed | 1,
	};
	bbr3_reset_short_term(state);
	bbr3_first_pacing_rate(state, start->srtt_us);
	bbr3_set_quantum(state);
	bbr3_enter_startup(state);
}
search_export(bbr3_begin);

/* Startup and Drain */

void bbr3_enter_startup(struct bbr3_state *state)
{
	state->mode = BBR3_STARTUP;
}

static bool bbr3_startup_loses(const struct bbr3_state *state, const struct bbr3_params *params,
			       const struct bbr3_ack *ack)
{
	if (!ack->fast_recovery)
		return false;
	if (!state->selective_acks)
		return ack->newly_lost;

	return state->loss_round_start && state->loss_ranges >= params->loss_ranges &&
	       bbr3_reached(ack->newest.delivered, state->recovery_delivered) &&
	       bbr3_too_much_lost(state, params, ack->lost - ack->newest.lost, ack->newest.inflight);
}

static void bbr3_check_startup(struct bbr3_state *state, const struct bbr3_params *params,
			       const struct bbr3_ack *ack)
{
	if (state->mode != BBR3_STARTUP)
		return;
	if (bbr3_startup_loses(state, params, ack)) {
		state->undo_mode = BBR3_STARTUP;
		state->full_bw_now = true;
		state->full_bw_reached = true;
		state->inflight_longterm = bbr3_max(bbr3_bdp(state), state->inflight_latest);
	}
	if (state->full_bw_reached) {
		state->mode = BBR3_DRAIN;
		state->drain_start_round = state->round_count;
	}
}

static void bbr3_check_drain(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	if (state->mode == BBR3_DRAIN &&
	    (ack->inflight <= bbr3_inflight(state, state->bw, 100) ||
	     state->round_count > state->drain_start_round + BBR3_DRAIN_ROUNDS))
		bbr3_enter_probe_bw(state, ack);
}

/* Pacing rate */

void bbr3_set_pacing_rate(struct bbr3_state *state, u32 gain_pct)
{
	u64 rate = bbr3_rate_percent(bbr3_rate_percent(state->bw, gain_pct), 100 - BBR3_PACING_MARGIN_PCT);

	if (state->full_bw_reached || rate > state->pacing_rate)
		state->pacing_rate = rate;
}

/* Window */

u32 bbr3_min_pipe(const struct bbr3_state *state)
{
	return BBR3_MIN_PIPE_PKTS * state->smss;
}

u32 bbr3_bdp(const struct bbr3_state *state)
{
	return state->min_rtt_us == BBR3_INFINITY ? 0 : bbr3_volume(state->bw, state->min_rtt_us);
}
search_export(bbr3_bdp);

static u32 bbr3_bdp_multiple(const struct bbr3_state *state, u64 bw, u32 pct)
{
	if (state->min_rtt_us == BBR3_INFINITY)
		return state->initial_cwnd;
	return bbr3_volume(bbr3_rate_percent(bw, pct), state->min_rtt_us);
}

static u32 bbr3_with_budget(const struct bbr3_state *state, u32 inflight)
{
	inflight = bbr3_max(inflight, state->budget_quanta * state->quantum);
	inflight = bbr3_max(inflight, bbr3_min_pipe(state));
	return state->mode == BBR3_UP ? bbr3_add(inflight, 2 * state->smss) : inflight;
}

u32 bbr3_inflight(const struct bbr3_state *state, u64 bw, u32 pct)
{
	return bbr3_with_budget(state, bbr3_bdp_multiple(state, bw, pct));
}

u32 bbr3_probe_rtt_cwnd(const struct bbr3_state *state)
{
	return bbr3_max(bbr3_bdp_multiple(state, state->bw, bbr3_cwnd_pct[BBR3_PROBE_RTT]),
			bbr3_min_pipe(state));
}

static u32 bbr3_bound_for_model(const struct bbr3_state *state, u32 cwnd)
{
	u32 cap = BBR3_INFINITY;

	if (state->mode == BBR3_PROBE_RTT || state->mode == BBR3_CRUISE)
		cap = bbr3_with_headroom(state);
	else if (bbr3_in_probe_bw(state))
		cap = state->inflight_longterm;
	cap = bbr3_min(cap, state->inflight_shortterm);
	return bbr3_min(cwnd, bbr3_max(cap, bbr3_min_pipe(state)));
}

static u32 bbr3_set_cwnd(const struct bbr3_state *state, const struct bbr3_ack *ack, u32 cwnd)
{
	u32 multiple = bbr3_bdp_multiple(state, state->bw, bbr3_cwnd_pct[state->mode]);
	u32 most = bbr3_with_budget(state, bbr3_add(multiple, state->extra_acked));

	if (state->full_bw_reached)
		cwnd = bbr3_min(bbr3_add(cwnd, ack->acked), most);
	else if (cwnd < most || ack->delivered - state->begin_delivered < state->initial_cwnd)
		cwnd = bbr3_add(cwnd, ack->acked);
	cwnd = bbr3_max(cwnd, bbr3_min_pipe(state));
	if (state->mode == BBR3_PROBE_RTT)
		cwnd = bbr3_min(cwnd, bbr3_probe_rtt_cwnd(state));
	return bbr3_bound_for_model(state, cwnd);
}

u32 bbr3_update_model(struct bbr3_state *state, const struct bbr3_params *params,
		      const struct bbr3_ack *ack)
{
	u32 cwnd;

	if (ack->newly_lost && state->loss_ranges < BBR3_LOSS_RANGES_MAX)
		state->loss_ranges++;
	bbr3_note_delivery(state, ack);
	bbr3_adapt_to_congestion(state, ack);
	bbr3_note_aggregation(state, ack);
	bbr3_find_plateau(state, params, ack);
	bbr3_check_startup(state, params, ack);
	bbr3_check_drain(state, ack);
	bbr3_probe_bw(state, params, ack);
	bbr3_find_min_rtt(state, ack);
	cwnd = bbr3_check_probe_rtt(state, ack);
	bbr3_advance_delivery(state, ack);

	state->bw = bbr3_max_bw(state) < state->bw_shortterm ? bbr3_max_bw(state) : state->bw_shortterm;
	return cwnd;
}

u32 bbr3_follow_model(struct bbr3_state *state, const struct bbr3_ack *ack, u32 cwnd)
{
	if (!state->seen_rtt && ack->srtt_us)
		bbr3_first_pacing_rate(state, ack->srtt_us);
	bbr3_set_pacing_rate(state, bbr3_pacing_pct[state->mode]);
	bbr3_set_quantum(state);
	return bbr3_set_cwnd(state, ack, cwnd);
}

u32 bbr3_on_ack(struct bbr3_state *state, const struct bbr3_params *params,
		const struct bbr3_ack *ack)
{
	return bbr3_follow_model(state, ack, bbr3_update_model(state, params, ack));
}
search_export(bbr3_on_ack);

/* Recovery */

void bbr3_save_cwnd(struct bbr3_state *state, u32 cwnd)
{
	if (!state->recovering && state->mode != BBR3_PROBE_RTT)
		state->prior_cwnd = cwnd;
	else
		state->prior_cwnd = bbr3_max(state->prior_cwnd, cwnd);
}

u32 bbr3_restore_cwnd(const struct bbr3_state *state, u32 cwnd)
{
	return bbr3_max(cwnd, state->prior_cwnd);
}

void bbr3_enter_recovery(struct bbr3_state *state, u32 cwnd, u32 delivered)
{
	bbr3_save_state(state, cwnd);
	if (!state->recovering)
		state->recovery_delivered = delivered;
	state->recovering = true;
}
search_export(bbr3_enter_recovery);

u32 bbr3_exit_recovery(struct bbr3_state *state, u32 cwnd)
{
	state->recovering = false;
	return bbr3_restore_cwnd(state, cwnd);
}
search_export(bbr3_exit_recovery);
