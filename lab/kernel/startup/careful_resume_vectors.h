/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text's own examples (its appendix "Examples of the Careful Resume Phases"), for user space
 * and for KUnit: packet n has the sequence numbers from 1000 (n - 1) on; 29 packets are in flight
 * when the jump to 150, half of 300, begins.
 */
#ifndef CAREFUL_RESUME_VECTORS_H
#define CAREFUL_RESUME_VECTORS_H

#include "careful_resume_core.h"

#define CAREFUL_RESUME_RTT_US 100000

static const struct careful_resume_params careful_resume_example = {
	.saved_cwnd_pkts = 300,
	.saved_rtt_us = CAREFUL_RESUME_RTT_US,
	.lifetime_s = 3600,
	.max_jump_pkts = 1000,
	.beta_pct = 50,
};

struct careful_resume_vector {
	const char *name;
	u32 unvalidated_pkts;	/* that are sent after the jump, in one round trip */
	u32 lost_pkt;		/* the unvalidated packet that is lost; 0: none */
	u32 phase;		/* at the end, with the window, threshold and PipeSize */
	u32 cwnd_pkts;
	u32 ssthresh_pkts;
	u32 pipe_pkts;
};

static const struct careful_resume_vector careful_resume_vectors[] = {
	/* 29 + 121 fill the window; at the last ACK of the 29 the window is full. */
	{ "no loss", 121, 0, CAREFUL_RESUME_NORMAL, 149, 0, 29 + 29 + 121 },
	/* 50 of the 121 are sent: the first one's ACK finds 49 in flight, less than PipeSize. */
	{ "no loss, rate-limited", 50, 0, CAREFUL_RESUME_NORMAL, 29 + 29 + 1, 0, 29 + 29 + 1 },
	/* PipeSize is 29 + 29 + 34 at the loss: the example counts 29 once, from 0 acknowledged. */
	{ "loss of the 35th", 121, 35, CAREFUL_RESUME_NORMAL, (29 + 29 + 34) / 2,
	  (29 + 29 + 120) / 2, 29 + 29 + 120 },
};

/* The jump of the examples: all initial data is acknowledged, and 29 packets are in flight. */
static inline void careful_resume_example_jump(struct careful_resume_state *state,
					       struct careful_resume_change *change)
{
	struct careful_resume_ack ack = {
		.snd_una = 0, .snd_nxt = 29000, .rtt_us = CAREFUL_RESUME_RTT_US,
		.before_pkts = 30, .flight_pkts = 29, .cwnd_pkts = 29, .limited = 1,
	};

	careful_resume_begin(state, careful_resume_usable(&careful_resume_example));
	state->initial_sent = 1;
	careful_resume_on_ack(state, &careful_resume_example, &ack, change);
}

/* Run an example to its end. */
static inline void careful_resume_example_run(const struct careful_resume_vector *vector,
					      struct careful_resume_state *state,
					      struct careful_resume_change *end)
{
	u32 sent_pkts = 29 + vector->unvalidated_pkts;
	u32 lost_pkt = vector->lost_pkt ? 29 + vector->lost_pkt : 0;
	struct careful_resume_change change = { 0 };
	u32 una_pkts = 0;
	u32 pkt;

	careful_resume_example_jump(state, &change);
	*end = change;
	for (pkt = 1; pkt <= sent_pkts && state->phase; pkt++) {
		struct careful_resume_ack ack = {
			.now_us = pkt, .snd_nxt = 1000 * sent_pkts, .rtt_us = CAREFUL_RESUME_RTT_US,
			.acked_pkts = pkt != lost_pkt, .cwnd_pkts = 150,
			.before_pkts = sent_pkts - pkt + 1, .flight_pkts = sent_pkts - pkt,
		};

		if (pkt == lost_pkt) {
			careful_resume_congested(state, ack.snd_nxt, &change);
			end->cwnd_pkts = change.cwnd_pkts;
		}
		if (!lost_pkt || pkt < lost_pkt)
			una_pkts = pkt;
		else if (pkt == sent_pkts)	/* the retransmission has arrived, too */
			una_pkts = sent_pkts;
		ack.snd_una = 1000 * una_pkts;
		careful_resume_on_ack(state, &careful_resume_example, &ack, &change);
		if (change.cwnd_pkts)
			end->cwnd_pkts = change.cwnd_pkts;
		if (change.ssthresh_pkts)
			end->ssthresh_pkts = change.ssthresh_pkts;
	}
}

static inline bool careful_resume_vector_holds(const struct careful_resume_vector *vector)
{
	struct careful_resume_change end;
	struct careful_resume_state state;

	careful_resume_example_run(vector, &state, &end);
	return state.phase == vector->phase && end.cwnd_pkts == vector->cwnd_pkts &&
	       end.ssthresh_pkts == vector->ssthresh_pkts && state.pipe_pkts == vector->pipe_pkts;
}

#endif /* CAREFUL_RESUME_VECTORS_H */
