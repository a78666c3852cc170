//! What a device's events mean, as a [`Recording`].
//!
//! In: what the walk found. Out: blocks by birth, regions, marks, times, counts of what the file holds. Invariants: one
//! block for each allocation that could be read, and one for each block that is older; sizes that the file does not state
//! are not made up: of a block that is gone only the bytes asked for are known.

use super::keys;
use super::replay::{OlderBlock, Replayed, stream};
use super::rows::{Action, NONE, has};
use super::snapshot::{Device, Snapshot};
use super::stacks::Stacks;
use super::value::Heap;
use crate::import::ImportError;
use crate::progress::Progress;
use crate::units::{Bytes, Nanos, Step};
use crate::workload::{MarkKind, RecordedBlock, RecordedMark, RecordedRegion, Recording};

/// Events between two looks at the cancel flag.
const EVENTS_BETWEEN_CHECKS: usize = 1 << 14;

/// Different counts that are kept.
const MOST_COUNTS: usize = 64;

/// What the times of a trace are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// They are in order.
    Ordered,
    /// No event has one.
    Absent,
    /// Some events have none.
    Some,
    /// They go back.
    Unordered,
}

/// A recording and what is to be said about it.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) recording: Recording,
    pub(super) times: Times,
    /// Annotations that have no place in the trace.
    pub(super) unplaced: u64,
    /// Stacks that were left out.
    pub(super) stacks_left_out: u64,
    /// Stacks that were cut.
    pub(super) stacks_cut: u64,
}

/// Makes the recording of one device.
pub(super) fn make(
    (heap, snapshot): (&Heap, &Snapshot),
    (number, device): (u64, &Device),
    replayed: &Replayed,
    budget: usize,
    progress: &Progress<'_>,
) -> Result<Made, ImportError> {
    let mut stacks = Stacks::new(budget);
    let (times, times_say) = times(heap, device);
    let blocks = blocks((heap, device), replayed, &mut stacks, progress)?;
    let mut marks = marks(heap, device, &mut stacks);
    let unplaced = annotations((heap, snapshot), number, &times, &mut (&mut marks, &mut stacks));
    let regions = regions(replayed, &mut stacks);
    let recording = Recording {
        name: format!("device{number}"),
        recorder: "PyTorch memory snapshot".to_owned(),
        n_steps: replayed.n_steps,
        times,
        blocks,
        regions,
        marks,
        names: stacks.names.finish(),
        frames: stacks.frames,
        stacks: stacks.distinct.into_iter().collect(),
        settings: snapshot.settings.clone(),
        counts: counts(heap, device),
        ..Recording::default()
    };
    Ok(Made {
        recording,
        times: times_say,
        unplaced,
        stacks_left_out: stacks.left_out,
        stacks_cut: stacks.cut,
    })
}

/// Times in nanoseconds, where every event has one and they do not go back.
fn times(heap: &Heap, device: &Device) -> (Vec<Nanos>, Times) {
    let entries = || {
        let rows = device.entries.iter();
        rows.filter_map(|row| heap.rows.entries.get(*row as usize))
    };
    let with = entries().filter(|entry| entry.has(has::TIME)).count();
    if with == 0 {
        return (Vec::new(), Times::Absent);
    }
    if with < device.entries.len() {
        return (Vec::new(), Times::Some);
    }
    if !entries().is_sorted_by_key(|entry| entry.time_us) {
        return (Vec::new(), Times::Unordered);
    }
    let times = entries().map(|entry| Nanos(entry.time_us.saturating_mul(1000)));
    (times.collect(), Times::Ordered)
}

fn blocks(
    (heap, device): (&Heap, &Device),
    replayed: &Replayed,
    stacks: &mut Stacks,
    progress: &Progress<'_>,
) -> Result<Vec<RecordedBlock>, ImportError> {
    let n_seen = replayed.outcomes.iter().filter(|outcome| outcome.end > 0).count();
    let mut blocks = Vec::with_capacity(n_seen + replayed.older.len());
    let mut older = replayed.older.iter().peekable();
    let mut held = replayed.held.iter().rev().peekable();
    let mut unfreed = replayed.unfreed.iter().rev().peekable();
    for (position, (row, outcome)) in device.entries.iter().zip(&replayed.outcomes).enumerate() {
        let step = super::value::narrow(position);
        if position % EVENTS_BETWEEN_CHECKS == 0 {
            progress.set("naming", position as u64, device.entries.len() as u64)?;
        }
        while let Some(older) = older.next_if(|older| older.birth.0 <= step) {
            blocks.push(older_block(heap, older, replayed.n_steps, stacks));
        }
        let Some(entry) = heap.rows.entries.get(*row as usize).filter(|_| outcome.end > 0) else {
            continue;
        };
        let called = stacks.called(heap, entry.frames, entry.extra);
        let held = held.next_if(|(held, _)| *held == step).map(|(_, bytes)| *bytes);
        blocks.push(RecordedBlock {
            name: called.name,
            birth: Step(step),
            end: Step(outcome.end),
            given_back: Step(outcome.given_back),
            bytes: Bytes(entry.size),
            held: Bytes(held.unwrap_or(entry.size)),
            address: Some(entry.address),
            stream: stream(heap, entry),
            stack: called.stack,
            is_older: false,
            is_freed: unfreed.next_if_eq(&&step).is_none(),
        });
    }
    blocks.extend(older.map(|older| older_block(heap, older, replayed.n_steps, stacks)));
    Ok(blocks)
}

