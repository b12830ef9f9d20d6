// SPDX-License-Identifier: GPL-2.0-or-later
//! SEARCH as QUIC's sender links it, over a recorded stream of ACKs: for the test that all senders decide the same.

use std::io::{BufRead, stdin};

use crate::search::{Ack, EXIT, Search};

/// Read lines "now_us rtt_us delivered_bytes sent_bytes limited reset", and print each decision as a line.
pub fn replay(version: &str) -> Result<(), String> {
    let mut search = Search::named(version)?;
    for (number, line) in stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let values = line.split_ascii_whitespace().map(str::parse::<i64>).collect::<Result<Vec<_>, _>>();
        let Ok([now_us, rtt_us, delivered, sent, limited, reset]) = values.as_deref() else {
            return Err(format!("line={}: must be six whole numbers", number + 1));
        };
        let ack = Ack {
            now_us: *now_us as u64,
            delivered_bytes: *delivered as u64,
            sent_bytes: *sent as u64,
            rtt_us: *rtt_us as u32,
            limited: *limited as u32,
        };
        if *reset != 0 {
            search.reset(ack.delivered_bytes);
        }
        let Some(found) = (*rtt_us > 0).then(|| search.on_ack(&ack)).flatten() else { continue };
        println!(
            "{number} {} {} {} {} {} {} {} {} {} {}",
            found.bin,
            found.curr_delv_bytes,
            found.prev_delv_bytes,
            found.expected_bytes,
            found.last_rtt_bytes,
            found.last_two_rtt_bytes,
            found.norm_permille,
            found.rtt_us,
            found.bin_us,
            found.verdict,
        );
        if found.verdict == EXIT {
            break;
        }
    }
    Ok(())
}
