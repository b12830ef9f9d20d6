// SPDX-License-Identifier: GPL-2.0-or-later
/* KUnit: the cores in the kernel compute as in user space. */
#include <kunit/test.h>
#include <linux/module.h>

#include "startup_vectors.c"

static void startup_computes_as_in_user_space(struct kunit *test)
{
	const char *failed = startup_vector_that_fails();

	KUNIT_EXPECT_TRUE_MSG(test, !failed, "%s", failed);
}

static struct kunit_case startup_cases[] = {
	KUNIT_CASE(startup_computes_as_in_user_space),
	{}
};

static struct kunit_suite startup_suite = {
	.name = "startup",
	.test_cases = startup_cases,
};

kunit_test_suite(startup_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the start-up family's cores");
