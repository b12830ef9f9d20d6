// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search31": SEARCH 3.1 as published for Linux 6.13 (TCP_SS_SEARCH_ALG, main), in the
 * private bytes of the socket.  Its integers are checked by
 * tests/kernel/test_search_published.py.
 *
 * It keeps 25 counts: 24 bins, so that a window between bins reaches 13 bins back.
 * Habits of the published code:
 *
 *  - the fraction is truncated to whole percent, and each part of it to a unit;
 *  - an ACK exactly at a bin's end closes it;
 *  - its first count lies after another of 0: what was delivered before the start is a
 *    bin more, after a reset in mid-flow too;
 *  - it goes on judging in recovery, and lowers ssthresh there;
 *  - a slow start that comes again goes on with the old bins, unless after a timeout or
 *    an idle restart; it skips the first second of CUBIC's epochs.
 *
 * The published search_alpha A is missed_bins_max = 2 A here (its default 65535: never).
 *
 * Not here: a clock of 32 bits; the roll-back's missing scale; missed bins above 131,070.
 * Off here, as in the published code: the roll-back, and the reset after missed bins.
 */
#define SEARCH_NAME "search31"
#define SEARCH_IN_SOCKET
#define SEARCH_VERSION {						\
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
#include "tcp_search.h"
