//! The table of events of the device and the pools, evictions and recomputations.
//!
//! Row numbers are positions in the lane's event log; marks of rematerialization come after it.

use super::column::{amount, number, text};
use super::tensors::step;
use super::{Column, Target, Value, View};
use crate::search::shown_name;
use crate::{RematMark, Selected, event_labels, region_text, subject_text};
use highwater_model::units::{Bytes, Step};
use highwater_sim::{Event, EventKind, EventLog, RegionKind, Subject};

pub(super) const COLUMNS: [Column; 6] = [
    number("step", "step", "step of the event"),
    text("event", "kind of event", 22),
    text("subject", "tensor or graph", 34),
    amount("bytes", "bytes", "bytes after rounding"),
    text("region", "in which region of memory", 26),
    amount("offset", "offset", "bytes from the beginning of the region"),
];

fn log<'a>(view: &View<'a>) -> Option<&'a EventLog> {
    view.lane().map(|lane| &lane.simulation.events)
}

fn marks<'a>(view: &View<'a>) -> &'a [RematMark] {
    let lane = view.timeline.lanes.get(view.lane);
    let remat = lane.and_then(|lane| lane.remat.as_deref());
    remat.map_or(&[], |remat| &remat.marks)
}

enum Entry<'a> {
    Event(Event),
    Mark(&'a RematMark),
}

impl Entry<'_> {
    const fn step(&self) -> Step {
        match self {
            Self::Event(event) => event.step,
            Self::Mark(mark) => mark.step,
        }
    }

    const fn bytes(&self) -> Bytes {
        match self {
            Self::Event(event) => event.bytes,
            Self::Mark(mark) => mark.bytes,
        }
    }
}

fn entry<'a>(view: &View<'a>, row: u32) -> Option<Entry<'a>> {
    let log = log(view)?;
    match log.get(row as usize) {
        Some(event) => Some(Entry::Event(event)),
        None => marks(view).get(row as usize - log.len()).map(Entry::Mark),
    }
}

const fn is_of_tensor(kind: EventKind) -> bool {
    matches!(kind, EventKind::Alloc | EventKind::Free)
}

/// Rows by step; on a step events come before marks.
pub(super) fn natural(view: &View<'_>, has_allocations: bool) -> Vec<u32> {
    let (log, marks) = (log(view), marks(view));
    let Some(log) = log else { return Vec::new() };
    let first_mark = u32::try_from(log.len()).unwrap_or(u32::MAX);
    let mut marks = (first_mark..).zip(marks).peekable();
    let mut rows = Vec::new();
    let events = (0_u32..).zip(log);
    for (row, event) in events.filter(|(_, event)| has_allocations || !is_of_tensor(event.kind)) {
        while let Some((mark, _)) = marks.next_if(|(_, mark)| mark.step < event.step) {
            rows.push(mark);
        }
        rows.push(row);
    }
    rows.extend(marks.map(|(mark, _)| mark));
    rows
}

pub(super) fn value<'a>(view: &View<'a>, row: u32, column: usize) -> Value<'a> {
    let Some(entry) = entry(view, row) else {
        return Value::Nothing;
    };
    match (column, &entry) {
        (0, entry) => step(view, entry.step()),
        (1, Entry::Event(event)) => Value::text(event_labels(event.kind).0),
        (1, Entry::Mark(mark)) => Value::text(mark.kind.words()),
        (2, entry) => subject(view, entry),
        (3, entry) => Value::Bytes(entry.bytes()),
        (4, Entry::Event(event)) => region(view, event),
        (5, Entry::Event(event)) if is_of_tensor(event.kind) || event.offset > 0 => Value::Bytes(Bytes(event.offset)),
        _ => Value::Nothing,
    }
}

fn tensor(view: &View<'_>, entry: &Entry<'_>) -> Option<Selected> {
    let event = match entry {
        Entry::Event(event) => event,
        Entry::Mark(mark) => return mark.tensor,
    };
    match view.lane()?.simulation.subject(event.subject).subject {
        Subject::Tensor { run, tensor, .. } => Selected::in_session(view.comparison.session_of(view.lane), run, tensor),
        _ => None,
    }
}

fn subject<'a>(view: &View<'a>, entry: &Entry<'_>) -> Value<'a> {
    if let Some(tensor) = tensor(view, entry) {
        return Value::text(shown_name(view.comparison, tensor));
    }
    let (Entry::Event(event), Some(lane)) = (entry, view.lane()) else {
        return Value::Nothing;
    };
    let simulation = &lane.simulation;
    let who = simulation.subject(event.subject).subject;
    Value::text(subject_text(view.comparison, simulation, who))
}

fn region<'a>(view: &View<'a>, event: &Event) -> Value<'a> {
    let Some(region) = view.lane().and_then(|lane| lane.simulation.region_of(event)) else {
        return Value::Nothing;
    };
    let session = view.comparison.session_of(view.lane);
    let text = region_text(session, region.kind, region.graph);
    match region.kind {
        // Recorded segments have addresses by which other tables name them.
        RegionKind::Segment | RegionKind::ExpandableSegment => Value::text(format!("{text} {:#x}", region.at.offset())),
        _ => Value::text(text),
    }
}

/// By kind, by subject, or by region.
pub(super) fn same(view: &View<'_>, row: u32, column: usize) -> u64 {
    const OF_MARKS: u64 = 1 << 40;
    match (entry(view, row), column) {
        (Some(Entry::Event(event)), 1) => event.kind as u64,
        (Some(Entry::Mark(mark)), 1) => OF_MARKS + mark.kind as u64,
        (Some(Entry::Event(event)), 2) => u64::from(event.subject.0),
        (Some(Entry::Mark(_)), 4) => OF_MARKS,
        (Some(Entry::Event(event)), 4) => u64::from(event.region.0),
        _ => OF_MARKS + u64::from(row),
    }
}

pub(super) fn target(view: &View<'_>, row: u32) -> Target {
    let entry = entry(view, row);
    Target {
        tensor: entry.as_ref().and_then(|entry| tensor(view, entry)),
        step: entry.as_ref().map(Entry::step),
        option: None,
    }
}
