// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SEARCH over a recorded ACK stream: the same core as the kernel module's, as a
 * shared library.  Needs no C library and allocates nothing; the caller brings
 * arrays for what goes in and what comes out.
 */
#include "search_replay.h"

u64 search_replay(const struct search_params *params, void *memory,
		  const struct search_stream *stream, bool stop_at_exit,
		  struct search_replayed_bin *bins)
{
	struct search_state *state = memory;
	u64 count = 0;
	u64 i;

	search_setup(state, params);
	for (i = 0; i < stream->acks; i++) {
		struct search_replayed_bin *bin = &bins[count];
		enum search_verdict verdict;

		if (stream->reset && stream->reset[i])
			search_reset(state);
		if (stream->rtt_us[i] <= 0)
			continue;
		verdict = search_on_ack(state, stream->t_us[i], stream->rtt_us[i],
					stream->delivered_bytes[i], &bin->decision);
		if (verdict == SEARCH_BIN_OPEN)
			continue;
		bin->ack = i;
		count++;
		if (verdict == SEARCH_EXIT && stop_at_exit)
			break;
	}
	return count;
}
