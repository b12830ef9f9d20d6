// SPDX-License-Identifier: GPL-2.0-or-later
#include "pieces.h"

#include <stdlib.h>

#include "options.h"

static void insert(struct piece **at, uint64_t begin, uint64_t end)
{
	struct piece *piece = malloc(sizeof(*piece));

	if (!piece)
		fail("no memory for the stream's pieces");
	*piece = (struct piece){ *at, begin, end };
	*at = piece;
}

/* Pieces are in order, disjoint, and never touch. */
static void join(struct piece *piece)
{
	while (piece->next && piece->next->begin <= piece->end) {
		struct piece *next = piece->next;

		piece->end = next->end > piece->end ? next->end : piece->end;
		piece->next = next->next;
		free(next);
	}
}

void pieces_add(struct piece **first, uint64_t begin, uint64_t end, void (*each)(void *, uint64_t begin, uint64_t end),
		void *context)
{
	struct piece **at = first;
	uint64_t known = begin;

	if (begin == end)
		return;
	while (*at && (*at)->end < begin)
		at = &(*at)->next;
	for (struct piece *piece = *at; piece && piece->begin <= end && known < end; piece = piece->next) {
		if (known < piece->begin)
			each(context, known, piece->begin);
		known = piece->end > known ? piece->end : known;
	}
	if (known < end)
		each(context, known, end);
	if (!*at || (*at)->begin > end) {
		insert(at, begin, end);
		return;
	}
	(*at)->begin = begin < (*at)->begin ? begin : (*at)->begin;
	(*at)->end = end > (*at)->end ? end : (*at)->end;
	join(*at);
}
