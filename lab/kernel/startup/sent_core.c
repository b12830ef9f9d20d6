// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring of what a flow was like as its packets were sent; see sent_core.h. */
#include "sent_core.h"

static struct sent_entry *sent_newest(struct sent_state *state)
{
	return &state->entries[(state->count - 1) % SENT_ENTRIES];
}

void sent_note(struct sent_state *state, u32 delivered, u32 lost, u32 inflight, u32 step)
{
	u32 since = state->count ? delivered - sent_newest(state)->delivered : 0;

	if (!state->count || (since && since >= step)) {
		state->count++;
		*sent_newest(state) = (struct sent_entry) { delivered, lost, inflight };
	}
}
search_export(sent_note);

void sent_settle(struct sent_state *state, u32 inflight)
{
	if (state->count && inflight > sent_newest(state)->inflight)
		sent_newest(state)->inflight = inflight;
}
search_export(sent_settle);

/* The last entry that is not after @delivered, by halving. */
struct sent_entry sent_find(const struct sent_state *state, u32 delivered)
{
	u32 known = state->count < SENT_ENTRIES ? state->count : SENT_ENTRIES;
	u32 low = state->count - known;
	u32 high = state->count;
	u32 middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if ((s32)(delivered - state->entries[middle % SENT_ENTRIES].delivered) >= 0)
			low = middle;
		else
			high = middle;
	}
	return state->entries[low % SENT_ENTRIES];
}
search_export(sent_find);
