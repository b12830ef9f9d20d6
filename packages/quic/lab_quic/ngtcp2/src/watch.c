// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SENT ",\"name\":\"transport:packet_sent\""
#define LOST ",\"name\":\"recovery:packet_lost\""
#define DRAIN "bbr enter Drain"

static uint16_t *size_of(struct watch *watch, const char *line)
{
	static const char *const names[] = { "\"initial\"", "\"handshake\"", "\"1RTT\"" };
	const char *number = strstr(line, "\"packet_number\":");
	uint64_t packet = number ? strtoull(number + strlen("\"packet_number\":"), NULL, 10) : 0;

	for (size_t space = 0; number && space < 3; space++) {
		struct sizes *sizes = &watch->spaces[space];
		size_t room = sizes->room;

		if (!strstr(line, names[space]))
			continue;
		if (packet >= room) {
			sizes->room = 2 * (packet + 1);
			sizes->of = reallocarray(sizes->of, sizes->room, sizeof(*sizes->of));
			if (!sizes->of)
				fail("no memory for %zu packets", sizes->room);
			memset(sizes->of + room, 0, (sizes->room - room) * sizeof(*sizes->of));
		}
		return &sizes->of[packet];
	}
	fail("qlog: a packet without type and number: %s", line);
}

void watch_event(struct watch *watch, const char *line)
{
	if (!strncmp(line, SENT, sizeof(SENT) - 1)) {
		const char *length = strstr(line, "\"raw\":{\"length\":");

		if (!length)
			fail("qlog: a packet without length: %s", line);
		*size_of(watch, line) = strtoul(length + strlen("\"raw\":{\"length\":"), NULL, 10);
	} else if (!strncmp(line, LOST, sizeof(LOST) - 1)) {
		watch->lost_bytes += *size_of(watch, line);
		watch->lost_pkts++;
	}
}

void watch_message(struct watch *watch, const char *message)
{
	watch->drained |= !!strstr(message, DRAIN);
}

void watch_begin(struct watch *watch, struct peer *peer)
{
	ngtcp2_conn_get_conn_info(peer->conn, &watch->before);
}

/* As tcp_probe shows a socket: window, estimate and delivered bytes are those before the ACK was taken in. */
static void note_ack(struct watch *watch, struct peer *peer, const ngtcp2_conn_info *after, uint64_t delivered_bytes)
{
	const ngtcp2_conn_info *before = &watch->before;
	bool limited = !peer->source.left && after->bytes_in_flight < after->cwnd;
	/* Until there is an estimate, the first sample stands for it, and not the initial guess. */
	uint64_t srtt_ns = before->min_rtt == UINT64_MAX ? after->latest_rtt : before->smoothed_rtt;

	fprintf(peer->log, "ack\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, peer->now_ns, before->cwnd,
		before->ssthresh, srtt_ns);
	fprintf(peer->log, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\n",
		after->latest_rtt / 1000, watch->delivered_bytes, delivered_bytes, watch->sent_bytes,
		after->bytes_in_flight, limited);
}

static void note_exit(struct watch *watch, struct peer *peer, const ngtcp2_conn_info *after, bool lost)
{
	bool bbr = peer->options->controller == NGTCP2_CC_ALGO_BBR;
	const char *own = bbr ? "bbr" : "hystartpp";

	if (watch->left || !(bbr ? watch->drained : after->cwnd >= after->ssthresh))
		return;
	watch->left = true;
	fprintf(peer->log, "exit\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\n", peer->now_ns,
		watch->before.cwnd, after->ssthresh, after->latest_rtt / 1000, lost && !bbr ? "loss" : own);
}

void watch_end(struct watch *watch, struct peer *peer)
{
	ngtcp2_conn_info after;
	uint64_t delivered_bytes;
	bool lost = watch->lost_pkts > watch->noted_pkts;

	ngtcp2_conn_get_conn_info(peer->conn, &after);
	if (after.bytes_in_flight > watch->before.bytes_in_flight)
		watch->sent_bytes += after.bytes_in_flight - watch->before.bytes_in_flight;
	delivered_bytes = watch->sent_bytes - after.bytes_in_flight - watch->lost_bytes;
	if (delivered_bytes > watch->delivered_bytes) {
		note_ack(watch, peer, &after, delivered_bytes);
		watch->delivered_bytes = delivered_bytes;
	}
	if (lost)
		fprintf(peer->log, "lost\t%" PRIu64 "\t%" PRIu64 "\n", peer->now_ns,
			watch->lost_pkts - watch->noted_pkts);
	watch->noted_pkts = watch->lost_pkts;
	note_exit(watch, peer, &after, lost);
}
