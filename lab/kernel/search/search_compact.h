/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SEARCH's state in 64 bytes, for the room that CUBIC leaves in a socket.
 *
 * The same core decides: when a bin ends, the state is unpacked on the stack, given
 * the ACK, and packed again.  What packing costs, and all that it costs:
 *
 *  - Counts are kept as 16 bits in units of 2^scale bytes, one scale for all, the least
 *    with which the ring's counts differ by less than 2^16 units.  So each count is
 *    exact to less than a unit, which is less than 2^-15 of what the ring holds.  The
 *    ring may hold 2^47 bytes, 140 TB.  With SEARCH_HISTORY_WHOLE the scale is that of the
 *    flow's whole count, as published, and sums are rounded to units.
 *  - Clock and newest count are kept as 32 bits: a silence is known exactly up to 71.6
 *    minutes, and modulo that beyond; the bytes of one bin up to 4 GiB and more.
 *  - The index of a bin is reported up to 62; from there on it stays.
 *  - Bins for 24: 10 in a window and 14 for looking back.  Delivered bytes only.
 *  - Parameters are not the flow's own: a change reaches it in its next bin.
 */
#ifndef SEARCH_COMPACT_H
#define SEARCH_COMPACT_H

#include "search_core.h"

#define SEARCH_COMPACT_COUNTS	25
#define SEARCH_COMPACT_CLOSED	63	/* as far as bins are counted */

struct search_compact {
	u16 scale:5;		/* a unit is 2^scale bytes */
	u16 closed_bins:6;
	u16 long_rtts:4;
	u16 senders_own:1;	/* one bit for the sender: resets leave it alone */
	u16 counts[SEARCH_COMPACT_COUNTS]; /* in units, modulo 2^16; the newest first */
	u32 bin_us;		/* 0: not started */
	u32 bin_end_us;		/* modulo 2^32 */
	u32 newest_units;	/* counts[0], modulo 2^32 */
};

/* Whether an ACK at @now_us is one for search_compact_on_ack(). */
static inline bool search_compact_due(const struct search_compact *compact,
				      const struct search_params *params, u64 now_us)
{
	/* Since the open bin began: never negative, so all 32 bits count. */
	u64 open_us = (u32)now_us - (compact->bin_end_us - compact->bin_us);

	return !compact->bin_us || open_us + params->end_closes > compact->bin_us;
}

/* In addition to search_params_valid(): whether the bins have room, and nothing else is to be kept. */
bool search_compact_fits(const struct search_params *params);

void search_compact_reset(struct search_compact *compact);

/* As search_on_ack(), with @params for this ACK. */
enum search_verdict search_compact_on_ack(struct search_compact *compact,
					  const struct search_params *params,
					  const struct search_ack *ack,
					  struct search_decision *decision);

#endif /* SEARCH_COMPACT_H */
