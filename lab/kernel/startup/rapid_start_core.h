/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rapid Start (draft-kazuho-ccwg-rapid-start) as a pure function: sequence numbers, round-trip
 * times, delivered and lost packets go in, the window comes out.  No clock, no socket, no memory
 * allocation, integers only.  The story is in rapid_start_core.c.
 *
 *	rapid_start_begin(state, snd_nxt);
 *	on each ACK before the first congestion signal:
 *		rapid_start_sample(state, snd_una, snd_nxt, rtt);
 *		cwnd += rapid_start_growth_pkts(state, &params, acked);
 *	on each ACK of the first recovery period:
 *		cwnd = rapid_start_recovering_pkts(&params, cwnd before it, acked in it, lost in it);
 */
#ifndef RAPID_START_CORE_H
#define RAPID_START_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define RAPID_START_IW_PKTS_MIN		2
#define RAPID_START_IW_PKTS_MAX		1000
#define RAPID_START_QUEUE_US_MIN	0
#define RAPID_START_QUEUE_US_MAX	1000000
#define RAPID_START_QUEUE_PCT_MIN	0
#define RAPID_START_QUEUE_PCT_MAX	100

/* In tenths, for CUBIC's beta of 0.7 (section "Reduction Factors", K = 2/3). */
#define RAPID_START_BETA_TENTHS		7
#define RAPID_START_SILENCE_TENTHS	9
#define RAPID_START_ACK_TENTHS		2
#define RAPID_START_LOSS_TENTHS		9
#define RAPID_START_GROWTH_MAX		3	/* the largest growth of a round */
#define RAPID_START_LEAST_PKTS		2	/* RFC 5681, section 3.1 */

struct rapid_start_params {
	u32 iw_pkts;	/* initial window: 20, twice that of RFC 6928 */
	u32 queue_us;	/* growth of the RTT that is a queue: 4 ms, ... */
	u32 queue_pct;	/* ... or 10 %, if that is less */
};

struct rapid_start_state {
	u32 round_end;		/* the round ends when this is acknowledged */
	u32 min_rtt_us;		/* of the flow; RAPID_START_INFINITY_US: no sample */
	u32 round_min_us;	/* of this round, as above */
	u32 last_min_us;	/* of the round before, as above */
	u32 rounds;		/* begun; 0: the first flight */
};

#define RAPID_START_INFINITY_US	((u32)~0)

bool rapid_start_params_valid(const struct rapid_start_params *params);

/* A start begins, with @snd_nxt the next sequence number to be sent. */
void rapid_start_begin(struct rapid_start_state *state, u32 snd_nxt);

/*
 * Account the round-trip time of one ACK.
 * @snd_una, @snd_nxt: of the socket, this ACK included, before anything is sent upon it
 * @rtt_us: this ACK's RTT sample, below 2^31; 0: it has none
 */
void rapid_start_sample(struct rapid_start_state *state, u32 snd_una, u32 snd_nxt, u32 rtt_us);

/* Whether the path appears to be building a queue. */
bool rapid_start_queue_builds(const struct rapid_start_state *state,
			      const struct rapid_start_params *params);

/* What the window grows by for @acked_pkts newly acknowledged. */
u32 rapid_start_growth_pkts(const struct rapid_start_state *state,
			    const struct rapid_start_params *params, u32 acked_pkts);

/*
 * The window within the first recovery period.
 * @before_pkts: the window just before it
 * @acked_pkts, @lost_pkts: newly acknowledged and newly declared lost since it began
 */
u32 rapid_start_recovering_pkts(const struct rapid_start_params *params, u32 before_pkts,
				u32 acked_pkts, u32 lost_pkts);

/* CUBIC's W_max after a recovery period that ended with @cwnd_pkts. */
u32 rapid_start_w_max_pkts(u32 cwnd_pkts);

#endif /* RAPID_START_CORE_H */
