//! The run of a simulated allocator as a recording.

use std::collections::BTreeMap;

use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    BlockAddress, FailedRequest, MarkKind, RecordedBlock, RecordedMark, RecordedName, RecordedRegion, Recording,
    pooled_kind,
};
use highwater_torch::recording::{Replayable, Stopped, WhatIf, what_if};
use highwater_torch::{Action, DeviceSpec, Event, Grant, Observer, Rules, Settings, Version};

use super::History;

/// A recording as other settings would have made it.
#[derive(Clone, Debug)]
pub struct SimulatedRun {
    /// Steps, names and stacks are recorded; blocks, segments and failures are simulated.
    pub recording: Recording,
    pub version: Version,
    pub figures: WhatIf,
}

/// Replays a recording under settings. O(events log blocks).
///
/// # Errors
/// [`Stopped`], as the replayable history says.
pub fn simulated(
    measured: &Recording,
    history: &History,
    replayable: &Replayable<'_>,
    (settings, rules): (Settings, Rules),
    device: DeviceSpec,
) -> Result<SimulatedRun, Stopped> {
    let start = replayable.start().live.iter();
    let older = start.map(|live| history.older.get(&live.addr).copied().unwrap_or(u32::MAX));
    let writer = Writer {
        measured,
        steps: &history.steps,
        of_allocation: older.chain(history.blocks.iter().copied()).collect(),
        step: Step(0),
        is_start: true,
        live: BTreeMap::new(),
        begun: None,
        blocks: Vec::with_capacity(measured.blocks.len()),
        pieces: BTreeMap::new(),
        regions: Vec::new(),
        failures: Vec::new(),
    };
    let version = settings.version;
    let (figures, writer) = what_if(replayable, (settings, rules), device, writer)?;
    Ok(SimulatedRun {
        recording: writer.finish(),
        version,
        figures,
    })
}

/// A range of device memory that is held.
#[derive(Clone, Copy, Debug)]
struct Piece {
    to: u64,
    birth: Step,
    is_older: bool,
    stream: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    name: &'static str,
    pool: Option<u64>,
}

struct Writer<'a> {
    measured: &'a Recording,
    steps: &'a [u32],
    /// The measured block of each allocation.
    of_allocation: Vec<u32>,
    step: Step,
    /// Whether the blocks of the start are being allocated.
    is_start: bool,
    /// Positions in `blocks` by address.
    live: BTreeMap<u64, usize>,
    /// The position of the block that was just allocated.
    begun: Option<usize>,
    blocks: Vec<RecordedBlock>,
    pieces: BTreeMap<u64, Piece>,
    regions: Vec<(u64, Step, Piece)>,
    failures: Vec<(Step, Event)>,
}

impl Observer for Writer<'_> {
    fn input(&mut self, position: Option<u32>) {
        self.is_start = position.is_none();
        let step = position.and_then(|position| self.steps.get(position as usize));
        self.step = step.map_or(Step(0), |step| Step(*step));
    }

    fn event(&mut self, event: Event) {
        match event.action {
            Action::Alloc => self.begin(&event),
            Action::FreeRequested => {
                if let Some(block) = self.live.get(&event.addr).and_then(|at| self.blocks.get_mut(*at)) {
                    block.freed_at = self.step.max(Step(block.birth.0 + 1));
                }
            }
            Action::FreeCompleted => {
                if let Some(block) = self.live.remove(&event.addr).and_then(|at| self.blocks.get_mut(at)) {
                    block.end = self.step.max(Step(block.birth.0 + 1));
                    block.freed_at = block.freed_at.min(block.end);
                    block.is_freed = true;
                }
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                let name = match event.action {
                    Action::SegmentMap => "expandable",
                    _ if event.size == 2 << 20 => "small",
                    _ => "large",
                };
                let piece = Piece {
                    to: event.addr.saturating_add(event.size),
                    birth: self.step,
                    is_older: self.is_start,
                    stream: event.stream,
                    kind: Kind { name, pool: event.pool },
                };
                self.pieces.insert(event.addr, piece);
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.release(event.addr, event.addr.saturating_add(event.size));
            }
            Action::OutOfMemory => self.failures.push((self.step, event)),
        }
    }

    fn granted(&mut self, id: u32, grant: &Grant) {
        let block = self.begun.take().and_then(|at| self.blocks.get_mut(at));
        let of = self.of_allocation.get(id as usize);
        let measured = of.and_then(|of| self.measured.blocks.get(*of as usize));
        if let (Some(block), Some(measured)) = (block, measured) {
            block.name = measured.name;
            block.stack = measured.stack;
            block.category = measured.category;
            block.basis = measured.basis;
            block.held = Bytes(grant.size);
        }
    }
}

