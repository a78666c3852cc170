//! Where regions stand in the display address space.
//!
//! In: an event log. Out: spans (a region while it holds memory) with a display address each. Rule: in order of
//! birth, each span takes the lowest gap that no span held at the same time occupies. Only spans that are held at
//! that moment can be in the way, so the work is O(spans x spans held at once).

use crate::sim::{Event, EventKind, RegionKind, Simulation};
use crate::units::{Bytes, Step};

/// A region while it holds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) region: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The lowest offset that is ever touched: pools fill their range from the top.
    pub(super) low: u64,
    pub(super) bytes: u64,
    pub(super) base: u64,
}

/// What is known of a region while the log is read.
#[derive(Clone, Copy, Default)]
struct Open {
    span: Option<usize>,
    mapped: u64,
    n_blocks: u32,
    is_malloced: bool,
}

/// Spans of all regions, in order of birth, each with its display address.
pub(super) fn spans(simulation: &Simulation) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open = vec![Open::default(); simulation.regions.len()];
    for event in &simulation.events {
        let region = event.region.0;
        let Some(state) = open.get_mut(region as usize) else {
            continue;
        };
        if let Some((low, high)) = touched(event) {
            let n_spans = spans.len();
            let idx = *state.span.get_or_insert(n_spans);
            if idx == n_spans {
                spans.push(Span {
                    region,
                    start: event.step.0,
                    end: simulation.n_steps.max(event.step.0 + 1),
                    low,
                    bytes: 0,
                    base: 0,
                });
            }
            let span = &mut spans[idx];
            let high = high.max(span.low.saturating_add(span.bytes));
            span.low = span.low.min(low);
            span.bytes = high - span.low;
        }
        note(state, event);
        let is_empty = state.mapped == 0 && state.n_blocks == 0 && !state.is_malloced;
        if is_empty
            && is_release(event.kind)
            && let Some(idx) = state.span.take()
        {
            spans[idx].end = event.step.0.max(spans[idx].start + 1);
        }
    }
    spans.retain(|span| span.bytes > 0);
    spans.sort_by_key(|span| (span.start, kind_order(simulation, span.region), span.region));
    place(&mut spans);
    spans
}

/// Which offsets of its region an event touches.
fn touched(event: &Event) -> Option<(u64, u64)> {
    match event.kind {
        EventKind::DeviceMalloc => Some((0, event.bytes.get())),
        EventKind::Alloc | EventKind::Map => Some((event.offset, event.offset.saturating_add(event.bytes.get()))),
        _ => None,
    }
}

fn note(state: &mut Open, event: &Event) {
    match event.kind {
        EventKind::DeviceMalloc => state.is_malloced = true,
        EventKind::DeviceFree => state.is_malloced = false,
        EventKind::Map => state.mapped = state.mapped.saturating_add(event.bytes.get()),
        EventKind::Unmap => state.mapped = state.mapped.saturating_sub(event.bytes.get()),
        EventKind::Alloc => state.n_blocks += 1,
        EventKind::Free => state.n_blocks = state.n_blocks.saturating_sub(1),
        _ => {}
    }
}

const fn is_release(kind: EventKind) -> bool {
    matches!(kind, EventKind::DeviceFree | EventKind::Unmap | EventKind::Free)
}

/// What lives longest stands lowest where several are born on one step.
fn kind_order(simulation: &Simulation, region: u32) -> u8 {
    match simulation.regions.get(region as usize).map(|region| region.kind) {
        Some(RegionKind::Variables) => 0,
        Some(RegionKind::Weights) => 1,
        Some(RegionKind::InputOutput) => 2,
        Some(RegionKind::Arena) => 3,
        Some(RegionKind::PoolBlock) => 4,
        _ => 5,
    }
}

/// First fit in order of birth. `held` stands sorted by display address.
fn place(spans: &mut [Span]) {
    let mut held: Vec<(u64, u64, u32)> = Vec::new();
    for span in spans {
        held.retain(|(_, _, end)| *end > span.start);
        let mut base = 0_u64;
        let mut position = held.len();
        for (idx, (low, high, _)) in held.iter().enumerate() {
            if base.saturating_add(span.bytes) <= *low {
                position = idx;
                break;
            }
            base = base.max(*high);
        }
        span.base = base;
        held.insert(position, (base, base.saturating_add(span.bytes), span.end));
    }
}

/// The top of the highest span.
pub(super) fn height(spans: &[Span]) -> Bytes {
    spans
        .iter()
        .map(|span| Bytes(span.base) + Bytes(span.bytes))
        .max()
        .unwrap_or_default()
}

/// The span of a region that holds memory on a step: the last one born until then.
pub(super) fn span_at(spans_of_region: &[(u32, u32)], step: Step) -> Option<u32> {
    let born = spans_of_region.partition_point(|(start, _)| *start <= step.0);
    let idx = born.saturating_sub(1);
    spans_of_region.get(idx).map(|(_, span)| *span)
}
