/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's client: it requests objects when its plan says so (lab/node/traffic/workload_ends.py over TCP). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct requests;

/* Read a plan: a line "REQUEST_BYTES BUFFER_NS", then a line "WAIT_NS MEDIA_NS SIZE..." for each exchange. */
struct requests *requests_read(const char *file);

/* All before is whole: the next requests leave after their pause, and once a player has room for their play. */
void requests_schedule(struct requests *requests, uint64_t now_ns);

/* When the next requests are due; UINT64_MAX: others are under way, or there are none. */
uint64_t requests_due_ns(const struct requests *requests);

/* The requests that are due, which stay for good; NULL: none are. */
const uint8_t *requests_next(struct requests *requests, uint64_t now_ns, size_t *bytes);

/* So much of the stream has come without a gap. */
void requests_had(struct requests *requests, uint64_t now_ns, uint64_t had_bytes);

bool requests_whole(const struct requests *requests);

/* Write when each object was requested and whole, and how long the player stalled. */
void requests_write(const struct requests *requests, const char *file);
