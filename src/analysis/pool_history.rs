//! Pools of a recorded caching allocator over time: how much each reserves and what of that is live.
//!
//! ```text
//! reserved  ______/‾‾‾‾‾‾‾‾‾‾\____   the envelope
//! live      ______/\/‾\/‾\_________   requested bytes of the blocks inside
//!                 ^ a private pool, taken by a CUDA graph or a MemPool
//! ```
//!
//! In: a [`Recording`] with segments. Out: a [`PoolHistory`] for each stream of the default pool and of each private one, whose
//! `large`, `small` and expandable segments count together: peaks of a sum are no sums of peaks. Blocks outside the segments
//! belong to no pool. Older releases state the pool of segments that
//! are held at the end alone: where there are private pools, freed segments are of a pool "not stated".

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{RecordedRegion, Recording, Segments};

/// Parts of a recording of which a curve keeps the highest value.
const PARTS: u64 = 512;

/// The field with the pool of an event, under both of its names.
const POOL_FIELDS: [&str; 2] = ["event.pool_id", "event.segment_pool_id"];

/// Which pool of a stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PoolName {
    Default,
    /// As the file numbers it: `(0, 7)`.
    Private(String),
    NotStated,
}

impl PoolName {
    pub fn new(private: Option<&str>) -> Self {
        private.map_or(Self::Default, |pool| Self::Private(pool.to_owned()))
    }

    pub fn private(&self) -> Option<&str> {
        match self {
            Self::Private(pool) => Some(pool),
            Self::Default | Self::NotStated => None,
        }
    }
}

impl std::fmt::Display for PoolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default pool"),
            Self::Private(pool) => write!(f, "private pool {pool}"),
            Self::NotStated => f.write_str("pool not stated"),
        }
    }
}

/// Bytes over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolCurve {
    pub peak: Bytes,
    /// The first step that reaches it; `None` where the curve is always 0.
    pub step: Option<Step>,
    /// On the step with most reserved bytes of all pools.
    pub at_peak_of_all: Bytes,
    pub at_end: Bytes,
    /// The highest value in each of equal parts of the recording.
    pub parts: Vec<Bytes>,
}

/// A pool of a stream over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolHistory {
    pub stream: u64,
    pub pool: PoolName,
    /// Address ranges taken in the recording.
    pub regions: u64,
    pub blocks: u64,
    /// Bytes of segments.
    pub reserved: PoolCurve,
    /// Requested bytes of blocks.
    pub live: PoolCurve,
}

/// A change of a curve: its step and its bytes, which end or begin.
type Change = (Step, bool, Bytes);

#[derive(Debug, Default)]
struct Changes {
    count: u64,
    list: Vec<Change>,
}

impl Changes {
    fn add(&mut self, (birth, end): (Step, Step), bytes: Bytes) {
        self.count += 1;
        self.list.extend([(birth, false, bytes), (end, true, bytes)]);
    }

    /// O(changes log changes + parts).
    fn curve(mut self, n_steps: u32, peak_of_all: Option<Step>) -> PoolCurve {
        self.list.sort_unstable_by_key(|(step, ..)| *step);
        let n_parts = PARTS.min(n_steps.into());
        let part = |step: u32| u64::from(step) * n_parts / u64::from(n_steps.max(1));
        let mut curve = PoolCurve {
            parts: vec![Bytes::ZERO; usize::try_from(n_parts).unwrap_or_default()],
            ..PoolCurve::default()
        };
        let mut value: i128 = 0;
        let mut changes = self.list.iter().peekable();
        while let Some((step, ..)) = changes.peek().copied() {
            while let Some((_, is_end, bytes)) = changes.next_if(|(next, ..)| next == step) {
                let bytes = i128::from(bytes.get());
                value += if *is_end { -bytes } else { bytes };
            }
            let end = changes.peek().map_or(n_steps, |(next, ..)| next.0.min(n_steps));
            if step.0 >= end {
                continue;
            }
            let bytes = Bytes(u64::try_from(value).unwrap_or(u64::MAX));
            if bytes > curve.peak {
                (curve.peak, curve.step) = (bytes, Some(*step));
            }
            if peak_of_all.is_some_and(|peak| *step <= peak && peak.0 < end) {
                curve.at_peak_of_all = bytes;
            }
            if end == n_steps {
                curve.at_end = bytes;
            }
            for highest in (part(step.0)..=part(end - 1)).filter_map(|part| usize::try_from(part).ok()) {
                curve.parts[highest] = curve.parts[highest].max(bytes);
            }
        }
        curve
    }
}

