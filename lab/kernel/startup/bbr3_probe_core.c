// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BBR version 3: the cycle that probes for bandwidth, and the search for the least round trip.
 *
 * Rules, by the draft's sections:
 *
 *  - "ProbeBW_DOWN": pacing at 0.9, until what is in flight is the BDP, with 15 % of headroom below
 *    inflight_longterm;
 *  - "ProbeBW_CRUISE": at the bandwidth, until two to three seconds, or as many rounds as Reno
 *    needs to grow by a BDP (63 at most), have passed since the cycle began;
 *  - "ProbeBW_REFILL": a round without the short-term bounds;
 *  - "ProbeBW_UP": at 1.25, with a window of 2.25 BDP, until the delivery rate has a plateau or too
 *    much is lost.  inflight_longterm grows by 1, 2, 4, ... packets each round;
 *  - "Precautionary Bandwidth Probing": a probe after one that lost too much ends where it reaches
 *    inflight_longterm; if nothing was lost, the next one follows at once;
 *  - "ProbeRTT Logic": after five seconds without a round trip as low, half a BDP for 200 ms and a
 *    round;
 *  - "Restarting From Idle": at the bandwidth; being idle stands for ProbeRTT.
 */
#include "bbr3_parts.h"

#define BBR3_UP_ROUNDS_MAX	30

/* xorshift: the waits need to differ between flows, no more. */
static u32 bbr3_random_below(struct bbr3_state *state, u32 end)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 17;
	state->random ^= state->random << 5;
	return ((u64)state->random * end) >> 32;
}

/* Entering a part of the cycle */

void bbr3_start_down(struct bbr3_state *state, u64 now_us, u32 delivered)
{
	bbr3_reset_signals(state);
	state->up_acked_per_inc = BBR3_INFINITY;
	state->rounds_since_up = bbr3_random_below(state, 2);
	state->wait_us = BBR3_WAIT_US + bbr3_random_below(state, BBR3_WAIT_MORE_US);
	state->cycle_us_at = now_us;
	state->ack_phase = BBR3_ACKS_STOPPING;
	bbr3_start_round(state, delivered);
	state->mode = BBR3_DOWN;
}

void bbr3_enter_probe_bw(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	bbr3_start_down(state, ack->now_us, ack->delivered);
}

void bbr3_start_refill(struct bbr3_state *state, u32 delivered)
{
	bbr3_reset_short_term(state);
	state->up_rounds = 0;
	state->up_acked = 0;
	state->precautionary = false;
	state->ack_phase = BBR3_ACKS_REFILLING;
	bbr3_start_round(state, delivered);
	state->mode = BBR3_REFILL;
}

static void bbr3_raise_slope(struct bbr3_state *state, u32 cwnd)
{
	state->up_acked_per_inc = bbr3_max(cwnd >> state->up_rounds, state->smss);
	state->up_rounds = bbr3_min(state->up_rounds + 1, BBR3_UP_ROUNDS_MAX);
}

static void bbr3_start_up(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	state->probe_sample = true;
	state->ack_phase = BBR3_ACKS_STARTING;
	bbr3_start_round(state, ack->delivered);
	bbr3_reset_full_bw(state, bbr3_sample_rate(ack));
	state->mode = BBR3_UP;
	bbr3_raise_slope(state, ack->cwnd);
}

/* The long-term bound */

u32 bbr3_with_headroom(const struct bbr3_state *state)
{
	u32 headroom = bbr3_max(state->smss, bbr3_percent(state->inflight_longterm, BBR3_HEADROOM_PCT));

	if (state->inflight_longterm == BBR3_INFINITY)
		return BBR3_INFINITY;
	if (state->inflight_longterm < headroom)
		return bbr3_min_pipe(state);
	return bbr3_max(state->inflight_longterm - headroom, bbr3_min_pipe(state));
}

static bool bbr3_bounded_by_longterm(const struct bbr3_state *state, const struct bbr3_ack *ack)
{
	return ack->cwnd_limited && ack->cwnd >= state->inflight_longterm;
}

static void bbr3_raise_longterm(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	u32 steps;

	if (!bbr3_bounded_by_longterm(state, ack))
		return;
	state->up_acked = bbr3_add(state->up_acked, ack->acked);
	if (state->up_acked >= state->up_acked_per_inc) {
		steps = state->up_acked / state->up_acked_per_inc;
		state->up_acked -= steps * state->up_acked_per_inc;
		state->inflight_longterm = bbr3_add(state->inflight_longterm, steps * state->smss);
	}
	if (state->round_start)
		bbr3_raise_slope(state, ack->cwnd);
}

/* The samples of a probe end a round after it; true: the next probe follows at once. */
static bool bbr3_end_of_samples(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	state->probe_sample = false;
	state->ack_phase = BBR3_ACKS_INIT;
	if (!bbr3_in_probe_bw(state))
		return false;
	if (!ack->newest.app_limited)
		bbr3_advance_max_bw(state);
	if (!state->precautionary || state->too_high)
		return false;
	bbr3_start_refill(state, ack->delivered);
	return true;
}

