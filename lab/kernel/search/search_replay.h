/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SEARCH over a recorded ACK stream.  packages/papers/lab_papers/search_replay.py mirrors these structures. */
#ifndef SEARCH_REPLAY_H
#define SEARCH_REPLAY_H

#include "search_core.h"

/* The arrays of @acks elements each that make a stream. */
struct search_stream {
	u64 acks;
	u64 next;			/* in: where to go on; out: the ACK after the last one */
	const u64 *t_us;
	const s32 *rtt_us;		/* 0 or negative: this ACK has no RTT sample */
	const u64 *delivered_bytes;	/* cumulative */
	const u64 *sent_bytes;		/* cumulative; NULL: not known */
	const u8 *limited;		/* nonzero: not limited by cwnd; NULL: never */
	const u8 *reset;		/* nonzero: reset between the ACK before and this one; NULL: never */
};

struct search_replayed_bin {
	u64 ack;			/* index of the ACK that closed the bin */
	struct search_decision decision;
};

/* The parameters of a version, by its name; false: no such version. */
bool search_version_named(const char *name, struct search_params *params, bool *compact);

/* The name of version @i, from 0 on; NULL: there are no more. */
const char *search_version_name(u64 i);

/* The first of search_vectors.h that the core does not decide as it should; NULL: none. */
const char *search_vector_that_fails(void);

/* Memory of a flow's state, in bytes; 0: @params are not for it. */
size_t search_replay_bytes(const struct search_params *params, bool compact);

/*
 * @memory: search_replay_bytes() of it, aligned for u64; must not change between calls
 * @stop_at_exit: end with the first exit: then all ACKs are done
 * @bins: room for @room elements; the replay pauses when they are full
 *
 * Returns the number of elements written to @bins.
 */
u64 search_replay(const struct search_params *params, bool compact, void *memory,
		  struct search_stream *stream, bool stop_at_exit,
		  struct search_replayed_bin *bins, u64 room);

#endif /* SEARCH_REPLAY_H */
