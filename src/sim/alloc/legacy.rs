//! The legacy caching allocator: seven bins of whole device blocks, halved on demand.
//!
//! ```text
//! bin 8 MiB    [ live 1 MiB | idle 7 MiB ]        a miss takes a block of the whole bin
//! bin 32 MiB   [ idle            32 MiB  ]        parts stay in the bin of the block that they were cut from
//! ```
//!
//! In: requests. Out: the low end of the smallest idle part in the request's bin, driver calls. Rules: a part is split
//! where the request is at most half of it; freed parts merge with their idle neighbours; blocks are returned to the
//! device only on demand. All pools share one set of bins. Invariants: parts of one block are linked in address order;
//! no two idle parts are adjacent; an idle part is in the set of its bin exactly once.

use std::collections::BTreeSet;

use super::{Address, DynamicMemory, Grant, GrantId, Order, PoolFigures, PoolKey, Shortage, SimulatedDevice};
use highwater_model::units::Bytes;

/// Sizes are multiples of it.
const ALIGNMENT: u64 = 512;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Largest request of each bin, and block size of a miss; above the last, whole GiB.
const BINS: [u64; 7] = [
    512 << 10,
    8 * MIB + ALIGNMENT,
    32 * MIB + ALIGNMENT,
    128 * MIB + ALIGNMENT,
    256 * MIB + ALIGNMENT,
    512 * MIB + ALIGNMENT,
    GIB,
];

/// Counters under the allocator's own names. Bytes, except the count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyFigures {
    /// Reserved device memory.
    pub held: u64,
    pub used: u64,
    pub idle: u64,
    pub idle_parts: u64,
}

/// A part of a device block.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: Address,
    bytes: u64,
    requested: u64,
    bin: usize,
    before: Option<u32>,
    behind: Option<u32>,
    is_idle: bool,
}

#[derive(Debug, Default)]
pub struct LegacyBins {
    parts: Vec<Part>,
    vacant: Vec<u32>,
    /// By size and address.
    idle: [BTreeSet<(u64, Address, u32)>; BINS.len()],
    figures: PoolFigures,
    idle_parts: u64,
}

impl LegacyBins {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn legacy_figures(&self) -> LegacyFigures {
        LegacyFigures {
            held: self.figures.occupied,
            used: self.figures.live,
            idle: self.figures.idle,
            idle_parts: self.idle_parts,
        }
    }

    /// Returns unused, unsplit blocks to the device: bins ascending, smallest first.
    pub fn recycle(&mut self, device: &mut SimulatedDevice) {
        self.figures.recycles += 1;
        for bin in 0..BINS.len() {
            let whole = |(_, _, part): &&(u64, Address, u32)| {
                let part = &self.parts[*part as usize];
                part.before.is_none() && part.behind.is_none()
            };
            let found: Vec<u32> = self.idle[bin].iter().filter(whole).map(|(_, _, part)| *part).collect();
            for idx in found {
                self.remove_idle(idx);
                let part = self.parts[idx as usize];
                device.driver.free(part.at, Bytes(part.bytes));
                self.figures.occupied -= part.bytes;
                self.figures.blocks_returned += 1;
                self.vacant.push(idx);
            }
        }
    }

    /// Allocates a device block for a miss, with one retry, as the engine does.
    fn grow(&mut self, bytes: u64, bin: usize, device: &mut SimulatedDevice) -> Result<(), Shortage> {
        let size = BINS.get(bin).copied().filter(|size| *size >= bytes);
        let size = Bytes(size.unwrap_or_else(|| Bytes(bytes).align_up(GIB).get()));
        let at = match device.driver.malloc(size) {
            Ok(at) => at,
            Err(_) => device.driver.malloc(size)?,
        };
        self.figures.occupied += size.get();
        self.figures.occupied_peak = self.figures.occupied_peak.max(self.figures.occupied);
        self.figures.blocks_requested += 1;
        let part = self.add_part(Part {
            at,
            bytes: size.get(),
            requested: 0,
            bin,
            before: None,
            behind: None,
            is_idle: false,
        });
        self.add_idle(part);
        Ok(())
    }

    /// The smallest idle part of a bin that fits; of equal ones the lowest.
    fn find(&self, bytes: u64, bin: usize) -> Option<u32> {
        let from = (bytes, Address::device(0), 0);
        self.idle[bin].range(from..).next().map(|(_, _, part)| *part)
    }

