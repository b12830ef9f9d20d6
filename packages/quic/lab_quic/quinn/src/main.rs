// SPDX-License-Identifier: GPL-2.0-or-later
//! lab-quic: the two ends of a QUIC download in a trial of the lab.
//!
//!     lab-quic serve port=5201 controller=search datagram_bytes=1472 log=FILE qlog=FILE
//!     lab-quic get ADDRESS port=5201 seconds=20 [bytes=N] [client_port=N] datagram_bytes=1472 log=FILE qlog=FILE
//!     lab-quic replay CORE [parameter=value...] < EVENTS
//!     lab-quic params CORE
//!
//! With workload=FILE objects=FILE the client requests objects by that plan, and writes when they were whole; then the
//! server has objects=FILE, too. `serve` takes parameters of the controller's core as options, too.
//!
//! An error is one line in place of the result, and exit status 1.

mod client;
mod clock;
mod controller;
mod core;
mod log;
mod peer;
mod rate;
mod replay;
mod server;
mod tls;
mod udp;
mod workload;

use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;

pub const REQUEST_BYTES: usize = 8; // a download's size, big-endian
pub const ENDLESS: u64 = u64::MAX;

#[derive(Default)]
pub struct Options {
    port: u16,
    client_port: u16,
    controller: String,
    params: Vec<(String, String)>, // of the controller's core
    datagram_bytes: u16,
    seconds: u64,
    bytes: u64,
    key: u8,
    log: String,
    qlog: String,
    workload: String, // the plan of a workload's client; empty: a download
    objects: String,  // what an end writes of a workload
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name}={value}: must be a whole number within its range"))
}

fn params(words: &[String]) -> Result<Vec<(String, String)>, String> {
    words.iter().map(|word| pair(word).map(|(name, value)| (name.into(), value.into()))).collect()
}

fn pair(word: &str) -> Result<(&str, &str), String> {
    word.split_once('=').ok_or(format!("{word}: must be an option, name=value"))
}

fn options(words: &[String]) -> Result<Options, String> {
    let mut found = Options::default();
    for word in words {
        let (name, value) = pair(word)?;
        match name {
            "port" => found.port = number(name, value)?,
            "client_port" => found.client_port = number(name, value)?,
            "datagram_bytes" => found.datagram_bytes = number(name, value)?,
            "seconds" => found.seconds = number(name, value)?,
            "bytes" => found.bytes = number(name, value)?,
            "key" => found.key = number(name, value)?,
            "controller" => found.controller = value.into(),
            "log" => found.log = value.into(),
            "qlog" => found.qlog = value.into(),
            "workload" => found.workload = value.into(),
            "objects" => found.objects = value.into(),
            _ => found.params.push((name.into(), value.into())),
        }
    }
    if found.datagram_bytes < 1200 {
        return Err(format!("datagram_bytes={}: must be at least 1200 (RFC 9000, section 14)", found.datagram_bytes));
    }
    Ok(found)
}

fn work(words: &[String]) -> Result<(), String> {
    peer::end_upon_sigterm();
    match words {
        [command, rest @ ..] if command == "serve" => server::serve(&options(rest)?),
        [command, address, rest @ ..] if command == "get" => {
            let options = options(rest)?;
            if let Some((name, _)) = options.params.first() {
                return Err(format!("{name}: must be an option of lab-quic get"));
            }
            let address: IpAddr = address.parse().map_err(|_| format!("{address}: must be an IP address"))?;
            client::get(&options, SocketAddr::new(address, options.port))
        }
        [command, core, rest @ ..] if command == "replay" => replay::replay(core, &params(rest)?),
        [command, core] if command == "params" => replay::params(core),
        _ => Err("must be serve, get, replay or params, with options".into()),
    }
}

fn main() -> ExitCode {
    match work(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("lab-quic: {error}"); // where the result would stand: the node reads one stream
            ExitCode::FAILURE
        }
    }
}
