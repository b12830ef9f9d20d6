// SPDX-License-Identifier: GPL-2.0-or-later
//! A core as QUIC's sender links it, over a recorded stream of events: for the tests that all senders decide the same.

use std::io::{BufRead, stdin};

use crate::core::{Change, Event, Recipe};

/// Read lines "KIND EVENT... BEFORE", as a server's log has them, and print each change that is one as a line.
pub fn replay(name: &str, params: &[(String, String)]) -> Result<(), String> {
    let mut recipe = Recipe::named(name)?;
    recipe.set(params)?;
    let mut core = recipe.begin();
    for (number, line) in stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let (kind, event, before_bytes) =
            read(&line).ok_or(format!("line={}: must be ack, loss or timeout, and 14 whole numbers", number + 1))?;
        let change = match kind {
            "ack" => core.on_ack(&event),
            "loss" => core.on_loss(&event, before_bytes),
            _ => {
                core.on_timeout(&event);
                continue;
            }
        };
        print(number, &change);
    }
    Ok(())
}

fn read(line: &str) -> Option<(&str, Event, u64)> {
    let (kind, rest) = line.split_once(' ').filter(|(kind, _)| ["ack", "loss", "timeout"].contains(kind))?;
    let values = rest.split(' ').map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let (before_bytes, event) = values.split_last()?;
    Some((kind, Event::of(event.try_into().ok()?), *before_bytes))
}

fn print(number: usize, change: &Change) {
    let none = Change { own: change.own, ..Change::default() };
    let words = |change: &Change| {
        let bin = &change.bin;
        format!(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            change.window_bytes,
            change.ssthresh_bytes,
            change.w_max_bytes,
            change.exit,
            bin.bin,
            bin.curr_delv_bytes,
            bin.prev_delv_bytes,
            bin.expected_bytes,
            bin.last_rtt_bytes,
            bin.last_two_rtt_bytes,
            bin.norm_permille,
            bin.rtt_us,
            bin.bin_us,
            bin.verdict,
        )
    };
    if words(change) != words(&none) {
        println!("{number} {}", words(change));
    }
}

/// Print each parameter of a core: its name, value and range.
pub fn params(name: &str) -> Result<(), String> {
    for (name, value, min, max) in Recipe::named(name)?.params() {
        println!("{name} {value} {min} {max}");
    }
    Ok(())
}
