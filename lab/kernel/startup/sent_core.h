/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flow was like as its packets were sent, for stacks that keep no such thing with a packet:
 * Linux keeps the count of delivered packets with each, and nothing on what was in flight or lost.
 *
 * Packets follow an ACK, so all that were sent after the same ACK share an entry, and the count of
 * delivered packets finds it.  A large window has fewer entries than ACKs: each is for @step
 * delivered packets or more.
 */
#ifndef SENT_CORE_H
#define SENT_CORE_H

#include "search_shim.h"

#define SENT_ENTRIES	1024	/* a power of two */
#define SENT_PER_WINDOW	256	/* so many for each window: four windows are known */

struct sent_entry {
	u32 delivered;	/* as the first packet of the entry was sent */
	u32 lost;	/* the same */
	u32 inflight;	/* the most, with the packets of the entry */
};

struct sent_state {
	u32 count;	/* entries made so far */
	struct sent_entry entries[SENT_ENTRIES];
};

/* From now on packets are sent in this state.  Counts may wrap. */
void sent_note(struct sent_state *state, u32 delivered, u32 lost, u32 inflight, u32 step);

/* Those that were sent since sent_note() have raised what is in flight to this. */
void sent_settle(struct sent_state *state, u32 inflight);

/* For a packet sent when @delivered were; the oldest entry where that was forgotten. */
struct sent_entry sent_find(const struct sent_state *state, u32 delivered);

#endif /* SENT_CORE_H */
