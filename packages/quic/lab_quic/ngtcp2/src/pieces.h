/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which parts of a stream have arrived: what a datagram brings may be new, or known already. */
#pragma once

#include <stdint.h>

struct piece {
	struct piece *next;
	uint64_t begin, end;
};

/* Add what stands from `begin` up to `end`, and call `each` for every part of it that is new. */
void pieces_add(struct piece **first, uint64_t begin, uint64_t end, void (*each)(void *, uint64_t begin, uint64_t end),
		void *context);
