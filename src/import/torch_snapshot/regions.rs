//! Regions of a device walked backwards: the ranges that are mapped at the current event, and when each was mapped.
//!
//! In: the final segments and the events that map and unmap. Out: one region for each range that was taken at once.
//! A segment and a range of an expandable segment are the same here: an event may end a part of a region, and a region
//! may end in parts. Invariants: live ranges never overlap; every region is within the steps and not empty.

use std::collections::BTreeMap;

use super::device::Device;
use super::keys;
use super::replay::Count;
use super::rows::{Action, Entry};
use super::snapshot::private_pool;
use super::value::Heap;

const UNKNOWN: &str = "unknown";

/// Of the host: its allocator has one kind, which the file calls "small".
const PINNED: &str = "pinned";

/// The kind of a segment by its size, as `CUDACachingAllocator.cpp` cuts them (`get_allocation_size`): requests up to 1 MiB
/// are served from segments of 2 MiB, others from segments of 20 MiB, or of the requested size from 10 MiB on, in steps of
/// 2 MiB. Events do not state the kind.
pub(super) const fn kind_by_size(bytes: u64) -> &'static str {
    const STEP: u64 = 2 << 20;
    match bytes {
        STEP => "small",
        _ if bytes >= 10 << 20 && bytes.is_multiple_of(STEP) => "large",
        _ => UNKNOWN,
    }
}

/// A region that has been seen whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundRegion {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) birth: u32,
    pub(super) end: u32,
    pub(super) stream: u64,
    pub(super) kind: RegionKind,
    /// Whether it predates the trace.
    pub(super) is_older: bool,
}

/// The kind of a region, as far as the snapshot states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RegionKind {
    pub(super) name: &'static str,
    /// The pool, where it is private.
    pub(super) pool: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    to: u64,
    end: u32,
    stream: u64,
    kind: RegionKind,
}

#[derive(Debug)]
pub(super) struct Regions {
    live: BTreeMap<u64, Piece>,
    /// The pieces without the borders between neighbours: the end of each run.
    runs: BTreeMap<u64, u64>,
    pub(super) found: Vec<FoundRegion>,
    n_steps: u32,
    is_any: bool,
    /// Whether the final segments follow [`kind_by_size`].
    is_cut_by_rule: bool,
    /// The kind of all, where there is but one.
    only_kind: Option<&'static str>,
    /// Whether the events of a range are preceded by others: what the first one ends is not of the range.
    is_cut_at_start: bool,
    /// Freed segments whose kind follows from their size.
    pub(super) by_size: Count,
    /// Final segments that overlap, or ranges mapped without an event.
    pub(super) overlapping: Count,
    /// Ranges that were mapped, never unmapped, and are in no final segment.
    pub(super) vanished: Count,
}

impl Regions {
    pub(super) fn new(heap: &Heap, device: &Device, n_steps: u32) -> Self {
        let mut regions = Self {
            live: BTreeMap::new(),
            runs: BTreeMap::new(),
            found: Vec::new(),
            n_steps,
            is_any: false,
            is_cut_by_rule: true,
            only_kind: device.is_host.then_some(PINNED),
            is_cut_at_start: device.is_cut_at_start(),
            by_size: Count::default(),
            overlapping: Count::default(),
            vanished: Count::default(),
        };
        for segment in &device.segments {
            let name = match segment.row.kind {
                _ if device.is_host => PINNED,
                _ if segment.row.is_expandable => "expandable",
                keys::LARGE => "large",
                keys::SMALL => "small",
                _ => UNKNOWN,
            };
            if matches!(name, "large" | "small") {
                regions.is_cut_by_rule &= kind_by_size(segment.bytes) == name;
            }
            let piece = Piece {
                to: segment.address + segment.bytes,
                end: n_steps,
                stream: segment.row.stream,
                kind: RegionKind {
                    name,
                    pool: private_pool(heap, segment.row.pool),
                },
            };
            regions.insert(n_steps - 1, segment.address, piece);
        }
        regions
    }

    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    pub(super) fn covers(&self, address: u64, bytes: u64) -> bool {
        let to = address.saturating_add(bytes);
        let run = self.runs.range(..=address).next_back();
        run.is_some_and(|(_, end)| *end >= to)
    }

