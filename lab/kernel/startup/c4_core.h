/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C4, Christian's Congestion Control Code (draft-huitema-ccwg-c4-spec), as a pure function: rates,
 * round-trip times, acknowledged, lost and marked packets go in, the window and the pacing rate
 * come out.  No clock, no socket, no memory allocation, integers only.  The story is in c4_core.c.
 *
 *	c4_begin(state, cwnd_bytes, mss_bytes, delivered);
 *	on each ACK:
 *		c4_on_ack(state, &params, &ack);
 *		cwnd = state->cwnd_bytes, pace at c4_pacing_Bps(state)
 */
#ifndef C4_CORE_H
#define C4_CORE_H

#include "search_shim.h"

/* Any mixture of values within these ranges is safe. */
#define C4_STILL_ERAS_MIN	1
#define C4_STILL_ERAS_MAX	10
#define C4_LOSS_PKTS_MIN	0
#define C4_LOSS_PKTS_MAX	10000

#define C4_ONE			65536U	/* a share of 1 */
#define C4_ALPHA_ONE		32U

struct c4_params {
	u32 still_eras;		/* eras in which the nominal rate does not grow that end Initial: 3 */
	u32 loss_pkts;		/* no loss ends it before more packets than this were acknowledged: 20 */
};

enum c4_mode {
	C4_INITIAL,
	C4_RECOVERY,
	C4_CRUISING,
	C4_PROBING,
	C4_PUSHING,
};

struct c4_state {
	u64 nominal_Bps;
	u64 era_begin_Bps;	/* the nominal rate as the era began */
	u64 cycle_begin_Bps;	/* ... as the last recovery ended */
	u64 probe_begin_Bps;	/* ... as Probing began */
	u64 recent_most_Bps;	/* the largest measured since the last recovery ended; 0: none */
	u32 cwnd_bytes;
	u32 initial_cwnd_bytes;
	u32 mss_bytes;
	u32 nominal_rtt_us;	/* nominal max RTT; 0: not known */
	u32 running_min_us;
	u32 era_most_us;	/* of this era's RTT samples; 0: none */
	u32 era_least_us;
	u32 era_delivered;	/* the era ends with the ACK of a packet that was sent at this count */
	u32 acked_pkts;		/* since the begin; stays at the largest number */
	u32 smoothed_loss;	/* of C4_ONE */
	u32 ecn_alpha;		/* of C4_ONE */
	u8 mode;		/* enum c4_mode */
	u8 came_from;		/* the mode before Recovery */
	u8 alpha;		/* of C4_ALPHA_ONE */
	u8 last_alpha;		/* of the era before */
	u8 eras;		/* ended in this mode */
	u8 still_eras;		/* in a row in which the nominal rate did not grow */
	u8 successive;		/* recoveries with congestion in a row */
	bool era_app_limited;
	bool cycle_app_limited;
	bool congested;		/* this recovery began by a signal, or there was one in it */
	bool marked;		/* CE was seen on the path */
	bool again;		/* high jitter made Initial begin again */
};

struct c4_ack {
	u64 rate_Bps;		/* what this ACK measures; 0: it does not */
	u32 rtt_us;		/* below 2^31; 0: none */
	u32 delivered;		/* a count of packets, with this ACK's; wraps */
	u32 sent_delivered;	/* the same as the newest acknowledged packet was sent */
	u32 has_data;		/* nonzero: it acknowledges a packet */
	u32 acked_pkts;
	u32 lost_pkts;		/* by gaps, not by a timer */
	u32 ce_pkts;		/* of the acknowledged, marked */
	u32 ect_pkts;		/* of the acknowledged, able to be marked, and not */
	u32 inflight_bytes;
	u32 app_limited;
};

bool c4_params_valid(const struct c4_params *params);

void c4_begin(struct c4_state *state, u32 cwnd_bytes, u32 mss_bytes, u32 delivered);

void c4_on_ack(struct c4_state *state, const struct c4_params *params, const struct c4_ack *ack);

/* Bytes per second; 0: nothing was measured yet, as fast as the interface. */
u64 c4_pacing_Bps(const struct c4_state *state);

/* How sensitive a flow of this rate is to congestion, of C4_ONE. */
u32 c4_sensitivity(u64 rate_Bps);

/* Which delay above the nominal max RTT, which share of loss and of marks are congestion. */
u32 c4_delay_threshold_us(const struct c4_state *state);
u32 c4_loss_threshold(u64 rate_Bps);
u32 c4_ecn_threshold(u64 rate_Bps);

#endif /* C4_CORE_H */
