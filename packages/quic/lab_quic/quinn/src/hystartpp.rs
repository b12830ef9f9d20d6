// SPDX-License-Identifier: GPL-2.0-or-later
//! HyStart++ (RFC 9406): the core of the kernel's module (lab/kernel/search/hystartpp_core.c).

#[repr(C)]
struct Params {
    min_rtt_thresh_us: u32,
    max_rtt_thresh_us: u32,
    min_rtt_divisor: u32,
    n_rtt_sample: u32,
    css_growth_divisor: u32,
    css_rounds: u32,
    l_pkts: u32,
}

/// The values of RFC 9406, section 4.3.
const PARAMS: Params = Params {
    min_rtt_thresh_us: 4000,
    max_rtt_thresh_us: 16000,
    min_rtt_divisor: 8,
    n_rtt_sample: 8,
    css_growth_divisor: 4,
    css_rounds: 5,
    l_pkts: 8,
};
const EXIT: u32 = 2; // enum hystartpp_phase

#[repr(C)]
#[derive(Clone, Default)]
struct State {
    window_end: u32,
    last_round_min_rtt_us: u32,
    current_round_min_rtt_us: u32,
    css_baseline_min_rtt_us: u32,
    counts: [u8; 4],
}

#[link(name = "search", kind = "static", modifiers = "+whole-archive")]
unsafe extern "C" {
    fn hystartpp_start(state: *mut State, snd_nxt: u32);
    fn hystartpp_on_ack(state: *mut State, params: *const Params, snd_una: u32, snd_nxt: u32, rtt_us: u32) -> u32;
    fn hystartpp_growth_pkts(state: *mut State, params: *const Params, acked_pkts: u32, paced: bool) -> u32;
}

#[derive(Clone)]
pub struct HyStartPp {
    state: State,
}

impl HyStartPp {
    pub fn new() -> Self {
        let mut state = State::default();
        // SAFETY: one State.
        unsafe { hystartpp_start(&mut state, 0) };
        HyStartPp { state }
    }

    /// Account an ACK: how many packets the window grows by, or None where slow start is over.
    ///
    /// Bytes delivered and sent stand for the sequence numbers: in a first slow start nothing is lost, so they agree.
    /// quinn paces, so an ACK may add as much as it acknowledges.
    pub fn on_ack(&mut self, delivered_bytes: u64, sent_bytes: u64, rtt_us: u32, acked_pkts: u32) -> Option<u32> {
        // SAFETY: one State, and PARAMS are within their ranges.
        unsafe {
            let phase = hystartpp_on_ack(&mut self.state, &PARAMS, delivered_bytes as u32, sent_bytes as u32, rtt_us);
            (phase != EXIT).then(|| hystartpp_growth_pkts(&mut self.state, &PARAMS, acked_pkts, true))
        }
    }
}
