//! Figures of recordings, for `inspect`.
//!
//! Peaks count requested bytes, as the file states them; blocks that predate the recording count from its first step.
//! Nothing is estimated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::allocator_state::{AllocatorState, AllocatorSums};
use super::pool_history::{PoolHistory, pool_histories};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    Category, CategoryBasis, MarkKind, RecordedBlock, RecordedMemory, RecordedPeaks, RecordedPhase, RecordedRange,
    Recording, TotalKind,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifetimeFigures {
    pub name: String,
    pub count: u64,
    pub peak: Bytes,
    pub total: Bytes,
}

/// How much of the reserved bytes a recording uses, in the only definition that all answers share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// Peak live and peak reserved, each at its own peak, as in simulated lanes, so that events that share a step make no
    /// difference; `None` where the file does not state how much of the reserved bytes is used.
    pub peaks: Option<(Bytes, Bytes)>,
    /// The allocator at [`Recording::fullest_step`]; `None` where the file lists no segments, or not all of them.
    pub at_peak: Option<(Step, AllocatorSums)>,
}

impl Fragmentation {
    /// 1 - peak live / peak reserved; 0 where nothing is reserved.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
    pub fn share(&self) -> Option<f64> {
        let (live, reserved) = self.peaks?;
        if reserved == Bytes::ZERO {
            return Some(0.0);
        }
        Some((1.0 - live.get() as f64 / reserved.get() as f64).max(0.0))
    }
}

/// Blocks of an inferred category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryFigures {
    pub category: Category,
    /// What the inference rests on.
    pub basis: CategoryBasis,
    pub blocks: u64,
    pub bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingFigures {
    pub name: String,
    /// Empty where the file states none.
    pub device: String,
    /// Whether it is pinned memory of the host.
    pub is_host: bool,
    /// The events of the file that were read; `None` for all.
    pub range: Option<RecordedRange>,
    /// Of the recorded device; `None` where the file does not state it.
    pub device_memory: Option<RecordedMemory>,
    /// The tool that wrote it.
    pub recorder: String,
    /// Events, or distinct times.
    pub steps: u32,
    /// Whether it holds the state at one moment and no events.
    pub is_one_moment: bool,
    /// From the first time to the last; `None` without times.
    pub duration: Option<Nanos>,
    /// Blocks whose allocation is recorded.
    pub blocks: u64,
    /// Blocks that predate the recording.
    pub older_blocks: u64,
    pub older_bytes: Bytes,
    /// Blocks that appear within the recording without an allocation.
    pub appeared_blocks: u64,
    /// Blocks not freed in the recording.
    pub never_freed: u64,
    /// Freed blocks without a recorded allocation.
    pub older_freed: u64,
    /// Requested bytes that are live at the end.
    pub live_at_end: Bytes,
    /// The part of them without a recorded allocation.
    pub older_live_at_end: Bytes,
    /// Bytes that the allocator holds for them, as far as the file states it.
    pub held_at_end: Bytes,
    /// Bytes of regions at the end.
    pub reserved_at_end: Bytes,
    /// Of all blocks.
    pub peak: (Bytes, Option<Step>),
    /// Of the blocks whose allocation is recorded.
    pub peak_seen: (Bytes, Option<Step>),
    /// Of the regions.
    pub reserved: (Bytes, Option<Step>),
    pub regions: u64,
    pub fragmentation: Fragmentation,
    /// Measured ops.
    pub ops: u64,
    /// Numbers of single events by kind.
    pub marks: Vec<(MarkKind, u64)>,
    /// Peaks of the stated curves.
    pub totals: Vec<(TotalKind, Bytes, Option<Step>)>,
    /// Annotated ranges of events: name, first event, exclusive end; by start.
    pub phases: Vec<(String, Step, Step)>,
    /// The number of steps that phases mark.
    pub step_marks: u64,
    /// Pools over time, where there are several.
    pub pools: Vec<PoolHistory>,
    /// The blocks of the live peak by inferred category, the largest first; empty where none has one.
    pub categories: Vec<CategoryFigures>,
    pub settings: Vec<(String, String)>,
    /// Counts of records by kind.
    pub counts: Vec<(String, u64)>,
}

