// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SEARCH 2.0: Slow start Exit At Right CHokepoint.
 *
 * In slow start a sender doubles what it sends each RTT.  While the path has
 * room, delivery doubles too: a window of delivered bytes holds twice what the
 * window one RTT earlier held.  Once the bottleneck is full, delivery goes on at
 * its rate and the queue takes the rest.  So SEARCH compares delivered bytes now
 * (curr) with twice those of one RTT ago (what was sent since), and leaves slow
 * start when they fall short by a threshold:
 *
 *	norm = (2 prev - curr) / (2 prev) >= 35 %
 *
 * norm is 0 below capacity and grows to 0.5 long after.  The window, 3.5 initial
 * RTTs, smooths over the RTT cycles of satellite and radio links; it slides in
 * bins of a tenth of its length, and all work is done when a bin ends.
 *
 * Source: M. Ataei Kachooei, "Improving TCP Slow Start Performance in Wireless
 * Networks with SEARCH", Worcester Polytechnic Institute, December 2024: section
 * 4.4.1, Algorithm 1 ("line n" below).  Parameters: section 4.5.
 *
 * Differences from the paper
 *
 * Where Algorithm 1 is silent, contradicts itself or reads memory it must not:
 *
 *  1. Start (line 9).  The first ACK with an RTT sample starts the algorithm: its
 *     sample is Initial_RTT, its time begins the first bin.
 *  2. First bin (line 29).  prev_seq_num has no initial value in the paper.  It is
 *     the count at the start: taking 0 would put the flow's whole history into
 *     bin 0 whenever SEARCH starts in mid-flow, and exit at once.
 *  3. Bin length (line 5).  Rounded down to whole microseconds, but at least 1:
 *     lines 12 and 23 divide by it.
 *  4. Boundary (lines 10 and 23).  "now > bin_end" is kept: an ACK exactly on a
 *     boundary leaves the bin open, and the next ACK closes it.
 *  5. Clock.  Times are u64 microseconds compared by signed difference: the wrap
 *     of a u32 every 71.6 minutes neither stalls nor skips.
 *  6. Missed bins (lines 25-27).  The paper's loop starts at curr_idx and so wipes
 *     the newest full bin (and writes bin[-1] at first).  What was missed is
 *     curr_idx + 1 to curr_idx + passed_bins - 1.  They are zero, as in the paper.
 *  7. Long gaps.  A gap longer than the ring clears each slot once, whatever the
 *     number of bins passed.
 *  8. sum_bins (lines 35-36).  bin[idx1] and bin[idx2] lack the modulo that line
 *     33 has.  With fraction 0 the sum is that of the W bins idx1 + 1 to idx2.
 *  9. Fraction (lines 15, 35, 36).  A real fraction, not an integer quotient (which
 *     is 0 or 1).  It moves the earlier window further into the past: weight
 *     fraction for the bin before its W bins, 1 - fraction for its last.
 * 10. Look-back (line 13).  A window moved by a fraction touches W + 1 bins.  At
 *     curr_idx - prev_idx = EXTRA_BINS the first of them has been overwritten by
 *     the newest bin.  The limit is the ring itself: every bin read must be in it.
 *     So 14 bins back for 15 extra bins, and 15 only when the fraction is 0.
 * 11. Nothing delivered one RTT ago (line 17) has no norm: no decision.
 * 12. Delivery that more than doubled (curr > 2 prev) has a negative norm and
 *     never exits; unsigned arithmetic would make it a huge one.
 * 13. Threshold (line 18).  prev is rounded down to a byte, norm to a thousandth.
 *     The latter changes no verdict: a number reaches a whole number of percent
 *     if and only if its rounding down to thousandths does.
 *
 * Products are exact while a bin's bytes times its microseconds stay below 2^64
 * and a window's bytes below 2^54: 80 TB in a bin of 210 ms.
 */
#include "search_core.h"

static bool search_within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

bool search_params_valid(const struct search_params *params)
{
	return search_within(params->window_factor_tenths, SEARCH_WINDOW_FACTOR_TENTHS_MIN,
			     SEARCH_WINDOW_FACTOR_TENTHS_MAX) &&
	       search_within(params->bins, SEARCH_BINS_MIN, SEARCH_BINS_MAX) &&
	       search_within(params->extra_bins, SEARCH_EXTRA_BINS_MIN, SEARCH_EXTRA_BINS_MAX) &&
	       search_within(params->threshold_pct, SEARCH_THRESHOLD_PCT_MIN,
			     SEARCH_THRESHOLD_PCT_MAX);
}

static u32 search_slots(const struct search_params *params)
{
	return params->bins + params->extra_bins;
}

size_t search_state_bytes(const struct search_params *params)
{
	return sizeof(struct search_state) + search_slots(params) * sizeof(u64);
}

