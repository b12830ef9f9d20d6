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
	       params->history != SEARCH_HISTORY_RESET && params->again != SEARCH_AGAIN_NEVER &&
	       params->on_exit != SEARCH_DRAIN;
}
search_export(search_compact_fits);

void search_compact_reset(struct search_compact *compact)
{
	compact->bin_us = 0;
}
search_export(search_compact_reset);

/* The least scale with which @newest and @oldest differ by less than 2^16 units. */
static u32 search_scale(u64 newest, u64 oldest)
{
	u32 scale = 0;

	while (scale < SEARCH_COMPACT_SCALE_MAX && (newest >> scale) - (oldest >> scale) > 0xffff)
		scale++;

	return scale;
}

/* Counts become units of 2^@shift bytes. */
static void search_unpack(const struct search_compact *compact, const struct search_ack *ack,
			  u32 shift, struct search_state *state)
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
			(newest - (u16)(newest - compact->counts[back])) << compact->scale >> shift;
}

/* Counts are units of 2^@shift bytes; where that is not 0, it stays the scale. */
static void search_pack(const struct search_state *state, u32 shift, struct search_compact *compact)
{
	u32 slots = state->delivered.slots;
	u32 newest = state->delivered.newest;
	u32 used = state->closed_bins < slots ? state->closed_bins + 1 : slots;
	u64 oldest = state->counts[(newest + slots - used + 1) % slots];
	u32 scale = shift ? 0 : search_scale(state->counts[newest], oldest);
	u32 back;

	for (back = 0; back < used; back++)
		compact->counts[back] = state->counts[(newest + slots - back) % slots] >> scale;
	compact->scale = shift + scale;
	compact->long_rtts = state->long_rtts;
	compact->newest_units = state->counts[newest] >> scale;
	compact->bin_us = state->bin_us;
	compact->bin_end_us = state->bin_end_us;
	compact->closed_bins = state->closed_bins < SEARCH_COMPACT_CLOSED ? state->closed_bins :
									    SEARCH_COMPACT_CLOSED;
}

/* With SEARCH_HISTORY_WHOLE all is decided in units, as 3.1 does: its scale is the flow's
 * whole count's, and only grows.
 */
static u32 search_whole_count_scale(const struct search_compact *compact,
				    const struct search_params *params, u64 delivered_bytes)
{
	u32 scale = search_scale(delivered_bytes, 0);

	if (params->history != SEARCH_HISTORY_WHOLE)
		return 0;

	return compact->bin_us && compact->scale > scale ? compact->scale : scale;
}

static void search_units_to_bytes(struct search_decision *decision, u32 shift)
{
	decision->curr_delv_bytes <<= shift;
	decision->prev_delv_bytes <<= shift;
	decision->expected_bytes <<= shift;
	decision->last_rtt_bytes <<= shift;
	decision->last_two_rtt_bytes <<= shift;
}

enum search_verdict search_compact_on_ack(struct search_compact *compact,
					  const struct search_params *params,
					  const struct search_ack *ack,
					  struct search_decision *decision)
{
	struct search_unpacked unpacked;
	struct search_state *state = (struct search_state *)unpacked.memory;
	struct search_ack in_units = *ack;
	enum search_verdict verdict;
	u32 shift;

	if (!search_compact_due(compact, params, ack->now_us))
		return SEARCH_BIN_OPEN;

	shift = search_whole_count_scale(compact, params, ack->delivered_bytes);
	in_units.delivered_bytes >>= shift;
	search_setup(state, params);
	if (compact->bin_us)
		search_unpack(compact, ack, shift, state);
	verdict = search_on_ack(state, &in_units, decision);
	search_pack(state, shift, compact);
	if (verdict != SEARCH_BIN_OPEN)
		search_units_to_bytes(decision, shift);
	return verdict;
}
search_export(search_compact_on_ack);
