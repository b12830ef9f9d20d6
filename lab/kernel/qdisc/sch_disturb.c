// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "disturb": a FIFO that reorders and duplicates packets, each at a stated number.
 *
 * Every hold_every-th arrival is held back until hold_pkts later ones are queued, and then
 * follows them: so many packets overtake it.  Every copy_every-th arrival is queued twice.
 * 0: none.  Numbers and no chance: a case states which packet it is, and by how much it is
 * late.  netem's reordering lets a share of packets pass the others' delay, by chance.
 *
 * A held packet takes its place of the limit, and is counted by the parent, but not as
 * queued here: what follows is what releases it.  One that is dropped overtakes nothing.
 */
#include "compat.h"
#include "uapi.h"

struct disturb {
	struct disturb_state state;
	struct sk_buff *held;
	u32 passed_pkts;	/* since it is held */
};

/* One that is held has its place: it always fits when it is released. */
static bool disturb_fits(struct sk_buff *skb, struct Qdisc *sch)
{
	struct disturb *q = qdisc_priv(sch);
	u64 taken = sch->qstats.backlog + (q->held ? qdisc_pkt_len(q->held) : 0);

	return taken + qdisc_pkt_len(skb) <= q->state.limit_bytes;
}

static int disturb_queue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct disturb *q = qdisc_priv(sch);

	if (!disturb_fits(skb, sch)) {
		q->state.overflow_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	return qdisc_enqueue_tail(skb, sch);
}

static bool disturb_is_due(u64 number, u32 every)
{
	u32 rest;

	if (!every)
		return false;
	div_u64_rem(number, every, &rest);
	return !rest;
}

/* The parent counts what its own enqueue got; one more is reported as less than nothing dropped. */
static void disturb_copy(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct disturb *q = qdisc_priv(sch);
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (!copy || disturb_queue(copy, sch, to_free) != NET_XMIT_SUCCESS)
		return;
	q->state.copied_pkts++;
	qdisc_tree_reduce_backlog(sch, -1, -(int)qdisc_pkt_len(copy));
}

static void disturb_release(struct Qdisc *sch)
{
	struct disturb *q = qdisc_priv(sch);
	struct sk_buff *held = q->held;

	if (!held || ++q->passed_pkts < q->state.hold_pkts)
		return;
	q->held = NULL;
	qdisc_enqueue_tail(held, sch);
}

static int disturb_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct disturb *q = qdisc_priv(sch);
	int ret;

	q->state.arrived_pkts++;
	if (disturb_is_due(q->state.arrived_pkts, q->state.copy_every_pkts))
		disturb_copy(skb, sch, to_free);
	if (!q->held && disturb_is_due(q->state.arrived_pkts, q->state.hold_every_pkts) &&
	    disturb_fits(skb, sch)) {
		q->held = skb;
		q->passed_pkts = 0;
		q->state.held_pkts++;
		return NET_XMIT_SUCCESS;
	}
	ret = disturb_queue(skb, sch, to_free);
	if (ret == NET_XMIT_SUCCESS)
		disturb_release(sch);
	return ret;
}

static void disturb_reset(struct Qdisc *sch)
{
	struct disturb *q = qdisc_priv(sch);

	kfree_skb(q->held);
	q->held = NULL;
	qdisc_reset_queue(sch);
}

static void disturb_destroy(struct Qdisc *sch)
{
	struct disturb *q = qdisc_priv(sch);

	kfree_skb(q->held);
}

static const struct nla_policy disturb_policy[TCA_DISTURB_MAX + 1] = {
	[TCA_DISTURB_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_DISTURB_HOLD_EVERY_PKTS] = { .type = NLA_U32 },
	[TCA_DISTURB_HOLD_PKTS] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_DISTURB_COPY_EVERY_PKTS] = { .type = NLA_U32 },
};

static int disturb_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DISTURB_MAX + 1];
	struct disturb *q = qdisc_priv(sch);
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_DISTURB_MAX, opt, disturb_policy, extack);
	if (err)
		return err;
	for (kind = TCA_DISTURB_LIMIT_BYTES; kind <= TCA_DISTURB_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack, "disturb: must have limit, held and copied packets");
			return -EINVAL;
		}
	}
	q->state.limit_bytes = nla_get_u32(tb[TCA_DISTURB_LIMIT_BYTES]);
	q->state.hold_every_pkts = nla_get_u32(tb[TCA_DISTURB_HOLD_EVERY_PKTS]);
	q->state.hold_pkts = nla_get_u32(tb[TCA_DISTURB_HOLD_PKTS]);
	q->state.copy_every_pkts = nla_get_u32(tb[TCA_DISTURB_COPY_EVERY_PKTS]);
	return 0;
}

static int disturb_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct disturb *q = qdisc_priv(sch);
	struct disturb_state state;

	sch_tree_lock(sch);
	state = q->state;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops disturb_qdisc_ops __read_mostly = {
	.id		= "disturb",
	.priv_size	= sizeof(struct disturb),
	.enqueue	= disturb_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= disturb_init,
	.reset		= disturb_reset,
	.destroy	= disturb_destroy,
	.dump_stats	= disturb_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("disturb");
module_qdisc(disturb_qdisc_ops);

MODULE_DESCRIPTION("A FIFO that reorders and duplicates packets");
MODULE_LICENSE("GPL");
