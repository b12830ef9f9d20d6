/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS 1.3 with raw public keys (RFC 7250): the server's key is made of a public byte, and the client knows it.
 *
 * A certificate would have dates, and an emulated trial has none that matter.  The handshake is otherwise whole: the
 * client checks the key and the signature, and ends with an error where either differs.
 */
#pragma once

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>
#include <stdint.h>

#define TLS_WRONG_KEY "the server's key must be the trial's"

/* Begin one end's session, whose `ref` lives as long; fails where GnuTLS refuses. */
gnutls_session_t tls_begin(bool server, uint8_t key, ngtcp2_crypto_conn_ref *ref);

/* Whether the client found another key than the one that it expects. */
bool tls_wrong_key(void);