void search_setup(struct search_state *state, const struct search_params *params)
{
	state->params = *params;
	search_reset(state);
}

void search_reset(struct search_state *state)
{
	state->bin_us = 0;
}

/* Bins need no clearing: closed_bins keeps search_compare() from reading old ones. */
static void search_start(struct search_state *state, u64 now_us, u32 rtt_us, u64 delivered_bytes)
{
	const struct search_params *params = &state->params;
	u32 bin_us = div_u64((u64)rtt_us * params->window_factor_tenths, 10 * params->bins);

	state->bin_us = bin_us ? bin_us : 1;
	state->bin_end_us = now_us + state->bin_us;
	state->delivered_bytes = delivered_bytes;
	state->closed_bins = 0;
	state->newest = search_slots(params) - 1;	/* so that bin k lies in slot k % slots */
}

static void search_close_bins(struct search_state *state, u64 now_us, u64 delivered_bytes)
{
	u32 slots = search_slots(&state->params);
	u64 passed = div_u64(now_us - state->bin_end_us, state->bin_us) + 1;
	u32 missed = passed > slots ? slots : passed - 1;
	u32 step, i;

	for (i = 1; i <= missed; i++)
		state->bin_bytes[(state->newest + i) % slots] = 0;

	div_u64_rem(passed, slots, &step);
	state->newest = (state->newest + step) % slots;
	state->bin_bytes[state->newest] = delivered_bytes - state->delivered_bytes;

	state->delivered_bytes = delivered_bytes;
	state->bin_end_us += passed * state->bin_us;
	state->closed_bins += passed;
}

/* The bin that closed @back bins before the newest. */
static u64 search_bin_bytes(const struct search_state *state, u32 back)
{
	u32 slots = search_slots(&state->params);

	return state->bin_bytes[(state->newest + slots - back) % slots];
}

/*
 * Bytes of the window that ended @back bins and @rest_us before the newest bin's
 * end, taking delivery within a bin as even.  Touches bins + 1 bins (bins, if
 * @rest_us is 0), of which back + bins is the oldest.
 */
static u64 search_window_bytes(const struct search_state *state, u32 back, u32 rest_us)
{
	u32 bins = state->params.bins;
	u64 first = search_bin_bytes(state, back + bins);
	u64 last = search_bin_bytes(state, back);
	u64 sum = 0;
	u32 i;

	for (i = 1; i < bins; i++)
		sum += search_bin_bytes(state, back + i);

	return sum + div_u64(first * rest_us + last * (state->bin_us - rest_us), state->bin_us);
}

/* 1 - curr / (2 prev) in thousandths, rounded down whatever its sign. */
static s64 search_norm_permille(u64 curr_bytes, u64 prev_bytes)
{
	u64 expected = 2 * prev_bytes;

	if (curr_bytes <= expected)
		return div64_u64(1000 * (expected - curr_bytes), expected);

	return -(s64)div64_u64(1000 * (curr_bytes - expected) + expected - 1, expected);
}

static enum search_verdict search_compare(const struct search_state *state,
					  struct search_decision *decision)
{
	const struct search_params *params = &state->params;
	u32 back = decision->rtt_us / state->bin_us;
	u32 rest_us = decision->rtt_us % state->bin_us;

	if (state->closed_bins <= (u64)params->bins + back)
		return SEARCH_TOO_FEW_BINS;
	if (back + params->bins + !!rest_us > search_slots(params))
		return SEARCH_RTT_TOO_LONG;

	decision->prev_delv_bytes = search_window_bytes(state, back, rest_us);
	if (!decision->prev_delv_bytes)
		return SEARCH_NO_PREVIOUS;

	decision->curr_delv_bytes = search_window_bytes(state, 0, 0);
	decision->norm_permille = search_norm_permille(decision->curr_delv_bytes,
						       decision->prev_delv_bytes);
	if (decision->norm_permille >= 10 * (s64)params->threshold_pct)
		return SEARCH_EXIT;

	return SEARCH_STAY;
}

enum search_verdict search_on_ack(struct search_state *state, u64 now_us, u32 rtt_us,
				  u64 delivered_bytes, struct search_decision *decision)
{
	if (!state->bin_us) {
		search_start(state, now_us, rtt_us, delivered_bytes);
		return SEARCH_BIN_OPEN;
	}
	if ((s64)(now_us - state->bin_end_us) <= 0)
		return SEARCH_BIN_OPEN;

	search_close_bins(state, now_us, delivered_bytes);
	*decision = (struct search_decision) {
		.bin = state->closed_bins - 1,
		.rtt_us = rtt_us,
		.bin_us = state->bin_us,
	};
	decision->verdict = search_compare(state, decision);
	return decision->verdict;
}
