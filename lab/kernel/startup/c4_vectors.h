/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C4 by hand: its thresholds and one signal, for user space and for KUnit. */
#ifndef C4_VECTORS_H
#define C4_VECTORS_H

#include "c4_core.h"

static const struct c4_params c4_defaults = { .still_eras = 3, .loss_pkts = 20 };

/* A nominal max RTT of 64 ms: a sixteenth of it is 4 ms, a quarter 16 ms. */
struct c4_threshold {
	const char *name;
	u64 rate_Bps;
	u32 sensitivity;	/* all but the delay in 1 / 65536 */
	u32 delay_us;
	u32 loss;
	u32 ecn;
};

static const struct c4_threshold c4_thresholds[] = {
	{ "50 kB/s: not sensitive", 50000, 0, 16000, 1310 + 32768, 12288 },
	{ "525 kB/s: half of 0.92", 525000, 30146, 10480, 1310 + 17695, 9461 },
	{ "1 MB/s: 0.92", 1000000, 60293, 4960, 1310 + 2621, 6635 },
	{ "10 MB/s: 1", 10000000, 65536, 4000, 1310, 6144 },
};

static inline bool c4_threshold_holds(const struct c4_threshold *vector)
{
	struct c4_state state = { .nominal_Bps = vector->rate_Bps, .nominal_rtt_us = 64000 };

	return c4_sensitivity(vector->rate_Bps) == vector->sensitivity &&
	       c4_delay_threshold_us(&state) == vector->delay_us &&
	       c4_loss_threshold(vector->rate_Bps) == vector->loss &&
	       c4_ecn_threshold(vector->rate_Bps) == vector->ecn;
}

/* A flow of 10 MB/s, 64 ms: delay is congestion above 68 ms. */
struct c4_delay {
	const char *name;
	u8 mode;
	u32 rtt_us;
	u8 mode_after;
	u64 nominal_Bps;
};

static const struct c4_delay c4_delays[] = {
	{ "at the threshold: none", C4_CRUISING, 68000, C4_CRUISING, 10000000 },
	{ "half a millisecond above: an eighth", C4_CRUISING, 68500, C4_RECOVERY, 8750000 },
	{ "far above: a quarter", C4_CRUISING, 168000, C4_RECOVERY, 7500000 },
	{ "while pushing: the rate stays", C4_PUSHING, 168000, C4_RECOVERY, 10000000 },
	{ "in Initial: perhaps jitter", C4_INITIAL, 168000, C4_INITIAL, 10000000 },
};

static inline bool c4_delay_holds(const struct c4_delay *vector)
{
	struct c4_ack ack = { .rtt_us = vector->rtt_us, .delivered = 1, .acked_pkts = 1, .inflight_bytes = 1500 };
	struct c4_state state;

	c4_begin(&state, 15000, 1500, 0);
	state.mode = vector->mode;
	state.nominal_Bps = 10000000;
	state.nominal_rtt_us = 64000;
	c4_on_ack(&state, &c4_defaults, &ack);
	return state.mode == vector->mode_after && state.nominal_Bps == vector->nominal_Bps;
}

#endif /* C4_VECTORS_H */
