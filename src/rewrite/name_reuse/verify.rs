//! Checks whether reuse changed the values that ops read, independently of how names were chosen.
//!
//! In: the program before and after. Out: reads of another definition than before, ops that newly read and write one
//! name, ops whose results share a name. Along each sequence of ops a definition is the last write of the name; a block
//! that an op runs reads, at that op, every outer name that it mentions. The original makes such renames in programs
//! that write a name more than once; they are reported, not repaired.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{FlowPlan, all_names, flow_plans};
use super::lookup::EMPTY;
use super::versions::Version;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BlockOp, BlockProgram, Slots};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReuseDefectKind {
    /// A read sees another definition than before.
    WrongValue,
    /// A block that the op runs sees another definition than before.
    WrongValueInside,
    /// The op newly reads and writes one name.
    NewInPlace,
    /// Results of the op that were separate share a name.
    CollidingOutputs,
}

impl ReuseDefectKind {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrongValue => "wrong_value",
            Self::WrongValueInside => "wrong_value_inside",
            Self::NewInPlace => "new_inplace",
            Self::CollidingOutputs => "colliding_outputs",
        }
    }

    /// Whether values are lost; an op may be able to work in place.
    pub const fn is_corruption(self) -> bool {
        !matches!(self, Self::NewInPlace)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseDefect {
    pub kind: ReuseDefectKind,
    pub block: u32,
    pub op: u32,
    /// For a wrong value: the position among the op's inputs, slots sorted.
    pub position: Option<u32>,
    /// The name before.
    pub variable: Box<str>,
    /// The name after.
    pub renamed: Box<str>,
    /// A sentence without a final period.
    pub message: String,
}

/// An op of a sequence: block and position.
type At = (u32, u32);

/// Compares a program with its result. O(n log n) in the names of the program and, for each op that runs a block, in
/// the names that this block takes from outside.
///
/// # Errors
/// [`Cancelled`].
pub fn verify(
    before: &BlockProgram,
    after: &BlockProgram,
    progress: &Progress<'_>,
) -> Result<Vec<ReuseDefect>, Cancelled> {
    let mut found = Vec::new();
    // The oldest version analyses the most blocks; a sequence without renames has no findings.
    for plan in flow_plans(before, Version::V1.rules()) {
        verify_line(before, after, &plan, &mut found, progress)?;
    }
    Ok(found)
}

fn verify_line(
    before: &BlockProgram,
    after: &BlockProgram,
    plan: &FlowPlan,
    found: &mut Vec<ReuseDefect>,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let mut inside = OuterNames::default();
    let mut was: BTreeMap<&str, At> = BTreeMap::new();
    let mut is: BTreeMap<&str, At> = BTreeMap::new();
    for block in std::iter::once(plan.forward).chain(plan.gradient) {
        let pair = before.blocks.get(block as usize).zip(after.blocks.get(block as usize));
        let ops = pair.into_iter().flat_map(|(old, new)| old.ops.iter().zip(&new.ops));
        for (position, (old, new)) in (0_u32..).zip(ops) {
            progress.check()?;
            let at = (block, position);
            let line = CheckedOp {
                at,
                op: old,
                was: &was,
                is: &is,
            };
            line.reads(&sorted(&old.inputs), &sorted(&new.inputs), found);
            line.reads_inside(inside.names(before, old.sub_block, block), found);
            let (old_outputs, new_outputs) = (sorted(&old.outputs), sorted(&new.outputs));
            line.in_place(
                (&sorted(&old.inputs), &old_outputs),
                (&sorted(&new.inputs), &new_outputs),
                found,
            );
            line.collisions(&old_outputs, &new_outputs, found);
            was.extend(old_outputs.into_iter().map(|name| (name, at)));
            is.extend(new_outputs.into_iter().map(|name| (name, at)));
        }
    }
    Ok(())
}

/// Outer names of blocks, computed once per block and running block.
#[derive(Default)]
struct OuterNames<'p> {
    known: BTreeMap<(u32, u32), BTreeSet<&'p str>>,
}

impl<'p> OuterNames<'p> {
    fn names(&mut self, program: &'p BlockProgram, block: Option<u32>, runner: u32) -> Option<&BTreeSet<&'p str>> {
        let block = block?;
        let names = || outer_names(program, block, runner);
        Some(self.known.entry((block, runner)).or_insert_with(names))
    }
}

/// One op with the definitions before it.
struct CheckedOp<'a, 'p> {
    at: At,
    op: &'a BlockOp,
    was: &'a BTreeMap<&'p str, At>,
    is: &'a BTreeMap<&'p str, At>,
}

impl CheckedOp<'_, '_> {
    fn defect(&self, kind: ReuseDefectKind, names: (&str, &str), message: String) -> ReuseDefect {
        ReuseDefect {
            kind,
            block: self.at.0,
            op: self.at.1,
            position: None,
            variable: names.0.into(),
            renamed: names.1.into(),
            message,
        }
    }

