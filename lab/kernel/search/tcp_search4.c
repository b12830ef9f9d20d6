// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search4": SEARCH 4.0, delivered bytes against sent ones, then a drain.
 *
 * It keeps 50 counts of sent bytes and 11 of delivered ones.  On FreeBSD (draft -09) it
 * has threshold_pct = 26 (Linux: 35) and missed_bins_max = 4.
 */
#define SEARCH_NAME "search4"
#define SEARCH_DRAINS
#define SEARCH_VERSION {						\
	.expected = SEARCH_SENT,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 39,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
	.app_limited = SEARCH_LIMITED_SAMPLE,				\
	.on_exit = SEARCH_DRAIN,					\
}
#include "tcp_search.h"
