// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copa: keep 1 / delta packets in the queue, by moving the window towards a target rate.
 *
 * Source: V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
 * Internet", NSDI 2018.  The rules, by the paper's sections:
 *
 *  - 2.1 "Target rate and update rule": the queueing delay is dq = RTTstanding - RTTmin, the target
 *    rate 1 / (delta dq), the rate cwnd / RTTstanding.  Not above the target, each ACK adds
 *    v / (delta cwnd) to the window; above it, it takes as much.  RTTstanding is the least of the
 *    last srtt / 2, RTTmin that of the last 10 s;
 *  - in slow start the window doubles each RTT, until the rate exceeds the target;
 *  - the velocity v doubles with each window in the same direction, once there were three of them,
 *    and is 1 after a change;
 *  - 2.2 "Competing with buffer-filling schemes": where the queue was not nearly empty, dq below a
 *    tenth of RTTmax - RTTmin, once in five RTTs, 1 / delta grows by 1 each window and halves with
 *    a loss, but is no less than that of default mode.  RTTmax is that of the last four RTTs;
 *  - packets are paced at 2 cwnd / RTTstanding (the caller's part).
 *
 * Differences from the paper
 *
 *  1. Windows of time are two parts, of which the older one is whole: a least RTT is that of half
 *     the window to all of it.
 *  2. The window is counted in 1 / 65536 packets and is at least two packets; v is at most 1024
 *     and 1 / delta at most 4096.
 *  3. A loss ends slow start, and an application-limited flow does not grow in it: the paper is
 *     silent.
 *  4. An ACK without an RTT sample moves the window by the delays known before.
 */
#include "copa_core.h"

#define COPA_FP_BITS	16
#define COPA_MOST_STEP	(1U << 31)

static u32 copa_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 copa_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

bool copa_params_valid(const struct copa_params *params)
{
	return params->inverse_delta >= COPA_INVERSE_DELTA_MIN &&
	       params->inverse_delta <= COPA_INVERSE_DELTA_MAX &&
	       params->competes <= COPA_COMPETES_MAX;
}
search_export(copa_params_valid);

void copa_begin(struct copa_state *state, const struct copa_params *params, u32 cwnd_pkts,
		u32 snd_nxt)
{
	*state = (struct copa_state) {
		.cwnd_fp = (u64)copa_min(cwnd_pkts, COPA_MOST_PKTS) << COPA_FP_BITS,
		.window_end = snd_nxt,
		.window_pkts = cwnd_pkts,
		.inverse_delta = params->inverse_delta,
		.velocity = 1,
		.slow_start = 1,
	};
}
search_export(copa_begin);

u32 copa_cwnd_pkts(const struct copa_state *state)
{
	return state->cwnd_fp >> COPA_FP_BITS;
}
search_export(copa_cwnd_pkts);

static u32 copa_least_of(const struct copa_extreme *extreme)
{
	return copa_min(extreme->now, extreme->before);
}

u32 copa_standing_rtt_us(const struct copa_state *state)
{
	return state->started ? copa_least_of(&state->standing) : 0;
}
search_export(copa_standing_rtt_us);

static void copa_take(struct copa_extreme *extreme, u32 now_us, u32 part_us, u32 sample_us,
		      bool least)
{
	u32 age_us = now_us - extreme->begin_us;

	if (age_us >= part_us) {
		extreme->before = age_us >= 2 * (u64)part_us ? sample_us : extreme->now;
		extreme->now = sample_us;
		extreme->begin_us = now_us;
	}
	extreme->now = least ? copa_min(extreme->now, sample_us) : copa_max(extreme->now, sample_us);
}

static void copa_start(struct copa_state *state, const struct copa_ack *ack)
{
	struct copa_extreme first = { ack->now_us, ack->rtt_us, ack->rtt_us };

	state->standing = first;
	state->least = first;
	state->most = first;
	state->empty_us = ack->now_us;
	state->started = 1;
}

static void copa_sample(struct copa_state *state, const struct copa_ack *ack)
{
	if (!state->started)
		copa_start(state, ack);
	copa_take(&state->standing, ack->now_us, ack->srtt_us / 4, ack->rtt_us, true);
	copa_take(&state->least, ack->now_us, COPA_LONG_US / 2, ack->rtt_us, true);
	copa_take(&state->most, ack->now_us, 2 * ack->srtt_us, ack->rtt_us, false);
}

/* dq.  The shorter window's least is not below the longer one's, but its parts may be older. */
static u32 copa_queueing_us(const struct copa_state *state)
{
	u32 standing_us = copa_least_of(&state->standing);
	u32 least_us = copa_least_of(&state->least);

	return standing_us > least_us ? standing_us - least_us : 0;
}

static bool copa_above_target(const struct copa_state *state)
{
	u64 queueing_us = copa_queueing_us(state);
	u64 kept_fp = ((u64)state->inverse_delta * copa_least_of(&state->standing)) << COPA_FP_BITS;

	return queueing_us && state->cwnd_fp > div64_u64(kept_fp, queueing_us);
}

static void copa_find_mode(struct copa_state *state, const struct copa_params *params,
			   const struct copa_ack *ack)
{
	u32 most_us = copa_max(state->most.now, state->most.before);
	u32 swing_us = most_us - copa_min(most_us, copa_least_of(&state->least));

	if (copa_queueing_us(state) * 10ULL <= swing_us)
		state->empty_us = ack->now_us;
	state->competing = params->competes &&
			   ack->now_us - state->empty_us > COPA_EMPTY_RTTS * (u64)ack->srtt_us;
	if (!state->competing)
		state->inverse_delta = params->inverse_delta;
}

static void copa_find_velocity(struct copa_state *state)
{
	u8 up = copa_cwnd_pkts(state) > state->window_pkts;

	if (up != state->up) {
		state->same_windows = 0;
		state->velocity = 1;
	} else if (state->same_windows < COPA_SAME_WINDOWS) {
		state->same_windows++;
	} else {
		state->velocity = copa_min(2 * state->velocity, COPA_VELOCITY_MAX);
	}
	state->up = up;
}

static void copa_compete(struct copa_state *state, const struct copa_params *params)
{
	if (!state->lost)
		state->inverse_delta = copa_min(state->inverse_delta + 1, COPA_INVERSE_DELTA_MOST);
	else
		state->inverse_delta = copa_max(state->inverse_delta / 2, params->inverse_delta);
}

static void copa_next_window(struct copa_state *state, const struct copa_params *params,
			     const struct copa_ack *ack)
{
	if (!state->slow_start)
		copa_find_velocity(state);
	if (state->competing)
		copa_compete(state, params);
	state->lost = 0;
	state->window_end = ack->snd_nxt;
	state->window_pkts = copa_cwnd_pkts(state);
}

/* By v / (delta cwnd) for each packet that was acknowledged. */
static void copa_move(struct copa_state *state, u32 acked_pkts, bool up)
{
	u64 step = (u64)state->velocity * state->inverse_delta * acked_pkts;
	u64 least_fp = (u64)COPA_LEAST_PKTS << COPA_FP_BITS;
	u64 most_fp = (u64)COPA_MOST_PKTS << COPA_FP_BITS;
	u64 step_fp;

	step = step < COPA_MOST_STEP ? step : COPA_MOST_STEP;
	step_fp = div64_u64(step << (2 * COPA_FP_BITS), state->cwnd_fp);
	if (up)
		state->cwnd_fp = state->cwnd_fp + step_fp < most_fp ? state->cwnd_fp + step_fp : most_fp;
	else
		state->cwnd_fp = state->cwnd_fp > least_fp + step_fp ? state->cwnd_fp - step_fp : least_fp;
}

static void copa_slow_start(struct copa_state *state, const struct copa_ack *ack)
{
	if (ack->limited)
		state->cwnd_fp = (u64)copa_min(copa_cwnd_pkts(state) + copa_min(ack->acked_pkts, COPA_MOST_PKTS),
					       COPA_MOST_PKTS) << COPA_FP_BITS;
}

bool copa_on_ack(struct copa_state *state, const struct copa_params *params,
		 const struct copa_ack *ack)
{
	bool above;

	if (ack->rtt_us)
		copa_sample(state, ack);
	if (!state->started)
		return false;
	copa_find_mode(state, params, ack);
	if ((s32)(ack->snd_una - state->window_end) > 0)	/* sequence numbers wrap */
		copa_next_window(state, params, ack);

	above = copa_above_target(state);
	if (state->slow_start && !above) {
		copa_slow_start(state, ack);
		return false;
	}
	if (state->slow_start) {
		state->slow_start = 0;
		return true;
	}
	copa_move(state, ack->acked_pkts, !above);
	return false;
}
search_export(copa_on_ack);

void copa_lost(struct copa_state *state)
{
	state->slow_start = 0;
	state->lost = 1;
}
search_export(copa_lost);
