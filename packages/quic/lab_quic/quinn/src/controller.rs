// SPDX-License-Identifier: GPL-2.0-or-later
//! quinn's controllers, watched: what each acknowledgement finds, each bin of SEARCH, and the exit from slow start.
//!
//! A core sits where the kernel's module has it: before CUBIC takes an acknowledgement in, so that growth stops with
//! the one that decided, and behind CUBIC's reaction to a loss. CUBIC keeps every other decision.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Bbr, BbrConfig, Controller, ControllerFactory, ControllerMetrics, Cubic, CubicConfig, NewReno, NewRenoConfig,
};

use crate::clock::Clock;
use crate::core::{Bin, Change, Core, Event, NO_THRESHOLD, Recipe};
use crate::log::Log;
use crate::rate::{Rate, Sent};

const INITIAL_PKTS: u64 = 10; // as Linux (RFC 6928)

#[derive(Clone)]
enum Inner {
    Cubic(Cubic),
    NewReno(NewReno),
    Bbr(Bbr),
}

#[derive(Clone)]
pub struct Watched {
    inner: Inner,
    core: Option<Core>, // around CUBIC, or alone
    owned: bool,        // the last ACK was the core's alone
    clock: Clock,
    log: Log,
    packet_bytes: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    batch: Vec<(Instant, u64)>, // sent, bytes: what one ACK frame newly acknowledges
    rtt: Option<RttEstimator>,
    recovery_start: Option<Instant>,
    left: bool, // the first slow start
    rate: Option<Rate>, // of a core that is alone
    pacing_bytes_per_s: Option<u64>,
}

/// Builds the controller of a connection.
pub struct Factory {
    pub name: String,
    pub core: Option<Recipe>,
    pub clock: Clock,
    pub log: Log,
}

