// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "replay" over netlink: its settings, chunks of its series, and what it reports.
 */
#include "replay.h"
#include "series_netlink.h"

static const struct nla_policy replay_policy[TCA_REPLAY_MAX + 1] = {
	[TCA_REPLAY_MODE] = NLA_POLICY_MAX(NLA_U32, REPLAY_OPPORTUNITIES),
	[TCA_REPLAY_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_REPLAY_OVERHEAD_BYTES] = NLA_POLICY_RANGE(NLA_S32, -60, 1000),
	[TCA_REPLAY_START_BPS] = { .type = NLA_U64 },
	SERIES_POLICY,
};

int replay_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!opt)
		return -EINVAL;
	return nla_parse_nested(tb, TCA_REPLAY_MAX, opt, replay_policy, extack);
}

static int replay_refuses(const struct series_step *step, void *qdisc,
			  struct netlink_ext_ack *extack)
{
	const struct replay *q = qdisc;

	if (step->value <= (q->link.opportunities ? REPLAY_MOST_BYTES : REPLAY_MOST_BPS))
		return 0;
	NL_SET_ERR_MSG(extack, "steps: must be at most 10 Gbit/s, or 1 GiB");
	return -ERANGE;
}

int replay_extend(struct replay *q, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	return series_extend(&q->link.series, tb, replay_refuses, q, extack);
}

struct replay_state replay_state(const struct replay *q)
{
	const struct replay_link *link = &q->link;

	return (struct replay_state) {
		.mode = link->opportunities ? REPLAY_OPPORTUNITIES : REPLAY_RATE,
		.limit_bytes = q->limit_bytes,
		.overhead_bytes = q->overhead_bytes,
		.start_bps = q->start_bps,
		.capacity_bytes = link->capacity_bits / 8,
		.rate_bps = link->rate_bps,
		.series = series_state(&link->series),
	};
}
