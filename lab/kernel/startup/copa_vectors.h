/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copa by hand: one ACK's move, for user space and for KUnit. */
#ifndef COPA_VECTORS_H
#define COPA_VECTORS_H

#include "copa_core.h"

static const struct copa_params copa_defaults = { .inverse_delta = 2, .competes = 1 };

struct copa_vector {
	const char *name;
	u32 cwnd_pkts;
	u32 queueing_us;	/* above an RTTmin of 100 ms */
	bool left;		/* whether the second ACK ends slow start ... */
	u64 cwnd_fp;		/* ... and the window after the third */
};

/* The target is 2 RTTstanding / dq packets: with dq = 25 ms, 2 * 125 / 25 = 10. */
static const struct copa_vector copa_vectors[] = {
	{ "no queue: slow start goes on", 10, 0, false, 12 << 16 },
	{ "at the target: not above", 8, 25000, false, 10 << 16 },
	{ "above it: leaves, and takes 2 / 20", 20, 25000, true, (20 << 16) - 6553 },
	{ "a queue of 20 round trips: the target stays above two", 3, 2000000, true, (3 << 16) - 43690 },
};

static inline bool copa_vector_holds(const struct copa_vector *vector)
{
	struct copa_ack ack = {
		.now_us = 1000000, .snd_una = 1, .snd_nxt = 1000, .rtt_us = 100000,
		.srtt_us = 100000, .limited = 1,
	};
	struct copa_state state;
	bool left;

	copa_begin(&state, &copa_defaults, vector->cwnd_pkts, 0);
	copa_on_ack(&state, &copa_defaults, &ack);
	ack.now_us += 100000;
	ack.rtt_us += vector->queueing_us;
	ack.acked_pkts = 1;
	ack.snd_una = 2;
	left = copa_on_ack(&state, &copa_defaults, &ack);
	ack.now_us += 1;
	copa_on_ack(&state, &copa_defaults, &ack);
	return left == vector->left && state.cwnd_fp == vector->cwnd_fp;
}

#endif /* COPA_VECTORS_H */
