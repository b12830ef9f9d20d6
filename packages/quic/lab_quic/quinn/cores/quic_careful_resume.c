// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Careful Resume over QUIC, as tcp_careful_resume.c has it over TCP: CUBIC, but from the jump to the end
 * of the Unvalidated Phase and in a Safe Retreat, where the window is Careful Resume's.
 *
 * Differences from the module
 *
 *  1. The initial data begins with the first ACK that finds the window full: the handshake is none.
 *  2. A program is one connection, so no other one uses the set; nothing is observed for a later one.
 *  3. The jump is paced as quinn paces: 5/4 of the window per round trip.
 *  4. The window is full with one packet less: quinn never uses the last one.
 *  5. The retreat ends when all that was unvalidated is acknowledged or declared lost, and CUBIC goes on
 *     at once.  Until then the threshold is the window, so that the flow counts as out of slow start.
 */
#include "careful_resume_core.h"
#include "quic_core.h"

struct quic_careful_resume_flow {
	struct careful_resume_params params;
	struct careful_resume_state core;
	u64 retreat_bytes;	/* the window of the retreat */
};

static size_t quic_careful_resume_bytes(const u32 *params)
{
	(void)params;
	return sizeof(struct quic_careful_resume_flow);
}

static void quic_careful_resume_begin(void *state, const u32 *params)
{
	struct quic_careful_resume_flow *flow = state;

	flow->params = *(const struct careful_resume_params *)params;
	careful_resume_begin(&flow->core, careful_resume_usable(&flow->params));
}

static struct careful_resume_ack quic_careful_resume_ack(const struct quic_careful_resume_flow *flow,
							 const struct quic_event *event)
{
	bool retreats = flow->core.phase == CAREFUL_RESUME_SAFE_RETREAT;
	u64 acked_bytes = retreats ? event->acked_before_bytes : event->acked_bytes;

	return (struct careful_resume_ack) {
		.now_us = event->now_us,
		.snd_una = event->sent_bytes - event->flight_bytes,
		.snd_nxt = event->sent_bytes,
		.rtt_us = event->rtt_us,
		.acked_pkts = quic_acked_pkts(event, acked_bytes),
		.before_pkts = quic_pkts(event, event->flight_bytes + event->acked_bytes) + 1,
		.flight_pkts = quic_pkts(event, event->flight_bytes),
		.cwnd_pkts = quic_pkts(event, event->window_bytes),
		.limited = !event->limited,
	};
}

/* A Safe Retreat begins, with the window of @change. */
static void quic_careful_resume_retreat(struct quic_careful_resume_flow *flow, struct quic_change *change)
{
	flow->retreat_bytes = change->window_bytes;
	change->ssthresh_bytes = change->window_bytes;
}

static void quic_careful_resume_on_ack(void *state, const struct quic_event *event,
				       struct quic_change *change)
{
	struct quic_careful_resume_flow *flow = state;
	struct careful_resume_ack ack = quic_careful_resume_ack(flow, event);
	struct careful_resume_change found;
	u8 phase = flow->core.phase;

	if (phase == CAREFUL_RESUME_NORMAL ||
	    (phase == CAREFUL_RESUME_RECONNAISSANCE && !flow->core.initial_sent && event->limited))
		return;
	careful_resume_on_ack(&flow->core, &flow->params, &ack, &found);
	change->window_bytes = (u64)found.cwnd_pkts * event->packet_bytes;
	change->ssthresh_bytes = (u64)found.ssthresh_pkts * event->packet_bytes;
	change->own = flow->core.phase == CAREFUL_RESUME_UNVALIDATED ||
		      phase == CAREFUL_RESUME_UNVALIDATED || phase == CAREFUL_RESUME_SAFE_RETREAT;
	if (phase != CAREFUL_RESUME_SAFE_RETREAT && flow->core.phase == CAREFUL_RESUME_SAFE_RETREAT) {
		quic_careful_resume_retreat(flow, change);
		change->recovery = 1;
	}
}

static void quic_careful_resume_on_loss(void *state, const struct quic_event *event, struct quic_change *change)
{
	struct quic_careful_resume_flow *flow = state;
	struct careful_resume_change found;

	careful_resume_congested(&flow->core, event->sent_bytes, &found);
	if (flow->core.phase != CAREFUL_RESUME_SAFE_RETREAT)
		return;
	change->window_bytes = flow->retreat_bytes;
	if (found.cwnd_pkts)
		change->window_bytes = (u64)found.cwnd_pkts * event->packet_bytes;
	quic_careful_resume_retreat(flow, change);
}

static void quic_careful_resume_on_timeout(void *state, const struct quic_event *event, struct quic_change *change)
{
	(void)event, (void)change;
	careful_resume_stop(&((struct quic_careful_resume_flow *)state)->core);
}

/* As tcp_careful_resume.c has them: nothing is saved. */
static const struct careful_resume_params quic_careful_resume_initial = {
	.lifetime_s = 3600,
	.max_jump_pkts = CAREFUL_RESUME_MAX_JUMP_PKTS_MAX,
	.beta_pct = 50,
};

#define QUIC_CAREFUL_RESUME_PARAM(name, NAME) \
	QUIC_PARAM(struct careful_resume_params, CAREFUL_RESUME, name, NAME)

static const struct quic_param quic_careful_resume_params[] = {
	QUIC_CAREFUL_RESUME_PARAM(saved_cwnd_pkts, SAVED_CWND_PKTS),
	QUIC_CAREFUL_RESUME_PARAM(saved_rtt_us, SAVED_RTT_US),
	QUIC_CAREFUL_RESUME_PARAM(saved_age_s, SAVED_AGE_S),
	QUIC_CAREFUL_RESUME_PARAM(lifetime_s, LIFETIME_S),
	QUIC_CAREFUL_RESUME_PARAM(path_changed, PATH_CHANGED),
	QUIC_CAREFUL_RESUME_PARAM(max_jump_pkts, MAX_JUMP_PKTS),
	QUIC_CAREFUL_RESUME_PARAM(beta_pct, BETA_PCT),
};

const struct quic_core quic_careful_resume = {
	.name = "careful_resume",
	.cause = "loss",
	.params = quic_careful_resume_params,
	.params_count = ARRAY_SIZE(quic_careful_resume_params),
	.iw_place = QUIC_MOST_PARAMS,
	.initial = (const u32 *)&quic_careful_resume_initial,
	.state_bytes = quic_careful_resume_bytes,
	.begin = quic_careful_resume_begin,
	.on_ack = quic_careful_resume_on_ack,
	.on_loss = quic_careful_resume_on_loss,
	.on_timeout = quic_careful_resume_on_timeout,
};
