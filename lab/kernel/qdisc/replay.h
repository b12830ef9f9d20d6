/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two halves of "replay": the queue (replay_main.c), and its conversation with user
 * space (replay_netlink.c).
 */
#ifndef LAB_QDISC_REPLAY_H
#define LAB_QDISC_REPLAY_H

#include <net/pkt_sched.h>

#include "replay_link.h"

struct replay {
	struct Qdisc *child;
	struct qdisc_watchdog watchdog;
	struct replay_link link;
	bool idle;	/* the child had no packet to give, whatever it holds */
	u32 limit_bytes;
	s32 overhead_bytes;
	u64 start_bps;
};

int replay_parse(struct nlattr *opt, struct nlattr **tb, struct netlink_ext_ack *extack);
int replay_extend(struct replay *q, struct nlattr **tb, struct netlink_ext_ack *extack);
struct replay_state replay_state(const struct replay *q);

#endif /* LAB_QDISC_REPLAY_H */
