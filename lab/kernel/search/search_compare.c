// SPDX-License-Identifier: GPL-2.0-or-later
/* One bin's decision: where the earlier window lies, what it holds, and what follows from it. */
#include "search_compare.h"
#include "search_ring.h"

/* 1 - curr / expected in thousandths, rounded down whatever its sign. */
static s64 search_norm_permille(u64 curr_bytes, u64 expected_bytes)
{
	if (curr_bytes <= expected_bytes)
		return div64_u64(1000 * (expected_bytes - curr_bytes), expected_bytes);

	return -(s64)div64_u64(1000 * (curr_bytes - expected_bytes) + expected_bytes - 1,
			       expected_bytes);
}

static bool search_in_percents(u32 interpolation)
{
	return interpolation >= SEARCH_PERCENT;
}

static bool search_between_bins(u32 interpolation)
{
	return interpolation == SEARCH_FRACTION || search_in_percents(interpolation);
}

/* How long ago the earlier window ended. */
struct search_look_back {
	u32 rtt_bins;	/* what must have been closed, in addition to a window */
	u32 bins;
	u32 rest_us;
};

/* @late_us: how long after its bin's end the ACK came that closed it. */
static struct search_look_back search_look_back(const struct search_state *state, u32 rtt_us,
						u32 late_us)
{
	u32 bin_us = state->bin_us;
	u32 rest_us = rtt_us % bin_us;
	struct search_look_back look = { .rtt_bins = rtt_us / bin_us };

	if (state->params.interpolation == SEARCH_NEAREST_BIN)
		look.rtt_bins = rtt_us < bin_us ? 1 : div_u64((u64)rtt_us + bin_us / 2, bin_us);
	look.bins = look.rtt_bins;
	if (state->params.interpolation == SEARCH_ENDED_BINS)
		look.bins += rest_us > late_us;
	else if (search_between_bins(state->params.interpolation))
		look.rest_us = rest_us;

	return look;
}

/* Whole bins and an RTT shorter than one; or a window that would end after the newest bin. */
static bool search_own_predecessor(const struct search_params *params,
				   const struct search_look_back *look)
{
	return !look->bins && (!look->rest_us || params->interpolation == SEARCH_FORWARD);
}

static bool search_unchecked(const struct search_params *params)
{
	return params->unchecked && params->interpolation == SEARCH_ENDED_BINS;
}

static bool search_in_ring(const struct search_state *state, const struct search_look_back *look)
{
	const struct search_params *params = &state->params;

	/* An unsigned difference that wraps: what is longer than the whole ring passes, too. */
	if (search_unchecked(params))
		return params->bins + params->extra_bins - look->rtt_bins >= params->bins;
	if (search_in_percents(params->interpolation))
		return look->bins + 1 <= params->extra_bins;

	return look->bins + !!look->rest_us <= params->extra_bins;
}

static u64 search_percent_bytes(const struct search_state *state, const struct search_ring *ring,
				const u64 *counts, const struct search_look_back *look)
{
	const struct search_params *params = &state->params;
	u32 rest_pct = div_u64(100ULL * look->rest_us, state->bin_us);

	if (params->interpolation == SEARCH_PERCENT)
		return search_window_bytes_pct(ring, counts, params->bins, look->bins, rest_pct);

	return search_mixed_bytes(ring, counts, params->bins, look->bins,
				  params->interpolation == SEARCH_FORWARD ? look->bins - 1 : look->bins + 1,
				  rest_pct);
}

static u64 search_previous_bytes(struct search_state *state, const struct search_look_back *look)
{
	const struct search_params *params = &state->params;
	bool sent = state->sent.slots;
	const struct search_ring *ring = sent ? &state->sent : &state->delivered;
	const u64 *counts = sent ? search_sent_counts(state) : state->counts;

	if (params->skip_equal &&
	    search_wrapped_window_bytes(ring, counts, params->bins, look->rtt_bins) ==
	    search_wrapped_window_bytes(ring, counts, params->bins, look->rtt_bins + 1))
		return 0;
	if (search_unchecked(params))
		return search_wrapped_window_bytes(ring, counts, params->bins, look->bins);
	if (search_in_percents(params->interpolation))
		return search_percent_bytes(state, ring, counts, look);

	return search_window_bytes(ring, counts, params->bins, state->bin_us, look->bins,
				   look->rest_us);
}

/* What an exit may go back to. */
static void search_delivered_lately(const struct search_state *state,
				    struct search_decision *decision)
{
	u32 bins_x10 = 10 * state->params.bins;
	u32 factor = state->params.window_factor_tenths;

	decision->last_rtt_bytes = search_last_bytes(&state->delivered, state->counts,
						     (bins_x10 + factor - 1) / factor);
	decision->last_two_rtt_bytes = search_last_bytes(&state->delivered, state->counts,
							 2 * bins_x10 / factor);
}

enum search_verdict search_compare(struct search_state *state, u32 late_us,
				   struct search_decision *decision)
{
	const struct search_params *params = &state->params;
	struct search_look_back look = search_look_back(state, decision->rtt_us, late_us);

	if (params->long_rtt && !search_in_ring(state, &look))
		return SEARCH_RTT_TOO_LONG;
	if (state->closed_bins <= (u64)params->bins + look.rtt_bins)
		return SEARCH_TOO_FEW_BINS;
	if (!search_in_ring(state, &look))
		return SEARCH_RTT_TOO_LONG;

	if (search_own_predecessor(params, &look) && !search_unchecked(params))
		return SEARCH_NO_PREVIOUS;
	decision->prev_delv_bytes = search_previous_bytes(state, &look);
	decision->expected_bytes = (state->sent.slots ? 1 : 2) * decision->prev_delv_bytes;
	if (!decision->expected_bytes)
		return SEARCH_NO_PREVIOUS;

	decision->curr_delv_bytes = search_window_bytes(&state->delivered, state->counts,
							params->bins, state->bin_us, 0, 0);
	decision->norm_permille = search_norm_permille(decision->curr_delv_bytes,
						       decision->expected_bytes);
	if (decision->norm_permille < 10 * (s64)params->threshold_pct)
		return SEARCH_STAY;

	search_delivered_lately(state, decision);
	return SEARCH_EXIT;
}
