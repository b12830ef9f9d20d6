// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a trial relies on in the virtual kernel: ticks of a millisecond (patches/0001),
 * sleep that takes its own time to some microseconds, and work that takes none.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include <kunit/test.h>

#define SLACK_US	3	/* each look at the clock takes 0.256 us */
#define SETTLE_MS	100	/* the console and modprobe have work left at first */
#define WORK_STEPS	1000000

static void virtual_ticks_1000_times_a_second(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, HZ, 1000);
}

/* By a high resolution timer: what the timer wheel rounds, 100 s to 4 s, it rounds everywhere. */
static void virtual_expect_slept(struct kunit *test, u64 asked_us)
{
	u64 begun_ns = ktime_get_ns();
	u64 slept_ns;

	usleep_range(asked_us, asked_us + 1);
	slept_ns = ktime_get_ns() - begun_ns;
	KUNIT_EXPECT_GE(test, slept_ns, asked_us * NSEC_PER_USEC);
	KUNIT_EXPECT_LE(test, slept_ns, (asked_us + SLACK_US) * NSEC_PER_USEC);
}

static void virtual_a_sleep_is_as_long_as_asked(struct kunit *test)
{
	msleep(SETTLE_MS);
	virtual_expect_slept(test, 1);
	virtual_expect_slept(test, 150);
	virtual_expect_slept(test, 100 * USEC_PER_SEC);
}

static void virtual_work_takes_no_time(struct kunit *test)
{
	u64 begun_ns = ktime_get_ns();
	u32 i;

	for (i = 0; i < WORK_STEPS; i++)
		barrier();
	KUNIT_EXPECT_LE(test, ktime_get_ns() - begun_ns, NSEC_PER_USEC);
}

static struct kunit_case virtual_cases[] = {
	KUNIT_CASE(virtual_ticks_1000_times_a_second),
	KUNIT_CASE(virtual_a_sleep_is_as_long_as_asked),
	KUNIT_CASE(virtual_work_takes_no_time),
	{}
};

static struct kunit_suite virtual_suite = {
	.name = "virtual",
	.test_cases = virtual_cases,
};

kunit_test_suite(virtual_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of what trials rely on in the virtual kernel");
