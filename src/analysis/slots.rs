//! A program of blocks as memory: every name is a slot that its variables use one after the other.
//!
//! ```text
//! address   | slot a |==a==|   |===c===|        c was renamed to a: it begins where a has ended
//!           | slot b |   |====b====|
//!           +--------------------------> op
//! ```
//!
//! In: a program before and after name reuse. Out: by block the live ranges, their offsets and the bytes of all slots,
//! as held by an executor with separate memory for each name. A live range reaches from a write to the last read before
//! the next write. Where a rename overwrites a value that is still read (the verifier reports that), the older live
//! range ends there. Linear in names, plus sorts.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Block, BlockOp, BlockProgram, BlockVariable, Lifetime, Lifetimes};
use highwater_plan::{PlacementProblem, Plan};

/// The kind of variables that are tensors.
const TENSOR: &str = "LOD_TENSOR";

/// A name that refers to no variable.
const EMPTY: &str = "@EMPTY@";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockPicture {
    /// A tensor is a variable by its position among the block's declarations.
    pub(super) lifetimes: Lifetimes,
    /// The offset of each live range; the footprint is that of all slots.
    pub(super) plan: Plan,
    /// Bytes of variables that outlive the run.
    pub(super) persistable: Vec<(Box<str>, Bytes)>,
}

/// A live range whose slot has no number yet.
struct Life<'a> {
    start: u32,
    end: u32,
    variable: u32,
    bytes: Bytes,
    slot: &'a str,
}

/// The memory of a block, from its declarations, its ops before and after, and the value of dimension -1.
pub(super) fn block_picture(program: &BlockProgram, before: &Block, after: &Block, batch: u64) -> BlockPicture {
    let lives = lives(before, after, batch);
    let mut sizes: IndexMap<&str, Bytes> = IndexMap::new();
    for life in &lives {
        let size = sizes.entry(life.slot).or_insert_with(|| {
            let declared = declared(program, before, life.slot);
            declared.and_then(|variable| variable.bytes(batch)).unwrap_or_default()
        });
        *size = (*size).max(life.bytes);
    }
    let mut offset_of: BTreeMap<&str, u64> = BTreeMap::new();
    let mut footprint = 0_u64;
    for (slot, bytes) in &sizes {
        offset_of.insert(slot, footprint);
        footprint = footprint.saturating_add(bytes.get());
    }
    let lifetimes = Lifetimes {
        n_steps: u32::try_from(before.ops.len()).unwrap_or(u32::MAX),
        items: lives.iter().map(lifetime).collect(),
    };
    let offsets = lives.iter().map(|life| offset_of[life.slot]).collect();
    let mut plan = Plan::new(&PlacementProblem::from_lifetimes(&lifetimes, 1), offsets);
    plan.footprint = Bytes(footprint);
    let persistable = before.variables.iter().filter(|(_, variable)| variable.is_persistable);
    BlockPicture {
        lifetimes,
        plan,
        persistable: persistable
            .filter_map(|(name, variable)| Some((name.clone(), variable.bytes(batch)?)))
            .collect(),
    }
}

fn lifetime(life: &Life<'_>) -> Lifetime {
    Lifetime {
        birth: Step(life.start),
        end: Step(life.end),
        bytes: life.bytes,
        tensor: TensorId(life.variable),
    }
}

/// All live ranges sorted by begin; within a slot they do not overlap.
fn lives<'a>(before: &Block, after: &'a Block, batch: u64) -> Vec<Life<'a>> {
    let mut open: BTreeMap<u32, Life<'a>> = BTreeMap::new();
    let mut lives = Vec::new();
    for (step, (old, new)) in (0_u32..).zip(before.ops.iter().zip(&after.ops)) {
        for (name, slot) in names(old, new, |op| &op.inputs) {
            let Some((variable, bytes)) = held(before, name, batch) else {
                continue;
            };
            // A variable that is read before it is written is live from the begin.
            let life = open.entry(variable).or_insert(Life {
                start: 0,
                end: 0,
                variable,
                bytes,
                slot,
            });
            life.end = life.end.max(step + 1);
        }
        for (name, slot) in names(old, new, |op| &op.outputs) {
            let Some((variable, bytes)) = held(before, name, batch) else {
                continue;
            };
            let life = Life {
                start: step,
                end: step + 1,
                variable,
                bytes,
                slot,
            };
            lives.extend(open.insert(variable, life));
        }
    }
    lives.extend(open.into_values());
    lives.sort_by_key(|life| (life.start, life.variable, life.end));
    cut_overlaps(&mut lives);
    lives
}

/// Ends a live range where the next one of its slot begins.
fn cut_overlaps(lives: &mut Vec<Life<'_>>) {
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for position in 0..lives.len() {
        let (start, slot) = (lives[position].start, lives[position].slot);
        if let Some(before) = last.insert(slot, position) {
            lives[before].end = lives[before].end.min(start);
        }
    }
    lives.retain(|life| life.start < life.end);
}

