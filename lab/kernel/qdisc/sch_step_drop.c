// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "step_drop": a FIFO that drops a share of what arrives, at random, while more than a
 * threshold is queued.
 *
 * So does the gateway of the GEO link in the thesis (5.1.1): 36 MB for a client, and 25 % of
 * the arriving packets dropped while more than half of that is queued.  No stock qdisc does
 * it.  RED's probability follows an average, begins at zero, and is spread so that drops
 * keep a distance; docs/measurements/links.json has the measured shares.
 *
 * What is queued is counted before the packet that arrives.  One that does not fit is
 * dropped at the tail and takes no random number; every other one that arrives above the
 * threshold takes one, from a generator of this qdisc's own, so that the same arrivals and the same
 * seed give the same drops.
 */
#include "compat.h"
#include "uapi.h"
#include "random.h"

#define WHOLE_PPM 1000000U

struct step_drop {
	struct step_drop_state state;
	u64 random_state;
};

/* True for share_ppm of a million; 32 bits of the draw scale it, with an error of 2^-32. */
static bool step_drop_chosen(struct step_drop *q)
{
	return ((random_next(&q->random_state) >> 32) * WHOLE_PPM) >> 32 < q->state.share_ppm;
}

static int step_drop_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct step_drop *q = qdisc_priv(sch);

	if ((u64)sch->qstats.backlog + qdisc_pkt_len(skb) > q->state.limit_bytes) {
		q->state.overflow_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (sch->qstats.backlog > q->state.threshold_bytes) {
		q->state.exposed_pkts++;
		if (step_drop_chosen(q)) {
			q->state.chosen_pkts++;
			return qdisc_drop(skb, sch, to_free);
		}
	}
	return qdisc_enqueue_tail(skb, sch);
}

static const struct nla_policy step_drop_policy[TCA_STEP_DROP_MAX + 1] = {
	[TCA_STEP_DROP_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_STEP_DROP_THRESHOLD_BYTES] = { .type = NLA_U32 },
	[TCA_STEP_DROP_SHARE_PPM] = { .type = NLA_U32 },
	[TCA_STEP_DROP_SEED] = { .type = NLA_U64 },
};

/* There is no change: a new share in the middle of a random sequence would be no repeatable queue. */
static int step_drop_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_STEP_DROP_MAX + 1];
	struct step_drop *q = qdisc_priv(sch);
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_STEP_DROP_MAX, opt, step_drop_policy, extack);
	if (err)
		return err;
	for (kind = TCA_STEP_DROP_LIMIT_BYTES; kind <= TCA_STEP_DROP_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack,
				       "step_drop: must have limit, threshold, share and seed");
			return -EINVAL;
		}
	}
	q->state.limit_bytes = nla_get_u32(tb[TCA_STEP_DROP_LIMIT_BYTES]);
	q->state.threshold_bytes = nla_get_u32(tb[TCA_STEP_DROP_THRESHOLD_BYTES]);
	q->state.share_ppm = nla_get_u32(tb[TCA_STEP_DROP_SHARE_PPM]);
	if (q->state.share_ppm > WHOLE_PPM) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_STEP_DROP_SHARE_PPM],
				    "drop_pct: must be at most 100");
		return -ERANGE;
	}
	q->state.seed = nla_get_u64(tb[TCA_STEP_DROP_SEED]);
	q->random_state = q->state.seed;
	return 0;
}

static int step_drop_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct step_drop *q = qdisc_priv(sch);
	struct step_drop_state state;

	sch_tree_lock(sch);
	state = q->state;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops step_drop_qdisc_ops __read_mostly = {
	.id		= "step_drop",
	.priv_size	= sizeof(struct step_drop),
	.enqueue	= step_drop_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= step_drop_init,
	.reset		= qdisc_reset_queue,
	.dump_stats	= step_drop_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("step_drop");
module_qdisc(step_drop_qdisc_ops);

MODULE_DESCRIPTION("A FIFO that drops a share of arrivals above a threshold");
MODULE_LICENSE("GPL");
