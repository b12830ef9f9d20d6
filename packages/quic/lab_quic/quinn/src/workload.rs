// SPDX-License-Identifier: GPL-2.0-or-later
//! A workload's two ends on one stream, as lab/node/traffic/workload_ends.py has them over TCP: a client that requests
//! objects when its plan says so, and a server that sends them. Each writes what it saw as that file's ends do.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use crate::clock::Clock;

const HEAD_BYTES: usize = 16; // bytes of the response, bytes of the request

struct Exchange {
    wait: Duration,
    media: Duration, // play in the responses
    sizes: Vec<u64>,
}

/// The client's part: what to request, and what has come.
pub struct Requests {
    clock: Clock,
    request_bytes: usize,
    buffer: Duration, // of play; 0: nothing is played
    exchanges: VecDeque<Exchange>,
    due: Option<Instant>, // when the next ones are requested; None: others are under way
    begun: Instant,
    media: Duration,
    ends: VecDeque<u64>, // where objects under way end on the stream
    requested_bytes: u64,
    had_bytes: u64, // without a gap
    behind: BTreeMap<u64, u64>, // pieces behind a gap: begin, end
    whole_ns: Vec<(u64, u64)>,
    empty: Option<Instant>, // when all that arrived is played
    stalled: Duration,
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split(' ').map(|word| word.parse().ok()).collect()
}

impl Requests {
    /// Read a plan: a line "REQUEST_BYTES BUFFER_NS", then a line "WAIT_NS MEDIA_NS SIZE..." for each exchange.
    pub fn read(file: &str, clock: Clock) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let mut lines = text.lines().map(numbers);
        let wrong = || format!("{file}: must be a workload's plan");
        let first = lines.next().flatten();
        let Some([request_bytes, buffer_ns]) = first.as_deref() else { return Err(wrong()) };
        let exchanges = lines.map(|line| match line.as_deref() {
            Some([wait_ns, media_ns, sizes @ ..]) => Some(Exchange {
                wait: Duration::from_nanos(*wait_ns),
                media: Duration::from_nanos(*media_ns),
                sizes: sizes.to_vec(),
            }),
            _ => None,
        });
        Ok(Requests {
            clock,
            request_bytes: (*request_bytes as usize).max(HEAD_BYTES),
            buffer: Duration::from_nanos(*buffer_ns),
            exchanges: exchanges.collect::<Option<_>>().ok_or_else(wrong)?,
            due: None,
            begun: clock.now(),
            media: Duration::ZERO,
            ends: VecDeque::new(),
            requested_bytes: 0,
            had_bytes: 0,
            behind: BTreeMap::new(),
            whole_ns: Vec::new(),
            empty: None,
            stalled: Duration::ZERO,
        })
    }

    /// All before is whole: the next requests leave after their pause, and once a player has room for their play.
    pub fn schedule(&mut self, now: Instant) {
        self.due = self.exchanges.front().map(|next| {
            let room = self.empty.filter(|_| !self.buffer.is_zero());
            let room = room.map_or(now, |empty| (empty + next.media).checked_sub(self.buffer).unwrap_or(now));
            room.max(now + next.wait)
        });
    }

    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The requests that are due.
    pub fn next(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.due.filter(|due| *due <= now)?;
        let exchange = self.exchanges.pop_front()?;
        (self.due, self.begun, self.media) = (None, now, exchange.media);
        let mut bytes = Vec::new();
        for size in exchange.sizes {
            self.requested_bytes += size;
            self.ends.push_back(self.requested_bytes);
            let end = bytes.len() + self.request_bytes;
            bytes.extend(size.to_be_bytes());
            bytes.extend((self.request_bytes as u64).to_be_bytes());
            bytes.resize(end, 0);
        }
        Some(bytes)
    }

    /// A new piece of the stream has come.
    pub fn got(&mut self, now: Instant, begin: u64, bytes: usize) {
        self.behind.insert(begin, begin + bytes as u64);
        while let Some(first) = self.behind.first_entry().filter(|first| *first.key() <= self.had_bytes) {
            self.had_bytes = self.had_bytes.max(first.remove());
        }
        let under_way = !self.ends.is_empty();
        while self.ends.front().is_some_and(|end| *end <= self.had_bytes) {
            self.ends.pop_front();
            self.whole_ns.push((self.clock.ns(self.begun), self.clock.ns(now)));
        }
        if under_way && self.ends.is_empty() {
            self.play(now);
            self.schedule(now);
        }
    }

    fn play(&mut self, now: Instant) {
        if let Some(empty) = self.empty.filter(|_| !self.media.is_zero()) {
            self.stalled += now.saturating_duration_since(empty);
        }
        self.empty = Some(self.empty.map_or(now, |empty| empty.max(now)) + self.media);
    }

    pub fn whole(&self) -> bool {
        self.exchanges.is_empty() && self.ends.is_empty()
    }

    pub fn write(&self, file: &str) -> Result<(), String> {
        let whole = pairs(self.whole_ns.iter().copied());
        let stalled_s = self.stalled.as_secs_f64();
        let text = format!("{{\"whole_ns\": [{whole}], \"stalled_s\": {stalled_s:?}}}");
        fs::write(file, text).map_err(|error| format!("{file}: {error}"))
    }
}

