// SPDX-License-Identifier: GPL-2.0-or-later
//! The cores of the kernel's modules, in the one form of cores/quic_core.h: an event in, a change out.

use std::ffi::{CStr, CString, c_char, c_void};
use std::slice;

pub const NO_THRESHOLD: u64 = u64::MAX;
const MOST_PARAMS: usize = 32; // QUIC_MOST_PARAMS
const BIN_OPEN: u32 = 0; // enum search_verdict

/// Declares struct quic_event, and its values as one row of numbers.
macro_rules! event {
    ($($name:ident: $kind:ty,)*) => {
        #[repr(C)]
        #[derive(Clone, Copy, Default)]
        pub struct Event {
            $(pub $name: $kind,)*
        }

        impl Event {
            pub const COUNT: usize = [$(stringify!($name)),*].len();

            /// All values, in the order of the fields.
            pub fn fields(&self) -> [u64; Self::COUNT] {
                [$(self.$name.into()),*]
            }

            pub fn of(values: [u64; Self::COUNT]) -> Self {
                let mut values = values.into_iter();
                Event { $($name: values.next().expect("one for each field") as $kind),* }
            }
        }
    };
}

event! {
    now_us: u64,
    delivered_bytes: u64,
    sent_bytes: u64,
    acked_bytes: u64,
    acked_before_bytes: u64,
    lost_bytes: u64,
    flight_bytes: u64,
    window_bytes: u64,
    ssthresh_bytes: u64,
    packet_bytes: u32,
    rtt_us: u32,
    limited: u32,
    in_recovery: u32,
    before_bytes: u64,
    then_delivered_bytes: u64,
    then_lost_bytes: u64,
    then_flight_bytes: u64,
    then_limited: u32,
    interval_us: u32,
    srtt_us: u32,
    window_full: u32,
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
    pub pacing_bytes_per_s: u64,
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

type Hook = extern "C" fn(*mut u64, *const Event, *mut Change);

#[repr(C)]
struct Table {
    name: *const c_char,
    cause: *const c_char,
    params: *const Param,
    params_count: u32,
    iw_place: u32,
    alone: u32,
    initial: *const u32,
    state_bytes: extern "C" fn(*const u32) -> usize,
    begin: extern "C" fn(*mut u64, *const u32),
    on_ack: Hook,
    on_loss: Hook,
    on_timeout: Hook,
    on_restart: Option<Hook>,
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
        let rule = "must be cubic, newreno, bbr, or a core: hystartpp, rapid_start, careful_resume, bbr3, or a version of \
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

    /// Whether CUBIC takes no part.
    pub fn alone(&self) -> bool {
        self.recipe.table.alone != 0
    }

    /// What changes upon an event: an ack, a loss behind CUBIC's reaction, a timeout, or a restart.
    pub fn on(&mut self, kind: &str, event: &Event) -> Change {
        let mut change = Change::default();
        let table = self.recipe.table;
        let hook = match kind {
            "ack" => Some(table.on_ack),
            "loss" => Some(table.on_loss),
            "timeout" => Some(table.on_timeout),
            _ => table.on_restart,
        };
        if let Some(hook) = hook {
            hook(self.state.as_mut_ptr(), event, &mut change);
        }
        change
    }
}

fn text(constant: *const c_char) -> &'static str {
    // SAFETY: a constant of C, in ASCII.
    unsafe { CStr::from_ptr(constant) }.to_str().expect("ASCII")
}
