// SPDX-License-Identifier: GPL-2.0-or-later
/* What both ends request of the library, and what it calls. */
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define WINDOW_BYTES (1ULL << 30) /* of the receiver for the stream: no link of the lab fills it */
#define ANY_BYTES (1ULL << 60)	  /* of the receiver for all streams */

/* Times of ngtcp2's qlog are whole milliseconds since the connection began: here, those of CLOCK_MONOTONIC. */
static void on_qlog(void *user_data, uint32_t flags, const void *data, size_t count)
{
	static const char head[] = "\x1e{\"time\":";
	struct peer *peer = user_data;
	const char *text = data;
	char line[MOST_QLOG_BYTES];

	(void)flags;
	if (count >= sizeof(line))
		fail("qlog: an event of %zu bytes", count);
	if (count < sizeof(head) || memcmp(text, head, sizeof(head) - 1)) {
		fwrite(text, 1, count, peer->qlog);
		return;
	}
	memcpy(line, text, count);
	line[count] = '\0';
	text = line + sizeof(head) - 1;
	text += strspn(text, "0123456789");
	fprintf(peer->qlog, "%s%llu.%06llu%s", head, (unsigned long long)peer->now_ns / 1000000,
		(unsigned long long)peer->now_ns % 1000000, text);
	if (peer->event)
		peer->event(peer, text);
}

void peer_settings(struct peer *peer, ngtcp2_settings *settings, ngtcp2_transport_params *params)
{
	ngtcp2_settings_default(settings);
	settings->initial_ts = peer->now_ns;
	settings->qlog_write = on_qlog;
	settings->max_tx_udp_payload_size = peer->options->datagram_bytes;
	settings->no_tx_udp_payload_size_shaping = 1;
	settings->no_pmtud = 1;
	ngtcp2_transport_params_default(params);
	params->initial_max_data = ANY_BYTES;
	params->initial_max_stream_data_bidi_local = WINDOW_BYTES;
	params->initial_max_stream_data_bidi_remote = WINDOW_BYTES;
	params->initial_max_streams_bidi = 1;
	params->disable_active_migration = 1;
}

/* The guest's pool is seeded from the trial's seed. */
void peer_random(uint8_t *bytes, size_t count)
{
	if (getrandom(bytes, count, 0) != (ssize_t)count)
		fail("random numbers: %s", strerror(errno));
}

static void on_random(uint8_t *bytes, size_t count, const ngtcp2_rand_ctx *context)
{
	(void)context;
	peer_random(bytes, count);
}

static int on_new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t count, void *user_data)
{
	(void)conn;
	(void)user_data;
	id->datalen = count;
	peer_random(id->data, count);
	peer_random(token, NGTCP2_STATELESS_RESET_TOKENLEN);
	return 0;
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *bytes,
		   size_t count, void *user_data, void *stream_data)
{
	struct peer *peer = user_data;

	(void)offset;
	(void)stream_data;
	ngtcp2_conn_extend_max_stream_offset(conn, stream, count);
	ngtcp2_conn_extend_max_offset(conn, count);
	if (peer->data)
		peer->data(peer, stream, bytes, count, flags & NGTCP2_STREAM_DATA_FLAG_FIN);
	return 0;
}

ngtcp2_callbacks peer_callbacks(void)
{
	return (ngtcp2_callbacks){
		.client_initial = ngtcp2_crypto_client_initial_cb,
		.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
		.recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
		.encrypt = ngtcp2_crypto_encrypt_cb,
		.decrypt = ngtcp2_crypto_decrypt_cb,
		.hp_mask = ngtcp2_crypto_hp_mask_cb,
		.recv_stream_data = on_data,
		.recv_retry = ngtcp2_crypto_recv_retry_cb,
		.rand = on_random,
		.get_new_connection_id = on_new_id,
		.update_key = ngtcp2_crypto_update_key_cb,
		.delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
		.delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
		.get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
		.version_negotiation = ngtcp2_crypto_version_negotiation_cb,
	};
}
