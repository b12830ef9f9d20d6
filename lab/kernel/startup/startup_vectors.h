/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vectors of all cores, which user space (startup_vectors.c) and the kernel (startup_kunit.c) both check. */
#ifndef STARTUP_VECTORS_H
#define STARTUP_VECTORS_H

#include "bbr3_vectors.h"
#include "best_vectors.h"
#include "c4_vectors.h"
#include "careful_resume_vectors.h"
#include "copa_vectors.h"
#include "leocc_vectors.h"
#include "rapid_start_vectors.h"
#include "suss_vectors.h"
#include "vivace_vectors.h"

/* each(test, vectors, holds): @holds is true of each of the @vectors. */
#define STARTUP_VECTORS(each)									\
	each(rapid_start_grows, rapid_start_rounds, rapid_start_round_holds)			\
	each(rapid_start_recovers, rapid_start_periods, rapid_start_period_holds)		\
	each(careful_resume_runs_the_examples, careful_resume_vectors, careful_resume_vector_holds)	\
	each(copa_moves, copa_vectors, copa_vector_holds)					\
	each(best_estimates, best_vectors, best_vector_holds)					\
	each(bbr3_finds_the_plateau, bbr3_plateaus, bbr3_plateau_holds)				\
	each(bbr3_answers_losses, bbr3_probe_losses, bbr3_probe_loss_holds)			\
	each(leocc_forgets_the_path, leocc_vectors, leocc_vector_holds)				\
	each(c4_has_its_thresholds, c4_thresholds, c4_threshold_holds)				\
	each(c4_answers_delay, c4_delays, c4_delay_holds)					\
	each(suss_grants, suss_vectors, suss_vector_holds)					\
	each(vivace_has_its_utility, vivace_utilities, vivace_utility_holds)			\
	each(vivace_decides, vivace_decisions, vivace_decision_holds)

#endif /* STARTUP_VECTORS_H */
