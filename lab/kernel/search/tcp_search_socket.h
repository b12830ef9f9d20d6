/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flow's state within the socket's private bytes, without any allocation.
 *
 * CUBIC keeps what only HyStart reads at the end of its struct, from .unused on, and
 * HyStart is off here: that room is SEARCH's.  CUBIC writes there in two places,
 * cubictcp_init() and cubictcp_state() for a timeout, and both are followed by a
 * reset of SEARCH.  They leave alone .unused itself, where senders_own lies.
 */
#ifndef TCP_SEARCH_SOCKET_H
#define TCP_SEARCH_SOCKET_H

#include "search_compact.h"

struct tcp_search {
	union {
		struct bictcp cubic;
		struct {
			u8 cubic_without_hystart[offsetof(struct bictcp, unused)];
			struct search_compact search;
		};
	};
};

static_assert(offsetof(struct tcp_search, search) == offsetof(struct bictcp, unused));
static_assert(offsetof(struct search_compact, counts) == sizeof_field(struct bictcp, unused));

static size_t search_flow_bytes(void)
{
	return sizeof(struct tcp_search);
}

static void search_flow_init(struct tcp_search *ca)
{
	memset(&ca->search, 0, sizeof(ca->search));
}

static void search_flow_release(struct tcp_search *ca)
{
}

static bool search_flow_ready(const struct tcp_search *ca)
{
	return true;
}

static bool search_flow_started(const struct tcp_search *ca)
{
	return ca->search.bin_us;
}

/* Bins that go on have no end after slow start. */
static bool search_flow_busy(const struct tcp_search *ca)
{
	return ca->search.bin_us && search_params_now.again != SEARCH_AGAIN_GO_ON;
}

static void search_flow_reset(struct tcp_search *ca, u64 delivered_bytes)
{
	search_compact_reset(&ca->search);
}

/* There is no room to remember it: SEARCH_AGAIN_NEVER is refused. */
static void search_flow_stop(struct tcp_search *ca)
{
}

static bool search_flow_stopped(const struct tcp_search *ca)
{
	return false;
}

static bool search_flow_due(const struct tcp_search *ca, u64 now_us)
{
	return search_compact_due(&ca->search, &search_params_now, now_us);
}

static enum search_verdict search_flow_on_ack(struct tcp_search *ca, const struct search_ack *ack,
					      struct search_decision *decision)
{
	struct search_params params;

	search_params_get(&params);
	return search_compact_on_ack(&ca->search, &params, ack, decision);
}

static const struct search_params *search_flow_params(const struct tcp_search *ca)
{
	return &search_params_now;
}

static void search_flow_set_reducing(struct tcp_search *ca, bool reducing)
{
	ca->search.senders_own = reducing;
}

static bool search_flow_reducing(const struct tcp_search *ca)
{
	return ca->search.senders_own;
}

#endif /* TCP_SEARCH_SOCKET_H */
