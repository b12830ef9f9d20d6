// SPDX-License-Identifier: GPL-2.0-or-later
//! The receiver: asks for a download, and records each datagram with the part of the stream that was new in it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::{ClientConfig, Dir, Event, StreamId, VarInt};

use crate::clock::Clock;
use crate::log::Log;
use crate::peer::{Peer, ended, transport};
use crate::tls;
use crate::udp::Udp;
use crate::workload::Requests;
use crate::{ENDLESS, Options};

const HANDSHAKE: Duration = Duration::from_secs(25);

struct Download {
    stream: Option<StreamId>,
    bytes: u64,
    first: Option<Instant>,
    last: Option<Instant>,
    whole: bool,
    requests: Option<Requests>, // of a workload
}

/// Download, and print what was received as JSON.
pub fn get(options: &Options, server: SocketAddr) -> Result<(), String> {
    let clock = Clock::new();
    let log = Log::create(&options.log).map_err(|error| format!("{}: {error}", options.log))?;
    let shared = transport(&clock, options.datagram_bytes, &options.qlog).map_err(|error| error.to_string())?;
    let crypto = tls::client(options.key).map_err(|error| error.to_string())?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(shared));
    let udp = Udp::bind(options.client_port).map_err(|error| format!("port={}: {error}", options.client_port))?;
    let mut peer = Peer::new(udp, clock, None);
    let until = clock.now() + HANDSHAKE;
    peer.connect(config, server)?;
    let workload = (!options.workload.is_empty()).then_some(&options.workload);
    let requests = workload.map(|file| Requests::read(file, clock)).transpose()?;
    let mut download = Download { stream: None, bytes: 0, first: None, last: None, whole: false, requests };
    let done = run(&mut peer, &log, options, until, &mut download);
    log.flush();
    done?;
    if let Some(requests) = &download.requests {
        requests.write(&options.objects)?;
    }
    let seconds = match (download.first, download.last) {
        (Some(first), Some(last)) => last.saturating_duration_since(first).as_secs_f64(),
        _ => 0.0,
    };
    let first_ns = download.first.map_or(0, |first| clock.ns(first));
    let (bytes, whole) = (download.bytes, download.whole);
    println!("{{\"bytes\": {bytes}, \"seconds\": {seconds:?}, \"whole\": {whole}, \"first_ns\": {first_ns}}}");
    Ok(())
}

fn run(peer: &mut Peer, log: &Log, options: &Options, handshake: Instant, download: &mut Download) -> Result<(), String> {
    while !ended() {
        let now = peer.clock.now();
        let mut taken = Vec::new();
        while peer.udp.receive(|from, datagram| taken.push((from, datagram.to_vec()))).map_err(|e| e.to_string())? {}
        for (from, datagram) in &taken {
            peer.take(now, *from, datagram)?;
            log.line(format_args!("got\t{}\t{}", peer.clock.ns(now), datagram.len()));
            read(peer, download, now, log)?;
        }
        peer.turn(now);
        while let Some(event) = peer.event() {
            match event {
                Event::Connected => ask(peer, download, options, now)?,
                Event::ConnectionLost { reason } => return Err(reason.to_string()),
                _ => {}
            }
        }
        request(peer, download, now)?;
        let end = download.first.map(|first| first + Duration::from_secs(options.seconds));
        let due = end.unwrap_or(handshake);
        let over = download.whole || now >= due;
        if let (true, Some((_, connection))) = (over, peer.connection.as_mut()) {
            connection.close(now, VarInt::from_u32(0), "done".into());
        }
        let ns = peer.clock.ns(now);
        peer.send(now, |bytes| log.line(format_args!("sent\t{ns}\t{bytes}"))).map_err(|error| error.to_string())?;
        if over {
            let late = download.first.is_none();
            return if late { Err(format!("no handshake within {} s", HANDSHAKE.as_secs())) } else { Ok(()) };
        }
        let next = download.requests.as_ref().and_then(Requests::due);
        peer.wait(now, Some(next.map_or(due, |next| next.min(due))));
    }
    Ok(())
}

fn ask(peer: &mut Peer, download: &mut Download, options: &Options, now: Instant) -> Result<(), String> {
    let Some((_, connection)) = peer.connection.as_mut() else { return Ok(()) };
    let stream = connection.streams().open(Dir::Bi).ok_or("the server must allow a stream")?;
    download.stream = Some(stream);
    if let Some(requests) = &mut download.requests {
        requests.schedule(now);
        return Ok(());
    }
    let asked = if options.bytes > 0 { options.bytes } else { ENDLESS };
    let mut sink = connection.send_stream(stream);
    sink.write(&asked.to_be_bytes()).map_err(|error| error.to_string())?;
    sink.finish().map_err(|error| error.to_string())?;
    Ok(())
}

/// Send the requests of a workload that are due.
fn request(peer: &mut Peer, download: &mut Download, now: Instant) -> Result<(), String> {
    let (Some(requests), Some(stream)) = (&mut download.requests, download.stream) else { return Ok(()) };
    download.whole = requests.whole();
    let (Some((_, connection)), Some(bytes)) = (peer.connection.as_mut(), requests.next(now)) else { return Ok(()) };
    match connection.send_stream(stream).write(&bytes) {
        Ok(written) if written == bytes.len() => Ok(()),
        Ok(written) => Err(format!("requests={}: must fit the stream's window: {written} do", bytes.len())),
        Err(error) => Err(error.to_string()),
    }
}

/// Read what a datagram brought, and record each new piece of the stream: data sent again may stand beside new ones.
fn read(peer: &mut Peer, download: &mut Download, now: Instant, log: &Log) -> Result<(), String> {
    let (Some((_, connection)), Some(stream)) = (peer.connection.as_mut(), download.stream) else { return Ok(()) };
    let mut source = connection.recv_stream(stream);
    let Ok(mut chunks) = source.read(false) else { return Ok(()) };
    let mut new = 0;
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => {
                log.line(format_args!("piece\t{}\t{}", chunk.offset, chunk.bytes.len()));
                new += chunk.bytes.len();
                if let Some(requests) = &mut download.requests {
                    requests.got(now, chunk.offset, chunk.bytes.len());
                }
            }
            Ok(None) => {
                download.whole = true;
                break;
            }
            Err(quinn_proto::ReadError::Blocked) => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    let _ = chunks.finalize();
    if new > 0 {
        download.bytes += new as u64;
        download.first.get_or_insert(now);
        download.last = Some(now);
    }
    Ok(())
}
