// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `make functions`: your four functions alone, in a second and without a kernel.  Each line states what RFC 9406 has,
 * for one flow whose rounds have the round trips that are given.  It counts for no points: `make grade` does.
 */
#include <stdio.h>

#include "../hystartpp.c"

#define MS(value) ((u32)((value) * 1000))
#define SAMPLES 10

static int failed;

static void expect(const char *function, const char *rule, bool holds)
{
	printf("%s %s: %s\n", holds ? "ok   " : "WRONG", function, rule);
	failed += !holds;
}

static struct hspp fresh(void)
{
	return (struct hspp) {
		.last_round_min_rtt_us = INFINITY_US,
		.current_round_min_rtt_us = INFINITY_US,
		.css_baseline_min_rtt_us = INFINITY_US,
	};
}

/* A round of @samples ACKs; the next one begins with its last. */
static void round_of(struct hspp *ca, u32 rtt_us, int samples)
{
	for (int each = 0; each < samples; each++)
		hspp_sample(ca, rtt_us);
	hspp_next_round(ca);
}

/* Does CSS begin in a round of @then_ms that follows one of @first_ms, after @samples of it? */
static bool css_begins(double first_ms, double then_ms, int samples)
{
	struct hspp ca = fresh();

	round_of(&ca, MS(first_ms), SAMPLES);
	for (int each = 0; each < samples; each++)
		hspp_sample(&ca, MS(then_ms));
	return ca.in_css;
}

static void next_round(void)
{
	struct hspp ca = fresh();

	ca.current_round_min_rtt_us = MS(50);
	ca.rtt_samples = SAMPLES;
	hspp_next_round(&ca);
	expect("hspp_next_round", "this round's smallest RTT becomes the last round's", ca.last_round_min_rtt_us == MS(50));
	expect("hspp_next_round", "the next round has no RTT yet", ca.current_round_min_rtt_us == INFINITY_US);
	expect("hspp_next_round", "the next round has no sample yet", ca.rtt_samples == 0);
}

static void sample(void)
{
	struct hspp ca = fresh();

	hspp_sample(&ca, MS(60));
	hspp_sample(&ca, MS(50));
	hspp_sample(&ca, MS(70));
	expect("hspp_sample", "the smallest RTT of the round is kept", ca.current_round_min_rtt_us == MS(50));
	expect("hspp_sample", "80 ms after 64 ms, an eighth more than 8 ms: CSS begins", css_begins(64, 80, SAMPLES));
	expect("hspp_sample", "71.9 ms after 64 ms: less than an eighth more", !css_begins(64, 71.9, SAMPLES));
	expect("hspp_sample", "13 ms after 10 ms: an eighth, but less than 4 ms", !css_begins(10, 13, SAMPLES));
	expect("hspp_sample", "617 ms after 600 ms: less than an eighth, but more than 16 ms", css_begins(600, 617, SAMPLES));
	expect("hspp_sample", "7 samples are too few to decide", !css_begins(64, 80, N_RTT_SAMPLE - 1));
	expect("hspp_sample", "8 samples suffice", css_begins(64, 80, N_RTT_SAMPLE));

	ca = fresh();
	for (int each = 0; each < SAMPLES; each++)
		hspp_sample(&ca, MS(80));
	expect("hspp_sample", "the first round has nothing to compare with", !ca.in_css);

	ca = fresh();
	round_of(&ca, MS(64), SAMPLES);
	round_of(&ca, MS(80), SAMPLES);
	round_of(&ca, MS(79), SAMPLES);
	expect("hspp_sample", "an RTT below the baseline ends CSS", !ca.in_css);
}

static void growth(void)
{
	struct hspp ca = fresh();
	u32 grown = 0;

	expect("hspp_growth_pkts", "in slow start: by what was acknowledged", hspp_growth_pkts(&ca, 3) == 3);
	round_of(&ca, MS(64), SAMPLES);
	round_of(&ca, MS(80), SAMPLES);
	for (int each = 0; each < 12; each++)
		grown += hspp_growth_pkts(&ca, 1);
	expect("hspp_growth_pkts", "in CSS: 12 ACKs of one segment give 3, a quarter", grown == 3);
}

static void leaves(void)
{
	struct hspp ca = fresh();
	int rounds = 0;

	expect("hspp_leaves", "not in slow start", !hspp_leaves(&ca));
	round_of(&ca, MS(64), SAMPLES);
	while (!hspp_leaves(&ca) && rounds++ < 2 * CSS_ROUNDS)
		round_of(&ca, MS(80), SAMPLES);
	expect("hspp_leaves", "after five rounds of CSS, of which the one where it began is the first", rounds == CSS_ROUNDS);
}

int main(void)
{
	next_round();
	sample();
	growth();
	leaves();
	printf(failed ? "%d wrong\n" : "all as RFC 9406 has it\n", failed);
	return failed != 0;
}
