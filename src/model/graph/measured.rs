//! A graph with measured times and scratch memory.

use std::collections::BTreeMap;

use super::ids::{OpId, StorageId};
use super::{DType, Graph, Id as _, Role, Storage, Tensor, TensorId};
use crate::units::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredOp {
    pub op: OpId,
    /// `None` keeps the time of the graph.
    pub time: Option<Nanos>,
    /// Scratch memory in bytes; 0 where there was none.
    pub scratch: u64,
}

impl Graph {
    /// A copy with these times, and with a workspace for each op that had scratch memory and states none. Tensors and
    /// steps keep their numbers; of an op listed twice the last entry counts. O(ops + tensors).
    #[must_use]
    pub fn with_measured(&self, measured: &[MeasuredOp]) -> Self {
        let mut graph = self.clone();
        let mut workspaces: BTreeMap<OpId, TensorId> = BTreeMap::new();
        for one in measured.iter().filter(|one| self.ops.get(one.op).is_some()) {
            graph.ops[one.op].time = one.time.or(graph.ops[one.op].time);
            let has_own = self
                .results(one.op)
                .iter()
                .any(|tensor| self.tensors[*tensor].role == Role::Workspace);
            if one.scratch == 0 || has_own {
                continue;
            }
            let known = workspaces.get(&one.op).copied();
            if let Some(tensor) = known.or_else(|| graph.add_workspace(one.op)) {
                workspaces.insert(one.op, tensor);
                graph.stated_bytes.insert(tensor, one.scratch);
            }
        }
        graph.add_results(&workspaces);
        graph
    }

    fn add_workspace(&mut self, op: OpId) -> Option<TensorId> {
        let name = format!("{} (measured workspace)", self.op_name(op));
        let name = self.names.push(&name)?;
        let tensor = TensorId::from_idx(self.tensors.len());
        let storage: StorageId = self.storages.push(Storage {
            root: tensor,
            stated_bytes: None,
        });
        Some(self.tensors.push(Tensor {
            name,
            shape: None,
            dtype: DType::Unknown,
            role: Role::Workspace,
            is_output: false,
            is_atomic: false,
            storage,
            producer: Some(op),
        }))
    }

    /// Inserts workspaces behind the results of their ops.
    fn add_results(&mut self, workspaces: &BTreeMap<OpId, TensorId>) {
        if workspaces.is_empty() {
            return;
        }
        let mut results = Vec::with_capacity(self.results.len() + workspaces.len());
        let ids: Vec<OpId> = self.ops.ids().collect();
        for id in ids {
            let start = results.len();
            results.extend_from_slice(self.results(id));
            results.extend(workspaces.get(&id));
            let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            self.ops[id].results = position(start)..position(results.len());
        }
        self.results = results;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Bindings, GraphBuilder, NewOp, NewTensor, Phase};

    #[test]
    fn times_and_workspaces_come_from_the_measurement() {
        let mut builder = GraphBuilder::new("g");
        let shape = builder.shape(&[crate::graph::Dim::Known(4)]);
        let mut tensor = |name, role| {
            builder.tensor(NewTensor {
                name,
                dtype: DType::Float32,
                shape: Some(shape),
                role,
            })
        };
        let x = tensor("x", Role::Input).expect("small");
        let [a, b] = ["a", "b"].map(|name| tensor(name, Role::Activation).expect("small"));
        for (name, operand, result) in [("f", x, a), ("g", a, b)] {
            let op = NewOp {
                name,
                kind: "Relu",
                operands: &[operand],
                results: &[result],
                phase: Phase::Unknown,
                flops: 0,
                time: None,
            };
            builder.op(op).expect("valid");
        }
        let graph = builder.finish().expect("valid");
        let measured = graph.with_measured(&[
            MeasuredOp {
                op: OpId(0),
                time: Some(Nanos(7)),
                scratch: 100,
            },
            MeasuredOp {
                op: OpId(9),
                time: None,
                scratch: 5,
            },
        ]);
        assert_eq!(measured.ops()[OpId(0)].time, Some(Nanos(7)));
        assert_eq!(
            (measured.results(OpId(0)).len(), measured.results(OpId(1))),
            (2, &[b][..])
        );
        let workspace = measured.results(OpId(0))[1];
        let sizes = measured.sizes(&Bindings::new());
        assert_eq!(sizes.storage(measured.tensors()[workspace].storage), 100);
        assert_eq!(measured.tensor_name(workspace), "f (measured workspace)");
    }
}
