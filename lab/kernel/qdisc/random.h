/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws of a qdisc's own, so that the same arrivals and the same seed give the same losses.
 */
#ifndef LAB_QDISC_RANDOM_H
#define LAB_QDISC_RANDOM_H

#include <linux/types.h>

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static inline u64 random_next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif /* LAB_QDISC_RANDOM_H */
