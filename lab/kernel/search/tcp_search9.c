// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search9": draft -09 as neqo reads it, delivered bytes against sent ones.
 *
 * Source: draft-chung-ccwg-search-09, known here by the description in Mozilla's neqo, which runs
 * it over QUIC.  Its test values are those of tests/kernel/test_search_neqo.py.
 *
 *  1. Window of 3.5 initial RTTs in 10 bins; 15 more are kept, so that the look-back stays below
 *     15 whole bins; a difference of 26 % ends slow start.
 *  2. First decision when a window one RTT ago begins after bin 0: the count at the start is not
 *     one of its ends.
 *  3. A window ends strictly after its bin: an ACK exactly at a bin's end leaves the bin open.
 *  4. The fraction of a bin is truncated to whole percents; windows are truncated once, after both
 *     are mixed.
 *  5. More than 10 bins without an ACK start again (an option in the draft), with the next ACK.
 *  6. No drain (neqo leaves it out: its target lies below CUBIC's range), no check for a sender
 *     that its application limits.
 *
 * Differences from neqo: bins are whole microseconds, not nanoseconds, and at least one; what is
 * sent is TCP's payload, retransmissions included, not QUIC's packets.
 */
#define SEARCH_NAME "search9"
#define SEARCH_VERSION {						\
	.expected = SEARCH_SENT,					\
	.window_factor_tenths = 35,					\
	.bins = 10,							\
	.extra_bins = 15,						\
	.threshold_pct = 26,						\
	.interpolation = SEARCH_PERCENT_ONCE,				\
	.missed_bins_max = 10,						\
	.restart_next = 1,						\
}
#include "tcp_search.h"