impl Factory {
    /// A controller by its name, with parameters of its core; the reason where there is none.
    pub fn named(name: &str, params: &[(String, String)], clock: Clock, log: Log) -> Result<Self, String> {
        let own = matches!(name, "cubic" | "newreno" | "bbr");
        let mut core = if own { None } else { Some(Recipe::named(name)?) };
        match (&mut core, params) {
            (Some(core), params) => core.set(params)?,
            (None, [(param, value), ..]) => return Err(format!("{param}={value}: must be left out with {name}")),
            (None, []) => {}
        }
        Ok(Factory { name: name.into(), core, clock, log })
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let own_pkts = self.core.as_ref().and_then(Recipe::initial_pkts);
        let window = own_pkts.map_or(INITIAL_PKTS, u64::from) * u64::from(current_mtu);
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
        let core = self.core.as_ref().map(Recipe::begin);
        let rate = core.as_ref().filter(|core| core.alone()).map(|_| Rate::new(now));
        Box::new(Watched {
            inner,
            core,
            owned: false,
            clock: self.clock,
            log: self.log.clone(),
            packet_bytes: u64::from(current_mtu),
            sent_bytes: 0,
            delivered_bytes: 0,
            batch: Vec::new(),
            rtt: None,
            recovery_start: None,
            left: false,
            rate,
            pacing_bytes_per_s: None,
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
    fn note_ack(&self, now: Instant, ack: &Event, before_bytes: u64) {
        // Until there is an estimate, the first sample stands for it, and not the initial guess.
        let guessed = before_bytes == 0;
        let estimate = self.rtt.filter(|_| !guessed).map(|rtt| rtt.get());
        let srtt_ns = estimate.unwrap_or(Duration::from_micros(ack.rtt_us.into())).as_nanos();
        self.log.line(format_args!(
            "ack\t{}\t{}\t{}\t{srtt_ns}\t{}\t{before_bytes}\t{}\t{}\t{}\t{}",
            self.clock.ns(now),
            ack.window_bytes,
            ack.ssthresh_bytes,
            ack.rtt_us,
            ack.delivered_bytes,
            ack.sent_bytes,
            ack.flight_bytes,
            ack.limited,
        ));
    }

    fn note_bin(&self, now: Instant, found: &Bin) {
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

    /// What a core was fed, as `replay` reads it: until slow start and all that is the core's are over.
    fn note_event(&self, kind: &str, event: &Event) {
        let fields = event.fields().map(|each| each.to_string()).join(" ");
        self.log.line(format_args!("event\t{kind} {fields}"));
    }

    fn in_recovery(&self) -> bool {
        let newest = self.batch.last().map(|(sent, _)| *sent);
        newest.is_some_and(|sent| self.is_before_recovery(sent))
    }

    fn is_before_recovery(&self, sent: Instant) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    /// The state of the connection, for a core.
    fn event(&self, now: Instant, in_flight: u64) -> Event {
        Event {
            now_us: self.clock.ns(now) / 1000,
            delivered_bytes: self.delivered_bytes,
            sent_bytes: self.sent_bytes,
            flight_bytes: in_flight,
            window_bytes: self.inner().window(),
            ssthresh_bytes: self.ssthresh(),
            packet_bytes: self.packet_bytes as u32,
            ..Event::default()
        }
    }

    /// The ACK that is at its end.
    fn acked(&self, now: Instant, in_flight: u64, app_limited: bool, rtt: Duration) -> Event {
        let acked = |counts: &dyn Fn(Instant) -> bool| {
            self.batch.iter().filter(|(sent, _)| counts(*sent)).map(|(_, bytes)| bytes).sum::<u64>()
        };
        let acked_bytes = acked(&|_| true);
        Event {
            delivered_bytes: self.delivered_bytes + acked_bytes,
            acked_bytes,
            acked_before_bytes: acked(&|sent| self.is_before_recovery(sent)),
            rtt_us: rtt.as_micros().clamp(1, i32::MAX as u128) as u32,
            limited: app_limited.into(),
            in_recovery: self.in_recovery().into(),
            ..self.event(now, in_flight)
        }
    }

    fn apply(&mut self, now: Instant, change: &Change) {
        let Inner::Cubic(cubic) = &mut self.inner else { return };
        let or_as_it_is = |bytes: u64, present: u64| if bytes > 0 { bytes } else { present };
        let ssthresh = cubic.metrics().ssthresh.unwrap_or(NO_THRESHOLD);
        cubic.set(or_as_it_is(change.window_bytes, cubic.window()), or_as_it_is(change.ssthresh_bytes, ssthresh));
        if change.w_max_bytes > 0 {
            cubic.begin_epoch(now, change.w_max_bytes);
        }
        if change.recovery != 0 {
            self.recovery_start = Some(now);
        }
        if change.pacing_bytes_per_s > 0 {
            self.pacing_bytes_per_s = Some(change.pacing_bytes_per_s);
        }
    }

    /// Let the core judge an ACK; returns whether CUBIC still has to take it in.
    fn judge(&mut self, now: Instant, ack: &Event) -> bool {
        let Some(core) = &mut self.core else { return true };
        let (change, cause) = (core.on("ack", ack), core.cause());
        self.owned = change.own != 0;
        if !self.left || self.owned {
            self.note_event("ack", ack);
        }
        if let Some(bin) = change.bin() {
            self.note_bin(now, bin);
        }
        self.apply(now, &change);
        if change.exit != 0 {
            self.note_exit(now, ack.window_bytes, Some(Duration::from_micros(ack.rtt_us.into())), cause);
        }
        !self.owned
    }

    /// Let the core have its part of another event; of a loss, behind CUBIC's.
    fn judge_other(&mut self, now: Instant, kind: &str, event: &Event) {
        let noted = !self.left || self.owned;
        let Some(core) = &mut self.core else { return };
        let change = core.on(kind, event);
        if noted {
            self.note_event(kind, event);
        }
        self.apply(now, &change);
    }

    /// The event with what was noted as its newest packet was sent.
    fn with_sent(&self, event: Event, sent: Option<Sent>) -> Event {
        let Some(sent) = sent else { return event };
        Event {
            then_delivered_bytes: sent.delivered_bytes,
            then_lost_bytes: sent.lost_bytes,
            then_flight_bytes: sent.flight_bytes,
            then_limited: sent.limited.into(),
            srtt_us: self.rtt.map_or(0, |rtt| micros(rtt.get())),
            ..event
        }
    }

    /// The ACK, for a core that is alone with the sample that ends with it.
    fn sampled(&mut self, now: Instant, ack: Event, newest: Instant, in_flight: u64, app_limited: bool) -> Event {
        let Some(rate) = &mut self.rate else { return ack };
        let (sent, window_full) = (rate.of(newest), rate.full.into());
        let interval = sent.map_or(Duration::ZERO, |sent| rate.acked(now, &sent, in_flight, app_limited));
        Event { interval_us: micros(interval), window_full, ..self.with_sent(ack, sent) }
    }
}

fn micros(time: Duration) -> u32 {
    time.as_micros().try_into().unwrap_or(u32::MAX)
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        if self.rate.as_ref().is_some_and(Rate::restarts) {
            let event = self.event(now, 0);
            self.judge_other(now, "restart", &event);
        }
        self.sent_bytes += bytes;
        let (delivered_bytes, window_bytes, packet_bytes) = (self.delivered_bytes, self.window(), self.packet_bytes);
        if let Some(rate) = &mut self.rate {
            rate.sent(now, bytes, delivered_bytes, window_bytes, packet_bytes);
        }
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
        let rtt = now.saturating_duration_since(newest);
        let ack = self.acked(now, in_flight, app_limited, rtt);
        let ack = self.sampled(now, ack, newest, in_flight, app_limited);
        let before_bytes = std::mem::replace(&mut self.delivered_bytes, ack.delivered_bytes);
        self.note_ack(now, &ack, before_bytes);
        let take_in = self.judge(now, &ack);
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
        self.note_exit(now, ack.window_bytes, Some(rtt), own);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let window = self.inner().window();
        if self.recovery_start.is_none_or(|start| sent > start) {
            self.recovery_start = Some(now);
        }
        let noted = if let Some(rate) = &mut self.rate {
            rate.lost(lost_bytes);
            rate.of(sent)
        } else {
            self.inner_mut().on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
            None
        };
        let event = Event { lost_bytes, before_bytes: window, ..self.event(now, 0) };
        let event = self.with_sent(event, noted);
        self.judge_other(now, if is_persistent_congestion { "timeout" } else { "loss" }, &event);
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

    fn pacing_bytes_per_s(&self) -> Option<u64> {
        self.pacing_bytes_per_s
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
