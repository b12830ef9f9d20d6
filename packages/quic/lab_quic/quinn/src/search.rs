// SPDX-License-Identifier: GPL-2.0-or-later
//! SEARCH: the core that the kernel's modules run (lab/kernel/search/search_core.c), called as they call it.

use std::ffi::{CString, c_char};

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Params {
    pub window_factor_tenths: u32,
    pub bins: u32,
    pub extra_bins: u32,
    pub threshold_pct: u32,
    pub expected: u32,
    pub interpolation: u32,
    pub skip_equal: u32,
    pub unchecked: u32,
    pub history: u32,
    pub end_closes: u32,
    pub missed_bins_max: u32,
    pub long_rtt: u32,
    pub restart_rtt_pct: u32,
    pub restart_next: u32,
    pub app_limited: u32,
    pub in_recovery: u32,
    pub again: u32,
    pub epoch_blind_ms: u32,
    pub on_exit: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Ack {
    pub now_us: u64,
    pub delivered_bytes: u64,
    pub sent_bytes: u64,
    pub rtt_us: u32,
    pub limited: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Decision {
    pub bin: i64,
    pub curr_delv_bytes: u64,
    pub prev_delv_bytes: u64,
    pub expected_bytes: u64,
    pub last_rtt_bytes: u64,
    pub last_two_rtt_bytes: u64,
    pub norm_permille: i64,
    pub rtt_us: u32,
    pub bin_us: u32,
    pub verdict: u32,
    pub reserved: u32,
}

pub const BIN_OPEN: u32 = 0; // enum search_verdict
pub const EXIT: u32 = 8;
const LIMITED_NEVER: u32 = 0; // enum search_app_limited
const AGAIN_NEW: u32 = 0; // enum search_again
const AGAIN_NEVER: u32 = 2;
const ROLL_BACK: u32 = 1; // enum search_on_exit
const DRAIN: u32 = 2;

#[link(name = "search", kind = "static", modifiers = "+whole-archive")]
unsafe extern "C" {
    fn search_version_named(name: *const c_char, params: *mut Params, compact: *mut bool) -> bool;
    fn search_state_bytes(params: *const Params) -> usize;
    fn search_setup(state: *mut u64, params: *const Params);
    fn search_reset(state: *mut u64, delivered_bytes: u64);
    fn search_on_ack(state: *mut u64, ack: *const Ack, decision: *mut Decision) -> u32;
    fn search_exit_pkts(params: *const Params, decision: *const Decision, cwnd_pkts: u32, mss_bytes: u32) -> u32;
}

/// One flow's SEARCH; its state has no pointers, so a copy is another flow's.
#[derive(Clone)]
pub struct Search {
    params: Params,
    state: Vec<u64>,
    stopped: bool,
}

/// A window and a slow start threshold, in bytes.
#[derive(Clone, Copy)]
pub struct Left {
    pub window: u64,
    pub ssthresh: u64,
}

impl Search {
    /// A version by its name in lab/kernel/search/tcp_search*.c; an error where QUIC's sender cannot be it.
    pub fn named(name: &str) -> Result<Self, String> {
        let (mut params, mut compact) = (Params::default(), false);
        let c_name = CString::new(name).map_err(|_| "a name without a NUL".to_string())?;
        // SAFETY: the core writes one Params and one bool.
        if !unsafe { search_version_named(c_name.as_ptr(), &mut params, &mut compact) } {
            return Err(format!("controller={name}: must be cubic, newreno, bbr, hystartpp or a version of SEARCH"));
        }
        if compact || params.epoch_blind_ms != 0 || params.on_exit == DRAIN {
            return Err(format!("controller={name}: must not be bound to the kernel's sockets: try search"));
        }
        // SAFETY: params are of a version; the state gets the bytes that it asks for, aligned as u64.
        let state = unsafe {
            let mut state = vec![0u64; search_state_bytes(&params).div_ceil(8)];
            search_setup(state.as_mut_ptr(), &params);
            state
        };
        Ok(Search { params, state, stopped: false })
    }

    pub fn measures_in_recovery(&self) -> bool {
        self.params.in_recovery != 0
    }

    pub fn reset(&mut self, delivered_bytes: u64) {
        self.stopped = false;
        // SAFETY: the state was set up.
        unsafe { search_reset(self.state.as_mut_ptr(), delivered_bytes) };
    }

    /// The flow is out of slow start.
    pub fn stop(&mut self, delivered_bytes: u64) {
        match self.params.again {
            AGAIN_NEW => self.reset(delivered_bytes),
            AGAIN_NEVER => self.stopped = true,
            _ => {}
        }
    }

    /// Account an ACK of a flow in slow start; returns the decision where a bin ended.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<Decision> {
        if self.stopped {
            return None;
        }
        let mut ack = *ack;
        if self.params.app_limited == LIMITED_NEVER {
            ack.limited = 0;
        }
        let mut decision = Decision::default();
        // SAFETY: the state was set up; the core writes one Decision.
        let verdict = unsafe { search_on_ack(self.state.as_mut_ptr(), &ack, &mut decision) };
        (verdict != BIN_OPEN).then_some(decision)
    }

    /// With which window and threshold an exit leaves slow start.
    pub fn leave(&mut self, decision: &Decision, window: u64, packet_bytes: u64) -> Left {
        let pkts = (window / packet_bytes) as u32;
        // SAFETY: both are read only.
        let kept = unsafe { search_exit_pkts(&self.params, decision, pkts, packet_bytes as u32) };
        let ssthresh = if kept == pkts { window } else { u64::from(kept) * packet_bytes };
        if self.params.again == AGAIN_NEVER {
            self.stopped = true;
        }
        Left { window: if self.params.on_exit == ROLL_BACK { ssthresh } else { window }, ssthresh }
    }
}
