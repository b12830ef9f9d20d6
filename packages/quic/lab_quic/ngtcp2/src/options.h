/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command line requests, in the form that lab-quic takes too (packages/quic/lab_quic/quinn/src/main.rs). */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include <ngtcp2/ngtcp2.h>

#define REQUEST_BYTES 8 /* a download's size, big-endian */
#define ENDLESS UINT64_MAX

struct options {
	uint16_t port;
	uint16_t client_port;
	uint16_t datagram_bytes;
	uint8_t key; /* the byte that the server's key is made of */
	uint64_t seconds;
	uint64_t bytes;
	ngtcp2_cc_algo controller;
	const char *log;
	const char *qlog;
	const char *workload; /* the plan of a workload's client; NULL: a download */
	const char *objects;  /* what an end writes of a workload */
	struct in_addr server;
};

/* Print one line in place of the result, and exit with status 1; open logs are flushed. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fill `options` from words like port=5201; fails on one that is none. */
void options_parse(struct options *options, int count, char **words);
