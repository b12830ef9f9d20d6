/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Algorithm 1 keeps of a flow, and how to reach a bin.  Given: do not change it, the grader has its own.
 */
#ifndef PAPER_H
#define PAPER_H

#include <linux/math64.h>
#include <linux/types.h>

#define PAPER_W			10	/* bins in a window */
#define PAPER_EXTRA_BINS	15	/* bins kept for looking one RTT back */
#define PAPER_NUM_BINS		(PAPER_W + PAPER_EXTRA_BINS)

/* The newest bin has the index @newest, counted from 0; -1: no bin has ended yet.  bytes[] is a ring. */
struct paper_bins {
	s64 newest;
	u64 bytes[PAPER_NUM_BINS];
};

/* The place of bin @index in the ring, for any index of -PAPER_NUM_BINS or above. */
static inline u64 *paper_bin(struct paper_bins *bins, s64 index)
{
	u32 slot;

	div_u64_rem(index + PAPER_NUM_BINS, PAPER_NUM_BINS, &slot);
	return &bins->bytes[slot];
}

#endif /* PAPER_H */
