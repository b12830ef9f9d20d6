// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rapid Start over QUIC, as tcp_rapid_start.c has it over TCP: the window is Rapid Start's until its
 * first recovery period ends, then CUBIC's.
 *
 * Differences from the module
 *
 *  1. The handshake's round trips are samples, too.
 *  2. The first flight is paced as quinn paces: ten packets at once, then 5/4 of the window per round trip.
 *  3. The period ends with the first ACK for a packet sent within it, and CUBIC goes on at once.
 *  4. The window grows by bytes, as it is acknowledged.
 */
#include "quic_core.h"
#include "rapid_start_core.h"

enum quic_rapid_start_phase {
	QUIC_RAPID_START_GROWS,
	QUIC_RAPID_START_RECOVERS,	/* within the first recovery period */
	QUIC_RAPID_START_OVER,		/* CUBIC's */
};

struct quic_rapid_start_flow {
	struct rapid_start_params params;
	struct rapid_start_state core;
	u64 acked_bytes;	/* since the period began, as is the next */
	u64 lost_bytes;
	u32 before_pkts;	/* the window before the period */
	u32 phase;		/* enum quic_rapid_start_phase */
};

static size_t quic_rapid_start_bytes(const u32 *params)
{
	(void)params;
	return sizeof(struct quic_rapid_start_flow);
}

static void quic_rapid_start_begin(void *state, const u32 *params)
{
	struct quic_rapid_start_flow *flow = state;

	flow->params = *(const struct rapid_start_params *)params;
	rapid_start_begin(&flow->core, 0);
}

/* Threshold and window are one, so that the flow is out of slow start. */
static void quic_rapid_start_recover(struct quic_rapid_start_flow *flow, const struct quic_event *event,
				     struct quic_change *change)
{
	u32 cwnd_pkts = rapid_start_recovering_pkts(&flow->params, flow->before_pkts,
						    quic_pkts(event, flow->acked_bytes),
						    quic_pkts(event, flow->lost_bytes));

	change->window_bytes = (u64)cwnd_pkts * event->packet_bytes;
	change->ssthresh_bytes = change->window_bytes;
}

static void quic_rapid_start_recovered(struct quic_rapid_start_flow *flow, const struct quic_event *event,
				       struct quic_change *change)
{
	u32 w_max_pkts = rapid_start_w_max_pkts(quic_pkts(event, event->window_bytes));

	flow->phase = QUIC_RAPID_START_OVER;
	change->w_max_bytes = (u64)w_max_pkts * event->packet_bytes;
}

static void quic_rapid_start_on_ack(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_rapid_start_flow *flow = state;

	if (flow->phase == QUIC_RAPID_START_OVER)
		return;
	change->own = 1;
	if (flow->phase == QUIC_RAPID_START_GROWS) {
		rapid_start_sample(&flow->core, event->delivered_bytes, event->sent_bytes, event->rtt_us);
		if (!event->limited)
			change->window_bytes = event->window_bytes + event->acked_bytes *
					       rapid_start_growth_pkts(&flow->core, &flow->params, 1);
	} else if (event->in_recovery) {
		flow->acked_bytes += event->acked_bytes;
		quic_rapid_start_recover(flow, event, change);
	} else {
		quic_rapid_start_recovered(flow, event, change);
	}
}

static void quic_rapid_start_on_loss(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_rapid_start_flow *flow = state;

	if (flow->phase == QUIC_RAPID_START_OVER)
		return;
	if (flow->phase == QUIC_RAPID_START_GROWS) {
		flow->phase = QUIC_RAPID_START_RECOVERS;
		flow->before_pkts = quic_pkts(event, event->before_bytes);
	}
	flow->lost_bytes += event->lost_bytes;
	quic_rapid_start_recover(flow, event, change);
}

static void quic_rapid_start_on_timeout(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)event, (void)change;
	((struct quic_rapid_start_flow *)state)->phase = QUIC_RAPID_START_OVER;
}

/* As tcp_rapid_start.c has them. */
static const struct rapid_start_params quic_rapid_start_initial = {
	.iw_pkts = 20,
	.queue_us = 4000,
	.queue_pct = 10,
};

#define QUIC_RAPID_START_PARAM(name, NAME) QUIC_PARAM(struct rapid_start_params, RAPID_START, name, NAME)

static const struct quic_param quic_rapid_start_params[] = {
	QUIC_RAPID_START_PARAM(iw_pkts, IW_PKTS),
	QUIC_RAPID_START_PARAM(queue_us, QUEUE_US),
	QUIC_RAPID_START_PARAM(queue_pct, QUEUE_PCT),
};

const struct quic_core quic_rapid_start = {
	.name = "rapid_start",
	.cause = "loss",
	.params = quic_rapid_start_params,
	.params_count = ARRAY_SIZE(quic_rapid_start_params),
	.iw_place = offsetof(struct rapid_start_params, iw_pkts) / sizeof(u32),
	.initial = (const u32 *)&quic_rapid_start_initial,
	.state_bytes = quic_rapid_start_bytes,
	.begin = quic_rapid_start_begin,
	.on_ack = quic_rapid_start_on_ack,
	.on_loss = quic_rapid_start_on_loss,
	.on_timeout = quic_rapid_start_on_timeout,
};
