// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "delay_line": a path whose delay and random loss follow a recorded series.
 *
 * A packet is delayed by the series' value as it comes, and never leaves before one that
 * came earlier: where the delay falls, what comes after waits for what is on its way.  Loss
 * is drawn as a packet comes, from a generator of this qdisc's own.
 *
 * With frames the line delivers at most once a period, as WiFi does whose medium is busy
 * with one aggregate while the next gathers: what comes through an idle line leaves at once,
 * what comes within a period after it leaves together at that period's end, or as much of
 * it as a frame takes.
 *
 * The series is held here and comes in chunks while the line runs (series.h,
 * series_netlink.h).  Before it begins the values hold that were given when the line was
 * made; where it has run out, or is over, its last ones.
 *
 * Why not netem, changed at each step.  A change comes when user space is awakened: 7 to 14
 * ms late in a VM under software emulation, and later where the machine is busy (make
 * bench-replay).  A thousand changes a second, which the WiFi's cycle of some milliseconds
 * needs, cost a third of a trial in the virtual kernel.  And netem keeps packets in order
 * only where it also has a rate.
 *
 * On a kernel whose timer is late a packet departs late; how many did so by more than
 * late_us is counted, and the worst of them is kept.
 */
#include "compat.h"
#include "random.h"
#include "series_netlink.h"

struct delay_line {
	struct delay_line_state state;
	struct series series;
	struct qdisc_watchdog watchdog;
	u64 random_state;
	u64 delay_ns;		/* in force now, */
	u32 loss;		/* of 2^32 */
	u64 last_due_ns;	/* when the last frame leaves, */
	u64 next_frame_ns;	/* when the next may, */
	u32 frame_pkts;		/* and how many packets are in the last */
};

struct delay_line_packet {
	u64 due_ns;
};

static struct delay_line_packet *delay_line_packet(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct delay_line_packet));
	return (struct delay_line_packet *)qdisc_skb_cb(skb)->data;
}

/* Let the steps up to now come into force. */
static void delay_line_settle(struct delay_line *q, u64 now_ns)
{
	while (series_next_ns(&q->series) <= now_ns) {
		const struct series_step *step = series_take(&q->series);

		q->delay_ns = (u64)step->delay_us * NSEC_PER_USEC;
		q->loss = step->loss;
	}
}

/* The largest share loses every packet; as in netem, each is (loss + 1) of 2^32. */
static bool delay_line_loses(struct delay_line *q)
{
	if (!q->loss)
		return false;
	q->state.loss_sum += (u64)q->loss + 1;
	return random_next(&q->random_state) >> 32 <= q->loss;
}

static u64 delay_line_due_ns(struct delay_line *q, u64 now_ns)
{
	u64 frame_ns = (u64)q->state.frame_us * NSEC_PER_USEC;
	u64 due_ns = now_ns + q->delay_ns;
	bool full = q->state.frame_pkts && q->frame_pkts == q->state.frame_pkts;

	if (due_ns > q->last_due_ns || full) {
		q->last_due_ns = max(due_ns, q->next_frame_ns);
		q->next_frame_ns = q->last_due_ns + frame_ns;
		q->frame_pkts = 0;
	}
	q->frame_pkts++;
	return q->last_due_ns;
}

static int delay_line_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct delay_line *q = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();

	delay_line_settle(q, now_ns);
	if (delay_line_loses(q)) {
		q->state.lost_pkts++;
		qdisc_drop(skb, sch, to_free);
		return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS; /* lost on the way: nobody knows */
	}
	if (sch->q.qlen >= q->state.limit_pkts) {
		q->state.overflow_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	delay_line_packet(skb)->due_ns = delay_line_due_ns(q, now_ns);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *delay_line_dequeue(struct Qdisc *sch)
{
	struct delay_line *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_peek_head(sch);
	u64 due_ns, now_ns = ktime_get_ns();

	if (!skb)
		return NULL;
	due_ns = delay_line_packet(skb)->due_ns;
	if (due_ns > now_ns) {
		qdisc_watchdog_schedule_ns(&q->watchdog, due_ns);
		return NULL;
	}
	q->state.sent_pkts++;
	q->state.late_pkts += now_ns - due_ns > (u64)q->state.late_us * NSEC_PER_USEC;
	q->state.latest_ns = max(q->state.latest_ns, now_ns - due_ns);
	return qdisc_dequeue_head(sch);
}

static void delay_line_reset(struct Qdisc *sch)
{
	struct delay_line *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	qdisc_watchdog_cancel(&q->watchdog);
}

static const struct nla_policy delay_line_policy[TCA_DELAY_LINE_MAX + 1] = {
	SERIES_POLICY,
	[TCA_DELAY_LINE_LIMIT_PKTS] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_DELAY_LINE_DELAY_US] = { .type = NLA_U32 },
	[TCA_DELAY_LINE_LOSS] = { .type = NLA_U32 },
	[TCA_DELAY_LINE_FRAME_US] = { .type = NLA_U32 },
	[TCA_DELAY_LINE_FRAME_PKTS] = { .type = NLA_U32 },
	[TCA_DELAY_LINE_LATE_US] = { .type = NLA_U32 },
	[TCA_DELAY_LINE_SEED] = { .type = NLA_U64 },
};

