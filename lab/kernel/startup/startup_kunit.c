// SPDX-License-Identifier: GPL-2.0-or-later
/* KUnit: the cores in the kernel compute as in user space (*_vectors.h). */
#include <kunit/test.h>
#include <linux/module.h>

#include "bbr3_vectors.h"
#include "best_vectors.h"
#include "c4_vectors.h"
#include "careful_resume_vectors.h"
#include "copa_vectors.h"
#include "leocc_vectors.h"
#include "rapid_start_vectors.h"
#include "suss_vectors.h"
#include "vivace_vectors.h"

static void rapid_start_grows_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rapid_start_rounds); i++)
		KUNIT_EXPECT_TRUE_MSG(test, rapid_start_round_holds(&rapid_start_rounds[i]), "%s",
				      rapid_start_rounds[i].name);
}

static void rapid_start_recovers_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rapid_start_periods); i++)
		KUNIT_EXPECT_TRUE_MSG(test, rapid_start_period_holds(&rapid_start_periods[i]), "%s",
				      rapid_start_periods[i].name);
}

static void careful_resume_runs_the_examples(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(careful_resume_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, careful_resume_vector_holds(&careful_resume_vectors[i]), "%s",
				      careful_resume_vectors[i].name);
}

static void copa_moves_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(copa_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, copa_vector_holds(&copa_vectors[i]), "%s",
				      copa_vectors[i].name);
}

static void best_estimates_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(best_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, best_vector_holds(&best_vectors[i]), "%s", best_vectors[i].name);
}

static void bbr3_finds_the_plateau_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bbr3_plateaus); i++)
		KUNIT_EXPECT_TRUE_MSG(test, bbr3_plateau_holds(&bbr3_plateaus[i]), "%s", bbr3_plateaus[i].name);
}

static void bbr3_answers_losses_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bbr3_probe_losses); i++)
		KUNIT_EXPECT_TRUE_MSG(test, bbr3_probe_loss_holds(&bbr3_probe_losses[i]), "%s",
				      bbr3_probe_losses[i].name);
}

static void leocc_forgets_the_path_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(leocc_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, leocc_vector_holds(&leocc_vectors[i]), "%s", leocc_vectors[i].name);
}

static void c4_has_its_thresholds_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c4_thresholds); i++)
		KUNIT_EXPECT_TRUE_MSG(test, c4_threshold_holds(&c4_thresholds[i]), "%s", c4_thresholds[i].name);
}

static void c4_answers_delay_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c4_delays); i++)
		KUNIT_EXPECT_TRUE_MSG(test, c4_delay_holds(&c4_delays[i]), "%s", c4_delays[i].name);
}

static void suss_grants_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suss_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, suss_vector_holds(&suss_vectors[i]), "%s", suss_vectors[i].name);
}

static void vivace_has_its_utility_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vivace_utilities); i++)
		KUNIT_EXPECT_TRUE_MSG(test, vivace_utility_holds(&vivace_utilities[i]), "%s",
				      vivace_utilities[i].name);
}

static void vivace_decides_as_in_user_space(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vivace_decisions); i++)
		KUNIT_EXPECT_TRUE_MSG(test, vivace_decision_holds(&vivace_decisions[i]), "%s",
				      vivace_decisions[i].name);
}

static struct kunit_case startup_cases[] = {
	KUNIT_CASE(rapid_start_grows_as_in_user_space),
	KUNIT_CASE(rapid_start_recovers_as_in_user_space),
	KUNIT_CASE(careful_resume_runs_the_examples),
	KUNIT_CASE(copa_moves_as_in_user_space),
	KUNIT_CASE(best_estimates_as_in_user_space),
	KUNIT_CASE(bbr3_finds_the_plateau_as_in_user_space),
	KUNIT_CASE(bbr3_answers_losses_as_in_user_space),
	KUNIT_CASE(leocc_forgets_the_path_as_in_user_space),
	KUNIT_CASE(c4_has_its_thresholds_as_in_user_space),
	KUNIT_CASE(c4_answers_delay_as_in_user_space),
	KUNIT_CASE(suss_grants_as_in_user_space),
	KUNIT_CASE(vivace_has_its_utility_as_in_user_space),
	KUNIT_CASE(vivace_decides_as_in_user_space),
	{}
};

static struct kunit_suite startup_suite = {
	.name = "startup",
	.test_cases = startup_cases,
};

kunit_test_suite(startup_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the start-up family's cores");
