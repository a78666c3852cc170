//! The events of a device as a [`Recording`].
//!
//! In: what the walk found. Out: blocks by birth, regions, marks, times, counts of what the file holds. Invariants: one
//! block for each allocation that could be read, and one for each block that is older; sizes that the file does not state
//! are not made up: of a freed block only the requested bytes are known.

use super::device::{Device, Place};
use super::keys;
use super::range::TraceCut;
use super::regions::FoundRegion;
use super::replay::{Live, Replayed, is_allocation};
use super::rows::{Action, Entry, NONE, has};
use super::snapshot::Snapshot;
use super::stacks::Stacks;
use super::times::{Times, times};
use super::value::{Heap, narrow};
use crate::ImportError;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    BlockAddress, Category, CategoryBasis, EndedAtFirst, EventLog, EventTimes, FailedRequest, MarkKind, PhasePairs,
    RecordedBlock, RecordedMark, RecordedMemory, RecordedPhase, RecordedRegion, Recording, RecordingRules, pooled_kind,
};

/// Events between two checks of the cancel flag, and between two times that memory is freed.
const EVENTS_BETWEEN_CHECKS: u32 = 1 << 13;

/// Different counts that are kept.
const MOST_COUNTS: usize = 64;

/// A recording and counts for its diagnostics.
#[derive(Debug)]
pub(super) struct BuiltRecording {
    pub(super) recording: Recording,
    pub(super) times: Times,
    pub(super) annotations: Annotations,
    pub(super) stacks_left_out: u64,
    pub(super) stacks_cut: u64,
}

/// Counts of annotations that are not phases as written.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// Without a place in the trace.
    pub(super) unplaced: u64,
    /// Ends without a begin.
    pub(super) unopened: u64,
    /// Begins without an end.
    pub(super) unclosed: u64,
}

/// Makes the recording of one device. Events are given up as their blocks are made.
pub(super) fn make(
    heap: &mut Heap,
    snapshot: &Snapshot,
    place: Place,
    device: &Device,
    mut replayed: Replayed,
    budget: usize,
    progress: &Progress<'_>,
) -> Result<BuiltRecording, ImportError> {
    let regions = std::mem::take(&mut replayed.regions.found);
    let times_say = times(heap, device, progress)?;
    let counts = counts(heap, device);
    let mut maker = RecordingBuilder {
        n_steps: replayed.n_steps,
        has_times: times_say.are_known(),
        stacks: Stacks::new(budget),
        blocks: Vec::new(),
        log: EventLog::default(),
        times: EventTimes::default(),
        marks: Vec::new(),
        oom_free: Vec::new(),
    };
    // Before the events, which release the rows.
    let ended_at_first = ended_at_first(heap, device);
    maker.events(heap, snapshot, device, times_say.mended(), replayed, progress)?;
    let (phases, annotations) = maker.annotations(heap, snapshot, place, device.cut.as_ref());
    let regions = maker.regions(&regions);
    let stacks = maker.stacks;
    let mut recording = Recording {
        name: place.to_string(),
        is_host: device.is_host,
        range: device.cut.as_ref().map(TraceCut::range),
        device_memory: device_memory(&maker.oom_free, &regions).filter(|_| !device.is_host),
        recorder: "PyTorch memory snapshot".to_owned(),
        n_steps: maker.n_steps,
        events: maker.log,
        ended_at_first,
        times: maker.times,
        blocks: maker.blocks,
        regions,
        marks: maker.marks,
        phases,
        settings: snapshot.settings.clone(),
        fields: snapshot.fields.clone(),
        counts,
        ..Recording::default()
    };
    stacks.tables.finish(&mut recording);
    recording.apply_rules(&RecordingRules::default());
    Ok(BuiltRecording {
        recording,
        times: times_say,
        annotations,
        stacks_left_out: stacks.left_out,
        stacks_cut: stacks.cut,
    })
}

/// What the first event frees or gives back.
fn ended_at_first(heap: &Heap, device: &Device) -> Option<EndedAtFirst> {
    use Action::{FreeCompleted, FreeRequested, SegmentFree, SegmentUnmap};
    let row = device.trace.rows().next()?;
    let entry = heap.rows.entries.get(row)?;
    let is_end = matches!(entry.action, FreeRequested | FreeCompleted | SegmentFree | SegmentUnmap);
    (is_end && entry.has(has::ADDRESS | has::SIZE)).then(|| EndedAtFirst {
        address: entry.address,
        bytes: Bytes(entry.size),
        stream: heap.rows.stream_at(entry.stream),
    })
}