/// The server's part: what was requested, and when its application was the limit.
pub struct Responses {
    asked: Vec<u8>,
    limited_ns: Vec<(u64, u64)>,
    samples: u64,
    busy_since: Option<u64>,
    busy_ns: u64,
}

impl Responses {
    pub fn new() -> Self {
        Responses { asked: Vec::new(), limited_ns: Vec::new(), samples: 0, busy_since: None, busy_ns: 0 }
    }

    /// Take requests in; returns how many bytes they ask for.
    pub fn take(&mut self, bytes: &[u8]) -> u64 {
        self.asked.extend_from_slice(bytes);
        let mut response_bytes = 0;
        while let Some((response, request)) = self.head().filter(|(_, request)| self.asked.len() >= *request) {
            self.asked.drain(..request);
            response_bytes += response;
        }
        response_bytes
    }

    fn head(&self) -> Option<(u64, usize)> {
        let (response, rest) = self.asked.split_first_chunk::<8>()?;
        let (request, _) = rest.split_first_chunk::<8>()?;
        Some((u64::from_be_bytes(*response), (u64::from_be_bytes(*request) as usize).max(HEAD_BYTES)))
    }

    /// Note whether the application is the limit, where that has changed; `busy`: data are to send or in flight.
    pub fn note(&mut self, ns: u64, limited: bool, busy: bool) {
        self.samples += 1;
        if self.limited_ns.last().is_none_or(|(_, last)| *last != u64::from(limited)) {
            self.limited_ns.push((ns, limited.into()));
        }
        match (self.busy_since, busy) {
            (None, true) => self.busy_since = Some(ns),
            (Some(since), false) => {
                self.busy_ns += ns - since;
                self.busy_since = None;
            }
            _ => {}
        }
    }

    /// Neither window is ever the limit: both are larger than a trial's data.
    pub fn write(&self, file: &str, ns: u64) -> Result<(), String> {
        let busy_us = (self.busy_ns + self.busy_since.map_or(0, |since| ns - since)) / 1000;
        let text = format!(
            "{{\"limited_ns\": [{}], \"samples\": {}, \"busy_us\": {busy_us}, \"rwnd_limited_us\": 0, \
             \"sndbuf_limited_us\": 0}}",
            pairs(self.limited_ns.iter().copied()),
            self.samples,
        );
        fs::write(file, text).map_err(|error| format!("{file}: {error}"))
    }
}

fn pairs(rows: impl Iterator<Item = (u64, u64)>) -> String {
    rows.fold(String::new(), |mut text, (first, second)| {
        let comma = if text.is_empty() { "" } else { ", " };
        write!(text, "{comma}[{first}, {second}]").expect("memory");
        text
    })
}
