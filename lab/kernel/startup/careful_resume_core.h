/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Careful Resume (RFC 9959) as a pure function: sequence numbers, round-trip times, acknowledged
 * packets and packets in flight go in, phase, window and threshold come out.  No clock, no socket,
 * no memory allocation, integers only.  The story is in careful_resume_core.c.
 *
 *	careful_resume_begin(state, usable);
 *	on each ACK, as long as state->phase is not CAREFUL_RESUME_NORMAL:
 *		careful_resume_on_ack(state, &params, &ack, &change);
 *	on a congestion signal, before TCP reacts to it:
 *		careful_resume_congested(state, snd_nxt, &change);
 *	on a retransmission timeout:
 *		careful_resume_stop(state);
 */
#ifndef CAREFUL_RESUME_CORE_H
#define CAREFUL_RESUME_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define CAREFUL_RESUME_SAVED_CWND_PKTS_MIN	0
#define CAREFUL_RESUME_SAVED_CWND_PKTS_MAX	10000000
#define CAREFUL_RESUME_SAVED_RTT_US_MIN		0
#define CAREFUL_RESUME_SAVED_RTT_US_MAX		60000000
#define CAREFUL_RESUME_SAVED_AGE_S_MIN		0
#define CAREFUL_RESUME_SAVED_AGE_S_MAX		31536000
#define CAREFUL_RESUME_LIFETIME_S_MIN		1
#define CAREFUL_RESUME_LIFETIME_S_MAX		31536000
#define CAREFUL_RESUME_PATH_CHANGED_MIN		0
#define CAREFUL_RESUME_PATH_CHANGED_MAX		1
#define CAREFUL_RESUME_MAX_JUMP_PKTS_MIN	1
#define CAREFUL_RESUME_MAX_JUMP_PKTS_MAX	10000000
#define CAREFUL_RESUME_BETA_PCT_MIN		50
#define CAREFUL_RESUME_BETA_PCT_MAX		100

#define CAREFUL_RESUME_IW_PKTS		10	/* RFC 6928 */
#define CAREFUL_RESUME_LEAST_PKTS	2
#define CAREFUL_RESUME_RTT_DIVISOR	2	/* a path with an RTT of saved / 2 or less is another one */
#define CAREFUL_RESUME_RTT_FACTOR	10	/* as is one with more than ten times the saved RTT */

/* The set of saved parameters, and what a sender configures. */
struct careful_resume_params {
	u32 saved_cwnd_pkts;	/* 0: nothing is saved */
	u32 saved_rtt_us;
	u32 saved_age_s;
	u32 lifetime_s;		/* an older set is not used */
	u32 path_changed;	/* nonzero: the remote endpoint is not the saved one */
	u32 max_jump_pkts;
	u32 beta_pct;		/* of PipeSize: ssthresh after a Safe Retreat */
};

enum careful_resume_phase {
	CAREFUL_RESUME_NORMAL,		/* Careful Resume is not used, or no more */
	CAREFUL_RESUME_RECONNAISSANCE,
	CAREFUL_RESUME_UNVALIDATED,
	CAREFUL_RESUME_VALIDATING,
	CAREFUL_RESUME_SAFE_RETREAT,
};

struct careful_resume_state {
	u32 first_seq;		/* reconnaissance: the end of the initial data; then: of the first
				 * unvalidated packet
				 */
	u32 last_seq;		/* behind the last unvalidated packet */
	u32 min_rtt_us;		/* of the reconnaissance; 0: no sample */
	u32 pipe_pkts;		/* PipeSize */
	u32 entered_us;		/* when the unvalidated phase began ... */
	u32 rtt_us;		/* ... and the current RTT then */
	u8 phase;		/* enum careful_resume_phase */
	u8 initial_sent;	/* nonzero: first_seq is known */
	u8 reserved[2];
};

/* The input of one ACK. */
struct careful_resume_ack {
	u32 now_us;		/* any clock that runs steadily; only differences count */
	u32 snd_una;		/* of the socket, this ACK included, before anything is sent upon it */
	u32 snd_nxt;
	u32 rtt_us;		/* this ACK's RTT sample, below 2^31; 0: it has none */
	u32 acked_pkts;		/* newly acknowledged: of data sent before a Safe Retreat began */
	u32 before_pkts;	/* in flight before this ACK ... */
	u32 flight_pkts;	/* ... and after it */
	u32 cwnd_pkts;
	u32 limited;		/* nonzero: the window is what limits the sender */
};

/* What changes; 0: as it is. */
struct careful_resume_change {
	u32 cwnd_pkts;
	u32 ssthresh_pkts;
};

bool careful_resume_params_valid(const struct careful_resume_params *params);

/* Whether the saved set is for this path, and not too old. */
bool careful_resume_usable(const struct careful_resume_params *params);

/* A connection begins. */
void careful_resume_begin(struct careful_resume_state *state, bool usable);

u32 careful_resume_jump_pkts(const struct careful_resume_params *params);

/* Account one ACK without a congestion signal; @change says what it changes. */
void careful_resume_on_ack(struct careful_resume_state *state,
			   const struct careful_resume_params *params,
			   const struct careful_resume_ack *ack,
			   struct careful_resume_change *change);

/* A loss or a mark.  @snd_nxt: of the socket */
void careful_resume_congested(struct careful_resume_state *state, u32 snd_nxt,
			      struct careful_resume_change *change);

/* Persistent congestion: Careful Resume is over. */
void careful_resume_stop(struct careful_resume_state *state);

/* ssthresh after a Safe Retreat that ends now. */
u32 careful_resume_ssthresh_pkts(const struct careful_resume_state *state,
				 const struct careful_resume_params *params);

#endif /* CAREFUL_RESUME_CORE_H */