fn older_block(heap: &Heap, older: &OlderBlock, n_steps: u32, stacks: &mut Stacks) -> RecordedBlock {
    let live = &older.live;
    let called = stacks.called(heap, live.frames, NONE);
    RecordedBlock {
        name: called.name,
        birth: older.birth,
        end: Step(live.end.min(n_steps)),
        given_back: Step(live.given_back.min(n_steps)),
        bytes: Bytes(live.bytes),
        held: Bytes(live.held),
        address: Some(older.address),
        stream: live.stream,
        stack: called.stack,
        is_older: true,
        is_freed: !live.is_final,
    }
}

fn regions(replayed: &Replayed, stacks: &mut Stacks) -> Vec<RecordedRegion> {
    let found = replayed.regions.found.iter();
    let regions = found.map(|region| {
        let kind = match region.kind.pool {
            Some((one, other)) => stacks
                .names
                .intern(&format!("{}, pool ({one}, {other})", region.kind.name)),
            None => stacks.names.intern(region.kind.name),
        };
        RecordedRegion {
            address: region.address,
            bytes: Bytes(region.bytes),
            birth: Step(region.birth),
            end: Step(region.end),
            stream: region.stream,
            kind,
        }
    });
    regions.collect()
}

/// What is neither a block nor a region.
fn marks(heap: &Heap, device: &Device, stacks: &mut Stacks) -> Vec<RecordedMark> {
    let mut marks = Vec::new();
    for (step, row) in (0_u32..).zip(&device.entries) {
        let Some(entry) = heap.rows.entries.get(*row as usize) else {
            continue;
        };
        let extra = super::replay::extra(heap, entry.extra);
        let (kind, text) = match entry.action {
            Action::OutOfMemory if entry.has(has::ADDRESS) => (
                MarkKind::OutOfMemory,
                format!("{} bytes free on the device", entry.address),
            ),
            Action::OutOfMemory => (MarkKind::OutOfMemory, String::new()),
            Action::Snapshot => (MarkKind::Snapshot, String::new()),
            Action::Other => {
                let texts = [extra.action, extra.user_metadata].map(|text| heap.text_at(text));
                let texts: Vec<String> = texts.into_iter().flatten().map(super::snapshot::cut).collect();
                (MarkKind::Note, texts.join(": "))
            }
            _ => continue,
        };
        marks.push(RecordedMark {
            step: Step(step),
            kind,
            text: stacks.names.intern(&text),
            bytes: Bytes(if entry.has(has::SIZE) { entry.size } else { 0 }),
        });
    }
    marks
}

/// Marks of what the user noted, at the first event that is not earlier; returns how many have no place.
fn annotations(
    (heap, snapshot): (&Heap, &Snapshot),
    number: u64,
    times: &[Nanos],
    into: &mut (&mut Vec<RecordedMark>, &mut Stacks),
) -> u64 {
    let mut unplaced = 0;
    let (marks, stacks) = into;
    for row in &snapshot.annotations {
        let Some(annotation) = heap.rows.annotations.get(*row as usize) else {
            continue;
        };
        if annotation.device.is_some_and(|device| device != number) {
            continue;
        }
        let Some(time) = annotation.time_us.filter(|_| !times.is_empty()) else {
            unplaced += 1;
            continue;
        };
        let time = Nanos(time.saturating_mul(1000));
        let step = times.partition_point(|other| *other < time).min(times.len() - 1);
        let name = super::snapshot::cut(heap.text_at(annotation.name).unwrap_or_default());
        let text = match annotation.stage {
            keys::START => format!("{name} begins"),
            keys::END => format!("{name} ends"),
            _ => name,
        };
        marks.push(RecordedMark {
            step: Step(super::value::narrow(step)),
            kind: MarkKind::Note,
            text: stacks.names.intern(&text),
            bytes: Bytes::ZERO,
        });
    }
    marks.sort_by_key(|mark| mark.step);
    unplaced
}

/// What the file holds of a device: events by action, segments, blocks by state, and the sums that it states.
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
    add("blocks", device.blocks.len() as u64);
    for segment in &device.segments {
        add("total_size", segment.bytes);
        add("allocated_size", segment.row.allocated.unwrap_or(0));
        add("active_size", segment.row.active.unwrap_or(0));
        add("expandable segments", u64::from(segment.row.is_expandable));
    }
    for block in &device.blocks {
        let state = super::snapshot::cut(heap.text_at(block.state).unwrap_or(b"unknown"));
        add(&format!("blocks {state}"), 1);
        add(&format!("bytes {state}"), block.held);
    }
    let mut actions = [0_u64; 10];
    for row in &device.entries {
        if let Some(entry) = heap.rows.entries.get(*row as usize) {
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
