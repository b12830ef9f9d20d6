// SPDX-License-Identifier: GPL-2.0-or-later
/* What the parameters of SEARCH mean apart from the algorithm: ranges, memory, how to leave. */
#include "search_core.h"

static bool search_within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

#define SEARCH_WITHIN(value, NAME) search_within(value, SEARCH_##NAME##_MIN, SEARCH_##NAME##_MAX)

bool search_params_valid(const struct search_params *params)
{
	return SEARCH_WITHIN(params->window_factor_tenths, WINDOW_FACTOR_TENTHS) &&
	       SEARCH_WITHIN(params->bins, BINS) &&
	       SEARCH_WITHIN(params->extra_bins, EXTRA_BINS) &&
	       SEARCH_WITHIN(params->threshold_pct, THRESHOLD_PCT) &&
	       params->expected <= SEARCH_SENT_HELD &&
	       SEARCH_WITHIN(params->interpolation, INTERPOLATION) &&
	       SEARCH_WITHIN(params->skip_equal, SKIP_EQUAL) &&
	       SEARCH_WITHIN(params->unchecked, UNCHECKED) &&
	       SEARCH_WITHIN(params->history, HISTORY) &&
	       SEARCH_WITHIN(params->end_closes, END_CLOSES) &&
	       SEARCH_WITHIN(params->missed_bins_max, MISSED_BINS_MAX) &&
	       SEARCH_WITHIN(params->long_rtt, LONG_RTT) &&
	       SEARCH_WITHIN(params->restart_rtt_pct, RESTART_RTT_PCT) &&
	       SEARCH_WITHIN(params->restart_next, RESTART_NEXT) &&
	       SEARCH_WITHIN(params->app_limited, APP_LIMITED) &&
	       SEARCH_WITHIN(params->in_recovery, IN_RECOVERY) &&
	       SEARCH_WITHIN(params->again, AGAIN) &&
	       SEARCH_WITHIN(params->epoch_blind_ms, EPOCH_BLIND_MS) &&
	       SEARCH_WITHIN(params->on_exit, ON_EXIT);
}
search_export(search_params_valid);

u32 search_bin_length_us(const struct search_params *params, u32 rtt_us)
{
	u32 bin_us = div_u64((u64)rtt_us * params->window_factor_tenths, 10 * params->bins);

	return bin_us ? bin_us : 1;
}

/* n bins have n + 1 ends. */
static u32 search_look_back_slots(const struct search_params *params)
{
	return params->bins + params->extra_bins + 1;
}

static bool search_counts_sent(const struct search_params *params)
{
	return params->expected != SEARCH_TWICE_DELIVERED;
}

u32 search_delivered_slots(const struct search_params *params)
{
	return search_counts_sent(params) ? params->bins + 1 : search_look_back_slots(params);
}

u32 search_sent_slots(const struct search_params *params)
{
	return search_counts_sent(params) ? search_look_back_slots(params) : 0;
}

size_t search_state_bytes(const struct search_params *params)
{
	return sizeof(struct search_state) +
	       (search_delivered_slots(params) + search_sent_slots(params)) * sizeof(u64);
}
search_export(search_state_bytes);

u32 search_exit_pkts(const struct search_params *params, const struct search_decision *decision,
		     u32 cwnd_pkts, u32 mss_bytes)
{
	u64 pkts = cwnd_pkts;

	if (params->on_exit == SEARCH_ROLL_BACK) {
		u64 overshoot_pkts = div_u64(decision->last_two_rtt_bytes, mss_bytes);

		pkts = cwnd_pkts > overshoot_pkts ? cwnd_pkts - overshoot_pkts : 0;
	} else if (params->on_exit == SEARCH_DRAIN) {
		pkts = div_u64(decision->last_rtt_bytes, mss_bytes);
	}
	if (pkts < SEARCH_LEAST_CWND_PKTS)
		pkts = SEARCH_LEAST_CWND_PKTS;

	return pkts < cwnd_pkts ? pkts : cwnd_pkts;
}
search_export(search_exit_pkts);
