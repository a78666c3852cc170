//! Memory events as recordings, one for each device.
//!
//! In: the events of a trace. Out: blocks from a positive event to the negative one of the same address, the curves that
//! the events state, and what was allocated before. Invariants: one step for each memory event of the device; sizes are the file's.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::before::{Before, before, in_order};
use super::event::{Annotation, Collector, MemoryEvent};
use super::op_costs::{Allocation, op_costs};
use crate::ImportError;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    BlockAddress, EventTimes, MarkKind, PhasePairs, RecordedBlock, RecordedMark, RecordedMemory, RecordedName,
    RecordedNames, RecordedOp, RecordedPhase, RecordedTotal, Recording, RecordingRules, TotalKind,
};

const EVENTS_BETWEEN_CHECKS: usize = 1 << 13;

/// The device type of the host.
const CPU: i64 = 0;

const DEVICE_TYPES: &[(i64, &str)] = &[
    (0, "CPU"),
    (1, "CUDA"),
    (6, "HIP"),
    (9, "XLA"),
    (12, "XPU"),
    (13, "MPS"),
    (15, "HPU"),
    (19, "MTIA"),
    (20, "PrivateUse1"),
];

#[derive(Debug, Default)]
struct Oddities {
    /// Frees of addresses that were not allocated.
    older: u64,
    /// Allocations at an address that is still in use.
    again: u64,
    /// Frees of other sizes than were allocated.
    sizes: u64,
}

pub(super) fn recordings(
    mut collector: Collector,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Arc<Recording>>, ImportError> {
    diagnostics.counted(
        Severity::Warning,
        "a memory event has no time, address or size that can be read and is left out",
        &format!("event {}", collector.unreadable.1),
        collector.unreadable.0,
    );
    diagnostics.counted(
        Severity::Info,
        "an op has no time that can be read and gives no block its name",
        "",
        collector.unreadable_ops,
    );
    let order = (0_u32..)
        .zip(&collector.memory)
        .map(|(position, event)| (event.at, position));
    let order = progress.sorted(order.collect())?;
    collector.memory = order
        .iter()
        .map(|(_, position)| collector.memory[*position as usize])
        .collect();
    let names = collector.ops.innermost(&collector.memory, progress)?;
    let mut devices: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
    for (position, event) in (0_u32..).zip(&collector.memory) {
        devices.entry(event.device).or_default().push(position);
    }
    let mut recordings = Vec::new();
    for ((kind, number), events) in &devices {
        let mut maker = RecordingBuilder::new(&collector, &names, events);
        maker.run(progress)?;
        let rest = maker.add_rest();
        let ops = maker.ops(*kind == CPU, progress)?;
        let (mut recording, oddities) = maker.finish();
        recording.ops = ops;
        recording.name = device_name(*kind, *number);
        recording.device_memory = device_memory(&collector, *kind, *number);
        report(&recording.name, &oddities, diagnostics);
        report_rest(&recording.name, rest, diagnostics);
        debug_assert_eq!(recording.check(), Ok(()));
        recordings.push(Arc::new(recording));
    }
    Ok(recordings)
}

/// The memory of an accelerator, where the file states it.
fn device_memory(collector: &Collector, kind: i64, number: i64) -> Option<RecordedMemory> {
    let bytes = collector.device_memory.get(&number).filter(|_| kind != CPU)?;
    Some(RecordedMemory {
        bytes: Bytes(*bytes),
        is_lower_bound: false,
    })
}

fn device_name(kind: i64, number: i64) -> String {
    let known = DEVICE_TYPES.iter().find(|(known, _)| *known == kind);
    let name = known.map_or_else(|| format!("device type {kind}"), |(_, name)| (*name).to_owned());
    if number < 0 { name } else { format!("{name}:{number}") }
}

fn report(name: &str, oddities: &Oddities, diagnostics: &mut Diagnostics) {
    diagnostics.counted(
        Severity::Info,
        "memory is freed that was allocated before the trace; it counts from the first step on",
        name,
        oddities.older,
    );
    diagnostics.counted(
        Severity::Warning,
        "memory is allocated at an address that is in use; the block before ends there",
        name,
        oddities.again,
    );
    diagnostics.counted(
        Severity::Warning,
        "memory is freed with another size than it was allocated with; the allocation's counts",
        name,
        oddities.sizes,
    );
}

/// What the totals tell of memory that was allocated before the trace and is not freed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Unknown,
    Known(Bytes),
    /// The totals differ from the sum of the events by changing amounts, the least and the most.
    Varies(i128, i128),
    /// Blocks that the trace frees without allocating them have more than the totals tell.
    Contradiction {
        stated: Bytes,
        freed: Bytes,
    },
}

