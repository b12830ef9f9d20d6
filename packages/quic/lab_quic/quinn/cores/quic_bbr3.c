// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BBR version 3 over QUIC, as tcp_bbr3.c has it over TCP.  It is alone: CUBIC takes no part.
 *
 * BBR counts in bytes here.  rate.rs notes what was delivered, lost and in flight as packets were sent,
 * and takes the samples of the delivery rate (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
 *
 * Differences from the draft, in addition to those of the core
 *
 *  1. The flow begins with the first ACK, so the handshake's round trip is known; the first flight is
 *     paced as quinn paces.
 *  2. quinn's bursts have ten packets or more, those of the draft what a millisecond sends.
 *  3. quinn declares packets lost behind the ACK, and all at once: they count with the next ACK, and as
 *     one packet of their size that was sent when the newest was.
 *  4. What was in flight as a packet was sent is that of the last one that was sent at the same time.
 *  5. A packet is limited by the application if it was so at the last ACK before it.
 *  6. Nothing is undone: quinn does not notice a spurious loss.
 *  7. The random waits follow from the time of the first ACK.
 */
#include "bbr3_core.h"
#include "quic_core.h"

#define QUIC_BBR3_MOST_QUANTUM_BYTES	65536
#define QUIC_BBR3_LEAST_PKTS		2	/* the window of RFC 9002 behind persistent congestion */

struct quic_bbr3_flow {
	struct bbr3_params params;
	struct bbr3_state core;
	u32 lost_bytes;
	u32 newly_lost_bytes;	/* not yet seen by an ACK */
	u32 probe_rtt_from;	/* delivered as ProbeRTT began ... */
	u32 probe_rtt_until;	/* ... and as all that was sent in it was */
	u8 begun;
	u8 in_probe_rtt;
	u8 window_full;		/* in this round */
	u8 left;		/* Startup */
};

static size_t quic_bbr3_bytes(const u32 *params)
{
	(void)params;
	return sizeof(struct quic_bbr3_flow);
}

static void quic_bbr3_begin(void *state, const u32 *params)
{
	((struct quic_bbr3_flow *)state)->params = *(const struct bbr3_params *)params;
}

static void quic_bbr3_begin_flow(struct quic_bbr3_flow *flow, const struct quic_event *event)
{
	struct bbr3_start start = {
		.now_us = event->now_us,
		.smss = event->packet_bytes,
		.most_quantum = QUIC_BBR3_MOST_QUANTUM_BYTES,
		.budget_quanta = 1,
		.cwnd = event->window_bytes,
		.srtt_us = event->srtt_us,
		.delivered = event->delivered_bytes - event->acked_bytes,
		.selective_acks = 1,
		.seed = event->now_us,
	};

	if (!flow->begun)
		bbr3_begin(&flow->core, &start);
	flow->begun = 1;
}

/* Of the newest packet.  The rates of ProbeRTT are no bandwidth. */
static struct bbr3_sent quic_bbr3_sent(const struct quic_bbr3_flow *flow, const struct quic_event *event)
{
	u32 delivered = event->then_delivered_bytes;
	bool probed = flow->probe_rtt_from != flow->probe_rtt_until &&
		      (s32)(delivered - flow->probe_rtt_from) >= 0 && (s32)(flow->probe_rtt_until - delivered) >= 0;

	return (struct bbr3_sent) {
		.delivered = delivered,
		.lost = event->then_lost_bytes,
		.inflight = event->then_flight_bytes,
		.app_limited = event->then_limited || probed,
	};
}

static void quic_bbr3_note_probe_rtt(struct quic_bbr3_flow *flow, const struct quic_event *event)
{
	bool within = flow->core.mode == BBR3_PROBE_RTT;

	if (within && !flow->in_probe_rtt)
		flow->probe_rtt_from = event->delivered_bytes;
	if (within)
		flow->probe_rtt_until = event->delivered_bytes + event->flight_bytes;
	flow->in_probe_rtt = within;
}

/* Units per microsecond, << BBR3_RATE_BITS. */
static u64 quic_bbr3_bytes_per_s(u64 rate)
{
	u64 part = rate & ((1ULL << BBR3_RATE_BITS) - 1);

	return (rate >> BBR3_RATE_BITS) * 1000000 + (part * 1000000 >> BBR3_RATE_BITS);
}

static void quic_bbr3_leave_startup(struct quic_bbr3_flow *flow, const struct quic_event *event,
				    struct quic_change *change)
{
	u64 threshold = bbr3_bdp(&flow->core);

	if (flow->left || !flow->core.full_bw_reached)
		return;
	flow->left = 1;
	change->exit = 1;
	if (threshold < (u64)QUIC_BBR3_LEAST_PKTS * event->packet_bytes)
		threshold = (u64)QUIC_BBR3_LEAST_PKTS * event->packet_bytes;
	change->ssthresh_bytes = threshold < change->window_bytes ? threshold : change->window_bytes;
}

static struct bbr3_ack quic_bbr3_ack(const struct quic_bbr3_flow *flow, const struct quic_event *event, u32 cwnd)
{
	return (struct bbr3_ack) {
		.now_us = event->now_us,
		.delivered = event->delivered_bytes,
		.lost = flow->lost_bytes,
		.inflight = event->flight_bytes,
		.cwnd = cwnd,
		.acked = event->acked_bytes,
		.newly_lost = flow->newly_lost_bytes,
		.rtt_us = event->rtt_us,
		.srtt_us = event->srtt_us,
		.interval_us = event->interval_us,
		.has_data = 1,
		.newest = quic_bbr3_sent(flow, event),
		.cwnd_limited = flow->window_full,
		.fast_recovery = flow->core.recovering,
	};
}

static void quic_bbr3_on_ack(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_bbr3_flow *flow = state;
	u32 cwnd = event->window_bytes;
	struct bbr3_ack ack;

	quic_bbr3_begin_flow(flow, event);
	flow->window_full |= event->window_full;
	if (flow->core.recovering && !event->in_recovery)
		cwnd = bbr3_exit_recovery(&flow->core, cwnd);
	ack = quic_bbr3_ack(flow, event, cwnd);
	change->own = 1;
	change->window_bytes = bbr3_on_ack(&flow->core, &flow->params, &ack);
	change->pacing_bytes_per_s = quic_bbr3_bytes_per_s(flow->core.pacing_rate);
	flow->newly_lost_bytes = 0;
	if (flow->core.round_start)
		flow->window_full = 0;
	quic_bbr3_note_probe_rtt(flow, event);
	quic_bbr3_leave_startup(flow, event, change);
}

static void quic_bbr3_on_loss(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_bbr3_flow *flow = state;
	struct bbr3_loss loss;

	(void)change;
	quic_bbr3_begin_flow(flow, event);
	if (!flow->core.recovering)
		bbr3_enter_recovery(&flow->core, event->window_bytes, event->delivered_bytes);
	flow->lost_bytes += event->lost_bytes;
	flow->newly_lost_bytes += event->lost_bytes;
	loss = (struct bbr3_loss) {
		.now_us = event->now_us,
		.delivered = event->delivered_bytes,
		.lost = flow->lost_bytes,
		.cwnd = event->window_bytes,
		.size = event->lost_bytes,
		.packet = quic_bbr3_sent(flow, event),
	};
	bbr3_lost(&flow->core, &flow->params, &loss);
}

static void quic_bbr3_on_timeout(void *state, const struct quic_event *event, struct quic_change *change)
{
	quic_bbr3_on_loss(state, event, change);
	change->window_bytes = (u64)QUIC_BBR3_LEAST_PKTS * event->packet_bytes;
}

static void quic_bbr3_on_restart(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_bbr3_flow *flow = state;

	if (!flow->begun)
		return;
	change->window_bytes = bbr3_restart_from_idle(&flow->core, event->now_us, event->window_bytes,
						      event->delivered_bytes);
	change->pacing_bytes_per_s = quic_bbr3_bytes_per_s(flow->core.pacing_rate);
}

/* As bbr3_tcp.h has them. */
static const struct bbr3_params quic_bbr3_initial = {
	.growth_pct = 25,
	.full_rounds = 3,
	.loss_pct = 2,
	.loss_ranges = 6,
};

#define QUIC_BBR3_PARAM(name, NAME) QUIC_PARAM(struct bbr3_params, BBR3, name, NAME)

static const struct quic_param quic_bbr3_params[] = {
	QUIC_BBR3_PARAM(growth_pct, GROWTH_PCT),
	QUIC_BBR3_PARAM(full_rounds, FULL_ROUNDS),
	QUIC_BBR3_PARAM(loss_pct, LOSS_PCT),
	QUIC_BBR3_PARAM(loss_ranges, LOSS_RANGES),
};

const struct quic_core quic_bbr3 = {
	.name = "bbr3",
	.cause = "bbr",
	.params = quic_bbr3_params,
	.params_count = ARRAY_SIZE(quic_bbr3_params),
	.iw_place = QUIC_MOST_PARAMS,
	.alone = 1,
	.initial = (const u32 *)&quic_bbr3_initial,
	.state_bytes = quic_bbr3_bytes,
	.begin = quic_bbr3_begin,
	.on_ack = quic_bbr3_on_ack,
	.on_loss = quic_bbr3_on_loss,
	.on_timeout = quic_bbr3_on_timeout,
	.on_restart = quic_bbr3_on_restart,
};
