/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorded link could carry, integrated exactly, and the packet that it carries now.
 *
 * Capacity is counted in billionths of a bit: a rate in bit/s times nanoseconds.  All of it
 * is whole numbers, so that nothing is rounded but a departure, up to its nanosecond, and
 * what that gives too much stays in the budget of the packet behind.
 */
#ifndef LAB_QDISC_REPLAY_LINK_H
#define LAB_QDISC_REPLAY_LINK_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "series.h"

#define REPLAY_UNITS_PER_BYTE (8ULL * NSEC_PER_SEC)
#define REPLAY_MOST_BPS (10ULL * 1000 * 1000 * 1000)	/* a second of it, in units, fits 64 bits */
#define REPLAY_MOST_BYTES BIT(30)			/* so do these bytes */

struct replay_link {
	struct series series;
	bool opportunities;

	u64 from_ns;			/* everything is accounted for up to here */
	u64 rate_bps;
	u64 budget;			/* units that the next bytes need not wait for */
	bool serving;
	u64 need;			/* units that the packet in service still waits for */

	u64 capacity_bits;
	u64 capacity_rest;		/* units, less than a bit */
};

/* Let time pass: what the link could carry meanwhile is counted once the series has begun. */
static inline void replay_pass(struct replay_link *link, u64 until_ns)
{
	u64 rest_ns, seconds = div64_u64_rem(until_ns - link->from_ns, NSEC_PER_SEC, &rest_ns);

	if (link->series.consumed_steps) {
		link->capacity_bits += link->rate_bps * seconds;
		link->capacity_bits += div64_u64_rem(link->rate_bps * rest_ns + link->capacity_rest,
						     NSEC_PER_SEC, &link->capacity_rest);
	}
	link->from_ns = until_ns;
}

static inline void replay_consume(struct replay_link *link)
{
	u64 value = series_take(&link->series)->value;

	if (link->opportunities) {
		link->rate_bps = 0;
		link->budget = value * REPLAY_UNITS_PER_BYTE;	/* what the last one left is lost */
		link->capacity_bits += value * 8;
	} else {
		link->rate_bps = value;
	}
}

/* When the packet in service departs at the rate in force. */
static inline u64 replay_due_ns(const struct replay_link *link)
{
	if (!link->need)
		return link->from_ns;
	if (!link->rate_bps)
		return SERIES_NEVER;
	return link->from_ns + DIV64_U64_ROUND_UP(link->need, link->rate_bps);
}

/* Serve at the rate in force, up to a time; true: the packet has all it needs, since from_ns. */
static inline bool replay_serve(struct replay_link *link, u64 until_ns)
{
	u64 due_ns, used = min(link->budget, link->need);

	link->budget -= used;
	link->need -= used;
	due_ns = replay_due_ns(link);
	if (due_ns > until_ns) {
		link->need -= link->rate_bps * (until_ns - link->from_ns);
		replay_pass(link, until_ns);
		return false;
	}
	if (link->need) {
		link->budget = link->rate_bps * (due_ns - link->from_ns) - link->need;
		link->need = 0;
		replay_pass(link, due_ns);
	}
	return true;
}

/* Serve the packet in service across as many steps as there are up to now. */
static inline bool replay_advance(struct replay_link *link, u64 now_ns)
{
	while (!replay_serve(link, min(series_next_ns(&link->series), now_ns))) {
		if (series_next_ns(&link->series) > now_ns)
			return false;
		replay_consume(link);
	}
	return true;
}

/* Let a link with nothing to carry come to now: it saves nothing. */
static inline void replay_idle(struct replay_link *link, u64 now_ns)
{
	while (series_next_ns(&link->series) <= now_ns) {
		replay_pass(link, series_next_ns(&link->series));
		replay_consume(link);
	}
	replay_pass(link, now_ns);
	link->budget = 0;
}

static inline void replay_begin(struct replay_link *link, u32 packet_bytes)
{
	link->serving = true;
	link->need = packet_bytes * REPLAY_UNITS_PER_BYTE;
}

#endif /* LAB_QDISC_REPLAY_LINK_H */
