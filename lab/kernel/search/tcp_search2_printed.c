// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP "search2_printed": SEARCH 2.0, the thesis's Algorithm 1 as search_core.c reads it. */
#define SEARCH_NAME "search2_printed"
#define SEARCH_VERSION {						\
	.expected = SEARCH_TWICE_DELIVERED,				\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_FRACTION,				\
}
#include "tcp_search.h"
