/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Algorithm 1 of the thesis in five pure functions: your work.  "Line n" is a line of Algorithm 1.
 *
 * The kernel has no floating point.  Divide with div_u64(u64, u32) or div64_u64(u64, u64), multiply first.
 */
#ifndef SEARCH_PAPER_H
#define SEARCH_PAPER_H

#include "paper.h"

/* Lines 1 to 5: how long a bin is, in whole microseconds, rounded down, and at least 1. */
static u32 paper_bin_us(u32 initial_rtt_us)
{
	return 40000;	/* TODO */
}

/*
 * Lines 25 to 29: @passed bins (1 or more) have ended since the last call.  All @bytes that were
 * delivered since then belong to the last of them; the others are empty.
 */
static void paper_close_bins(struct paper_bins *bins, u64 passed, u64 bytes)
{
	bins->newest += passed;
	*paper_bin(bins, bins->newest) = bytes;	/* TODO: the others */
}

/* Lines 12 and 13: are both windows there, and is every bin that they touch still in the ring? */
static bool paper_can_compare(const struct paper_bins *bins, u32 rtt_us, u32 bin_us)
{
	return false;	/* TODO */
}

/*
 * Lines 31 to 37: bytes of the window of PAPER_W bins that ended @back bins and @rest_us microseconds
 * before the end of the newest bin.  What happened within a bin counts as even.  Round down, once.
 */
static u64 paper_window_bytes(struct paper_bins *bins, u32 back, u32 rest_us, u32 bin_us)
{
	return 0;	/* TODO */
}

/* Lines 17 and 18: is it time to leave slow start? */
static bool paper_exit(u64 curr_bytes, u64 prev_bytes)
{
	return false;	/* TODO */
}

#endif /* SEARCH_PAPER_H */
