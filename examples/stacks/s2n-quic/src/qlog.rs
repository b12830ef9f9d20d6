// SPDX-License-Identifier: GPL-2.0-or-later

//! Writes a qlog from s2n-quic's events, which has no writer of its own: JSON-SEQ, version 0.3.

use std::fmt::Arguments;
use std::fs::File;
use std::io::{BufWriter, Result, Write};

use s2n_quic::provider::event::events::{
    BbrStateChanged, ConnectionStarted, PacketLost, PacketReceived, PacketSent, RecoveryMetrics, SlowStartExitCause,
    SlowStartExited,
};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};

const MISSING: &str = "s2n-quic reports no threshold, of CUBIC's states the exits of slow start alone (neither the end of \
                       a recovery nor the slow start after persistent congestion), and the client's first packet \
                       as the begin of a connection";

/// The qlog of a server with one connection; what is buffered is written as it is dropped.
pub struct Qlog(BufWriter<File>);

impl Qlog {
    /// Begin a file.
    pub fn create(path: &str) -> Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        let head = format_args!(r#""qlog_version":"0.3","qlog_format":"JSON-SEQ","description":"{MISSING}""#);
        writeln!(file, "\x1e{{{head},\"trace\":{{\"vantage_point\":{{\"type\":\"server\"}}}}}}")?;
        Ok(Self(file))
    }

    fn write(&mut self, meta: &ConnectionMeta, name: &str, data: Arguments) {
        let ms = meta.timestamp.duration_since_start().as_micros() as f64 / 1e3;
        writeln!(self.0, "\x1e{{\"time\":{ms},\"name\":\"{name}\",\"data\":{{{data}}}}}").expect("the qlog");
    }

    fn state(&mut self, meta: &ConnectionMeta, new: &str, cause: &str) {
        let data = format_args!(r#""new":"{new}","trigger":"{cause}""#);
        self.write(meta, "recovery:congestion_state_updated", data);
    }
}

impl Subscriber for Qlog {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_connection_started(&mut self, _: &mut (), meta: &ConnectionMeta, _: &ConnectionStarted) {
        self.write(meta, "transport:packet_received", format_args!("")); // the client's first: no event of its own
        self.state(meta, "slow_start", "start");
    }

    fn on_packet_sent(&mut self, _: &mut (), meta: &ConnectionMeta, event: &PacketSent) {
        let data = format_args!(r#""raw":{{"length":{}}}"#, event.packet_len);
        self.write(meta, "transport:packet_sent", data);
    }

    fn on_packet_received(&mut self, _: &mut (), meta: &ConnectionMeta, event: &PacketReceived) {
        let data = format_args!(r#""raw":{{"length":{}}}"#, event.packet_len);
        self.write(meta, "transport:packet_received", data);
    }

    fn on_packet_lost(&mut self, _: &mut (), meta: &ConnectionMeta, event: &PacketLost) {
        let data = format_args!(r#""raw":{{"length":{}}}"#, event.bytes_lost);
        self.write(meta, "recovery:packet_lost", data);
    }

    fn on_recovery_metrics(&mut self, _: &mut (), meta: &ConnectionMeta, event: &RecoveryMetrics) {
        let (window, flight) = (event.congestion_window, event.bytes_in_flight);
        let [least, smoothed, latest] =
            [event.min_rtt, event.smoothed_rtt, event.latest_rtt].map(|rtt| rtt.as_micros() as f64 / 1e3);
        let data = format_args!(
            r#""congestion_window":{window},"bytes_in_flight":{flight},"min_rtt":{least},"smoothed_rtt":{smoothed},"latest_rtt":{latest}"#
        );
        self.write(meta, "recovery:metrics_updated", data);
    }

    fn on_slow_start_exited(&mut self, _: &mut (), meta: &ConnectionMeta, event: &SlowStartExited) {
        let (new, cause) = match event.cause {
            SlowStartExitCause::PacketLoss { .. } => ("recovery", "packet_loss"),
            SlowStartExitCause::Ecn { .. } => ("recovery", "ecn"),
            SlowStartExitCause::Rtt { .. } => ("congestion_avoidance", "rtt"),
            _ => ("congestion_avoidance", "other"),
        };
        self.state(meta, new, cause);
    }

    fn on_bbr_state_changed(&mut self, _: &mut (), meta: &ConnectionMeta, event: &BbrStateChanged) {
        self.state(meta, &format!("{:?}", event.state).to_lowercase(), "");
    }
}
