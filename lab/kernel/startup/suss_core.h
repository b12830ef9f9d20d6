/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SUSS (SIGCOMM 2024) as a pure function: times, sequence numbers and round-trip times go in, what slow
 * start grows by in addition comes out.  No clock, no socket, no memory allocation, integers only.  The
 * story is in suss_core.c.
 *
 *	suss_begin(state, snd_nxt);
 *	on each ACK of slow start, after its own growth:
 *		more = suss_on_ack(state, &params, &ack);	(in packets)
 *		cwnd += more, paced over the rest of the round
 *		if (state->full)
 *			slow start is over
 */
#ifndef SUSS_CORE_H
#define SUSS_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define SUSS_K_MAX_MIN		0
#define SUSS_K_MAX_MAX		3
#define SUSS_LEAST_RTT_US_MIN	0
#define SUSS_LEAST_RTT_US_MAX	1000000

#define SUSS_INFINITY_US	((u32)~0)
#define SUSS_MOST_PKTS		(1U << 24)

struct suss_params {
	u32 k_max;		/* a round grows by 2^(k + 1), k at most this: 1; 0: slow start */
	u32 least_rtt_us;	/* no more where the least round trip is below this: 10000 */
};

struct suss_state {
	u32 round_begin;	/* the first sequence number of the round */
	u32 round_end;		/* the round ends when more than this is acknowledged */
	u32 clocked_end;	/* what ACKs clocked out ends here; paced packets follow */
	u32 next_clocked_end;	/* the same of the next round */
	u32 first_us;		/* of the round's first ACK */
	u32 last_us;		/* of the last ACK of its train */
	u32 min_rtt_us;		/* of the flow; SUSS_INFINITY_US: no sample */
	u32 round_min_us;	/* of this round, as above */
	u8 decided;		/* nonzero: on this round */
	u8 k;			/* of this round, once decided */
	u8 full;		/* nonzero: the train of a round is longer than HyStart's */
};

struct suss_ack {
	u32 now_us;
	u32 snd_una;
	u32 snd_nxt;
	u32 rtt_us;		/* its RTT sample, below 2^31; 0: it has none */
	u32 mss_bytes;
	u32 limited;		/* nonzero: the window is what limits the sender */
};

bool suss_params_valid(const struct suss_params *params);

void suss_begin(struct suss_state *state, u32 snd_nxt);

/* Account one ACK; return what the window grows by, in packets, in addition to slow start's growth. */
u32 suss_on_ack(struct suss_state *state, const struct suss_params *params, const struct suss_ack *ack);

/* Whether what is sent now is paced: more was granted in this round. */
static inline bool suss_paces(const struct suss_state *state)
{
	return state->decided && state->k;
}

#endif /* SUSS_CORE_H */
