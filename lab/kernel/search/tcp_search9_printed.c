// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search9_printed": search9 with the interpolation that draft -09 prints.
 *
 * The draft moves the earlier window by the fraction of a bin towards the present, where it must
 * go into the past (an error that its authors confirmed to neqo's).  The window then ends after
 * what was sent one RTT ago: more is expected, and the flow leaves sooner.  An RTT shorter than a
 * bin has no window to move towards, and so no decision.
 */
#define SEARCH_NAME "search9_printed"
#define SEARCH_VERSION {						\
	.expected = SEARCH_SENT,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 26,						\
	.interpolation = SEARCH_FORWARD,				\
	.missed_bins_max = 10,						\
	.restart_next = 1,						\
}
#include "tcp_search.h"
