/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rapid Start by hand: what the draft's formulas give, for user space and for KUnit. */
#ifndef RAPID_START_VECTORS_H
#define RAPID_START_VECTORS_H

#include "rapid_start_core.h"

static const struct rapid_start_params rapid_start_defaults = {
	.iw_pkts = 20,
	.queue_us = 4000,
	.queue_pct = 10,
};

struct rapid_start_round {
	const char *name;
	u32 min_rtt_us;
	u32 floor_us;
	u32 growth_pkts;	/* for ten packets acknowledged */
};

static const struct rapid_start_round rapid_start_rounds[] = {
	{ "no queue", 20000, 20000, 20 },
	{ "a tenth more, below 4 ms", 20000, 22000, 20 },
	{ "more than a tenth", 20000, 22001, 10 },
	{ "4 ms more, below a tenth", 600000, 604000, 20 },
	{ "more than 4 ms", 600000, 604001, 10 },
	{ "both alike", 40000, 44000, 20 },
	{ "half an hour", 2000000000, 2000004000, 20 },
};

static inline bool rapid_start_round_holds(const struct rapid_start_round *round)
{
	struct rapid_start_state state;

	rapid_start_begin(&state, 0);
	rapid_start_sample(&state, 1, 10, round->min_rtt_us);
	rapid_start_sample(&state, 11, 20, round->floor_us);
	return rapid_start_growth_pkts(&state, &rapid_start_defaults, 10) == round->growth_pkts;
}

struct rapid_start_period {
	const char *name;
	u32 before_pkts;
	u32 acked_pkts;
	u32 lost_pkts;
	u32 cwnd_pkts;
};

static const struct rapid_start_period rapid_start_periods[] = {
	{ "begin: 0.9", 1000, 0, 0, 900 },
	{ "no loss, all acknowledged: beta", 1000, 1000, 0, 700 },
	{ "a third lost: beta of the rest", 900, 600, 300, 420 },
	{ "a half lost", 1000, 500, 500, 350 },
	{ "two thirds lost: the bound", 900, 300, 600, 210 },
	{ "more lost: the bound holds", 900, 0, 900, 210 },
	{ "the initial window's share", 40, 0, 40, 14 },
	{ "a window below it begins at 0.9", 12, 0, 12, 10 },
	{ "two packets", 2, 0, 2, 2 },
	{ "the largest window", 4294967295U, 4294967295U, 0, 3006477106U },
};

static inline bool rapid_start_period_holds(const struct rapid_start_period *period)
{
	return rapid_start_recovering_pkts(&rapid_start_defaults, period->before_pkts,
					   period->acked_pkts,
					   period->lost_pkts) == period->cwnd_pkts;
}

#endif /* RAPID_START_VECTORS_H */