    fn place(&self) -> String {
        format!("op {} ({}) of block {}", self.at.1, self.op.kind, self.at.0)
    }

    fn reads(&self, old: &[&str], new: &[&str], found: &mut Vec<ReuseDefect>) {
        for (position, (name, renamed)) in (0_u32..).zip(old.iter().zip(new)) {
            let (was, is) = (self.was.get(name), self.is.get(renamed));
            if was == is || *name == EMPTY {
                continue;
            }
            let message = format!(
                "{} reads \"{name}\", which {}; now it reads \"{renamed}\", which {}",
                self.place(),
                origin(was),
                origin(is)
            );
            found.push(ReuseDefect {
                position: Some(position),
                ..self.defect(ReuseDefectKind::WrongValue, (name, renamed), message)
            });
        }
    }

    /// Blocks keep the names that they mention; the surrounding ops may have been renamed.
    fn reads_inside(&self, names: Option<&BTreeSet<&str>>, found: &mut Vec<ReuseDefect>) {
        let Some((block, names)) = self.op.sub_block.zip(names) else {
            return;
        };
        for name in names.iter().copied() {
            let (was, is) = (self.was.get(name), self.is.get(name));
            if was != is {
                let message = format!(
                    "block {block}, which {} runs, mentions \"{name}\", which {}; now what is called so {}",
                    self.place(),
                    origin(was),
                    origin(is)
                );
                found.push(self.defect(ReuseDefectKind::WrongValueInside, (name, name), message));
            }
        }
    }

    fn in_place(&self, old: (&[&str], &[&str]), new: (&[&str], &[&str]), found: &mut Vec<ReuseDefect>) {
        // The first output that is also an input.
        let shared = |(inputs, outputs): (&[&str], &[&str])| {
            let inputs: BTreeSet<&str> = inputs.iter().copied().collect();
            outputs.iter().position(|name| *name != EMPTY && inputs.contains(name))
        };
        let Some(position) = shared(new).filter(|_| shared(old).is_none()) else {
            return;
        };
        let (name, renamed) = (old.1.get(position).copied().unwrap_or(""), new.1[position]);
        let message = format!("{} now reads and writes \"{renamed}\" at once", self.place());
        found.push(self.defect(ReuseDefectKind::NewInPlace, (name, renamed), message));
    }

    fn collisions(&self, old: &[&str], new: &[&str], found: &mut Vec<ReuseDefect>) {
        let distinct = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len();
        if distinct(new) >= distinct(old) {
            return;
        }
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, renamed) in old.iter().zip(new) {
            let first = *seen.entry(renamed).or_insert(name);
            if first != *name {
                let message = format!(
                    "{} writes \"{first}\" and \"{name}\" both to \"{renamed}\"",
                    self.place()
                );
                found.push(self.defect(ReuseDefectKind::CollidingOutputs, (name, renamed), message));
                return;
            }
        }
    }
}

/// The origin of a value.
fn origin(at: Option<&At>) -> String {
    match at {
        None => "comes from outside".to_owned(),
        Some((block, op)) => format!("op {op} of block {block} wrote"),
    }
}

/// All names in slots, slots sorted.
fn sorted(slots: &Slots) -> Vec<&str> {
    let mut slots: Vec<_> = slots.iter().collect();
    slots.sort_by(|a, b| a.0.cmp(&b.0));
    slots
        .into_iter()
        .flat_map(|(_, names)| names.iter().map(|name| &**name))
        .collect()
}

/// Sorted names that a block, or one that it runs, mentions without declaring them; the block `runner` is not entered.
fn outer_names(program: &BlockProgram, block: u32, runner: u32) -> BTreeSet<&str> {
    let mut open = vec![block];
    let mut seen = BTreeSet::from([runner]);
    let mut mentioned = BTreeSet::new();
    let mut declaring = BTreeSet::new();
    while let Some(here) = open.pop() {
        let Some(block) = program.blocks.get(here as usize) else {
            continue;
        };
        if !seen.insert(here) {
            continue;
        }
        // The gradient finds declarations of the forward block in the kept scopes.
        declaring.extend(std::iter::once(here).chain(block.forward));
        for op in &block.ops {
            mentioned.extend(all_names(&op.inputs).chain(all_names(&op.outputs)));
            open.extend(op.sub_block);
        }
    }
    let declaring = declaring.iter().filter_map(|block| program.blocks.get(*block as usize));
    let declared: BTreeSet<&str> = declaring
        .flat_map(|block| block.variables.keys())
        .map(|name| &**name)
        .collect();
    mentioned
        .difference(&declared)
        .copied()
        .filter(|name| *name != EMPTY)
        .collect()
}
