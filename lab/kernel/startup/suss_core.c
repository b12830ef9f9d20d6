// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SUSS: let a round of slow start grow by more than twice, where the next rounds would still double.
 *
 * Sources: M. Arghavani, H. Zhang, D. Eyers, A. Arghavani, "SUSS: Improving TCP Performance by Speeding
 * Up Slow-Start", SIGCOMM 2024, of which the abstract and its authors' description were at hand, not the
 * whole text; the lab's notes on the published sender, for the constants.  What they say:
 *
 *  - abstract: growth is accelerated when exponential growth is predicted to continue in the next round;
 *    what is sent is clocked by ACKs in part, and paced in part;
 *  - notes: k is at most 1; a least round trip of 10 ms or less has no more; the train of ACKs for the
 *    clocked packets must be shorter than a quarter of the least round trip.
 *
 * The prediction is HyStart's two rules, brought forward by k rounds, in each of which a train and a queue
 * double: the train of ACKs stays within half of the least round trip, and the round's least round trip
 * within an eighth above it.  With k = 1 the first is the quarter of the notes.
 *
 * What is approximated
 *
 *  1. A train is that of the clocked packets alone.  As if all of the window were clocked, it counts by
 *     the window's share of them; so counted, it also has HyStart's rule on trains, whose end is half of
 *     the least round trip: paced packets are no train.
 *  2. The decision on a round falls as the last clocked packet is acknowledged, and grants all that the
 *     round grows by in addition: (2^(k + 1) - 2) times what was in flight as it began.
 *  3. ACKs of paced packets clock out two packets each, as in any slow start; the texts at hand do not
 *     say otherwise.
 */
#include "suss_core.h"

#define SUSS_TRAIN_GAP_US	2000	/* HyStart: ACKs further apart are no train */
#define SUSS_TRAIN_PARTS	2	/* HyStart: of the least round trip */
#define SUSS_QUEUE_PARTS	8	/* the same */

static u32 suss_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Sequence numbers wrap. */
static bool suss_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

bool suss_params_valid(const struct suss_params *params)
{
	return params->k_max <= SUSS_K_MAX_MAX && params->least_rtt_us <= SUSS_LEAST_RTT_US_MAX;
}
search_export(suss_params_valid);

void suss_begin(struct suss_state *state, u32 snd_nxt)
{
	*state = (struct suss_state) {
		.round_begin = snd_nxt,
		.round_end = snd_nxt,
		.clocked_end = snd_nxt,
		.next_clocked_end = snd_nxt,
		.min_rtt_us = SUSS_INFINITY_US,
		.round_min_us = SUSS_INFINITY_US,
	};
}
search_export(suss_begin);

/* Without a decision on the last round, all that is in flight was clocked: the initial window, too. */
static void suss_next_round(struct suss_state *state, const struct suss_ack *ack)
{
	state->round_begin = state->round_end;
	state->clocked_end = state->decided ? state->next_clocked_end : ack->snd_nxt;
	state->round_end = ack->snd_nxt;
	state->first_us = ack->now_us;
	state->last_us = ack->now_us;
	state->round_min_us = SUSS_INFINITY_US;
	state->decided = 0;
	state->k = 0;
}

/* The train of a window that is clocked as a whole. */
static u64 suss_train_us(const struct suss_state *state, u32 now_us)
{
	u32 clocked_bytes = state->clocked_end - state->round_begin;
	u32 flight_bytes = state->round_end - state->round_begin;

	return clocked_bytes ? div_u64((u64)(now_us - state->first_us) * flight_bytes, clocked_bytes) : 0;
}

/* HyStart's rule on trains: a gap ends the train, and it then ends no slow start. */
static void suss_follow_train(struct suss_state *state, const struct suss_ack *ack)
{
	if (ack->now_us - state->last_us > SUSS_TRAIN_GAP_US)
		return;
	state->last_us = ack->now_us;
	state->full = state->min_rtt_us != SUSS_INFINITY_US &&
		      suss_train_us(state, ack->now_us) > state->min_rtt_us / SUSS_TRAIN_PARTS;
}

static bool suss_doubles(const struct suss_state *state, u64 train_us, u32 rounds)
{
	u64 queue_us = state->round_min_us - state->min_rtt_us;

	return train_us << rounds <= state->min_rtt_us / SUSS_TRAIN_PARTS &&
	       queue_us << rounds <= state->min_rtt_us / SUSS_QUEUE_PARTS;
}

static u32 suss_predict(const struct suss_state *state, const struct suss_params *params, u32 now_us)
{
	u64 train_us = suss_train_us(state, now_us);
	u32 k = params->k_max;

	if (state->round_min_us == SUSS_INFINITY_US || state->min_rtt_us <= params->least_rtt_us)
		return 0;
	while (k && !suss_doubles(state, train_us, k))
		k--;
	return k;
}

static u32 suss_decide(struct suss_state *state, const struct suss_params *params, const struct suss_ack *ack)
{
	u64 flight_bytes = state->round_end - state->round_begin;
	u64 more_bytes;

	state->decided = 1;
	state->next_clocked_end = ack->snd_nxt;
	if (!ack->limited)
		return 0;
	state->k = suss_predict(state, params, ack->now_us);
	more_bytes = ((2ULL << state->k) - 2) * flight_bytes;
	return suss_min(div_u64(more_bytes, ack->mss_bytes ? ack->mss_bytes : 1), SUSS_MOST_PKTS);
}

u32 suss_on_ack(struct suss_state *state, const struct suss_params *params, const struct suss_ack *ack)
{
	if (suss_after(ack->snd_una, state->round_end))
		suss_next_round(state, ack);
	if (ack->rtt_us) {
		state->min_rtt_us = suss_min(state->min_rtt_us, ack->rtt_us);
		state->round_min_us = suss_min(state->round_min_us, ack->rtt_us);
	}
	if (state->decided || state->round_end == state->round_begin)
		return 0;
	suss_follow_train(state, ack);
	return suss_after(state->clocked_end, ack->snd_una) ? 0 : suss_decide(state, params, ack);
}
search_export(suss_on_ack);
