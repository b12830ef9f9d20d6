/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SEARCH, in every version, as a pure function: time, round-trip
 * times, delivered and sent bytes go in, a verdict comes out.  No clock, no socket,
 * no memory allocation, integers only.  The story is in search_core.c, the parameters
 * of a version are in its file, tcp_search*.c.
 *
 *	state = <search_state_bytes(&params) bytes of memory>;
 *	search_setup(state, &params);
 *	on each ACK of a slow start that carries an RTT sample:
 *		if (search_on_ack(state, &ack, &decision) == SEARCH_EXIT)
 *			ssthresh = search_exit_pkts(&params, &decision, cwnd, mss);
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
#define SEARCH_INTERPOLATION_MIN	0
#define SEARCH_INTERPOLATION_MAX	6
#define SEARCH_SKIP_EQUAL_MIN		0
#define SEARCH_SKIP_EQUAL_MAX		1
#define SEARCH_UNCHECKED_MIN		0
#define SEARCH_UNCHECKED_MAX		1
#define SEARCH_HISTORY_MIN		0
#define SEARCH_HISTORY_MAX		2
#define SEARCH_END_CLOSES_MIN		0
#define SEARCH_END_CLOSES_MAX		1
#define SEARCH_MISSED_BINS_MAX_MIN	0
#define SEARCH_MISSED_BINS_MAX_MAX	65535
#define SEARCH_LONG_RTT_MIN		0
#define SEARCH_LONG_RTT_MAX		15
#define SEARCH_RESTART_RTT_PCT_MIN	0
#define SEARCH_RESTART_RTT_PCT_MAX	99
#define SEARCH_RESTART_NEXT_MIN		0
#define SEARCH_RESTART_NEXT_MAX		1
#define SEARCH_APP_LIMITED_MIN		0
#define SEARCH_APP_LIMITED_MAX		3
#define SEARCH_IN_RECOVERY_MIN		0
#define SEARCH_IN_RECOVERY_MAX		1
#define SEARCH_AGAIN_MIN		0
#define SEARCH_AGAIN_MAX		2
#define SEARCH_EPOCH_BLIND_MS_MIN	0
#define SEARCH_EPOCH_BLIND_MS_MAX	60000
#define SEARCH_ON_EXIT_MIN		0
#define SEARCH_ON_EXIT_MAX		2

#define SEARCH_LEAST_CWND_PKTS		10	/* no exit takes cwnd below an initial window */

/* What the delivered bytes are held against. */
enum search_expected {
	SEARCH_TWICE_DELIVERED,	/* twice what was delivered one RTT ago */
	SEARCH_SENT,		/* what was sent one RTT ago */
	SEARCH_SENT_HELD,	/* the same, at most twice what a bin delivered: the rest is
				 * held back for the next bin
				 */
};

/* Where a window that ended one RTT ago lies among the bins. */
enum search_interpolation {
	SEARCH_WHOLE_BINS,	/* RTT in bins, rounded down */
	SEARCH_FRACTION,	/* between two bins, moved into the past */
	SEARCH_NEAREST_BIN,	/* RTT in bins, rounded, at least 1 */
	SEARCH_ENDED_BINS,	/* the newest whole bins that had ended one RTT before this ACK: the
				 * RTT, less the ACK's delay behind its bin's end, rounded up
				 */
	SEARCH_PERCENT,		/* as SEARCH_FRACTION, in whole percents of a bin, the part of each
				 * bin rounded down; always reads one bin more than the RTT's
				 */
	SEARCH_PERCENT_ONCE,	/* the same, rounded down once, after both windows are mixed */
	SEARCH_FORWARD,		/* as SEARCH_PERCENT_ONCE, but moved towards the present */
};

/* What lies before the first bin. */
enum search_history {
	SEARCH_HISTORY_NONE,	/* nothing: bins begin with the first ACK */
	SEARCH_HISTORY_WHOLE,	/* one more bin, which holds the flow's whole count */
	SEARCH_HISTORY_RESET,	/* the first bin also holds what was delivered since the reset */
};

/* When the sender counts as limited by something else than its window: bins start again. */
enum search_app_limited {
	SEARCH_LIMITED_NEVER,
	SEARCH_LIMITED_SOCKET,	/* the application has left the pipe unfilled this RTT */
	SEARCH_LIMITED_SAMPLE,	/* by the newest rate sample */
	SEARCH_LIMITED_WINDOW,	/* cwnd is not what limits, but application or receiver */
};

/* A slow start after the one that was measured.  For the caller. */
enum search_again {
	SEARCH_AGAIN_NEW,	/* is a new start */
	SEARCH_AGAIN_GO_ON,	/* goes on with the bins as they are; a timeout or idle restart resets */
	SEARCH_AGAIN_NEVER,	/* is not measured, unless after an idle restart */
};

/* With which window slow start ends. */
enum search_on_exit {
	SEARCH_KEEP_CWND,
	SEARCH_ROLL_BACK,	/* at once without what the last two initial RTTs delivered */
	SEARCH_DRAIN,		/* with what the last initial RTT delivered, as the queue drains */
};