/// The largest sum of free and reserved bytes at a failed request: the device has at least as much. O(failures + regions
/// log regions).
fn device_memory(free: &[(u32, u64)], regions: &[RecordedRegion]) -> Option<RecordedMemory> {
    let mut changes: Vec<(u32, i128)> = Vec::new();
    for region in regions.iter().filter(|_| !free.is_empty()) {
        let bytes = i128::from(region.bytes.get());
        changes.extend([(region.birth.0, bytes), (region.end.0, -bytes)]);
    }
    changes.sort_unstable_by_key(|(step, _)| *step);
    let mut changes = changes.into_iter().peekable();
    let mut reserved = 0;
    let held = free.iter().map(|(step, free)| {
        while let Some((_, change)) = changes.next_if(|(at, _)| at <= step) {
            reserved += change;
        }
        Bytes(u64::try_from(reserved + i128::from(*free)).unwrap_or(u64::MAX))
    });
    held.max().map(|bytes| RecordedMemory {
        bytes,
        is_lower_bound: true,
    })
}

fn first_time(heap: &Heap, device: &Device, out_of_order: &[u32]) -> Nanos {
    let n_before = (0_u32..)
        .zip(out_of_order)
        .take_while(|(at, event)| at == *event)
        .count();
    let entry = device
        .trace
        .rows()
        .nth(n_before)
        .and_then(|row| heap.rows.entries.get(row));
    entry.map_or(Nanos(0), |entry| Nanos(entry.time_us.saturating_mul(1000)))
}

struct RecordingBuilder {
    n_steps: u32,
    has_times: bool,
    stacks: Stacks,
    blocks: Vec<RecordedBlock>,
    log: EventLog,
    times: EventTimes,
    marks: Vec<RecordedMark>,
    /// Free bytes of the device at failed requests, by step.
    oom_free: Vec<(u32, u64)>,
}