/// The pools by stream, the default one first; empty where there is but one, whose figures are those of the recording.
/// O((blocks + segments) log (blocks + segments)).
pub fn pool_histories(recording: &Recording) -> Vec<PoolHistory> {
    let names = Names::new(recording);
    let keys: Vec<(u64, PoolName)> = recording.regions.iter().map(|region| names.key(region)).collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 {
        return Vec::new();
    }
    let positions: BTreeMap<&(u64, PoolName), usize> = distinct.iter().zip(0..).collect();
    let of_region: Vec<usize> = keys.iter().map(|key| positions[key]).collect();
    let mut pools: Vec<[Changes; 2]> = distinct.iter().map(|_| Default::default()).collect();
    for (region, pool) in recording.regions.iter().zip(&of_region) {
        pools[*pool][0].add((region.birth, region.end), region.bytes);
    }
    let segments = Segments::new(recording);
    for block in &recording.blocks {
        if let Some(segment) = segments.of(block) {
            pools[of_region[segment.region as usize]][1].add((block.birth, block.end), block.bytes);
        }
    }
    let peak = recording.peaks().reserved.1;
    let histories = distinct.into_iter().zip(pools);
    let histories = histories.map(|((stream, pool), [reserved, live])| PoolHistory {
        stream,
        pool,
        regions: reserved.count,
        blocks: live.count,
        reserved: reserved.curve(recording.n_steps, peak),
        live: live.curve(recording.n_steps, peak),
    });
    histories.collect()
}

/// The pools of regions.
struct Names<'a> {
    recording: &'a Recording,
    /// Whether a region that was freed, without a private pool, may have been of one.
    has_unstated: bool,
}

impl<'a> Names<'a> {
    fn new(recording: &'a Recording) -> Self {
        let is_stated =
            recording.simulation.is_some() || recording.fields.iter().any(|field| POOL_FIELDS.contains(&&**field));
        let mut regions = recording.regions.iter();
        let has_private = regions.any(|region| recording.segment_kind(region.kind).1.is_some());
        Self {
            recording,
            has_unstated: has_private && !is_stated,
        }
    }

