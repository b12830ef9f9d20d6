/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's server: it sends what is requested, and notes when its application is the limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RESPONSE_HEAD_BYTES 16 /* bytes of the response, bytes of the request, which may be more than these */

struct responses {
	uint8_t head[RESPONSE_HEAD_BYTES];
	uint64_t come_bytes; /* of the request that is on its way */
	FILE *file;
	uint64_t samples, limits, busy_ns, busy_since_ns;
	bool limited;
};

void responses_open(struct responses *responses, const char *path);

/* Take requests in; returns how many bytes they ask for. */
uint64_t responses_take(struct responses *responses, const uint8_t *bytes, size_t count);

/* Note whether the application is the limit, where that has changed; `busy`: data are to send or in flight. */
void responses_note(struct responses *responses, uint64_t now_ns, bool limited, bool busy);

void responses_close(struct responses *responses, uint64_t now_ns);
