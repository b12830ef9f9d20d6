/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BBR version 3 (draft-ietf-ccwg-bbr) as a pure function: times, amounts of data and what was noted
 * as packets were sent go in, the window and the pacing rate come out.  No clock, no socket, no
 * memory allocation, no random pool, integers only.  The story is in bbr3_core.c.
 *
 * Data is counted in units of the caller's choice: packets (TCP) or bytes (QUIC).  Counts of what
 * was delivered and lost may wrap.
 *
 *	bbr3_begin(state, &start);
 *	for each packet that is declared lost:
 *		bbr3_lost(state, &params, &loss);
 *	on each ACK, after that:
 *		window = bbr3_on_ack(state, &params, &ack);
 *		pace at state->pacing_rate
 */
#ifndef BBR3_CORE_H
#define BBR3_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define BBR3_GROWTH_PCT_MIN		1
#define BBR3_GROWTH_PCT_MAX		100
#define BBR3_FULL_ROUNDS_MIN		1
#define BBR3_FULL_ROUNDS_MAX		100
#define BBR3_LOSS_PCT_MIN		1
#define BBR3_LOSS_PCT_MAX		50
#define BBR3_LOSS_RANGES_MIN		1
#define BBR3_LOSS_RANGES_MAX		200

#define BBR3_INFINITY			((u32)~0)	/* of an amount of data, or a time */
#define BBR3_INFINITE_RATE		((u64)~0)
#define BBR3_RATE_BITS			24	/* a rate: units per microsecond, << 24 */
#define BBR3_AGGREGATION_ROUNDS		10	/* ExtraAckedFilterLen */

struct bbr3_params {
	u32 growth_pct;		/* growth of the delivery rate that is none: 25 */
	u32 full_rounds;	/* so many rounds without growth fill the pipe: 3 */
	u32 loss_pct;		/* LossThresh: 2 */
	u32 loss_ranges;	/* BBRStartupFullLossCnt: 6 */
};

enum bbr3_mode {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,		/* ProbeBW from here ... */
	BBR3_CRUISE,
	BBR3_REFILL,
	BBR3_UP,		/* ... to here */
	BBR3_PROBE_RTT,
	BBR3_NO_MODE,		/* undo_mode: nothing to return to */
};

enum bbr3_ack_phase {
	BBR3_ACKS_INIT,
	BBR3_ACKS_REFILLING,
	BBR3_ACKS_STARTING,
	BBR3_ACKS_FEEDBACK,
	BBR3_ACKS_STOPPING,
};

/* What was noted as a packet was sent. */
struct bbr3_sent {
	u32 delivered;		/* P.delivered */
	u32 lost;		/* P.lost */
	u32 inflight;		/* P.tx_in_flight, with the packet */
	u32 app_limited;	/* nonzero: P.is_app_limited */
};

struct bbr3_start {
	u64 now_us;
	u32 smss;		/* a full packet, in units */
	u32 most_quantum;	/* 64 kB, in units */
	u32 budget_quanta;	/* of the offload budget: 3 for TCP, 1 for QUIC */
	u32 cwnd;		/* the initial window */
	u32 srtt_us;		/* 0: not known */
	u32 delivered;		/* so far */
	u32 selective_acks;	/* nonzero: C.has_selective_acks */
	u32 seed;		/* of the random waits */
};

struct bbr3_ack {
	u64 now_us;
	u32 delivered;		/* C.delivered, with this ACK's */
	u32 lost;		/* C.lost */
	u32 inflight;		/* C.inflight, after it */
	u32 cwnd;
	u32 acked;		/* RS.newly_acked */
	u32 newly_lost;
	u32 rtt_us;		/* RS.rtt; BBR3_INFINITY: none */
	u32 srtt_us;
	u32 interval_us;	/* RS.interval; 0: no reliable rate sample */
	u32 has_data;		/* nonzero: it acknowledges a packet, of which the newest is: */
	struct bbr3_sent newest;
	u32 cwnd_limited;	/* nonzero: C.is_cwnd_limited */
	u32 fast_recovery;	/* nonzero: in fast recovery */
};

