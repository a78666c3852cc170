//! Events of the device and the pools: exact counts per class and pixel column.
//!
//! ```text
//! events   malloc malloc . map map map . . . sync recycle        (allocations of tensors are no ticks: they are blocks)
//! columns  [driver 2]    [pages 3]         [waits 1, pools 1]
//! ```
//!
//! In: an event log. Out: for any viewport the columns that contain events, each with exact counts, and the events of a
//! range of steps as text. Counts of a column are a difference of running sums: O(log steps) each.

use std::ops::Deref;

use super::Selected;
use super::search::shown_name;
use super::tally::{EventColumn, EventTally};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::{Event, EventKind, Simulation, Subject};

/// In order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TickClass {
    Trouble,
    Graphs,
    Arena,
    Driver,
    Pools,
    Pages,
    Grants,
    Clears,
}

impl TickClass {
    /// The most important first.
    pub const ALL: [Self; 8] = [
        Self::Trouble,
        Self::Graphs,
        Self::Arena,
        Self::Driver,
        Self::Pools,
        Self::Pages,
        Self::Grants,
        Self::Clears,
    ];

    /// `None` for events that are no ticks: tensors, and runs of static graphs.
    pub const fn of(kind: EventKind) -> Option<Self> {
        Some(match kind {
            EventKind::Alloc | EventKind::Free | EventKind::Run => return None,
            EventKind::OutOfMemory | EventKind::MemoryInUse => Self::Trouble,
            EventKind::Unload | EventKind::Reload => Self::Graphs,
            EventKind::Reallocate | EventKind::Reuse => Self::Arena,
            EventKind::DeviceMalloc | EventKind::DeviceFree => Self::Driver,
            EventKind::Sync | EventKind::Recycle | EventKind::Stitch => Self::Pools,
            EventKind::Reserve
            | EventKind::Release
            | EventKind::PageAlloc
            | EventKind::PageFree
            | EventKind::Map
            | EventKind::Unmap => Self::Pages,
            EventKind::Grant | EventKind::Return => Self::Grants,
            EventKind::Clear | EventKind::Memset => Self::Clears,
        })
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Trouble => "out of memory, memory in use",
            Self::Graphs => "graphs unloaded, reloaded",
            Self::Arena => "arena reallocated, reused",
            Self::Driver => "driver mallocs, frees",
            Self::Pools => "waits, recycling, stitching",
            Self::Pages => "pages and ranges",
            Self::Grants => "blocks of the device pool",
            Self::Clears => "memory cleared",
        }
    }
}

/// Labels for one event and for several.
pub const fn event_labels(kind: EventKind) -> (&'static str, &'static str) {
    match kind {
        EventKind::Alloc => ("tensor allocated", "tensors allocated"),
        EventKind::Free => ("tensor freed", "tensors freed"),
        EventKind::DeviceMalloc => ("driver malloc", "driver mallocs"),
        EventKind::DeviceFree => ("driver free", "driver frees"),
        EventKind::Reallocate => ("arena reallocated", "arena reallocated"),
        EventKind::Reuse => ("arena reused", "arena reused"),
        EventKind::Reserve => ("range reserved", "ranges reserved"),
        EventKind::Release => ("range released", "ranges released"),
        EventKind::PageAlloc => ("page allocated", "pages allocated"),
        EventKind::PageFree => ("page freed", "pages freed"),
        EventKind::Map => ("page mapped", "pages mapped"),
        EventKind::Unmap => ("page unmapped", "pages unmapped"),
        EventKind::Memset => ("memory zeroed", "memory zeroed"),
        EventKind::Sync => ("stream wait", "stream waits"),
        EventKind::Recycle => ("pool recycled", "pools recycled"),
        EventKind::Grant => ("block granted", "blocks granted"),
        EventKind::Return => ("block returned", "blocks returned"),
        EventKind::Stitch => ("range stitched", "ranges stitched"),
        EventKind::Run => ("static run", "static runs"),
        EventKind::MemoryInUse => ("memory in use", "memory in use"),
        EventKind::Clear => ("memory cleared", "clears"),
        EventKind::Unload => ("graph unloaded", "graphs unloaded"),
        EventKind::Reload => ("graph reloaded", "graphs reloaded"),
        EventKind::OutOfMemory => ("out of memory", "out of memory"),
    }
}

/// In the order of [`TickClass::ALL`].
pub type TickCounts = [u32; TickClass::ALL.len()];

pub type TickColumn = EventColumn<{ TickClass::ALL.len() }>;

impl TickColumn {
    /// Classes with events, the most important first.
    pub fn classes(&self) -> impl Iterator<Item = TickClass> + '_ {
        let counted = TickClass::ALL.iter().zip(&self.counts);
        counted.filter(|(_, count)| **count > 0).map(|(class, _)| *class)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneTicks {
    tally: EventTally<{ TickClass::ALL.len() }>,
    /// By step with events: position of its first event in the log.
    first_event: Vec<u32>,
}

/// All events of one kind in a range of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickRow {
    pub kind: EventKind,
    pub count: u64,
    pub bytes: Bytes,
    /// Texts of subjects or regions, each once, at most `MOST_NAMES`.
    pub subjects: Vec<String>,
    pub has_others: bool,
}

