// SPDX-License-Identifier: GPL-2.0-or-later
#include "responses.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "options.h"

void responses_open(struct responses *responses, const char *path)
{
	responses->file = fopen(path, "w");
	if (!responses->file)
		fail("%s: %s", path, strerror(errno));
	fprintf(responses->file, "{\"limited_ns\": [");
}

static uint64_t number(const uint8_t *bytes)
{
	uint64_t found = 0;

	for (int at = 0; at < 8; at++)
		found = found << 8 | bytes[at];
	return found;
}

uint64_t responses_take(struct responses *responses, const uint8_t *bytes, size_t count)
{
	uint64_t response_bytes = 0;

	for (size_t at = 0; at < count; at++) {
		if (responses->come_bytes < RESPONSE_HEAD_BYTES)
			responses->head[responses->come_bytes] = bytes[at];
		responses->come_bytes++;
		if (responses->come_bytes < RESPONSE_HEAD_BYTES || responses->come_bytes < number(responses->head + 8))
			continue;
		responses->come_bytes = 0;
		response_bytes += number(responses->head);
	}
	return response_bytes;
}

void responses_note(struct responses *responses, uint64_t now_ns, bool limited, bool busy)
{
	if (!responses->samples++ || limited != responses->limited)
		fprintf(responses->file, "%s[%" PRIu64 ", %d]", responses->limits++ ? ", " : "", now_ns, limited);
	responses->limited = limited;
	if (busy && !responses->busy_since_ns)
		responses->busy_since_ns = now_ns;
	if (!busy && responses->busy_since_ns) {
		responses->busy_ns += now_ns - responses->busy_since_ns;
		responses->busy_since_ns = 0;
	}
}

/* Neither window is ever the limit: both are larger than a trial's data. */
void responses_close(struct responses *responses, uint64_t now_ns)
{
	responses_note(responses, now_ns, responses->limited, false);
	fprintf(responses->file,
		"], \"samples\": %" PRIu64 ", \"busy_us\": %" PRIu64
		", \"rwnd_limited_us\": 0, \"sndbuf_limited_us\": 0}",
		responses->samples, responses->busy_ns / 1000);
	fclose(responses->file);
}
