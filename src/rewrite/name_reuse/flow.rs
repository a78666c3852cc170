//! Control-flow graphs: which ops are analysed together, in which order, and which names are skipped.
//!
//! The global block is one graph. Each block that an op of the global block runs is another, followed by the block of
//! its gradient, if any; deeper blocks are not analysed. Each block is in at most one graph. Names are numbered per
//! graph, so that work is proportional to the graph.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};

use super::versions::{ForcedRule, VersionRules};
use highwater_model::workload::{BlockOp, BlockProgram, Slots};

/// Version 1 reads the attribute `force_cpu` only of this op type.
const FILL_CONSTANT: &str = "fill_constant";

/// The blocks of one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowPlan {
    pub(super) forward: u32,
    pub(super) gradient: Option<u32>,
    /// Ops of the global block whose names are skipped.
    pub(super) owners: Vec<u32>,
}

/// An op of a graph, with names as numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowOp {
    pub(super) block: u32,
    pub(super) index: u32,
    /// Names read, each once, by sorted slot.
    pub(super) uses: Vec<u32>,
    /// Names written, likewise.
    pub(super) defs: Vec<u32>,
    /// Every name in the program's op: inputs, outputs, `op_role_var`.
    pub(super) names: Vec<u32>,
    /// Whether it runs a block; then it is skipped.
    pub(super) is_sub_block: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Flow<'a> {
    pub(super) ops: Vec<FlowOp>,
    /// Number of forward ops.
    pub(super) n_forward: usize,
    pub(super) names: IndexSet<&'a str>,
    /// By name.
    pub(super) is_skipped: Vec<bool>,
    /// Blocks searched for declarations: for forward ops, for gradient ops.
    pub(super) search: [Vec<u32>; 2],
}

/// The graphs of a program, the global one first. O(ops log ops).
pub(super) fn flow_plans(program: &BlockProgram, rules: &VersionRules) -> Vec<FlowPlan> {
    let Some(global) = program.blocks.first() else {
        return Vec::new();
    };
    let runners = (0_u32..).zip(&global.ops).filter(|(_, op)| is_sub_block(op, rules));
    let mut plans = vec![FlowPlan {
        forward: 0,
        gradient: None,
        owners: runners.clone().map(|(at, _)| at).collect(),
    }];
    let mut owners_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, op) in runners {
        if let Some(block) = op.sub_block {
            owners_of.entry(block).or_default().push(at);
        }
    }
    let mut is_taken = vec![false; program.blocks.len()];
    is_taken[0] = true;
    let mut take = |block: u32| {
        let taken = is_taken.get_mut(block as usize);
        taken.is_some_and(|taken| !std::mem::replace(taken, true))
    };
    for family in rules.families {
        for (forward, gradient) in pairs(program, &global.ops, *family) {
            if !take(forward) {
                continue;
            }
            let gradient = gradient.filter(|gradient| take(*gradient));
            let blocks = std::iter::once(forward).chain(gradient);
            let mut owners: Vec<u32> = blocks
                .filter_map(|block| owners_of.get(&block))
                .flatten()
                .copied()
                .collect();
            owners.sort_unstable();
            plans.push(FlowPlan {
                forward,
                gradient,
                owners,
            });
        }
    }
    plans
}

/// The blocks of one family of ops: forward ones with a gradient in the order of the gradient ops, then the others.
///
/// The known description lists blocks ("forward blocks that have a grad block") with one op each: original programs
/// give every op its own block. The behaviour for a block run by several ops is not known; here it is listed once,
/// owned by all of them.
fn pairs(program: &BlockProgram, ops: &[BlockOp], family: (&str, &str)) -> Vec<(u32, Option<u32>)> {
    let blocks_of = |kind: &str| -> IndexSet<u32> {
        let found = ops.iter().filter(|op| &*op.kind == kind);
        found.filter_map(|op| op.sub_block).collect()
    };
    let forwards = blocks_of(family.0);
    let mut paired: IndexMap<u32, u32> = IndexMap::new();
    for gradient in blocks_of(family.1) {
        let forward = program.blocks.get(gradient as usize).and_then(|block| block.forward);
        if let Some(forward) = forward.filter(|forward| forwards.contains(forward)) {
            paired.entry(forward).or_insert(gradient);
        }
    }
    let alone = forwards.into_iter().filter(|forward| !paired.contains_key(forward));
    let alone: Vec<_> = alone.map(|forward| (forward, None)).collect();
    let both = paired.into_iter().map(|(forward, gradient)| (forward, Some(gradient)));
    both.chain(alone).collect()
}

