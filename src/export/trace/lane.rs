//! A lane of a trace: curves as counters, device calls as instants, measured ops as slices.

use std::collections::BTreeMap;

use serde_json::json;

use super::CHUNK;
use super::clock::{Clock, InOrder};
use super::events::{Track, Writer, quoted};
use crate::subject::{ExportError, ExportSubject};
use highwater_analysis::LaneId;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::Recording;
use highwater_sim::fold::StepBytes;
use highwater_sim::{Event, EventKind, Simulation};
use highwater_timeline::{RematMarkKind, TickClass, region_text, subject_text, tensor_label};

const DEVICE: u64 = 1;
const BUDGET: u64 = 2;
/// Threads from here on have measured ops; ops that overlap have several threads.
const FIRST_OP: u64 = 10;
const MOST_OP_THREADS: usize = 64;
/// Threads from here on have annotations.
const FIRST_ANNOTATION: u64 = FIRST_OP + MOST_OP_THREADS as u64;

/// A lane, written as one process.
pub(super) struct LaneTrace<'a, 'w> {
    pub(super) out: &'a mut Writer<'w>,
    pub(super) subject: &'a ExportSubject,
    pub(super) lane: usize,
    pub(super) process: u64,
    pub(super) clock: &'a Clock<'a>,
}

impl LaneTrace<'_, '_> {
    /// O(steps + events).
    pub(super) fn add(&mut self, progress: &Progress<'_>) -> Result<(), ExportError> {
        let (comparison, lane) = (&*self.subject.comparison, self.lane);
        let row = &comparison.lanes[lane];
        let title = comparison.lane_title(row.id);
        let label = match row.id {
            LaneId::Policy(policy) => format!("{title}: {}", policy.row().label),
            LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => title,
        };
        self.out.process(self.process, self.process, &label);
        let (states_reserved, states_live) = comparison.states(lane);
        let curves = &row.curves;
        let is_any = |curve: &StepBytes| curve.first_maximum().0 > Bytes::ZERO;
        let counters: [(&str, &StepBytes, bool); 5] = [
            ("reserved", &curves.reserved, states_reserved),
            ("features reserved", &curves.features, states_reserved),
            ("live", &curves.live, states_live),
            ("in pages", &curves.physical, is_any(&curves.physical)),
            ("virtual ranges", &curves.virtual_space, is_any(&curves.virtual_space)),
        ];
        for (name, curve, _) in counters.into_iter().filter(|(.., is_there)| *is_there) {
            progress.check()?;
            self.counter(name, curve.iter().map(|bytes| bytes.get()));
        }
        self.device(progress)?;
        self.budget();
        self.annotations();
        if self.clock.is_wall() {
            // The time of all recordings starts with the first event of any.
            let recordings = || comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
            let first = recordings().filter_map(|one| one.times.first()).min();
            if let Some((recording, first)) = comparison.recording(row.id).zip(first) {
                self.measured_ops(recording, first.0);
            }
        }
        Ok(())
    }

    /// The changes of a curve, and its end.
    fn counter(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let n_steps = self.subject.comparison.axis.n_steps;
        let name = quoted(name);
        let mut last = None;
        // Curves end in zeros.
        for (step, value) in (0..n_steps).zip(values.chain(std::iter::repeat(0))) {
            if last != Some(value) {
                self.out.counter(self.process, self.clock.at(step), &name, value);
                last = Some(value);
            }
        }
        let end = self.clock.at(n_steps);
        self.out.counter(self.process, end, &name, last.unwrap_or(0));
    }

    const fn track(&self, thread: u64) -> Track {
        Track {
            process: self.process,
            thread,
        }
    }

    fn device(&mut self, progress: &Progress<'_>) -> Result<(), ExportError> {
        let comparison = &*self.subject.comparison;
        let track = self.track(DEVICE);
        let simulation = &comparison.lanes[self.lane].simulation;
        self.out.thread(track, "device calls");
        let most = simulation.events.len() as u64;
        let mut places = InOrder::default();
        for (number, (event, name, class)) in (0_u64..).zip(calls(simulation)) {
            if number % u64::from(CHUNK) == 0 {
                progress.set("writing device calls", number, most)?;
            }
            let region = simulation.region_of(&event);
            let region = region.map(|one| region_text(comparison.session_of(self.lane), one.kind, one.graph));
            let args = json!({
                "step": event.step.0,
                "bytes": event.bytes.get(),
                "for": subject_text(comparison, simulation, simulation.subject(event.subject).subject),
                "region": region,
                "offset": event.offset,
            });
            let at = places.next(self.clock, event.step.0);
            self.out.instant(track, at, name, class.words(), &args);
        }
        Ok(())
    }

    /// Phases of a recording; those that overlap have several threads.
    fn annotations(&mut self) {
        let comparison = &*self.subject.comparison;
        let lane = &comparison.lanes[self.lane];
        let Some((recorded, recording)) = lane.recorded.as_ref().zip(comparison.recording(lane.id)) else {
            return;
        };
        // The end of the last slice by row: phases of several events may share a step.
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        for (phase, row) in recording.phases.iter().zip(recording.phase_rows()) {
            let Some(row) = row else { continue };
            let track = self.track(FIRST_ANNOTATION + u64::from(row));
            if !ends.contains_key(&row) {
                self.out.thread(track, "annotations");
            }
            let (start, end) = recorded.steps_of(phase.start, phase.end);
            let args = json!({"first event": phase.start.0, "events": phase.end.0 - phase.start.0});
            let (from, to) = (self.clock.at(start.0), self.clock.at(end.0));
            let free = ends.entry(row).or_default();
            if from < *free {
                continue;
            }
            *free = to;
            self.out
                .slice(track, from, to, recording.text(phase.name), "annotation", &args);
        }
    }

