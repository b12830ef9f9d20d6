// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "bursts": a FIFO whose arrivals are lost in bursts, by the model of Gilbert and Elliott.
 *
 * The link is good or bad.  Each arrival may change that first, by the chance that leads out
 * of its state, and is then lost by the chance of the state: nothing is lost while it is good.
 * E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39 (1960).
 * Each arrival takes two random numbers, from a generator of this qdisc's own.
 */
#include "compat.h"
#include "uapi.h"
#include "random.h"

#define WHOLE_PPM 1000000U

struct bursts {
	struct bursts_state state;
	u64 random_state;
	bool bad;
};

/* True for share_ppm of a million; 32 bits of the draw scale it, with an error of 2^-32. */
static bool bursts_chosen(struct bursts *q, u32 share_ppm)
{
	return ((random_next(&q->random_state) >> 32) * WHOLE_PPM) >> 32 < share_ppm;
}

static bool bursts_loses(struct bursts *q)
{
	bool changes = bursts_chosen(q, q->bad ? q->state.end_ppm : q->state.begin_ppm);
	bool lost = bursts_chosen(q, q->state.loss_ppm);

	if (changes) {
		q->bad = !q->bad;
		q->state.bursts += q->bad;
	}
	q->state.bad_pkts += q->bad;
	return q->bad && lost;
}

static int bursts_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bursts *q = qdisc_priv(sch);

	if (bursts_loses(q)) {
		q->state.lost_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	if ((u64)sch->qstats.backlog + qdisc_pkt_len(skb) > q->state.limit_bytes) {
		q->state.overflow_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	return qdisc_enqueue_tail(skb, sch);
}

static const struct nla_policy bursts_policy[TCA_BURSTS_MAX + 1] = {
	[TCA_BURSTS_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_BURSTS_BEGIN_PPM] = { .type = NLA_U32 },
	[TCA_BURSTS_END_PPM] = { .type = NLA_U32 },
	[TCA_BURSTS_LOSS_PPM] = { .type = NLA_U32 },
	[TCA_BURSTS_SEED] = { .type = NLA_U64 },
};

static int bursts_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_BURSTS_MAX + 1];
	struct bursts *q = qdisc_priv(sch);
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_BURSTS_MAX, opt, bursts_policy, extack);
	if (err)
		return err;
	for (kind = TCA_BURSTS_LIMIT_BYTES; kind <= TCA_BURSTS_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack, "bursts: must have limit, begin, end, loss and seed");
			return -EINVAL;
		}
	}
	q->state.limit_bytes = nla_get_u32(tb[TCA_BURSTS_LIMIT_BYTES]);
	q->state.begin_ppm = nla_get_u32(tb[TCA_BURSTS_BEGIN_PPM]);
	q->state.end_ppm = nla_get_u32(tb[TCA_BURSTS_END_PPM]);
	q->state.loss_ppm = nla_get_u32(tb[TCA_BURSTS_LOSS_PPM]);
	if (max3(q->state.begin_ppm, q->state.end_ppm, q->state.loss_ppm) > WHOLE_PPM) {
		NL_SET_ERR_MSG(extack, "bursts: must have chances of at most 100 %");
		return -ERANGE;
	}
	q->state.seed = nla_get_u64(tb[TCA_BURSTS_SEED]);
	q->random_state = q->state.seed;
	return 0;
}

static int bursts_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct bursts *q = qdisc_priv(sch);
	struct bursts_state state;

	sch_tree_lock(sch);
	state = q->state;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops bursts_qdisc_ops __read_mostly = {
	.id		= "bursts",
	.priv_size	= sizeof(struct bursts),
	.enqueue	= bursts_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= bursts_init,
	.reset		= qdisc_reset_queue,
	.dump_stats	= bursts_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("bursts");
module_qdisc(bursts_qdisc_ops);

MODULE_DESCRIPTION("A FIFO whose arrivals are lost in bursts");
MODULE_LICENSE("GPL");
