//! What a policy's own calls cost, by cause.
//!
//! ```text
//! time = mallocs * malloc + frees * free + pages mapped * map + ... + clears * launch + bytes / bandwidth
//! ```
//!
//! In: a log and the cost figures. Out: one [`Overhead`] a cause that occurs, in the order of [`Cause::ALL`]. Counts
//! are exact, times are estimates. Stitching has no cause of its own: its range is reserved and its pages are
//! mapped. Sums never wrap.

use crate::event::{Event, EventKind, Simulation};
use crate::params::Params;
use highwater_model::units::{Bytes, Nanos};

/// What takes time beside the graphs' ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Mallocs of the driver.
    Malloc,
    /// Frees of the driver.
    Free,
    /// Pages that are mapped.
    Map,
    /// Pages that are unmapped.
    Unmap,
    /// Virtual ranges that are reserved or given back.
    Reserve,
    /// Waits for a stream.
    Synchronize,
    /// Unloaded graphs that are loaded again: their bytes from the host.
    Reload,
    /// Memory that the engine sets to zero when it loads graphs.
    LoadMemset,
    /// Launches that clear what ops add to, and the bytes that they clear.
    Clear,
    /// Ops that are computed anew; no event of the device, so it is added from the rewritten program.
    Recompute,
}

impl Cause {
    /// Every cause, in the order in which they are listed.
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

    /// Its name in files, one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
            Self::Map => "map",
            Self::Unmap => "unmap",
            Self::Reserve => "reserve",
            Self::Synchronize => "synchronize",
            Self::Reload => "reload",
            Self::LoadMemset => "load_memset",
            Self::Clear => "clear",
            Self::Recompute => "recompute",
        }
    }

    /// What is counted, in a few words for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Malloc => "device mallocs",
            Self::Free => "device frees",
            Self::Map => "pages mapped",
            Self::Unmap => "pages unmapped",
            Self::Reserve => "ranges reserved or released",
            Self::Synchronize => "waits for a stream",
            Self::Reload => "graphs loaded again",
            Self::LoadMemset => "memory zeroed at load",
            Self::Clear => "clears before ops that add up",
            Self::Recompute => "ops computed anew",
        }
    }
}

/// What one cause costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// What.
    pub cause: Cause,
    /// How often: exact.
    pub count: u64,
    /// How long, all together: an estimate.
    pub time: Nanos,
}

/// The causes that occur, in the order of [`Cause::ALL`]. O(events).
pub fn overhead(simulation: &Simulation, params: &Params) -> Vec<Overhead> {
    let mut sums = Cause::ALL.map(|cause| Overhead {
        cause,
        count: 0,
        time: Nanos(0),
    });
    for event in &simulation.events {
        if let Some((cause, time)) = charge(event, params) {
            let sum = &mut sums[cause as usize];
            sum.count += 1;
            sum.time = sum.time + time;
        }
    }
    sums.into_iter().filter(|sum| sum.count > 0).collect()
}

/// The whole time; saturates.
pub(super) fn total(overhead: &[Overhead]) -> Nanos {
    overhead.iter().fold(Nanos(0), |sum, row| sum + row.time)
}

/// What one event costs; `None` where it is free.
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
        _ => return None,
    })
}

/// The time that bytes take at a bandwidth, cut to whole nanoseconds.
fn transfer(bytes: Bytes, bytes_per_second: u64) -> Nanos {
    let nanos = u128::from(bytes.get()) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
