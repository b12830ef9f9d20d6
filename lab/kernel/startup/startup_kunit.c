// SPDX-License-Identifier: GPL-2.0-or-later
/* KUnit: the cores in the kernel compute as in user space. */
#include <kunit/test.h>
#include <linux/module.h>

#include "startup_vectors.h"

#define DEFINE_TEST(test_name, vectors, holds)								\
	static void test_name(struct kunit *test)							\
	{												\
		size_t i;										\
													\
		for (i = 0; i < ARRAY_SIZE(vectors); i++)						\
			KUNIT_EXPECT_TRUE_MSG(test, holds(&vectors[i]), "%s", vectors[i].name);	\
	}
#define LIST_TEST(test_name, vectors, holds) KUNIT_CASE(test_name),

STARTUP_VECTORS(DEFINE_TEST)

static struct kunit_case startup_cases[] = {
	STARTUP_VECTORS(LIST_TEST)
	{}
};

static struct kunit_suite startup_suite = {
	.name = "startup",
	.test_cases = startup_cases,
};

kunit_test_suite(startup_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the start-up family's cores");
