// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search1": SEARCH 1.0, delivered bytes of a window against the bytes sent one RTT
 * before it.
 *
 * Sent bytes are kept in 25 bins, delivered bytes in 10.  The difference is taken in
 * shares of the sent bytes, as in the only public code of 1.0; the thesis describes
 * shares of the delivered bytes.  The first port of 1.0 had threshold_pct = 25.
 */
#define SEARCH_NAME "search1"
#define SEARCH_VERSION {						\
	.expected = SEARCH_SENT_HELD,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 35,						\
	.interpolation = SEARCH_NEAREST_BIN,				\
}
#include "tcp_search.h"
