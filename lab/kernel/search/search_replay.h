/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SEARCH over a recorded ACK stream.  lab/search_replay.py mirrors these structures. */
#ifndef SEARCH_REPLAY_H
#define SEARCH_REPLAY_H

#include "search_core.h"

/* The arrays of @acks elements each that make a stream. */
struct search_stream {
	u64 acks;
	const u64 *t_us;
	const s32 *rtt_us;		/* 0 or negative: this ACK has no RTT sample */
	const u64 *delivered_bytes;	/* cumulative */
	const u8 *reset;		/* nonzero: reset before this ACK; NULL: never */
};

struct search_replayed_bin {
	u64 ack;			/* index of the ACK that closed the bin */
	struct search_decision decision;
};

/*
 * @memory: search_state_bytes(@params) bytes, aligned for u64
 * @bins: room for one element per ACK
 * @stop_at_exit: end with the first exit
 *
 * Returns the number of elements written to @bins.
 */
u64 search_replay(const struct search_params *params, void *memory,
		  const struct search_stream *stream, bool stop_at_exit,
		  struct search_replayed_bin *bins);

#endif /* SEARCH_REPLAY_H */