    /// Splits off the upper end of a taken part where the request is at most half of it.
    fn cut(&mut self, idx: u32, bytes: u64) {
        let whole = self.parts[idx as usize];
        if bytes > whole.bytes / 2 {
            return;
        }
        let rest = self.add_part(Part {
            at: whole.at.plus(bytes),
            bytes: whole.bytes - bytes,
            before: Some(idx),
            ..whole
        });
        if let Some(behind) = whole.behind {
            self.parts[behind as usize].before = Some(rest);
        }
        let low = &mut self.parts[idx as usize];
        low.bytes = bytes;
        low.behind = Some(rest);
        self.add_idle(rest);
    }

    /// Appends `high` to `low`; both are in no set.
    fn join(&mut self, low: u32, high: u32) {
        let Part { bytes, behind, .. } = self.parts[high as usize];
        let part = &mut self.parts[low as usize];
        part.bytes += bytes;
        part.behind = behind;
        if let Some(behind) = behind {
            self.parts[behind as usize].before = Some(low);
        }
        self.vacant.push(high);
    }

    fn add_part(&mut self, part: Part) -> u32 {
        if let Some(idx) = self.vacant.pop() {
            self.parts[idx as usize] = part;
            return idx;
        }
        self.parts.push(part);
        u32::try_from(self.parts.len() - 1).unwrap_or(u32::MAX)
    }

    fn add_idle(&mut self, idx: u32) {
        let part = &mut self.parts[idx as usize];
        part.is_idle = true;
        self.figures.idle += part.bytes;
        self.idle_parts += 1;
        self.idle[part.bin].insert((part.bytes, part.at, idx));
    }

    fn remove_idle(&mut self, idx: u32) {
        let part = &mut self.parts[idx as usize];
        part.is_idle = false;
        self.figures.idle -= part.bytes;
        self.idle_parts -= 1;
        self.idle[part.bin].remove(&(part.bytes, part.at, idx));
    }

    fn idle_neighbour(&self, neighbour: Option<u32>) -> Option<u32> {
        neighbour.filter(|idx| self.parts[*idx as usize].is_idle)
    }

    fn free_part(&mut self, idx: u32) {
        let mut idx = idx;
        if let Some(before) = self.idle_neighbour(self.parts[idx as usize].before) {
            self.remove_idle(before);
            self.join(before, idx);
            idx = before;
        }
        if let Some(behind) = self.idle_neighbour(self.parts[idx as usize].behind) {
            self.remove_idle(behind);
            self.join(idx, behind);
        }
        self.add_idle(idx);
    }
}

fn bin_of(bytes: u64) -> usize {
    let fitting = BINS.iter().position(|most| bytes <= *most);
    fitting.unwrap_or(BINS.len() - 1)
}

