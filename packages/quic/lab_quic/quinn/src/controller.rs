// SPDX-License-Identifier: GPL-2.0-or-later
//! quinn's controllers, watched: what each acknowledgement finds, each bin of SEARCH, and the exit from slow start.
//!
//! SEARCH and HyStart++ sit where the kernel's modules have them: before CUBIC takes an acknowledgement in, so that
//! growth stops with the one that decided. CUBIC keeps every other decision.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Bbr, BbrConfig, Controller, ControllerFactory, ControllerMetrics, Cubic, CubicConfig, NewReno, NewRenoConfig,
};

use crate::clock::Clock;
use crate::hystartpp::HyStartPp;
use crate::log::Log;
use crate::search::{Ack, Decision, EXIT, Left, Search};

pub const NO_THRESHOLD: u64 = u64::MAX;
const INITIAL_PKTS: u64 = 10; // as Linux (RFC 6928)

#[derive(Clone)]
enum Inner {
    Cubic(Cubic),
    NewReno(NewReno),
    Bbr(Bbr),
}

/// What ends CUBIC's slow start before a loss does.
#[derive(Clone)]
enum Rule {
    None,
    Search(Search),
    HyStartPp(HyStartPp),
}

#[derive(Clone)]
pub struct Watched {
    inner: Inner,
    rule: Rule,
    clock: Clock,
    log: Log,
    packet_bytes: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    batch: Vec<(Instant, u64)>, // sent, bytes: what one ACK frame newly acknowledges
    rtt: Option<RttEstimator>,
    recovery_start: Option<Instant>,
    left: bool, // the first slow start
}

/// Builds the controller of a connection.
pub struct Factory {
    pub name: String,
    pub clock: Clock,
    pub log: Log,
}

impl Factory {
    /// Whether there is a controller of this name; the reason where there is none.
    pub fn check(&self) -> Result<(), String> {
        self.rule().map(drop)
    }

    fn rule(&self) -> Result<Rule, String> {
        Ok(match self.name.as_str() {
            "cubic" | "newreno" | "bbr" => Rule::None,
            "hystartpp" => Rule::HyStartPp(HyStartPp::new()),
            version => Rule::Search(Search::named(version)?),
        })
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let window = INITIAL_PKTS * u64::from(current_mtu);
        let inner = match self.name.as_str() {
            "newreno" => {
                let mut config = NewRenoConfig::default();
                config.initial_window(window);
                Inner::NewReno(NewReno::new(Arc::new(config), now, current_mtu))
            }
            "bbr" => {
                let mut config = BbrConfig::default();
                config.initial_window(window);
                Inner::Bbr(Bbr::new(Arc::new(config), current_mtu))
            }
            _ => {
                let mut config = CubicConfig::default();
                config.initial_window(window);
                Inner::Cubic(Cubic::new(Arc::new(config), now, current_mtu))
            }
        };
        Box::new(Watched {
            inner,
            rule: self.rule().expect("checked at the start"),
            clock: self.clock,
            log: self.log.clone(),
            packet_bytes: u64::from(current_mtu),
            sent_bytes: 0,
            delivered_bytes: 0,
            batch: Vec::new(),
            rtt: None,
            recovery_start: None,
            left: false,
        })
    }
}