    /// Evictions and recomputations under a budget.
    fn budget(&mut self) {
        let track = self.track(BUDGET);
        let comparison = &*self.subject.comparison;
        let Some(remat) = &self.subject.timeline.lanes[self.lane].remat else {
            return;
        };
        self.out.thread(track, "evictions");
        let usage = (0..comparison.axis.n_steps).map(|step| remat.usage.at(step));
        self.counter("in use, as the planner counts", usage);
        let mut places = InOrder::default();
        for mark in &remat.marks {
            let name = match mark.kind {
                RematMarkKind::Evict => "evict",
                RematMarkKind::Rematerialize => "recompute",
                RematMarkKind::Sibling => "restored with a sibling",
                RematMarkKind::OutOfMemory => "out of memory",
                RematMarkKind::Thrash => "thrash",
            };
            let tensor = mark.tensor.map(|tensor| tensor_label(comparison, tensor).into_owned());
            let args = json!({"step": mark.step.0, "run": mark.run, "bytes": mark.bytes.get(), "tensor": tensor});
            let at = places.next(self.clock, mark.step.0);
            self.out.instant(track, at, name, "budget", &args);
        }
    }

    /// The ops of a recording without a graph. Ops that overlap get further threads, up to a limit.
    fn measured_ops(&mut self, recording: &Recording, first: u64) {
        let mut ops: Vec<_> = recording.ops.iter().filter(|op| op.start.0 >= first).collect();
        ops.sort_by_key(|op| (op.start, std::cmp::Reverse(op.time)));
        let clock = self.clock;
        let spans = ops.iter().map(|op| {
            let start = op.start.0 - first;
            (clock.at_time(start), clock.at_time(start.saturating_add(op.time.0)))
        });
        let spans: Vec<(u64, u64)> = spans.collect();
        let rows = rows(&spans);
        let n_rows = rows.iter().flatten().max().map_or(0, |row| row + 1);
        for row in 1..=n_rows {
            self.out
                .thread(self.track(FIRST_OP + row as u64), &format!("measured ops {row}"));
        }
        for ((op, span), row) in ops.iter().zip(&spans).zip(&rows) {
            let Some(row) = row else { continue };
            let args = json!({"type": recording.text(op.kind), "scratch_bytes": op.scratch.get()});
            let track = self.track(FIRST_OP + 1 + *row as u64);
            let name = recording.text(op.name);
            self.out.slice(track, span.0, span.1, name, "measured op", &args);
        }
        let left_out = rows.iter().filter(|row| row.is_none()).count();
        if let Some(first) = rows.iter().position(Option::is_none) {
            let track = self.track(FIRST_OP);
            self.out.thread(track, "measured ops left out");
            let count = counted(left_out as u64, "measured op");
            let name = format!("{count} left out: more than {MOST_OP_THREADS} at one time");
            self.out
                .instant(track, spans[first].0, &name, "measured op", &json!({"count": left_out}));
        }
    }
}

/// The name of an event; `None` for events that are no device calls: tensors and runs of static graphs.
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

/// Device calls with their names and classes, in the order of the log.
fn calls(simulation: &Simulation) -> impl Iterator<Item = (Event, &'static str, TickClass)> {
    let events = simulation.events.iter();
    events.filter_map(|event| Some((event, event_name(event.kind)?, TickClass::of(event.kind)?)))
}

/// The steps of the instants of a lane, thread by thread.
pub(super) fn instants(subject: &ExportSubject, lane: usize) -> [Vec<u32>; 2] {
    let calls = calls(&subject.comparison.lanes[lane].simulation);
    let remat = subject.timeline.lanes[lane].remat.iter();
    [
        calls.map(|(event, ..)| event.step.0).collect(),
        remat.flat_map(|remat| &remat.marks).map(|mark| mark.step.0).collect(),
    ]
}

/// The first free row of each span, by start; `None` where [`MOST_OP_THREADS`] are taken. O(spans x rows).
fn rows(spans: &[(u64, u64)]) -> Vec<Option<usize>> {
    let mut ends: Vec<u64> = Vec::new();
    let row = |&(start, end): &(u64, u64)| {
        let row = ends.iter().position(|known| *known <= start).or_else(|| {
            ends.push(0);
            Some(ends.len() - 1)
        })?;
        if row >= MOST_OP_THREADS {
            ends.truncate(MOST_OP_THREADS);
            return None;
        }
        ends[row] = end;
        Some(row)
    };
    spans.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{MOST_OP_THREADS, rows};

    #[test]
    fn ops_that_overlap_stand_in_rows_of_their_own() {
        assert_eq!(
            rows(&[(0, 5), (1, 2), (2, 4), (5, 6)]),
            [Some(0), Some(1), Some(1), Some(0)]
        );
        let mut many = vec![(0, 9); MOST_OP_THREADS + 2];
        many.push((9, 10));
        let rows = rows(&many);
        assert_eq!(rows[MOST_OP_THREADS - 1], Some(MOST_OP_THREADS - 1));
        assert_eq!(rows[MOST_OP_THREADS..], [None, None, Some(0)]);
    }
}