/* True: the cycle has moved on. */
static bool bbr3_adapt_longterm(struct bbr3_state *state, const struct bbr3_params *params,
				const struct bbr3_ack *ack)
{
	if (state->ack_phase == BBR3_ACKS_STARTING && state->round_start)
		state->ack_phase = BBR3_ACKS_FEEDBACK;
	if (state->ack_phase == BBR3_ACKS_STOPPING && state->round_start && bbr3_end_of_samples(state, ack))
		return true;
	if (!ack->has_data || state->inflight_longterm == BBR3_INFINITY ||
	    bbr3_too_much_lost(state, params, ack->lost - ack->newest.lost, ack->newest.inflight))
		return false;
	state->inflight_longterm = bbr3_max(state->inflight_longterm, ack->newest.inflight);
	if (state->mode == BBR3_UP)
		bbr3_raise_longterm(state, ack);
	return false;
}

/* The cycle */

static bool bbr3_time_to_probe(const struct bbr3_state *state, const struct bbr3_ack *ack)
{
	u32 reno_rounds = bbr3_min(bbr3_bdp(state), ack->cwnd) / state->smss;

	return ack->now_us > state->cycle_us_at + state->wait_us ||
	       state->rounds_since_up >= bbr3_min(reno_rounds, BBR3_RENO_ROUNDS);
}

static bool bbr3_time_to_cruise(const struct bbr3_state *state, const struct bbr3_ack *ack)
{
	return ack->inflight <= bbr3_with_headroom(state) &&
	       ack->inflight <= bbr3_inflight(state, bbr3_max_bw(state), 100);
}

static bool bbr3_time_to_go_down(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	if (state->too_high && bbr3_add(ack->inflight, ack->acked) >= state->inflight_longterm) {
		state->precautionary = true;
		return true;
	}
	if (bbr3_bounded_by_longterm(state, ack)) {
		bbr3_reset_full_bw(state, bbr3_sample_rate(ack));
		return false;
	}
	return state->full_bw_now;
}

void bbr3_probe_bw(struct bbr3_state *state, const struct bbr3_params *params,
		   const struct bbr3_ack *ack)
{
	if (!state->full_bw_reached || bbr3_adapt_longterm(state, params, ack))
		return;
	if (state->mode == BBR3_DOWN || state->mode == BBR3_CRUISE) {
		if (bbr3_time_to_probe(state, ack))
			bbr3_start_refill(state, ack->delivered);
		else if (state->mode == BBR3_DOWN && bbr3_time_to_cruise(state, ack))
			state->mode = BBR3_CRUISE;
	} else if (state->mode == BBR3_REFILL && state->round_start) {
		bbr3_start_up(state, ack);
	} else if (state->mode == BBR3_UP && bbr3_time_to_go_down(state, ack)) {
		state->too_high = false;
		bbr3_start_down(state, ack->now_us, ack->delivered);
	}
}

/* ProbeRTT */

static void bbr3_exit_probe_rtt(struct bbr3_state *state, u64 now_us, u32 delivered)
{
	bbr3_reset_short_term(state);
	if (!state->full_bw_reached) {
		bbr3_enter_startup(state);
		return;
	}
	bbr3_start_down(state, now_us, delivered);
	state->mode = BBR3_CRUISE;
}

u32 bbr3_probe_rtt_done(struct bbr3_state *state, u64 now_us, u32 cwnd, u32 delivered)
{
	if (!state->probe_rtt_done_us || now_us <= state->probe_rtt_done_us)
		return cwnd;
	state->probe_rtt_min_us_at = now_us;
	bbr3_exit_probe_rtt(state, now_us, delivered);
	return bbr3_restore_cwnd(state, cwnd);
}

static u32 bbr3_handle_probe_rtt(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	if (!state->probe_rtt_done_us) {
		if (ack->inflight > bbr3_probe_rtt_cwnd(state))
			return ack->cwnd;
		state->probe_rtt_done_us = ack->now_us + BBR3_PROBE_RTT_US;
		state->probe_rtt_round_done = false;
		bbr3_start_round(state, ack->delivered);
		return ack->cwnd;
	}
	if (state->round_start)
		state->probe_rtt_round_done = true;
	return state->probe_rtt_round_done ?
	       bbr3_probe_rtt_done(state, ack->now_us, ack->cwnd, ack->delivered) : ack->cwnd;
}

u32 bbr3_check_probe_rtt(struct bbr3_state *state, const struct bbr3_ack *ack)
{
	u32 cwnd = ack->cwnd;

	if (state->mode != BBR3_PROBE_RTT && state->probe_rtt_expired && !state->idle_restart) {
		state->mode = BBR3_PROBE_RTT;
		bbr3_save_cwnd(state, cwnd);
		state->probe_rtt_done_us = 0;
		state->ack_phase = BBR3_ACKS_STOPPING;
		bbr3_start_round(state, ack->delivered);
	}
	if (state->mode == BBR3_PROBE_RTT)
		cwnd = bbr3_handle_probe_rtt(state, ack);
	if (bbr3_sample_delivered(ack))
		state->idle_restart = false;
	return cwnd;
}

u32 bbr3_restart_from_idle(struct bbr3_state *state, u64 now_us, u32 cwnd, u32 delivered)
{
	state->idle_restart = true;
	state->aggregation_us_at = now_us;
	if (bbr3_in_probe_bw(state))
		bbr3_set_pacing_rate(state, 100);
	else if (state->mode == BBR3_PROBE_RTT)
		cwnd = bbr3_probe_rtt_done(state, now_us, cwnd, delivered);
	return cwnd;
}
search_export(bbr3_restart_from_idle);