/// O(blocks + regions + steps).
pub fn recording_figures(recording: &Recording) -> RecordingFigures {
    let peaks = recording.peaks();
    let blocks = &recording.blocks;
    let unseen = || blocks.iter().filter(|block| block.is_older);
    let older = || unseen().filter(|block| !block.appears());
    let at_end = || {
        let live = blocks.iter().filter(|block| block.end.0 == recording.n_steps);
        live.filter(|block| !block.is_freed)
    };
    let regions = recording.regions.iter();
    let regions_at_end = regions.filter(|region| region.end.0 == recording.n_steps);
    let (first, last) = (recording.times.first(), recording.times.last());
    let mut marks: BTreeMap<MarkKind, u64> = BTreeMap::new();
    for mark in &recording.marks {
        *marks.entry(mark.kind).or_default() += 1;
    }
    let phase = |phase: &RecordedPhase| (recording.text(phase.name).to_owned(), phase.start, phase.end);
    let totals = recording.totals.iter().map(|total| (total.kind, total.peak()));
    RecordingFigures {
        name: recording.name.clone(),
        device: recording.device.clone(),
        is_host: recording.is_host,
        range: recording.range,
        device_memory: recording.device_memory,
        recorder: recording.recorder.clone(),
        steps: recording.n_steps,
        is_one_moment: recording.is_one_moment(),
        duration: first.zip(last).map(|(first, last)| Nanos(last.0 - first.0)),
        blocks: (blocks.len() - unseen().count()) as u64,
        older_blocks: older().count() as u64,
        older_bytes: older().map(|block| block.bytes).sum(),
        appeared_blocks: unseen().filter(|block| block.appears()).count() as u64,
        never_freed: blocks.iter().filter(|block| !block.is_freed).count() as u64,
        older_freed: unseen().filter(|block| block.is_freed).count() as u64,
        live_at_end: at_end().map(|block| block.bytes).sum(),
        older_live_at_end: at_end().filter(|block| block.is_older).map(|block| block.bytes).sum(),
        held_at_end: at_end().map(|block| block.held).sum(),
        reserved_at_end: regions_at_end.map(|region| region.bytes).sum(),
        peak: stated_live(recording).unwrap_or(peaks.live),
        peak_seen: peaks.seen,
        reserved: peaks.reserved,
        regions: recording.regions.len() as u64,
        fragmentation: fragmentation_at(recording, &peaks),
        ops: recording.ops.len() as u64,
        marks: marks.into_iter().collect(),
        totals: totals.map(|(kind, (bytes, step))| (kind, bytes, step)).collect(),
        phases: recording.phases.iter().map(phase).collect(),
        step_marks: recording.step_marks().len() as u64,
        pools: pool_histories(recording),
        categories: categories_at_peak(recording, peaks.live.1),
        settings: recording.settings.clone(),
        counts: recording.counts.clone(),
    }
}

fn categories_at_peak(recording: &Recording, peak: Option<Step>) -> Vec<CategoryFigures> {
    let Some(peak) = peak else { return Vec::new() };
    let n_begun = recording.blocks.partition_point(|block| block.birth <= peak);
    let mut sums: BTreeMap<(Category, CategoryBasis), (u64, Bytes)> = BTreeMap::new();
    for block in recording.blocks[..n_begun].iter().filter(|block| peak < block.end) {
        let (count, bytes) = sums.entry((block.category, block.basis)).or_default();
        *count += 1;
        *bytes += block.bytes;
    }
    if sums.keys().all(|(category, _)| *category == Category::Unknown) {
        return Vec::new();
    }
    let figures = sums
        .into_iter()
        .map(|((category, basis), (blocks, bytes))| CategoryFigures {
            category,
            basis,
            blocks,
            bytes,
        });
    let mut figures: Vec<CategoryFigures> = figures.collect();
    figures.sort_by_key(|one| (Reverse(one.bytes), one.category, one.basis));
    figures
}

/// O(blocks + regions + steps).
pub(super) fn fragmentation(recording: &Recording) -> Fragmentation {
    fragmentation_at(recording, &recording.peaks())
}

