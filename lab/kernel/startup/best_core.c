// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BEST: end slow start at the bandwidth-delay product, which pairs of ACKs show.
 *
 * Source: M. Ataei Kachooei, P. Zhao, F. Li, J. Chung, M. Claypool, "Fixing TCP Slow Start for Slow
 * Fat Links", NetDev 0x16, 2022.  Its text was not at hand as this was written: the rules are those of
 * the descriptions that name it (Ataei Kachooei's thesis, "Related Work": bandwidth by packet pairs;
 * the lab's notes on the published sender, for the rest):
 *
 *  - two ACKs in a row are a pair: the rate is what the second one acknowledges, by the time between;
 *  - the bandwidth of a round is the median of the rates of its pairs;
 *  - after the third round ssthresh is the bandwidth times the least round trip, in packets;
 *  - 300 pairs of a round are kept.
 *
 * What the descriptions leave open, and what this core does
 *
 *  1. The last ACK of a round and the first one of the next are no pair: there is a pause between.
 *  2. Of a round with more than 300 pairs the first 300 count.
 *  3. Two ACKs within a microsecond are no pair: they have no rate.
 *  4. Each further round replaces the estimate, as long as slow start lasts.
 *  5. The estimate is at least two packets and at most 2^24.
 */
#include "best_core.h"

#define BEST_US_PER_S	1000000ULL

bool best_params_valid(const struct best_params *params)
{
	return params->skip_rounds <= BEST_SKIP_ROUNDS_MAX;
}
search_export(best_params_valid);

void best_begin(struct best_state *state, u32 snd_nxt)
{
	state->last_us = 0;
	state->round_end = snd_nxt;
	state->rounds = 0;
	state->min_rtt_us = 0;
	state->target_pkts = 0;
	state->samples = 0;
}
search_export(best_begin);

/* Hoare's selection: the half that does not have the middle is left as it is. */
u32 best_median(u32 *samples, u32 count)
{
	s32 low = 0, high = (s32)count - 1, middle = count / 2;

	while (low < high) {
		u32 pivot = samples[low + (high - low) / 2], swapped;
		s32 i = low, j = high;

		while (i <= j) {
			while (samples[i] < pivot)
				i++;
			while (samples[j] > pivot)
				j--;
			if (i > j)
				break;
			swapped = samples[i];
			samples[i++] = samples[j];
			samples[j--] = swapped;
		}
		if (middle <= j)
			high = j;
		else if (middle >= i)
			low = i;
		else
			break;
	}
	return samples[middle];
}
search_export(best_median);

static u32 best_between(u64 value, u32 least, u32 most)
{
	if (value < least)
		return least;
	return value < most ? value : most;
}

static void best_estimate(struct best_state *state, u32 mss_bytes)
{
	u64 bdp_bytes = div_u64((u64)best_median(state->rate_Bps, state->samples) * state->min_rtt_us, BEST_US_PER_S);

	state->target_pkts = best_between(div_u64(bdp_bytes, mss_bytes ? mss_bytes : 1), BEST_LEAST_PKTS,
					  BEST_MOST_PKTS);
}

static void best_next_round(struct best_state *state, const struct best_params *params,
			    const struct best_ack *ack)
{
	state->rounds += !!state->last_us;	/* one without an ACK is none */
	if (state->rounds > params->skip_rounds && state->samples && state->min_rtt_us)
		best_estimate(state, ack->mss_bytes);
	state->round_end = ack->snd_nxt;
	state->samples = 0;
	state->last_us = 0;
}

static void best_pair(struct best_state *state, const struct best_ack *ack)
{
	u64 gap_us = ack->now_us - state->last_us;

	if (!state->last_us || !gap_us || state->samples == BEST_SAMPLES)
		return;
	state->rate_Bps[state->samples++] =
		best_between(div64_u64(ack->acked_bytes * BEST_US_PER_S, gap_us), 0, (u32)~0);
}

u32 best_on_ack(struct best_state *state, const struct best_params *params, const struct best_ack *ack)
{
	if (ack->rtt_us && (!state->min_rtt_us || ack->rtt_us < state->min_rtt_us))
		state->min_rtt_us = ack->rtt_us;
	if (!ack->acked_bytes)
		return state->target_pkts;
	if ((s32)(ack->snd_una - state->round_end) > 0)	/* sequence numbers wrap */
		best_next_round(state, params, ack);
	best_pair(state, ack);
	state->last_us = ack->now_us;
	return state->target_pkts;
}
search_export(best_on_ack);