    /// An event that maps a range: what is live of it began there.
    pub(super) fn begin(&mut self, step: u32, entry: &Entry) {
        self.is_any = true;
        let (from, to) = (entry.address, entry.address.saturating_add(entry.size));
        let mut at = from;
        for (start, piece) in self.cut(from, to) {
            if at < start {
                self.vanish(step, at, start);
            }
            at = piece.to;
            self.push(start, Some(step), piece);
        }
        if at < to {
            self.vanish(step, at, to);
        }
    }

    /// An event that unmaps a range: it was live before.
    pub(super) fn finish(&mut self, step: u32, entry: &Entry, (stream, pool): (u64, Option<(u64, u64)>)) {
        self.is_any = true;
        let by_action = match entry.action {
            Action::SegmentUnmap => "expandable",
            _ if self.is_cut_by_rule => kind_by_size(entry.size),
            _ => UNKNOWN,
        };
        let name = self.only_kind.unwrap_or(by_action);
        if entry.action != Action::SegmentUnmap && !matches!(name, UNKNOWN | PINNED) {
            self.by_size.add(step);
        }
        let piece = Piece {
            to: entry.address.saturating_add(entry.size),
            end: step,
            stream,
            kind: RegionKind { name, pool },
        };
        self.insert(step, entry.address, piece);
    }

    /// Live regions at the first event predate the trace.
    pub(super) fn close(&mut self) {
        for (address, piece) in std::mem::take(&mut self.live) {
            if piece.end > 0 || !self.is_cut_at_start {
                self.push(address, None, piece);
            }
        }
        self.found
            .sort_by_key(|region| (region.birth, region.address, region.end));
    }

    fn vanish(&mut self, step: u32, from: u64, to: u64) {
        self.vanished.add(step);
        let kind = RegionKind {
            name: UNKNOWN,
            pool: None,
        };
        let piece = Piece {
            to,
            end: self.n_steps,
            stream: 0,
            kind,
        };
        self.push(from, Some(step), piece);
    }

    fn insert(&mut self, step: u32, from: u64, piece: Piece) {
        self.is_any = true;
        if from >= piece.to {
            return;
        }
        for (start, other) in self.cut(from, piece.to) {
            self.overlapping.add(step);
            self.push(start, Some(step), other);
        }
        self.live.insert(from, piece);
        let (mut start, mut end) = (from, piece.to);
        if let Some((below, to)) = self.runs.range(..from).next_back()
            && *to == from
        {
            start = *below;
        }
        if let Some(to) = self.runs.remove(&end) {
            end = to;
        }
        self.runs.insert(start, end);
    }

    /// Takes a range that is mapped out of the runs.
    fn cut_run(&mut self, from: u64, to: u64) {
        let Some((start, end)) = self.runs.range(..=from).next_back().map(|(start, end)| (*start, *end)) else {
            return;
        };
        self.runs.remove(&start);
        if start < from {
            self.runs.insert(start, from);
        }
        if end > to {
            self.runs.insert(to, end);
        }
    }

    /// Takes a range out of what is live; what is left of pieces on both sides stays.
    fn cut(&mut self, from: u64, to: u64) -> Vec<(u64, Piece)> {
        let mut taken = Vec::new();
        if from >= to {
            return taken;
        }
        let first = self.live.range(..from).next_back().filter(|(_, piece)| piece.to > from);
        let start = first.map_or(from, |(start, _)| *start);
        let touched: Vec<u64> = self.live.range(start..to).map(|(start, _)| *start).collect();
        for start in touched {
            let Some(piece) = self.live.remove(&start) else {
                continue;
            };
            if start < from {
                self.live.insert(start, Piece { to: from, ..piece });
            }
            if piece.to > to {
                self.live.insert(to, piece);
            }
            let inner = Piece {
                to: piece.to.min(to),
                ..piece
            };
            self.cut_run(start.max(from), inner.to);
            taken.push((start.max(from), inner));
        }
        taken
    }

    /// A region that began at a step, or before the trace.
    fn push(&mut self, address: u64, birth: Option<u32>, piece: Piece) {
        // A region that the very first event unmaps is held on that event.
        let is_older = birth.is_none();
        let birth = birth.unwrap_or(0).min(self.n_steps - 1);
        self.found.push(FoundRegion {
            address,
            bytes: piece.to - address,
            birth,
            end: piece.end.max(birth + 1),
            stream: piece.stream,
            kind: piece.kind,
            is_older,
        });
    }
}
