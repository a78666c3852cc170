//! One reading of bytes, with its cost: allocations, bytes, progress checks, time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use highwater::analysis::{LaneSet, LaneStrategies, Request, compare, inspect, logged_arenas, logged_remarks};
use highwater::diagnostics::Diagnostics;
use highwater::graph::Bindings;
use highwater::import::{Imported, Importer, Input, import, import_as};
use highwater::options::{Environment, Options};
use highwater::progress::{Cancel, Progress};
use highwater::workload::{DeviceProfiles, SchedulePlan, Workload};

/// Search nodes: a comparison here is about robustness, not about good plans.
const SEARCH_NODES: u64 = 200;

/// Progress checks until a comparison is cancelled: mutated files may request very much, which is no fault.
const MOST_LOOKS: u64 = 20_000;

/// Cost of a reading.
#[derive(Debug)]
pub(crate) struct Reading {
    /// `None` after an error.
    pub(crate) imported: Option<Imported>,
    /// Allocations, and progress checks.
    pub(crate) work: u64,
    /// Peak bytes.
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
}

/// Imports bytes, by content where no importer is named, and counts the cost; `None` after a panic.
#[expect(clippy::disallowed_methods, reason = "this test is about time")]
pub(crate) fn read(row: Option<&'static Importer>, name: &str, bytes: &[u8]) -> Option<Reading> {
    let start = Instant::now();
    let looks = Cell::new(0_u64);
    let mut result = None;
    let counted = allocation_counter::measure(|| {
        let whole = || import_and_inspect(row, name, bytes, &looks);
        result = catch_unwind(AssertUnwindSafe(whole)).ok();
    });
    Some(Reading {
        imported: result?,
        work: counted.count_total + looks.get(),
        bytes: counted.bytes_max,
        time: start.elapsed(),
    })
}

fn import_and_inspect(row: Option<&'static Importer>, name: &str, bytes: &[u8], looks: &Cell<u64>) -> Option<Imported> {
    let cancel = Cancel::new();
    let count = |_: &'static str, _: f32| looks.set(looks.get() + 1);
    let progress = Progress::new(&cancel, &count);
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    let imported = match row {
        Some(row) => import_as(&mut input, Some(row), &progress).ok()?,
        None => import(&mut input, &progress).ok()?,
    };
    let workload = workload(name, imported);
    for recording in workload.recordings() {
        assert_eq!(recording.check(), Ok(()), "{}", recording.name);
    }
    // Once with open dimensions, once with a value for each.
    inspect(&workload, &Bindings::new());
    let symbols = workload.symbols();
    if !symbols.is_empty() {
        let bindings: Bindings = symbols.into_iter().map(|symbol| (symbol, 3)).collect();
        inspect(&workload, &bindings);
    }
    Some(Imported {
        format: "",
        source: workload.source,
        measured: workload.measured,
        diagnostics: Diagnostics::new(),
    })
}

fn workload(name: &str, imported: Imported) -> Workload {
    Workload {
        measured: imported.measured,
        ..Workload::new(name.to_owned(), imported.source)
    }
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
    let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
    let request = Request {
        workload: Arc::new(workload),
        plan,
        options: Options::default(),
        environment: Environment::default(),
        files: Arc::default(),
        device: profiles
            .find(DeviceProfiles::DEFAULT)
            .expect("the default profile is bundled"),
        policies: Vec::new(),
        strategies: LaneStrategies::default(),
        allocator_settings: Vec::new(),
        recording_rules: highwater::workload::RecordingRules::default(),
        lanes: LaneSet::Policies,
        search_nodes: SEARCH_NODES,
        pins: Vec::new(),
    };
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
