// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LeoCC: BBR whose model of the path begins again as the satellite changes.
 *
 * Sources: Z. Lai and others, "LeoCC: Making Internet Congestion Control Robust to LEO Satellite
 * Dynamics", SIGCOMM 2025, of which the abstract and the description in its authors' repository were at
 * hand, not the paper; and draft-lai-ccwg-lsncc-01, of which the abstract was.  What they say:
 *
 *  - repository, "Overview": BBR, with reconfigurations detected at the endpoint, a model that knows of
 *    them, and a sending rate that follows it;
 *  - draft, abstract: a reconfiguration is a phase boundary of the path; capacity, delay and loss change
 *    there without congestion;
 *  - repository, "Simulation version": the first reconfiguration is a parameter (offset);
 *  - the same: where the round trip is above the least one by more than its fluctuation (5 to 20 ms), the
 *    bandwidth is that of a Kalman filter, else that of BBR's max filter.  A larger fluctuation favours
 *    throughput, a smaller one delay.
 *
 * What is approximated
 *
 *  1. A reconfiguration is not detected: a module has no probes to the point of presence.  It comes
 *     at a parameter's instants, each 15 s, as Starlink's do.
 *  2. "A model that knows of them": the second round after a reconfiguration gives the least round trip
 *     and the bandwidth; no bound of the path before holds, and BBR probes for bandwidth at once.  What is
 *     lost until then is no congestion.
 *  3. The filter measures the most of each round; a round adds a sixteenth of a measurement's variance.  Its noises
 *     are not in the texts at hand.  A lower rate is no measurement where the path carried what was sent:
 *     else each would be lower than the one before.
 *  4. The filter bounds the bandwidth once BBR's pipe was full: Startup is BBR's.
 *  5. All else is BBR version 3's, ProbeRTT among it.
 */
#include "bbr3_parts.h"
#include "leocc_core.h"

#define LEOCC_US_PER_MS		1000ULL
#define LEOCC_CARRIED_PCT	95	/* of what was sent: the path carried it */

bool leocc_params_valid(const struct leocc_params *params)
{
	return bbr3_params_valid(&params->bbr) && params->period_ms <= LEOCC_PERIOD_MS_MAX &&
	       params->offset_ms <= LEOCC_OFFSET_MS_MAX &&
	       params->fluctuation_us <= LEOCC_FLUCTUATION_US_MAX;
}
search_export(leocc_params_valid);

void leocc_begin(struct leocc_state *state, const struct bbr3_start *start)
{
	*state = (struct leocc_state) {
		.begin_us = start->now_us,
		.paced_rate = { BBR3_INFINITE_RATE, BBR3_INFINITE_RATE },
		.variance = LEOCC_UNKNOWN,
	};
	bbr3_begin(&state->bbr, start);
}
search_export(leocc_begin);

/* Reconfigurations */

/* When the newest one so far was, which may be the last that is known; 0: none yet. */
static u64 leocc_newest_us(const struct leocc_state *state, const struct leocc_params *params, u64 now_us)
{
	u64 first_us = state->begin_us + params->offset_ms * LEOCC_US_PER_MS;
	u64 period_us = params->period_ms * LEOCC_US_PER_MS;

	if (!period_us || now_us < first_us)
		return 0;
	return first_us + div64_u64(now_us - first_us, period_us) * period_us;
}

static void leocc_reconfigure(struct leocc_state *state, u64 at_us, u32 delivered)
{
	state->last_us = at_us;
	state->settle_rounds = LEOCC_SETTLE_ROUNDS;
	state->round_delivered = delivered;
}

static void leocc_forget_path(struct leocc_state *state, const struct bbr3_ack *ack, u64 rate)
{
	struct bbr3_state *bbr = &state->bbr;

	bbr->min_rtt_us = ack->rtt_us;
	bbr->probe_rtt_min_us = ack->rtt_us;
	bbr->min_rtt_us_at = ack->now_us;
	bbr->probe_rtt_min_us_at = ack->now_us;
	bbr->max_bw_of[0] = rate;
	bbr->max_bw_of[1] = 0;
	bbr->inflight_longterm = BBR3_INFINITY;
	bbr->too_high = false;
	bbr3_reset_short_term(bbr);
	bbr3_reset_signals(bbr);
	bbr3_reset_full_bw(bbr, 0);
	if (bbr3_in_probe_bw(bbr))
		bbr3_start_refill(bbr, ack->delivered);
	state->kalman_rate = rate;
	state->variance = LEOCC_ONE;
}

