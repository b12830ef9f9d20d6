// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C4: what it knows of the path.  Rules, by the draft's sections:
 *
 *  - "Nominal rate": the largest measured; not raised in a recovery with congestion;
 *  - "Nominal max RTT": that of eras whose packets were sent at no more than the nominal rate; an
 *    eighth of the difference downwards, upwards at once, by 250 ms above the least at most;
 *  - "Initial state": its window grows by what is acknowledged, by an eighth of it for each era in
 *    which the nominal rate did not grow.
 */
#include "c4_parts.h"

#define C4_MAX_JITTER_US	250000U
#define C4_MOST_BPS		(1ULL << 35)

void c4_note_rtt(struct c4_state *state, u32 rtt_us)
{
	if (!rtt_us)
		return;
	rtt_us = c4_min(rtt_us, C4_MOST_RTT_US);
	if (!state->nominal_rtt_us) {
		state->nominal_rtt_us = c4_max(rtt_us, C4_LEAST_RTT_US);
		state->running_min_us = rtt_us;
	}
	state->era_most_us = c4_max(state->era_most_us, rtt_us);
	state->era_least_us = state->era_least_us ? c4_min(state->era_least_us, rtt_us) : rtt_us;
}

void c4_note_rate(struct c4_state *state, const struct c4_ack *ack)
{
	u64 rate_Bps = ack->rate_Bps < C4_MOST_BPS ? ack->rate_Bps : C4_MOST_BPS;

	if (rate_Bps > state->recent_most_Bps)
		state->recent_most_Bps = rate_Bps;
	if (rate_Bps > state->nominal_Bps && !(state->mode == C4_RECOVERY && state->congested))
		state->nominal_Bps = rate_Bps;
}

void c4_grow_initial(struct c4_state *state, u32 acked_pkts)
{
	u64 acked_bytes = (u64)acked_pkts * state->mss_bytes;
	u64 grown_bytes = state->initial_cwnd_bytes + (acked_bytes >> (3 * state->still_eras));

	state->initial_cwnd_bytes = grown_bytes < C4_MOST_BYTES ? grown_bytes : C4_MOST_BYTES;
}

void c4_find_nominal_rtt(struct c4_state *state)
{
	u32 most_us = state->era_most_us;

	if (state->last_alpha > C4_ALPHA_ONE || !most_us)
		return;
	if (state->era_least_us < state->running_min_us)
		state->running_min_us = state->era_least_us;
	else
		state->running_min_us = div_u64(7ULL * state->running_min_us + state->era_least_us, 8);
	most_us = c4_min(most_us, state->running_min_us + C4_MAX_JITTER_US);
	if (most_us <= state->nominal_rtt_us)
		most_us = div_u64(7ULL * state->nominal_rtt_us + most_us, 8);
	state->nominal_rtt_us = c4_max(most_us, C4_LEAST_RTT_US);
}
