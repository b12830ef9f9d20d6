/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams of ACKs with the decision that their last one makes, for user space and for
 * KUnit: the core must compute the same under both compilers and word sizes.
 *
 * The first ACK has an RTT of 1000 us, so that bins are 350 us long.  One ACK closes each
 * bin, 1 us after its end; bin i delivers first_bytes << (i / doubled_each).  Twice as
 * much was sent.
 */
#ifndef SEARCH_VECTORS_H
#define SEARCH_VECTORS_H

#include "search_compact.h"

#define SEARCH_VECTOR_BIN_US	350
#define SEARCH_VECTOR_MEMORY	1024	/* bytes, of any vector's state */

struct search_vector {
	const char *name;
	struct search_params params;
	bool compact;
	u32 bins;
	u64 first_bytes;
	u32 doubled_each;	/* bins */
	u64 start_us;
	u64 start_bytes;
	u32 last_rtt_us;
	u32 verdict;		/* of the last ACK, as what follows */
	u64 curr_delv_bytes;
	u64 expected_bytes;
	s64 norm_permille;
};

/* Parameters in each of the core's modes; the versions have theirs in tcp_search*.c. */
#define SEARCH_TEN_BINS .window_factor_tenths = 35, .bins = 10, .threshold_pct = 35
#define SEARCH_BETWEEN_BINS { SEARCH_TEN_BINS, .extra_bins = 15, .interpolation = SEARCH_FRACTION }
#define SEARCH_WHOLE_ENDED_BINS { SEARCH_TEN_BINS, .extra_bins = 15,		\
	.interpolation = SEARCH_ENDED_BINS, .skip_equal = 1, .unchecked = 1,	\
	.history = SEARCH_HISTORY_RESET }
#define SEARCH_PACKED { SEARCH_TEN_BINS, .extra_bins = 14, .interpolation = SEARCH_PERCENT,	\
	.history = SEARCH_HISTORY_WHOLE, .end_closes = 1 }
#define SEARCH_AGAINST_SENT { SEARCH_TEN_BINS, .extra_bins = 39, .expected = SEARCH_SENT,	\
	.interpolation = SEARCH_FRACTION }
#define SEARCH_AGAINST_SENT_HELD { SEARCH_TEN_BINS, .extra_bins = 15,		\
	.expected = SEARCH_SENT_HELD, .interpolation = SEARCH_NEAREST_BIN }

#define SEARCH_FLAT .first_bytes = 700, .doubled_each = 1000, .last_rtt_us = 1000
#define SEARCH_FLAT_EXIT .verdict = SEARCH_EXIT, .curr_delv_bytes = 7000,	\
			 .expected_bytes = 14000, .norm_permille = 500

