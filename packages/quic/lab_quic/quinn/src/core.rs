// SPDX-License-Identifier: GPL-2.0-or-later
//! The cores of the kernel's modules, in the one form of cores/quic_core.h: an event in, a change out.

use std::ffi::{CStr, CString, c_char, c_void};
use std::slice;

pub const NO_THRESHOLD: u64 = u64::MAX;
const MOST_PARAMS: usize = 32; // QUIC_MOST_PARAMS
const BIN_OPEN: u32 = 0; // enum search_verdict

/// struct quic_event
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub now_us: u64,
    pub delivered_bytes: u64,
    pub sent_bytes: u64,
    pub acked_bytes: u64,
    pub acked_before_bytes: u64,
    pub lost_bytes: u64,
    pub flight_bytes: u64,
    pub window_bytes: u64,
    pub ssthresh_bytes: u64,
    pub packet_bytes: u32,
    pub rtt_us: u32,
    pub limited: u32,
    pub in_recovery: u32,
}

impl Event {
    /// All values, in the order of the fields.
    pub fn fields(&self) -> [u64; 13] {
        [
            self.now_us,
            self.delivered_bytes,
            self.sent_bytes,
            self.acked_bytes,
            self.acked_before_bytes,
            self.lost_bytes,
            self.flight_bytes,
            self.window_bytes,
            self.ssthresh_bytes,
            self.packet_bytes.into(),
            self.rtt_us.into(),
            self.limited.into(),
            self.in_recovery.into(),
        ]
    }

    pub fn of(values: [u64; 13]) -> Self {
        let [now_us, delivered_bytes, sent_bytes, acked_bytes, acked_before_bytes, lost_bytes, ..] = values;
        let [.., flight_bytes, window_bytes, ssthresh_bytes, packet_bytes, rtt_us, limited, in_recovery] = values;
        Event {
            now_us,
            delivered_bytes,
            sent_bytes,
            acked_bytes,
            acked_before_bytes,
            lost_bytes,
            flight_bytes,
            window_bytes,
            ssthresh_bytes,
            packet_bytes: packet_bytes as u32,
            rtt_us: rtt_us as u32,
            limited: limited as u32,
            in_recovery: in_recovery as u32,
        }
    }
}

/// struct search_decision
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Bin {
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

/// struct quic_change
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Change {
    pub bin: Bin,
    pub window_bytes: u64,
    pub ssthresh_bytes: u64,
    pub w_max_bytes: u64,
    pub own: u32,
    pub exit: u32,
    pub recovery: u32,
    pub reserved: u32,
}

impl Change {
    /// The end of a bin, where one ended.
    pub fn bin(&self) -> Option<&Bin> {
        (self.bin.verdict != BIN_OPEN).then_some(&self.bin)
    }
}

#[repr(C)]
struct Param {
    name: *const c_char,
    place: u32,
    min: u32,
    max: u32,
}

#[repr(C)]
struct Table {
    name: *const c_char,
    cause: *const c_char,
    params: *const Param,
    params_count: u32,
    iw_place: u32,
    initial: *const u32,
    state_bytes: extern "C" fn(*const u32) -> usize,
    begin: extern "C" fn(*mut u64, *const u32),
    on_ack: extern "C" fn(*mut u64, *const Event, *mut Change),
    on_loss: extern "C" fn(*mut u64, *const Event, u64, *mut Change),
    on_timeout: extern "C" fn(*mut u64, *const Event),
}

// SAFETY: constants of C.
unsafe impl Sync for Table {}

#[link(name = "cores", kind = "static", modifiers = "+whole-archive")]
unsafe extern "C" {
    fn quic_core_named(name: *const c_char, params: *mut u32) -> *const c_void;
}

/// A core with its parameters, of no connection yet.
#[derive(Clone)]
pub struct Recipe {
    table: &'static Table,
    params: [u32; MOST_PARAMS],
}

/// One connection's core; its state has no pointers, so a copy is another connection's.
#[derive(Clone)]
pub struct Core {
    recipe: Recipe,
    state: Vec<u64>,
}

impl Recipe {
    /// A core by the name of its module's algorithm; an error where there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let mut params = [0; MOST_PARAMS];
        let c_name = CString::new(name).map_err(|_| "controller: must be a name without a NUL".to_string())?;
        // SAFETY: at most MOST_PARAMS numbers are written; tables are constants of C.
        let table = unsafe { quic_core_named(c_name.as_ptr(), params.as_mut_ptr()).cast::<Table>().as_ref() };
        let rule = "must be cubic, newreno, bbr, or a core: hystartpp, rapid_start, careful_resume, or a version of \
                    SEARCH that is not bound to the kernel's sockets, such as search";
        Ok(Recipe { table: table.ok_or(format!("controller={name}: {rule}"))?, params })
    }

    fn known(&self) -> &'static [Param] {
        // SAFETY: constants of C.
        unsafe { slice::from_raw_parts(self.table.params, self.table.params_count as usize) }
    }

    /// Set parameters, given as name and value.
    pub fn set(&mut self, given: &[(String, String)]) -> Result<(), String> {
        for (name, value) in given {
            let param = self.known().iter().find(|param| text(param.name) == name).ok_or_else(|| {
                let names = self.known().iter().map(|param| text(param.name)).collect::<Vec<_>>();
                format!("{name}={value}: must be a parameter of the controller: {}", names.join(", "))
            })?;
            self.params[param.place as usize] =
                value.parse().ok().filter(|number| (param.min..=param.max).contains(number)).ok_or_else(|| {
                    format!("{name}={value}: must be a whole number from {} to {}", param.min, param.max)
                })?;
        }
        Ok(())
    }

    /// Each parameter's name, value and range.
    pub fn params(&self) -> impl Iterator<Item = (&'static str, u32, u32, u32)> + '_ {
        self.known().iter().map(|param| (text(param.name), self.params[param.place as usize], param.min, param.max))
    }

    /// The initial window that the core has of its own.
    pub fn initial_pkts(&self) -> Option<u32> {
        self.params.get(self.table.iw_place as usize).copied()
    }

    pub fn begin(&self) -> Core {
        let mut state = vec![0; (self.table.state_bytes)(self.params.as_ptr()).div_ceil(8)];
        (self.table.begin)(state.as_mut_ptr(), self.params.as_ptr());
        Core { recipe: self.clone(), state }
    }
}

impl Core {
    /// By what the core's own rule ends slow start.
    pub fn cause(&self) -> &'static str {
        text(self.recipe.table.cause)
    }

    pub fn on_ack(&mut self, event: &Event) -> Change {
        let mut change = Change::default();
        (self.recipe.table.on_ack)(self.state.as_mut_ptr(), event, &mut change);
        change
    }

    /// A loss; `before_bytes` is the window before CUBIC's reaction, the event has the one after it.
    pub fn on_loss(&mut self, event: &Event, before_bytes: u64) -> Change {
        let mut change = Change::default();
        (self.recipe.table.on_loss)(self.state.as_mut_ptr(), event, before_bytes, &mut change);
        change
    }

    pub fn on_timeout(&mut self, event: &Event) {
        (self.recipe.table.on_timeout)(self.state.as_mut_ptr(), event);
    }
}

fn text(constant: *const c_char) -> &'static str {
    // SAFETY: a constant of C, in ASCII.
    unsafe { CStr::from_ptr(constant) }.to_str().expect("ASCII")
}
