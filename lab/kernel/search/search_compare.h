/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of search_core.c, in a file of its own. */
#ifndef SEARCH_COMPARE_H
#define SEARCH_COMPARE_H

#include "search_core.h"

/* Compare the window that ends now with the one of an RTT ago; @late_us: how long after its
 * bin's end the ACK came.
 */
enum search_verdict search_compare(struct search_state *state, u32 late_us,
				   struct search_decision *decision);

#endif /* SEARCH_COMPARE_H */
