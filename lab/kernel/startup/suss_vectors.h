/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SUSS by hand: what a second round of ten packets grows by in addition, for user space and for KUnit. */
#ifndef SUSS_VECTORS_H
#define SUSS_VECTORS_H

#include "suss_core.h"

#define SUSS_VECTOR_PKTS	10
#define SUSS_VECTOR_MSS_BYTES	1000

struct suss_vector {
	const char *name;
	u32 k_max;
	u32 min_rtt_us;		/* of the first round */
	u32 train_us;		/* from the second round's first ACK to its last */
	u32 queue_us;		/* of the second round's round trips */
	u32 more_pkts;
};

/* Of 100 ms, with k = 1: a train of 25 ms at most, and 100 / 8 / 2 = 6.25 ms above it. */
static const struct suss_vector suss_vectors[] = {
	{ "a short train: four times", 1, 100000, 20000, 0, 20 },
	{ "a quarter of the least round trip still is", 1, 100000, 25000, 0, 20 },
	{ "a longer train: slow start", 1, 100000, 25020, 0, 0 },
	{ "half of an eighth above the least round trip", 1, 100000, 20000, 6250, 20 },
	{ "more than that: slow start", 1, 100000, 20000, 6251, 0 },
	{ "10 ms are too short", 1, 10000, 1000, 0, 0 },
	{ "two rounds ahead: eight times", 2, 100000, 12500, 0, 60 },
	{ "two rounds ahead no more, but one", 2, 100000, 20000, 0, 20 },
	{ "never: slow start", 0, 100000, 1000, 0, 0 },
};

static inline u32 suss_vector_round(struct suss_state *state, const struct suss_params *params, struct suss_ack *ack,
				    u32 train_us)
{
	u32 sent = ack->snd_una + SUSS_VECTOR_PKTS * SUSS_VECTOR_MSS_BYTES;
	u32 first_us = ack->now_us, more_pkts = 0;
	u32 i;

	for (i = 0; i < SUSS_VECTOR_PKTS; i++) {
		ack->snd_nxt = sent + (i + (i == SUSS_VECTOR_PKTS - 1)) * SUSS_VECTOR_MSS_BYTES;
		ack->now_us = first_us + train_us / (SUSS_VECTOR_PKTS - 1) * i;
		ack->snd_una += SUSS_VECTOR_MSS_BYTES;
		more_pkts += suss_on_ack(state, params, ack);
	}
	ack->now_us = first_us + 100000;
	return more_pkts;
}

static inline bool suss_vector_holds(const struct suss_vector *vector)
{
	struct suss_params params = { .k_max = vector->k_max, .least_rtt_us = 10000 };
	struct suss_ack ack = {
		.now_us = 1000000, .rtt_us = vector->min_rtt_us, .mss_bytes = SUSS_VECTOR_MSS_BYTES, .limited = 1,
	};
	struct suss_state state;

	suss_begin(&state, 0);
	suss_vector_round(&state, &params, &ack, vector->min_rtt_us);	/* as long as can be: grants nothing */
	ack.rtt_us += vector->queue_us;
	return suss_vector_round(&state, &params, &ack, vector->train_us) == vector->more_pkts;
}

#endif /* SUSS_VECTORS_H */
