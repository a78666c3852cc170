//! A lane of a trace: its curves as counters, what the device did as instants, ops that were measured as slices.

use serde_json::json;

use super::events::Writer;
use super::{CHUNK, Clock};
use crate::export::subject::{ExportError, ExportSubject};
use crate::progress::Progress;
use crate::sim::EventKind;
use crate::timeline::{Curve, RematMarkKind, TickClass, region_text, subject_text, tensor_label};
use crate::workload::Recording;

/// Threads of a lane.
const DEVICE: u64 = 1;
const BUDGET: u64 = 2;
/// Threads of measured ops begin here; ops that overlap stand on several.
const FIRST_OP: u64 = 10;
const MOST_OP_THREADS: usize = 64;

/// Adds a lane. O(steps + events).
pub(super) fn add(
    out: &mut Writer,
    (subject, lane): (&ExportSubject, usize),
    (pid, clock): (u64, &Clock<'_>),
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    let (row, view) = (&comparison.lanes[lane], &subject.timeline.lanes[lane]);
    let title = comparison.lane_title(row.id);
    let label = match row.id {
        crate::analysis::LaneId::Policy(policy) => format!("{title}: {}", policy.row().label),
        _ => title,
    };
    out.process(pid, pid, &label);
    let (states_reserved, states_live) = comparison.states(lane);
    let counters: [(&str, &Curve, bool); 5] = [
        ("reserved", &view.reserved, states_reserved),
        ("features reserved", &view.features, states_reserved),
        ("live", &view.live, states_live),
        ("in pages", &view.physical, view.physical.max() > 0),
        ("virtual ranges", &view.virtual_space, view.virtual_space.max() > 0),
    ];
    for (name, curve, _) in counters.into_iter().filter(|(.., is_there)| *is_there) {
        progress.check()?;
        counter(out, (pid, clock), (name, curve), comparison.axis.n_steps);
    }
    device(out, (subject, lane), (pid, clock), progress)?;
    budget(out, (subject, lane), (pid, clock));
    if clock.is_wall() {
        // All recordings count from the first event of any.
        let recordings = || comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
        let first = recordings().filter_map(|one| one.times.first()).min();
        if let Some((recording, first)) = comparison.recording(row.id).zip(first) {
            measured_ops(out, (recording, first.0), pid);
        }
    }
    Ok(())
}

/// A curve, wherever it changes, and at its end.
fn counter(out: &mut Writer, (pid, clock): (u64, &Clock<'_>), (name, curve): (&str, &Curve), n_steps: u32) {
    let mut last = None;
    for step in 0..n_steps {
        let value = curve.at(step);
        if last != Some(value) {
            out.counter(pid, clock.at(step), (name, value));
            last = Some(value);
        }
    }
    out.counter(pid, clock.at(n_steps), (name, last.unwrap_or(0)));
}

/// What an event is called, one alone; `None` for what is no call: tensors that come and go, and static graphs that run.
const fn event_name(kind: EventKind) -> Option<&'static str> {
    Some(match kind {
        EventKind::Alloc | EventKind::Free | EventKind::Run => return None,
        EventKind::DeviceMalloc => "malloc",
        EventKind::DeviceFree => "free",
        EventKind::Reallocate => "reallocate arena",
        EventKind::Reuse => "reuse arena",
        EventKind::Reserve => "reserve range",
        EventKind::Release => "release range",
        EventKind::PageAlloc => "allocate pages",
        EventKind::PageFree => "free pages",
        EventKind::Map => "map",
        EventKind::Unmap => "unmap",
        EventKind::Memset => "set to zero",
        EventKind::Sync => "wait for stream",
        EventKind::Recycle => "recycle pool",
        EventKind::Grant => "grant block",
        EventKind::Return => "return block",
        EventKind::Stitch => "stitch pages",
        EventKind::MemoryInUse => "memory in use",
        EventKind::Clear => "clear",
        EventKind::Unload => "unload graph",
        EventKind::Reload => "reload graph",
        EventKind::OutOfMemory => "out of memory",
    })
}

/// The device's calls, in the order of the log.
fn device(
    out: &mut Writer,
    (subject, lane): (&ExportSubject, usize),
    (pid, clock): (u64, &Clock<'_>),
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    let simulation = &comparison.lanes[lane].simulation;
    out.thread((pid, DEVICE), "device calls");
    let events = simulation.events.len() as u64;
    for (number, event) in (0_u64..).zip(&simulation.events) {
        if number % u64::from(CHUNK) == 0 {
            progress.set("writing device calls", number, events)?;
        }
        let (Some(name), Some(class)) = (event_name(event.kind), TickClass::of(event.kind)) else {
            continue;
        };
        let region = simulation.region(event.region);
        let args = json!({
            "step": event.step.0,
            "bytes": event.bytes.get(),
            "for": subject_text(comparison, simulation, simulation.subject(event.subject).who),
            "region": region_text(comparison.session_of(lane), (region.kind, region.graph)),
            "offset": event.offset,
        });
        let at = clock.at(event.step.0.min(comparison.axis.n_steps));
        out.instant((pid, DEVICE), at, (name, class.words()), &args);
    }
    Ok(())
}

/// What is evicted and computed anew under a budget.
fn budget(out: &mut Writer, (subject, lane): (&ExportSubject, usize), (pid, clock): (u64, &Clock<'_>)) {
    let comparison = &*subject.comparison;
    let Some(remat) = &subject.timeline.lanes[lane].remat else {
        return;
    };
    out.thread((pid, BUDGET), "evictions");
    counter(
        out,
        (pid, clock),
        ("in use, as the planner counts", &remat.usage),
        comparison.axis.n_steps,
    );
    for mark in &remat.marks {
        let name = match mark.kind {
            RematMarkKind::Evict => "evict",
            RematMarkKind::Rematerialize => "compute anew",
            RematMarkKind::Sibling => "back beside another",
            RematMarkKind::OutOfMemory => "out of memory",
            RematMarkKind::Thrash => "thrash",
        };
        let tensor = mark.tensor.map(|tensor| tensor_label(comparison, tensor).into_owned());
        let args = json!({"step": mark.step.0, "run": mark.run, "bytes": mark.bytes.get(), "tensor": tensor});
        out.instant((pid, BUDGET), clock.at(mark.step.0), (name, "budget"), &args);
    }
}

/// The ops of a recording that stands alone; those that overlap stand on threads of their own.
fn measured_ops(out: &mut Writer, (recording, first): (&Recording, u64), pid: u64) {
    let mut ops: Vec<_> = recording.ops.iter().filter(|op| op.start.0 >= first).collect();
    ops.sort_by_key(|op| (op.start, std::cmp::Reverse(op.time)));
    let mut ends: Vec<u64> = Vec::new();
    for op in ops {
        let (start, end) = (op.start.0 - first, (op.start.0 - first).saturating_add(op.time.0));
        let free = ends.iter().position(|known| *known <= start);
        let row = match free {
            Some(row) => row,
            None if ends.len() < MOST_OP_THREADS => {
                ends.push(0);
                let number = ends.len();
                out.thread((pid, FIRST_OP + number as u64), &format!("measured ops {number}"));
                number - 1
            }
            None => continue,
        };
        ends[row] = end;
        let args = json!({"type": recording.text(op.kind), "scratch_bytes": op.scratch.get()});
        let track = (pid, FIRST_OP + 1 + row as u64);
        out.slice(track, (start, end), (recording.text(op.name), "measured op"), &args);
    }
}
