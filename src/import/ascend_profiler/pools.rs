//! Blocks of one pool on one device, made of its events.
//!
//! In: events and marks of a pool in the order of the file and in that of their times. Out: a recording `PTA/0`. Rules:
//!
//! * A step is an event of the pool. A release belongs to the block with its allocation id, else to that at its address; a
//!   release of no known block is counted, not shown. Where the address of a block is given out again without a release,
//!   the block ends there.
//! * msmemscope writes a block when it is freed, both its events together, so that the rows are not in the order of
//!   their times. Then there are two recordings: `PTA/0` with the rows in file order, which is what the figures of other
//!   readers count, and `PTA/0 by time`, which is the state of the device. A warning explains it.
//! * `used` and `total` are the curves of bytes in use and of bytes taken from the device; only by time.

use std::collections::BTreeMap;

use super::table::Sink;
use crate::ImportError;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    BlockAddress, MarkKind, RecordedBlock, RecordedMark, RecordedName, RecordedStacks, RecordedTotal, Recording,
    RecordingRules, StackIdx, TotalKind,
};

/// A value that a row does not state.
pub(super) const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// In nanoseconds.
    pub(super) time: u64,
    pub(super) group: u32,
    pub(super) address: u64,
    /// The tool's number of the block.
    pub(super) allocation: u64,
    pub(super) bytes: u64,
    /// Bytes of the pool in use afterwards.
    pub(super) used: u64,
    /// Bytes of the pool afterwards.
    pub(super) taken: u64,
    /// The name of the block; `u32::MAX` where it is unknown.
    pub(super) name: RecordedName,
    pub(super) stack: Option<StackIdx>,
    pub(super) is_malloc: bool,
}

/// A single event that is no block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) kind: MarkKind,
    pub(super) text: RecordedName,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Event(u32),
    Mark(Mark),
}

/// Tables that all recordings of a dump share.
#[derive(Debug)]
pub(super) struct DumpTables<'a> {
    pub(super) texts: &'a RecordedStacks,
    pub(super) events: &'a [Event],
    pub(super) has_times: bool,
}

/// The texts and stacks of one recording: those of the dump that it uses, in the order of first use.
#[derive(Default)]
struct UsedTables {
    texts: RecordedStacks,
    stacks: BTreeMap<usize, Option<StackIdx>>,
}

impl UsedTables {
    fn name(&mut self, name: RecordedName, shared: &DumpTables<'_>) -> RecordedName {
        self.texts.names.intern(shared.texts.names.get(name))
    }

    fn stack(&mut self, stack: StackIdx, shared: &DumpTables<'_>) -> Option<StackIdx> {
        let Self { texts, stacks } = self;
        *stacks.entry(stack.idx()).or_insert_with(|| {
            let lines = shared.texts.of(stack);
            let lines = lines.map(|(function, file, line)| texts.line(function, file, line));
            let lines = lines.collect();
            texts.stack(lines)
        })
    }
}

#[derive(Debug)]
pub(super) struct Group {
    name: String,
    pub(super) device: String,
    n_events: u32,
    last: (u64, u64),
    is_by_time: bool,
}

#[derive(Default)]
struct Draft {
    recording: Recording,
    own: UsedTables,
    /// Blocks that are held: by allocation id, or by address where there is none.
    held: BTreeMap<(u64, u64), usize>,
    curves: [Vec<(Step, Bytes)>; 2],
    unknown: u64,
    replaced: u64,
}

impl Group {
    pub(super) fn new(pool: &[u8], device: &[u8]) -> Self {
        let device = String::from_utf8_lossy(device).into_owned();
        let pool = String::from_utf8_lossy(pool);
        Self {
            name: if device.is_empty() {
                pool.into_owned()
            } else {
                format!("{pool}/{device}")
            },
            device,
            n_events: 0,
            last: (0, 0),
            is_by_time: true,
        }
    }

    pub(super) fn count(&mut self, event: (u64, u64)) {
        self.n_events += 1;
        self.is_by_time &= self.last <= event;
        self.last = event;
    }

