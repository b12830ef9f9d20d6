// SPDX-License-Identifier: GPL-2.0-or-later
/* "on_demand": its settings, checked one by one and together. */
#include "on_demand.h"

#define MOST_FRAMES_ON_THE_WAY 65536U

static const struct nla_policy on_demand_policy[TCA_ON_DEMAND_MAX + 1] = {
	[TCA_ON_DEMAND_FRAME_US] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_PHASE_US] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_GUARANTEED_PKTS] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_REQUEST_DELAY_US] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_CAP_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_REPORT] = NLA_POLICY_MAX(NLA_U32, ON_DEMAND_RATE),
	[TCA_ON_DEMAND_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_ON_DEMAND_PERIOD_US] = { .type = NLA_U32 },
	[TCA_ON_DEMAND_ORIGIN_NS] = { .type = NLA_U64 },
};

static int on_demand_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int err, kind;

	if (!opt)
		return -EINVAL;
	err = nla_parse_nested(tb, TCA_ON_DEMAND_MAX, opt, on_demand_policy, extack);
	if (err)
		return err;
	for (kind = TCA_ON_DEMAND_FRAME_US; kind < TCA_ON_DEMAND_ORIGIN_NS; kind++) {
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
	q->request_frames = on_demand_frames(q, q->state.request_delay_us);
	if (!q->request_frames) {
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

/* Take each setting over from netlink; refuse what no frame clock can hold. */
int on_demand_configure(struct on_demand *q, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ON_DEMAND_MAX + 1];
	int err;

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
	q->next_ns = (u64)q->state.phase_us * NSEC_PER_USEC;
	if (tb[TCA_ON_DEMAND_ORIGIN_NS])
		q->next_ns += nla_get_u64(tb[TCA_ON_DEMAND_ORIGIN_NS]);
	return on_demand_init_frames(q, tb, extack);
}
