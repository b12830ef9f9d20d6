// SPDX-License-Identifier: GPL-2.0-or-later
//! A core as QUIC's sender links it, over a recorded stream of events: for the tests that all senders decide the same.

use std::io::{BufRead, stdin};

use crate::core::{Change, Event, Recipe};

const KINDS: [&str; 4] = ["ack", "loss", "timeout", "restart"];

/// Read lines "KIND EVENT...", as a server's log has them, and print each change that is one as a line.
pub fn replay(name: &str, params: &[(String, String)]) -> Result<(), String> {
    let mut recipe = Recipe::named(name)?;
    recipe.set(params)?;
    let mut core = recipe.begin();
    for (number, line) in stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let (kind, event) = read(&line)
            .ok_or(format!("line={}: must be {}, and {} whole numbers", number + 1, KINDS.join("|"), Event::COUNT))?;
        print(number, &core.on(kind, &event));
    }
    Ok(())
}

fn read(line: &str) -> Option<(&str, Event)> {
    let (kind, rest) = line.split_once(' ').filter(|(kind, _)| KINDS.contains(kind))?;
    let values = rest.split(' ').map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some((kind, Event::of(values.try_into().ok()?)))
}

fn print(number: usize, change: &Change) {
    let none = Change { own: change.own, ..Change::default() };
    let words = |change: &Change| {
        let bin = &change.bin;
        format!(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            change.window_bytes,
            change.ssthresh_bytes,
            change.w_max_bytes,
            change.exit,
            change.pacing_bytes_per_s,
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
