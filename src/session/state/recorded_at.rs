//! A recorded allocator at a step of its lane: its state, the events around the step, its pools over time.

use std::sync::Arc;

use highwater_analysis::{AllocatorState, Comparison, PinnedSegments, PoolHistory, pool_histories};
use highwater_model::units::Step;
use highwater_model::workload::RecordedEvent;

/// A recorded allocator at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAt {
    /// The last event on the step or before it.
    pub event: Step,
    /// Some events around it.
    pub events: Vec<RecordedEvent>,
    /// `None` where the file lists no segments.
    pub allocator: Option<AllocatorState>,
    /// What keeps partly free segments of it.
    pub pinned: Option<PinnedSegments>,
    /// Pools over the whole recording; empty where there is but one.
    pub pools: Arc<Vec<PoolHistory>>,
}

/// Events before and after the current one.
const AROUND: u32 = 4;

impl RecordedAt {
    /// O(blocks + segments); pools that are not known yet O((blocks + segments) log (blocks + segments)).
    pub(super) fn new(
        comparison: &Comparison,
        (lane, step): (usize, Step),
        pools: Option<Arc<Vec<PoolHistory>>>,
    ) -> Option<Self> {
        let row = comparison.lanes.get(lane)?;
        let (recorded, recording) = row.recorded.as_ref().zip(comparison.recording(row.id))?;
        let event = recorded.event_at(step)?;
        let allocator = comparison.allocator_state(lane, step).ok();
        Some(Self {
            event,
            pinned: allocator.as_ref().map(|state| PinnedSegments::new(recording, state)),
            events: recording.events_in(event.0.saturating_sub(AROUND)..event.0.saturating_add(AROUND + 1)),
            allocator,
            pools: pools.unwrap_or_else(|| Arc::new(pool_histories(recording))),
        })
    }
}
