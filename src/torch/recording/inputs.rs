//! What the program asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::start::{Start, Where};
use super::{Inconsistent, Recording, Stop};
use crate::allocator::Use;
use crate::event::{Action, Event};

/// One thing that the program did. Allocations are numbered: first the live blocks of the start by address, then
/// those of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Asked for memory.
    Alloc {
        /// The allocation.
        id: u32,
        /// Bytes.
        requested: u64,
        /// Handle of the stream.
        stream: u64,
        /// Number of the private pool.
        pool: Option<u64>,
    },
    /// Gave an allocation back, which became free at once.
    Free(u32),
    /// Gave an allocation back that other streams still used.
    FreeLater(u32),
    /// Other streams were done with an allocation.
    Complete(u32),
    /// Uses a private pool again.
    Used(u64),
    /// Let go of a private pool: what it caches can be released from now on.
    Unused(u64),
    /// Emptied the cache, or a request did.
    Empty(Release),
    /// Asked for memory and failed.
    Failed {
        /// Rounded bytes.
        size: u64,
        /// Handle of the stream.
        stream: u64,
        /// Number of the private pool.
        pool: Option<u64>,
        /// Bytes that were free on the device.
        free: u64,
    },
}

/// Inputs in order.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) inputs: Vec<Input>,
    /// By input: the position in the history of its first event.
    pub(super) positions: Vec<u32>,
}

/// A run of memory given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Segments and runs of pages.
    pub count: u32,
    /// New memory follows at once: a request may have given it back.
    pub is_before_request: bool,
    /// The device was full, so that the request did it.
    pub is_full: bool,
}

/// Whose end is still to come.
#[derive(Clone, Copy)]
struct Open {
    id: u32,
    is_pending: bool,
}

pub(super) fn of(
    recording: &Recording,
    start: &Start,
    total: Option<u64>,
    stop: Stop<'_>,
) -> Result<Inputs, Inconsistent> {
    let mut open = BTreeMap::new();
    let mut count = 0;
    for live in &start.live {
        let is_pending = live.state == Use::Pending;
        open.insert(live.addr, Open { id: count, is_pending });
        count += 1;
    }
    let mut reserved = start.reserved();
    let events = &recording.events;
    let mut inputs = Vec::with_capacity(events.len() / 2);
    let mut positions: Vec<u32> = Vec::with_capacity(events.len() / 2);
    let mut unused = BTreeSet::new();
    let mut at = 0;
    let mut turns = 0..;
    while let (Some(event), Some(turn)) = (events.get(at), turns.next()) {
        stop.look(turn)?;
        let first = u32::try_from(at).unwrap_or(u32::MAX);
        let place = Where { index: at, event };
        match event.action {
            Action::Alloc => {
                let id = count;
                count += 1;
                let Event { size, stream, pool, .. } = *event;
                inputs.extend(pool.filter(|pool| unused.remove(pool)).map(Input::Used));
                inputs.push(Input::Alloc {
                    id,
                    requested: size,
                    stream,
                    pool,
                });
                open.insert(event.addr, Open { id, is_pending: false });
            }
            Action::FreeRequested => {
                let known = open.get_mut(&event.addr).filter(|known| !known.is_pending);
                let known = known.ok_or_else(|| place.error("nothing is allocated there"))?;
                let ends_now = |next: &&Event| next.action == Action::FreeCompleted && next.addr == event.addr;
                if events.get(at + 1).as_ref().is_some_and(ends_now) {
                    inputs.push(Input::Free(known.id));
                    open.remove(&event.addr);
                    at += 1;
                } else {
                    known.is_pending = true;
                    inputs.push(Input::FreeLater(known.id));
                }
            }
            Action::FreeCompleted => {
                let known = open.remove(&event.addr);
                let known = known.ok_or_else(|| place.error("nothing is allocated there"))?;
                inputs.push(if known.is_pending {
                    Input::Complete(known.id)
                } else {
                    Input::Free(known.id)
                });
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                let run = events[at..].iter().take_while(|event| is_release(event.action));
                let length = run.count();
                let next = events.get(at + length);
                for pool in events[at..at + length].iter().filter_map(|event| event.pool) {
                    if unused.insert(pool) {
                        inputs.push(Input::Unused(pool));
                    }
                }
                inputs.extend(release(length, next, reserved, total).map(Input::Empty));
                for event in &events[at..at + length] {
                    reserved = reserved.saturating_add_signed(event.reserved_change());
                }
                at += length - 1;
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                reserved = reserved.saturating_add_signed(event.reserved_change());
            }
            Action::OutOfMemory => inputs.push(Input::Failed {
                size: event.size,
                stream: event.stream,
                pool: event.pool,
                free: event.addr,
            }),
        }
        at += 1;
        positions.resize(inputs.len(), first);
    }
    Ok(Inputs { inputs, positions })
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

/// What gave a run of memory back; none: the request that failed next did it.
fn release(count: usize, next: Option<&Event>, reserved: u64, total: Option<u64>) -> Option<Release> {
    let next = next.map(|next| (next.action, next.size));
    let size = match next {
        Some((Action::OutOfMemory, _)) => return None,
        Some((Action::SegmentAlloc | Action::SegmentMap, size)) => Some(size),
        _ => None,
    };
    let is_full = size.is_some_and(|size| total.is_some_and(|total| reserved.saturating_add(size) > total));
    Some(Release {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        is_before_request: size.is_some(),
        is_full,
    })
}
