// SPDX-License-Identifier: GPL-2.0-or-later
/* KUnit: the core of SEARCH in the kernel decides as it does in user space (search_vectors.h). */
#include <kunit/test.h>
#include <linux/module.h>

#include "search_vectors.h"

static void search_vector_describe(const struct search_vector *vector, char *text)
{
	strscpy(text, vector->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(search_vector, search_vectors, search_vector_describe);

static void search_decides_as_in_user_space(struct kunit *test)
{
	void *memory = kunit_kzalloc(test, SEARCH_VECTOR_MEMORY, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_EXPECT_TRUE(test, search_vector_holds(test->param_value, memory));
}

static void search_state_fits_where_it_is_kept(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(search_vectors); i++) {
		const struct search_vector *vector = &search_vectors[i];

		KUNIT_EXPECT_TRUE(test, search_params_valid(&vector->params));
		KUNIT_EXPECT_LE(test, search_state_bytes(&vector->params),
				(size_t)SEARCH_VECTOR_MEMORY);
		KUNIT_EXPECT_TRUE(test, !vector->compact || search_compact_fits(&vector->params));
	}
	KUNIT_EXPECT_EQ(test, sizeof(struct search_compact), (size_t)64);
}

static struct kunit_case search_cases[] = {
	KUNIT_CASE_PARAM(search_decides_as_in_user_space, search_vector_gen_params),
	KUNIT_CASE(search_state_fits_where_it_is_kept),
	{}
};

static struct kunit_suite search_suite = {
	.name = "search",
	.test_cases = search_cases,
};

kunit_test_suite(search_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of SEARCH's core");
