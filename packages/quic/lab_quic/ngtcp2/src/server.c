// SPDX-License-Identifier: GPL-2.0-or-later
/* The sender: serves one download, of as many bytes as its client requests, or a workload's objects. */
#include "ends.h"

#include <stdarg.h>
#include <string.h>

#include "responses.h"
#include "watch.h"

#define ID_BYTES 8
#define CHUNK_BYTES (1 << 16)

struct server {
	struct peer peer;
	struct watch watch;
	uint8_t request[REQUEST_BYTES];
	size_t requested_bytes; /* of the request */
	struct responses responses; /* of a workload; no file: a download */
};

static void on_event(struct peer *peer, const char *line)
{
	watch_event(&((struct server *)peer)->watch, line);
}

static void on_message(void *user_data, const char *format, ...)
{
	char message[MOST_QLOG_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(message, sizeof(message), format, values);
	va_end(values);
	watch_message(&((struct server *)user_data)->watch, message);
}

/* Read the request; then data wait for the congestion window, never the reverse. */
static void on_data(struct peer *peer, int64_t stream, const uint8_t *bytes, size_t count, bool fin)
{
	static const uint8_t zeros[CHUNK_BYTES];
	struct server *server = (struct server *)peer;

	(void)fin;
	if (server->responses.file) {
		peer->source.left += responses_take(&server->responses, bytes, count);
		peer->source.stream = stream;
		return;
	}
	if (count > REQUEST_BYTES - server->requested_bytes)
		fail("the client's request must have %d bytes", REQUEST_BYTES);
	memcpy(server->request + server->requested_bytes, bytes, count);
	server->requested_bytes += count;
	if (server->requested_bytes < REQUEST_BYTES || peer->source.stream != NO_STREAM)
		return;
	peer->source = (struct source){ .stream = stream, .bytes = zeros, .most_bytes = CHUNK_BYTES };
	for (size_t at = 0; at < REQUEST_BYTES; at++)
		peer->source.left = peer->source.left << 8 | server->request[at];
}

/* Accept a connection with its first datagram; any other one is ignored. */
static void accept_first(struct peer *peer, const struct datagram *first)
{
	ngtcp2_callbacks callbacks = peer_callbacks();
	ngtcp2_transport_params params;
	ngtcp2_settings settings;
	ngtcp2_cid own = { .datalen = ID_BYTES };
	ngtcp2_pkt_hd head;
	ngtcp2_conn *conn;
	ngtcp2_path path;
	int error;

	if (ngtcp2_accept(&head, first->data, first->bytes))
		return;
	peer->other = first->from;
	path = peer_path(peer);
	peer_settings(peer, &settings, &params);
	settings.cc_algo = peer->options->controller;
	if (settings.cc_algo == NGTCP2_CC_ALGO_BBR) /* formatting every message takes wall time */
		settings.log_printf = on_message;
	params.original_dcid = head.dcid;
	params.original_dcid_present = 1;
	peer_random(own.data, own.datalen);
	error = ngtcp2_conn_server_new(&conn, &head.scid, &own, &path, head.version, &callbacks, &settings, &params,
				       NULL, peer);
	if (error)
		fail("connection: %s", ngtcp2_strerror(error));
	peer_connected(peer, conn);
}

static bool take(struct server *server, const struct datagram *datagram)
{
	struct peer *peer = &server->peer;
	bool open;

	if (!peer->conn)
		accept_first(peer, datagram);
	if (!peer->conn)
		return true;
	watch_begin(&server->watch, peer);
	open = peer_take(peer, datagram->data, datagram->bytes);
	watch_end(&server->watch, peer);
	return open;
}

static void turn(struct server *server)
{
	struct peer *peer = &server->peer;

	watch_begin(&server->watch, peer);
	peer_expire(peer);
	watch_end(&server->watch, peer);
	watch_begin(&server->watch, peer);
	peer_send(peer);
	watch_end(&server->watch, peer);
}

static void note(struct server *server)
{
	struct peer *peer = &server->peer;
	ngtcp2_conn_info info;
	bool limited;

	if (!server->responses.file)
		return;
	ngtcp2_conn_get_conn_info(peer->conn, &info);
	limited = !peer->source.left && ngtcp2_conn_get_cwnd_left(peer->conn) > 0;
	responses_note(&server->responses, peer->now_ns, limited, peer->source.left || info.bytes_in_flight);
}

/* Serve until the client closes or this process is stopped. */
static void serve_one(struct server *server)
{
	static struct datagram batch[UDP_BATCH];
	unsigned int count;

	while (!peer_ended()) {
		peer_tick(&server->peer);
		do {
			count = udp_receive(server->peer.fd, batch);
			for (unsigned int at = 0; at < count; at++)
				if (!take(server, &batch[at]))
					return;
		} while (count == UDP_BATCH);
		if (server->peer.conn) {
			turn(server);
			note(server);
		}
		peer_wait(&server->peer, UINT64_MAX);
	}
}

void serve(const struct options *options)
{
	static const uint8_t zeros[CHUNK_BYTES];
	struct server server = { .peer = { .event = on_event, .data = on_data } };

	peer_open(&server.peer, options, true);
	if (options->objects) {
		responses_open(&server.responses, options->objects);
		server.peer.source = (struct source){ NO_STREAM, zeros, CHUNK_BYTES, 0, true, false };
	}
	printf("listening\n");
	fflush(stdout);
	serve_one(&server);
	if (options->objects)
		responses_close(&server.responses, server.peer.now_ns);
}
