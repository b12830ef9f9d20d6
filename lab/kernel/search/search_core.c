// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SEARCH: Slow start Exit At Right CHokepoint.
 *
 * In slow start a sender doubles what it sends each RTT.  While the path has
 * room, delivery doubles too: a window of delivered bytes holds twice what the
 * window one RTT earlier held.  Once the bottleneck is full, delivery goes on at
 * its rate and the queue takes the rest.  So SEARCH compares delivered bytes now
 * (curr) with those expected, and leaves slow start when they fall short by a
 * threshold.  In SEARCH 2.0:
 *
 *	norm = (2 prev - curr) / (2 prev) >= 35 %
 *
 * norm is 0 below capacity and grows to 0.5 long after.  The window, 3.5 initial
 * RTTs, smooths over the RTT cycles of satellite and radio links; it slides in
 * bins of a tenth of its length, and all work is done when a bin ends.  What was
 * expected (twice the bytes delivered one RTT ago, or the bytes sent then), and what
 * else differs between versions, is in tcp_search*.c.
 *
 * Source: M. Ataei Kachooei, "Improving TCP Slow Start Performance in Wireless
 * Networks with SEARCH", Worcester Polytechnic Institute, December 2024: section
 * 4.4.1, Algorithm 1 ("line n" below).  Parameters: section 4.5.
 *
 * Differences from the paper, which hold for every version unless an option differs
 * (search2 and search31 are the published code: tcp_search2.c, tcp_search31.c)
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
 *     curr_idx + 1 to curr_idx + passed_bins - 1.  They are empty, as in the paper:
 *     the cumulative count at their end is that of the newest full bin.
 *  7. Long gaps.  A gap longer than the ring fills each slot once.
 *  8. sum_bins (lines 31-37).  bin[idx1] and bin[idx2] lack the modulo that line 33
 *     has.  With fraction 0 the sum is that of the W bins idx1 + 1 to idx2: here the
 *     difference of two cumulative counts.
 *  9. Fraction (lines 15, 35, 36).  A real fraction, not an integer quotient (which
 *     is 0 or 1).  It moves the earlier window further into the past: weight
 *     fraction for the bin before its W bins, 1 - fraction for its last.
 * 10. Look-back (line 13).  A window moved by a fraction touches W + 1 bins.  At
 *     curr_idx - prev_idx = EXTRA_BINS the first of them has been overwritten by
 *     the newest bin.  The limit is the ring itself: every bin read must be in it.
 *     So 14 bins back for 15 extra bins, and 15 only when the fraction is 0.
 * 11. Nothing delivered one RTT ago (line 17) has no norm: no decision.
 * 12. Delivery above what was expected has a negative norm and never exits;
 *     unsigned arithmetic would make it a huge one.
 * 13. Threshold (line 18).  prev is rounded down to a byte, norm to a thousandth.
 *     The latter changes no verdict: a number reaches a whole number of percent
 *     if and only if its rounding down to thousandths does.
 *
 * Products are exact while a bin's bytes times its microseconds stay below 2^64 and a
 * window's bytes below 2^53: 40 TB in a bin of 210 ms.
 */
#include "search_compare.h"
#include "search_ring.h"

void search_setup(struct search_state *state, const struct search_params *params)
{
	*state = (struct search_state) {
		.params = *params,
		.delivered.slots = search_delivered_slots(params),
		.sent.slots = search_sent_slots(params),
	};
}
search_export(search_setup);

void search_reset(struct search_state *state, u64 delivered_bytes)
{
	state->bin_us = 0;
	state->reset_bytes = delivered_bytes;
}
search_export(search_reset);

static void search_push_both(struct search_state *state, u64 delivered_bytes, u64 sent_bytes)
{
	search_push(&state->delivered, state->counts, delivered_bytes);
	if (state->sent.slots)
		search_push(&state->sent, search_sent_counts(state), sent_bytes);
}

/* Slots need no clearing: closed_bins keeps search_compare() from reading old ones. */
static void search_start(struct search_state *state, const struct search_ack *ack, u32 bin_us)
{
	u32 history = state->params.history;
	u64 delivered_bytes = ack->delivered_bytes;

	state->bin_us = bin_us;
	state->bin_end_us = ack->now_us + bin_us;
	state->closed_bins = 0;
	state->long_rtts = 0;
	if (history == SEARCH_HISTORY_WHOLE) {
		search_push_both(state, 0, 0);
		state->closed_bins = 1;
	} else if (history == SEARCH_HISTORY_RESET) {
		delivered_bytes = state->reset_bytes;
	}
	search_push_both(state, delivered_bytes, ack->sent_bytes);
}