fn report_rest(name: &str, rest: Rest, diagnostics: &mut Diagnostics) {
    match rest {
        Rest::Unknown | Rest::Known(Bytes::ZERO) => {}
        Rest::Known(bytes) => {
            let text = format!(
                "{bytes} were allocated before the trace and are not freed in it: \"Total Allocated\" differs from the sum of the \
                 events by a constant; they count from the first step on"
            );
            diagnostics.info(text, name);
        }
        Rest::Varies(least, most) => {
            let text = format!(
                "\"Total Allocated\" differs from the sum of the events by {least} to {most} B: events of other threads are \
                 missing, so only blocks that the trace frees are known to predate it"
            );
            diagnostics.info(text, name);
        }
        Rest::Contradiction { stated, freed } => {
            let text = format!(
                "the trace frees {freed} that it does not allocate, more than the {stated} that \"Total Allocated\" leaves for blocks \
                 from before it"
            );
            diagnostics.warning(text, name);
        }
    }
}

struct RecordingBuilder<'a> {
    collector: &'a Collector,
    names: &'a [Option<RecordedName>],
    /// Memory events of the device, by time.
    events: Vec<u32>,
    failed: Vec<u32>,
    texts: RecordedNames,
    blocks: Vec<RecordedBlock>,
    older: Vec<RecordedBlock>,
    live: BTreeMap<u64, usize>,
    oddities: Oddities,
}

impl<'a> RecordingBuilder<'a> {
    fn new(collector: &'a Collector, names: &'a [Option<RecordedName>], events: &[u32]) -> Self {
        let is_failed = |event: &&u32| collector.memory[**event as usize].is_out_of_memory;
        Self {
            collector,
            names,
            events: in_order(
                &collector.memory,
                events.iter().filter(|event| !is_failed(event)).copied().collect(),
            ),
            failed: events.iter().filter(is_failed).copied().collect(),
            texts: RecordedNames::default(),
            blocks: Vec::new(),
            older: Vec::new(),
            live: BTreeMap::new(),
            oddities: Oddities::default(),
        }
    }

    fn n_steps(&self) -> u32 {
        u32::try_from(self.events.len().max(1)).unwrap_or(u32::MAX)
    }

    fn event(&self, position: usize) -> &MemoryEvent {
        &self.collector.memory[self.events[position] as usize]
    }

    fn run(&mut self, progress: &Progress<'_>) -> Result<(), ImportError> {
        for position in 0..self.events.len() {
            if position % EVENTS_BETWEEN_CHECKS == 0 {
                progress.set("pairing", position as u64, self.events.len() as u64)?;
            }
            let event = *self.event(position);
            let step = Step(u32::try_from(position).unwrap_or(u32::MAX));
            if event.bytes < 0 {
                self.free(step, &event);
            } else {
                let name = self.names[self.events[position] as usize];
                self.alloc(step, &event, name);
            }
        }
        Ok(())
    }

    fn alloc(&mut self, step: Step, event: &MemoryEvent, name: Option<RecordedName>) {
        let text = name.map_or("block", |name| self.collector.ops.name(name));
        let name = self.texts.intern(text);
        let end = Step(self.n_steps());
        let block = block(step, end, event, name);
        if let Some(before) = self.live.insert(event.address, self.blocks.len()) {
            self.oddities.again += 1;
            self.blocks[before].end_at(step);
        }
        self.blocks.push(block);
    }

    fn free(&mut self, step: Step, event: &MemoryEvent) {
        if let Some(position) = self.live.remove(&event.address) {
            let block = &mut self.blocks[position];
            block.end_at(step);
            block.is_freed = true;
            if block.bytes.get() != event.bytes.unsigned_abs() {
                self.oddities.sizes += 1;
            }
            return;
        }
        self.oddities.older += 1;
        let name = self.texts.intern("block");
        // A block that the very first event frees is held on that event.
        let end = Step(step.0.max(1));
        let mut block = block(Step(0), end, event, name);
        block.is_older = true;
        block.is_freed = true;
        self.older.push(block);
    }

    /// Adds what was allocated before the trace and is not freed in it, as the totals tell.
    fn add_rest(&mut self) -> Rest {
        let stated = match before(self.events.iter().map(|event| &self.collector.memory[*event as usize])) {
            Before::Unknown => return Rest::Unknown,
            Before::Varies(least, most) => return Rest::Varies(least, most),
            Before::Constant(stated) => Bytes(stated),
        };
        let freed: u128 = self.older.iter().map(|block| u128::from(block.bytes.get())).sum();
        let freed = Bytes(u64::try_from(freed).unwrap_or(u64::MAX));
        if freed > stated {
            return Rest::Contradiction { stated, freed };
        }
        let rest = stated - freed;
        if rest > Bytes::ZERO {
            let name = self.texts.intern("allocated before the trace");
            self.older.push(RecordedBlock {
                is_older: true,
                ..RecordedBlock::new(name, Step(0), Step(self.n_steps()), rest)
            });
        }
        Rest::Known(rest)
    }

