//! Uses of tensors by the ops of a run, with their steps in a lane.
//!
//! An op uses the tensors that it computes and reads, under all names of their memory. Under a budget the lane's
//! executed ops count, including recomputed ones. Recordings, problems and traces do not state readers.

use super::super::Selected;
use highwater_analysis::{Comparison, OpSource, RunRemat};
use highwater_model::graph::{Graph, Id as _, OpId, TensorId};
use highwater_model::units::Step;
use highwater_model::workload::{AxisRun, Block, Slots};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// On the common axis.
    pub(super) step: Step,
    /// Number of the op in the run.
    pub(super) op: u32,
}

impl Use {
    fn new(run: &AxisRun, step: u32, op: u32) -> Self {
        let step = Step(run.start.0 + step);
        Self { step, op }
    }
}

/// Why uses are unknown, in a sentence; `None` where they are known.
pub(super) fn unknown(comparison: &Comparison, lane: usize) -> Option<&'static str> {
    comparison.study_of_lane(lane).words().no_readers
}

/// The ops of a run as a lane executes them.
pub(super) enum RunUses<'a> {
    /// Each op once.
    Graph {
        graph: &'a Graph,
        run: &'a AxisRun,
    },
    /// Some ops several times.
    Budget {
        remat: &'a RunRemat,
        graph: Option<&'a Graph>,
        run: &'a AxisRun,
    },
    Block {
        block: &'a Block,
        run: &'a AxisRun,
    },
}

impl<'a> RunUses<'a> {
    /// `None` where uses are unknown.
    pub(super) fn new(comparison: &'a Comparison, lane: usize, run: u32) -> Option<Self> {
        if unknown(comparison, lane).is_some() {
            return None;
        }
        let position = run as usize;
        let run = comparison.axis.runs.get(position)?;
        let graph = run.run.graph.idx();
        let entry = comparison.workload.graphs().get(graph).map(|entry| &*entry.graph);
        let rewrite = comparison.lanes.get(lane)?.rewrite.as_deref();
        let remat = rewrite.and_then(|rewrite| rewrite.remat.get(position)?.as_deref());
        if let Some(remat) = remat {
            let graph = entry;
            return Some(Self::Budget { remat, graph, run });
        }
        match comparison.ops() {
            OpSource::Graphs(_) => entry.map(|graph| Self::Graph { graph, run }),
            OpSource::Program(program) => program.blocks.get(graph).map(|block| Self::Block { block, run }),
            OpSource::Tape(_) | OpSource::None => None,
        }
    }

    /// Visits every use in order of steps; a tensor is reported by its own number and by that of its root. O(ops +
    /// operands).
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Use, TensorId)) {
        match *self {
            Self::Graph { graph, run } => visit_graph(graph, run, visit),
            Self::Budget { remat, graph, run } => visit_budget(remat, graph, run, visit),
            Self::Block { block, run } => visit_block(block, run, visit),
        }
    }

    /// Type and name, as far as there are any.
    pub(super) fn text(&self, op: u32) -> String {
        let (kind, name) = match *self {
            Self::Graph { graph, .. } => words_in(graph, OpId(op)),
            Self::Budget { remat, graph, .. } => {
                let of_graph = remat.tape.ops.get(op as usize).copied().flatten();
                match (graph, of_graph) {
                    (Some(graph), Some(of_graph)) => words_in(graph, of_graph),
                    _ => ("", remat.tape.tape.ops.get(op as usize).map_or("", |op| &*op.name)),
                }
            }
            Self::Block { block, .. } => (block.ops.get(op as usize).map_or("", |op| &*op.kind), ""),
        };
        match (kind, name) {
            ("", "") => format!("op {op}"),
            (kind, "") => kind.to_owned(),
            ("", name) => name.to_owned(),
            (kind, name) if kind == name => name.to_owned(),
            (kind, name) => format!("{kind} {name}"),
        }
    }
}

