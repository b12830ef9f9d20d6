/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a sender of the lab reports that it left slow start: one record, whatever the
 * sender and the cause (slow_start_trace.h).
 *
 * A sender reports an exit by its own rule once ssthresh has its new value.  The cause is
 * a name of the sender's choice, which reaches the tables as it is:
 *
 *	tp->snd_ssthresh = tcp_snd_cwnd(tp);
 *	slow_start_left(sk, tcp_snd_cwnd(tp), sample->rtt_us, "search");
 *
 * An exit by a loss takes two hooks.  .ssthresh is the last to see the flow as it was,
 * .set_state the first to know what happened.  Between them the flow keeps one bool:
 *
 *	.ssthresh:	slow_start_reducing(sk, &ca->reducing);
 *	.set_state:	slow_start_reduced(sk, new_state, &ca->reducing);
 *
 * Each comes before the rest of its hook.
 */
#ifndef SLOW_START_H
#define SLOW_START_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct sock;

#define SLOW_START_CAUSE_BYTES	16	/* of a cause's name, with the NUL */

/*
 * What entering the congestion state @ca_state means, if it reduces the window:
 * "loss" (fast recovery began), "timeout" (the retransmission timer expired) or "other"
 * (CWR: an ECN echo, a full local queue, a tail loss repaired by its probe).
 */
const char *slow_start_cause(u8 ca_state);

/*
 * A flow left slow start @late_ns ago, with a window of @cwnd_pkts before any reduction.
 * @rtt_us is the newest RTT sample.
 */
void slow_start_left_ago(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, const char *cause,
			 u64 late_ns);

/* A flow left slow start now.  @cause is a string literal; one that is too long does not compile. */
#define slow_start_left(sk, cwnd_pkts, rtt_us, cause)				\
do {										\
	static_assert(sizeof("" cause) <= SLOW_START_CAUSE_BYTES);		\
	slow_start_left_ago(sk, cwnd_pkts, rtt_us, cause, 0);			\
} while (0)

/* ssthresh is about to be reduced: remember whether that ends slow start. */
void slow_start_reducing(const struct sock *sk, bool *reducing);

/* ssthresh was reduced, for @new_state: report the exit, if it is one. */
void slow_start_reduced(struct sock *sk, u8 new_state, bool *reducing);

#endif /* SLOW_START_H */
