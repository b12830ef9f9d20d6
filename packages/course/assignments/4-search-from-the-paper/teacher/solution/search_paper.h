/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Algorithm 1 of the thesis in five pure functions: the solution. */
#ifndef SEARCH_PAPER_H
#define SEARCH_PAPER_H

#include "paper.h"

#define PAPER_THRESH_PCT	35

static u32 paper_bin_us(u32 initial_rtt_us)
{
	u32 bin_us = div_u64(35ULL * initial_rtt_us, 10 * PAPER_W);

	return bin_us ? bin_us : 1;
}

static void paper_close_bins(struct paper_bins *bins, u64 passed, u64 bytes)
{
	u64 missed = passed - 1;
	u64 i;

	/* The newest bin stays; of a gap longer than the ring each place is emptied once. */
	for (i = 1; i <= missed && i <= PAPER_NUM_BINS; i++)
		*paper_bin(bins, bins->newest + i) = 0;
	bins->newest += passed;
	*paper_bin(bins, bins->newest) = bytes;
}

static bool paper_can_compare(const struct paper_bins *bins, u32 rtt_us, u32 bin_us)
{
	u32 back = rtt_us / bin_us;
	u32 touched = back + (rtt_us % bin_us ? 1 : 0);	/* a fraction touches one bin more */

	return bins->newest - back >= PAPER_W && touched <= PAPER_EXTRA_BINS;
}

static u64 paper_window_bytes(struct paper_bins *bins, u32 back, u32 rest_us, u32 bin_us)
{
	s64 last = bins->newest - back;
	s64 first = last - PAPER_W;	/* the window begins within this bin, or at its end */
	u64 bytes = 0;
	s64 i;

	for (i = first + 1; i < last; i++)
		bytes += *paper_bin(bins, i);
	if (!rest_us)
		return bytes + *paper_bin(bins, last);

	return bytes + div_u64(*paper_bin(bins, first) * rest_us +
			       *paper_bin(bins, last) * (bin_us - rest_us), bin_us);
}

static bool paper_exit(u64 curr_bytes, u64 prev_bytes)
{
	u64 expected = 2 * prev_bytes;

	if (!expected || curr_bytes > expected)	/* unsigned: a difference below 0 would be huge */
		return false;

	return 100 * (expected - curr_bytes) >= PAPER_THRESH_PCT * expected;
}

#endif /* SEARCH_PAPER_H */
