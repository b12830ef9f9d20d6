// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SEARCH over a recorded ACK stream: the same core as the kernel modules', as a
 * shared library.  Needs no C library and allocates nothing; the caller brings
 * arrays for what goes in and what comes out.
 */
#include "search_compact.h"
#include "search_replay.h"
#include "search_vectors.h"
#include "search_version.h"

static bool search_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool search_version_named(const char *name, struct search_params *params, bool *compact)
{
	const struct search_version *const *known;

	for (known = __start_search_versions; known < __stop_search_versions; known++) {
		if (!search_same(name, (*known)->name))
			continue;
		*params = (*known)->params;
		*compact = (*known)->compact;
		return true;
	}
	return false;
}

const char *search_version_name(u64 i)
{
	u64 versions = __stop_search_versions - __start_search_versions;

	return i < versions ? __start_search_versions[i]->name : NULL;
}

const char *search_vector_that_fails(void)
{
	u64 memory[SEARCH_VECTOR_MEMORY / sizeof(u64)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(search_vectors); i++)
		if (!search_vector_holds(&search_vectors[i], memory))
			return search_vectors[i].name;

	return NULL;
}

size_t search_replay_bytes(const struct search_params *params, bool compact)
{
	if (!search_params_valid(params) || (compact && !search_compact_fits(params)))
		return 0;

	return compact ? sizeof(struct search_compact) : search_state_bytes(params);
}

static struct search_ack search_ack_at(const struct search_stream *stream, u64 i)
{
	return (struct search_ack) {
		.now_us = stream->t_us[i],
		.delivered_bytes = stream->delivered_bytes[i],
		.sent_bytes = stream->sent_bytes ? stream->sent_bytes[i] : 0,
		.rtt_us = stream->rtt_us[i],
		.limited = stream->limited && stream->limited[i],
	};
}

static enum search_verdict search_replay_ack(const struct search_params *params, bool compact,
					     void *memory, const struct search_stream *stream,
					     u64 i, struct search_decision *decision)
{
	struct search_ack ack;

	if (stream->reset && stream->reset[i]) {
		if (compact)
			search_compact_reset(memory);
		else
			search_reset(memory, i ? stream->delivered_bytes[i - 1] : 0);
	}
	if (stream->rtt_us[i] <= 0)
		return SEARCH_BIN_OPEN;
	if (!(compact ? search_compact_due(memory, params, stream->t_us[i]) :
			search_due(memory, stream->t_us[i])))
		return SEARCH_BIN_OPEN;

	ack = search_ack_at(stream, i);
	return compact ? search_compact_on_ack(memory, params, &ack, decision) :
			 search_on_ack(memory, &ack, decision);
}

u64 search_replay(const struct search_params *params, bool compact, void *memory,
		  struct search_stream *stream, bool stop_at_exit,
		  struct search_replayed_bin *bins, u64 room)
{
	u64 count = 0;
	u64 i;

	if (!stream->next && compact)
		*(struct search_compact *)memory = (struct search_compact) { 0 };
	else if (!stream->next)
		search_setup(memory, params);
	for (i = stream->next; i < stream->acks && count < room; i++) {
		struct search_replayed_bin *bin = &bins[count];
		enum search_verdict verdict;

		verdict = search_replay_ack(params, compact, memory, stream, i, &bin->decision);
		if (verdict == SEARCH_BIN_OPEN)
			continue;
		bin->ack = i;
		count++;
		if (verdict == SEARCH_EXIT && stop_at_exit)
			i = stream->acks - 1;
	}
	stream->next = i;
	return count;
}