impl Watched {
    fn inner(&self) -> &dyn Controller {
        match &self.inner {
            Inner::Cubic(cubic) => cubic,
            Inner::NewReno(reno) => reno,
            Inner::Bbr(bbr) => bbr,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Controller {
        match &mut self.inner {
            Inner::Cubic(cubic) => cubic,
            Inner::NewReno(reno) => reno,
            Inner::Bbr(bbr) => bbr,
        }
    }

    fn ssthresh(&self) -> u64 {
        self.inner().metrics().ssthresh.unwrap_or(NO_THRESHOLD)
    }

    fn in_slow_start(&self) -> bool {
        match &self.inner {
            Inner::Bbr(bbr) => bbr.in_startup(),
            _ => self.inner().window() < self.ssthresh(),
        }
    }

    /// Record the end of the first slow start; `window` is the one before it.
    fn note_exit(&mut self, now: Instant, window: u64, rtt: Option<Duration>, cause: &str) {
        if self.left || self.in_slow_start() {
            return;
        }
        self.left = true;
        let rtt_us = rtt.map_or(0, |rtt| rtt.as_micros());
        let (ns, ssthresh) = (self.clock.ns(now), self.ssthresh());
        self.log.line(format_args!("exit\t{ns}\t{window}\t{ssthresh}\t{rtt_us}\t{cause}"));
    }

    /// Before the ACK is taken in, as tcp_probe shows a socket.
    fn note_ack(&self, now: Instant, ack: &Ack, in_flight: u64) {
        // Until there is an estimate, the first sample stands for it, and not the initial guess.
        let guessed = self.delivered_bytes == 0;
        let estimate = self.rtt.filter(|_| !guessed).map(|rtt| rtt.get());
        let srtt_ns = estimate.unwrap_or(Duration::from_micros(ack.rtt_us.into())).as_nanos();
        self.log.line(format_args!(
            "ack\t{}\t{}\t{}\t{srtt_ns}\t{}\t{}\t{}\t{}\t{in_flight}\t{}",
            self.clock.ns(now),
            self.inner().window(),
            self.ssthresh(),
            ack.rtt_us,
            self.delivered_bytes,
            ack.delivered_bytes,
            ack.sent_bytes,
            ack.limited,
        ));
    }

    fn note_bin(&self, now: Instant, found: &Decision) {
        self.log.line(format_args!(
            "bin\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.clock.ns(now),
            self.inner().window(),
            self.ssthresh(),
            found.bin,
            found.rtt_us,
            found.bin_us,
            found.curr_delv_bytes,
            found.prev_delv_bytes,
            found.norm_permille,
            found.verdict,
        ));
    }

    fn in_recovery(&self) -> bool {
        let newest = self.batch.last().map(|(sent, _)| *sent);
        matches!((newest, self.recovery_start), (Some(sent), Some(start)) if sent <= start)
    }

    /// SEARCH's part of an ACK (tcp_search_update of lab/kernel/search/tcp_search.h); returns the exit.
    fn search(&mut self, now: Instant, ack: &Ack) -> Option<Left> {
        let (blind, slow_start, window) = (self.in_recovery(), self.in_slow_start(), self.inner().window());
        let (packet_bytes, delivered) = (self.packet_bytes, self.delivered_bytes);
        let Rule::Search(search) = &mut self.rule else { return None };
        if blind && !search.measures_in_recovery() {
            return None;
        }
        if !slow_start {
            search.stop(delivered);
            return None;
        }
        let decision = search.on_ack(ack)?;
        let left = (decision.verdict == EXIT).then(|| search.leave(&decision, window, packet_bytes));
        self.note_bin(now, &decision);
        left
    }

    /// Let the rule judge an ACK; returns whether CUBIC still has to take it in.
    fn judge(&mut self, now: Instant, ack: &Ack, acked_bytes: u64) -> bool {
        let window = self.inner().window();
        let rtt = Some(Duration::from_micros(ack.rtt_us.into()));
        if let Some(left) = self.search(now, ack) {
            if let Inner::Cubic(cubic) = &mut self.inner {
                cubic.leave_slow_start(left.window, left.ssthresh);
            }
            self.note_exit(now, window, rtt, "search");
            return true;
        }
        let initial = self.ssthresh() == NO_THRESHOLD && self.recovery_start.is_none();
        let acked_pkts = acked_bytes.div_ceil(self.packet_bytes) as u32;
        let (Rule::HyStartPp(rule), Inner::Cubic(cubic)) = (&mut self.rule, &mut self.inner) else { return true };
        if !initial {
            return true;
        }
        match rule.on_ack(ack.delivered_bytes, ack.sent_bytes, ack.rtt_us, acked_pkts) {
            Some(_) if ack.limited != 0 => {}
            Some(pkts) => cubic.grow((u64::from(pkts) * self.packet_bytes).min(acked_bytes)),
            None => {
                cubic.leave_slow_start(window, window);
                self.note_exit(now, window, rtt, "hystartpp");
                return true;
            }
        }
        false
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.sent_bytes += bytes;
        self.inner_mut().on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        self.batch.push((sent, bytes));
        self.rtt = Some(*rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let Some(&(newest, _)) = self.batch.last() else {
            self.inner_mut().on_end_acks(now, in_flight, app_limited, largest);
            return;
        };
        let acked_bytes = self.batch.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let rtt = now.saturating_duration_since(newest);
        let ack = Ack {
            now_us: self.clock.ns(now) / 1000,
            delivered_bytes: self.delivered_bytes + acked_bytes,
            sent_bytes: self.sent_bytes,
            rtt_us: rtt.as_micros().clamp(1, i32::MAX as u128) as u32,
            limited: app_limited.into(),
        };
        let window = self.inner().window();
        self.note_ack(now, &ack, in_flight);
        self.delivered_bytes = ack.delivered_bytes;
        let take_in = self.judge(now, &ack, acked_bytes);
        let (batch, estimate) = (std::mem::take(&mut self.batch), self.rtt.expect("set with the batch"));
        if take_in {
            for (sent, bytes) in &batch {
                self.inner_mut().on_ack(now, *sent, *bytes, app_limited, &estimate);
            }
        }
        self.inner_mut().on_end_acks(now, in_flight, app_limited, largest);
        self.batch = batch;
        self.batch.clear();
        let own = if matches!(self.inner, Inner::Bbr(_)) { "bbr" } else { "other" };
        self.note_exit(now, window, Some(rtt), own);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let window = self.inner().window();
        if self.recovery_start.is_none_or(|start| sent > start) {
            self.recovery_start = Some(now);
        }
        self.inner_mut().on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let delivered = self.delivered_bytes;
        if let (true, Rule::Search(search)) = (is_persistent_congestion, &mut self.rule) {
            search.reset(delivered);
        }
        let rtt = self.rtt.map(|rtt| rtt.get());
        self.note_exit(now, window, rtt, if is_persistent_congestion { "timeout" } else { "loss" });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.packet_bytes = new_mtu.into();
        self.inner_mut().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner().metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.inner().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
