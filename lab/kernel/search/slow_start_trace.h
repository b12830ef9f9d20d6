/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow_start:slow_start_exit, the record of an exit from slow start, the same for
 * every sender.  Time is the trace clock's; the socket is named as in tcp:tcp_probe
 * (ports in host order).
 *
 *	cwnd_pkts	the window at the exit, before any reduction
 *	ssthresh_pkts	the new threshold
 *	rtt_us		the newest RTT sample; 0: there was none
 *	cause		its name: the sender's own rule, or slow_start_cause()
 *	late_ns		how long ago it was; 0: reported at once
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM slow_start

#if !defined(SLOW_START_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SLOW_START_TRACE_H

#include <linux/tcp.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>

#include "slow_start.h"

TRACE_EVENT(slow_start_exit,

	TP_PROTO(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, const char *cause,
		 u64 late_ns),

	TP_ARGS(sk, cwnd_pkts, rtt_us, cause, late_ns),

	TP_STRUCT__entry(
		__field(const void *, skaddr)
		__field(__u64, sock_cookie)
		__field(__u64, late_ns)
		__field(__u32, cwnd_pkts)
		__field(__u32, ssthresh_pkts)
		__field(__u32, rtt_us)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u16, family)
		__array(char, cause, SLOW_START_CAUSE_BYTES)
	),

	TP_fast_assign(
		__entry->skaddr = sk;
		__entry->sock_cookie = slow_start_cookie(sk);
		__entry->late_ns = late_ns;
		__entry->cwnd_pkts = cwnd_pkts;
		__entry->ssthresh_pkts = tcp_sk(sk)->snd_ssthresh;
		__entry->rtt_us = rtt_us;
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->family = sk->sk_family;
		strscpy_pad(__entry->cause, cause, SLOW_START_CAUSE_BYTES);
	),

	TP_printk("sport=%u dport=%u family=%u cause=%s cwnd_pkts=%u ssthresh_pkts=%u rtt_us=%u late_ns=%llu sock_cookie=%llx skaddr=%p",
		  __entry->sport, __entry->dport, __entry->family,
		  __entry->cause, __entry->cwnd_pkts, __entry->ssthresh_pkts, __entry->rtt_us,
		  __entry->late_ns, __entry->sock_cookie, __entry->skaddr)
);

#endif /* SLOW_START_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE slow_start_trace
#include <trace/define_trace.h>
