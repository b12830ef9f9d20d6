// SPDX-License-Identifier: GPL-2.0-or-later
/* The vectors of all cores, in user space and in the kernel (startup_kunit.c). */
#include "bbr3_vectors.h"
#include "best_vectors.h"
#include "c4_vectors.h"
#include "careful_resume_vectors.h"
#include "copa_vectors.h"
#include "leocc_vectors.h"
#include "rapid_start_vectors.h"
#include "suss_vectors.h"
#include "vivace_vectors.h"

/* The name of the first vector that a core does not compute as it should; NULL: none. */
const char *startup_vector_that_fails(void);

const char *startup_vector_that_fails(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rapid_start_rounds); i++)
		if (!rapid_start_round_holds(&rapid_start_rounds[i]))
			return rapid_start_rounds[i].name;
	for (i = 0; i < ARRAY_SIZE(rapid_start_periods); i++)
		if (!rapid_start_period_holds(&rapid_start_periods[i]))
			return rapid_start_periods[i].name;
	for (i = 0; i < ARRAY_SIZE(careful_resume_vectors); i++)
		if (!careful_resume_vector_holds(&careful_resume_vectors[i]))
			return careful_resume_vectors[i].name;
	for (i = 0; i < ARRAY_SIZE(copa_vectors); i++)
		if (!copa_vector_holds(&copa_vectors[i]))
			return copa_vectors[i].name;
	for (i = 0; i < ARRAY_SIZE(best_vectors); i++)
		if (!best_vector_holds(&best_vectors[i]))
			return best_vectors[i].name;
	for (i = 0; i < ARRAY_SIZE(bbr3_plateaus); i++)
		if (!bbr3_plateau_holds(&bbr3_plateaus[i]))
			return bbr3_plateaus[i].name;
	for (i = 0; i < ARRAY_SIZE(bbr3_probe_losses); i++)
		if (!bbr3_probe_loss_holds(&bbr3_probe_losses[i]))
			return bbr3_probe_losses[i].name;
	for (i = 0; i < ARRAY_SIZE(leocc_vectors); i++)
		if (!leocc_vector_holds(&leocc_vectors[i]))
			return leocc_vectors[i].name;
	for (i = 0; i < ARRAY_SIZE(c4_thresholds); i++)
		if (!c4_threshold_holds(&c4_thresholds[i]))
			return c4_thresholds[i].name;
	for (i = 0; i < ARRAY_SIZE(c4_delays); i++)
		if (!c4_delay_holds(&c4_delays[i]))
			return c4_delays[i].name;
	for (i = 0; i < ARRAY_SIZE(suss_vectors); i++)
		if (!suss_vector_holds(&suss_vectors[i]))
			return suss_vectors[i].name;
	for (i = 0; i < ARRAY_SIZE(vivace_utilities); i++)
		if (!vivace_utility_holds(&vivace_utilities[i]))
			return vivace_utilities[i].name;
	for (i = 0; i < ARRAY_SIZE(vivace_decisions); i++)
		if (!vivace_decision_holds(&vivace_decisions[i]))
			return vivace_decisions[i].name;

	return NULL;
}
