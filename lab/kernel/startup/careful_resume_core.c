// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Careful Resume: a connection that knows its path's capacity from before jumps to half of it.
 *
 * Source: N. Kuhn, E. Stephan, G. Fairhurst, R. Secchi, C. Huitema, "Convergence of Congestion
 * Control from Retained State", RFC 9959, May 2026 (draft-ietf-tsvwg-careful-resume-24).  The
 * rules, by the text's sections:
 *
 *  - "Reconnaissance Phase": the connection begins as any other.  Once all its initial data is
 *    acknowledged without congestion, the least RTT is above half the saved one and not above ten
 *    times it, and the window limits the sender, it may jump.  Congestion, another path or a set
 *    beyond its lifetime end Careful Resume, and nothing has changed;
 *  - "Unvalidated Phase": PipeSize is what was in flight; the window becomes min(max_jump,
 *    saved / 2), paced over the current RTT (the caller's part).  PipeSize grows by what is
 *    acknowledged.  The phase ends when the window is full, when the first unvalidated packet is
 *    acknowledged, or after one RTT.  A sender that did not use the window (in flight: less than
 *    the initial window, or PipeSize at most) gets PipeSize and is done; else the window becomes
 *    what is in flight.  A path that changes meanwhile leads to the Safe Retreat;
 *  - "Validating Phase": the window follows the normal rules (the caller's part), until the last
 *    unvalidated packet is acknowledged;
 *  - "Safe Retreat Phase": congestion in either phase.  The window becomes half of PipeSize and
 *    does not grow.  When the last unvalidated packet is acknowledged, ssthresh becomes
 *    PipeSize * Beta;
 *  - "Detecting Persistent Congestion": a timeout ends Careful Resume.
 *
 * Differences from the text
 *
 *  1. Units.  Packets, as all of Linux TCP counts.
 *  2. The window is full when it was full before the ACK that is looked at: between ACKs nothing
 *     is called.
 *  3. The initial data is what was sent before the first ACK.
 *  4. A jump that is not above the window is none: Careful Resume ends.
 *  5. A retreat leaves at least two packets, also where PipeSize is below four.
 *  6. The last packet is that of the Unvalidated Phase, as the exit's rule has it (the rule of
 *     loss recovery also names those of the Validating Phase: TCP's own recovery covers them).
 */
#include "careful_resume_core.h"

static u32 careful_resume_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static bool careful_resume_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;	/* sequence numbers wrap */
}

static bool careful_resume_within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

#define CAREFUL_RESUME_VALID(params, name, NAME)					\
	careful_resume_within((params)->name, CAREFUL_RESUME_##NAME##_MIN,		\
			      CAREFUL_RESUME_##NAME##_MAX)

bool careful_resume_params_valid(const struct careful_resume_params *params)
{
	return CAREFUL_RESUME_VALID(params, saved_cwnd_pkts, SAVED_CWND_PKTS) &&
	       CAREFUL_RESUME_VALID(params, saved_rtt_us, SAVED_RTT_US) &&
	       CAREFUL_RESUME_VALID(params, saved_age_s, SAVED_AGE_S) &&
	       CAREFUL_RESUME_VALID(params, lifetime_s, LIFETIME_S) &&
	       CAREFUL_RESUME_VALID(params, path_changed, PATH_CHANGED) &&
	       CAREFUL_RESUME_VALID(params, max_jump_pkts, MAX_JUMP_PKTS) &&
	       CAREFUL_RESUME_VALID(params, beta_pct, BETA_PCT);
}
search_export(careful_resume_params_valid);

bool careful_resume_usable(const struct careful_resume_params *params)
{
	return params->saved_cwnd_pkts && params->saved_rtt_us && !params->path_changed &&
	       params->saved_age_s <= params->lifetime_s;
}
search_export(careful_resume_usable);

void careful_resume_begin(struct careful_resume_state *state, bool usable)
{
	*state = (struct careful_resume_state) {
		.phase = usable ? CAREFUL_RESUME_RECONNAISSANCE : CAREFUL_RESUME_NORMAL,
	};
}
search_export(careful_resume_begin);

void careful_resume_stop(struct careful_resume_state *state)
{
	state->phase = CAREFUL_RESUME_NORMAL;
}
search_export(careful_resume_stop);

u32 careful_resume_jump_pkts(const struct careful_resume_params *params)
{
	u32 half = params->saved_cwnd_pkts / 2;

	return half < params->max_jump_pkts ? half : params->max_jump_pkts;
}
search_export(careful_resume_jump_pkts);

/* Section "Confirming the Path". */
static bool careful_resume_rtt_too_small(const struct careful_resume_params *params, u32 rtt_us)
{
	return rtt_us <= params->saved_rtt_us / CAREFUL_RESUME_RTT_DIVISOR;
}

static bool careful_resume_same_path(const struct careful_resume_state *state,
				     const struct careful_resume_params *params)
{
	return state->min_rtt_us &&
	       !careful_resume_rtt_too_small(params, state->min_rtt_us) &&
	       state->min_rtt_us <= (u64)params->saved_rtt_us * CAREFUL_RESUME_RTT_FACTOR;
}

static void careful_resume_reconnoitre(struct careful_resume_state *state,
				       const struct careful_resume_params *params,
				       const struct careful_resume_ack *ack,
				       struct careful_resume_change *change)
{
	if (ack->rtt_us && (!state->min_rtt_us || ack->rtt_us < state->min_rtt_us))
		state->min_rtt_us = ack->rtt_us;
	if (!state->initial_sent) {
		state->initial_sent = 1;
		state->first_seq = ack->snd_nxt;
	}
	if (careful_resume_before(ack->snd_una, state->first_seq))
		return;
	if (!careful_resume_same_path(state, params) ||
	    careful_resume_jump_pkts(params) <= ack->cwnd_pkts) {
		careful_resume_stop(state);
		return;
	}
	if (!ack->limited)
		return;

	state->phase = CAREFUL_RESUME_UNVALIDATED;
	state->first_seq = ack->snd_nxt;
	state->pipe_pkts = ack->flight_pkts;
	state->entered_us = ack->now_us;
	state->rtt_us = ack->rtt_us ? ack->rtt_us : state->min_rtt_us;
	change->cwnd_pkts = careful_resume_jump_pkts(params);
}

static void careful_resume_retreat(struct careful_resume_state *state, u32 snd_nxt,
				   struct careful_resume_change *change)
{
	if (state->phase == CAREFUL_RESUME_UNVALIDATED)
		state->last_seq = snd_nxt;
	state->phase = CAREFUL_RESUME_SAFE_RETREAT;
	change->cwnd_pkts = careful_resume_max(state->pipe_pkts / 2, CAREFUL_RESUME_LEAST_PKTS);
}

static bool careful_resume_jump_over(const struct careful_resume_state *state,
				     const struct careful_resume_ack *ack)
{
	return ack->before_pkts >= ack->cwnd_pkts ||
	       careful_resume_before(state->first_seq, ack->snd_una) ||
	       ack->now_us - state->entered_us > state->rtt_us;
}

static void careful_resume_jumped(struct careful_resume_state *state,
				  const struct careful_resume_params *params,
				  const struct careful_resume_ack *ack,
				  struct careful_resume_change *change)
{
	if (ack->rtt_us && careful_resume_rtt_too_small(params, ack->rtt_us)) {
		careful_resume_retreat(state, ack->snd_nxt, change);
		return;
	}
	if (!careful_resume_jump_over(state, ack))
		return;
	if (ack->flight_pkts < CAREFUL_RESUME_IW_PKTS || ack->flight_pkts <= state->pipe_pkts) {
		change->cwnd_pkts = careful_resume_max(state->pipe_pkts, CAREFUL_RESUME_IW_PKTS);
		careful_resume_stop(state);
		return;
	}
	state->phase = CAREFUL_RESUME_VALIDATING;
	state->last_seq = ack->snd_nxt;
	change->cwnd_pkts = ack->flight_pkts;
}

void careful_resume_on_ack(struct careful_resume_state *state,
			   const struct careful_resume_params *params,
			   const struct careful_resume_ack *ack,
			   struct careful_resume_change *change)
{
	bool last_acked = !careful_resume_before(ack->snd_una, state->last_seq);

	*change = (struct careful_resume_change) { 0 };
	if (state->phase > CAREFUL_RESUME_RECONNAISSANCE)
		state->pipe_pkts += ack->acked_pkts;

	switch (state->phase) {
	case CAREFUL_RESUME_RECONNAISSANCE:
		careful_resume_reconnoitre(state, params, ack, change);
		break;
	case CAREFUL_RESUME_UNVALIDATED:
		careful_resume_jumped(state, params, ack, change);
		break;
	case CAREFUL_RESUME_VALIDATING:
		if (last_acked)
			careful_resume_stop(state);
		break;
	case CAREFUL_RESUME_SAFE_RETREAT:
		if (last_acked) {
			change->ssthresh_pkts = careful_resume_ssthresh_pkts(state, params);
			careful_resume_stop(state);
		}
		break;
	}
}
search_export(careful_resume_on_ack);

void careful_resume_congested(struct careful_resume_state *state, u32 snd_nxt,
			      struct careful_resume_change *change)
{
	*change = (struct careful_resume_change) { 0 };
	if (state->phase == CAREFUL_RESUME_RECONNAISSANCE)
		careful_resume_stop(state);
	else if (state->phase == CAREFUL_RESUME_UNVALIDATED ||
		 state->phase == CAREFUL_RESUME_VALIDATING)
		careful_resume_retreat(state, snd_nxt, change);
}
search_export(careful_resume_congested);

u32 careful_resume_ssthresh_pkts(const struct careful_resume_state *state,
				 const struct careful_resume_params *params)
{
	return careful_resume_max(div_u64((u64)state->pipe_pkts * params->beta_pct, 100),
				  CAREFUL_RESUME_LEAST_PKTS);
}
search_export(careful_resume_ssthresh_pkts);
