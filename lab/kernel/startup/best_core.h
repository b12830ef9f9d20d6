/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BEST (NetDev 0x16, 2022) as a pure function: times, sequence numbers and acknowledged bytes go in,
 * the window at which slow start ends comes out.  No clock, no socket, no memory allocation, integers
 * only.  The story is in best_core.c.
 *
 *	best_begin(state, snd_nxt);
 *	on each ACK of slow start:
 *		target = best_on_ack(state, &params, &ack);	(0: not known yet)
 *		if (target && cwnd >= target)
 *			slow start is over, ssthresh = target
 */
#ifndef BEST_CORE_H
#define BEST_CORE_H

#include "search_shim.h"

/* Any value within this range is safe. */
#define BEST_SKIP_ROUNDS_MIN	0
#define BEST_SKIP_ROUNDS_MAX	100

#define BEST_SAMPLES		300	/* of a round; later ones are left out */
#define BEST_LEAST_PKTS		2	/* RFC 5681, section 3.1 */
#define BEST_MOST_PKTS		(1U << 24)

struct best_params {
	u32 skip_rounds;	/* so many rounds come before the first that is measured: 3 */
};

struct best_state {
	u64 last_us;		/* of the last ACK of this round; 0: none */
	u32 round_end;		/* the round ends when this is acknowledged */
	u32 rounds;		/* that have ended */
	u32 min_rtt_us;		/* 0: no sample */
	u32 target_pkts;	/* rate x least RTT, of the last round measured; 0: none */
	u32 samples;		/* in rate_Bps */
	u32 rate_Bps[BEST_SAMPLES];	/* of each pair of ACKs of this round */
};

struct best_ack {
	u64 now_us;
	u32 snd_una;
	u32 snd_nxt;
	u32 acked_bytes;	/* newly acknowledged by it */
	u32 rtt_us;		/* its RTT sample; 0: it has none */
	u32 mss_bytes;
};

bool best_params_valid(const struct best_params *params);

void best_begin(struct best_state *state, u32 snd_nxt);

/* Account one ACK; return the window at which slow start ends, 0: not known yet. */
u32 best_on_ack(struct best_state *state, const struct best_params *params, const struct best_ack *ack);

/* The median, the larger of the two in the middle; reorders the samples. */
u32 best_median(u32 *samples, u32 count);

#endif /* BEST_CORE_H */
