/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Module parameters of one version; SEARCH_VERSION has their defaults.  A value out of
 * range is refused with -EINVAL, at load and in /sys/module/<module>/parameters alike.
 * A flow copies them when it starts and keeps them: a change holds for later
 * flows.  (A version that keeps its flows in the socket has no room for them there:
 * its flows follow a change with their next bin.)
 */
#ifndef TCP_SEARCH_PARAMS_H
#define TCP_SEARCH_PARAMS_H

#include "bounded_param.h"
#include "search_core.h"

static struct search_params search_params_now __read_mostly = SEARCH_VERSION;

/* The module parameters as they are now, for one flow to keep. */
static void search_params_get(struct search_params *params)
{
	const u32 *from = (const u32 *)&search_params_now;
	u32 *to = (u32 *)params;
	size_t i;

	for (i = 0; i < sizeof(*params) / sizeof(u32); i++)
		to[i] = READ_ONCE(from[i]);
}

#define SEARCH_PARAM(name, NAME, mode)					\
	BOUNDED_PARAM(name, &search_params_now.name, SEARCH_##NAME##_MIN, SEARCH_##NAME##_MAX, mode)

/* What a version cannot change while flows live in their sockets, and what it cannot do. */
#ifdef SEARCH_IN_SOCKET
#define SEARCH_BINS_MODE 0444
#undef SEARCH_HISTORY_MAX
#define SEARCH_HISTORY_MAX SEARCH_HISTORY_WHOLE
#undef SEARCH_AGAIN_MAX
#define SEARCH_AGAIN_MAX SEARCH_AGAIN_GO_ON
#else
#define SEARCH_BINS_MODE 0644
#endif
#ifndef SEARCH_DRAINS
#undef SEARCH_ON_EXIT_MAX
#define SEARCH_ON_EXIT_MAX SEARCH_ROLL_BACK
#endif

SEARCH_PARAM(window_factor_tenths, WINDOW_FACTOR_TENTHS, 0644);
MODULE_PARM_DESC(window_factor_tenths,
		 "window of delivered bytes, in tenths of the initial RTT (5 to 100)");

SEARCH_PARAM(bins, BINS, SEARCH_BINS_MODE);
MODULE_PARM_DESC(bins, "bins in a window (5 to 100)");

SEARCH_PARAM(extra_bins, EXTRA_BINS, SEARCH_BINS_MODE);
MODULE_PARM_DESC(extra_bins, "bins kept for looking one RTT back (1 to 200)");

SEARCH_PARAM(threshold_pct, THRESHOLD_PCT, 0644);
MODULE_PARM_DESC(threshold_pct,
		 "normalized difference that ends slow start, in percent (1 to 100)");

SEARCH_PARAM(interpolation, INTERPOLATION, 0644);
MODULE_PARM_DESC(interpolation,
		 "earlier window: 0 at whole bins rounded down, 1 between bins, 2 at the nearest bin, 3 the newest that had ended, 4 as 1 in whole percents, 5 as 4 rounded once, 6 as 5 towards the present");

SEARCH_PARAM(skip_equal, SKIP_EQUAL, 0644);
MODULE_PARM_DESC(skip_equal,
		 "1: no decision where the earlier window is the same a bin further back (0 or 1)");

SEARCH_PARAM(unchecked, UNCHECKED, 0644);
MODULE_PARM_DESC(unchecked,
		 "1, with interpolation=3: reads other bins instead of those that have left the ring (0 or 1)");

SEARCH_PARAM(history, HISTORY, SEARCH_BINS_MODE);
MODULE_PARM_DESC(history,
		 "bytes before the first bin: 0 in none, 1 in one bin more, 2 in the first, since the reset");

SEARCH_PARAM(end_closes, END_CLOSES, 0644);
MODULE_PARM_DESC(end_closes, "1: an ACK exactly at a bin's end closes it (0 or 1)");

SEARCH_PARAM(missed_bins_max, MISSED_BINS_MAX, 0644);
MODULE_PARM_DESC(missed_bins_max,
		 "bins without an ACK after which SEARCH starts again (1 to 65535; 0: never)");

SEARCH_PARAM(long_rtt, LONG_RTT, 0644);
MODULE_PARM_DESC(long_rtt,
		 "RTTs in a row, longer than the kept bins, that double a bin's length (1 to 15; 0: never)");

SEARCH_PARAM(restart_rtt_pct, RESTART_RTT_PCT, 0644);
MODULE_PARM_DESC(restart_rtt_pct,
		 "an RTT below this share of the initial one, in percent, starts SEARCH again (0: never)");

SEARCH_PARAM(restart_next, RESTART_NEXT, 0644);
MODULE_PARM_DESC(restart_next, "1: a new start begins with the next ACK, not with this one (0 or 1)");

SEARCH_PARAM(app_limited, APP_LIMITED, 0644);
MODULE_PARM_DESC(app_limited,
		 "start again while limited: 0 never, 1 by the application, 2 the same by rate sample, 3 by anything but cwnd");

SEARCH_PARAM(in_recovery, IN_RECOVERY, 0644);
MODULE_PARM_DESC(in_recovery,
		 "1: goes on in recovery while cwnd is below ssthresh, and may lower that (0 or 1)");

SEARCH_PARAM(again, AGAIN, 0644);
MODULE_PARM_DESC(again,
		 "a later slow start: 0 is a new one, 1 goes on with old bins, 2 is not measured");

SEARCH_PARAM(epoch_blind_ms, EPOCH_BLIND_MS, 0644);
MODULE_PARM_DESC(epoch_blind_ms, "time that CUBIC's epochs begin with and SEARCH skips (0 to 60000)");

SEARCH_PARAM(on_exit, ON_EXIT, 0644);
MODULE_PARM_DESC(on_exit,
		 "on exit: 0 keep cwnd, 1 take back two initial RTTs' bytes, 2 drain to one's (versions that drain)");

#endif /* TCP_SEARCH_PARAMS_H */
