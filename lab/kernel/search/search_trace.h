/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search:search_bin reports every bin decision of SEARCH, in any version; search:search_ack
 * the input of its core, ACK by ACK, which replays to the same decisions.  Time is the
 * trace clock's; ports are in host order, as in tcp:tcp_probe.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM search

#if !defined(SEARCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SEARCH_TRACE_H

#include <linux/tcp.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

#include "search_core.h"

/*
 * Emitted before the decision takes effect: ssthresh is that of slow start.
 *
 * curr_delv, prev_delv, expected (bytes) and norm_permille mean something only with
 * enough=1: bins reached back far enough, and the earlier window was not empty.
 * expected is twice prev_delv, or prev_delv itself where that counts sent bytes.
 * verdict is enum search_verdict.
 */
TRACE_EVENT(search_bin,

	TP_PROTO(const struct sock *sk, const struct search_decision *decision),

	TP_ARGS(sk, decision),

	TP_STRUCT__entry(
		__field(__u64, curr_delv)
		__field(__u64, prev_delv)
		__field(__u64, expected)
		__field(__s64, norm_permille)
		__field(__s64, bin)
		__field(__u32, bin_us)
		__field(__u32, rtt_us)
		__field(__u32, cwnd)
		__field(__u32, ssthresh)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u8, enough)
		__field(__u8, exit)
		__field(__u8, verdict)
	),

	TP_fast_assign(
		__entry->curr_delv = decision->curr_delv_bytes;
		__entry->prev_delv = decision->prev_delv_bytes;
		__entry->expected = decision->expected_bytes;
		__entry->norm_permille = decision->norm_permille;
		__entry->bin = decision->bin;
		__entry->bin_us = decision->bin_us;
		__entry->rtt_us = decision->rtt_us;
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->enough = search_compared(decision->verdict);
		__entry->exit = decision->verdict == SEARCH_EXIT;
		__entry->verdict = decision->verdict;
	),

	TP_printk("sport=%hu dport=%hu cwnd=%u ssthresh=%u rtt_us=%u bin=%lld bin_us=%u curr_delv=%llu prev_delv=%llu expected=%llu norm_permille=%lld enough=%u exit=%u verdict=%u",
		  __entry->sport, __entry->dport, __entry->cwnd, __entry->ssthresh,
		  __entry->rtt_us, __entry->bin, __entry->bin_us, __entry->curr_delv,
		  __entry->prev_delv, __entry->expected, __entry->norm_permille,
		  __entry->enough, __entry->exit, __entry->verdict)
);

/* starts=1: SEARCH was reset before this ACK. */
TRACE_EVENT(search_ack,

	TP_PROTO(const struct sock *sk, const struct search_ack *ack, bool starts),

	TP_ARGS(sk, ack, starts),

	TP_STRUCT__entry(
		__field(__u64, now_us)
		__field(__u64, delivered)
		__field(__u64, sent)
		__field(__u32, rtt_us)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u8, limited)
		__field(__u8, starts)
	),

	TP_fast_assign(
		__entry->now_us = ack->now_us;
		__entry->delivered = ack->delivered_bytes;
		__entry->sent = ack->sent_bytes;
		__entry->rtt_us = ack->rtt_us;
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->limited = !!ack->limited;
		__entry->starts = starts;
	),

	TP_printk("sport=%hu dport=%hu now_us=%llu rtt_us=%u delivered=%llu sent=%llu limited=%u starts=%u",
		  __entry->sport, __entry->dport, __entry->now_us, __entry->rtt_us,
		  __entry->delivered, __entry->sent, __entry->limited, __entry->starts)
);

#endif /* SEARCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE search_trace
#include <trace/define_trace.h>