const MOST_NAMES: usize = 3;

impl Deref for LaneTicks {
    type Target = EventTally<{ TickClass::ALL.len() }>;

    fn deref(&self) -> &Self::Target {
        &self.tally
    }
}

impl LaneTicks {
    /// O(events).
    pub(super) fn new(simulation: &Simulation) -> Self {
        let mut ticks = Self::default();
        for (position, event) in (0_u32..).zip(&simulation.events) {
            let Some(class) = TickClass::of(event.kind) else {
                continue;
            };
            if ticks.tally.add(event.step.0, class as usize) {
                ticks.first_event.push(position);
            }
        }
        ticks
    }

    /// The events between two steps, both included, one row per kind. O(events of these steps).
    pub fn rows(&self, comparison: &Comparison, lane: usize, steps: (Step, Step)) -> Vec<TickRow> {
        let simulation = &comparison.lanes[lane].simulation;
        let position = self.tally.position(steps.0);
        let first = self
            .first_event
            .get(position)
            .map_or(usize::MAX, |event| *event as usize);
        let mut drafts: Vec<Draft> = Vec::new();
        for event in simulation.events.from(first).take_while(|event| event.step <= steps.1) {
            if TickClass::of(event.kind).is_some() {
                add(&mut drafts, &event, comparison, simulation);
            }
        }
        let mut rows: Vec<TickRow> = drafts.into_iter().map(|draft| draft.row).collect();
        rows.sort_by_key(|row| (TickClass::of(row.kind), row.kind));
        rows
    }
}

/// A row, with the subjects already handled, so that each text is built once.
struct Draft {
    row: TickRow,
    known: Vec<(u32, u32)>,
}

fn add(drafts: &mut Vec<Draft>, event: &Event, comparison: &Comparison, simulation: &Simulation) {
    let position = drafts.iter().position(|draft| draft.row.kind == event.kind);
    let idx = position.unwrap_or(drafts.len());
    if position.is_none() {
        let row = TickRow {
            kind: event.kind,
            count: 0,
            bytes: Bytes::ZERO,
            subjects: Vec::new(),
            has_others: false,
        };
        drafts.push(Draft { row, known: Vec::new() });
    }
    let Draft { row, known } = &mut drafts[idx];
    row.count += 1;
    row.bytes = Bytes(row.bytes.get().saturating_add(event.bytes.get()));
    let subject = if is_of_page(event.kind) { 0 } else { event.subject.0 };
    let key = (event.region.0, subject);
    if row.has_others || known.contains(&key) {
        return;
    }
    known.push(key);
    let text = place_or_subject(event, comparison, simulation);
    if text.is_empty() || row.subjects.contains(&text) {
        return;
    }
    if row.subjects.len() < MOST_NAMES {
        row.subjects.push(text);
    } else {
        row.has_others = true;
    }
}

/// For these the region is more informative than the page.
const fn is_of_page(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::PageAlloc | EventKind::PageFree | EventKind::Map | EventKind::Unmap
    )
}

/// Text of the subject or region; empty where it is the session.
fn place_or_subject(event: &Event, comparison: &Comparison, simulation: &Simulation) -> String {
    let region = simulation.region(event.region);
    let place = super::block::region_text(&comparison.session, region.kind, region.graph);
    let who = subject_text(comparison, simulation, simulation.subject(event.subject).subject);
    match event.kind {
        kind if is_of_page(kind) => place,
        EventKind::DeviceMalloc | EventKind::Reserve | EventKind::Memset => {
            let is_tensor = matches!(simulation.subject(event.subject).subject, Subject::Tensor { .. });
            if is_tensor {
                format!("{place}, for {who}")
            } else {
                place
            }
        }
        EventKind::DeviceFree | EventKind::Release | EventKind::Stitch => place,
        _ => who,
    }
}

pub fn subject_text(comparison: &Comparison, simulation: &Simulation, who: Subject) -> String {
    let session = &comparison.session;
    let graph = |idx: GraphIdx| {
        let name = session.graph_name(idx);
        name.map_or_else(|| format!("graph {}", idx.0), str::to_owned)
    };
    match who {
        Subject::Tensor { run, tensor, .. } => Selected::in_session(session, run, tensor).map_or_else(
            || format!("tensor {}", tensor.0),
            |tensor| shown_name(comparison, tensor).into_owned(),
        ),
        Subject::Graph(idx) => graph(idx),
        Subject::InputOutput(idx) => format!("inputs and outputs of {}", graph(idx)),
        Subject::Page(handle) => format!("page {handle}"),
        Subject::Pool(position) => {
            let mut graphs = simulation.pools.iter().filter_map(|pool| pool.graph);
            let owner = graphs.nth(position as usize);
            owner.map_or_else(|| "a pool".to_owned(), |idx| format!("pool of {}", graph(idx)))
        }
        Subject::Session => String::new(),
    }
}