impl RecordingBuilder {
    fn events(
        &mut self,
        heap: &mut Heap,
        snapshot: &Snapshot,
        device: &Device,
        out_of_order: &[u32],
        mut replayed: Replayed,
        progress: &Progress<'_>,
    ) -> Result<(), ImportError> {
        let n_older = replayed.older.len() + replayed.appeared.len();
        self.blocks.reserve_exact(replayed.block_ends.len() + n_older);
        if self.has_times {
            self.times.reserve_exact(device.trace.len());
        }
        for (position, (address, live)) in (0_u32..).zip(std::mem::take(&mut replayed.older)) {
            if position.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
                progress.check()?;
            }
            // What the first event frees was held before it; of a range that is not of the range.
            if live.end > 0 || !device.is_cut_at_start() {
                self.unseen_block(heap, Step(0), address, &live);
            }
        }
        // Until the first event whose time is in order the time is that event's.
        let mut time = first_time(heap, device, out_of_order);
        let mut out_of_order = out_of_order.iter().copied().peekable();
        let mut appeared = std::mem::take(&mut replayed.appeared).into_iter().peekable();
        for (step, row) in (0_u32..).zip(device.trace.rows()) {
            if step.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
                progress.set("naming", u64::from(step), u64::from(self.n_steps))?;
                if snapshot.is_in_order {
                    heap.rows.entries.free_before(row);
                }
            }
            while let Some(block) = appeared.next_if(|block| block.birth.0 <= step) {
                self.unseen_block(heap, block.birth, block.address, &block.live);
            }
            let Some(entry) = heap.rows.entries.get(row) else {
                self.log.push(Action::Other, None);
                continue;
            };
            self.log(heap, &entry);
            if self.has_times {
                if out_of_order.next_if_eq(&step).is_none() {
                    time = Nanos(entry.time_us.saturating_mul(1000));
                }
                self.times.push(time);
            }
            if is_allocation(&entry) {
                self.block(heap, step, &entry, &mut replayed);
            } else {
                self.mark(heap, step, &entry);
            }
        }
        for block in appeared {
            self.unseen_block(heap, block.birth, block.address, &block.live);
        }
        Ok(())
    }

    /// What an event did, and where it came from. An allocation's stack is that of its block.
    fn log(&mut self, heap: &Heap, entry: &Entry) {
        let is_block = is_allocation(entry);
        let stack = if is_block || entry.frames == NONE && entry.extra == NONE {
            None
        } else {
            self.stacks.stack_of(heap, entry.frames, entry.extra).stack
        };
        // An allocation that could not be read is none.
        let action = match entry.action {
            Action::Alloc if !is_block => Action::Other,
            action => action,
        };
        self.log.push(action, stack);
    }

    fn block(&mut self, heap: &Heap, step: u32, entry: &Entry, replayed: &mut Replayed) {
        // The block_ends of the walk go from the last event to the first.
        let block_end = replayed.block_ends.pop().unwrap_or_default();
        let called = self.stacks.stack_of(heap, entry.frames, entry.extra);
        let held = replayed.held.pop_if(|(held, _)| *held == step);
        self.blocks.push(RecordedBlock {
            name: called.name,
            birth: Step(step),
            end: Step(block_end.end),
            freed_at: Step(block_end.freed_at),
            bytes: Bytes(entry.size),
            held: Bytes(held.map_or(entry.size, |(_, bytes)| bytes)),
            address: BlockAddress::new(entry.address),
            stream: heap.rows.stream_at(entry.stream),
            stack: called.stack,
            category: Category::Unknown,
            basis: CategoryBasis::Nothing,
            is_older: false,
            is_freed: replayed.unfreed.pop_if(|unfreed| *unfreed == step).is_none(),
        });
    }

    /// A block whose allocation the trace does not show.
    fn unseen_block(&mut self, heap: &Heap, birth: Step, address: u64, live: &Live) {
        let called = self.stacks.stack_of(heap, live.frames, live.extra);
        let first = birth.0 + 1;
        let end = live.end.max(first);
        self.blocks.push(RecordedBlock {
            name: called.name,
            birth,
            end: Step(end.min(self.n_steps)),
            freed_at: Step(live.freed_at.clamp(first, end).min(self.n_steps)),
            bytes: Bytes(live.bytes),
            held: Bytes(live.held),
            address: BlockAddress::new(address),
            stream: live.stream,
            stack: called.stack,
            category: Category::Unknown,
            basis: CategoryBasis::Nothing,
            is_older: true,
            is_freed: !live.is_final,
        });
    }

    /// Marks for events that are neither blocks nor regions.
    fn mark(&mut self, heap: &Heap, step: u32, entry: &Entry) {
        if entry.action == Action::OutOfMemory && entry.has(has::DEVICE_FREE) {
            self.oom_free.push((step, entry.address));
        }
        let (kind, text) = match entry.action {
            Action::OutOfMemory if entry.has(has::DEVICE_FREE) => (
                MarkKind::OutOfMemory,
                format!("{} bytes free on the device", entry.address),
            ),
            Action::OutOfMemory => (MarkKind::OutOfMemory, String::new()),
            Action::Snapshot => (MarkKind::Snapshot, String::new()),
            Action::Other => {
                let extra = heap.rows.extra_at(entry.extra);
                let texts = [extra.action, extra.user_metadata].map(|text| heap.text_at(text));
                let texts: Vec<String> = texts.into_iter().flatten().map(super::snapshot::cut).collect();
                (MarkKind::Note, texts.join(": "))
            }
            Action::Alloc
            | Action::Free
            | Action::FreeRequested
            | Action::FreeCompleted
            | Action::SegmentAlloc
            | Action::SegmentFree
            | Action::SegmentMap
            | Action::SegmentUnmap => return,
        };
        self.marks.push(RecordedMark {
            step: Step(step),
            kind,
            text: self.stacks.tables.names.intern(&text),
            bytes: Bytes(if entry.has(has::SIZE) { entry.size } else { 0 }),
            failed: (kind == MarkKind::OutOfMemory).then(|| FailedRequest {
                free: entry.has(has::DEVICE_FREE).then_some(Bytes(entry.address)),
                stream: heap.rows.stream_at(entry.stream),
                stack: self.stacks.stack_of(heap, entry.frames, entry.extra).stack,
            }),
        });
    }

    fn regions(&mut self, found: &[FoundRegion]) -> Vec<RecordedRegion> {
        let regions = found.iter().map(|region| {
            let kind = match region.kind.pool {
                Some(pool) => self.stacks.tables.names.intern(&pooled_kind(region.kind.name, pool)),
                None => self.stacks.tables.names.intern(region.kind.name),
            };
            RecordedRegion {
                address: region.address,
                bytes: Bytes(region.bytes),
                birth: Step(region.birth),
                end: Step(region.end),
                stream: region.stream,
                kind,
                is_older: region.is_older,
            }
        });
        regions.collect()
    }

    /// Marks of what the user noted, at the first event that is not earlier, and phases from begins to ends.
    fn annotations(
        &mut self,
        heap: &Heap,
        snapshot: &Snapshot,
        place: Place,
        cut: Option<&TraceCut>,
    ) -> (Vec<RecordedPhase>, Annotations) {
        let mut found = Annotations::default();
        let mut pairs = PhasePairs::default();
        for row in &snapshot.annotations {
            let Some(annotation) = heap.rows.annotations.get(*row as usize) else {
                continue;
            };
            if annotation
                .device
                .is_some_and(|device| !place.has_annotations_of(device))
            {
                continue;
            }
            let Some(time) = annotation.time_us.filter(|_| !self.times.is_empty()) else {
                found.unplaced += 1;
                continue;
            };
            let is_before = cut.is_some_and(|cut| cut.is_before(time));
            let time = Nanos(time.saturating_mul(1000));
            let n_before = narrow(self.times.n_before(time));
            let step = n_before.min(self.n_steps - 1);
            let is_behind = n_before == self.n_steps && cut.is_some_and(|cut| cut.range().is_cut_at_end());
            // A step more, for what comes before a range.
            let behind = if is_before { 0 } else { n_before + 1 };
            let name = super::snapshot::cut(heap.text_at(annotation.name).unwrap_or_default());
            let text = match annotation.stage {
                keys::START => {
                    pairs.begin(self.stacks.tables.names.intern(&name), behind);
                    format!("{name} begins")
                }
                keys::END => {
                    pairs.end(self.stacks.tables.names.intern(&name), behind);
                    format!("{name} ends")
                }
                _ => name,
            };
            if is_before || is_behind {
                continue;
            }
            self.marks.push(RecordedMark {
                step: Step(step),
                kind: MarkKind::Note,
                text: self.stacks.tables.names.intern(&text),
                bytes: Bytes::ZERO,
                failed: None,
            });
        }
        self.marks.sort_by_key(|mark| mark.step);
        let mut phases = pairs.finish(self.n_steps + 1);
        phases.retain_mut(|phase| {
            phase.start.0 = phase.start.0.saturating_sub(1);
            phase.end.0 -= 1;
            phase.start < phase.end
        });
        phases.sort_by_key(|phase| (phase.start, std::cmp::Reverse(phase.end)));
        phases.sort_by_key(|phase| (phase.start, std::cmp::Reverse(phase.end)));
        (found.unopened, found.unclosed) = (pairs.unopened, pairs.unclosed);
        (phases, found)
    }
}

