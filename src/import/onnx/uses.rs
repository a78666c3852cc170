//! The graphs that nodes run: local functions by their names, bodies of `If`, `Loop`, `Scan` and their kin.
//!
//! In: graphs while they are built, each with the tensors of its names. Out: the table of uses. A call's inputs and outputs are the
//! function's by position; what is left out has no tensor. Graphs are numbered as in the entry: the main one 0, the others from
//! 1 on in the order of the model.

use super::model::{GraphIdx, Model, RawNode};
use crate::names::NameIdx;
use highwater_model::graph::{Id as _, IdVec, OpId, TensorId};
use highwater_model::workload::{BodyMap, BodyUse, UseKind, ops_to_steps};

struct Site {
    graph: GraphIdx,
    op: OpId,
    body: GraphIdx,
    kind: UseKind,
    /// Of a call: what it reads and computes, by position.
    ends: Option<Ends>,
}

/// Tensors at both ends, by position; `None` where a position is left out.
#[derive(Debug)]
struct Ends {
    inputs: Vec<Option<TensorId>>,
    outputs: Vec<Option<TensorId>>,
}

#[derive(Default)]
pub(super) struct Uses {
    sites: Vec<Site>,
    /// By graph: of local functions their ends.
    ends: Vec<Option<Ends>>,
    main: Option<GraphIdx>,
}

impl Uses {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            ends: model.graphs.iter().map(|_| None).collect(),
            main: model.main,
            sites: Vec::new(),
        }
    }

    /// Adds what a graph runs, and its own ends. Nodes are ops by position.
    pub(super) fn of_graph(&mut self, model: &Model, idx: GraphIdx, id: impl Fn(NameIdx) -> Option<TensorId>) {
        let raw = &model.graphs[idx.0];
        let tensor = |name: &NameIdx| Some(*name).filter(|name| !name.is_empty()).and_then(&id);
        if raw.is_function {
            self.ends[idx.0] = Some(Ends {
                inputs: raw.inputs.iter().map(|value| tensor(&value.name)).collect(),
                outputs: raw.outputs.iter().map(|value| tensor(&value.name)).collect(),
            });
        }
        for (position, node) in raw.nodes.iter().enumerate() {
            let mut add = |body: GraphIdx, kind: UseKind, ends: Option<Ends>| {
                self.sites.push(Site {
                    graph: idx,
                    op: OpId::from_idx(position),
                    body,
                    kind,
                    ends,
                });
            };
            if let Some(function) = node.function {
                let ends = Ends {
                    inputs: raw.inputs_of(node).iter().map(tensor).collect(),
                    outputs: raw.outputs_of(node).iter().map(tensor).collect(),
                };
                add(function, UseKind::Call, Some(ends));
            }
            for body in raw.bodies_of(node) {
                add(body, kind_of(model, node), None);
            }
        }
    }

    /// The uses, ops by step; `steps` are those of each graph by number.
    pub(super) fn finish(self, steps: &[IdVec<OpId, OpId>]) -> Vec<BodyUse> {
        let mut uses = Vec::with_capacity(self.sites.len());
        for site in &self.sites {
            let map = site.ends.as_ref().zip(self.ends[site.body.0].as_ref());
            let one = BodyUse {
                graph: self.number(site.graph),
                op: site.op,
                body: self.number(site.body),
                kind: site.kind,
                map: map.and_then(|(call, body)| mapped(call, body)),
            };
            let mut one = [one];
            if let Some(steps) = steps.get(one[0].graph as usize) {
                ops_to_steps(&mut one, steps);
            }
            uses.extend(one);
        }
        uses
    }

    fn number(&self, idx: GraphIdx) -> u32 {
        let position = u32::try_from(idx.0).unwrap_or(u32::MAX);
        match self.main {
            Some(main) if main == idx => 0,
            Some(main) if idx < main => position.saturating_add(1),
            _ => position,
        }
    }
}

/// A function's inputs and outputs are its caller's; `None` where the caller takes an output that the function does not have.
fn mapped(call: &Ends, body: &Ends) -> Option<BodyMap> {
    let mut map = BodyMap::default();
    for (input, given) in body.inputs.iter().zip(&call.inputs) {
        map.inputs.extend(input.zip(*given));
    }
    for (position, result) in call.outputs.iter().enumerate() {
        if let Some(result) = result {
            map.results
                .push((*result, body.outputs.get(position).copied().flatten()?));
        }
    }
    Some(map)
}

fn kind_of(model: &Model, node: &RawNode) -> UseKind {
    match model.names.text(node.kind) {
        "If" => UseKind::Branch,
        // Loop, Scan, SequenceMap: once for each element or turn.
        _ => UseKind::Loop,
    }
}
