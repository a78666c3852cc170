//! One reading of bytes, with its cost: allocations, bytes, progress checks, time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cpu_time::ThreadTime;
use highwater::analysis::{compare, logged_arenas, logged_remarks};
use highwater::import::Imported;
use highwater::progress::{Cancel, Progress};
use highwater::workload::SchedulePlan;

use crate::request::request;
use crate::targets::{Readable, Target, workload};

/// Progress checks until a comparison is cancelled: mutated files may request very much, which is no fault.
const MOST_LOOKS: u64 = 20_000;

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

/// Compares a workload under every policy; `false` after a panic. An error is an answer.
pub(crate) fn compared(imported: Imported) -> bool {
    let workload = workload("mutated", imported);
    let logged = workload.recordings().to_vec();
    let workload = workload.with_logged_graphs();
    let mut plan = SchedulePlan::default();
    for symbol in workload.symbols() {
        plan.dims.insert(symbol, vec![2]);
    }
    let request = request(workload, plan);
    let cancel = Cancel::new();
    let looks = Cell::new(0_u64);
    let count = |_: &'static str, _: f32| {
        looks.set(looks.get() + 1);
        if looks.get() > MOST_LOOKS {
            cancel.cancel();
        }
    };
    let progress = Progress::new(&cancel, &count);
    let all = || {
        drop(logged_remarks(&logged_arenas(&logged), &progress));
        drop(compare(&request, &progress));
    };
    catch_unwind(AssertUnwindSafe(all)).is_ok()
}
