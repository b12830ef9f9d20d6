// SPDX-License-Identifier: GPL-2.0-or-later
//! One clock: CLOCK_MONOTONIC in nanoseconds, as the kernel's trace has it, and quinn's `Instant`.

use std::time::{Duration, Instant};

/// In the virtual kernel each reading of a clock takes 256 ns, so each wake-up reads it once.
#[derive(Clone, Copy)]
pub struct Clock {
    origin: Instant,
    origin_ns: u64,
}

impl Clock {
    pub fn new() -> Self {
        Clock { origin: Instant::now(), origin_ns: monotonic_ns() }
    }

    pub fn now(&self) -> Instant {
        self.origin + Duration::from_nanos(monotonic_ns().saturating_sub(self.origin_ns))
    }

    /// Nanoseconds of CLOCK_MONOTONIC.
    pub fn ns(&self, at: Instant) -> u64 {
        self.origin_ns + at.saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// The instant from which qlog's times count: the clock's zero, so that they are CLOCK_MONOTONIC in milliseconds.
    pub fn zero(&self) -> Instant {
        self.origin.checked_sub(Duration::from_nanos(self.origin_ns)).unwrap_or(self.origin)
    }
}

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
