/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of BBR's core share: bbr3_core.c, bbr3_model_core.c, bbr3_probe_core.c; and what a core that changes
 * BBR's model needs: leocc_core.c.
 */
#ifndef BBR3_PARTS_H
#define BBR3_PARTS_H

#include "bbr3_core.h"

#define BBR3_MOST_RATE			(1ULL << 48)	/* a multiple of it by percents fits */
#define BBR3_BETA_PCT			70
#define BBR3_HEADROOM_PCT		15
#define BBR3_MIN_PIPE_PKTS		4
#define BBR3_MIN_RTT_US			10000000ULL	/* MinRTTFilterLen */
#define BBR3_PROBE_RTT_INTERVAL_US	5000000ULL
#define BBR3_PROBE_RTT_US		200000ULL	/* ProbeRTTDuration */
#define BBR3_RENO_ROUNDS		63	/* between two probes, at most */
#define BBR3_WAIT_US			2000000U	/* and so long, and up to a second more */
#define BBR3_WAIT_MORE_US		1000000U

static inline u32 bbr3_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 bbr3_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u64 bbr3_max_rate(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 bbr3_rate_percent(u64 rate, u32 pct)
{
	return div_u64(rate * pct, 100);
}

static inline u32 bbr3_percent(u32 amount, u32 pct)
{
	return div_u64((u64)amount * pct, 100);
}

/* A whole amount, which stays infinite. */
static inline u32 bbr3_add(u32 amount, u32 more)
{
	return amount > BBR3_INFINITY - more ? BBR3_INFINITY : amount + more;
}

/* @a is not before @b; counts wrap. */
static inline bool bbr3_reached(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

static inline bool bbr3_in_probe_bw(const struct bbr3_state *state)
{
	return state->mode >= BBR3_DOWN && state->mode <= BBR3_UP;
}

static inline u64 bbr3_max_bw(const struct bbr3_state *state)
{
	return bbr3_max_rate(state->max_bw_of[0], state->max_bw_of[1]);
}

static inline void bbr3_start_round(struct bbr3_state *state, u32 delivered)
{
	state->next_round_delivered = delivered;
}

/* RS.delivered and RS.delivery_rate. */
static inline u32 bbr3_sample_delivered(const struct bbr3_ack *ack)
{
	return ack->has_data ? ack->delivered - ack->newest.delivered : 0;
}

static inline u64 bbr3_sample_rate(const struct bbr3_ack *ack)
{
	u64 rate;

	if (!ack->interval_us)
		return 0;
	rate = div_u64((u64)bbr3_sample_delivered(ack) << BBR3_RATE_BITS, ack->interval_us);
	return rate < BBR3_MOST_RATE ? rate : BBR3_MOST_RATE;
}

/* What a rate carries in a time; saturates. */
u32 bbr3_volume(u64 rate, u64 time_us);

/* bbr3_core.c: an inflight of @pct percent of what @bw carries in min_rtt, and at least what a host needs. */
u32 bbr3_inflight(const struct bbr3_state *state, u64 bw, u32 pct);
u32 bbr3_min_pipe(const struct bbr3_state *state);
void bbr3_save_cwnd(struct bbr3_state *state, u32 cwnd);
u32 bbr3_restore_cwnd(const struct bbr3_state *state, u32 cwnd);
void bbr3_enter_startup(struct bbr3_state *state);
void bbr3_set_pacing_rate(struct bbr3_state *state, u32 gain_pct);

/* The two halves of bbr3_on_ack(): the model with its bandwidth, then rate and window from it. */
u32 bbr3_update_model(struct bbr3_state *state, const struct bbr3_params *params,
		      const struct bbr3_ack *ack);
u32 bbr3_follow_model(struct bbr3_state *state, const struct bbr3_ack *ack, u32 cwnd);

/* bbr3_model_core.c: the network path model. */
void bbr3_note_delivery(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_adapt_to_congestion(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_note_aggregation(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_find_plateau(struct bbr3_state *state, const struct bbr3_params *params,
		       const struct bbr3_ack *ack);
void bbr3_find_min_rtt(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_advance_delivery(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_reset_full_bw(struct bbr3_state *state, u64 full_bw);
void bbr3_reset_short_term(struct bbr3_state *state);
void bbr3_reset_signals(struct bbr3_state *state);
void bbr3_advance_max_bw(struct bbr3_state *state);
void bbr3_save_state(struct bbr3_state *state, u32 cwnd);
bool bbr3_too_much_lost(const struct bbr3_state *state, const struct bbr3_params *params, u32 lost,
			u32 inflight);

/* bbr3_probe_core.c: ProbeBW and ProbeRTT. */
void bbr3_enter_probe_bw(struct bbr3_state *state, const struct bbr3_ack *ack);
void bbr3_probe_bw(struct bbr3_state *state, const struct bbr3_params *params,
		   const struct bbr3_ack *ack);
void bbr3_start_down(struct bbr3_state *state, u64 now_us, u32 delivered);
void bbr3_start_refill(struct bbr3_state *state, u32 delivered);
u32 bbr3_check_probe_rtt(struct bbr3_state *state, const struct bbr3_ack *ack);
u32 bbr3_probe_rtt_done(struct bbr3_state *state, u64 now_us, u32 cwnd, u32 delivered);
u32 bbr3_probe_rtt_cwnd(const struct bbr3_state *state);
u32 bbr3_with_headroom(const struct bbr3_state *state);

#endif /* BBR3_PARTS_H */