    /// The ops of the trace with their costs on this device.
    fn ops(&mut self, is_host: bool, progress: &Progress<'_>) -> Result<Vec<RecordedOp>, ImportError> {
        let time = |event: u32| {
            self.events
                .get(event as usize)
                .map(|position| self.collector.memory[*position as usize])
        };
        let allocations = self.blocks.iter().filter(|block| block.is_freed).filter_map(|block| {
            let (start, end) = (time(block.birth.0)?, time(block.end.0)?);
            Some(Allocation {
                thread: start.thread,
                start: start.at,
                // A clock may be early.
                end: end.at.max(start.at),
                bytes: block.bytes.get(),
            })
        });
        let allocations = allocations.collect();
        Ok(op_costs(
            &self.collector.ops,
            is_host,
            allocations,
            &mut self.texts,
            progress,
        )?)
    }

    fn finish(mut self) -> (Recording, Oddities) {
        let n_steps = self.n_steps();
        // Where the order is that of the file, a clock that is early does not turn back.
        let mut latest = 0;
        let times: EventTimes = (0..self.events.len())
            .map(|position| {
                latest = self.event(position).at.max(latest);
                Nanos(latest)
            })
            .collect();
        let totals = [
            (TotalKind::Allocated, self.samples(|event| event.allocated)),
            (TotalKind::Reserved, self.samples(|event| event.reserved)),
        ];
        let marks = self.marks(&times);
        let phases = self.phases(&times);
        let mut blocks = self.older;
        blocks.append(&mut self.blocks);
        let mut recording = Recording {
            recorder: "PyTorch profiler (Chrome trace)".to_owned(),
            n_steps,
            times,
            blocks,
            totals: totals
                .into_iter()
                // The processor's allocator reserves nothing and states 0 on every event.
                .filter(|(_, samples)| samples.iter().any(|(_, bytes)| bytes.get() > 0))
                .map(|(kind, samples)| RecordedTotal { kind, samples })
                .collect(),
            marks,
            phases,
            names: self.texts.finish(),
            counts: vec![
                ("events of the file".to_owned(), self.collector.events),
                ("memory events".to_owned(), self.events.len() as u64),
                ("ops of the file".to_owned(), self.collector.ops.len() as u64),
            ],
            ..Recording::default()
        };
        recording.apply_rules(&RecordingRules::default());
        (recording, self.oddities)
    }

    fn samples(&self, value: impl Fn(&MemoryEvent) -> Option<u64>) -> Vec<(Step, Bytes)> {
        let events = (0_u32..).zip(0..self.events.len());
        events
            .filter_map(|(step, position)| Some((Step(step), Bytes(value(self.event(position))?))))
            .collect()
    }

    /// Annotated ranges that contain an event.
    fn phases(&mut self, times: &EventTimes) -> Vec<RecordedPhase> {
        let mut pairs = PhasePairs::default();
        let at = |time: u64| {
            let event = times.n_before(Nanos(time));
            u32::try_from(event).unwrap_or(u32::MAX)
        };
        // In the order in which they end, so that of equal ranges of events the outer one comes last.
        let mut annotations: Vec<&Annotation> = self.collector.annotations.iter().collect();
        annotations.sort_by_key(|annotation| (annotation.end, Reverse(annotation.start)));
        for annotation in annotations {
            let (start, end) = (at(annotation.start), at(annotation.end));
            if start < end {
                pairs.add(self.texts.intern(&annotation.name), start, end);
            }
        }
        pairs.finish(self.n_steps())
    }

    /// Failed requests, at the first event that is not earlier.
    fn marks(&mut self, times: &EventTimes) -> Vec<RecordedMark> {
        let mut marks = Vec::new();
        for failed in std::mem::take(&mut self.failed) {
            let event = self.collector.memory[failed as usize];
            let name = self.names[failed as usize].map_or("", |name| self.collector.ops.name(name));
            let step = times.n_before(Nanos(event.at));
            let step = step.min(times.len().saturating_sub(1));
            marks.push(RecordedMark {
                step: Step(u32::try_from(step).unwrap_or(u32::MAX)),
                kind: MarkKind::OutOfMemory,
                text: self.texts.intern(name),
                bytes: Bytes(event.bytes.unsigned_abs()),
                failed: None,
            });
        }
        marks
    }
}

fn block(birth: Step, end: Step, event: &MemoryEvent, name: RecordedName) -> RecordedBlock {
    RecordedBlock {
        address: BlockAddress::new(event.address),
        ..RecordedBlock::new(name, birth, end, Bytes(event.bytes.unsigned_abs()))
    }
}
