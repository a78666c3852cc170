//! The events of a device walked backwards from its final state, so that blocks that predate the trace are found, too.
//!
//! In: events and the blocks and segments at the end. Out: for each `alloc` when its block ended, the older blocks, the
//! regions, and how often the trace and the final state contradict each other. Walking backwards a free brings a block to
//! life and an allocation ends it; what is still live at the first event is older than the trace. Invariants: one end
//! for each event; every range is within the steps and not empty; two blocks are never live at one address
//! without being counted as overlapping.

use std::collections::BTreeMap;

use super::device::Device;
use super::regions::Regions;
use super::rows::{Action, Entry, NONE, has};
use super::snapshot::n_steps;
use super::value::Heap;
use crate::ImportError;
use crate::pages::Pages;
use highwater_model::progress::Progress;
use highwater_model::units::Step;

const EVENTS_BETWEEN_CHECKS: u32 = 1 << 13;

/// The end of an `alloc`'s block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockEnd {
    pub(super) end: u32,
    pub(super) freed_at: u32,
}

/// A block that the trace did not see beginning, although it is not older.
#[derive(Clone, Copy, Debug)]
pub(super) struct AppearedBlock {
    /// From this step on no other block is known at the address.
    pub(super) birth: Step,
    pub(super) address: u64,
    pub(super) live: Live,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) end: u32,
    pub(super) freed_at: u32,
    pub(super) bytes: u64,
    /// Whether the file states the requested bytes; else `bytes` are the rounded ones.
    pub(super) states_bytes: bool,
    pub(super) held: u64,
    pub(super) stream: u64,
    pub(super) frames: u32,
    /// Number of its texts.
    pub(super) extra: u32,
    pub(super) is_final: bool,
}

impl Live {
    /// Whether an allocation of so many bytes may have become this block.
    const fn fits(&self, bytes: u64) -> bool {
        if self.states_bytes {
            bytes == self.bytes
        } else {
            bytes <= self.held
        }
    }
}

/// Contradictions, counted, each with its first place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contradictions {
    /// Allocations whose block is neither freed nor there at the end.
    pub(super) vanished: Count,
    /// Blocks that are live without an allocation, although the address was freed in the trace before.
    pub(super) appeared: Count,
    /// Frees that no completion follows.
    pub(super) incomplete: Count,
    /// Allocations whose size is not that of the free or of the final block.
    pub(super) sizes: Count,
    pub(super) overlapping: Count,
    /// Allocations outside every segment.
    pub(super) outside: Count,
    /// Events without a readable address or size.
    pub(super) unreadable: Count,
    pub(super) unknown: Count,
}

/// A count, and the first step (the last one met, because the walk goes backwards).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) n: u64,
    pub(super) first: u32,
}

impl Count {
    pub(super) fn add(&mut self, step: u32) {
        self.n += 1;
        self.first = step;
    }
}

#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) n_steps: u32,
    /// One for each allocation that can be read (see [`is_allocation`]), the last first.
    pub(super) block_ends: Pages<BlockEnd>,
    /// Blocks that are older than the trace, by address.
    pub(super) older: BTreeMap<u64, Live>,
    /// Blocks that are there without an allocation after the trace freed their address, by birth and address.
    pub(super) appeared: Vec<AppearedBlock>,
    /// Bytes held by blocks that are there at the end, by step of their allocation, descending.
    pub(super) held: Vec<(u32, u64)>,
    /// Steps of allocations whose end is not shown, descending.
    pub(super) unfreed: Vec<u32>,
    pub(super) regions: Regions,
    pub(super) contradictions: Contradictions,
}

pub(super) fn replay(heap: &Heap, device: &Device, progress: &Progress<'_>) -> Result<Replayed, ImportError> {
    let n_steps = n_steps(device).ok_or_else(|| {
        ImportError::at(
            "the trace has more than 2^32 events",
            "device_traces",
            "record fewer events: _record_memory_history(max_entries=...)",
        )
    })?;
    let mut walk = Walk {
        live: BTreeMap::new(),
        found: Replayed {
            n_steps,
            block_ends: Pages::default(),
            older: BTreeMap::new(),
            appeared: Vec::new(),
            held: Vec::new(),
            unfreed: Vec::new(),
            regions: Regions::new(heap, device, n_steps),
            contradictions: Contradictions::default(),
        },
    };
    walk.start(device);
    let n_events = device.trace.len() as u64;
    for (step, row) in device.trace.backwards() {
        if step.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
            progress.set("replaying", n_events - u64::from(step), n_events)?;
        }
        if let Some(entry) = heap.rows.entries.get(row) {
            walk.event(step, &entry, heap);
        }
    }
    let mut found = walk.finish();
    follow_vanished(heap, device, &mut found, progress)?;
    Ok(found)
}

/// Whether an event makes a block: an allocation whose address and size can be read.
pub(super) fn is_allocation(entry: &Entry) -> bool {
    entry.action == Action::Alloc && is_whole(entry)
}

fn is_whole(entry: &Entry) -> bool {
    entry.has(has::ADDRESS | has::SIZE) && entry.address.checked_add(entry.size).is_some()
}

struct Walk {
    live: BTreeMap<u64, Live>,
    found: Replayed,
}