fn fragmentation_at(recording: &Recording, peaks: &RecordedPeaks) -> Fragmentation {
    let (live, reserved) = (peaks.live.0, peaks.reserved.0);
    if !recording.states_use_of_reserved(live, reserved) {
        return Fragmentation::default();
    }
    // A profiler does not list all blocks of its pool.
    let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
    let used = stated.filter(|_| recording.regions.is_empty()).unwrap_or(live);
    let at_peak = recording.fullest_step().and_then(|event| {
        let state = AllocatorState::new(recording, event)?;
        Some((event, state.sums))
    });
    Fragmentation {
        peaks: Some((used, reserved)),
        at_peak,
    }
}

/// A warning where the blocks sum up to more than twice the allocated bytes that the file states, which means that some
/// size is damaged.
pub(super) fn contradiction(recording: &Recording) -> Option<String> {
    let stated = recording.total(TotalKind::Allocated);
    let stated = stated.filter(|_| !recording.blocks.is_empty())?.peak().0;
    let live = recording.peaks().live.0;
    let is_much = stated > Bytes::ZERO && live.get() / 2 > stated.get();
    let largest = recording.blocks.iter().max_by_key(|block| block.bytes)?;
    is_much.then(|| {
        format!(
            "the blocks sum up to {live} live, more than twice the {stated} that the file states as allocated: a size \
             is wrong, perhaps that of the largest block, \"{}\" ({})",
            recording.block_name(largest),
            largest.bytes
        )
    })
}

/// The peak of the stated curve, where the file lists no block.
fn stated_live(recording: &Recording) -> Option<(Bytes, Option<Step>)> {
    let total = recording.total(TotalKind::Allocated);
    Some(total.filter(|_| recording.blocks.is_empty())?.peak())
}

/// The entries of `lifetimes`: one per recording, or one per stream. A recording of curves alone counts its samples;
/// its peak is that of the allocated curve, else of the reserved one.
pub(super) fn lifetime_entries(recording: &Recording) -> Vec<LifetimeFigures> {
    if recording.blocks.is_empty() {
        return curve_entry(recording).into_iter().collect();
    }
    let mut streams: BTreeMap<Option<u64>, (u64, Bytes)> = BTreeMap::new();
    let stream_of = |block: &RecordedBlock| block.stated_stream().filter(|_| recording.by_stream);
    for block in &recording.blocks {
        let (count, total) = streams.entry(stream_of(block)).or_default();
        *count += 1;
        *total += block.bytes;
    }
    let is_one = streams.len() == 1;
    let entries = streams.into_iter().map(|(stream, (count, total))| LifetimeFigures {
        name: match stream {
            Some(stream) => format!("{} stream {stream}", recording.name),
            None if is_one => recording.name.clone(),
            None => format!("{} without a stream", recording.name),
        },
        count,
        total,
        peak: peak_of(recording.blocks.iter().filter(|block| stream_of(block) == stream)),
    });
    entries.collect()
}

/// The peak of blocks that are sorted by birth. O(n log n), independent of the number of steps.
fn peak_of<'a>(blocks: impl Iterator<Item = &'a RecordedBlock>) -> Bytes {
    // Ends still ahead, the first on top.
    let mut ends: BinaryHeap<Reverse<(Step, u64)>> = BinaryHeap::new();
    let (mut live, mut peak) = (0_u128, 0_u128);
    for block in blocks {
        // Blocks that end on a step are freed before others are allocated there.
        while let Some(Reverse((end, bytes))) = ends.peek().copied()
            && end <= block.birth
        {
            ends.pop();
            live -= u128::from(bytes);
        }
        live += u128::from(block.bytes.get());
        peak = peak.max(live);
        ends.push(Reverse((block.end, block.bytes.get())));
    }
    Bytes(u64::try_from(peak).unwrap_or(u64::MAX))
}

fn curve_entry(recording: &Recording) -> Option<LifetimeFigures> {
    let total = recording.total(TotalKind::Allocated);
    let total = total.or_else(|| recording.total(TotalKind::Reserved))?;
    Some(LifetimeFigures {
        name: recording.name.clone(),
        count: total.samples.len() as u64,
        peak: total.peak().0,
        total: Bytes::ZERO,
    })
}
