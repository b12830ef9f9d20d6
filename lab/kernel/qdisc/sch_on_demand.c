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

#include "compat.h"
#include "netlink_words.h"

#define MOST_FRAMES_ON_THE_WAY 65536U

struct on_demand {
	struct on_demand_state state;
	struct qdisc_watchdog watchdog;
	struct qdisc_skb_head waiting;
	struct qdisc_skb_head leaving;	/* this frame's, on their way out */
	u32 waiting_bytes;		/* without what was sent of the first packet */
	u32 sent_of_first_bytes;

	u64 next_ns;			/* when the next frame begins */
	u64 *asked_bytes;		/* the report of each frame whose grant is still to come */
	u32 asked_frames;		/* so many of them */
	u32 at;				/* the oldest */
	u64 coming_bytes;		/* their sum */
	u64 owed_bytes;			/* ON_DEMAND_NEW: due, and cut off by the cap so far */

	/* ON_DEMAND_RATE; a rate is in bytes per period_frames. */
	u32 period_frames;
	u32 period_at;			/* frames since the last report */
	u64 arrived_bytes;		/* since the last report */
	u64 rate_bytes;			/* of the last report; each frame restates it */
	u64 share_rest;			/* of the shares of frames, in 1 / period_frames bytes */
};

static u64 on_demand_frame_ns(const struct on_demand *q)
{
	return (u64)q->state.frame_us * NSEC_PER_USEC;
}

/* A frame's share of a rate.  Rests add up, so that a period carries the rate to the byte. */
static u64 on_demand_share(struct on_demand *q, u64 rate_bytes)
{
	u64 share;

	q->share_rest += rate_bytes;
	share = div64_u64(q->share_rest, q->period_frames);
	q->share_rest -= share * q->period_frames;
	return share;
}

/* The grant for this frame; the request that it answers is no longer on the way. */
static u32 on_demand_grant(struct on_demand *q)
{
	u64 due_bytes = q->asked_bytes[q->at];
	u32 granted_bytes;

	q->coming_bytes -= due_bytes;
	switch (q->state.report) {
	case ON_DEMAND_NEW:
		q->owed_bytes += due_bytes;
		granted_bytes = min_t(u64, q->owed_bytes, q->state.cap_bytes);
		q->owed_bytes -= granted_bytes;
		break;
	case ON_DEMAND_RATE:
		due_bytes = on_demand_share(q, due_bytes);
		fallthrough;
	default:
		granted_bytes = min_t(u64, due_bytes, q->state.cap_bytes);
	}
	q->state.granted_bytes += granted_bytes;
	return granted_bytes;
}

static u64 on_demand_new_bytes(const struct on_demand *q)
{
	u64 known_bytes = q->coming_bytes + q->owed_bytes;

	return q->waiting_bytes > known_bytes ? q->waiting_bytes - known_bytes : 0;
}

/* The rate of the last report, and a new one at the end of a period. */
static u64 on_demand_rate(struct on_demand *q)
{
	if (++q->period_at < q->period_frames)
		return q->rate_bytes;

	q->period_at = 0;
	q->rate_bytes = q->arrived_bytes + q->waiting_bytes;
	q->arrived_bytes = 0;
	q->state.requested_bytes += q->rate_bytes;
	return q->rate_bytes;
}

/* Report the demand, in place of the request that was answered. */
static void on_demand_ask(struct on_demand *q)
{
	u64 bytes;

	if (q->state.report == ON_DEMAND_RATE) {
		bytes = on_demand_rate(q);
	} else {
		bytes = q->state.report == ON_DEMAND_NEW ? on_demand_new_bytes(q) : q->waiting_bytes;
		q->state.requested_bytes += bytes;
	}
	q->asked_bytes[q->at] = bytes;
	q->at = (q->at + 1) % q->asked_frames;
	q->coming_bytes += bytes;
}

static u32 on_demand_first_bytes(const struct on_demand *q)
{
	return qdisc_pkt_len(q->waiting.head) - q->sent_of_first_bytes;
}

static void on_demand_leave(struct on_demand *q)
{
	q->waiting_bytes -= on_demand_first_bytes(q);
	q->sent_of_first_bytes = 0;
	__qdisc_enqueue_tail(__qdisc_dequeue_head(&q->waiting), &q->leaving);
}

static void on_demand_frame(struct on_demand *q)
{
	u32 bytes = on_demand_grant(q);
	u32 pkts;

	for (pkts = q->state.guaranteed_pkts; pkts && q->waiting.qlen; pkts--) {
		on_demand_leave(q);
		q->state.guaranteed_sent_pkts++;
	}
	while (q->waiting.qlen && bytes >= on_demand_first_bytes(q)) {
		bytes -= on_demand_first_bytes(q);
		on_demand_leave(q);
	}
	if (q->waiting.qlen) {
		q->sent_of_first_bytes += bytes;
		q->waiting_bytes -= bytes;
	} else {
		q->state.lapsed_bytes += bytes;
	}
	on_demand_ask(q);
	q->state.frames++;
	q->next_ns += on_demand_frame_ns(q);
}

/* Whether a frame at a link with nothing to send still changes something. */
static bool on_demand_pending(const struct on_demand *q)
{
	return q->coming_bytes || q->owed_bytes || q->arrived_bytes || q->rate_bytes;
}

