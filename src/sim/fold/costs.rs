//! Cost of a policy's own calls, by cause.
//!
//! ```text
//! time = mallocs * malloc + frees * free + pages mapped * map + ... + clears * launch + bytes / bandwidth
//! ```
//!
//! In: a log and the cost figures. Out: one [`Overhead`] per occurring cause, in the order of [`Cause::ALL`]. Counts
//! are exact, times are estimates. Stitching has no separate cause: its range is reserved and its pages are mapped.
//! Sums saturate.

use crate::event::{Event, EventKind, Simulation};
use crate::params::Params;
use highwater_model::units::{Bytes, Nanos, Step};

/// Time besides the graphs' ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    Malloc,
    Free,
    Map,
    Unmap,
    /// Virtual ranges reserved or released.
    Reserve,
    /// Waits for a stream.
    Synchronize,
    /// Unloaded graphs that are loaded again: their bytes from the host.
    Reload,
    /// Memory that the engine clears when it loads graphs.
    LoadMemset,
    /// Launches that clear memory which ops accumulate into, and the cleared bytes.
    Clear,
    /// Recomputed ops; no event of the device, so it is added from the rewritten program.
    Recompute,
}

impl Cause {
    /// In listing order.
    pub const ALL: [Self; 10] = [
        Self::Malloc,
        Self::Free,
        Self::Map,
        Self::Unmap,
        Self::Reserve,
        Self::Synchronize,
        Self::Reload,
        Self::LoadMemset,
        Self::Clear,
        Self::Recompute,
    ];

    /// The name in files, one word.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The counted thing, in a few words for users.
    pub const fn label(self) -> &'static str {
        NAMES[self as usize].1
    }
}

/// Names in files and labels, in the order of the enumeration.
const NAMES: [(&str, &str); 10] = [
    ("malloc", "device mallocs"),
    ("free", "device frees"),
    ("map", "pages mapped"),
    ("unmap", "pages unmapped"),
    ("reserve", "ranges reserved or released"),
    ("synchronize", "waits for a stream"),
    ("reload", "graphs loaded again"),
    ("load_memset", "memory zeroed at load"),
    ("clear", "clears before ops that add up"),
    ("recompute", "ops recomputed"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    pub cause: Cause,
    /// Exact.
    pub count: u64,
    /// Total; an estimate.
    pub time: Nanos,
}

/// The occurring causes, in the order of [`Cause::ALL`]. O(events).
pub fn overhead(simulation: &Simulation, params: &Params) -> Vec<Overhead> {
    let mut sums = Cause::ALL.map(|cause| Overhead {
        cause,
        count: 0,
        time: Nanos(0),
    });
    for event in &simulation.events {
        if let Some((cause, time)) = charge(&event, params) {
            let sum = &mut sums[cause as usize];
            sum.count += 1;
            sum.time = sum.time + time;
        }
    }
    sums.into_iter().filter(|sum| sum.count > 0).collect()
}

/// The overhead of a step and those behind it. O(events).
pub fn overhead_from(simulation: &Simulation, step: Step, params: &Params) -> Nanos {
    let events = simulation.events.iter().filter(|event| event.step >= step);
    let times = events.filter_map(|event| charge(&event, params));
    times.fold(Nanos(0), |sum, (_, time)| sum + time)
}

/// Saturates.
pub(super) fn total(overhead: &[Overhead]) -> Nanos {
    overhead.iter().fold(Nanos(0), |sum, row| sum + row.time)
}

/// The cost of one event; `None` where it is free.
fn charge(event: &Event, params: &Params) -> Option<(Cause, Nanos)> {
    let memset = || transfer(event.bytes, params.memset_bytes_per_second);
    Some(match event.kind {
        EventKind::DeviceMalloc => (Cause::Malloc, params.malloc_cost),
        EventKind::DeviceFree => (Cause::Free, params.free_cost),
        EventKind::Map => (Cause::Map, params.map_cost),
        EventKind::Unmap => (Cause::Unmap, params.unmap_cost),
        EventKind::Reserve | EventKind::Release => (Cause::Reserve, params.reserve_cost),
        EventKind::Sync => (Cause::Synchronize, params.sync_cost),
        EventKind::Reload => (Cause::Reload, transfer(event.bytes, params.reload_bytes_per_second)),
        EventKind::Memset => (Cause::LoadMemset, memset()),
        EventKind::Clear => (Cause::Clear, params.launch_cost + memset()),
        EventKind::Alloc
        | EventKind::Free
        | EventKind::Reallocate
        | EventKind::Reuse
        | EventKind::PageAlloc
        | EventKind::PageFree
        | EventKind::Recycle
        | EventKind::Grant
        | EventKind::Return
        | EventKind::Stitch
        | EventKind::Run
        | EventKind::MemoryInUse
        | EventKind::Unload
        | EventKind::OutOfMemory => return None,
    })
}

/// Time of a transfer, rounded down to nanoseconds.
fn transfer(bytes: Bytes, bytes_per_second: u64) -> Nanos {
    let nanos = u128::from(bytes.get()) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