/*
 * In the first round what had passed the bottleneck before still arrives; the second one is of the new
 * path alone.  An ACK without a rate or a round trip ends no round.
 */
static void leocc_settle(struct leocc_state *state, const struct bbr3_ack *ack)
{
	u64 rate = bbr3_sample_rate(ack);

	if (!ack->has_data || !bbr3_reached(ack->newest.delivered, state->round_delivered) || !rate ||
	    ack->rtt_us == BBR3_INFINITY)
		return;
	state->round_delivered = ack->delivered;
	state->settle_rounds--;
	if (!state->settle_rounds)
		leocc_forget_path(state, ack, rate);
}

static void leocc_follow_path(struct leocc_state *state, const struct leocc_params *params,
			      const struct bbr3_ack *ack)
{
	u64 newest_us = leocc_newest_us(state, params, ack->now_us);

	if (newest_us > state->last_us)
		leocc_reconfigure(state, newest_us, ack->delivered);
	else if (state->settle_rounds)
		leocc_settle(state, ack);
}

/* The filtered rate */

bool leocc_queues(const struct leocc_state *state, const struct leocc_params *params, u32 srtt_us)
{
	return state->bbr.min_rtt_us != BBR3_INFINITY &&
	       srtt_us > (u64)state->bbr.min_rtt_us + params->fluctuation_us;
}
search_export(leocc_queues);

/* A Kalman filter of one value, whose variance counts in that of a measurement. */
static void leocc_measure(struct leocc_state *state, u64 rate)
{
	u32 variance = state->variance + LEOCC_PROCESS;
	u32 gain = div_u64((u64)variance << 16, variance + LEOCC_ONE);

	if (rate >= state->kalman_rate)
		state->kalman_rate += (rate - state->kalman_rate) * gain >> 16;
	else
		state->kalman_rate -= (state->kalman_rate - rate) * gain >> 16;
	state->variance = (u64)variance * (LEOCC_ONE - gain) >> 16;
}

/* A round's rate is that of packets sent in the round before. */
static bool leocc_measures(const struct leocc_state *state, u32 app_limited)
{
	u64 sent_rate = state->paced_rate[0] < state->paced_rate[1] ? state->paced_rate[0] : state->paced_rate[1];

	if (!state->round_rate || state->round_rate > state->kalman_rate)
		return state->round_rate;
	return !app_limited && sent_rate < BBR3_INFINITE_RATE &&
	       state->round_rate < bbr3_rate_percent(sent_rate, LEOCC_CARRIED_PCT);
}

static void leocc_next_round(struct leocc_state *state, u32 app_limited)
{
	if (leocc_measures(state, app_limited))
		leocc_measure(state, state->round_rate);
	state->round_rate = 0;
	state->paced_rate[1] = state->paced_rate[0];
	state->paced_rate[0] = BBR3_INFINITE_RATE;
}

static void leocc_bound_bandwidth(struct leocc_state *state, const struct leocc_params *params,
				  const struct bbr3_ack *ack)
{
	state->round_rate = bbr3_max_rate(state->round_rate, bbr3_sample_rate(ack));
	if (state->bbr.round_start)
		leocc_next_round(state, ack->newest.app_limited);
	if (state->bbr.pacing_rate < state->paced_rate[0])
		state->paced_rate[0] = state->bbr.pacing_rate;
	if (state->bbr.full_bw_reached && state->kalman_rate && state->kalman_rate < state->bbr.bw &&
	    leocc_queues(state, params, ack->srtt_us))
		state->bbr.bw = state->kalman_rate;
}

u32 leocc_on_ack(struct leocc_state *state, const struct leocc_params *params, const struct bbr3_ack *ack)
{
	struct bbr3_ack seen = *ack;
	u32 cwnd;

	leocc_follow_path(state, params, ack);
	if (state->settle_rounds) {
		seen.newly_lost = 0;
		seen.fast_recovery = 0;
	}
	cwnd = bbr3_update_model(&state->bbr, &params->bbr, &seen);
	leocc_bound_bandwidth(state, params, &seen);
	return bbr3_follow_model(&state->bbr, &seen, cwnd);
}
search_export(leocc_on_ack);

void leocc_lost(struct leocc_state *state, const struct leocc_params *params, const struct bbr3_loss *loss)
{
	if (!state->settle_rounds)
		bbr3_lost(&state->bbr, &params->bbr, loss);
}
search_export(leocc_lost);
