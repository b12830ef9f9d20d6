/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "on_demand": its state, and what its files share.  The story is in on_demand_main.c. */
#ifndef LAB_ON_DEMAND_H
#define LAB_ON_DEMAND_H

#include "compat.h"
#include "uapi.h"

struct on_demand {
	struct on_demand_state state;
	struct qdisc_watchdog watchdog;
	struct qdisc_skb_head waiting;
	struct qdisc_skb_head leaving;	/* this frame's, on their way out */
	u32 waiting_bytes;		/* without what was sent of the first packet */
	u32 sent_of_first_bytes;

	u64 next_ns;			/* when the next frame begins */
	u64 *request_bytes;		/* per frame, the report whose grant is still to come */
	u32 request_frames;		/* the number of them */
	u32 oldest;			/* index of the oldest */
	u64 pending_bytes;		/* their sum */
	u64 owed_bytes;			/* ON_DEMAND_NEW: due, and cut off by the cap so far */

	/* ON_DEMAND_RATE; a rate is in bytes per period_frames. */
	u32 period_frames;
	u32 period_at;			/* frames since the last report */
	u64 arrived_bytes;		/* since the last report */
	u64 rate_bytes;			/* of the last report; each frame restates it */
	u64 share_rest;			/* of the shares of frames, in 1 / period_frames bytes */
};

/* One frame begins: its grant is used, and its report requests a later one. */
void on_demand_frame(struct on_demand *q);

/* The frames up to @now_ns pass at a link with an empty queue. */
void on_demand_pass(struct on_demand *q, u64 now_ns);

/* Settings from netlink; a negative error where they make no link. */
int on_demand_configure(struct on_demand *q, struct nlattr *opt, struct netlink_ext_ack *extack);

#endif /* LAB_ON_DEMAND_H */
