//! The history of a run as a recording, with the truth of each block.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    BlockAddress, MarkKind, RecordedBlock, RecordedFrame, RecordedMark, RecordedName, Recording, RecordingRules,
    StackIdx,
};
use highwater_torch::{Action, Allocator, BlockId, DeviceSpec, Event, Order, Settings, SimulatedDevice, Version};

use super::{Command, Model, Run, Start, Truth, commands};

/// A recording and, by block, its right categories.
pub(crate) struct Known {
    pub(crate) recording: Recording,
    pub(crate) truth: Vec<Truth>,
}

/// A device that holds every run.
const DEVICE: DeviceSpec = DeviceSpec {
    total: 1 << 40,
    other: 0,
    order: Order::Up,
};

/// A block on its way.
struct Made {
    block: RecordedBlock,
    truth: Truth,
    /// Its lines; known of older blocks only where the ring lost their request.
    frames: Vec<String>,
}

#[derive(Default)]
struct Maker {
    names: Vec<String>,
    name_of: BTreeMap<String, u32>,
    frames: Vec<RecordedFrame>,
    frame_of: BTreeMap<String, u32>,
    stacks: Vec<Box<[u32]>>,
    stack_of: BTreeMap<Vec<u32>, u32>,
}

impl Maker {
    fn name(&mut self, text: &str) -> RecordedName {
        let next = u32::try_from(self.names.len()).expect("few names");
        let name = *self.name_of.entry(text.to_owned()).or_insert(next);
        if name == next {
            self.names.push(text.to_owned());
        }
        RecordedName(name)
    }

    fn stack(&mut self, lines: &[String]) -> Option<StackIdx> {
        let lines: Vec<u32> = lines.iter().map(|line| self.line(line)).collect();
        if lines.is_empty() {
            return None;
        }
        let next = u32::try_from(self.stacks.len()).expect("few stacks");
        let stack = *self.stack_of.entry(lines.clone()).or_insert(next);
        if stack == next {
            self.stacks.push(lines.into());
        }
        StackIdx::new(stack)
    }

    fn line(&mut self, text: &str) -> u32 {
        if let Some(known) = self.frame_of.get(text) {
            return *known;
        }
        let (place, function) = text.split_once(' ').expect("a function");
        let (file, line) = place.rsplit_once(':').expect("a line");
        let frame = RecordedFrame {
            function: self.name(function),
            file: self.name(file),
            line: line.parse().expect("a number"),
        };
        let position = u32::try_from(self.frames.len()).expect("few lines");
        self.frames.push(frame);
        self.frame_of.insert(text.to_owned(), position);
        position
    }
}

/// Runs a model, and keeps what its recording would hold.
pub(crate) fn record(run: Run, model: &Model) -> Known {
    let settings = Settings::parse("", Version::NEWEST).expect("no settings");
    let mut allocator = Allocator::new(SimulatedDevice::new(DEVICE), Vec::<Event>::new(), settings);
    let mut live: BTreeMap<usize, (BlockId, usize)> = BTreeMap::new();
    let mut made: Vec<Made> = Vec::new();
    let mut marks = Vec::new();
    let mut begin = None;
    for command in commands(run, model) {
        match command {
            Command::Begin => begin = Some(allocator.observer_mut().len()),
            Command::Alloc {
                id,
                bytes,
                frames,
                truth,
            } => {
                let grant = allocator.alloc(bytes, 0).expect("the device is large");
                let Some(grant) = grant else {
                    continue;
                };
                let at = allocator.observer_mut().len() - 1;
                let mut block = RecordedBlock::new(RecordedName(0), step(at), step(at), Bytes(bytes));
                block.address = BlockAddress::new(grant.addr);
                block.held = Bytes(grant.size);
                live.insert(id, (grant.block, made.len()));
                made.push(Made { block, truth, frames });
            }
            Command::Free(id) => {
                if let Some((block, position)) = live.remove(&id) {
                    assert!(allocator.free(block), "it is live");
                    // The event of its request to be freed, and that of its end.
                    let end = allocator.observer_mut().len() - 1;
                    let block = &mut made[position].block;
                    (block.freed_at, block.end, block.is_freed) = (step(end - 1), step(end), true);
                }
            }
            Command::Fail => {
                assert!(allocator.alloc(2 * DEVICE.total, 0).is_err(), "it is too large");
                let at = allocator.observer_mut().len() - 1;
                assert_eq!(allocator.observer_mut()[at].action, Action::OutOfMemory);
                marks.push(at);
            }
        }
    }
    let n_events = allocator.observer_mut().len();
    keep(run, made, &marks, begin.expect("the history begins")..n_events)
}

fn step(event: usize) -> Step {
    Step(u32::try_from(event).expect("few events"))
}

/// What a history of these events holds.
fn keep(run: Run, made: Vec<Made>, marks: &[usize], events: std::ops::Range<usize>) -> Known {
    let mut maker = Maker::default();
    maker.name("");
    let begin = step(events.start);
    let n_steps = step(events.end).0 - begin.0;
    let moved = |at: Step| Step(at.0.saturating_sub(begin.0));
    let (mut older, mut seen) = (Vec::new(), Vec::new());
    for made in made {
        let mut block = made.block;
        if block.is_freed && block.freed_at < begin {
            continue;
        }
        block.is_older = block.birth < begin;
        let keeps = !block.is_older || matches!(run.start, Start::Ring(_)) && !block.is_freed;
        block.stack = maker.stack(if keeps { &made.frames } else { &[] });
        block.birth = moved(block.birth);
        if block.is_freed {
            (block.freed_at, block.end) = (moved(block.freed_at), moved(block.end));
            block.freed_at = block.freed_at.max(Step(1));
            block.end = block.end.max(block.freed_at);
        } else {
            block.end_at(Step(n_steps));
        }
        if block.is_older {
            older.push((block, made.truth));
        } else {
            seen.push((block, made.truth));
        }
    }
    older.sort_by_key(|(block, _)| block.address.map(BlockAddress::get));
    let (blocks, truth) = older.into_iter().chain(seen).unzip();
    let marks = marks.iter().filter(|at| events.contains(at));
    let marks = marks.map(|at| RecordedMark {
        step: moved(step(*at)),
        kind: MarkKind::OutOfMemory,
        text: RecordedName(0),
        bytes: Bytes::ZERO,
        failed: None,
    });
    let mut recording = Recording {
        n_steps,
        blocks,
        marks: marks.collect(),
        frames: maker.frames,
        stacks: maker.stacks,
        names: maker.names.iter().map(String::as_str).collect(),
        ..Recording::default()
    };
    assert_eq!(recording.check(), Ok(()), "{}", run.name);
    recording.apply_rules(&RecordingRules::default());
    Known { recording, truth }
}
