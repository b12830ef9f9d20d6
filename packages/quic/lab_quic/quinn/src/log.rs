// SPDX-License-Identifier: GPL-2.0-or-later
//! What an end records for the tables: a line a row, its kind first, times in nanoseconds of CLOCK_MONOTONIC.

use std::fmt::Arguments;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};

#[derive(Clone)]
pub struct Log(Arc<Mutex<BufWriter<File>>>);

impl Log {
    pub fn create(path: &str) -> std::io::Result<Self> {
        Ok(Log(Arc::new(Mutex::new(BufWriter::with_capacity(1 << 20, File::create(path)?)))))
    }

    pub fn line(&self, line: Arguments<'_>) {
        let mut file = self.0.lock().expect("one thread");
        file.write_fmt(line).and_then(|()| file.write_all(b"\n")).expect("room for the log");
    }

    pub fn flush(&self) {
        self.0.lock().expect("one thread").flush().expect("room for the log");
    }
}