impl Walk {
    fn start(&mut self, device: &Device) {
        let n_steps = self.found.n_steps;
        for block in device.blocks.iter() {
            let live = Live {
                end: n_steps,
                freed_at: n_steps,
                bytes: block.bytes,
                states_bytes: block.states_bytes,
                held: block.held,
                stream: block.stream,
                frames: block.frames,
                extra: block.extra,
                is_final: true,
            };
            self.insert(n_steps - 1, block.address, live);
        }
    }

    fn event(&mut self, step: u32, entry: &Entry, heap: &Heap) {
        let is_mark = matches!(entry.action, Action::Snapshot | Action::OutOfMemory | Action::Other);
        if !is_whole(entry) && !is_mark {
            self.found.contradictions.unreadable.add(step);
            return;
        }
        match entry.action {
            Action::Alloc => self.alloc(step, entry),
            Action::FreeRequested => self.free_requested(step, entry, heap),
            Action::FreeCompleted => {
                let live = freed(step, entry, heap);
                self.insert(step, entry.address, live);
            }
            Action::SegmentAlloc | Action::SegmentMap => self.found.regions.begin(step, entry),
            Action::SegmentFree | Action::SegmentUnmap => {
                let stream = heap.rows.stream_at(entry.stream);
                let pool = heap.rows.extra_at(entry.extra).private_pool();
                self.found.regions.finish(step, entry, (stream, pool));
            }
            Action::Snapshot | Action::OutOfMemory => {}
            Action::Free | Action::Other => self.found.contradictions.unknown.add(step),
        }
    }

    fn alloc(&mut self, step: u32, entry: &Entry) {
        let regions = &self.found.regions;
        if regions.is_any() && !regions.covers(entry.address, entry.size) {
            self.found.contradictions.outside.add(step);
        }
        let Some(live) = self.live.remove(&entry.address) else {
            self.found.contradictions.vanished.add(step);
            self.found.unfreed.push(step);
            self.found.block_ends.push(BlockEnd {
                end: self.found.n_steps,
                freed_at: self.found.n_steps,
            });
            return;
        };
        if !live.fits(entry.size) {
            self.found.contradictions.sizes.add(step);
        }
        // Events have distinct steps, so the end is behind the beginning.
        self.found.block_ends.push(BlockEnd {
            end: live.end,
            freed_at: live.freed_at,
        });
        if live.is_final {
            self.found.held.push((step, live.held));
            self.found.unfreed.push(step);
        }
    }

    fn free_requested(&mut self, step: u32, entry: &Entry, heap: &Heap) {
        if let Some(live) = self.live.get_mut(&entry.address) {
            live.freed_at = step;
            return;
        }
        self.found.contradictions.incomplete.add(step);
        let live = freed(step, entry, heap);
        self.insert(step, entry.address, live);
    }

    /// A block that is live before an event.
    fn insert(&mut self, step: u32, address: u64, live: Live) {
        if let Some(other) = self.live.remove(&address) {
            // It is live from this event on; its call site is unknown.
            self.found.contradictions.appeared.add(step);
            self.found.appeared.push(AppearedBlock {
                birth: Step(step.min(other.end.saturating_sub(1))),
                address,
                live: other,
            });
        }
        let end = address.saturating_add(live.held);
        let below = self.live.range(..address).next_back();
        let is_on_below = below.is_some_and(|(below, other)| below.saturating_add(other.held) > address);
        let above = self.live.range(address..).next();
        if is_on_below || above.is_some_and(|(above, _)| *above < end) {
            self.found.contradictions.overlapping.add(step);
        }
        self.live.insert(address, live);
    }

    /// Live blocks and regions at the first event predate the trace.
    fn finish(mut self) -> Replayed {
        self.found.older = self.live;
        self.found.regions.close();
        self.found
            .appeared
            .sort_unstable_by_key(|block| (block.birth, block.address, block.live.end));
        self.found
    }
}

/// A block that an event frees, with the call site that freed it; the allocating one is unknown.
fn freed(step: u32, entry: &Entry, heap: &Heap) -> Live {
    Live {
        end: step,
        freed_at: step,
        bytes: entry.size,
        states_bytes: true,
        held: entry.size,
        stream: heap.rows.stream_at(entry.stream),
        frames: NONE,
        extra: NONE,
        is_final: false,
    }
}

/// A block that vanished ends at the latest where its address is given away again.
fn follow_vanished(
    heap: &Heap,
    device: &Device,
    found: &mut Replayed,
    progress: &Progress<'_>,
) -> Result<(), ImportError> {
    if found.contradictions.vanished.n == 0 {
        return Ok(());
    }
    let n_steps = found.n_steps;
    let mut next: BTreeMap<u64, u32> = BTreeMap::new();
    let mut unfreed = found.unfreed.iter().copied().peekable();
    let mut held = found.held.iter().map(|(step, _)| *step).peekable();
    let mut number = 0;
    for (step, row) in device.trace.backwards() {
        if step.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        let entry = heap.rows.entries.get(row);
        let Some(entry) = entry.filter(is_allocation) else {
            continue;
        };
        let block_end = found.block_ends.get_mut(number);
        number += 1;
        let is_unfreed = unfreed.next_if_eq(&step).is_some();
        let is_final = held.next_if_eq(&step).is_some();
        if is_unfreed && !is_final {
            let end = next.get(&entry.address).copied().unwrap_or(n_steps);
            if let Some(block_end) = block_end {
                *block_end = BlockEnd { end, freed_at: end };
            }
        }
        next.insert(entry.address, step);
    }
    Ok(())
}
