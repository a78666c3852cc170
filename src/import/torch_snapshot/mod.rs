//! Memory snapshots of PyTorch and `torch_npu`: what the caching allocator holds, and its last events, as a pickle, as
//! text (`literal`) or as an `SQLite` database (`database`).
//!
//! ```text
//! segments        [{device, address, total_size, stream, segment_type, segment_pool_id, is_expandable, blocks}]
//! blocks          [{address, size, requested_size, state, frames}]     state: active_allocated, active_pending_free, inactive
//! device_traces   one list for each device of [{action, addr, size, stream, time_us, frames, compile_context}]
//! action          alloc free_requested free_completed segment_alloc segment_free segment_map segment_unmap snapshot oom
//! frames          [{filename, name, line}], innermost first; one list is shared by all that have it
//! host_segments   as segments, of pinned host memory: device -1, one block each     host_traces   one list of events
//! ```
//!
//! Source: `torch/csrc/cuda/memory_snapshot.cpp` and `torch/cuda/_memory_viz.py` of PyTorch; `torch_npu` writes the same
//! without times. `size` of an `alloc` is the requested size. A trace is a ring buffer: blocks may predate it.
//!
//! In: a pickle of protocol 0 to 5, read as a stream by an opcode machine of our own that imports and calls nothing (the
//! kept crates build a tree of values, copy shared lists, and take several times the memory of the file). Out: a
//! [`Recording`](highwater_model::workload::Recording) for each device. Deliberately not here: the sizes that the allocator rounded
//! to, where the file does not state them.

mod database;
mod device;
mod entries;
mod fast_path;
mod fill;
mod keys;
mod lists;
mod literal;
mod machine;
mod old_text;
mod opcode;
mod places;
mod range;
mod range_reading;
mod recording;
mod regions;
mod replay;
mod report;
mod rows;
mod snapshot;
mod stack;
mod stacks;
mod times;
mod value;
mod window;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::device::Cuts;
use self::range::{EventFilter, Kept};
use self::rows::Annotation;
use self::value::{Heap, Value, narrow};
use super::event_range::{self, outside};
use super::pages::Pages;
use super::unread_formats::TORCH_MAGIC;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{EventRange, PhasePairs, RecordedNames, Recording, Source};

/// Any pickle of protocol 2 or later: what is no snapshot is refused with a word about what it is. Older protocols, texts
/// and databases are recognised by the names of a snapshot's parts.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    match head {
        weights if weights.starts_with(TORCH_MAGIC) => false,
        [opcode::PROTO, 2..=5, first, ..] => matches!(
            *first,
            opcode::FRAME
                | opcode::EMPTY_DICT
                | opcode::EMPTY_LIST
                | opcode::EMPTY_TUPLE
                | opcode::MARK
                | opcode::GLOBAL
                | opcode::BINUNICODE
                | opcode::SHORT_BINUNICODE
                | opcode::BINSTRING
                | opcode::SHORT_BINSTRING
                | opcode::NONE
                | opcode::LONG1
        ),
        [opcode::MARK, opcode::DICT | opcode::LIST, ..] | [opcode::EMPTY_DICT | opcode::EMPTY_LIST, ..] => {
            let has = |text: &str| head.windows(text.len()).any(|window| window == text.as_bytes());
            has("device_traces") || (has("segments") || has("blocks")) && has("total_size")
        }
        _ => is_text(head) && literal::detect(head) || is_snapshot_database(head),
    }
}

/// Whether a head is that of a database with the tables of a snapshot.
pub(super) fn is_snapshot_database(head: &[u8]) -> bool {
    database::detect(head)
}

