/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BEST by hand: four rounds of eight ACKs, for user space and for KUnit. */
#ifndef BEST_VECTORS_H
#define BEST_VECTORS_H

#include "best_core.h"

#define BEST_VECTOR_ACKS	8
#define BEST_VECTOR_MSS_BYTES	1000

static const struct best_params best_defaults = { .skip_rounds = 3 };

struct best_vector {
	const char *name;
	u32 rounds;		/* that end */
	u32 gap_us[BEST_VECTOR_ACKS - 1];	/* between the ACKs of each round: a packet of 1000 bytes each */
	u32 target_pkts;	/* with a least round trip of 100 ms */
};

/* 1000 bytes by 1 ms are 1 MB/s, by 100 ms 100 packets. */
static const struct best_vector best_vectors[] = {
	{ "three rounds: not known yet", 3, { 1000, 1000, 1000, 1000, 1000, 1000, 1000 }, 0 },
	{ "the fourth round tells", 4, { 1000, 1000, 1000, 1000, 1000, 1000, 1000 }, 100 },
	{ "a burst and a pause move no median", 4, { 1, 1, 1000, 1000, 1000, 90000, 90000 }, 100 },
	{ "the median is that of the rates", 4, { 250, 250, 250, 500, 1000, 1000, 1000 }, 200 },
	{ "ACKs of one microsecond are no pairs", 4, { 0, 0, 0, 0, 0, 0, 2000 }, 50 },
	{ "at least two packets", 4, { 90000, 90000, 90000, 90000, 90000, 90000, 90000 }, 2 },
};

static inline bool best_vector_holds(const struct best_vector *vector)
{
	struct best_ack ack = {
		.now_us = 1000000, .acked_bytes = BEST_VECTOR_MSS_BYTES, .rtt_us = 100000,
		.mss_bytes = BEST_VECTOR_MSS_BYTES,
	};
	static struct best_state state;	/* for the stack of a kernel it is large */
	u32 round, i;

	best_begin(&state, 0);
	for (round = 0; round <= vector->rounds; round++) {
		ack.snd_nxt = ack.snd_una + BEST_VECTOR_ACKS * BEST_VECTOR_MSS_BYTES;
		for (i = 0; i < BEST_VECTOR_ACKS; i++) {
			ack.now_us += i ? vector->gap_us[i - 1] : 100000;
			ack.snd_una += BEST_VECTOR_MSS_BYTES;
			best_on_ack(&state, &best_defaults, &ack);
		}
	}
	return state.target_pkts == vector->target_pkts;
}

#endif /* BEST_VECTORS_H */