    /// Makes the recording, or the two.
    pub(super) fn record(
        self,
        as_written: &[Item],
        by_time: &[Item],
        shared: &DumpTables<'_>,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), ImportError> {
        let by_time = self.draft(by_time, shared.has_times, shared, sink.progress)?;
        by_time.report(&self.name, sink.diagnostics);
        let mut by_time = by_time.recording;
        if shared.has_times && !self.is_by_time {
            let as_written = self.draft(as_written, false, shared, sink.progress)?.recording;
            let peak = |recording: &Recording| recording.peaks().live.0.get();
            let message = format!(
                "the rows are not in the order of their times (a block is written when it is freed): in the order of the \
                 file they hold at most {} bytes, in the order of their times {} bytes, which is listed apart as \"by \
                 time\"",
                peak(&as_written),
                peak(&by_time)
            );
            sink.diagnostics.warning(message, &self.name);
            by_time.name = format!("{} by time", self.name);
            sink.recordings.push(as_written);
        }
        sink.recordings.push(by_time);
        Ok(())
    }

    fn draft(
        &self,
        items: &[Item],
        has_times: bool,
        shared: &DumpTables<'_>,
        progress: &Progress<'_>,
    ) -> Result<Draft, ImportError> {
        let n_steps = self.n_events;
        let mut draft = Draft {
            recording: Recording {
                name: self.name.clone(),
                recorder: "Ascend memory events".to_owned(),
                n_steps,
                ..Recording::default()
            },
            ..Draft::default()
        };
        let mut step = 0_u32;
        for (done, item) in items.iter().enumerate() {
            if done.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            match item {
                Item::Mark(mark) => draft.recording.marks.push(RecordedMark {
                    // Marks before the first event or after the last are shown there.
                    step: Step(step.min(n_steps.saturating_sub(1))),
                    kind: mark.kind,
                    text: draft.own.name(mark.text, shared),
                    bytes: Bytes(mark.bytes),
                    failed: None,
                }),
                Item::Event(position) => {
                    let event = &shared.events[*position as usize];
                    draft.event(event, step, shared);
                    if has_times {
                        draft.recording.times.push(Nanos(event.time));
                        for (curve, bytes) in draft.curves.iter_mut().zip([event.used, event.taken]) {
                            if bytes != NONE {
                                curve.push((Step(step), Bytes(bytes)));
                            }
                        }
                    }
                    step += 1;
                }
            }
        }
        let curves = [TotalKind::Allocated, TotalKind::Reserved]
            .into_iter()
            .zip(std::mem::take(&mut draft.curves));
        draft.recording.totals = RecordedTotal::known(curves);
        std::mem::take(&mut draft.own.texts).finish(&mut draft.recording);
        draft.recording.apply_rules(&RecordingRules::default());
        Ok(draft)
    }
}

impl Draft {
    fn event(&mut self, event: &Event, step: u32, shared: &DumpTables<'_>) {
        let key = match event.allocation {
            NONE => (NONE, event.address),
            allocation => (allocation, 0),
        };
        if !event.is_malloc {
            match self.held.remove(&key) {
                Some(position) => self.end(position, step, true),
                None => self.unknown += 1,
            }
            return;
        }
        if let Some(position) = self.held.insert(key, self.recording.blocks.len()) {
            self.replaced += 1;
            self.end(position, step, false);
        }
        let name = self.own.name(event.name, shared);
        let end = Step(self.recording.n_steps);
        self.recording.blocks.push(RecordedBlock {
            address: BlockAddress::new(event.address),
            stack: event.stack.and_then(|stack| self.own.stack(stack, shared)),
            ..RecordedBlock::new(name, Step(step), end, Bytes(event.bytes))
        });
    }

    fn end(&mut self, position: usize, step: u32, is_freed: bool) {
        let block = &mut self.recording.blocks[position];
        block.end_at(Step(step));
        block.is_freed = is_freed;
    }

    fn report(&self, name: &str, diagnostics: &mut Diagnostics) {
        diagnostics.counted(
            Severity::Info,
            "a release is of no block that the table shows, so of one that is older; it is not counted, so the peaks are \
             lower bounds",
            name,
            self.unknown,
        );
        diagnostics.counted(
            Severity::Warning,
            "the address of a block is given out again without a release: the block ends there",
            name,
            self.replaced,
        );
    }
}
