// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls.h"

#include <gnutls/abstract.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <string.h>

#include "options.h"

#define PROTOCOL "lab-quic"
#define SEED_BYTES 32
#define COMMON_FLAGS (GNUTLS_ENABLE_RAWPK | GNUTLS_NO_TICKETS | GNUTLS_NO_END_OF_EARLY_DATA)

/* One of each, so that a handshake has the same bytes on each processor and with each policy of a system. */
static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:"
			       "-SIGN-ALL:+SIGN-EDDSA-ED25519:-CTYPE-ALL:+CTYPE-RAWPK:%DISABLE_TLS13_COMPAT_MODE";
/* RFC 8410, section 7: what stands before the seed of an Ed25519 key. */
static const uint8_t pkcs8_ed25519[] = { 48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32 };

static gnutls_datum_t expected; /* the public key, as the handshake shows it */
static bool wrong_key;

static void check(int result, const char *what)
{
	if (result < 0)
		fail("TLS: %s: %s", what, gnutls_strerror(result));
}

static gnutls_datum_t public_key(gnutls_privkey_t private)
{
	gnutls_datum_t found;
	gnutls_pubkey_t public;

	check(gnutls_pubkey_init(&public), "key");
	check(gnutls_pubkey_import_privkey(public, private, 0, 0), "public key");
	check(gnutls_pubkey_export2(public, GNUTLS_X509_FMT_DER, &found), "public key");
	gnutls_pubkey_deinit(public);
	return found;
}

static int verify(gnutls_session_t session)
{
	unsigned int count;
	const gnutls_datum_t *shown = gnutls_certificate_get_peers(session, &count);

	wrong_key = !shown || shown->size != expected.size || memcmp(shown->data, expected.data, expected.size);
	return wrong_key ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static gnutls_certificate_credentials_t credentials(bool server, uint8_t key)
{
	gnutls_certificate_credentials_t found;
	gnutls_privkey_t private;
	uint8_t pkcs8[sizeof(pkcs8_ed25519) + SEED_BYTES];
	gnutls_datum_t der = { pkcs8, sizeof(pkcs8) };

	memcpy(pkcs8, pkcs8_ed25519, sizeof(pkcs8_ed25519));
	memset(pkcs8 + sizeof(pkcs8_ed25519), key, SEED_BYTES);
	check(gnutls_certificate_allocate_credentials(&found), "credentials");
	check(gnutls_privkey_init(&private), "key");
	check(gnutls_privkey_import_x509_raw(private, &der, GNUTLS_X509_FMT_DER, NULL, 0), "key");
	expected = public_key(private);
	gnutls_privkey_deinit(private);
	if (server)
		check(gnutls_certificate_set_rawpk_key_mem(found, &expected, &der, GNUTLS_X509_FMT_DER, NULL, 0, NULL, 0, 0),
		      "raw public key");
	else
		gnutls_certificate_set_verify_function(found, verify);
	return found;
}

gnutls_session_t tls_begin(bool server, uint8_t key, ngtcp2_crypto_conn_ref *ref)
{
	static const gnutls_datum_t protocol = { (uint8_t *)PROTOCOL, sizeof(PROTOCOL) - 1 };
	gnutls_session_t session;

	check(gnutls_init(&session, (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | COMMON_FLAGS), "session");
	check(gnutls_priority_set_direct(session, priority, NULL), priority);
	check(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials(server, key)), "credentials");
	check(gnutls_alpn_set_protocols(session, &protocol, 1, GNUTLS_ALPN_MANDATORY), PROTOCOL);
	check(server ? ngtcp2_crypto_gnutls_configure_server_session(session)
		     : ngtcp2_crypto_gnutls_configure_client_session(session),
	      "QUIC");
	gnutls_session_set_ptr(session, ref);
	return session;
}

bool tls_wrong_key(void)
{
	return wrong_key;
}
