/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SEARCH 2.0 as a pure function of what it is told: time, round-trip times and
 * delivered bytes go in, a verdict comes out.  No clock, no socket, no memory
 * allocation, integers only.  The story is in search_core.c.
 *
 *	state = <search_state_bytes(&params) bytes of memory>;
 *	search_setup(state, &params);
 *	on each ACK of a slow start that carries an RTT sample:
 *		if (search_on_ack(state, now, rtt, delivered, &decision) == SEARCH_EXIT)
 *			ssthresh = cwnd;
 *	when that slow start is over or interrupted:
 *		search_reset(state);
 */
#ifndef SEARCH_CORE_H
#define SEARCH_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe: a bin's length, at most
 * 100 / (10 * 5) = 2 initial RTTs, fits a u32 for every RTT below 2^31 us.
 */
#define SEARCH_WINDOW_FACTOR_TENTHS_MIN	5
#define SEARCH_WINDOW_FACTOR_TENTHS_MAX	100
#define SEARCH_BINS_MIN			5
#define SEARCH_BINS_MAX			100
#define SEARCH_EXTRA_BINS_MIN		1
#define SEARCH_EXTRA_BINS_MAX		200
#define SEARCH_THRESHOLD_PCT_MIN	1
#define SEARCH_THRESHOLD_PCT_MAX	100

struct search_params {
	u32 window_factor_tenths; /* window, in tenths of the initial RTT; thesis: 35 */
	u32 bins;		/* bins in a window (W); thesis: 10 */
	u32 extra_bins;		/* bins kept for looking one RTT back; thesis: 15 */
	u32 threshold_pct;	/* normalized difference at which to exit; thesis: 35 */
};

/* The ring holds delivered bytes per bin as u64: no rate, RTT or gap can make
 * one wrap, so no bin needs a saturation rule or a shared scale.  The price is
 * 100 bytes a flow against u32, in memory that is not part of the socket.
 */
struct search_state {
	struct search_params params;
	u64 bin_end_us;		/* when the open bin ends */
	u64 delivered_bytes;	/* cumulative count when the newest bin closed */
	u64 closed_bins;	/* since the start; the newest has index closed_bins - 1 */
	u32 bin_us;		/* length of a bin; 0: not started */
	u32 newest;		/* the newest closed bin's slot in bin_bytes[] */
	u64 bin_bytes[];	/* ring of params.bins + params.extra_bins slots */
};

enum search_verdict {
	SEARCH_BIN_OPEN,	/* no bin ended: nothing was decided */
	SEARCH_TOO_FEW_BINS,	/* the window one RTT ago began before the first bin */
	SEARCH_RTT_TOO_LONG,	/* the window one RTT ago has left the ring */
	SEARCH_NO_PREVIOUS,	/* nothing was delivered in the window one RTT ago */
	SEARCH_STAY,		/* compared: delivery still grows */
	SEARCH_EXIT,		/* compared: delivery no longer doubles */
};

/* One bin decision.  The byte counts and norm are 0 unless windows were compared. */
struct search_decision {
	s64 bin;		/* index of the bin that closed, from 0 */
	u64 curr_delv_bytes;	/* delivered in the window that ends now */
	u64 prev_delv_bytes;	/* delivered in the window that ended one RTT ago */
	s64 norm_permille;	/* 1 - curr / (2 prev), rounded down; may be negative */
	u32 rtt_us;
	u32 bin_us;
	u32 verdict;		/* enum search_verdict */
	u32 reserved;		/* always 0: keeps the size a multiple of 8 everywhere */
};

static inline bool search_compared(u32 verdict)
{
	return verdict >= SEARCH_STAY;
}

bool search_params_valid(const struct search_params *params);

/* Memory that a flow's state takes, in bytes. */
size_t search_state_bytes(const struct search_params *params);

/* Make @state fit for use.  @params must be valid; they hold until the next setup. */
void search_setup(struct search_state *state, const struct search_params *params);

/* Forget all history: the next ACK gives the initial RTT of a new start. */
void search_reset(struct search_state *state);

/*
 * Account one ACK.
 * @now_us: any clock that runs steadily; only differences count
 * @rtt_us: this ACK's RTT sample, below 2^31
 * @delivered_bytes: cumulative, this ACK included; only differences count
 * @decision: filled in unless the verdict is SEARCH_BIN_OPEN
 *
 * Does not latch: called on after an exit, it goes on comparing.
 */
enum search_verdict search_on_ack(struct search_state *state, u64 now_us, u32 rtt_us,
				  u64 delivered_bytes, struct search_decision *decision);

#endif /* SEARCH_CORE_H */
