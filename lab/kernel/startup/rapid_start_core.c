// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rapid Start: three times the window each round trip, as long as no queue builds.
 *
 * Source: K. Oku, "Rapid Startup of Congestion Control", draft-kazuho-ccwg-rapid-start-02, March
 * 2026, and the text of its repository after that.  The rules, by the draft's sections:
 *
 *  - "Full-RTT Pacing": the first flight, of twice the usual initial window, is paced over a whole
 *    round trip (rapid_start_state.rounds is 0 for it);
 *  - "Increasing the Congestion Window": two packets more for each one acknowledged while the
 *    least RTT of the last round trip is at most min(min_rtt + 4 ms, 1.1 min_rtt); else one;
 *  - "Congestion Handling": the first loss or mark begins the first recovery period.  The window
 *    becomes 0.9 of what it was, and loses 0.2 for each packet acknowledged and 0.9 for each one
 *    lost: at the period's end it is 0.7 of what the path holds, however much was lost.  Never
 *    below 0.7 / 3 of what it was, nor below 0.7 of the initial window, nor two packets;
 *  - "Reduction Factors": K = 2/3 gives those numbers for CUBIC's beta;
 *  - "Handing Over to CUBIC": W_max is twice cwnd / beta, because Linux's CUBIC converges fast.
 *
 * Differences from the draft
 *
 *  1. Units.  Packets, as all of Linux TCP counts.  The window of the recovery period is computed
 *     from the sums since its start, and rounded down once.
 *  2. rtt_floor is that of sequence-based rounds, as the draft suggests by RFC 9406: the least RTT
 *     of this round, and before its first sample that of the round before.
 *  3. An ACK without any RTT sample so far has no sign of a queue: the window grows by two.
 *  4. The draft's bound by the initial window is optional, and used.
 */
#include "rapid_start_core.h"

static u32 rapid_start_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 rapid_start_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

bool rapid_start_params_valid(const struct rapid_start_params *params)
{
	return params->iw_pkts >= RAPID_START_IW_PKTS_MIN &&
	       params->iw_pkts <= RAPID_START_IW_PKTS_MAX &&
	       params->queue_us <= RAPID_START_QUEUE_US_MAX &&
	       params->queue_pct <= RAPID_START_QUEUE_PCT_MAX;
}
search_export(rapid_start_params_valid);

void rapid_start_begin(struct rapid_start_state *state, u32 snd_nxt)
{
	*state = (struct rapid_start_state) {
		.round_end = snd_nxt,
		.min_rtt_us = RAPID_START_INFINITY_US,
		.round_min_us = RAPID_START_INFINITY_US,
		.last_min_us = RAPID_START_INFINITY_US,
	};
}
search_export(rapid_start_begin);

void rapid_start_sample(struct rapid_start_state *state, u32 snd_una, u32 snd_nxt, u32 rtt_us)
{
	if ((s32)(snd_una - state->round_end) > 0) {	/* sequence numbers wrap */
		state->round_end = snd_nxt;
		state->last_min_us = state->round_min_us;
		state->round_min_us = RAPID_START_INFINITY_US;
		state->rounds++;
	}
	if (!rtt_us)
		return;
	state->min_rtt_us = rapid_start_min(state->min_rtt_us, rtt_us);
	state->round_min_us = rapid_start_min(state->round_min_us, rtt_us);
}
search_export(rapid_start_sample);

bool rapid_start_queue_builds(const struct rapid_start_state *state,
			      const struct rapid_start_params *params)
{
	u64 min_us = state->min_rtt_us;
	u32 floor_us = state->round_min_us;
	u64 more_us = rapid_start_min(params->queue_us, div_u64(min_us * params->queue_pct, 100));

	if (floor_us == RAPID_START_INFINITY_US)
		floor_us = state->last_min_us;
	if (floor_us == RAPID_START_INFINITY_US)
		return false;

	return floor_us > min_us + more_us;
}
search_export(rapid_start_queue_builds);

u32 rapid_start_growth_pkts(const struct rapid_start_state *state,
			    const struct rapid_start_params *params, u32 acked_pkts)
{
	return rapid_start_queue_builds(state, params) ? acked_pkts :
							 (RAPID_START_GROWTH_MAX - 1) * acked_pkts;
}
search_export(rapid_start_growth_pkts);

static u32 rapid_start_tenths(u32 pkts, u32 tenths)
{
	return div_u64((u64)pkts * tenths, 10);
}

/* How far the window may fall; never above where the period begins. */
static u32 rapid_start_floor_pkts(const struct rapid_start_params *params, u32 before_pkts)
{
	u32 third = div_u64((u64)before_pkts * RAPID_START_BETA_TENTHS, 10 * RAPID_START_GROWTH_MAX);
	u32 initial = rapid_start_tenths(params->iw_pkts, RAPID_START_BETA_TENTHS);
	u32 begin = rapid_start_tenths(before_pkts, RAPID_START_SILENCE_TENTHS);

	return rapid_start_max(rapid_start_min(rapid_start_max(third, initial), begin),
			       RAPID_START_LEAST_PKTS);
}

u32 rapid_start_recovering_pkts(const struct rapid_start_params *params, u32 before_pkts,
				u32 acked_pkts, u32 lost_pkts)
{
	u64 begin = (u64)before_pkts * RAPID_START_SILENCE_TENTHS;
	u64 less = (u64)acked_pkts * RAPID_START_ACK_TENTHS +
		   (u64)lost_pkts * RAPID_START_LOSS_TENTHS;
	u32 cwnd_pkts = begin > less ? div_u64(begin - less, 10) : 0;

	return rapid_start_max(cwnd_pkts, rapid_start_floor_pkts(params, before_pkts));
}
search_export(rapid_start_recovering_pkts);

u32 rapid_start_w_max_pkts(u32 cwnd_pkts)
{
	return div_u64(2ULL * 10 * cwnd_pkts, RAPID_START_BETA_TENTHS);
}
search_export(rapid_start_w_max_pkts);
