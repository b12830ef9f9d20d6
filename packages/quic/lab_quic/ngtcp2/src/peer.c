// SPDX-License-Identifier: GPL-2.0-or-later
#include "peer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tls.h"

#define BURST_PKTS 10 /* between two waits of the pacer (RFC 9002, section 7.7), as quinn's */
#define LOG_BUFFER_BYTES (1 << 20)

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

void peer_end_upon_sigterm(void)
{
	struct sigaction action = { .sa_handler = end }; /* no SA_RESTART: the wait ends */

	sigaction(SIGTERM, &action, NULL);
}

bool peer_ended(void)
{
	return ended;
}

void peer_tick(struct peer *peer)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	peer->now_ns = (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static FILE *log_open(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail("%s: %s", path, strerror(errno));
	setvbuf(file, NULL, _IOFBF, LOG_BUFFER_BYTES);
	return file;
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref)
{
	return ((struct peer *)ref->user_data)->conn;
}

void peer_open(struct peer *peer, const struct options *options, bool server)
{
	uint16_t port = server ? options->port : options->client_port;

	peer->options = options;
	peer->log = log_open(options->log);
	peer->qlog = log_open(options->qlog);
	peer->own = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	peer->source.stream = NO_STREAM;
	peer->ref = (ngtcp2_crypto_conn_ref){ .get_conn = conn_of, .user_data = peer };
	peer->tls = tls_begin(server, options->key, &peer->ref);
	peer->fd = udp_open(port);
	peer_tick(peer);
}

ngtcp2_path peer_path(struct peer *peer)
{
	return (ngtcp2_path){
		.local = { (struct sockaddr *)&peer->own, sizeof(peer->own) },
		.remote = { (struct sockaddr *)&peer->other, sizeof(peer->other) },
	};
}

void peer_connected(struct peer *peer, ngtcp2_conn *conn)
{
	peer->conn = conn;
	ngtcp2_conn_set_tls_native_handle(conn, peer->tls);
}

/* Send what closes the connection, if it may still be sent. */
static void close_with(struct peer *peer, const ngtcp2_ccerr *reason)
{
	struct datagram last;
	ngtcp2_pkt_info info;
	ngtcp2_ssize bytes = ngtcp2_conn_write_connection_close(peer->conn, NULL, &info, last.data,
								peer->options->datagram_bytes, reason, peer->now_ns);

	if (bytes <= 0)
		return;
	last.bytes = bytes;
	udp_send(peer->fd, &peer->other, &last, 1);
	if (peer->sent)
		peer->sent(peer, last.bytes);
}

void peer_close(struct peer *peer, int error)
{
	ngtcp2_ccerr reason;

	ngtcp2_ccerr_default(&reason);
	if (error == NGTCP2_ERR_CRYPTO)
		ngtcp2_ccerr_set_tls_alert(&reason, ngtcp2_conn_get_tls_alert(peer->conn), NULL, 0);
	else if (error)
		ngtcp2_ccerr_set_liberr(&reason, error, NULL, 0);
	else
		ngtcp2_ccerr_set_application_error(&reason, 0, NULL, 0);
	close_with(peer, &reason);
}

static _Noreturn void give_up(struct peer *peer, int error)
{
	peer_close(peer, error);
	if (tls_wrong_key())
		fail(TLS_WRONG_KEY);
	if (error == NGTCP2_ERR_CRYPTO)
		fail("handshake: %s", gnutls_alert_get_name(ngtcp2_conn_get_tls_alert(peer->conn)));
	fail("%s", ngtcp2_strerror(error));
}

bool peer_take(struct peer *peer, const uint8_t *datagram, size_t bytes)
{
	ngtcp2_path path = peer_path(peer);
	ngtcp2_pkt_info info = { 0 };
	int error = ngtcp2_conn_read_pkt(peer->conn, &path, &info, datagram, bytes, peer->now_ns);

	if (error == NGTCP2_ERR_DRAINING)
		return false;
	if (error)
		give_up(peer, error);
	return true;
}

bool peer_expire(struct peer *peer)
{
	int error;

	if (ngtcp2_conn_get_expiry(peer->conn) > peer->now_ns)
		return false;
	error = ngtcp2_conn_handle_expiry(peer->conn, peer->now_ns);
	if (error)
		give_up(peer, error);
	return true;
}

/* Fill a datagram; returns false where nothing may be sent now. */
static bool fill(struct peer *peer, struct datagram *datagram)
{
	struct source *source = &peer->source;
	ngtcp2_pkt_info info;

	for (int64_t stream = source->left ? source->stream : NO_STREAM;; stream = NO_STREAM) {
		ngtcp2_vec part = { (uint8_t *)source->bytes, source->most_bytes };
		uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_NONE;
		ngtcp2_ssize taken = -1;
		ngtcp2_ssize bytes;

		if (source->left <= part.len) {
			part.len = source->left;
			flags = source->open ? NGTCP2_WRITE_STREAM_FLAG_NONE : NGTCP2_WRITE_STREAM_FLAG_FIN;
		}
		bytes = ngtcp2_conn_writev_stream(peer->conn, NULL, &info, datagram->data, peer->options->datagram_bytes,
						  &taken, stream == NO_STREAM ? 0 : flags, stream, &part,
						  stream == NO_STREAM ? 0 : 1, peer->now_ns);
		if (bytes == NGTCP2_ERR_STREAM_DATA_BLOCKED && stream != NO_STREAM)
			continue;
		if (bytes < 0)
			give_up(peer, bytes);
		if (taken > 0 && source->left != ENDLESS)
			source->left -= taken;
		if (taken > 0 && source->advances)
			source->bytes += taken;
		datagram->bytes = bytes;
		return bytes > 0;
	}
}

void peer_send(struct peer *peer)
{
	struct datagram batch[BURST_PKTS];
	unsigned int count = 0;

	while (count < BURST_PKTS && fill(peer, &batch[count]))
		count++;
	udp_send(peer->fd, &peer->other, batch, count);
	for (unsigned int at = 0; peer->sent && at < count; at++)
		peer->sent(peer, batch[at].bytes);
	ngtcp2_conn_update_pkt_tx_time(peer->conn, peer->now_ns);
}

void peer_wait(struct peer *peer, uint64_t until_ns)
{
	uint64_t due_ns = peer->conn ? ngtcp2_conn_get_expiry(peer->conn) : UINT64_MAX;

	due_ns = due_ns < until_ns ? due_ns : until_ns;
	if (due_ns == UINT64_MAX)
		udp_wait(peer->fd, UINT64_MAX);
	else
		udp_wait(peer->fd, due_ns > peer->now_ns ? due_ns - peer->now_ns : 0);
}