/// Pairs the names of an op before and after, argument by argument.
fn names<'a, 'b>(
    old: &'a BlockOp,
    new: &'b BlockOp,
    side: for<'x> fn(&'x BlockOp) -> &'x highwater_model::workload::Slots,
) -> impl Iterator<Item = (&'a str, &'b str)> {
    let slots = side(old).iter().zip(side(new));
    slots.flat_map(|((_, old), (_, new))| old.iter().map(|name| &**name).zip(new.iter().map(|name| &**name)))
}

/// A variable of the block, by position, with its bytes; `None` where it lies outside the block or its size is unknown.
fn held(block: &Block, name: &str, batch: u64) -> Option<(u32, Bytes)> {
    if name == EMPTY {
        return None;
    }
    let (position, _, variable) = block.variables.get_full(name)?;
    let is_held = !variable.is_persistable && &*variable.kind == TENSOR;
    let bytes = variable.bytes(batch).filter(|bytes| is_held && *bytes > Bytes::ZERO)?;
    Some((u32::try_from(position).ok()?, bytes))
}

/// The declaration of a name: in the block, its forward block, or an enclosing block.
fn declared<'a>(program: &'a BlockProgram, block: &'a Block, name: &str) -> Option<&'a BlockVariable> {
    let mut at = Some(block);
    for _ in 0..=program.blocks.len() {
        let block = at?;
        if let Some(variable) = block.variables.get(name) {
            return Some(variable);
        }
        let forward = block.forward.and_then(|idx| program.blocks.get(idx as usize));
        if let Some(variable) = forward.and_then(|block| block.variables.get(name)) {
            return Some(variable);
        }
        at = block.parent.and_then(|idx| program.blocks.get(idx as usize));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(ops: &[(&[&str], &[&str])]) -> BlockProgram {
        let slot = |names: &[&str]| vec![("X".into(), names.iter().map(|name| (*name).into()).collect())];
        let mut block = Block::default();
        for (inputs, outputs) in ops {
            for name in inputs.iter().chain(*outputs) {
                block.variables.entry((*name).into()).or_insert(BlockVariable {
                    shape: vec![-1, 4],
                    dtype: "FP32".into(),
                    is_persistable: name.starts_with('w'),
                    kind: TENSOR.into(),
                });
            }
            block.ops.push(BlockOp {
                inputs: slot(inputs),
                outputs: slot(outputs),
                ..BlockOp::default()
            });
        }
        BlockProgram {
            name: String::new(),
            blocks: vec![block],
        }
    }

    fn picture(before: &BlockProgram, after: &BlockProgram) -> BlockPicture {
        block_picture(before, &before.blocks[0], &after.blocks[0], 2)
    }

    fn rows(picture: &BlockPicture) -> Vec<(u32, u32, u32, u64)> {
        let items = picture.lifetimes.items.iter().zip(&picture.plan.offsets);
        items
            .map(|(item, offset)| (item.tensor.0, item.birth.0, item.end.0, *offset))
            .collect()
    }

    #[test]
    fn a_renamed_variable_lies_where_the_other_was() {
        let before = program(&[(&["w"], &["a"]), (&["a"], &["b"]), (&["b"], &["c"]), (&["c"], &["d"])]);
        let off = picture(&before, &before);
        assert_eq!(off.plan.footprint, Bytes(4 * 32));
        assert_eq!(off.persistable.len(), 1);
        let after = program(&[(&["w"], &["a"]), (&["a"], &["b"]), (&["b"], &["a"]), (&["a"], &["d"])]);
        let reused = picture(&before, &after);
        assert_eq!(reused.plan.footprint, Bytes(3 * 32));
        assert_eq!(
            rows(&reused),
            [(1, 0, 2, 0), (2, 1, 3, 32), (3, 2, 4, 0), (4, 3, 4, 64)]
        );
    }

    #[test]
    fn a_value_that_is_overwritten_too_early_ends_there() {
        let before = program(&[(&["w"], &["a"]), (&["w"], &["b"]), (&["a"], &["c"])]);
        let after = program(&[(&["w"], &["a"]), (&["w"], &["a"]), (&["a"], &["c"])]);
        assert_eq!(
            rows(&picture(&before, &after)),
            [(1, 0, 1, 0), (2, 1, 2, 0), (3, 2, 3, 32)]
        );
    }

    #[test]
    fn what_is_only_read_is_there_from_the_begin() {
        let before = program(&[(&["x"], &["a"]), (&["a", "x"], &["b"])]);
        assert_eq!(
            rows(&picture(&before, &before)),
            [(0, 0, 2, 0), (1, 0, 2, 32), (2, 1, 2, 64)]
        );
    }
}