/* Frames pass at a link with nothing to send: grants lapse, and then nothing happens in them. */
static void on_demand_pass(struct on_demand *q, u64 now_ns)
{
	u64 frames;

	while (q->next_ns <= now_ns && on_demand_pending(q))
		on_demand_frame(q);
	if (q->next_ns > now_ns)
		return;
	frames = div64_u64(now_ns - q->next_ns, on_demand_frame_ns(q)) + 1;
	q->state.frames += frames;
	q->next_ns += frames * on_demand_frame_ns(q);
	if (q->period_frames) {
		div64_u64_rem(q->period_at + frames, q->period_frames, &frames);
		q->period_at = frames;
	}
}

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

static const struct nla_policy on_demand_policy[TCA_ON_DEMAND_MAX + 1] = {
	[TCA_ON_DEMAND_FRAME_US] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_PHASE_US] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_GUARANTEED_PKTS] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_REQUEST_DELAY_US] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_CAP_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_REPORT] = NLA_POLICY_MAX(NLA_U32, ON_DEMAND_RATE),
	[TCA_ON_DEMAND_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_PERIOD_US] = { .type = NLA_U32 },
};

static int on_demand_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_ON_DEMAND_MAX, opt, on_demand_policy, extack);
	if (err)
		return err;
	for (kind = TCA_ON_DEMAND_FRAME_US; kind <= TCA_ON_DEMAND_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack, "on_demand: must have each setting");
			return -EINVAL;
		}
	}
	return 0;
}

/* How many frames a time takes, rounded up to whole ones; 0 where it is too long. */
static u32 on_demand_frames(const struct on_demand *q, u32 time_us)
{
	u64 frames = DIV_ROUND_UP_ULL(time_us, q->state.frame_us);

	return frames <= MOST_FRAMES_ON_THE_WAY ? max(frames, 1ULL) : 0;
}

static int on_demand_init_frames(struct on_demand *q, struct nlattr **tb,
				 struct netlink_ext_ack *extack)
{
	if (q->state.phase_us >= q->state.frame_us) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ON_DEMAND_PHASE_US],
				    "phase_us: must be less than frame_us");
		return -ERANGE;
	}
	/* Not before the next frame: no frame's request is granted in itself. */
	q->asked_frames = on_demand_frames(q, q->state.request_delay_us);
	if (!q->asked_frames) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ON_DEMAND_REQUEST_DELAY_US],
				    "request_delay_us: must be at most 65536 frames");
		return -ERANGE;
	}
	if ((q->state.report == ON_DEMAND_RATE) != !!q->state.period_us) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ON_DEMAND_PERIOD_US],
				    "period_us: must be above 0 for a rate, 0 for other reports");
		return -ERANGE;
	}
	if (!q->state.period_us)
		return 0;
	q->period_frames = on_demand_frames(q, q->state.period_us);
	if (!q->period_frames) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ON_DEMAND_PERIOD_US],
				    "period_us: must be at most 65536 frames");
		return -ERANGE;
	}
	return 0;
}

/* There is no change: a new frame clock would be another link. */
static int on_demand_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ON_DEMAND_MAX + 1];
	struct on_demand *q = qdisc_priv(sch);
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	err = on_demand_parse(opt, tb, extack);
	if (err)
		return err;
	q->state.frame_us = nla_get_u32(tb[TCA_ON_DEMAND_FRAME_US]);
	q->state.phase_us = nla_get_u32(tb[TCA_ON_DEMAND_PHASE_US]);
	q->state.guaranteed_pkts = nla_get_u32(tb[TCA_ON_DEMAND_GUARANTEED_PKTS]);
	q->state.request_delay_us = nla_get_u32(tb[TCA_ON_DEMAND_REQUEST_DELAY_US]);
	q->state.cap_bytes = nla_get_u32(tb[TCA_ON_DEMAND_CAP_BYTES]);
	q->state.report = nla_get_u32(tb[TCA_ON_DEMAND_REPORT]);
	q->state.limit_bytes = nla_get_u32(tb[TCA_ON_DEMAND_LIMIT_BYTES]);
	q->state.period_us = nla_get_u32(tb[TCA_ON_DEMAND_PERIOD_US]);
	err = on_demand_init_frames(q, tb, extack);
	if (err)
		return err;
	q->asked_bytes = kvcalloc(q->asked_frames, sizeof(*q->asked_bytes), GFP_KERNEL);
	if (!q->asked_bytes)
		return -ENOMEM;
	q->next_ns = (u64)q->state.phase_us * NSEC_PER_USEC;
	on_demand_pass(q, ktime_get_ns());
	q->state.frames = 0;
	return 0;
}

static void on_demand_destroy(struct Qdisc *sch)
{
	struct on_demand *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	kvfree(q->asked_bytes);
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

static int __init on_demand_module_init(void)
{
	return register_qdisc(&on_demand_qdisc_ops);
}
module_init(on_demand_module_init);

static void __exit on_demand_module_exit(void)
{
	unregister_qdisc(&on_demand_qdisc_ops);
}
module_exit(on_demand_module_exit);

MODULE_DESCRIPTION("A return link that grants capacity after a request");
MODULE_LICENSE("GPL");
