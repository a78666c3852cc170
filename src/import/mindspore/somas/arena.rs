//! The blocks of a dump as a placement problem, with SOMAS's plan.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{Dump, Tensor, tensor_name};
use super::{ADVICE, MAKER};
use crate::ImportError;
use crate::problem::draft::{Draft, Row};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::ProblemEntry;

/// SOMAS rounds sizes, and so offsets, to this; other divisors are those of other versions.
const ALIGNMENT: u64 = 512;

/// Tensors at one place.
struct Block<'d> {
    members: Vec<&'d Tensor>,
    /// First and last step.
    life: (u64, u64),
    size: u64,
}

impl Block<'_> {
    fn name(&self) -> String {
        let first = self.members.iter().find(|tensor| tensor.aligned > 0);
        let mut name = first.map_or_else(String::new, |tensor| tensor_name(tensor));
        for other in &self.members {
            if Some(other.id) != first.map(|tensor| tensor.id) {
                name.push_str(&format!(" %{}T", other.id));
            }
        }
        name
    }
}

pub(super) fn entry(dump: &Dump, diagnostics: &mut Diagnostics) -> Result<ProblemEntry, ImportError> {
    let blocks = blocks(dump, diagnostics);
    let has_plan = is_planned(&blocks);
    if !has_plan {
        let message = "all offsets are 0: the dump is of a stage before SOMAS's solver, so it has no plan; open \
                       *_somas_tensor_offset_*.ir of the same folder for that";
        diagnostics.info(message, "");
    }
    let streams: BTreeSet<u64> = dump.nodes.iter().map(|node| node.stream).collect();
    if streams.len() > 1 {
        let message = format!(
            "the nodes run on {} streams: SOMAS also keeps tensors apart whose nodes may run at the same time, which live ranges \
             do not tell, so plans of other strategies hold for nodes that run one after the other",
            streams.len()
        );
        diagnostics.info(message, "");
    }
    if dump.n_contiguous > 0 {
        let message = "tensors that SOMAS has to place one behind the other are placed freely by other strategies";
        diagnostics.counted(Severity::Info, message, "", dump.n_contiguous);
    }
    let is_aligned = |number: u64| number.is_multiple_of(ALIGNMENT);
    let alignment = if blocks
        .iter()
        .all(|block| is_aligned(block.size) && is_aligned(block.members[0].offset))
    {
        ALIGNMENT
    } else {
        1
    };
    let mut draft = Draft::default();
    for block in &blocks {
        let row = Row {
            id: &block.name(),
            lower: block.life.0,
            upper: block.life.1,
            is_inclusive: true,
            size: block.size,
            alignment,
            offset: has_plan.then_some(block.members[0].offset),
        };
        let line = block.members[0].line;
        draft
            .push(&row)
            .map_err(|what| ImportError::at(what, format!("line {line}"), ADVICE))?;
    }
    if blocks.is_empty() {
        return Err(ImportError::at("no tensor lies in the arena", "All Tensors", ADVICE));
    }
    let lines: Vec<u64> = blocks.iter().map(|block| block.members[0].line).collect();
    let place = |row: usize| format!("line {}", lines.get(row).copied().unwrap_or(0));
    draft.finish(MAKER.to_owned(), Some(MAKER.to_owned()), None, &place, diagnostics)
}

/// Whether offsets tell places: not where all are 0 although two blocks live at once.
fn is_planned(blocks: &[Block<'_>]) -> bool {
    let mut lives: Vec<(u64, u64)> = blocks.iter().map(|block| block.life).collect();
    lives.sort_unstable();
    let meet = lives.windows(2).any(|pair| pair[1].0 <= pair[0].1);
    !meet
        || blocks
            .iter()
            .flat_map(|block| &block.members)
            .any(|tensor| tensor.offset > 0)
}

/// The blocks of the arena in the order of their first tensors.
fn blocks<'d>(dump: &'d Dump, diagnostics: &mut Diagnostics) -> Vec<Block<'d>> {
    let last = dump.tensors.iter().map(|tensor| tensor.life.1).max().unwrap_or(0);
    let mut by_root: BTreeMap<usize, Block<'d>> = BTreeMap::new();
    for (tensor, root) in dump.tensors.iter().zip(roots(dump, diagnostics)) {
        let life = life(tensor, last);
        let block = by_root.entry(root).or_insert_with(|| Block {
            members: Vec::new(),
            life,
            size: 0,
        });
        block.members.push(tensor);
        block.life = (block.life.0.min(life.0), block.life.1.max(life.1));
        block.size = block.size.max(tensor.aligned);
    }
    by_root.into_values().filter(|block| block.size > 0).collect()
}

/// First and last step of a tensor; a long life lasts from the first or up to the last step of the graph.
fn life(tensor: &Tensor, last: u64) -> (u64, u64) {
    match tensor.lifelong.as_str() {
        "LifeLongGraphAll" => (0, last),
        "LifeLongGraphStart" => (0, tensor.life.1),
        "LifeLongGraphEnd" => (tensor.life.0, last),
        _ => tensor.life,
    }
}

/// By tensor: the first tensor of its union. A union whose tensors have different offsets is none.
fn roots(dump: &Dump, diagnostics: &mut Diagnostics) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..dump.tensors.len()).collect();
    let root_of = |roots: &[usize], mut at: usize| {
        while roots[at] != at {
            at = roots[at];
        }
        at
    };
    for union in &dump.unions {
        let members: Vec<usize> = union.iter().filter_map(|id| dump.positions.get(id).copied()).collect();
        let mut pairs = members.windows(2);
        let is_apart = pairs.any(|pair| {
            let (one, other) = (&dump.tensors[pair[0]], &dump.tensors[pair[1]]);
            one.aligned > 0 && other.aligned > 0 && one.offset != other.offset
        });
        if is_apart || members.len() < union.len() {
            let message = "a union names tensors that have different offsets or are not listed; they count apart";
            diagnostics.warning(message, &format!("%{}T", union.first().copied().unwrap_or(0)));
            continue;
        }
        for pair in members.windows(2) {
            let (one, other) = (root_of(&roots, pair[0]), root_of(&roots, pair[1]));
            roots[one.max(other)] = one.min(other);
        }
    }
    (0..roots.len()).map(|at| root_of(&roots, at)).collect()
}
