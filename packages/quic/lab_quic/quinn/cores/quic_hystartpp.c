// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HyStart++ over QUIC, in the first slow start, before any loss.
 *
 * Bytes delivered and sent stand for the sequence numbers.  quinn paces, so an ACK may add as much as it
 * acknowledges.
 */
#include "hystartpp_core.h"
#include "quic_core.h"

struct quic_hystartpp_flow {
	struct hystartpp_params params;
	struct hystartpp_state core;
};

static size_t quic_hystartpp_bytes(const u32 *params)
{
	(void)params;
	return sizeof(struct quic_hystartpp_flow);
}

static void quic_hystartpp_begin(void *state, const u32 *params)
{
	struct quic_hystartpp_flow *flow = state;

	flow->params = *(const struct hystartpp_params *)params;
	hystartpp_start(&flow->core, 0);
}

static void quic_hystartpp_on_ack(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_hystartpp_flow *flow = state;
	u64 grown_bytes;

	if (event->ssthresh_bytes != QUIC_NO_THRESHOLD)
		return;
	if (hystartpp_on_ack(&flow->core, &flow->params, event->delivered_bytes, event->sent_bytes,
			     event->rtt_us) == HYSTARTPP_EXIT) {
		change->exit = 1;
		change->ssthresh_bytes = event->window_bytes;
		return;
	}
	change->own = 1;
	grown_bytes = event->packet_bytes *
		      (u64)hystartpp_growth_pkts(&flow->core, &flow->params,
						 quic_acked_pkts(event, event->acked_bytes), true);
	if (grown_bytes > event->acked_bytes)
		grown_bytes = event->acked_bytes;
	if (!event->limited)
		change->window_bytes = event->window_bytes + grown_bytes;
}

static void quic_hystartpp_on_loss(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)state, (void)event, (void)change;
}

static void quic_hystartpp_on_timeout(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)state, (void)event, (void)change;
}

/* The values of RFC 9406, section 4.3. */
static const struct hystartpp_params quic_hystartpp_initial = {
	.min_rtt_thresh_us = 4000,
	.max_rtt_thresh_us = 16000,
	.min_rtt_divisor = 8,
	.n_rtt_sample = 8,
	.css_growth_divisor = 4,
	.css_rounds = 5,
	.l_pkts = 8,
};

#define QUIC_HYSTARTPP_PARAM(name, NAME) QUIC_PARAM(struct hystartpp_params, HYSTARTPP, name, NAME)

static const struct quic_param quic_hystartpp_params[] = {
	QUIC_HYSTARTPP_PARAM(min_rtt_thresh_us, MIN_RTT_THRESH_US),
	QUIC_HYSTARTPP_PARAM(max_rtt_thresh_us, MAX_RTT_THRESH_US),
	QUIC_HYSTARTPP_PARAM(min_rtt_divisor, MIN_RTT_DIVISOR),
	QUIC_HYSTARTPP_PARAM(n_rtt_sample, N_RTT_SAMPLE),
	QUIC_HYSTARTPP_PARAM(css_growth_divisor, CSS_GROWTH_DIVISOR),
	QUIC_HYSTARTPP_PARAM(css_rounds, CSS_ROUNDS),
	QUIC_HYSTARTPP_PARAM(l_pkts, L_PKTS),
};

const struct quic_core quic_hystartpp = {
	.name = "hystartpp",
	.cause = "hystartpp",
	.params = quic_hystartpp_params,
	.params_count = ARRAY_SIZE(quic_hystartpp_params),
	.iw_place = QUIC_MOST_PARAMS,
	.initial = (const u32 *)&quic_hystartpp_initial,
	.state_bytes = quic_hystartpp_bytes,
	.begin = quic_hystartpp_begin,
	.on_ack = quic_hystartpp_on_ack,
	.on_loss = quic_hystartpp_on_loss,
	.on_timeout = quic_hystartpp_on_timeout,
};
