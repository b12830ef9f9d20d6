/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copa (NSDI 2018) as a pure function: times, sequence numbers and round-trip times go in, the
 * window comes out.  No clock, no socket, no memory allocation, integers only.  The story is in
 * copa_core.c.
 *
 *	copa_begin(state, &params, cwnd, snd_nxt);
 *	on each ACK:
 *		left = copa_on_ack(state, &params, &ack);	(true: this ACK ended slow start)
 *		cwnd = copa_cwnd_pkts(state);
 *	on the first loss of a recovery:
 *		copa_lost(state);
 */
#ifndef COPA_CORE_H
#define COPA_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define COPA_INVERSE_DELTA_MIN		1
#define COPA_INVERSE_DELTA_MAX		64
#define COPA_COMPETES_MIN		0
#define COPA_COMPETES_MAX		1

#define COPA_LEAST_PKTS			2
#define COPA_MOST_PKTS			(1U << 24)
#define COPA_VELOCITY_MAX		(1U << 10)
#define COPA_INVERSE_DELTA_MOST		(1U << 12)	/* in competitive mode */
#define COPA_LONG_US			10000000U	/* RTTmin is of so long */
#define COPA_SAME_WINDOWS		3	/* of one direction, before the velocity doubles */
#define COPA_EMPTY_RTTS			5	/* the queue must be nearly empty once in so many */

struct copa_params {
	u32 inverse_delta;	/* 1 / delta in default mode: packets that the flow keeps in the queue */
	u32 competes;		/* nonzero: with the mode for buffer-filling competitors */
};

/* The least (or largest) sample of the last one to two parts of a window. */
struct copa_extreme {
	u32 begin_us;	/* of the present part */
	u32 now;
	u32 before;	/* of the part before */
};

struct copa_state {
	u64 cwnd_fp;		/* in 1 / 65536 packets */
	struct copa_extreme standing;	/* RTTstanding */
	struct copa_extreme least;	/* RTTmin */
	struct copa_extreme most;	/* RTTmax */
	u32 window_end;		/* the window ends when this is acknowledged */
	u32 window_pkts;	/* cwnd as it began */
	u32 empty_us;		/* when the queue was nearly empty last */
	u32 inverse_delta;	/* of the present mode */
	u16 velocity;
	u8 same_windows;	/* in a row, of the same direction */
	u8 up;			/* nonzero: the last one's direction */
	u8 slow_start;
	u8 started;		/* nonzero: there was an RTT sample */
	u8 competing;
	u8 lost;		/* nonzero: in this window */
};

struct copa_ack {
	u32 now_us;
	u32 snd_una;
	u32 snd_nxt;
	u32 rtt_us;		/* this ACK's RTT sample, below 2^31; 0: it has none */
	u32 srtt_us;
	u32 acked_pkts;
	u32 limited;		/* nonzero: the window is what limits the sender */
};

bool copa_params_valid(const struct copa_params *params);

void copa_begin(struct copa_state *state, const struct copa_params *params, u32 cwnd_pkts,
		u32 snd_nxt);

/* Account one ACK; true: it ended slow start. */
bool copa_on_ack(struct copa_state *state, const struct copa_params *params,
		 const struct copa_ack *ack);

/* A loss: it ends slow start, and matters in competitive mode. */
void copa_lost(struct copa_state *state);

u32 copa_cwnd_pkts(const struct copa_state *state);

u32 copa_standing_rtt_us(const struct copa_state *state);

#endif /* COPA_CORE_H */
