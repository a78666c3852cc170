//! Bytes before and after reuse: in sum over variables and slots, and at the live peak.
//!
//! Counted are tensors of known shape that do not outlive the run; -1 is the batch. Sum before: every such variable of
//! every block; after: one slot for each remaining name, as large as its largest variable. Peak: live before an op or
//! written by it, fed data included; an op that runs a block adds that block's own peak, and a name has its declared
//! size, so that reusing a larger slot costs.

use std::collections::{BTreeMap, BTreeSet};

use super::Rename;
use super::flow::all_names;
use super::lookup::is_tensor;
use highwater_model::units::Bytes;
use highwater_model::workload::{Block, BlockProgram, BlockVariable};

/// Nesting depth of blocks beyond which their peaks are left out; real programs nest a few levels.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramFigures {
    pub variables: u64,
    pub bytes: Bytes,
    /// The live peak.
    pub peak: Bytes,
    /// Variables of a data type of unknown width, counted as 0 bytes.
    pub unknown_types: u64,
    /// Whether a dimension was unknown, so that the batch was used.
    pub has_batch: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseFigures {
    pub bytes_before: Bytes,
    pub bytes_after: Bytes,
    pub peak_before: Bytes,
    pub peak_after: Bytes,
}

/// O(names log names).
pub fn program_figures(program: &BlockProgram, batch: u64) -> ProgramFigures {
    let mut figures = ProgramFigures::default();
    for variable in counted(program) {
        figures.variables += 1;
        figures.unknown_types += u64::from(variable.bytes(batch).is_none());
        figures.has_batch |= variable.shape.iter().any(|dim| *dim < 0);
        figures.bytes += variable.bytes(batch).unwrap_or_default();
    }
    let mut peaks = Peaks {
        program,
        batch,
        known: BTreeMap::new(),
    };
    figures.peak = peaks.of_block(0, 0);
    figures
}

/// O(names log names).
pub fn reuse_figures(before: &BlockProgram, after: &BlockProgram, renames: &[Rename], batch: u64) -> ReuseFigures {
    ReuseFigures {
        bytes_before: counted(before)
            .map(|variable| variable.bytes(batch).unwrap_or_default())
            .sum(),
        bytes_after: slot_bytes(before, after, renames, batch),
        peak_before: program_figures(before, batch).peak,
        peak_after: program_figures(after, batch).peak,
    }
}

fn counted(program: &BlockProgram) -> impl Iterator<Item = &BlockVariable> {
    let variables = program.blocks.iter().flat_map(|block| block.variables.values());
    variables.filter(|variable| is_tensor(variable))
}

/// Sum of the largest bytes of each remaining name. A renamed variable remains where an op still uses its original
/// name.
fn slot_bytes(before: &BlockProgram, after: &BlockProgram, renames: &[Rename], batch: u64) -> Bytes {
    // By declaration: block and name.
    let mut slots: BTreeMap<(u32, &str), Bytes> = BTreeMap::new();
    for (number, block) in (0_u32..).zip(&before.blocks) {
        for (name, variable) in block.variables.iter().filter(|(_, variable)| is_tensor(variable)) {
            slots.insert((number, name), variable.bytes(batch).unwrap_or_default());
        }
    }
    let mentioned: BTreeSet<&str> = after
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .flat_map(|op| all_names(&op.inputs).chain(all_names(&op.outputs)))
        .collect();
    let mut left_out: BTreeSet<(u32, &str)> = BTreeSet::new();
    for rename in renames {
        let variable = declaration(before, rename.block, &rename.variable);
        let cache = declaration(before, rename.block, &rename.cache);
        let (Some(variable), Some(cache)) = (variable, cache) else {
            continue;
        };
        let bytes = slots.get(&variable).copied().unwrap_or_default();
        let slot = slots.entry(cache).or_default();
        *slot = (*slot).max(bytes);
        left_out.remove(&cache);
        if !mentioned.contains(variable.1) {
            left_out.insert(variable);
        }
    }
    let kept = slots.iter().filter(|(at, _)| !left_out.contains(*at));
    kept.map(|(_, bytes)| *bytes).sum()
}

/// The block that declares a name for an op of `block`: itself, else the forward block, else enclosing blocks.
pub(super) fn declaration<'a>(program: &BlockProgram, block: u32, name: &'a str) -> Option<(u32, &'a str)> {
    let declares = |block: u32| {
        let found = program.blocks.get(block as usize);
        found.is_some_and(|found| found.variables.contains_key(name))
    };
    let mut at = Some(block);
    // At most one step per block, so circular parents terminate.
    for _ in 0..program.blocks.len() {
        let here = at?;
        let forward = program.blocks.get(here as usize).and_then(|block| block.forward);
        let mut near = std::iter::once(here).chain(forward);
        if let Some(found) = near.find(|block| declares(*block)) {
            return Some((found, name));
        }
        at = program.blocks.get(here as usize).and_then(|block| block.parent);
    }
    None
}

/// Peaks of blocks, each computed once.
struct Peaks<'a> {
    program: &'a BlockProgram,
    batch: u64,
    known: BTreeMap<u32, Bytes>,
}

impl Peaks<'_> {
    /// Peak of a block's tensors and those of the blocks that it runs.
    fn of_block(&mut self, number: u32, depth: usize) -> Bytes {
        let program = self.program;
        let Some(block) = program.blocks.get(number as usize).filter(|_| depth < MAX_DEPTH) else {
            return Bytes::ZERO;
        };
        let lives = block.ops.iter().zip(live_bytes(block, self.batch));
        let held = lives.map(|(op, live)| live + op.sub_block.map_or(Bytes::ZERO, |block| self.inner(block, depth)));
        held.max().unwrap_or_default()
    }

    fn inner(&mut self, block: u32, depth: usize) -> Bytes {
        if let Some(known) = self.known.get(&block) {
            return *known;
        }
        // Blocks that run each other recursively add nothing the second time.
        self.known.insert(block, Bytes::ZERO);
        let peak = self.of_block(block, depth + 1);
        self.known.insert(block, peak);
        peak
    }
}

/// Bytes live at each op of a block: live before it, and written by it. O(names log names).
fn live_bytes(block: &Block, batch: u64) -> Vec<Bytes> {
    let size = |name: &str| {
        let variable = block.variables.get(name).filter(|variable| is_tensor(variable));
        variable.and_then(|variable| variable.bytes(batch)).unwrap_or_default()
    };
    let mut live: BTreeSet<&str> = BTreeSet::new();
    // In 128 bits, additions and subtractions cancel exactly.
    let mut sum = 0_u128;
    let mut lives = vec![Bytes::ZERO; block.ops.len()];
    for (op, at_op) in block.ops.iter().zip(&mut lives).rev() {
        let defs: BTreeSet<&str> = all_names(&op.outputs).collect();
        let uses: BTreeSet<&str> = all_names(&op.inputs).collect();
        for name in defs.iter().chain(&uses) {
            if live.insert(name) {
                sum += u128::from(size(name).get());
            }
        }
        *at_op = Bytes(u64::try_from(sum).unwrap_or(u64::MAX));
        for name in defs.difference(&uses) {
            if live.remove(name) {
                sum = sum.saturating_sub(u128::from(size(name).get()));
            }
        }
    }
    lives
}
