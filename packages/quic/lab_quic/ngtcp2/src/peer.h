/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection of ngtcp2 over one socket: no threads, and one wake-up per datagram or timer. */
#pragma once

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "udp.h"

#define MOST_QLOG_BYTES 8192 /* of an event: ngtcp2's own buffer has half as many */
#define NO_STREAM (-1)

/* What an end has to send on its stream. */
struct source {
	int64_t stream;	      /* NO_STREAM: nothing yet */
	const uint8_t *bytes; /* must stay until they are acknowledged */
	size_t most_bytes;    /* at `bytes`; the same ones are sent again and again */
	uint64_t left;	      /* ENDLESS: without end */
	bool open;	      /* more may follow */
	bool advances;	      /* the next bytes follow those that are sent */
};

struct peer {
	ngtcp2_crypto_conn_ref ref;
	gnutls_session_t tls;
	ngtcp2_conn *conn; /* NULL: none yet */
	const struct options *options;
	struct sockaddr_in own, other;
	int fd;
	uint64_t now_ns; /* CLOCK_MONOTONIC; each reading takes 256 ns of virtual time, so one per wake-up */
	FILE *log, *qlog;
	struct source source;
	/* An event of the library's qlog, a line of JSON. */
	void (*event)(struct peer *peer, const char *line);
	/* A datagram that was sent. */
	void (*sent)(struct peer *peer, size_t bytes);
	/* New data of the stream, in order; NULL: no data. `fin`: they are the last. */
	void (*data)(struct peer *peer, int64_t stream, const uint8_t *bytes, size_t count, bool fin);
};

/* Open logs and socket, and begin TLS. */
void peer_open(struct peer *peer, const struct options *options, bool server);

/* Fill in what both ends agree on: datagrams of one size, no MTU discovery, no idle timeout. */
void peer_settings(struct peer *peer, ngtcp2_settings *settings, ngtcp2_transport_params *params);

ngtcp2_callbacks peer_callbacks(void);
ngtcp2_path peer_path(struct peer *peer);
void peer_random(uint8_t *bytes, size_t count);

/* Give the connection its TLS session. */
void peer_connected(struct peer *peer, ngtcp2_conn *conn);

void peer_tick(struct peer *peer);

/* Take a datagram in; returns false once the other end has closed. Fails, and says so to the other end, upon an error. */
bool peer_take(struct peer *peer, const uint8_t *datagram, size_t bytes);

/* Serve the timers that are due; returns whether there were any. */
bool peer_expire(struct peer *peer);

/* Send what the window and the pacer allow now. */
void peer_send(struct peer *peer);

void peer_close(struct peer *peer, int error);

/* Wait for a datagram, a timer of the connection, or another time. */
void peer_wait(struct peer *peer, uint64_t until_ns);

/* Let SIGTERM end the loop, so that logs are whole. */
void peer_end_upon_sigterm(void);
bool peer_ended(void);
