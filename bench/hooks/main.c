// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run_<sender> slow-start | after ROUNDS: feed a sender's hooks ROUNDS of ACKs; print how
 * many, and how often the sender left slow start.  Run it under callgrind, which counts in
 * bench_count() alone.
 *
 * Each round's ACKs, one a packet, come within 0.4 RTT: a train too short for HyStart, and
 * doubling for SEARCH.  So neither leaves slow start before bench_leave_slow_start().  In the
 * rounds before "after" the rate grows no more: who finds the end of slow start by its own
 * model has found it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT_US 200000
#define DOUBLING 6	/* rounds before those that are counted as "after" */
#define FLAT 8

extern int init_module(void);
extern void bench_begin(unsigned int rtt_us);
extern void bench_leave_slow_start(void);
extern unsigned int bench_exits(void);
extern void bench_ack(unsigned long long now_us, int rtt_us, unsigned int acked_pkts,
		      unsigned int round_pkts);

/* What the kernel's objects need of a kernel. */
unsigned long volatile jiffies;

int signals_enabled;
void *kmalloc_caches[64][64];

void *__kmalloc_noprof(size_t size, unsigned int flags)
{
	return calloc(1, size);
}

void *__kmalloc_large_noprof(size_t size, unsigned int flags)
{
	return calloc(1, size);
}

void *__kmalloc_cache_noprof(void *cache, unsigned int flags, size_t size)
{
	return calloc(1, size);
}

void kfree(const void *memory)
{
	free((void *)memory);
}

unsigned long __usecs_to_jiffies(const unsigned int us)
{
	return (us + 9999ul) / 10000;
}

unsigned long __msecs_to_jiffies(const unsigned int ms)
{
	return (ms + 9ul) / 10;
}

static inline void feed(unsigned int round, unsigned int pkts)
{
	unsigned int i;

	for (i = 0; i < pkts; i++)
		bench_ack(RTT_US * (round + 0.4 * i / pkts), RTT_US + i % 100, 1, pkts);
	jiffies += RTT_US / 10000;
}

__attribute__((noinline)) void bench_count(unsigned int round, unsigned int pkts)
{
	feed(round, pkts);
}

/* Another name: not counted. */
__attribute__((noinline)) static void warm_up(unsigned int round, unsigned int pkts)
{
	feed(round, pkts);
}

int main(int argc, char **argv)
{
	int after = argc > 1 && !strcmp(argv[1], "after");
	unsigned int rounds = argc > 2 ? atoi(argv[2]) : 10;
	unsigned int round = 1, pkts = 10;
	unsigned long acks = 0;

	jiffies = 100000;
	init_module();
	bench_begin(RTT_US);
	if (after) {
		for (; round <= DOUBLING; round++, pkts *= 2)
			warm_up(round, pkts);
		bench_leave_slow_start();
		for (; round <= DOUBLING + FLAT; round++)
			warm_up(round, pkts);
	}
	for (rounds += round; round < rounds; round++) {
		bench_count(round, pkts);
		acks += pkts;
		if (!after)
			pkts *= 2;
	}
	printf("%lu %u\n", acks, bench_exits());
	return 0;
}