impl DynamicMemory for LegacyBins {
    fn allocate(&mut self, _pool: PoolKey, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Grant, Shortage> {
        let rounded = bytes.align_up(ALIGNMENT).get().max(ALIGNMENT);
        let bin = bin_of(rounded);
        if self.find(rounded, bin).is_none() {
            self.grow(rounded, bin, device)?;
        }
        let found = self.find(rounded, bin);
        let idx = found.ok_or(Shortage { requested: bytes })?;
        self.remove_idle(idx);
        self.cut(idx, rounded);
        let part = &mut self.parts[idx as usize];
        part.requested = bytes.get();
        let figures = &mut self.figures;
        figures.live += part.bytes;
        figures.theory += part.bytes;
        figures.theory_peak = figures.theory_peak.max(figures.theory);
        figures.requested += part.requested;
        figures.requested_peak = figures.requested_peak.max(figures.requested);
        figures.requests_met += 1;
        Ok(Grant {
            id: GrantId(idx),
            at: part.at,
            bytes: Bytes(part.bytes),
            is_stitched: false,
        })
    }

    fn free(&mut self, _pool: PoolKey, grant: GrantId, _device: &mut SimulatedDevice) {
        let Some(part) = self.parts.get(grant.0 as usize).copied() else {
            return;
        };
        self.figures.live -= part.bytes;
        self.figures.theory -= part.bytes;
        self.figures.requested -= part.requested;
        self.figures.grants_freed += 1;
        self.free_part(grant.0);
    }

    fn manage(&mut self, order: Order, device: &mut SimulatedDevice) {
        if matches!(order, Order::Recycle(_) | Order::RecycleDevice) {
            self.recycle(device);
        }
    }

    fn figures(&self, _pool: Option<PoolKey>) -> Option<PoolFigures> {
        Some(self.figures)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{calls, device};
    use super::*;

    const POOL: PoolKey = PoolKey(0);

    fn allocate(bins: &mut LegacyBins, bytes: u64, device: &mut SimulatedDevice) -> Grant {
        bins.allocate(POOL, Bytes(bytes), device).expect("room")
    }

    #[test]
    fn a_request_takes_the_low_half_or_the_whole_block() {
        let (mut bins, mut device) = (LegacyBins::new(), device(Bytes::gib(4)));
        let half = allocate(&mut bins, 256 << 10, &mut device);
        assert_eq!((half.at.offset(), half.bytes), (0, Bytes::kib(256)));
        let whole = allocate(&mut bins, (128 << 10) + 1, &mut device);
        assert_eq!((whole.at.offset(), whole.bytes), (256 << 10, Bytes::kib(256)));
        let most = allocate(&mut bins, (256 << 10) + 1, &mut device);
        assert_eq!(most.bytes, Bytes::kib(512));
        assert_eq!(device.driver.in_use(), Bytes::kib(1024));
    }

    #[test]
    fn each_bin_takes_blocks_of_its_size_and_above_the_last_whole_gibibytes() {
        for (bytes, block) in [
            (0, 512 << 10),
            (9 * MIB, 32 * MIB + 512),
            (8 * MIB + 512, 8 * MIB + 512),
            (GIB, GIB),
            (GIB + 1, 2 * GIB),
        ] {
            let (mut bins, mut device) = (LegacyBins::new(), device(Bytes::gib(4)));
            allocate(&mut bins, bytes, &mut device);
            assert_eq!(device.driver.in_use(), Bytes(block), "{bytes}");
        }
    }

    #[test]
    fn only_the_own_bin_is_searched_and_idle_neighbours_are_joined() {
        let (mut bins, mut device) = (LegacyBins::new(), device(Bytes::gib(4)));
        let grants: Vec<Grant> = (0..4).map(|_| allocate(&mut bins, 2 * MIB, &mut device)).collect();
        for idx in [0, 2, 1] {
            bins.free(POOL, grants[idx].id, &mut device);
        }
        assert_eq!(bins.legacy_figures().idle_parts, 1);
        assert_eq!(allocate(&mut bins, 6 * MIB, &mut device).at.offset(), 0);
        allocate(&mut bins, 20 * MIB, &mut device);
        allocate(&mut bins, MIB, &mut device);
        assert_eq!(calls(&device), ["malloc"; 3]);
    }

    #[test]
    fn a_refused_block_is_asked_for_twice_and_recycling_frees_whole_blocks_by_bin() {
        let (mut bins, mut device) = (LegacyBins::new(), device(Bytes::mib(50)));
        let large = allocate(&mut bins, 20 * MIB, &mut device);
        let small = allocate(&mut bins, 100, &mut device);
        let kept = allocate(&mut bins, 100, &mut device);
        let refused = bins.allocate(POOL, Bytes(GIB + 1), &mut device);
        assert_eq!(
            refused,
            Err(Shortage {
                requested: Bytes::gib(2)
            })
        );
        bins.free(POOL, large.id, &mut device);
        bins.free(POOL, small.id, &mut device);
        bins.manage(Order::Recycle(POOL), &mut device);
        bins.free(POOL, kept.id, &mut device);
        bins.manage(Order::RecycleDevice, &mut device);
        let expected = ["malloc", "malloc", "malloc_fail", "malloc_fail", "free", "free"];
        assert_eq!(calls(&device), expected);
        assert_eq!(bins.legacy_figures(), LegacyFigures::default());
    }

    #[test]
    fn absurd_requests_are_refused() {
        let (mut bins, mut device) = (LegacyBins::new(), device(Bytes::gib(4)));
        assert!(bins.allocate(POOL, Bytes(u64::MAX), &mut device).is_err());
    }
}
