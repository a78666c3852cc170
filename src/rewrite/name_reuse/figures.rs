//! Bytes before and after: in sum over variables and slots, and at the peak of what lives at once.
//!
//! Counted are tensors that do not outlive the run, of known shape; -1 is the batch. In sum: every such variable of
//! every block before; afterwards one slot for each name that is left, as large as the largest that it holds. At the
//! peak: what is live before or written by an op, data fed from outside included; an op that runs a block adds that
//! block's own peak, and a name has the size that it is declared with, so that taking a larger slot costs.

use std::collections::{BTreeMap, BTreeSet};

use super::Rename;
use super::flow::all_names;
use super::lookup::is_tensor;
use highwater_model::units::Bytes;
use highwater_model::workload::{Block, BlockProgram, BlockVariable};

/// How deep blocks may run each other before their peaks are left out; real programs have a handful.
const MAX_DEPTH: usize = 64;

/// Bytes of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramFigures {
    /// How many variables are counted.
    pub variables: u64,
    /// Their bytes in sum.
    pub bytes: Bytes,
    /// The peak of what lives at once.
    pub peak: Bytes,
    /// The op of the global block at the peak.
    pub peak_op: Option<u32>,
    /// Variables of a data type of unknown width: counted as 0 bytes.
    pub unknown_types: u64,
    /// Whether some dimension was unknown, so that the batch came in.
    pub has_batch: bool,
}

/// Bytes before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseFigures {
    /// In sum, before.
    pub bytes_before: Bytes,
    /// In sum, after.
    pub bytes_after: Bytes,
    /// At the peak, before.
    pub peak_before: Bytes,
    /// At the peak, after.
    pub peak_after: Bytes,
}

/// The figures of one program with a batch. O(names log names).
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
    (figures.peak, figures.peak_op) = peaks.of_block(0, 0);
    figures
}

/// The figures of a program and of what became of it. O(names log names).
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

/// The largest bytes of each name that is left, in sum. A variable that was renamed is left where some op still calls
/// it by its own name.
fn slot_bytes(before: &BlockProgram, after: &BlockProgram, renames: &[Rename], batch: u64) -> Bytes {
    // Bytes by declaration: block and name.
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

/// The block that declares a name as an op of `block` finds it: its own, else the forward one, else those around it.
pub(super) fn declaration<'a>(program: &BlockProgram, block: u32, name: &'a str) -> Option<(u32, &'a str)> {
    let declares = |block: u32| {
        let found = program.blocks.get(block as usize);
        found.is_some_and(|found| found.variables.contains_key(name))
    };
    let mut at = Some(block);
    // No more steps than there are blocks: those around each other in a circle end too.
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

/// Peaks of blocks, each worked out once.
struct Peaks<'a> {
    program: &'a BlockProgram,
    batch: u64,
    known: BTreeMap<u32, Bytes>,
}

impl Peaks<'_> {
    /// The peak of a block's own tensors (of the global block: with those of blocks that it runs), and its first op.
    fn of_block(&mut self, number: u32, depth: usize) -> (Bytes, Option<u32>) {
        let program = self.program;
        let Some(block) = program.blocks.get(number as usize).filter(|_| depth < MAX_DEPTH) else {
            return (Bytes::ZERO, None);
        };
        let lives = live_bytes(block, self.batch);
        let mut peak = (Bytes::ZERO, None);
        for ((position, op), live) in (0_u32..).zip(&block.ops).zip(lives) {
            let inside = op.sub_block.map_or(Bytes::ZERO, |block| self.inner(block, depth));
            if peak.1.is_none() || peak.0 < live + inside {
                peak = (live + inside, Some(position));
            }
        }
        peak
    }

    fn inner(&mut self, block: u32, depth: usize) -> Bytes {
        if let Some(known) = self.known.get(&block) {
            return *known;
        }
        // Blocks that run each other in a circle add nothing the second time.
        self.known.insert(block, Bytes::ZERO);
        let peak = self.of_block(block, depth + 1).0;
        self.known.insert(block, peak);
        peak
    }
}

/// Bytes that each op of a block sees live: what is live before it, and what it writes. O(names log names).
fn live_bytes(block: &Block, batch: u64) -> Vec<Bytes> {
    let size = |name: &str| {
        let variable = block.variables.get(name).filter(|variable| is_tensor(variable));
        variable.and_then(|variable| variable.bytes(batch)).unwrap_or_default()
    };
    let mut live: BTreeSet<&str> = BTreeSet::new();
    // Sums in 128 bits go down exactly as they went up.
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
