// SPDX-License-Identifier: GPL-2.0-or-later
//! TLS 1.3 with raw public keys (RFC 7250): the server's key is derived from a public seed, and the client knows it.
//!
//! A certificate would have dates, and an emulated trial has none that matter. The handshake is otherwise whole: the
//! client checks the key and the signature, and ends with an error where either differs.

use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use rustls::crypto::{verify_tls13_signature_with_raw_key, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::version::TLS13;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

const PROTOCOL: &[u8] = b"lab-quic";
const PKCS8_ED25519: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]; // RFC 8410, section 7
const SEED_BYTES: usize = 32;

fn key(seed: u8) -> Arc<dyn SigningKey> {
    let pkcs8 = [&PKCS8_ED25519[..], &[seed; SEED_BYTES][..]].concat();
    any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8)).expect("an Ed25519 key of 32 bytes")
}

fn public(key: &dyn SigningKey) -> SubjectPublicKeyInfoDer<'static> {
    key.public_key().expect("an Ed25519 key has a public one").into_owned()
}

/// The server's side; `seed` is the byte that its key is made of.
pub fn server(seed: u8) -> Result<QuicServerConfig, Error> {
    let key = key(seed);
    let shown = CertificateDer::from(public(key.as_ref()).to_vec());
    let certified = Arc::new(CertifiedKey::new(vec![shown], key));
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(QuicServerConfig::try_from(config).expect("a TLS 1.3 cipher suite for Initial packets"))
}

/// The client's side; `seed` is that of the server whose key it expects.
pub fn client(seed: u8) -> Result<QuicClientConfig, Error> {
    let provider = default_provider();
    let verifier = Expected {
        key: public(key(seed).as_ref()),
        algorithms: provider.signature_verification_algorithms,
    };
    let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(QuicClientConfig::try_from(config).expect("a TLS 1.3 cipher suite for Initial packets"))
}

#[derive(Debug)]
struct Expected {
    key: SubjectPublicKeyInfoDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Expected {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == self.key.as_ref() {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::General("the server's key must be the trial's".into()))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("must be TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