struct search_params {
	u32 window_factor_tenths; /* window, in tenths of the initial RTT */
	u32 bins;		/* bins in a window (W) */
	u32 extra_bins;		/* bins kept for looking one RTT back */
	u32 threshold_pct;	/* normalized difference at which to exit */
	u32 expected;		/* enum search_expected: the version's, not for users */
	u32 interpolation;	/* enum search_interpolation */
	u32 skip_equal;		/* nonzero: no decision where the windows of whole bins on both sides
				 * of the look-back hold the same
				 */
	u32 unchecked;		/* nonzero, with SEARCH_ENDED_BINS: a bin that has left the ring is the
				 * one in its place, also for an RTT longer than the whole ring; and
				 * a window may be its own predecessor
				 */
	u32 history;		/* enum search_history */
	u32 end_closes;		/* nonzero: an ACK exactly at a bin's end closes it */
	u32 missed_bins_max;	/* a bin end later than this many bins starts again; 0: never */
	u32 long_rtt;		/* look-backs in a row, longer than the ring, that widen bins; 0: never */
	u32 restart_rtt_pct;	/* RTT below this share of the initial one starts again; 0: never */
	u32 restart_next;	/* nonzero: a new start begins with the next ACK, not with this one */
	u32 app_limited;	/* enum search_app_limited: for who calls */
	u32 in_recovery;	/* nonzero: goes on in recovery while cwnd < ssthresh: for who calls */
	u32 again;		/* enum search_again: for who calls */
	u32 epoch_blind_ms;	/* after CUBIC began an epoch: for who calls */
	u32 on_exit;		/* enum search_on_exit */
};

/* Counts in a ring: how much there was at the end of each bin, and at the start. */
struct search_ring {
	u32 slots;
	u32 newest;
};

/* Counts are cumulative and u64: no rate, RTT or gap can make one wrap, so none needs
 * a saturation rule or a scale.  search_compact.h has a state that has neither
 * the room nor these liberties.
 */
struct search_state {
	struct search_params params;
	u64 bin_end_us;		/* when the open bin ends */
	u64 closed_bins;	/* since the start; the newest has index closed_bins - 1 */
	u64 reset_bytes;	/* delivered at the last reset */
	u32 bin_us;		/* length of a bin; 0: not started */
	u32 long_rtts;		/* bins in a row that looked back further than the ring */
	struct search_ring delivered;
	struct search_ring sent; /* no slots unless sent bytes are what is expected */
	u64 counts[];		/* those of delivered, then those of sent */
};

/* The input of one ACK. */
struct search_ack {
	u64 now_us;		/* any clock that runs steadily; only differences count */
	u64 delivered_bytes;	/* cumulative, this ACK included; only differences count */
	u64 sent_bytes;		/* cumulative; as above, for versions that expect it */
	u32 rtt_us;		/* this ACK's RTT sample, 1 to 2^31 - 1 */
	u32 limited;		/* nonzero: something else than its window limits the sender */
};

enum search_verdict {
	SEARCH_BIN_OPEN,	/* no bin ended: nothing was decided */
	SEARCH_TOO_FEW_BINS,	/* the window one RTT ago began before the first bin */
	SEARCH_RTT_TOO_LONG,	/* the window one RTT ago has left the ring */
	SEARCH_NO_PREVIOUS,	/* there was nothing in the window one RTT ago */
	SEARCH_AFTER_SILENCE,	/* started again: too many bins passed without an ACK */
	SEARCH_NOT_FILLED,	/* started again: the sender did not fill its window */
	SEARCH_RTT_FELL,	/* started again: the initial RTT was far too long */
	SEARCH_STAY,		/* compared: delivery still grows */
	SEARCH_EXIT,		/* compared: delivery no longer doubles */
};

/* One bin decision.  Byte counts and norm are 0 unless windows were compared. */
struct search_decision {
	s64 bin;		/* index of the bin that closed, from 0 */
	u64 curr_delv_bytes;	/* delivered in the window that ends now */
	u64 prev_delv_bytes;	/* delivered (or sent) in the window that ended one RTT ago */
	u64 expected_bytes;	/* what should have been delivered in the window that ends now */
	u64 last_rtt_bytes;	/* on exit: delivered in the last initial RTT, bins rounded up */
	u64 last_two_rtt_bytes;	/* on exit: in the last two, bins rounded down */
	s64 norm_permille;	/* 1 - curr / expected, rounded down; may be negative */
	u32 rtt_us;
	u32 bin_us;
	u32 verdict;		/* enum search_verdict */
	u32 reserved;		/* always 0: keeps the size a multiple of 8 everywhere */
};

static inline bool search_compared(u32 verdict)
{
	return verdict >= SEARCH_STAY;
}

/* Whether an ACK at @now_us is one for search_on_ack(); the others change nothing. */
static inline bool search_due(const struct search_state *state, u64 now_us)
{
	return !state->bin_us || (s64)(now_us - state->bin_end_us) + state->params.end_closes > 0;
}

bool search_params_valid(const struct search_params *params);

u32 search_bin_length_us(const struct search_params *params, u32 rtt_us);

/* Counts in the rings of a flow. */
u32 search_delivered_slots(const struct search_params *params);
u32 search_sent_slots(const struct search_params *params);

/* Memory that a flow's state takes, in bytes. */
size_t search_state_bytes(const struct search_params *params);

/* Make @state fit for use.  @params must be valid; they hold until the next setup. */
void search_setup(struct search_state *state, const struct search_params *params);

/* Forget all bins: the next ACK gives the initial RTT of a new start. */
void search_reset(struct search_state *state, u64 delivered_bytes);

/*
 * Account one ACK; @decision is filled in unless the verdict is SEARCH_BIN_OPEN.
 * Does not latch: called on after an exit, it goes on comparing.
 */
enum search_verdict search_on_ack(struct search_state *state, const struct search_ack *ack,
				  struct search_decision *decision);

/* The window with which to leave slow start, for a flow that has @cwnd_pkts. */
u32 search_exit_pkts(const struct search_params *params, const struct search_decision *decision,
		     u32 cwnd_pkts, u32 mss_bytes);

#endif /* SEARCH_CORE_H */
