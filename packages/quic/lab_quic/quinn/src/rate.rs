// SPDX-License-Identifier: GPL-2.0-or-later
//! What was delivered, lost and in flight as packets were sent, and samples of the delivery rate from that
//! (draft-ietf-ccwg-bbr, "Delivery Rate Samples"), for a core that is alone.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const MOST_MOMENTS: usize = 1 << 16; // of sending, that are kept

/// What was noted for the packets that were sent at one moment: of the last of them.
#[derive(Clone, Copy)]
pub struct Sent {
    at: Instant,
    first_at: Instant,     // P.first_send_time
    delivered_at: Instant, // P.delivered_time
    pub delivered_bytes: u64,
    pub lost_bytes: u64,
    pub flight_bytes: u64,
    pub limited: bool,
}

#[derive(Clone)]
pub struct Rate {
    moments: VecDeque<Sent>,
    first_at: Instant,
    delivered_at: Instant,
    lost_bytes: u64,
    flight_bytes: u64,
    min_rtt: Duration,
    limited: bool,  // by the application, at the last ACK
    pub full: bool, // since then, the window had no room for a packet more
}

impl Rate {
    pub fn new(now: Instant) -> Self {
        Rate {
            moments: VecDeque::new(),
            first_at: now,
            delivered_at: now,
            lost_bytes: 0,
            flight_bytes: 0,
            min_rtt: Duration::MAX,
            limited: false,
            full: false,
        }
    }

    /// Whether an application that was the limit sends again with nothing in flight.
    pub fn restarts(&self) -> bool {
        self.limited && self.flight_bytes == 0 && !self.moments.is_empty()
    }

    pub fn sent(&mut self, now: Instant, bytes: u64, delivered_bytes: u64, window_bytes: u64, packet_bytes: u64) {
        if self.flight_bytes == 0 {
            (self.first_at, self.delivered_at) = (now, now);
        }
        self.flight_bytes += bytes;
        self.full |= self.flight_bytes + packet_bytes >= window_bytes;
        let sent = Sent {
            at: now,
            first_at: self.first_at,
            delivered_at: self.delivered_at,
            delivered_bytes,
            lost_bytes: self.lost_bytes,
            flight_bytes: self.flight_bytes,
            limited: self.limited,
        };
        match self.moments.back_mut().filter(|last| last.at == now) {
            Some(last) => *last = sent,
            None => self.moments.push_back(sent),
        }
        if self.moments.len() > MOST_MOMENTS {
            self.moments.pop_front();
        }
    }

    /// What was noted then.
    pub fn of(&self, sent: Instant) -> Option<Sent> {
        let place = self.moments.partition_point(|moment| moment.at < sent);
        self.moments.get(place).copied().filter(|moment| moment.at == sent)
    }

    pub fn lost(&mut self, bytes: u64) {
        self.lost_bytes += bytes;
        self.flight_bytes = self.flight_bytes.saturating_sub(bytes);
    }

    /// Take an ACK in; returns the interval of the sample that ends with its newest packet, or zero.
    pub fn acked(&mut self, now: Instant, newest: &Sent, flight_bytes: u64, limited: bool) -> Duration {
        let interval = (newest.at - newest.first_at).max(now - newest.delivered_at);
        self.min_rtt = self.min_rtt.min(now - newest.at);
        (self.first_at, self.delivered_at) = (newest.at, now);
        (self.flight_bytes, self.limited, self.full) = (flight_bytes, limited, false);
        if interval < self.min_rtt { Duration::ZERO } else { interval }
    }
}
