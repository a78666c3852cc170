//! Devices with ops and memory events -> recordings: events in order, ends matched with beginnings.

use std::collections::{BTreeMap, VecDeque};

use super::parse::{Allocator, Device, Event, Op};
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{EventTimes, RecordedBlock, RecordedOp, RecordedTotal, Recording, TotalKind};

/// A block before its steps are known.
struct Draft {
    op: u32,
    bytes: u64,
    begin: u64,
    end: Option<u64>,
}

/// The recordings of a device: one for each allocator with records, or one of its ops alone.
pub(super) fn recordings(device: Device, diagnostics: &mut Diagnostics) -> Result<Vec<Recording>, ImportError> {
    let Device {
        name,
        ops,
        allocators,
        names,
    } = device;
    let names = names.finish();
    let title = short_name(&name);
    let is_one = allocators.len() == 1;
    let mut all: Vec<Recording> = Vec::new();
    for (allocator, found) in allocators {
        let mut recording = Recording {
            name: match (is_one, allocator.as_str()) {
                (true, _) | (_, "") => title.to_owned(),
                (false, allocator) => format!("{title} {allocator}"),
            },
            names: names.clone(),
            ..empty()
        };
        if !allocator.is_empty() {
            recording.settings.push(("allocator".to_owned(), allocator));
        }
        fill(&mut recording, found, &ops, diagnostics)?;
        all.push(recording);
    }
    if all.is_empty() && !ops.is_empty() {
        all.push(Recording {
            name: title.to_owned(),
            names,
            ..empty()
        });
    }
    if let Some(first) = all.first_mut() {
        first.ops = recorded(ops);
    }
    Ok(all)
}

fn empty() -> Recording {
    Recording {
        recorder: "TensorFlow RunMetadata".to_owned(),
        ..Recording::default()
    }
}

/// `/job:localhost/replica:0/task:0/device:CPU:0` is `CPU:0`; names of other machines stay whole.
fn short_name(name: &str) -> &str {
    let local = name.strip_prefix("/job:localhost/replica:0/task:0/").unwrap_or(name);
    let short = local.trim_start_matches('/');
    short.strip_prefix("device:").unwrap_or(short)
}

fn recorded(mut ops: Vec<Op>) -> Vec<RecordedOp> {
    ops.sort_by_key(|op| op.start);
    let op = |op: Op| RecordedOp {
        name: op.name,
        kind: op.kind,
        start: Nanos(op.start),
        time: Nanos(op.time),
        scratch: Bytes(op.scratch),
        persistent: Bytes(op.persistent),
    };
    ops.into_iter().map(op).collect()
}

fn fill(
    recording: &mut Recording,
    allocator: Allocator,
    ops: &[Op],
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let place = recording.name.clone();
    let drafts = blocks(&allocator.events, ops, recording, diagnostics);
    // By time; freed, allocated, freed at once; then by the order of the file.
    let mut moments: Vec<(u64, u8, usize, bool)> = Vec::with_capacity(drafts.len() * 2);
    for (position, draft) in drafts.iter().enumerate() {
        moments.push((draft.begin, 1, position, true));
        if let Some(end) = draft.end {
            moments.push((end, if end == draft.begin { 2 } else { 0 }, position, false));
        }
    }
    moments.sort_unstable();
    recording.n_steps = u32::try_from(moments.len())
        .ok()
        .filter(|steps| *steps < u32::MAX)
        .ok_or_else(|| ImportError::at("there are more than 2^32 allocations", place, "split the trace"))?;
    let mut steps: Vec<(u32, u32)> = vec![(0, recording.n_steps); drafts.len()];
    for ((micros, _, position, is_begin), step) in moments.iter().zip(0_u32..) {
        recording.times.push(Nanos(micros.saturating_mul(1000)));
        if *is_begin {
            steps[*position].0 = step;
        } else {
            steps[*position].1 = step;
        }
    }
    recording.blocks = drafts
        .iter()
        .zip(steps)
        .map(|(draft, (birth, end))| RecordedBlock {
            stream: 0,
            is_freed: draft.end.is_some(),
            ..RecordedBlock::new(ops[draft.op as usize].name, Step(birth), Step(end), Bytes(draft.bytes))
        })
        .collect();
    recording.blocks.sort_by_key(|block| block.birth);
    recording.totals.extend(curve(allocator.in_use, &recording.times));
    Ok(())
}

