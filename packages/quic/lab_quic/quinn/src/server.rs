// SPDX-License-Identifier: GPL-2.0-or-later
//! The sender: serves one download, of as many bytes as its client asks for, or a workload's objects.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use quinn_proto::{Connection, Dir, Event, ServerConfig, StreamEvent, StreamId, WriteError};

use crate::clock::Clock;
use crate::controller::Factory;
use crate::log::Log;
use crate::peer::{Peer, ended, transport};
use crate::tls;
use crate::udp::Udp;
use crate::workload::Responses;
use crate::{ENDLESS, REQUEST_BYTES, Options};

const CHUNK_BYTES: usize = 1 << 20;

struct Download {
    stream: StreamId,
    asked: Vec<u8>,
    left: Option<u64>, // bytes to write; None: not known yet
}

/// Serve one connection to its end.
pub fn serve(options: &Options) -> Result<(), String> {
    let clock = Clock::new();
    let log = Log::create(&options.log).map_err(|error| format!("{}: {error}", options.log))?;
    let factory = Factory::named(&options.controller, &options.params, clock, log.clone())?;
    let mut shared = transport(&clock, options.datagram_bytes, &options.qlog).map_err(|error| error.to_string())?;
    shared.congestion_controller_factory(Arc::new(factory));
    let crypto = tls::server(options.key).map_err(|error| error.to_string())?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(shared)).migration(false);
    let udp = Udp::bind(options.port).map_err(|error| format!("port={}: {error}", options.port))?;
    let mut peer = Peer::new(udp, clock, Some(Arc::new(config)));
    println!("listening");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    let mut responses = (!options.objects.is_empty()).then(Responses::new);
    let done = run(&mut peer, &log, &mut responses);
    log.flush();
    done?;
    responses.map_or(Ok(()), |responses| responses.write(&options.objects, clock.ns(clock.now())))
}

fn run(peer: &mut Peer, log: &Log, responses: &mut Option<Responses>) -> Result<(), String> {
    let zeros = Bytes::from(vec![0u8; CHUNK_BYTES]);
    let (mut download, mut lost_pkts) = (None, 0);
    while !ended() {
        let now = peer.clock.now();
        let mut taken = Vec::new();
        while peer.udp.receive(|from, datagram| taken.push((from, datagram.to_vec()))).map_err(|e| e.to_string())? {}
        for (from, datagram) in &taken {
            peer.take(now, *from, datagram)?;
        }
        peer.turn(now);
        while let Some(event) = peer.event() {
            match event {
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => download = opened(peer),
                Event::ConnectionLost { reason } => {
                    return if download.is_some() { Ok(()) } else { Err(reason.to_string()) };
                }
                _ => {}
            }
        }
        if let Some(download) = &mut download {
            match responses {
                Some(responses) => respond(peer, download, responses, &zeros)?,
                None => write(peer, download, &zeros)?,
            }
        }
        peer.send(now, |_| {}).map_err(|error| error.to_string())?;
        if let Some((_, connection)) = &peer.connection {
            let lost = connection.stats().path.lost_packets;
            if lost > lost_pkts {
                log.line(format_args!("lost\t{}\t{}", peer.clock.ns(now), lost - lost_pkts));
                lost_pkts = lost;
            }
            if let Some(responses) = responses {
                let limited = connection.is_app_limited();
                responses.note(peer.clock.ns(now), limited, !limited || connection.bytes_in_flight() > 0);
            }
        }
        peer.wait(now, None);
    }
    Ok(())
}

fn opened(peer: &mut Peer) -> Option<Download> {
    let (_, connection) = peer.connection.as_mut()?;
    let stream = connection.streams().accept(Dir::Bi)?;
    Some(Download { stream, asked: Vec::new(), left: None })
}

/// Read the request, then write as much as the send window takes: data wait for the congestion window, never the reverse.
fn write(peer: &mut Peer, download: &mut Download, zeros: &Bytes) -> Result<(), String> {
    let Some((_, connection)) = peer.connection.as_mut() else { return Ok(()) };
    if download.left.is_none() {
        let mut source = connection.recv_stream(download.stream);
        if let Ok(mut chunks) = source.read(true) {
            while let Ok(Some(chunk)) = chunks.next(REQUEST_BYTES) {
                download.asked.extend_from_slice(&chunk.bytes);
            }
            let _ = chunks.finalize();
        }
        let Ok(asked) = <[u8; REQUEST_BYTES]>::try_from(download.asked.as_slice()) else { return Ok(()) };
        download.left = Some(u64::from_be_bytes(asked));
    }
    fill(connection, download, zeros, true)
}

/// Read the requests of a workload, and write what they ask for. The stream stays open.
fn respond(peer: &mut Peer, download: &mut Download, responses: &mut Responses, zeros: &Bytes) -> Result<(), String> {
    let Some((_, connection)) = peer.connection.as_mut() else { return Ok(()) };
    if let Ok(mut chunks) = connection.recv_stream(download.stream).read(true) {
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            download.left = Some(download.left.unwrap_or(0) + responses.take(&chunk.bytes));
        }
        let _ = chunks.finalize();
    }
    fill(connection, download, zeros, false)
}

fn fill(connection: &mut Connection, download: &mut Download, zeros: &Bytes, last: bool) -> Result<(), String> {
    let mut sink = connection.send_stream(download.stream);
    while let Some(left) = download.left.filter(|left| *left > 0) {
        let some = if left == ENDLESS { zeros.clone() } else { zeros.slice(..zeros.len().min(left as usize)) };
        match sink.write_chunks(&mut [some]) {
            Ok(written) if left != ENDLESS => download.left = Some(left - written.bytes as u64),
            Ok(_) => {}
            Err(WriteError::Blocked) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
        if last && download.left == Some(0) {
            sink.finish().map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
