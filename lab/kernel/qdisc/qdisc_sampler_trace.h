/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qdisc_sampler:qdisc_sample.  Time is the trace clock's; what was sent and dropped counts
 * since the qdisc was made.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM qdisc_sampler

#if !defined(QDISC_SAMPLER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define QDISC_SAMPLER_TRACE_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>

TRACE_EVENT(qdisc_sample,

	TP_PROTO(const struct Qdisc *sch),

	TP_ARGS(sch),

	TP_STRUCT__entry(
		__field(__u64, sent_bytes)
		__field(__u64, sent_pkts)
		__field(__u32, backlog_bytes)
		__field(__u32, backlog_pkts)
		__field(__u32, drops_pkts)
	),

	TP_fast_assign(
		__entry->sent_bytes = u64_stats_read(&sch->bstats.bytes);
		__entry->sent_pkts = u64_stats_read(&sch->bstats.packets);
		__entry->backlog_bytes = sch->qstats.backlog;
		__entry->backlog_pkts = sch->q.qlen;
		__entry->drops_pkts = sch->qstats.drops;
	),

	TP_printk("backlog_bytes=%u backlog_pkts=%u sent_bytes=%llu sent_pkts=%llu drops_pkts=%u",
		  __entry->backlog_bytes, __entry->backlog_pkts, __entry->sent_bytes,
		  __entry->sent_pkts, __entry->drops_pkts)
);

#endif /* QDISC_SAMPLER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE qdisc_sampler_trace
#include <trace/define_trace.h>
