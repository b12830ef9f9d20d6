// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "replay": a link that carries what a recorded link carried.
 *
 * The series of the recording is held here, in steps, and integrated exactly: a packet
 * departs at the instant when the capacity since the link became free for it has grown by
 * its size, across any number of steps.  A rate of 0 is a stall, and it ends with its
 * step.  What an idle link could have carried is lost.
 *
 * In the other mode the series is one of delivery opportunities, with mahimahi's meaning: at
 * each of them its bytes pass, in order; a packet that needs more waits for the next ones;
 * what is left when the queue is empty is lost, so that a packet that comes at the instant
 * of an opportunity, or after, waits for another.
 *
 * Steps come in chunks while the link runs (series.h, series_netlink.h).  Where the series
 * has run out, or is over, the last rate holds, or nothing passes.
 *
 * Why not tbf, changed at each step.  It fills its bucket at each change (every 10 ms, 20
 * Mb/s carry 3 % too much with a bucket of 1600 bytes, and 60 % with 15,000), sets no new
 * timer (a packet that waits for a slow rate goes on waiting, unless another one arrives),
 * and knows no rate of 0.  tests/kernel/test_qdisc_tbf.py measures it.
 *
 * The buffer is a child qdisc's.  The link takes a packet from it when the link becomes free,
 * so that an AQM that decides at dequeue sees the time in the queue, without the transmission.
 * While the child gives none, such as the one that "disturb" holds, the link is idle. Lengths are of frames as tc counts them (with the
 * Ethernet header) and overhead_bytes: -14 to count IP packets, as mahimahi does.
 * Super-packets pass whole: offloads must be off.
 *
 * On a kernel whose timer is late a packet departs late, and the ones behind it catch up.
 */
#include "compat.h"
#include "replay.h"

/* Bring the account to now, so that what the series has left behind is freed. */
static void replay_settle(struct Qdisc *sch)
{
	struct replay *q = qdisc_priv(sch);

	if (!sch->q.qlen || q->idle) {
		q->link.serving = false;
		replay_idle(&q->link, ktime_get_ns());
	} else if (q->link.serving) {
		replay_advance(&q->link, ktime_get_ns());
	}
}

static int replay_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct replay *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret;

	replay_settle(sch);
	/* One that has been served and waits for a late timer does not keep the link busy. */
	if (sch->q.qlen == 1 && q->link.serving && !q->link.need)
		replay_idle(&q->link, ktime_get_ns());

	ret = qdisc_enqueue(skb, q->child, to_free);
	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *replay_dequeue(struct Qdisc *sch)
{
	struct replay *q = qdisc_priv(sch);
	struct replay_link *link = &q->link;
	struct sk_buff *skb = q->child->ops->peek(q->child);
	u64 wake_ns;

	q->idle = !skb;
	if (!skb) {
		link->serving = false;
		return NULL;
	}
	if (!link->serving)
		replay_begin(link, max_t(s32, qdisc_pkt_len(skb) + q->overhead_bytes, 1));
	if (!replay_advance(link, ktime_get_ns())) {
		wake_ns = min(replay_due_ns(link), series_next_ns(&link->series));
		if (wake_ns != SERIES_NEVER)
			qdisc_watchdog_schedule_ns(&q->watchdog, wake_ns);
		qdisc_qstats_overlimit(sch);
		return NULL;
	}
	link->serving = false;
	skb = qdisc_dequeue_peeked(q->child);
	if (unlikely(!skb))
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void replay_reset(struct Qdisc *sch)
{
	struct replay *q = qdisc_priv(sch);

	qdisc_reset(q->child);
	q->link.serving = false;
	qdisc_watchdog_cancel(&q->watchdog);
}

static int replay_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_REPLAY_MAX + 1];
	struct replay *q = qdisc_priv(sch);
	int err = replay_parse(opt, tb, extack);

	if (err)
		return err;
	if (tb[TCA_REPLAY_MODE] || tb[TCA_REPLAY_LIMIT_BYTES] || tb[TCA_REPLAY_OVERHEAD_BYTES] ||
	    tb[TCA_REPLAY_START_BPS]) {
		NL_SET_ERR_MSG(extack, "replay: must be made again to be another link");
		return -EOPNOTSUPP;
	}
	sch_tree_lock(sch);
	replay_settle(sch);
	err = replay_extend(q, tb, extack);
	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns());
	sch_tree_unlock(sch);
	return err;
}