/// Whether an op runs a block.
fn is_sub_block(op: &BlockOp, rules: &VersionRules) -> bool {
    let mut families = rules.families.iter();
    families.any(|(forward, gradient)| &*op.kind == *forward || &*op.kind == *gradient)
}

/// The graph of a plan; `user` are the names that the caller skips. O(names).
pub(super) fn flow<'a>(
    program: &'a BlockProgram,
    plan: &FlowPlan,
    rules: &VersionRules,
    user: &BTreeSet<&str>,
) -> Flow<'a> {
    let mut skipped: BTreeSet<&str> = BTreeSet::new();
    let global = program.blocks.first().map_or(&[][..], |block| &block.ops);
    for owner in plan.owners.iter().filter_map(|owner| global.get(*owner as usize)) {
        skipped.extend(all_names(&owner.inputs).chain(all_names(&owner.outputs)));
    }
    let mut flow = Flow {
        ops: Vec::new(),
        n_forward: 0,
        names: IndexSet::new(),
        is_skipped: Vec::new(),
        search: [
            vec![plan.forward],
            plan.gradient.map_or_else(Vec::new, |block| search(program, block)),
        ],
    };
    for block in std::iter::once(plan.forward).chain(plan.gradient) {
        let ops = program.blocks.get(block as usize).map_or(&[][..], |block| &block.ops);
        for (index, op) in (0_u32..).zip(ops) {
            let is_forced = rules.forced == ForcedRule::AnyOp || &*op.kind == FILL_CONSTANT;
            if op.is_forced_to_cpu && is_forced {
                skipped.extend(all_names(&op.outputs));
            }
            let mut flow_op = flow.op(op);
            (flow_op.block, flow_op.index) = (block, index);
            flow_op.is_sub_block = is_sub_block(op, rules);
            flow.ops.push(flow_op);
        }
        if block == plan.forward {
            flow.n_forward = flow.ops.len();
        }
    }
    let is_skipped = |name: &&str| skipped.contains(name) || user.contains(name);
    flow.is_skipped = flow.names.iter().map(is_skipped).collect();
    flow
}

impl<'a> Flow<'a> {
    pub(super) fn text(&self, name: u32) -> &'a str {
        self.names.get_index(name as usize).copied().unwrap_or("")
    }

    fn number(&mut self, name: &'a str) -> u32 {
        u32::try_from(self.names.insert_full(name).0).unwrap_or(u32::MAX)
    }

    fn op(&mut self, op: &'a BlockOp) -> FlowOp {
        let names = all_names(&op.inputs).chain(all_names(&op.outputs));
        let names = names.chain(op.role_variables.iter().flatten().map(|name| &**name));
        let names: Vec<u32> = names.map(|name| self.number(name)).collect();
        let n_inputs = all_names(&op.inputs).count();
        let n_outputs = all_names(&op.outputs).count();
        FlowOp {
            uses: by_slot(&op.inputs, &names[..n_inputs]),
            defs: by_slot(&op.outputs, &names[n_inputs..n_inputs + n_outputs]),
            names,
            ..FlowOp::default()
        }
    }
}

/// All names in slots, in file order.
pub(super) fn all_names(slots: &Slots) -> impl Iterator<Item = &str> {
    slots.iter().flat_map(|(_, names)| names.iter().map(|name| &**name))
}

/// Numbers in file order, sorted by slot, each once.
fn by_slot(slots: &Slots, numbers: &[u32]) -> Vec<u32> {
    let mut ranges: Vec<(&str, usize, usize)> = Vec::with_capacity(slots.len());
    let mut start = 0;
    for (slot, names) in slots {
        ranges.push((slot, start, start + names.len()));
        start += names.len();
    }
    ranges.sort_by_key(|range| range.0);
    let sorted = ranges.into_iter().flat_map(|(_, start, end)| &numbers[start..end]);
    if numbers.len() > 8 {
        return sorted.copied().collect::<IndexSet<u32>>().into_iter().collect();
    }
    let mut once = Vec::with_capacity(numbers.len());
    for number in sorted {
        if !once.contains(number) {
            once.push(*number);
        }
    }
    once
}

/// Blocks searched for variables of a gradient block's ops: breadth first through itself, its forward block, its
/// parent, and so on.
fn search(program: &BlockProgram, block: u32) -> Vec<u32> {
    let mut found: IndexSet<u32> = IndexSet::from([block]);
    let mut at = 0;
    while let Some(here) = found.get_index(at).copied() {
        at += 1;
        if let Some(here) = program.blocks.get(here as usize) {
            found.extend(here.forward.into_iter().chain(here.parent));
        }
    }
    found.into_iter().collect()
}
