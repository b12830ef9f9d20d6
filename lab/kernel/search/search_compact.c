// SPDX-License-Identifier: GPL-2.0-or-later
/* SEARCH's state, packed into 64 bytes and unpacked: see search_compact.h. */
#include "search_compact.h"

#define SEARCH_COMPACT_SCALE_MAX	31

/* A state as the core knows it, with its ring of SEARCH_COMPACT_COUNTS counts. */
struct search_unpacked {
	u64 memory[sizeof(struct search_state) / sizeof(u64) + SEARCH_COMPACT_COUNTS];
};

bool search_compact_fits(const struct search_params *params)
{
	return params->expected == SEARCH_TWICE_DELIVERED &&
	       search_delivered_slots(params) <= SEARCH_COMPACT_COUNTS &&
	       params->on_exit != SEARCH_DRAIN;
}
search_export(search_compact_fits);

void search_compact_reset(struct search_compact *compact)
{
	compact->bin_us = 0;
}
search_export(search_compact_reset);

static void search_unpack(const struct search_compact *compact, const struct search_ack *ack,
			  struct search_state *state)
{
	u64 units = ack->delivered_bytes >> compact->scale;
	u64 newest = units - (u32)((u32)units - compact->newest_units);
	u32 open_us = (u32)ack->now_us - (compact->bin_end_us - compact->bin_us);
	u32 slots = state->delivered.slots;
	u32 back;

	state->bin_us = compact->bin_us;
	state->bin_end_us = ack->now_us - open_us + compact->bin_us;
	state->closed_bins = compact->closed_bins;
	state->long_rtts = compact->long_rtts;
	state->delivered.newest = slots - 1;
	for (back = 0; back < slots; back++)
		state->counts[slots - 1 - back] =
			(newest - (u16)(newest - compact->counts[back])) << compact->scale;
}

/* The least scale with which the counts that are in use span less than 2^16 units. */
static u32 search_scale(const struct search_state *state, u32 used)
{
	u32 slots = state->delivered.slots;
	u64 newest = state->counts[state->delivered.newest];
	u64 oldest = state->counts[(state->delivered.newest + slots - used + 1) % slots];
	u32 scale = 0;

	while (scale < SEARCH_COMPACT_SCALE_MAX && (newest >> scale) - (oldest >> scale) > 0xffff)
		scale++;

	return scale;
}

static void search_pack(const struct search_state *state, struct search_compact *compact)
{
	u32 slots = state->delivered.slots;
	u32 newest = state->delivered.newest;
	u32 used = state->closed_bins < slots ? state->closed_bins + 1 : slots;
	u32 scale = search_scale(state, used);
	u32 back;

	for (back = 0; back < used; back++)
		compact->counts[back] = state->counts[(newest + slots - back) % slots] >> scale;
	compact->scale = scale;
	compact->long_rtts = state->long_rtts;
	compact->newest_units = state->counts[newest] >> scale;
	compact->bin_us = state->bin_us;
	compact->bin_end_us = state->bin_end_us;
	compact->closed_bins = state->closed_bins < SEARCH_COMPACT_CLOSED ? state->closed_bins :
									    SEARCH_COMPACT_CLOSED;
}

enum search_verdict search_compact_on_ack(struct search_compact *compact,
					  const struct search_params *params,
					  const struct search_ack *ack,
					  struct search_decision *decision)
{
	struct search_unpacked unpacked;
	struct search_state *state = (struct search_state *)unpacked.memory;
	enum search_verdict verdict;

	if (!search_compact_due(compact, ack->now_us))
		return SEARCH_BIN_OPEN;

	search_setup(state, params);
	if (compact->bin_us)
		search_unpack(compact, ack, state);
	verdict = search_on_ack(state, ack, decision);
	search_pack(state, compact);
	return verdict;
}
search_export(search_compact_on_ack);
