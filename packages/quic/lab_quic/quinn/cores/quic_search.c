// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SEARCH over QUIC, as tcp_search.h has it over TCP: the core judges an ACK before CUBIC takes it in.
 *
 * The drain is that of tcp_search_drain.h: the window follows what is in flight down to the threshold,
 * with one packet granted for each three delivered, and CUBIC does not grow it meanwhile.
 */
#include "quic_core.h"

#define QUIC_DRAIN_PKTS_A_GRANT	3

struct quic_search_flow {
	u64 drain_bytes;	/* the window to drain to; 0: does not drain */
	u32 drained_pkts;	/* delivered since the last grant */
	u32 stopped;
	struct search_state core;
};

static size_t quic_search_bytes(const u32 *params)
{
	return sizeof(struct quic_search_flow) + search_state_bytes((const struct search_params *)params);
}

static void quic_search_begin(void *state, const u32 *params)
{
	struct quic_search_flow *flow = state;

	search_setup(&flow->core, (const struct search_params *)params);
}

static void quic_search_restart(struct quic_search_flow *flow, const struct quic_event *event)
{
	flow->stopped = 0;
	search_reset(&flow->core, event->delivered_bytes);
}

/* The flow is out of slow start. */
static void quic_search_stop(struct quic_search_flow *flow, const struct quic_event *event)
{
	if (flow->core.params.again == SEARCH_AGAIN_NEW)
		quic_search_restart(flow, event);
	else if (flow->core.params.again == SEARCH_AGAIN_NEVER)
		flow->stopped = 1;
}

static void quic_search_leave(struct quic_search_flow *flow, const struct quic_event *event,
			      struct quic_change *change)
{
	const struct search_params *params = &flow->core.params;
	u32 cwnd_pkts = quic_pkts(event, event->window_bytes);
	u32 kept_pkts = search_exit_pkts(params, &change->bin, cwnd_pkts, event->packet_bytes);

	change->exit = 1;
	change->ssthresh_bytes = event->window_bytes;
	if (kept_pkts < cwnd_pkts)
		change->ssthresh_bytes = (u64)kept_pkts * event->packet_bytes;
	if (params->on_exit == SEARCH_ROLL_BACK) {
		change->window_bytes = change->ssthresh_bytes;
	} else if (params->on_exit == SEARCH_DRAIN && kept_pkts < cwnd_pkts) {
		flow->drain_bytes = change->ssthresh_bytes;
		flow->drained_pkts = 0;
		change->own = 1;
	}
	if (params->again == SEARCH_AGAIN_NEVER)
		flow->stopped = 1;
}

static void quic_search_drain(struct quic_search_flow *flow, const struct quic_event *event,
			      struct quic_change *change)
{
	u32 delivered_pkts = flow->drained_pkts + quic_acked_pkts(event, event->acked_bytes);
	u64 granted = (u64)(delivered_pkts / QUIC_DRAIN_PKTS_A_GRANT) * event->packet_bytes;
	u64 window = event->flight_bytes + granted;

	flow->drained_pkts = delivered_pkts % QUIC_DRAIN_PKTS_A_GRANT;
	if (window > event->window_bytes)
		window = event->window_bytes;
	if (window <= flow->drain_bytes) {
		window = flow->drain_bytes;
		flow->drain_bytes = 0;
	}
	change->window_bytes = window;
	change->own = flow->drain_bytes != 0;
}

static void quic_search_on_ack(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_search_flow *flow = state;
	const struct search_params *params = &flow->core.params;
	struct search_ack ack = {
		.now_us = event->now_us,
		.delivered_bytes = event->delivered_bytes,
		.sent_bytes = event->sent_bytes,
		.rtt_us = event->rtt_us,
		.limited = params->app_limited != SEARCH_LIMITED_NEVER && event->limited,
	};

	if (flow->drain_bytes)
		quic_search_drain(flow, event, change);
	if (event->in_recovery && !params->in_recovery)
		return;
	if (event->window_bytes >= event->ssthresh_bytes)
		quic_search_stop(flow, event);
	else if (!flow->stopped && search_on_ack(&flow->core, &ack, &change->bin) == SEARCH_EXIT)
		quic_search_leave(flow, event, change);
}

static void quic_search_on_loss(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)event, (void)change;
	((struct quic_search_flow *)state)->drain_bytes = 0;
}

static void quic_search_on_timeout(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)change;
	((struct quic_search_flow *)state)->drain_bytes = 0;
	quic_search_restart(state, event);
}

#define QUIC_SEARCH_PARAM(name, NAME) QUIC_PARAM(struct search_params, SEARCH, name, NAME)

/* `expected` is the version's, and CUBIC's epochs are the kernel's. */
static const struct quic_param quic_search_params[] = {
	QUIC_SEARCH_PARAM(window_factor_tenths, WINDOW_FACTOR_TENTHS),
	QUIC_SEARCH_PARAM(bins, BINS),
	QUIC_SEARCH_PARAM(extra_bins, EXTRA_BINS),
	QUIC_SEARCH_PARAM(threshold_pct, THRESHOLD_PCT),
	QUIC_SEARCH_PARAM(interpolation, INTERPOLATION),
	QUIC_SEARCH_PARAM(skip_equal, SKIP_EQUAL),
	QUIC_SEARCH_PARAM(unchecked, UNCHECKED),
	QUIC_SEARCH_PARAM(history, HISTORY),
	QUIC_SEARCH_PARAM(end_closes, END_CLOSES),
	QUIC_SEARCH_PARAM(missed_bins_max, MISSED_BINS_MAX),
	QUIC_SEARCH_PARAM(long_rtt, LONG_RTT),
	QUIC_SEARCH_PARAM(restart_rtt_pct, RESTART_RTT_PCT),
	QUIC_SEARCH_PARAM(restart_next, RESTART_NEXT),
	QUIC_SEARCH_PARAM(app_limited, APP_LIMITED),
	QUIC_SEARCH_PARAM(in_recovery, IN_RECOVERY),
	QUIC_SEARCH_PARAM(again, AGAIN),
	QUIC_SEARCH_PARAM(on_exit, ON_EXIT),
};

const struct quic_core quic_search = {
	.cause = "search",
	.params = quic_search_params,
	.params_count = ARRAY_SIZE(quic_search_params),
	.iw_place = QUIC_MOST_PARAMS,
	.state_bytes = quic_search_bytes,
	.begin = quic_search_begin,
	.on_ack = quic_search_on_ack,
	.on_loss = quic_search_on_loss,
	.on_timeout = quic_search_on_timeout,
};