static const struct search_vector search_vectors[] = {
	{ .name = "sent bytes, held back: flat delivery", .params = SEARCH_AGAINST_SENT_HELD, .bins = 40, SEARCH_FLAT,
	  SEARCH_FLAT_EXIT },
	{ .name = "equal windows: flat delivery, no decision", .params = SEARCH_WHOLE_ENDED_BINS,
	  .bins = 40, SEARCH_FLAT, .verdict = SEARCH_NO_PREVIOUS },
	{ .name = "the bins that had ended", .params = SEARCH_WHOLE_ENDED_BINS, .bins = 30,
	  .first_bytes = 1, .doubled_each = 1, .last_rtt_us = 3 * 350 + 70,
	  .verdict = SEARCH_STAY, .curr_delv_bytes = (1 << 30) - (1 << 20),
	  .expected_bytes = 2 * ((1 << 26) - (1 << 16)), .norm_permille = -7000 },
	{ .name = "unchecked: an RTT of more than the ring", .params = SEARCH_WHOLE_ENDED_BINS, .bins = 60,
	  .first_bytes = 700, .doubled_each = 25, .last_rtt_us = 26 * 350 + 70,
	  .verdict = SEARCH_EXIT, .curr_delv_bytes = 28000, .expected_bytes = 50400,
	  .norm_permille = 444 },
	{ .name = "between bins: flat delivery", .params = SEARCH_BETWEEN_BINS, .bins = 40,
	  SEARCH_FLAT, SEARCH_FLAT_EXIT },
	{ .name = "packed: flat delivery", .params = SEARCH_PACKED, .compact = true, .bins = 40,
	  SEARCH_FLAT, SEARCH_FLAT_EXIT },
	{ .name = "packed: whole percents", .params = SEARCH_PACKED, .compact = true, .bins = 16,
	  .first_bytes = 1, .doubled_each = 1, .last_rtt_us = 2 * 350 + 5,
	  .verdict = SEARCH_STAY, .curr_delv_bytes = (1 << 16) - (1 << 6),
	  .expected_bytes = 2 * ((1 << 13) - (1 << 4) + (1 << 13) * 99 / 100),
	  .norm_permille = -1011 },
	{ .name = "sent bytes: flat delivery", .params = SEARCH_AGAINST_SENT, .bins = 40, SEARCH_FLAT,
	  SEARCH_FLAT_EXIT },
	{ .name = "a clock and a count that wrap", .params = SEARCH_BETWEEN_BINS, .bins = 40, SEARCH_FLAT,
	  .start_us = -7000ULL, .start_bytes = -9000ULL, SEARCH_FLAT_EXIT },
	{ .name = "a clock of 32 bits that wraps", .params = SEARCH_PACKED, .compact = true,
	  .bins = 40, SEARCH_FLAT, .start_us = (1ULL << 32) - 7000, SEARCH_FLAT_EXIT },
	{ .name = "growth between bins", .params = SEARCH_BETWEEN_BINS, .bins = 30, .first_bytes = 1,
	  .doubled_each = 1, .last_rtt_us = 3 * 350 + 70, .verdict = SEARCH_STAY,
	  .curr_delv_bytes = (1 << 30) - (1 << 20),
	  .expected_bytes = 2 * ((1 << 16) * 70 / 350 + (1 << 26) - (1 << 17) +
				 (1ULL << 26) * 280 / 350),
	  .norm_permille = -3445 },
	{ .name = "a look-back longer than the ring", .params = SEARCH_BETWEEN_BINS, .bins = 60,
	  .first_bytes = 700, .doubled_each = 1000, .last_rtt_us = 15 * 350 + 1,
	  .verdict = SEARCH_RTT_TOO_LONG },
	{ .name = "too few bins", .params = SEARCH_BETWEEN_BINS, .bins = 12, SEARCH_FLAT,
	  .verdict = SEARCH_TOO_FEW_BINS },
};

/* Whether the last ACK of a vector decides as it should; @memory: SEARCH_VECTOR_MEMORY bytes. */
static inline bool search_vector_holds(const struct search_vector *vector, void *memory)
{
	struct search_ack ack = {
		.now_us = vector->start_us,
		.delivered_bytes = vector->start_bytes,
		.sent_bytes = 2 * vector->start_bytes,
		.rtt_us = 1000,
	};
	struct search_compact compact = { 0 };
	struct search_decision decision = { 0 };
	u32 i;

	search_setup(memory, &vector->params);
	for (i = 0; i <= vector->bins; i++) {
		if (vector->compact)
			search_compact_on_ack(&compact, &vector->params, &ack, &decision);
		else
			search_on_ack(memory, &ack, &decision);
		ack.now_us += SEARCH_VECTOR_BIN_US + !i;
		ack.delivered_bytes += vector->first_bytes << (i / vector->doubled_each);
		ack.sent_bytes = 2 * ack.delivered_bytes;
		if (i + 1 == vector->bins)
			ack.rtt_us = vector->last_rtt_us;
	}
	return decision.bin == vector->bins - 1 && decision.verdict == vector->verdict &&
	       decision.curr_delv_bytes == vector->curr_delv_bytes &&
	       decision.expected_bytes == vector->expected_bytes &&
	       decision.norm_permille == vector->norm_permille;
}

#endif /* SEARCH_VECTORS_H */
