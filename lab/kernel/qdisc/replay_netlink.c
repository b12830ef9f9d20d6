// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What "replay" is told by netlink, its settings and chunks of the series, and what it
 * reports.
 */
#include <linux/ktime.h>
#include <net/netlink.h>

#include "replay.h"

static const struct nla_policy replay_policy[TCA_REPLAY_MAX + 1] = {
	[TCA_REPLAY_MODE] = NLA_POLICY_MAX(NLA_U32, REPLAY_OPPORTUNITIES),
	[TCA_REPLAY_LIMIT_BYTES] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_REPLAY_OVERHEAD_BYTES] = NLA_POLICY_RANGE(NLA_S32, -60, 1000),
	[TCA_REPLAY_START_BPS] = { .type = NLA_U64 },
	[TCA_REPLAY_START_NS] = { .type = NLA_U64 },
	[TCA_REPLAY_STEPS] = { .type = NLA_BINARY },
	[TCA_REPLAY_END_NS] = { .type = NLA_U64 },
};

int replay_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!opt)
		return -EINVAL;
	return nla_parse_nested(tb, TCA_REPLAY_MAX, opt, replay_policy, extack);
}

static int replay_begin_series(struct replay_link *link, const struct nlattr *start,
			       struct netlink_ext_ack *extack)
{
	u64 start_ns = nla_get_u64(start);

	if (link->start_ns != REPLAY_NEVER) {
		NL_SET_ERR_MSG_ATTR(extack, start, "start_ns: must be told once");
		return -EBUSY;
	}
	if (start_ns < ktime_get_ns() || start_ns > REPLAY_MOST_NS) {
		NL_SET_ERR_MSG_ATTR(extack, start, "start_ns: must not be past");
		return -ERANGE;
	}
	link->start_ns = start_ns;
	return 0;
}

static int replay_refused(const struct replay_link *link, const struct replay_step *step,
			  u64 after_ns, const struct nlattr *steps, struct netlink_ext_ack *extack)
{
	bool first = after_ns == REPLAY_NEVER;

	if (first ? step->t_ns : step->t_ns <= after_ns) {
		NL_SET_ERR_MSG_ATTR(extack, steps,
				    "steps: must begin at 0 and follow each other in time");
		return -EINVAL;
	}
	if (step->t_ns > REPLAY_MOST_NS ||
	    step->value > (link->opportunities ? REPLAY_MOST_BYTES : REPLAY_MOST_BPS)) {
		NL_SET_ERR_MSG_ATTR(extack, steps, "steps: must be at most 10 Gbit/s, or 1 GiB");
		return -ERANGE;
	}
	if (link->start_ns != REPLAY_NEVER && link->start_ns + step->t_ns < ktime_get_ns()) {
		NL_SET_ERR_MSG_ATTR(extack, steps, "steps: must not be past");
		return -ETIME;
	}
	return 0;
}

/* A chunk is taken whole or not at all: what lies behind the held steps counts only at the end. */
static int replay_append(struct replay_link *link, const struct nlattr *steps,
			 struct netlink_ext_ack *extack)
{
	u32 i, count = nla_len(steps) / sizeof(struct replay_step);
	u64 after_ns = link->last_ns;
	int err;

	if (nla_len(steps) % sizeof(struct replay_step) || link->end_ns != REPLAY_NEVER) {
		NL_SET_ERR_MSG_ATTR(extack, steps,
				    "steps: must be whole, and come before the end is told");
		return -EINVAL;
	}
	if (count > REPLAY_STEPS - link->held) {
		NL_SET_ERR_MSG_ATTR(extack, steps, "steps: must fit the room that is left");
		return -ENOSPC;
	}
	for (i = 0; i < count; i++) {
		u32 at = (link->first + link->held + i) % REPLAY_STEPS;
		struct replay_step *step = &link->ring[at];

		memcpy(step, nla_data(steps) + i * sizeof(*step), sizeof(*step));
		err = replay_refused(link, step, after_ns, steps, extack);
		if (err)
			return err;
		after_ns = step->t_ns;
	}
	link->held += count;
	link->last_ns = after_ns;
	return 0;
}

static int replay_end_series(struct replay_link *link, const struct nlattr *end,
			     struct netlink_ext_ack *extack)
{
	u64 end_ns = nla_get_u64(end);

	if (link->end_ns != REPLAY_NEVER || link->last_ns == REPLAY_NEVER ||
	    end_ns <= link->last_ns || end_ns > REPLAY_MOST_NS) {
		NL_SET_ERR_MSG_ATTR(extack, end,
				    "end_ns: must be told once, and lie behind the last step");
		return -EINVAL;
	}
	link->end_ns = end_ns;
	return 0;
}

int replay_extend(struct replay_link *link, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int err = 0;

	if (tb[TCA_REPLAY_STEPS])
		err = replay_append(link, tb[TCA_REPLAY_STEPS], extack);
	if (!err && tb[TCA_REPLAY_START_NS])
		err = replay_begin_series(link, tb[TCA_REPLAY_START_NS], extack);
	if (!err && tb[TCA_REPLAY_END_NS])
		err = replay_end_series(link, tb[TCA_REPLAY_END_NS], extack);
	return err;
}

struct replay_state replay_state(const struct replay *q)
{
	const struct replay_link *link = &q->link;
	u64 end_ns = REPLAY_NEVER, now_ns = ktime_get_ns();

	if (link->start_ns != REPLAY_NEVER && link->end_ns != REPLAY_NEVER)
		end_ns = link->start_ns + link->end_ns;
	return (struct replay_state) {
		.mode = link->opportunities ? REPLAY_OPPORTUNITIES : REPLAY_RATE,
		.limit_bytes = q->limit_bytes,
		.overhead_bytes = q->overhead_bytes,
		.held_steps = link->held,
		.room_steps = REPLAY_STEPS - link->held,
		.underruns = link->underruns,
		.start_bps = q->start_bps,
		.start_ns = link->start_ns,
		.end_ns = link->end_ns,
		.consumed_steps = link->consumed_steps,
		.past_end_ns = now_ns > end_ns ? now_ns - end_ns : 0,
		.capacity_bytes = link->capacity_bits / 8,
		.rate_bps = link->rate_bps,
	};
}
