// SPDX-License-Identifier: GPL-2.0-or-later

//! Both ends of a download over s2n-quic: a client requests a number of bytes on one stream, a server sends them.

mod qlog;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic};
use s2n_quic::provider::io::tokio::Provider;
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::signal::unix::{SignalKind, signal};

type Done = Result<(), Box<dyn Error + Send + Sync>>;

const NAME: &str = "server"; // of the certificate
const HEADER_BYTES: u16 = 28; // of IP and UDP
const WINDOW_BYTES: u32 = 1 << 30;
const IDLE: Duration = Duration::from_secs(600);
static PIECE: [u8; 1 << 16] = [0; 1 << 16];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, datagram, control, certificate, key, log] => {
            let mut end = signal(SignalKind::terminate())?;
            let served = serve(socket(address, datagram)?, control, (Path::new(certificate), Path::new(key)), log);
            tokio::select! { done = served => done, _ = end.recv() => Ok(()) } // the qlog is flushed as it is dropped
        }
        ["get", address, datagram, certificate, size] => {
            get(socket("0.0.0.0:0", datagram)?, address, Path::new(certificate), size.parse()?).await
        }
        _ => {
            Err("serve ADDRESS DATAGRAM CONTROL CERTIFICATE KEY QLOG, or get ADDRESS DATAGRAM CERTIFICATE BYTES".into())
        }
    }
}

/// Open a socket whose full datagrams have one size from the first one on, with no offloads.
fn socket(address: &str, datagram: &str) -> Result<Provider, Box<dyn Error + Send + Sync>> {
    let socket = Provider::builder().with_receive_address(address.parse::<SocketAddr>()?)?;
    let socket = socket.with_gso_disabled()?.with_gro_disabled()?;
    let mtu = HEADER_BYTES + datagram.parse::<u16>()?;
    let socket = socket.with_max_mtu(mtu)?.with_initial_mtu(mtu)?.with_base_mtu(mtu)?;
    Ok(socket.build()?)
}

/// Return windows that no link of the lab fills, for what is received and for what is not acknowledged yet.
fn limits() -> Result<Limits, Box<dyn Error + Send + Sync>> {
    let limits = Limits::new().with_data_window(WINDOW_BYTES.into())?.with_max_idle_timeout(IDLE)?;
    let limits = limits.with_bidirectional_local_data_window(WINDOW_BYTES.into())?;
    Ok(limits.with_max_send_buffer_size(WINDOW_BYTES)?)
}

async fn serve(socket: Provider, control: &str, identity: (&Path, &Path), log: &str) -> Done {
    let server = Server::builder().with_io(socket)?.with_limits(limits()?)?.with_tls(identity)?;
    let server = server.with_event(qlog::Qlog::create(log)?)?;
    let mut server = match control {
        "cubic" => server.with_congestion_controller(Cubic::default())?.start()?,
        "bbr" => server.with_congestion_controller(Bbr::default())?.start()?,
        _ => return Err(format!("control={control}: must be cubic or bbr").into()),
    };
    let mut connection = server.accept().await.ok_or("no connection")?;
    let mut stream = connection.accept_bidirectional_stream().await?.ok_or("no stream")?;
    let mut left = stream.read_u64().await?;
    while left > 0 {
        let piece = &PIECE[..PIECE.len().min(usize::try_from(left)?)];
        stream.send(piece.into()).await?;
        left -= piece.len() as u64;
    }
    stream.finish()?;
    let _ = connection.accept_bidirectional_stream().await; // until the client has closed it
    Ok(())
}

async fn get(socket: Provider, address: &str, certificate: &Path, size: u64) -> Done {
    let mut client = Client::builder().with_io(socket)?.with_limits(limits()?)?.with_tls(certificate)?.start()?;
    let mut connection = client.connect(Connect::new(address.parse::<SocketAddr>()?).with_server_name(NAME)).await?;
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.write_u64(size).await?;
    let mut count = 0;
    while let Some(piece) = stream.receive().await? {
        count += piece.len() as u64;
    }
    if count != size {
        return Err(format!("{count} bytes of {size}").into());
    }
    connection.close(0u32.into());
    client.wait_idle().await?;
    Ok(())
}
