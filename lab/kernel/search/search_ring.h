/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of cumulative counts, one for the end of each bin; in front of the first, one
 * for the start.  What bins hold is the difference of two counts, wherever they wrap.
 */
#ifndef SEARCH_RING_H
#define SEARCH_RING_H

#include "search_core.h"

/* The counts of sent bytes, which follow those of delivered ones. */
static inline u64 *search_sent_counts(struct search_state *state)
{
	return state->counts + search_slot_below_end(state->delivered.slots);
}

static inline void search_push(struct search_ring *ring, u64 *counts, u64 count)
{
	ring->newest = ring->newest + 1 < ring->slots ? ring->newest + 1 : 0;
	counts[search_slot_below_end(ring->newest)] = count;
}

/* Where the count @back bins before the newest lies. */
static inline u32 search_slot(const struct search_ring *ring, u32 back)
{
	u32 slot = ring->newest >= back ? ring->newest - back : ring->newest + ring->slots - back;

	return search_slot_below_end(slot);
}

static inline u64 search_count(const struct search_ring *ring, const u64 *counts, u32 back)
{
	return counts[search_slot(ring, back)];
}

static inline void search_push_missed(struct search_ring *ring, u64 *counts, u64 missed)
{
	u32 fill = missed < ring->slots ? missed : ring->slots;
	u32 i;

	search_for(i, 0, fill)
		search_push(ring, counts, search_count(ring, counts, 0));
}

/* Keep each second count, the newest among them. */
static inline void search_halve(const struct search_ring *ring, u64 *counts)
{
	u32 back;

	search_for(back, 1, (ring->slots + 1) / 2)
		counts[search_slot(ring, back)] = search_count(ring, counts, 2 * back);
}

/* Bytes of the last @bins bins; of all that the ring holds, where that is less. */
static inline u64 search_last_bytes(const struct search_ring *ring, const u64 *counts, u32 bins)
{
	u32 back = bins < ring->slots - 1 ? bins : ring->slots - 1;

	return search_count(ring, counts, 0) - search_count(ring, counts, back);
}

/*
 * Bytes of the window that ended @back bins and @rest_us before the newest bin's
 * end, taking what happened within a bin as even.  Touches bins + 1 bins (bins, if
 * @rest_us is 0), of which back + bins is the oldest.
 */
static inline u64 search_window_bytes(const struct search_ring *ring, const u64 *counts, u32 bins,
				      u32 bin_us, u32 back, u32 rest_us)
{
	u64 start = search_count(ring, counts, back + bins);
	u64 end = search_count(ring, counts, back);
	u64 before_end, first, last;

	if (!rest_us)
		return end - start;

	before_end = search_count(ring, counts, back + 1);
	first = start - search_count(ring, counts, back + bins + 1);
	last = end - before_end;
	return before_end - start +
	       div_u64(first * rest_us + last * (bin_us - rest_us), bin_us);
}

/* The same in whole percents of a bin, of which each part is rounded down by itself. */
static inline u64 search_window_bytes_pct(const struct search_ring *ring, const u64 *counts,
					  u32 bins, u32 back, u32 rest_pct)
{
	u64 start = search_count(ring, counts, back + bins);
	u64 before_end = search_count(ring, counts, back + 1);
	u64 first = start - search_count(ring, counts, back + bins + 1);
	u64 last = search_count(ring, counts, back) - before_end;

	return before_end - start + div_u64(first * rest_pct, 100) +
	       div_u64(last * (100 - rest_pct), 100);
}

/* Two windows of @bins whole bins, the second with a weight of @second_pct percent. */
static inline u64 search_mixed_bytes(const struct search_ring *ring, const u64 *counts, u32 bins,
				     u32 back, u32 second_back, u32 second_pct)
{
	u64 first = search_count(ring, counts, back) - search_count(ring, counts, back + bins);
	u64 second = search_count(ring, counts, second_back) -
		     search_count(ring, counts, second_back + bins);

	return div_u64(first * (100 - second_pct) + second * second_pct, 100);
}

/* Bytes of @bins whole bins; a bin that has left the ring is the one in its place. */
static inline u64 search_wrapped_window_bytes(const struct search_ring *ring, const u64 *counts,
					      u32 bins, u32 back)
{
	u32 kept = ring->slots - 1;
	u32 end = back % kept;
	u32 start = end + bins;

	if (start <= kept)
		return search_count(ring, counts, end) - search_count(ring, counts, start);

	return search_count(ring, counts, end) - search_count(ring, counts, kept) +
	       search_count(ring, counts, 0) - search_count(ring, counts, start - kept);
}

#endif /* SEARCH_RING_H */
