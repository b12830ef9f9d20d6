/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a series arrives over netlink, and what is reported of it.
 *
 * A step that is out of order, or already past, is refused: a link that does not follow its
 * series must not go unnoticed.  For the same reason the state counts how often the
 * series ran out before its end was set, and the time since its end.
 */
#ifndef LAB_QDISC_SERIES_NETLINK_H
#define LAB_QDISC_SERIES_NETLINK_H

#include <linux/ktime.h>
#include <net/netlink.h>

#include "series.h"

#define SERIES_POLICY \
	[TCA_SERIES_START_NS] = { .type = NLA_U64 }, \
	[TCA_SERIES_STEPS] = { .type = NLA_BINARY }, \
	[TCA_SERIES_END_NS] = { .type = NLA_U64 }

/* A qdisc's verdict on a step's values: 0, or an error with its text in extack. */
typedef int (*series_refuses)(const struct series_step *step, void *qdisc,
			      struct netlink_ext_ack *extack);

static inline int series_begin(struct series *series, const struct nlattr *start,
			       struct netlink_ext_ack *extack)
{
	u64 start_ns = nla_get_u64(start);

	if (series->start_ns != SERIES_NEVER) {
		NL_SET_ERR_MSG_ATTR(extack, start, "start_ns: must be set once");
		return -EBUSY;
	}
	if (start_ns < ktime_get_ns() || start_ns > SERIES_MOST_NS) {
		NL_SET_ERR_MSG_ATTR(extack, start, "start_ns: must not be past");
		return -ERANGE;
	}
	series->start_ns = start_ns;
	return 0;
}

static inline int series_misplaced(const struct series *series, u64 t_ns, u64 after_ns,
				   struct netlink_ext_ack *extack)
{
	bool first = after_ns == SERIES_NEVER;

	if (t_ns > SERIES_MOST_NS || (first ? t_ns : t_ns <= after_ns)) {
		NL_SET_ERR_MSG(extack, "steps: must begin at 0 and follow each other in time");
		return -EINVAL;
	}
	if (series->start_ns != SERIES_NEVER && series->start_ns + t_ns < ktime_get_ns()) {
		NL_SET_ERR_MSG(extack, "steps: must not be past");
		return -ETIME;
	}
	return 0;
}

/* A chunk is taken whole or not at all: what lies behind the held steps counts only at the end. */
static inline int series_append(struct series *series, const struct nlattr *steps,
				series_refuses refuses, void *qdisc, struct netlink_ext_ack *extack)
{
	u32 i, count = nla_len(steps) / sizeof(struct series_step);
	u64 after_ns = series->last_ns;
	int err;

	if (nla_len(steps) % sizeof(struct series_step) || series->end_ns != SERIES_NEVER) {
		NL_SET_ERR_MSG_ATTR(extack, steps,
				    "steps: must be whole, and come before the end is set");
		return -EINVAL;
	}
	if (count > SERIES_STEPS - series->held) {
		NL_SET_ERR_MSG_ATTR(extack, steps, "steps: must fit the room that is left");
		return -ENOSPC;
	}
	for (i = 0; i < count; i++) {
		u32 at = (series->first + series->held + i) % SERIES_STEPS;
		struct series_step *step = &series->ring[at];

		memcpy(step, nla_data(steps) + i * sizeof(*step), sizeof(*step));
		err = series_misplaced(series, step->t_ns, after_ns, extack);
		if (!err && refuses)
			err = refuses(step, qdisc, extack);
		if (err)
			return err;
		after_ns = step->t_ns;
	}
	series->held += count;
	series->last_ns = after_ns;
	return 0;
}

static inline int series_end(struct series *series, const struct nlattr *end,
			     struct netlink_ext_ack *extack)
{
	u64 end_ns = nla_get_u64(end);

	if (series->end_ns != SERIES_NEVER || series->last_ns == SERIES_NEVER ||
	    end_ns <= series->last_ns || end_ns > SERIES_MOST_NS) {
		NL_SET_ERR_MSG_ATTR(extack, end,
				    "end_ns: must be set once, and lie behind the last step");
		return -EINVAL;
	}
	series->end_ns = end_ns;
	return 0;
}

/* Take the part of a series that arrived. */
static inline int series_extend(struct series *series, struct nlattr **tb, series_refuses refuses,
				void *qdisc, struct netlink_ext_ack *extack)
{
	int err = 0;

	if (tb[TCA_SERIES_STEPS])
		err = series_append(series, tb[TCA_SERIES_STEPS], refuses, qdisc, extack);
	if (!err && tb[TCA_SERIES_START_NS])
		err = series_begin(series, tb[TCA_SERIES_START_NS], extack);
	if (!err && tb[TCA_SERIES_END_NS])
		err = series_end(series, tb[TCA_SERIES_END_NS], extack);
	return err;
}

static inline struct series_state series_state(const struct series *series)
{
	u64 end_ns = SERIES_NEVER, now_ns = ktime_get_ns();

	if (series->start_ns != SERIES_NEVER && series->end_ns != SERIES_NEVER)
		end_ns = series->start_ns + series->end_ns;
	return (struct series_state) {
		.start_ns = series->start_ns,
		.end_ns = series->end_ns,
		.consumed_steps = series->consumed_steps,
		.past_end_ns = now_ns > end_ns ? now_ns - end_ns : 0,
		.held_steps = series->held,
		.room_steps = SERIES_STEPS - series->held,
		.underruns = series->underruns,
	};
}

#endif /* LAB_QDISC_SERIES_NETLINK_H */
