/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a version of SEARCH: its expectation and the defaults it was published
 * with.  All else is common to them (search_core.c).  Side by side:
 *
 *			search1	search2	search2_ search31	search4	search
 *					printed
 *	expected bytes	sent,	twice	twice	twice		sent	twice
 *			held	deliv.	deliv.	delivered		deliv.
 *	earlier window	nearest	ended	between	between bins,	between	between
 *			bin	bins	bins	whole percents	bins	bins
 *	look-back, bins	15	15, 26+	14	13		38	38
 *	counts		u64	u64	u64	u16, scaled,	u64	u64
 *						in the socket
 *	app-limited	-	-	-	socket		sample	window
 *	history		-	reset	-	whole		-	-
 *	in recovery	-	goes on	-	goes on		-	-
 *	slow start	anew	never	anew	with old bins	anew	anew
 *	again
 *	threshold, %	35	35	35	35		35	26
 *	fixes		-	-	-	-		-	silence, long
 *								RTT, first RTT
 *	on exit		-	-	-	-		drain	-
 *
 * "search" is what this lab recommends: see SEARCH_BEST.  "search2" and "search31" are
 * the published code with its habits, checked against its integers
 * (tests/kernel/test_search_published.py); the others leave the habits out.  Options that a
 * version was published with but that it left off (roll-back of 2.0 and 3.1, the reset of
 * 3.1 after missed bins) are off here, too.
 *
 * Numbers of the published code, in this lab's units:
 *   3.1 search_alpha A		missed_bins_max = 2 A  (its default 65535: never)
 *   netdev patch, threshold T	missed_bins_max = T
 *   4.0 on FreeBSD, draft -09	threshold_pct = 26 (Linux: 35), missed_bins_max = 4
 *   1.0 as first ported	threshold_pct = 25
 */
#ifndef SEARCH_VERSIONS_H
#define SEARCH_VERSIONS_H

#include "search_core.h"

/* Sent bytes in 25 bins, delivered bytes in 10.  As in its only public code the
 * difference is taken in shares of the sent bytes; the thesis says of the delivered.
 */
#define SEARCH_1 {							\
	.expected = SEARCH_SENT_HELD,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_NEAREST_BIN,				\
}

/* The thesis's Algorithm 1, as search_core.c reads it. */
#define SEARCH_2_PRINTED {						\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
}

/*
 * 2.0 as published for Linux 5.10, which the thesis's servers ran: TCP_SS_SEARCH_ALG of
 * maryam-ataei, earlier-versions.  Differences from Algorithm 1:
 *
 *  - the proportion of two bins is an integer quotient, 0 or 1: the earlier window is
 *    made of whole bins, the newest that had ended one RTT before the ACK;
 *  - where that window and the one a bin earlier hold the same, 0 is returned for it, and
 *    no check is made;
 *  - bins are read modulo 25.  A look-back of 15 may read the newest bin for the one that
 *    it overwrote; and as 25 less the look-back is unsigned, one beyond 25 passes too:
 *    with an RTT of 26 bins it compares windows a bin apart, and leaves slow start;
 *  - an RTT shorter than a bin can make the window its own predecessor, and leaves;
 *  - its first bin holds what was delivered since the reset, the first ACK's bytes too;
 *  - it goes on judging in recovery, as long as cwnd < ssthresh;
 *  - it measures once: until an idle restart, not even after a timeout;
 *  - it skips the first second of CUBIC's epochs.
 *
 * The branch search_2_dynamic_memalloc of Project-Faster decides the same, but rolls back
 * by default and without a floor (on_exit = 1 has one), starts a bin earlier, and is
 * reset by a timeout instead of an idle restart.
 *
 * Not here, as they change no exit of a flow below 71 minutes and 4 GiB a bin: clocks of 32
 * bits, bins of 32 bits, a division by 0 for RTTs below 3 us.
 */
#define SEARCH_2 {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_ENDED_BINS,				\
	.skip_equal = 1,						\
	.unchecked = 1,							\
	.history = SEARCH_HISTORY_RESET,				\
	.in_recovery = 1,						\
	.again = SEARCH_AGAIN_NEVER,					\
	.epoch_blind_ms = 1000,						\
}

/*
 * 25 counts: 24 bins, so that a window between bins reaches 13 bins back.  Published for
 * Linux 6.13 (TCP_SS_SEARCH_ALG, main).  Habits:
 *
 *  - the fraction is truncated to whole percent, and each part of it to a unit;
 *  - an ACK exactly at a bin's end closes it;
 *  - its first count lies after another of 0: what was delivered before the start is a
 *    bin more, after a reset in mid-flow too;
 *  - it goes on judging in recovery, and lowers ssthresh there;
 *  - a slow start that comes again goes on with the old bins, unless after a timeout or
 *    an idle restart; it skips the first second of CUBIC's epochs.
 *
 * Not here: a clock of 32 bits; the roll-back's missing scale; missed bins above 131,070.
 */
#define SEARCH_31 {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 14,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_PERCENT,				\
	.history = SEARCH_HISTORY_WHOLE,				\
	.end_closes = 1,						\
	.app_limited = SEARCH_LIMITED_SOCKET,				\
	.in_recovery = 1,						\
	.again = SEARCH_AGAIN_GO_ON,					\
	.epoch_blind_ms = 1000,						\
}

/* 50 counts of sent bytes and 11 of delivered ones. */
#define SEARCH_4 {							\
	.expected = SEARCH_SENT,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 39,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
	.app_limited = SEARCH_LIMITED_SAMPLE,				\
	.on_exit = SEARCH_DRAIN,					\
}

/*
 * Algorithm 1, with as long a look-back as 4.0 keeps, the threshold of draft -09, and what
 * fixes its weak points.  Chosen by exits against the true queue (README.md): in a buffer
 * of many RTTs 15 bins are too few; between bins, growth never gave a difference above
 * 14 %, so that 26 % leaves no earlier than capacity, and sooner after it than 35 %.
 */
#define SEARCH_BEST {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 39,						\
	.threshold_pct = 26,						\
	.interpolation = SEARCH_FRACTION,				\
	.missed_bins_max = 10,						\
	.long_rtt = 5,							\
	.restart_rtt_pct = 50,						\
	.app_limited = SEARCH_LIMITED_WINDOW,				\
}

struct search_version {
	const char *name;	/* of the congestion control */
	struct search_params params;
	bool compact;		/* a flow's state lies in its socket */
};

/* Of an array of struct search_version. */
#define SEARCH_VERSIONS {						\
	{ "search1", SEARCH_1, false },					\
	{ "search2", SEARCH_2, false },					\
	{ "search2_printed", SEARCH_2_PRINTED, false },			\
	{ "search31", SEARCH_31, true },				\
	{ "search4", SEARCH_4, false },					\
	{ "search", SEARCH_BEST, false },				\
}

#endif /* SEARCH_VERSIONS_H */