static int replay_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_REPLAY_MAX + 1];
	struct replay *q = qdisc_priv(sch);
	struct Qdisc *child;
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	q->child = &noop_qdisc;
	err = replay_parse(opt, tb, extack);
	if (err)
		return err;
	if (!tb[TCA_REPLAY_MODE] || !tb[TCA_REPLAY_LIMIT_BYTES] || !tb[TCA_REPLAY_OVERHEAD_BYTES] ||
	    !tb[TCA_REPLAY_START_BPS]) {
		NL_SET_ERR_MSG(extack, "replay: must have mode, limit, overhead and start rate");
		return -EINVAL;
	}
	q->limit_bytes = nla_get_u32(tb[TCA_REPLAY_LIMIT_BYTES]);
	q->overhead_bytes = nla_get_s32(tb[TCA_REPLAY_OVERHEAD_BYTES]);
	q->start_bps = nla_get_u64(tb[TCA_REPLAY_START_BPS]);
	if (q->start_bps > REPLAY_MOST_BPS) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_REPLAY_START_BPS],
				    "start_bps: must be at most 10 Gbit/s");
		return -ERANGE;
	}
	q->link = (struct replay_link) {
		.opportunities = nla_get_u32(tb[TCA_REPLAY_MODE]) == REPLAY_OPPORTUNITIES,
		.from_ns = ktime_get_ns(),
		.rate_bps = q->start_bps,
	};
	err = series_init(&q->link.series);
	if (err)
		return err;
	child = fifo_create_dflt(sch, &bfifo_qdisc_ops, q->limit_bytes, extack);
	if (IS_ERR(child))
		return PTR_ERR(child);
	qdisc_hash_add(child, true);
	q->child = child;
	return replay_extend(q, tb, extack);
}

static void replay_destroy(struct Qdisc *sch)
{
	struct replay *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	qdisc_put(q->child);
	series_free(&q->link.series);
}

static int replay_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct replay_state state;

	sch_tree_lock(sch);
	replay_settle(sch);
	state = replay_state(qdisc_priv(sch));
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

/* One class, 1, that is always there: it holds the child. */
static int replay_dump_class(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			     struct tcmsg *tcm)
{
	struct replay *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static int replay_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new, struct Qdisc **old,
			struct netlink_ext_ack *extack)
{
	struct replay *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *replay_leaf(struct Qdisc *sch, unsigned long cl)
{
	struct replay *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long replay_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void replay_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (walker->stop)
		return;
	if (walker->count >= walker->skip && walker->fn(sch, 1, walker) < 0) {
		walker->stop = 1;
		return;
	}
	walker->count++;
}

static const struct Qdisc_class_ops replay_class_ops = {
	.graft		= replay_graft,
	.leaf		= replay_leaf,
	.find		= replay_find,
	.walk		= replay_walk,
	.dump		= replay_dump_class,
};

static struct Qdisc_ops replay_qdisc_ops __read_mostly = {
	.cl_ops		= &replay_class_ops,
	.id		= "replay",
	.priv_size	= sizeof(struct replay),
	.enqueue	= replay_enqueue,
	.dequeue	= replay_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= replay_init,
	.reset		= replay_reset,
	.destroy	= replay_destroy,
	.change		= replay_change,
	.dump_stats	= replay_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("replay");
module_qdisc(replay_qdisc_ops);

MODULE_DESCRIPTION("A link that carries what a recorded link carried");
MODULE_LICENSE("GPL");
