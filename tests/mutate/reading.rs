//! One reading of bytes, with its cost: allocations, bytes, progress checks, time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::targets::{Readable, Target};

/// Cost of a reading.
#[derive(Debug)]
pub(crate) struct Reading {
    /// `None` after an error.
    pub(crate) readable: Option<Readable>,
    /// Allocations, and progress checks.
    pub(crate) work: u64,
    /// Peak bytes.
    pub(crate) bytes: u64,
    /// Processor time.
    pub(crate) time: Duration,
}

/// Reads bytes by a target, and counts the cost; `None` after a panic.
pub(crate) fn read(target: Target, name: &str, bytes: &[u8]) -> Option<Reading> {
    // Of this thread alone: the machine may be busy.
    let start = ThreadTime::now();
    let looks = Cell::new(0_u64);
    let mut result = None;
    let counted = allocation_counter::measure(|| {
        result = catch_unwind(AssertUnwindSafe(|| target.read(name, bytes, &looks))).ok();
    });
    Some(Reading {
        readable: result?,
        work: counted.count_total + looks.get(),
        bytes: counted.bytes_max,
        time: start.elapsed(),
    })
}
