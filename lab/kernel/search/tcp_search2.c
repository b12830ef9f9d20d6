// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "search2": SEARCH 2.0 as published for Linux 5.10, which the thesis's servers ran
 * (TCP_SS_SEARCH_ALG of maryam-ataei, earlier-versions).  Its integers are checked by
 * tests/kernel/test_search_published.py.  Differences from Algorithm 1
 * (tcp_search2_printed.c):
 *
 *  - the proportion of two bins is an integer quotient, 0 or 1: the earlier window is
 *    made of whole bins, the newest that had ended one RTT before the ACK;
 *  - where that window and the one a bin earlier hold the same, its sum is taken as 0,
 *    and no check is made;
 *  - bins are read modulo 25.  A look-back of 15 may read the newest bin instead of the
 *    one that it overwrote; and as 25 less the look-back is unsigned, one beyond 25 passes
 *    too: with an RTT of 26 bins it compares windows a bin apart, and leaves slow start;
 *  - an RTT shorter than a bin can make the window its own predecessor, and leaves;
 *  - its first bin holds what was delivered since the reset, the first ACK's bytes too;
 *  - it goes on judging in recovery, as long as cwnd < ssthresh;
 *  - it measures once: until an idle restart, not even after a timeout;
 *  - it skips the first second of CUBIC's epochs.
 *
 * The branch search_2_dynamic_memalloc of Project-Faster decides the same, but rolls back
 * by default and without a floor (on_exit = 1 has one), starts a bin earlier, and is
 * reset by a timeout instead of an idle restart.  The netdev patch's threshold T is
 * missed_bins_max = T here.
 *
 * Not here, as they change no exit of a flow below 71 minutes and 4 GiB a bin: clocks of 32
 * bits, bins of 32 bits, a division by 0 where an RTT is below 3 us.  Off here, as in the
 * published code: the roll-back.
 */
#define SEARCH_NAME "search2"
#define SEARCH_VERSION {						\
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
#include "tcp_search.h"
