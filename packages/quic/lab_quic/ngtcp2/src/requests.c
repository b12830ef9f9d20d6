// SPDX-License-Identifier: GPL-2.0-or-later
#include "requests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define HEAD_BYTES 16 /* bytes of the response, bytes of the request */
#define NEVER UINT64_MAX

struct object {
	uint64_t end;	/* on the stream */
	uint64_t begun_ns, whole_ns;
};

struct exchange {
	uint64_t wait_ns, media_ns;
	size_t objects;
};

struct requests {
	uint64_t request_bytes, buffer_ns;
	struct exchange *exchanges;
	struct object *objects;
	size_t exchange_count, object_count;
	size_t next_exchange, requested, whole; /* objects: those before are */
	uint64_t due_ns;
	uint64_t empty_ns; /* when all that arrived is played; 0: nothing did */
	uint64_t stalled_ns;
};

static void *grown(void *array, size_t count, size_t each)
{
	void *more = (count & (count - 1)) ? array : realloc(array, (count ? 2 * count : 1) * each);

	if (!more)
		fail("no memory for the workload's plan");
	return more;
}

static void add_object(struct requests *requests, uint64_t size)
{
	uint64_t begin = requests->object_count ? requests->objects[requests->object_count - 1].end : 0;

	requests->objects = grown(requests->objects, requests->object_count, sizeof(*requests->objects));
	requests->objects[requests->object_count++] = (struct object){ .end = begin + size };
}

static void add_exchange(struct requests *requests, char *line)
{
	struct exchange exchange = { 0 };
	char *rest;

	exchange.wait_ns = strtoull(line, &rest, 10);
	exchange.media_ns = strtoull(rest, &rest, 10);
	for (; *rest == ' '; exchange.objects++)
		add_object(requests, strtoull(rest, &rest, 10));
	requests->exchanges = grown(requests->exchanges, requests->exchange_count, sizeof(*requests->exchanges));
	requests->exchanges[requests->exchange_count++] = exchange;
}

struct requests *requests_read(const char *file)
{
	struct requests *requests = calloc(1, sizeof(*requests));
	FILE *plan = fopen(file, "r");
	char *line = NULL;
	size_t room = 0;

	if (!plan || !requests)
		fail("%s: %s", file, strerror(errno));
	if (fscanf(plan, "%" SCNu64 " %" SCNu64 "\n", &requests->request_bytes, &requests->buffer_ns) != 2 ||
	    requests->request_bytes < HEAD_BYTES)
		fail("%s: must be a workload's plan", file);
	while (getline(&line, &room, plan) > 0)
		add_exchange(requests, line);
	free(line);
	fclose(plan);
	requests->due_ns = NEVER;
	return requests;
}

void requests_schedule(struct requests *requests, uint64_t now_ns)
{
	const struct exchange *next = &requests->exchanges[requests->next_exchange];

	requests->due_ns = NEVER;
	if (requests->next_exchange == requests->exchange_count)
		return;
	requests->due_ns = now_ns + next->wait_ns;
	if (requests->empty_ns && requests->buffer_ns &&
	    requests->empty_ns + next->media_ns > requests->buffer_ns + requests->due_ns)
		requests->due_ns = requests->empty_ns + next->media_ns - requests->buffer_ns;
}

uint64_t requests_due_ns(const struct requests *requests)
{
	return requests->due_ns;
}

static void put(uint8_t *at, uint64_t number)
{
	for (int byte = 7; byte >= 0; byte--, number >>= 8)
		at[byte] = (uint8_t)number;
}

const uint8_t *requests_next(struct requests *requests, uint64_t now_ns, size_t *bytes)
{
	size_t count;
	uint8_t *all;

	if (requests->due_ns > now_ns)
		return NULL;
	count = requests->exchanges[requests->next_exchange++].objects;
	*bytes = count * requests->request_bytes;
	all = calloc(count, requests->request_bytes);
	if (!all)
		fail("no memory for requests");
	for (size_t at = 0; at < count; at++, requests->requested++) {
		struct object *object = &requests->objects[requests->requested];
		uint64_t begin = requests->requested ? object[-1].end : 0;

		object->begun_ns = now_ns;
		put(all + at * requests->request_bytes, object->end - begin);
		put(all + at * requests->request_bytes + 8, requests->request_bytes);
	}
	requests->due_ns = NEVER;
	return all;
}

static void play(struct requests *requests, uint64_t now_ns)
{
	uint64_t media_ns = requests->exchanges[requests->next_exchange - 1].media_ns;

	if (requests->empty_ns && media_ns && now_ns > requests->empty_ns)
		requests->stalled_ns += now_ns - requests->empty_ns;
	if (requests->empty_ns < now_ns)
		requests->empty_ns = now_ns;
	requests->empty_ns += media_ns;
}

void requests_had(struct requests *requests, uint64_t now_ns, uint64_t had_bytes)
{
	if (requests->whole == requests->requested)
		return;
	while (requests->whole < requests->requested && requests->objects[requests->whole].end <= had_bytes)
		requests->objects[requests->whole++].whole_ns = now_ns;
	if (requests->whole < requests->requested)
		return;
	play(requests, now_ns);
	requests_schedule(requests, now_ns);
}

bool requests_whole(const struct requests *requests)
{
	return requests->whole == requests->object_count;
}

void requests_write(const struct requests *requests, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail("%s: %s", path, strerror(errno));
	fprintf(file, "{\"whole_ns\": [");
	for (size_t at = 0; at < requests->whole; at++)
		fprintf(file, "%s[%" PRIu64 ", %" PRIu64 "]", at ? ", " : "", requests->objects[at].begun_ns,
			requests->objects[at].whole_ns);
	fprintf(file, "], \"stalled_s\": %.9f}", requests->stalled_ns / 1e9);
	fclose(file);
}
