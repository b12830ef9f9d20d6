// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "on_demand": a return link that grants capacity after a request.
 *
 * A terminal that shares its carrier with others sends in frames.  In each frame it may send
 * a few packets that are its own (guaranteed_pkts), and what was granted for that frame.
 * It reports its demand to the gateway with its frames; the grant for a report is good
 * for the first frame that begins request_delay later (up to the gateway and down again:
 * over a geostationary satellite a whole round trip), holds at most cap_bytes, and lapses
 * when the queue is empty before it is used up.  The queue is a FIFO of limit_bytes.
 *
 * A report is one of three things that real systems do, and they behave differently:
 *
 *  - ON_DEMAND_BACKLOG: all that is queued, in every frame, and each report is granted.  That
 *    is DVB-RCS's AVBDC (EN 301 790: absolute volume, a request replaces the one before).  A
 *    request takes many frames to come back as a grant, and until then the same bytes are
 *    requested again: too much arrives, lapses, and the queue swings between long and empty.
 *    What the cap cuts off is not owed: the next report stands for it.
 *  - ON_DEMAND_NEW: what is queued, less what has been requested and is not granted yet.  That
 *    is DVB-RCS's VBDC (a request adds to the ones before), DOCSIS's request for bytes not yet
 *    requested, and what an LTE scheduler makes of a buffer status report, as it knows its own
 *    grants.  Every byte is requested once, and what the cap cuts off stays owed and is granted
 *    in later frames.
 *  - ON_DEMAND_RATE: once in period_us, a rate: (bytes that arrived in the period + bytes that
 *    wait at its end) / period.  The rate holds from request_delay later until the next one
 *    takes its place.  That is DVB-RCS's RBDC.  The standard leaves open how a terminal
 *    estimates its rate; this estimate serves the queue within the next period if arrivals go
 *    on as they did.  Each frame carries its share of the rate, at most cap_bytes; a share that
 *    the queue does not need lapses, and what the cap cuts off is not owed.
 *
 * LTE's uplink: frame_us of its grants (5000 to 10000), nothing guaranteed, request_delay of
 * a scheduling request, its grant and the transmission (some 8000), ON_DEMAND_NEW.
 *
 * A packet that a grant does not cover whole is sent in pieces, as link layers do, and
 * departs with the last one; a guaranteed packet goes whole.  All that a frame carries
 * departs as it begins.  What arrives in the instant in which a frame begins, at a link with
 * an empty queue, is for the next one.  There is no chance in any of this.
 */
#include <linux/slab.h>

#include "on_demand.h"

static int on_demand_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct on_demand *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);

	if ((u64)sch->qstats.backlog + len > q->state.limit_bytes)
		return qdisc_drop(skb, sch, to_free);
	if (!q->waiting.qlen)
		on_demand_pass(q, ktime_get_ns());
	__qdisc_enqueue_tail(skb, &q->waiting);
	q->waiting_bytes += len;
	if (q->period_frames)
		q->arrived_bytes += len;
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *on_demand_dequeue(struct Qdisc *sch)
{
	struct on_demand *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while (!q->leaving.qlen) {
		if (!q->waiting.qlen)
			return NULL;
		if (q->next_ns > ktime_get_ns()) {
			qdisc_watchdog_schedule_ns(&q->watchdog, q->next_ns);
			qdisc_qstats_overlimit(sch);
			return NULL;
		}
		on_demand_frame(q);
	}
	skb = __qdisc_dequeue_head(&q->leaving);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void on_demand_reset(struct Qdisc *sch)
{
	struct on_demand *q = qdisc_priv(sch);

	__qdisc_reset_queue(&q->waiting);
	__qdisc_reset_queue(&q->leaving);
	q->waiting_bytes = 0;
	q->sent_of_first_bytes = 0;
	qdisc_watchdog_cancel(&q->watchdog);
}

/* There is no change: a new frame clock would be another link. */
static int on_demand_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct on_demand *q = qdisc_priv(sch);
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	err = on_demand_configure(q, opt, extack);
	if (err)
		return err;
	q->request_bytes = kvcalloc(q->request_frames, sizeof(*q->request_bytes), GFP_KERNEL);
	if (!q->request_bytes)
		return -ENOMEM;
	on_demand_pass(q, ktime_get_ns());
	q->state.frames = 0;
	return 0;
}

static void on_demand_destroy(struct Qdisc *sch)
{
	struct on_demand *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	kvfree(q->request_bytes);
}

static int on_demand_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct on_demand *q = qdisc_priv(sch);
	struct on_demand_state state;

	sch_tree_lock(sch);
	if (!q->waiting.qlen)
		on_demand_pass(q, ktime_get_ns());
	state = q->state;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops on_demand_qdisc_ops __read_mostly = {
	.id		= "on_demand",
	.priv_size	= sizeof(struct on_demand),
	.enqueue	= on_demand_enqueue,
	.dequeue	= on_demand_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= on_demand_init,
	.reset		= on_demand_reset,
	.destroy	= on_demand_destroy,
	.dump_stats	= on_demand_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("on_demand");
module_qdisc(on_demand_qdisc_ops);

MODULE_DESCRIPTION("A return link that grants capacity after a request");
MODULE_LICENSE("GPL");