/// Counts of a device: events by action, segments, blocks by state, and the stated sums.
fn counts(heap: &Heap, device: &Device) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    let mut add = |what: &str, n: u64| {
        if let Some((_, count)) = counts.iter_mut().find(|(name, _)| name == what) {
            *count = count.saturating_add(n);
        } else if counts.len() < MOST_COUNTS {
            counts.push((what.to_owned(), n));
        }
    };
    add("segments", device.segments.len() as u64);
    let n_blocks = device.states.iter().map(|count| count.blocks).sum();
    add("blocks", n_blocks);
    for segment in &device.segments {
        add("total_size", segment.bytes);
        add("allocated_size", segment.row.allocated.unwrap_or(0));
        add("active_size", segment.row.active.unwrap_or(0));
        add("expandable segments", u64::from(segment.row.is_expandable));
    }
    for count in &device.states {
        let state = super::snapshot::cut(heap.text_at(count.state).unwrap_or(b"unknown"));
        add(&format!("blocks {state}"), count.blocks);
        add(&format!("bytes {state}"), count.held);
    }
    let mut actions = [0_u64; 10];
    for row in device.trace.rows() {
        if let Some(entry) = heap.rows.entries.get(row) {
            actions[entry.action as usize] += 1;
        }
    }
    let names = [
        "alloc",
        "free_requested",
        "free_completed",
        "segment_alloc",
        "segment_free",
        "segment_map",
        "segment_unmap",
        "snapshot",
        "oom",
        "other actions",
    ];
    for (name, count) in names.into_iter().zip(actions).filter(|(_, count)| *count > 0) {
        add(name, count);
    }
    counts
}
