/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a sender of the lab tells that it left slow start: one record, whatever the
 * sender and the cause (slow_start_trace.h).
 *
 * An exit by its own rule it tells once ssthresh is the new one:
 *
 *	tp->snd_ssthresh = tcp_snd_cwnd(tp);
 *	slow_start_left(sk, tcp_snd_cwnd(tp), sample->rtt_us, SLOW_START_SEARCH);
 *
 * An exit by a loss takes two hooks.  .ssthresh is the last to see the flow as it was,
 * .set_state the first to know what happened.  Between them the flow keeps one bool:
 *
 *	.ssthresh:	slow_start_reducing(sk, &ca->reducing);
 *	.set_state:	slow_start_reduced(sk, new_state, &ca->reducing);
 *
 * each before what else that hook does.
 */
#ifndef SLOW_START_H
#define SLOW_START_H

#include <linux/types.h>

struct sock;

enum slow_start_cause {
	SLOW_START_SEARCH,
	SLOW_START_HYSTARTPP,
	SLOW_START_LOSS,	/* fast recovery began */
	SLOW_START_TIMEOUT,	/* the retransmission timer expired */
	SLOW_START_OTHER,	/* CWR: an ECN echo, a full local queue, a tail loss repaired by its probe */
};

/* A flow left slow start with a window of @cwnd_pkts, before any reduction; @rtt_us: the newest RTT sample. */
void slow_start_left(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, enum slow_start_cause cause);

/* ssthresh is about to be reduced: remember whether that ends slow start. */
void slow_start_reducing(const struct sock *sk, bool *reducing);

/* It was reduced, for @new_state: tell the exit, if it is one. */
void slow_start_reduced(struct sock *sk, u8 new_state, bool *reducing);

#endif /* SLOW_START_H */