/// Matches ends with beginnings, op run by op run.
fn blocks(events: &[Event], ops: &[Op], recording: &Recording, diagnostics: &mut Diagnostics) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for events in events.chunk_by(|a, b| a.op == b.op) {
        let mut open: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
        for event in events {
            let bytes = event.bytes.unsigned_abs();
            if event.bytes > 0 {
                open.entry(bytes).or_default().push_back(drafts.len());
                drafts.push(Draft {
                    op: event.op,
                    bytes,
                    begin: event.micros,
                    end: None,
                });
                continue;
            }
            match open.get_mut(&bytes).and_then(VecDeque::pop_front) {
                Some(position) => drafts[position].end = Some(event.micros.max(drafts[position].begin)),
                None if bytes > 0 => diagnostics.warning(
                    "memory is given back that the record does not take; it is left out",
                    recording.text(ops[event.op as usize].name),
                ),
                None => {}
            }
        }
    }
    drafts
}

/// The live bytes that the allocator states, at the last event that is not later.
fn curve(mut samples: Vec<(u64, u64)>, times: &EventTimes) -> Option<RecordedTotal> {
    samples.sort_by_key(|sample| sample.0);
    let mut found: Vec<(Step, Bytes)> = Vec::new();
    for (micros, bytes) in samples {
        let behind = times.n_before(Nanos(micros.saturating_add(1).saturating_mul(1000)));
        let step = Step(u32::try_from(behind.saturating_sub(1)).unwrap_or(u32::MAX));
        match found.last_mut().filter(|last| last.0 == step) {
            Some(last) => last.1 = Bytes(bytes),
            None => found.push((step, Bytes(bytes))),
        }
    }
    let is_known = !found.is_empty() && !times.is_empty();
    is_known.then_some(RecordedTotal {
        kind: TotalKind::Allocated,
        samples: found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::RecordedNames;

    fn device(events: &[(u32, u64, i64)]) -> Device {
        let mut names = RecordedNames::default();
        let ops = ["a", "b"].map(|name| Op {
            name: names.intern(name),
            kind: names.intern("Op"),
            start: 0,
            time: 5,
            scratch: 7,
            persistent: 0,
        });
        let events = events.iter().map(|(op, micros, bytes)| Event {
            op: *op,
            micros: *micros,
            bytes: *bytes,
        });
        let allocator = Allocator {
            events: events.collect(),
            in_use: vec![(25, 99)],
        };
        Device {
            name: "/job:localhost/replica:0/task:0/device:CPU:0".to_owned(),
            ops: ops.to_vec(),
            allocators: [("cpu".to_owned(), allocator)].into_iter().collect(),
            names,
        }
    }

    #[test]
    fn ends_are_matched_and_ties_broken_by_the_rule() {
        let mut diagnostics = Diagnostics::new();
        let events = [
            (0, 10, 64),
            (0, 20, -64),
            (0, 20, -8),
            (1, 20, 32),
            (1, 30, 16),
            (1, 30, -16),
        ];
        let all = recordings(device(&events), &mut diagnostics).expect("a recording");
        let recording = &all[0];
        assert_eq!(recording.check(), Ok(()));
        assert_eq!((recording.name.as_str(), recording.n_steps), ("CPU:0", 5));
        let ranges: Vec<(u32, u32, u64)> = recording
            .blocks
            .iter()
            .map(|block| (block.birth.0, block.end.0, block.bytes.0))
            .collect();
        assert_eq!(ranges, [(0, 1, 64), (2, 5, 32), (3, 4, 16)]);
        assert_eq!(recording.peaks().live, (Bytes(64), Some(Step(0))));
        assert_eq!(recording.totals[0].samples, [(Step(2), Bytes(99))]);
        assert_eq!(recording.ops[0].scratch, Bytes(7));
        assert_eq!(diagnostics.entries()[0].count, 1);
    }
}
