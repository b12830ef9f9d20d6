/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a version of SEARCH: its expectation and the defaults it was published
 * with.  All else is common to them (search_core.c).  Side by side:
 *
 *			search1	search2	search31	search4		search
 *	expected bytes	sent,	twice	twice		sent		twice
 *			held	deliv.	delivered			delivered
 *	earlier window	nearest	between	between		between		between
 *			bin	bins	bins		bins		bins
 *	look-back, bins	15	14	13		38		14
 *	counts		u64	u64	u16, scaled,	u64		u64
 *					in the socket
 *	app-limited	-	-	socket		rate sample	window
 *	mended		-	-	-		-		silence, long RTT,
 *									first RTT
 *	on exit		-	-	-		drain		-
 *
 * "search" is what this lab recommends: see SEARCH_BEST.  Options that a version was
 * published with but that it left off (roll-back of 2.0 and 3.1, the reset of 3.1 after
 * missed bins) are off here, too.
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

/* The thesis's Algorithm 1. */
#define SEARCH_2 {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
}

/* 25 counts: 24 bins, so that a window between bins reaches 13 bins back. */
#define SEARCH_31 {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 14,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
	.app_limited = SEARCH_LIMITED_SOCKET,				\
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

/* 2.0, and what mends its weak points.  On bulk downloads these change no exit; where an
 * application pauses, or a queue outgrows the ring, they save one.  The measurement and
 * why 2.0: README.md.
 */
#define SEARCH_BEST {							\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
	.missed_bins_max = 10,						\
	.long_rtt = 5,							\
	.restart_rtt_pct = 50,						\
	.app_limited = SEARCH_LIMITED_WINDOW,				\
}

#endif /* SEARCH_VERSIONS_H */
