// SPDX-License-Identifier: GPL-2.0-or-later
//! One connection of quinn's protocol machine over one socket: no threads, and one wake-up per datagram or timer.

use std::fs::File;
use std::io::{self, BufWriter};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, QlogConfig, ServerConfig,
    TransportConfig, Transmit, VarInt,
};

use crate::clock::Clock;
use crate::udp::{Outgoing, Udp};

pub const WINDOW_BYTES: u32 = 1 << 30; // receive and send window: no link of the lab fills it

static ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn end(_signal: libc::c_int) {
    ENDED.store(true, Ordering::Relaxed);
}

/// Let SIGTERM end the loop, so that logs are whole.
pub fn end_upon_sigterm() {
    // SAFETY: the handler stores one atomic.
    unsafe { libc::signal(libc::SIGTERM, end as *const () as libc::sighandler_t) };
}

pub fn ended() -> bool {
    ENDED.load(Ordering::Relaxed)
}

/// What both ends agree on: datagrams of one size, no segmentation offload, no MTU discovery, no idle timeout.
pub fn transport(clock: &Clock, datagram_bytes: u16, qlog: &str) -> io::Result<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(datagram_bytes)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(WINDOW_BYTES))
        .send_window(WINDOW_BYTES.into());
    let mut log = QlogConfig::default();
    log.writer(Box::new(BufWriter::with_capacity(1 << 20, File::create(qlog)?))).start_time(clock.zero());
    config.qlog_stream(log.into_stream());
    Ok(config)
}

pub struct Peer {
    pub udp: Udp,
    pub clock: Clock,
    endpoint: Endpoint,
    pub connection: Option<(ConnectionHandle, Connection)>,
    out: Vec<u8>,
    batch: Vec<Outgoing>,
}

impl Peer {
    pub fn new(udp: Udp, clock: Clock, server: Option<Arc<ServerConfig>>) -> Self {
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), server, false, None);
        Peer { udp, clock, endpoint, connection: None, out: Vec::new(), batch: Vec::new() }
    }

    pub fn connect(&mut self, config: quinn_proto::ClientConfig, to: SocketAddr) -> Result<(), String> {
        let found = self.endpoint.connect(self.clock.now(), config, to, "lab").map_err(|error| error.to_string())?;
        self.connection = Some(found);
        Ok(())
    }

    /// Take one datagram in.
    pub fn take(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Result<(), String> {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, from, None, None, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(found) => self.connection = Some(found),
                    Err(error) => return Err(error.cause.to_string()),
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => self.queue(&transmit, &answer),
            None => {}
        }
        Ok(())
    }

    /// Serve the timers that are due, and what endpoint and connection have for each other.
    pub fn turn(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }

    pub fn event(&mut self) -> Option<Event> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll())
    }

    fn queue(&mut self, transmit: &Transmit, datagram: &[u8]) {
        let begin = self.out.len();
        self.out.extend_from_slice(&datagram[..transmit.size]);
        self.batch.push(Outgoing { to: transmit.destination, begin, end: begin + transmit.size });
    }

    /// Send all that the connection may send now; returns the size of each datagram.
    pub fn send(&mut self, now: Instant, mut each: impl FnMut(usize)) -> io::Result<()> {
        let mut datagram = Vec::new();
        while let Some(transmit) =
            self.connection.as_mut().and_then(|(_, connection)| connection.poll_transmit(now, 1, &mut datagram))
        {
            self.queue(&transmit, &datagram);
            datagram.clear();
        }
        self.udp.send(&self.out, &self.batch)?;
        for sent in self.batch.drain(..) {
            each(sent.end - sent.begin);
        }
        self.out.clear();
        Ok(())
    }

    /// Wait for a datagram, a timer of the connection, or another time.
    pub fn wait(&mut self, now: Instant, until: Option<Instant>) {
        let timer = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let due = timer.into_iter().chain(until).min();
        self.udp.wait(due.map(|due| due.saturating_duration_since(now)));
    }
}
