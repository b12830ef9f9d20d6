/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HyStart++ (RFC 9406) as a pure function: sequence numbers and
 * round-trip times go in, the phase and the window's growth come out.  No clock, no
 * socket, no memory allocation, integers only.  The story is in hystartpp_core.c.
 *
 *	hystartpp_start(state, snd_nxt);
 *	on each ACK of the initial slow start:
 *		if (hystartpp_on_ack(state, &params, snd_una, snd_nxt, rtt) == HYSTARTPP_EXIT)
 *			ssthresh = cwnd;
 *		else
 *			cwnd += hystartpp_growth_pkts(state, &params, acked, paced);
 */
#ifndef HYSTARTPP_CORE_H
#define HYSTARTPP_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define HYSTARTPP_MIN_RTT_THRESH_US_MIN		1
#define HYSTARTPP_MIN_RTT_THRESH_US_MAX		1000000
#define HYSTARTPP_MAX_RTT_THRESH_US_MIN		1
#define HYSTARTPP_MAX_RTT_THRESH_US_MAX		1000000
#define HYSTARTPP_MIN_RTT_DIVISOR_MIN		1
#define HYSTARTPP_MIN_RTT_DIVISOR_MAX		1000
#define HYSTARTPP_N_RTT_SAMPLE_MIN		1
#define HYSTARTPP_N_RTT_SAMPLE_MAX		255
#define HYSTARTPP_CSS_GROWTH_DIVISOR_MIN	2
#define HYSTARTPP_CSS_GROWTH_DIVISOR_MAX	255
#define HYSTARTPP_CSS_ROUNDS_MIN		1
#define HYSTARTPP_CSS_ROUNDS_MAX		255
#define HYSTARTPP_L_PKTS_MIN			1
#define HYSTARTPP_L_PKTS_MAX			65535

/* The constants of RFC 9406, section 4.3, with its values. */
struct hystartpp_params {
	u32 min_rtt_thresh_us;	/* least growth of the RTT that counts: 4 ms */
	u32 max_rtt_thresh_us;	/* growth of the RTT that always counts: 16 ms */
	u32 min_rtt_divisor;	/* between the two: the last round's RTT by 8 */
	u32 n_rtt_sample;	/* samples that make a round's minimum: 8 */
	u32 css_growth_divisor;	/* conservative slow start grows by a quarter: 4 */
	u32 css_rounds;		/* and lasts so many rounds: 5 */
	u32 l_pkts;		/* most that one ACK adds, unless the flow is paced: 8 */
};

enum hystartpp_phase {
	HYSTARTPP_SLOW_START,
	HYSTARTPP_CSS,		/* conservative slow start */
	HYSTARTPP_EXIT,		/* CSS confirmed it: congestion avoidance */
};

/* 20 bytes: with CUBIC's part it fits into the socket. */
struct hystartpp_state {
	u32 window_end;			/* the round ends when this is acknowledged */
	u32 last_round_min_rtt_us;	/* HYSTARTPP_INFINITY_US: no sample */
	u32 current_round_min_rtt_us;
	u32 css_baseline_min_rtt_us;	/* HYSTARTPP_INFINITY_US: in standard slow start */
	u8 rtt_samples;			/* of this round, up to 255 */
	u8 css_rounds;			/* rounds of CSS that are complete */
	u8 css_acked_pkts;		/* acknowledged in CSS and not yet turned into growth */
	u8 reserved;
};

#define HYSTARTPP_INFINITY_US	((u32)~0)

bool hystartpp_params_valid(const struct hystartpp_params *params);

/* A slow start begins, with @snd_nxt the next sequence number to be sent. */
void hystartpp_start(struct hystartpp_state *state, u32 snd_nxt);

/*
 * Account one ACK, and say in which phase it leaves the flow.
 * @snd_una, @snd_nxt: of the socket, this ACK included, before anything is sent upon it
 * @rtt_us: this ACK's RTT sample, below 2^31; 0: it has none
 *
 * After HYSTARTPP_EXIT only a new start makes sense.
 */
enum hystartpp_phase hystartpp_on_ack(struct hystartpp_state *state,
				      const struct hystartpp_params *params, u32 snd_una,
				      u32 snd_nxt, u32 rtt_us);

/* What the window grows by for @acked_pkts newly acknowledged, in the phase the flow is in. */
u32 hystartpp_growth_pkts(struct hystartpp_state *state, const struct hystartpp_params *params,
			  u32 acked_pkts, bool paced);

#endif /* HYSTARTPP_CORE_H */
