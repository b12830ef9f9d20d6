/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flow's state in memory of its own.  For tcp_search.h alone, as is tcp_search_socket.h. */
#ifndef TCP_SEARCH_HEAP_H
#define TCP_SEARCH_HEAP_H

#include <linux/slab.h>

#include "no_memory_flows.h"

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct tcp_search {
	struct bictcp cubic;
	struct search_state *search;	/* NULL: plain CUBIC */
	u32 drain_pkts;			/* window to drain to; 0: no drain goes on */
	u16 drained_pkts;		/* delivered in the drain since its last grant */
	bool busy;			/* there are bins to end after slow start, or a drain goes on */
	bool reducing;			/* see slow_start.h */
	bool stopped;			/* until an idle restart */
};

NO_MEMORY_FLOWS("plain CUBIC");

static size_t search_flow_bytes(void)
{
	struct search_params params;

	search_params_get(&params);
	return sizeof(struct tcp_search) + search_state_bytes(&params);
}

static void search_flow_init(struct tcp_search *ca)
{
	struct search_params params;

	ca->drain_pkts = 0;
	ca->busy = false;
	ca->stopped = false;
	search_params_get(&params);
	ca->search = kmalloc(search_state_bytes(&params), GFP_ATOMIC | __GFP_NOWARN);
	if (!ca->search) {
		no_memory_flow("SEARCH");
		return;
	}
	search_setup(ca->search, &params);
}

/* May come more than once, and for a socket that was never initialised. */
static void search_flow_release(struct tcp_search *ca)
{
	kfree(ca->search);
	ca->search = NULL;
}

static bool search_flow_ready(const struct tcp_search *ca)
{
	return ca->search;
}

static bool search_flow_started(const struct tcp_search *ca)
{
	return ca->search && ca->search->bin_us;
}

static bool search_flow_busy(const struct tcp_search *ca)
{
	return ca->busy;
}

static void search_flow_reset(struct tcp_search *ca, u64 delivered_bytes)
{
	ca->busy = ca->drain_pkts;
	ca->stopped = false;
	if (ca->search)
		search_reset(ca->search, delivered_bytes);
}

static void search_flow_stop(struct tcp_search *ca)
{
	ca->busy = ca->drain_pkts;
	ca->stopped = true;
}

static bool search_flow_stopped(const struct tcp_search *ca)
{
	return ca->stopped;
}

static bool search_flow_due(const struct tcp_search *ca, u64 now_us)
{
	return ca->search && search_due(ca->search, now_us);
}

static enum search_verdict search_flow_on_ack(struct tcp_search *ca, const struct search_ack *ack,
					      struct search_decision *decision)
{
	if (ca->search->params.again != SEARCH_AGAIN_GO_ON)
		ca->busy = true;
	return search_on_ack(ca->search, ack, decision);
}

static const struct search_params *search_flow_params(const struct tcp_search *ca)
{
	return &ca->search->params;
}

static void search_flow_set_reducing(struct tcp_search *ca, bool reducing)
{
	ca->reducing = reducing;
}

static bool search_flow_reducing(const struct tcp_search *ca)
{
	return ca->reducing;
}

#endif /* TCP_SEARCH_HEAP_H */