impl Writer<'_> {
    fn begin(&mut self, event: &Event) {
        let n_steps = Step(self.measured.n_steps);
        let mut block = RecordedBlock::new(RecordedName::from_idx(0), self.step, n_steps, Bytes(event.size));
        block.address = BlockAddress::new(event.addr);
        block.stream = event.stream;
        block.is_older = self.is_start;
        self.begun = Some(self.blocks.len());
        self.live.insert(event.addr, self.blocks.len());
        self.blocks.push(block);
    }

    /// Ends what is held of a range; rests of pieces stay.
    fn release(&mut self, from: u64, to: u64) {
        let first = self.pieces.range(..=from).next_back().map_or(from, |(start, _)| *start);
        let touched: Vec<u64> = self.pieces.range(first..to).map(|(start, _)| *start).collect();
        for start in touched {
            let Some(piece) = self.pieces.remove(&start).filter(|piece| piece.to > from) else {
                continue;
            };
            if start < from {
                self.pieces.insert(start, Piece { to: from, ..piece });
            }
            if piece.to > to {
                self.pieces.insert(to, piece);
            }
            let end = Piece {
                to: piece.to.min(to),
                ..piece
            };
            self.regions.push((start.max(from), self.step, end));
        }
    }

    fn finish(mut self) -> Recording {
        let measured = self.measured;
        let n_steps = Step(measured.n_steps);
        for (start, piece) in std::mem::take(&mut self.pieces) {
            self.regions.push((start, n_steps, piece));
        }
        let mut names = measured.names.clone();
        let mut kinds: BTreeMap<Kind, RecordedName> = BTreeMap::new();
        let mut add = |text: &str| {
            names.push(text);
            RecordedName::from_idx(names.len() - 1)
        };
        let mut regions: Vec<RecordedRegion> = Vec::with_capacity(self.regions.len());
        for (address, end, piece) in &self.regions {
            // Memory that is taken and given back within a step is on no step.
            if *end <= piece.birth {
                continue;
            }
            let kind = *kinds.entry(piece.kind).or_insert_with(|| match piece.kind.pool {
                Some(pool) => add(&pooled_kind(piece.kind.name, (0, pool))),
                None => add(piece.kind.name),
            });
            regions.push(RecordedRegion {
                address: *address,
                bytes: Bytes(piece.to - address),
                birth: piece.birth,
                end: *end,
                stream: piece.stream,
                kind,
                is_older: piece.is_older,
            });
        }
        regions.sort_by_key(|region| (region.birth, region.address, region.end));
        let nothing = add("");
        let mut marks = measured.marks.clone();
        marks.retain(|mark| mark.kind != MarkKind::OutOfMemory);
        marks.extend(self.failures.iter().map(|(step, event)| RecordedMark {
            step: *step,
            kind: MarkKind::OutOfMemory,
            text: nothing,
            bytes: Bytes(event.size),
            failed: Some(FailedRequest {
                free: Some(Bytes(event.addr)),
                stream: event.stream,
                stack: None,
            }),
        }));
        marks.sort_by_key(|mark| mark.step);
        Recording {
            device: measured.device.clone(),
            device_memory: measured.device_memory,
            n_steps: measured.n_steps,
            times: measured.times.clone(),
            blocks: self.blocks,
            regions,
            marks,
            phases: measured.phases.clone(),
            names,
            frames: measured.frames.clone(),
            stacks: measured.stacks.clone(),
            call_sites: measured.call_sites.clone(),
            undecided_parameters: measured.undecided_parameters,
            ..Recording::default()
        }
    }
}
