// SPDX-License-Identifier: GPL-2.0-or-later
/* The receiver: requests a download, and records each datagram with the part of the stream that was new in it. */
#include "ends.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "pieces.h"
#include "requests.h"

#define HANDSHAKE_S 25
#define SECOND_NS 1000000000ULL
#define ID_BYTES 4 /* in each packet of data */
#define RECEIVED ",\"name\":\"transport:packet_received\""
#define STREAM "{\"frame_type\":\"stream\""

struct client {
	struct peer peer;
	struct piece *pieces;
	uint64_t bytes, first_ns, last_ns;
	bool whole;
	struct requests *requests; /* of a workload; NULL: a download */
};

static void on_sent(struct peer *peer, size_t bytes)
{
	fprintf(peer->log, "sent\t%" PRIu64 "\t%zu\n", peer->now_ns, bytes);
}

static void on_piece(void *context, uint64_t begin, uint64_t end)
{
	struct client *client = context;

	fprintf(client->peer.log, "piece\t%" PRIu64 "\t%" PRIu64 "\n", begin, end - begin);
	client->bytes += end - begin;
	client->first_ns = client->first_ns ?: client->peer.now_ns;
	client->last_ns = client->peer.now_ns;
}

static uint64_t field(const char *frame, const char *name)
{
	const char *found = strstr(frame, name);

	if (!found)
		fail("qlog: a frame without %s: %s", name, frame);
	return strtoull(found + strlen(name), NULL, 10);
}

/* The library hands data over in order; its qlog names what each packet had. */
static void on_event(struct peer *peer, const char *line)
{
	struct client *client = (struct client *)peer;

	if (strncmp(line, RECEIVED, sizeof(RECEIVED) - 1))
		return;
	for (const char *frame = strstr(line, STREAM); frame; frame = strstr(frame + 1, STREAM)) {
		uint64_t begin = field(frame, "\"offset\":");

		pieces_add(&client->pieces, begin, begin + field(frame, "\"length\":"), on_piece, peer);
	}
	if (client->requests && client->pieces && !client->pieces->begin) {
		requests_had(client->requests, peer->now_ns, client->pieces->end);
		client->whole = requests_whole(client->requests);
	}
}

static void on_data(struct peer *peer, int64_t stream, const uint8_t *bytes, size_t count, bool fin)
{
	(void)stream;
	(void)bytes;
	(void)count;
	((struct client *)peer)->whole |= fin;
}

static void connect_to(struct peer *peer)
{
	ngtcp2_callbacks callbacks = peer_callbacks();
	ngtcp2_transport_params params;
	ngtcp2_settings settings;
	ngtcp2_cid own = { .datalen = ID_BYTES }, other = { .datalen = NGTCP2_MIN_INITIAL_DCIDLEN };
	ngtcp2_conn *conn;
	ngtcp2_path path;
	int error;

	peer->other = (struct sockaddr_in){ AF_INET, htons(peer->options->port), peer->options->server, { 0 } };
	path = peer_path(peer);
	peer_settings(peer, &settings, &params);
	params.initial_max_streams_bidi = 0;
	peer_random(own.data, own.datalen);
	peer_random(other.data, other.datalen);
	error = ngtcp2_conn_client_new(&conn, &other, &own, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings, &params,
				       NULL, peer);
	if (error)
		fail("connection: %s", ngtcp2_strerror(error));
	peer_connected(peer, conn);
}

static void request_download(struct peer *peer, int64_t stream)
{
	static uint8_t size[REQUEST_BYTES];
	uint64_t bytes = peer->options->bytes ? peer->options->bytes : ENDLESS;

	for (int at = REQUEST_BYTES - 1; at >= 0; at--, bytes >>= 8)
		size[at] = (uint8_t)bytes;
	peer->source = (struct source){ .stream = stream, .bytes = size, .most_bytes = REQUEST_BYTES, .left = REQUEST_BYTES };
}

/* Request a download or a workload's objects, once the handshake allows a stream. */
static void request(struct client *client)
{
	struct peer *peer = &client->peer;
	struct source next = { .stream = peer->source.stream, .open = true, .advances = true };

	if (peer->source.stream == NO_STREAM) {
		if (!ngtcp2_conn_get_handshake_completed(peer->conn))
			return;
		if (ngtcp2_conn_open_bidi_stream(peer->conn, &next.stream, NULL))
			fail("the server must allow a stream");
		if (!client->requests) {
			request_download(peer, next.stream);
			return;
		}
		requests_schedule(client->requests, peer->now_ns);
		peer->source = next;
	}
	if (!client->requests)
		return;
	next.bytes = requests_next(client->requests, peer->now_ns, &next.most_bytes);
	next.left = next.most_bytes;
	if (next.bytes)
		peer->source = next;
}

static void take(struct client *client)
{
	static struct datagram batch[UDP_BATCH];
	struct peer *peer = &client->peer;
	unsigned int count;

	do {
		count = udp_receive(peer->fd, batch);
		for (unsigned int at = 0; at < count; at++) {
			fprintf(peer->log, "got\t%" PRIu64 "\t%zu\n", peer->now_ns, batch[at].bytes);
			if (!peer_take(peer, batch[at].data, batch[at].bytes))
				fail("the server has closed the connection");
		}
	} while (count == UDP_BATCH);
}

void get(const struct options *options)
{
	struct client client = { .peer = { .event = on_event, .sent = on_sent, .data = on_data } };
	struct peer *peer = &client.peer;
	uint64_t handshake_ns;

	if (options->workload)
		client.requests = requests_read(options->workload);
	peer_open(peer, options, false);
	connect_to(peer);
	handshake_ns = peer->now_ns + HANDSHAKE_S * SECOND_NS;
	while (!peer_ended()) {
		uint64_t due_ns;

		peer_tick(peer);
		take(&client);
		peer_expire(peer);
		request(&client);
		due_ns = client.first_ns ? client.first_ns + options->seconds * SECOND_NS : handshake_ns;
		if (client.whole || peer->now_ns >= due_ns) {
			if (!client.first_ns && !client.whole)
				fail("no handshake within %d s", HANDSHAKE_S);
			peer_close(peer, 0);
			break;
		}
		peer_send(peer);
		peer_wait(peer, client.requests && requests_due_ns(client.requests) < due_ns ?
					requests_due_ns(client.requests) : due_ns);
	}
	if (client.requests)
		requests_write(client.requests, options->objects);
	printf("{\"bytes\": %" PRIu64 ", \"seconds\": %.9f, \"whole\": %s, \"first_ns\": %" PRIu64 "}\n", client.bytes,
	       (client.last_ns - client.first_ns) / 1e9, client.whole ? "true" : "false", client.first_ns);
}