/* How far the count of sent bytes goes on in a bin that delivered @delivered_bytes. */
static u64 search_newly_sent(struct search_state *state, u64 sent_bytes, u64 delivered_bytes)
{
	u64 sent = sent_bytes - search_count(&state->sent, search_sent_counts(state), 0);

	if (state->params.expected == SEARCH_SENT_HELD && sent > 2 * delivered_bytes)
		return 2 * delivered_bytes;

	return sent;
}

static void search_close_sent(struct search_state *state, const struct search_ack *ack, u64 missed)
{
	u64 *counts = search_sent_counts(state);
	u64 before = search_count(&state->sent, counts, 0);
	u64 delivered = ack->delivered_bytes - search_count(&state->delivered, state->counts, 0);

	search_push_missed(&state->sent, counts, missed);
	search_push(&state->sent, counts,
		    before + search_newly_sent(state, ack->sent_bytes, delivered));
}

static void search_close_bins(struct search_state *state, const struct search_ack *ack, u64 passed)
{
	if (state->sent.slots)
		search_close_sent(state, ack, passed - 1);
	search_push_missed(&state->delivered, state->counts, passed - 1);
	search_push(&state->delivered, state->counts, ack->delivered_bytes);
	state->bin_end_us += passed * state->bin_us;
	state->closed_bins += passed;
}


/*
 * RTTs that look back further than the ring are, unless they pass soon, those of a
 * buffer of many RTTs, or the initial one was far too short.  Two bins become one then,
 * and those that remain are counted from 0 again.
 */
static void search_widen_bins(struct search_state *state)
{
	u64 kept = state->delivered.slots - 1;

	search_halve(&state->delivered, state->counts);
	if (state->sent.slots)
		search_halve(&state->sent, search_sent_counts(state));
	state->bin_end_us += state->bin_us;
	state->bin_us *= 2;
	state->closed_bins = (state->closed_bins < kept ? state->closed_bins : kept) / 2;
	state->long_rtts = 0;
}

static void search_count_long_rtts(struct search_state *state, enum search_verdict verdict)
{
	if (!state->params.long_rtt || verdict != SEARCH_RTT_TOO_LONG)
		state->long_rtts = 0;
	else if (++state->long_rtts >= state->params.long_rtt)
		search_widen_bins(state);
}

/* Why the bins so far are of no use and a new start is due; SEARCH_BIN_OPEN: they are. */
static enum search_verdict search_stale(const struct search_state *state,
					const struct search_ack *ack, u64 passed)
{
	const struct search_params *params = &state->params;

	if (params->missed_bins_max && passed > params->missed_bins_max)
		return SEARCH_AFTER_SILENCE;
	if (ack->limited)
		return SEARCH_NOT_FILLED;
	if (search_bin_length_us(params, ack->rtt_us) * 100ULL <
	    (u64)state->bin_us * params->restart_rtt_pct)
		return SEARCH_RTT_FELL;

	return SEARCH_BIN_OPEN;
}

/*
 * A new start keeps the bin's length where the initial RTT is still to be believed:
 * not after it proved too long, nor after a silence longer than the whole window.
 */
static void search_restart(struct search_state *state, const struct search_ack *ack,
			      enum search_verdict why, u64 passed)
{
	u32 bin_us = state->bin_us;

	if (why == SEARCH_RTT_FELL || (why == SEARCH_AFTER_SILENCE && passed > state->params.bins))
		bin_us = search_bin_length_us(&state->params, ack->rtt_us);

	state->reset_bytes = ack->delivered_bytes;
	if (state->params.restart_next) {
		state->bin_us = 0;
		return;
	}
	search_start(state, ack, bin_us);
}

enum search_verdict search_on_ack(struct search_state *state, const struct search_ack *ack,
				  struct search_decision *decision)
{
	enum search_verdict stale;
	u64 passed;

	if (!search_due(state, ack->now_us))
		return SEARCH_BIN_OPEN;
	if (!state->bin_us) {
		search_start(state, ack, search_bin_length_us(&state->params, ack->rtt_us));
		return SEARCH_BIN_OPEN;
	}

	passed = div_u64(ack->now_us - state->bin_end_us, state->bin_us) + 1;
	*decision = (struct search_decision) {
		.bin = state->closed_bins + passed - 1 -
		       (state->params.history == SEARCH_HISTORY_WHOLE),
		.rtt_us = ack->rtt_us,
		.bin_us = state->bin_us,
	};
	stale = search_stale(state, ack, passed);
	if (stale != SEARCH_BIN_OPEN) {
		search_restart(state, ack, stale, passed);
		return decision->verdict = stale;
	}
	search_close_bins(state, ack, passed);
	decision->verdict = search_compare(state, ack->now_us + state->bin_us - state->bin_end_us,
					   decision);
	search_count_long_rtts(state, decision->verdict);
	return decision->verdict;
}
search_export(search_on_ack);
