// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "policer": a FIFO that drops what arrives above a token bucket's rate.
 *
 * Tokens come at the rate, up to the burst, and the bucket is full at the begin.  A packet
 * that finds as many tokens as it has bytes takes them and is queued; any other is dropped.
 * Nothing waits for tokens: that would be a shaper, as tbf is.  tc's police is an action of a
 * filter, with a table of rounded transmission times; this one counts each nanosecond's tokens.
 */
#include "compat.h"
#include "uapi.h"

#define UNITS_PER_BYTE (8ULL * NSEC_PER_SEC)	/* a token of a byte: bit/s times ns */

struct policer {
	struct policer_state state;
	u64 tokens;
	u64 full;		/* tokens of the burst */
	u64 at_ns;
};

/* Let the tokens up to now come. */
static void policer_fill(struct policer *q, u64 now_ns)
{
	u64 elapsed_ns = now_ns - q->at_ns;

	q->at_ns = now_ns;
	if (elapsed_ns > div64_u64(q->full - q->tokens, q->state.rate_bps))
		q->tokens = q->full;
	else
		q->tokens += elapsed_ns * q->state.rate_bps;
}

static int policer_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct policer *q = qdisc_priv(sch);
	u64 needed = qdisc_pkt_len(skb) * UNITS_PER_BYTE;

	policer_fill(q, ktime_get_ns());
	if (q->tokens < needed) {
		q->state.policed_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	if ((u64)sch->qstats.backlog + qdisc_pkt_len(skb) > q->state.limit_bytes) {
		q->state.overflow_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}
	q->tokens -= needed;
	return qdisc_enqueue_tail(skb, sch);
}

static const struct nla_policy policer_policy[TCA_POLICER_MAX + 1] = {
	[TCA_POLICER_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_POLICER_BURST_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_POLICER_RATE_BPS] = { .type = NLA_U64 },
};

static int policer_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_POLICER_MAX + 1];
	struct policer *q = qdisc_priv(sch);
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_POLICER_MAX, opt, policer_policy, extack);
	if (err)
		return err;
	for (kind = TCA_POLICER_LIMIT_BYTES; kind <= TCA_POLICER_MAX; kind++) {
		if (!tb[kind]) {
			NL_SET_ERR_MSG(extack, "policer: must have limit, burst and rate");
			return -EINVAL;
		}
	}
	q->state.limit_bytes = nla_get_u32(tb[TCA_POLICER_LIMIT_BYTES]);
	q->state.burst_bytes = nla_get_u32(tb[TCA_POLICER_BURST_BYTES]);
	q->state.rate_bps = nla_get_u64(tb[TCA_POLICER_RATE_BPS]);
	if (!q->state.rate_bps || q->state.burst_bytes > POLICER_MOST_BURST_BYTES) {
		NL_SET_ERR_MSG(extack, "policer: must have a rate, and a burst of at most 1 GB");
		return -ERANGE;
	}
	q->full = q->state.burst_bytes * UNITS_PER_BYTE;
	q->tokens = q->full;
	q->at_ns = ktime_get_ns();
	return 0;
}

static int policer_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct policer *q = qdisc_priv(sch);
	struct policer_state state;

	sch_tree_lock(sch);
	state = q->state;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &state, sizeof(state));
}

static struct Qdisc_ops policer_qdisc_ops __read_mostly = {
	.id		= "policer",
	.priv_size	= sizeof(struct policer),
	.enqueue	= policer_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= policer_init,
	.reset		= qdisc_reset_queue,
	.dump_stats	= policer_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("policer");
module_qdisc(policer_qdisc_ops);

MODULE_DESCRIPTION("A FIFO that drops what arrives above the rate of a token bucket");
MODULE_LICENSE("GPL");
