/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sender whose flows have a state in memory of its own: without memory a flow runs Reno, and is
 * counted.  Define STARTUP_HEAP_OPS, the sender's hooks, before including; in the module's start:
 *
 *	startup_reno_begin();
 *	return tcp_register_congestion_control(&STARTUP_HEAP_OPS);
 */
#ifndef STARTUP_HEAP_H
#define STARTUP_HEAP_H

#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "no_memory_flows.h"
#include "slow_start.h"

/* What a flow keeps in its socket. */
struct startup_heap {
	void *flow;
	bool reducing;	/* of Reno; see slow_start.h */
};

static struct tcp_congestion_ops STARTUP_HEAP_OPS;
static struct tcp_congestion_ops startup_reno __read_mostly;

NO_MEMORY_FLOWS("Reno");

/*
 * NULL before the handshake's end and after a disconnect.  ssthresh, set_state and cwnd_event come then, too: of a SYN
 * that is lost, for example.
 */
static inline void *startup_flow(const struct sock *sk)
{
	return ((struct startup_heap *)inet_csk_ca(sk))->flow;
}

/* NULL: the flow runs Reno from now on. */
static void *startup_allocate(struct sock *sk, size_t bytes)
{
	struct startup_heap *ca = inet_csk_ca(sk);

	ca->reducing = false;
	ca->flow = kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!ca->flow) {
		no_memory_flow(STARTUP_HEAP_OPS.name);
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &startup_reno);
	}
	return ca->flow;
}

/* May come more than once, and for a socket that was never initialised. */
static void startup_release(struct sock *sk)
{
	struct startup_heap *ca = inet_csk_ca(sk);

	kfree(ca->flow);
	ca->flow = NULL;
}

static u32 startup_reno_ssthresh(struct sock *sk)
{
	slow_start_reducing(sk, &((struct startup_heap *)inet_csk_ca(sk))->reducing);
	return tcp_reno_ssthresh(sk);
}

static void startup_reno_set_state(struct sock *sk, u8 new_state)
{
	slow_start_reduced(sk, new_state, &((struct startup_heap *)inet_csk_ca(sk))->reducing);
}

static void startup_reno_begin(void)
{
	BUILD_BUG_ON(sizeof(struct startup_heap) > ICSK_CA_PRIV_SIZE);

	startup_reno = STARTUP_HEAP_OPS;
	startup_reno.ssthresh = startup_reno_ssthresh;
	startup_reno.cong_control = NULL;
	startup_reno.cong_avoid = tcp_reno_cong_avoid;
	startup_reno.set_state = startup_reno_set_state;
	startup_reno.undo_cwnd = tcp_reno_undo_cwnd;
	startup_reno.cwnd_event = NULL;
}

#endif /* STARTUP_HEAP_H */
