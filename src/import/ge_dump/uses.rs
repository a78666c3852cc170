//! The sub-graphs that ops run.
//!
//! In: graphs while they are built. Out: the table of uses. An op names its sub-graphs; those of `PartitionedCall` run in its place,
//! one of those of `If` and `Case`, those of `While` again and again. A `Data` of a sub-graph is the op's input of number
//! `_parent_node_index` (else `index`), and an input of its `NetOutput` the op's output of that number (else of its
//! position). A sub-graph without `NetOutput`, or with several, stays opaque.

use std::collections::BTreeMap;

use super::draft::DraftOp;
use highwater_model::graph::{IdVec, OpId, TensorId};
use highwater_model::workload::{BodyMap, BodyUse, DATA, NET_OUTPUT, UseKind};

struct Site {
    op: OpId,
    kind: UseKind,
    graphs: Vec<String>,
    /// By position among its data inputs.
    inputs: Vec<Option<TensorId>>,
    /// With their positions.
    outputs: Vec<(u32, TensorId)>,
}

#[derive(Default)]
pub(super) struct Flow {
    sites: Vec<Site>,
    /// By number of the caller's input.
    given: BTreeMap<i64, TensorId>,
    /// By number of the caller's output.
    returned: BTreeMap<i64, TensorId>,
    n_ends: u32,
}

impl Flow {
    pub(super) fn op(&mut self, id: OpId, op: &DraftOp, inputs: &[Option<TensorId>], results: &[TensorId]) {
        let number = |position: usize| i64::try_from(position).unwrap_or(i64::MAX);
        match op.kind.as_str() {
            DATA => {
                let index = op.parent_index.or(op.index);
                if let (Some(index), Some(result)) = (index, results.first()) {
                    self.given.insert(index, *result);
                }
            }
            NET_OUTPUT => {
                self.n_ends += 1;
                for (position, input) in inputs.iter().enumerate() {
                    let stated = op.end_indices.get(&number(position)).copied();
                    if let Some(input) = input {
                        self.returned.insert(stated.unwrap_or(number(position)), *input);
                    }
                }
            }
            kind if !op.graphs.is_empty() => {
                let outputs = op.outputs.iter().map(|(position, _)| *position);
                self.sites.push(Site {
                    op: id,
                    kind: kind_of(kind),
                    graphs: op.graphs.clone(),
                    inputs: inputs.to_vec(),
                    outputs: outputs.zip(results.iter().copied()).collect(),
                });
            }
            _ => {}
        }
    }
}

/// `PartitionedCall` and other ops that run one graph once.
fn kind_of(kind: &str) -> UseKind {
    match kind {
        "If" | "StatelessIf" | "_If" | "Case" | "StatelessCase" => UseKind::Branch,
        "While" | "StatelessWhile" | "_While" | "For" => UseKind::Loop,
        _ => UseKind::Call,
    }
}

/// A graph with its name, what runs in it, and the step of each op.
pub(super) type Part = (String, Flow, IdVec<OpId, OpId>);

/// The uses, of graphs by number.
pub(super) fn uses(parts: &[Part]) -> Vec<BodyUse> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, (name, ..)) in (0_u32..).zip(parts).skip(1) {
        numbers.entry(name).or_insert(number);
    }
    let mut uses = Vec::new();
    for (graph, (_, flow, steps)) in (0_u32..).zip(parts) {
        for site in &flow.sites {
            for name in &site.graphs {
                // Missing sub-graphs are reported with the file's facts; those that could not be built, where it was tried.
                let Some(body) = numbers.get(name.as_str()).copied() else {
                    continue;
                };
                let (_, of_body, _) = &parts[body as usize];
                uses.push(BodyUse {
                    graph,
                    op: steps.get(site.op).copied().unwrap_or(site.op),
                    body,
                    kind: site.kind,
                    map: mapped(site, of_body),
                });
            }
        }
    }
    uses
}

fn mapped(site: &Site, body: &Flow) -> Option<BodyMap> {
    if body.n_ends != 1 {
        return None;
    }
    let operands = (0_i64..).zip(&site.inputs);
    let given = operands.filter_map(|(index, operand)| Some((*body.given.get(&index)?, (*operand)?)));
    let returned = site.outputs.iter().filter_map(|(position, result)| {
        let of_body = body.returned.get(&i64::from(*position))?;
        Some((*result, *of_body))
    });
    Some(BodyMap {
        inputs: given.collect(),
        results: returned.collect(),
    })
}