static int delay_line_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!opt)
		return -EINVAL;
	return nla_parse_nested(tb, TCA_DELAY_LINE_MAX, opt, delay_line_policy, extack);
}

static int delay_line_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DELAY_LINE_MAX + 1];
	struct delay_line *q = qdisc_priv(sch);
	int kind, err = delay_line_parse(opt, tb, extack);

	if (err)
		return err;
	for (kind = TCA_DELAY_LINE_LIMIT_PKTS; kind <= TCA_DELAY_LINE_MAX; kind++) {
		if (tb[kind]) {
			NL_SET_ERR_MSG(extack, "delay_line: must be made again to be another line");
			return -EOPNOTSUPP;
		}
	}
	sch_tree_lock(sch);
	delay_line_settle(q, ktime_get_ns());
	err = series_extend(&q->series, tb, NULL, q, extack);
	sch_tree_unlock(sch);
	return err;
}

static int delay_line_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DELAY_LINE_MAX + 1];
	struct delay_line *q = qdisc_priv(sch);
	int kind, err;

	qdisc_watchdog_init(&q->watchdog, sch);
	err = delay_line_parse(opt, tb, extack);
	if (err)
		return err;
	for (kind = TCA_DELAY_LINE_LIMIT_PKTS; kind <= TCA_DELAY_LINE_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack,
				       "delay_line: must have limit, delay, loss, frames, lateness and seed");
			return -EINVAL;
		}
	}
	q->state.limit_pkts = nla_get_u32(tb[TCA_DELAY_LINE_LIMIT_PKTS]);
	q->state.delay_us = nla_get_u32(tb[TCA_DELAY_LINE_DELAY_US]);
	q->state.loss = nla_get_u32(tb[TCA_DELAY_LINE_LOSS]);
	q->state.frame_us = nla_get_u32(tb[TCA_DELAY_LINE_FRAME_US]);
	q->state.frame_pkts = nla_get_u32(tb[TCA_DELAY_LINE_FRAME_PKTS]);
	q->state.late_us = nla_get_u32(tb[TCA_DELAY_LINE_LATE_US]);
	q->state.seed = nla_get_u64(tb[TCA_DELAY_LINE_SEED]);
	q->delay_ns = (u64)q->state.delay_us * NSEC_PER_USEC;
	q->loss = q->state.loss;
	q->random_state = q->state.seed;
	err = series_init(&q->series);
	if (err)
		return err;
	return series_extend(&q->series, tb, NULL, q, extack);
}

static void delay_line_destroy(struct Qdisc *sch)
{
	struct delay_line *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	series_free(&q->series);
}

static int delay_line_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct delay_line *q = qdisc_priv(sch);
	struct delay_line_state state;

	sch_tree_lock(sch);
	delay_line_settle(q, ktime_get_ns());
	state = q->state;
	state.series = series_state(&q->series);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops delay_line_qdisc_ops __read_mostly = {
	.id		= "delay_line",
	.priv_size	= sizeof(struct delay_line),
	.enqueue	= delay_line_enqueue,
	.dequeue	= delay_line_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= delay_line_init,
	.reset		= delay_line_reset,
	.destroy	= delay_line_destroy,
	.change		= delay_line_change,
	.dump_stats	= delay_line_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("delay_line");
module_qdisc(delay_line_qdisc_ops);

MODULE_DESCRIPTION("A path whose delay and random loss follow a recorded series");
MODULE_LICENSE("GPL");
