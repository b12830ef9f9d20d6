/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of C4's core share: c4_core.c, c4_estimates_core.c, c4_signals_core.c. */
#ifndef C4_PARTS_H
#define C4_PARTS_H

#include "c4_core.h"

#define C4_BETA			(C4_ONE / 4)	/* the most that the rate is reduced by */
#define C4_LEAST_RTT_US		1000U
#define C4_MOST_RTT_US		(1U << 27)
#define C4_MOST_BYTES		(1U << 30)

/* c4_estimates_core.c */
void c4_note_rtt(struct c4_state *state, u32 rtt_us);
void c4_note_rate(struct c4_state *state, const struct c4_ack *ack);
void c4_grow_initial(struct c4_state *state, u32 acked_pkts);
void c4_find_nominal_rtt(struct c4_state *state);

/* c4_signals_core.c: losses, and of delay and marks the share of C4_ONE to reduce the rate by; 0: none. */
u32 c4_delay_beta(const struct c4_state *state, const struct c4_ack *ack);
u32 c4_marks_beta(struct c4_state *state, const struct c4_ack *ack);
bool c4_loses(struct c4_state *state, const struct c4_ack *ack);

static inline u32 c4_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 c4_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

#endif /* C4_PARTS_H */