    fn key(&self, region: &RecordedRegion) -> (u64, PoolName) {
        let private = self.recording.segment_kind(region.kind).1;
        let is_cut = self.recording.range.is_some_and(|range| range.is_cut_at_end());
        let is_freed = region.end.0 < self.recording.n_steps || is_cut;
        let pool = match private {
            None if is_freed && self.has_unstated => PoolName::NotStated,
            private => PoolName::new(private),
        };
        (region.stream, pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::{BlockAddress, RecordedBlock, RecordedNames, pooled_kind};

    /// Streams, pools, ranges of steps and bytes of regions, and blocks by address, range of steps and bytes.
    fn recording(has_pool_field: bool) -> Recording {
        let mut names = RecordedNames::default();
        let mut region =
            |address: u64, bytes: u64, (birth, end): (u32, u32), pool: Option<(u64, u64)>| RecordedRegion {
                address,
                bytes: Bytes(bytes),
                birth: Step(birth),
                end: Step(end),
                stream: 3,
                kind: names.intern(&pool.map_or_else(|| "large".to_owned(), |pool| pooled_kind("large", pool))),
                is_older: false,
            };
        let regions = vec![
            region(0x1000, 0x100, (0, 10), None),
            region(0x2000, 0x400, (2, 10), Some((0, 1))),
            region(0x3000, 0x200, (2, 5), Some((0, 1))),
            region(0x4000, 0x080, (1, 6), None),
        ];
        let block = |address: u64, bytes: u64, (birth, end): (u32, u32)| RecordedBlock {
            address: BlockAddress::new(address),
            ..RecordedBlock::new(names.intern("b"), Step(birth), Step(end), Bytes(bytes))
        };
        let mut blocks = [
            (0x1000, 0x10, (0, 10)),
            (0x2000, 0x300, (2, 4)),
            (0x3000, 0x180, (3, 5)),
            (0x2000, 0x20, (4, 9)),
            (0x9000, 0x20, (4, 9)),
        ];
        blocks.sort_unstable_by_key(|(.., (birth, _))| *birth);
        let mut block = block;
        let blocks = blocks
            .map(|(address, bytes, range)| block(address, bytes, range))
            .to_vec();
        let fields = has_pool_field.then(|| "event.pool_id".to_owned());
        Recording {
            n_steps: 10,
            blocks,
            regions,
            fields: fields.into_iter().collect(),
            names: names.finish(),
            ..Recording::default()
        }
    }

    fn texts(recording: &Recording) -> Vec<String> {
        let curve = |curve: &PoolCurve| {
            let step = curve.step.map_or_else(|| "-".to_owned(), |step| step.to_string());
            let parts: Vec<String> = curve.parts.iter().map(|bytes| format!("{:x}", bytes.get())).collect();
            format!(
                "{:x} at {step}, {:x} at the peak, {:x} at the end: {}",
                curve.peak.get(),
                curve.at_peak_of_all.get(),
                curve.at_end.get(),
                parts.join(" ")
            )
        };
        let text = |pool: &PoolHistory| {
            let (reserved, live) = (curve(&pool.reserved), curve(&pool.live));
            let (stream, name) = (pool.stream, &pool.pool);
            format!("{stream} {name} {} {}\n{reserved}\n{live}", pool.regions, pool.blocks)
        };
        pool_histories(recording).iter().map(text).collect()
    }

    #[test]
    fn private_pools_have_envelopes_of_all_their_segments() {
        let private = "3 private pool (0, 1) 2 3\n\
                       600 at 2, 600 at the peak, 400 at the end: 0 0 600 600 600 400 400 400 400 400\n\
                       480 at 3, 300 at the peak, 0 at the end: 0 0 300 480 1a0 20 20 20 20 0";
        assert_eq!(
            texts(&recording(true)),
            [
                "3 default pool 2 1\n\
                 180 at 1, 180 at the peak, 100 at the end: 100 180 180 180 180 180 100 100 100 100\n\
                 10 at 0, 10 at the peak, 10 at the end: 10 10 10 10 10 10 10 10 10 10",
                private
            ]
        );
        assert_eq!(
            texts(&recording(false)),
            [
                "3 default pool 1 1\n\
                 100 at 0, 100 at the peak, 100 at the end: 100 100 100 100 100 100 100 100 100 100\n\
                 10 at 0, 10 at the peak, 10 at the end: 10 10 10 10 10 10 10 10 10 10",
                private,
                "3 pool not stated 1 0\n\
                 80 at 1, 80 at the peak, 0 at the end: 0 80 80 80 80 80 0 0 0 0\n\
                 0 at -, 0 at the peak, 0 at the end: 0 0 0 0 0 0 0 0 0 0"
            ]
        );
    }

    #[test]
    fn a_single_pool_is_the_recording() {
        let mut one = recording(true);
        one.regions.retain(|region| region.address % 0x3000 == 0x1000);
        assert!(pool_histories(&one).is_empty());
        assert!(pool_histories(&Recording::default()).is_empty());
    }

    #[test]
    fn the_sum_of_the_pools_at_the_peak_is_the_peak() {
        let recording = recording(true);
        let sum: Bytes = pool_histories(&recording)
            .iter()
            .map(|pool| pool.reserved.at_peak_of_all)
            .sum();
        assert_eq!(sum, recording.peaks().reserved.0);
    }
}