struct bbr3_loss {
	u64 now_us;
	u32 delivered;		/* C.delivered */
	u32 lost;		/* C.lost, with this packet */
	u32 cwnd;
	u32 size;		/* of the packet */
	struct bbr3_sent packet;
};

struct bbr3_state {
	u64 pacing_rate;
	u64 bw;
	u64 max_bw_of[2];	/* of this and the last cycle; 0: no sample */
	u64 bw_shortterm;
	u64 bw_latest;
	u64 full_bw;
	u64 undo_bw_shortterm;
	u64 min_rtt_us_at;	/* min_rtt_stamp */
	u64 probe_rtt_min_us_at;
	u64 probe_rtt_done_us;	/* 0: not yet begun */
	u64 cycle_us_at;	/* cycle_stamp */
	u64 aggregation_us_at;	/* extra_acked_interval_start */
	u32 min_rtt_us;
	u32 probe_rtt_min_us;
	u32 wait_us;		/* bw_probe_wait */
	u32 round_count;
	u32 next_round_delivered;
	u32 loss_round_delivered;
	u32 recovery_delivered;	/* C.delivered as fast recovery began */
	u32 begin_delivered;
	u32 drain_start_round;
	u32 rounds_since_up;
	u32 inflight_longterm;
	u32 inflight_shortterm;
	u32 inflight_latest;
	u32 undo_inflight_shortterm;
	u32 undo_inflight_longterm;
	u32 up_acked;		/* bw_probe_up_acked */
	u32 up_acked_per_inc;
	u32 prior_cwnd;
	u32 aggregation_acked;	/* extra_acked_delivered */
	u32 extra_acked_of[BBR3_AGGREGATION_ROUNDS];	/* the most of each round */
	u32 extra_acked;
	u32 quantum;		/* send_quantum */
	u32 smss;
	u32 most_quantum;
	u32 budget_quanta;
	u32 initial_cwnd;
	u32 random;
	u8 mode;		/* enum bbr3_mode */
	u8 undo_mode;
	u8 ack_phase;		/* enum bbr3_ack_phase */
	u8 up_rounds;
	u8 full_bw_count;
	u8 loss_ranges;		/* in this round */
	u8 selective_acks;
	bool seen_rtt;
	bool round_start;
	bool loss_round_start;
	bool loss_in_round;
	bool full_bw_now;
	bool full_bw_reached;
	bool idle_restart;
	bool probe_sample;	/* is_bw_probe_sample */
	bool too_high;		/* prev_probe_too_high */
	bool precautionary;	/* prev_probe_precautionary */
	bool probe_rtt_expired;
	bool probe_rtt_round_done;
	bool recovering;
};

bool bbr3_params_valid(const struct bbr3_params *params);

void bbr3_begin(struct bbr3_state *state, const struct bbr3_start *start);

/* Take one ACK; return the window. */
u32 bbr3_on_ack(struct bbr3_state *state, const struct bbr3_params *params,
		const struct bbr3_ack *ack);

/* A packet was declared lost. */
void bbr3_lost(struct bbr3_state *state, const struct bbr3_params *params,
	       const struct bbr3_loss *loss);

/* Whether bbr3_lost() needs to know what each lost packet found as it was sent. */
static inline bool bbr3_probes(const struct bbr3_state *state)
{
	return state->probe_sample;
}

/* Fast recovery or the recovery from a timeout begins, with the window before it. */
void bbr3_enter_recovery(struct bbr3_state *state, u32 cwnd, u32 delivered);

/* It is over; return the window. */
u32 bbr3_exit_recovery(struct bbr3_state *state, u32 cwnd);

/* It was spurious; return the window. */
u32 bbr3_spurious(struct bbr3_state *state, u32 cwnd, u32 delivered);

/* An application-limited flow sends with nothing in flight; return the window. */
u32 bbr3_restart_from_idle(struct bbr3_state *state, u64 now_us, u32 cwnd, u32 delivered);

/* The estimated bandwidth-delay product; 0: not known. */
u32 bbr3_bdp(const struct bbr3_state *state);

#endif /* BBR3_CORE_H */
