// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run_<sender> slow-start | after ROUNDS: feed a sender's hooks ROUNDS of ACKs, and
 * print how many.  Run it under callgrind, which counts in bench_count() alone.
 *
 * Each round's ACKs, one a packet, come within 0.4 RTT: a train too short for HyStart,
 * and doubling for SEARCH.  So neither leaves slow start before bench_leave_slow_start().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT_US 200000

extern int init_module(void);
extern void bench_begin(void);
extern void bench_leave_slow_start(void);
extern void bench_ack(unsigned long long now_us, int rtt_us, unsigned int acked_pkts);

/* What the kernel's objects need of a kernel. */
unsigned long volatile jiffies;

void *__kmalloc_noprof(size_t size, unsigned int flags)
{
	return malloc(size);
}

unsigned long __usecs_to_jiffies(const unsigned int us)
{
	return (us + 9999ul) / 10000;
}

unsigned long __msecs_to_jiffies(const unsigned int ms)
{
	return (ms + 9ul) / 10;
}

void *__kmalloc(size_t size, unsigned int flags)
{
	return malloc(size);
}

__attribute__((noinline)) void bench_count(unsigned int round, unsigned int pkts)
{
	unsigned int i;

	for (i = 0; i < pkts; i++) {
		unsigned long long now_us = RTT_US * (round + 0.4 * i / pkts);

		bench_ack(now_us, RTT_US + i % 100, 1);
	}
}

static unsigned long rounds_of(unsigned int first, unsigned int rounds, int doubling)
{
	unsigned long acks = 0;
	unsigned int round;

	for (round = 0; round < rounds; round++) {
		unsigned int pkts = 10u << (doubling ? round : first);

		bench_count(first + round + 1, pkts);
		acks += pkts;
		jiffies += RTT_US / 10000;
	}
	return acks;
}

/* The same, not counted: another name. */
static void warm_up(unsigned int rounds)
{
	unsigned int round, i;

	for (round = 0; round < rounds; round++)
		for (i = 0; i < 10u << round; i++)
			bench_ack(RTT_US * (round + 1 + 0.4 * i / (10u << round)), RTT_US, 1);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? atoi(argv[2]) : 10;

	jiffies = 100000;
	init_module();
	bench_begin();
	if (argc > 1 && !strcmp(argv[1], "after")) {
		warm_up(6);
		bench_leave_slow_start();
		printf("%lu\n", rounds_of(6, rounds, 0));
	} else {
		printf("%lu\n", rounds_of(0, rounds, 1));
	}
	return 0;
}