fn is_text(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    if is_snapshot_database(input.head()) {
        let name = input.name().to_owned();
        let json = database::json(input, progress, diagnostics)?;
        let mut source = import(&mut Input::from_bytes(&name, json)?, progress, diagnostics)?;
        if let Source::Recordings(recordings) = &mut source {
            // What the columns of a table lack tells nothing of the release.
            for recording in recordings {
                Arc::make_mut(recording).fields.retain(|field| field.contains('.'));
            }
        }
        return Ok(source);
    }
    let budget = usize::try_from(input.len()).unwrap_or(usize::MAX);
    let (cuts, (mut heap, root, rest)) = match input.range() {
        _ if is_text(input.head()) => (Cuts::new(), literal::run(input, progress)?),
        None => (Cuts::new(), machine::run(input, progress)?),
        Some(wanted) => within(input, wanted, progress)?,
    };
    if rest > 0 {
        let bytes = Bytes(rest).exact();
        diagnostics.warning(format!("{bytes} behind the end of the snapshot are not read"), "");
    }
    let mut snapshot = snapshot::snapshot(&heap, root, cuts, diagnostics)?;
    heap.rows.blocks = Pages::default();
    let mut recordings = Vec::new();
    for (place, mut device) in std::mem::take(&mut snapshot.devices) {
        let replayed = replay::replay(&heap, &device, progress)?;
        report::contradictions(place, &device, &replayed, diagnostics);
        device.blocks = Pages::default();
        let made = recording::make(&mut heap, &snapshot, place, &device, replayed, budget, progress)?;
        report::made(&made, place, diagnostics);
        debug_assert_eq!(made.recording.check(), Ok(()));
        recordings.push(Arc::new(made.recording));
    }
    Ok(Source::Recordings(recordings))
}

/// Reads the events of a range. A pass before finds the call stacks that they share with others; for the last steps another one
/// finds where these begin.
fn within(
    input: &mut Input<'_>,
    wanted: EventRange,
    progress: &Progress<'_>,
) -> Result<(Cuts, machine::ReadPickle), ImportError> {
    let kept = match wanted {
        EventRange::Numbers { first, end } => Kept::Numbers(first, end),
        EventRange::LastSteps(count) => {
            let none = EventFilter::new(Kept::Numbers(u32::MAX, u32::MAX), BTreeSet::new());
            let (filter, (heap, root, _)) = machine::run_within(input, none, progress)?;
            if filter.cuts.is_empty() {
                return Ok((Cuts::new(), machine::run(input, progress)?));
            }
            Kept::Since(last_steps(&heap, root, filter.last_time(), count)?)
        }
    };
    let (looked, _) = machine::run_within(input, EventFilter::new(kept, BTreeSet::new()), progress)?;
    if looked.cuts.is_empty() {
        // Dicts of protocol 0 and 1 are filled in pieces.
        return Ok((Cuts::new(), machine::run(input, progress)?));
    }
    if looked.is_empty() {
        return Err(outside(looked.n_events()));
    }
    let (filter, read) = machine::run_within(input, EventFilter::new(kept, looked.wanted), progress)?;
    Ok((filter.cuts, read))
}

/// When the last steps begin, in microseconds: annotations are the events of a recording that has nothing else.
fn last_steps(heap: &Heap, root: Value, last_event: Option<u64>, count: u32) -> Result<u64, ImportError> {
    let annotations: Vec<Annotation> = snapshot::annotations(heap, root).collect();
    let mut names = RecordedNames::default();
    let mut pairs = PhasePairs::default();
    let mut times = Vec::with_capacity(annotations.len());
    for annotation in annotations {
        let Some(time) = annotation.time_us else { continue };
        let event = narrow(times.len());
        let name = names.intern(&snapshot::cut(heap.text_at(annotation.name).unwrap_or_default()));
        match annotation.stage {
            // A step behind the last event has none.
            keys::START if Some(time) > last_event => {}
            keys::START => pairs.begin(name, event),
            keys::END => pairs.end(name, event),
            _ => {}
        }
        times.push(time);
    }
    let n_steps = narrow(times.len());
    let marks = Recording {
        n_steps,
        phases: pairs.finish(n_steps),
        names: names.finish(),
        ..Recording::default()
    };
    let first = event_range::last_steps(&marks, count)?;
    Ok(times.get(first as usize).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests;
