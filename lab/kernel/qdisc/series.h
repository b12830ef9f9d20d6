/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A series of steps that a qdisc follows: a ring, filled by user space in chunks while the
 * qdisc runs and emptied as time passes, so that a day's series needs the memory of seconds.
 */
#ifndef LAB_QDISC_SERIES_H
#define LAB_QDISC_SERIES_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "uapi.h"

#define SERIES_NEVER U64_MAX
#define SERIES_MOST_NS BIT_ULL(62)	/* two of them fit 64 bits */
#define SERIES_STEPS 8192U		/* 82 s of 10 ms steps; a power of two */

struct series {
	struct series_step *ring;	/* SERIES_STEPS of them: what is held of the series */
	u32 first;
	u32 held;
	u64 start_ns;			/* SERIES_NEVER: not set yet */
	u64 end_ns;			/* since the start; SERIES_NEVER: not set yet */
	u64 last_ns;			/* time of the last step that came, since the start */
	u64 consumed_steps;
	u32 underruns;
};

static inline int series_init(struct series *series)
{
	*series = (struct series) {
		.ring = kvmalloc_array(SERIES_STEPS, sizeof(struct series_step), GFP_KERNEL),
		.start_ns = SERIES_NEVER,
		.end_ns = SERIES_NEVER,
		.last_ns = SERIES_NEVER,
	};
	return series->ring ? 0 : -ENOMEM;
}

static inline void series_free(struct series *series)
{
	kvfree(series->ring);
}

/* When the next step is due; SERIES_NEVER where none is held. */
static inline u64 series_next_ns(const struct series *series)
{
	if (!series->held || series->start_ns == SERIES_NEVER)
		return SERIES_NEVER;
	return series->start_ns + series->ring[series->first].t_ns;
}

/* Take the next step; it stays where it is until more of the series arrives. */
static inline const struct series_step *series_take(struct series *series)
{
	const struct series_step *step = &series->ring[series->first];

	series->first = (series->first + 1) % SERIES_STEPS;
	series->held--;
	series->consumed_steps++;
	if (!series->held && series->end_ns == SERIES_NEVER)
		series->underruns++;
	return step;
}

#endif /* LAB_QDISC_SERIES_H */