fn words_in(graph: &Graph, op: OpId) -> (&str, &str) {
    if op.idx() >= graph.ops().len() {
        return ("", "");
    }
    (graph.op_kind(op), graph.op_name(op))
}

fn visit_graph(graph: &Graph, run: &AxisRun, visit: &mut dyn FnMut(Use, TensorId)) {
    let mut of_op = |step: u32, op: OpId| {
        let used = Use::new(run, step, op.0);
        for tensor in graph.results(op).iter().chain(graph.operands(op)) {
            let root = graph.storages()[graph.tensors()[*tensor].storage].root;
            visit(used, root);
            if root != *tensor {
                visit(used, *tensor);
            }
        }
        // Estimated workspaces are numbered after the tensors.
        visit(used, TensorId::from_idx(graph.tensors().len() + op.idx()));
    };
    match &run.slots {
        None => (0..run.n_steps)
            .take(graph.ops().len())
            .for_each(|step| of_op(step, OpId(step))),
        Some(slots) => {
            let executed = (0_u32..).zip(&**slots).filter(|(_, slot)| !slot.is_recomputed);
            executed.for_each(|(step, slot)| of_op(step, slot.op));
        }
    }
}

fn visit_budget(remat: &RunRemat, graph: Option<&Graph>, run: &AxisRun, visit: &mut dyn FnMut(Use, TensorId)) {
    let tape = &remat.tape.tape;
    for (slot, step) in remat.sequence.slots.iter().zip(&*remat.steps) {
        let Some(op) = tape.ops.get(slot.op as usize) else {
            continue;
        };
        let used = Use::new(run, *step, slot.op);
        for tensor in op.outputs.iter().chain(&op.inputs) {
            let root = tape.tensors[*tensor as usize].storage as usize;
            if let Some(root) = remat.tape.tensors.get(root) {
                visit(used, *root);
            }
        }
        // The tape has no scratch memory.
        if let (Some(graph), Some(Some(op))) = (graph, remat.tape.ops.get(slot.op as usize)) {
            graph.results(*op).iter().for_each(|tensor| visit(used, *tensor));
            visit(used, TensorId::from_idx(graph.tensors().len() + op.idx()));
        }
    }
}

fn visit_block(block: &Block, run: &AxisRun, visit: &mut dyn FnMut(Use, TensorId)) {
    for (op, row) in (0_u32..).zip(&block.ops).take(run.n_steps as usize) {
        let used = Use::new(run, op, op);
        let names = |slots: &Slots| -> Vec<usize> {
            let names = slots.iter().flat_map(|(_, names)| names);
            names.filter_map(|name| block.variables.get_index_of(name)).collect()
        };
        for variable in names(&row.outputs).into_iter().chain(names(&row.inputs)) {
            visit(used, TensorId::from_idx(variable));
        }
    }
}

/// The last use of a tensor at or before a step, and the first after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) last: Option<Use>,
    pub(super) next: Option<Use>,
}

/// The uses of tensors of one run around a step, in the order of `tensors`. O([`RunUses::visit`] + the largest tensor
/// number).
pub(super) fn around(uses: &RunUses<'_>, tensors: &[Selected], step: Step) -> Vec<Around> {
    let n_numbers = tensors.iter().map(|one| one.tensor.idx() + 1).max().unwrap_or(0);
    let mut places = vec![u32::MAX; n_numbers];
    for (place, one) in (0_u32..).zip(tensors) {
        places[one.tensor.idx()] = place;
    }
    let mut found = vec![Around::default(); tensors.len()];
    uses.visit(&mut |used, tensor| {
        let place = places.get(tensor.idx()).copied().unwrap_or(u32::MAX);
        let Some(around) = found.get_mut(place as usize) else {
            return;
        };
        if used.step <= step {
            around.last = Some(used);
        } else if around.next.is_none() {
            around.next = Some(used);
        }
    });
    found
}
