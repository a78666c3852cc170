//! Tensors that share a storage: views of one another, or computed in place.
//!
//! In: the links of an answer. Out: the other tensors in a tensor's storage, and the op that reads any of them last.

use highwater_analysis::{Comparison, OpSource};
use highwater_model::graph::{Id as _, OpId, TensorId};

use super::search::shown_name;
use super::{Selected, Timeline};

pub(super) const MOST_NAMED: usize = 4;

/// The storage of a tensor and the other tensors in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// Number of tensors in the storage, this one included; at least 1.
    pub n_tensors: usize,
    pub others: Vec<String>,
    /// The op that reads the storage last, and the tensor through which it does; `None` where that is this tensor, or
    /// nothing reads it.
    pub read_last: Option<(String, String)>,
}

impl SharedMemory {
    /// Such as `a, b and 3 others`; empty without others.
    pub fn words(&self) -> String {
        let count = self.n_tensors.saturating_sub(1);
        let more = count.saturating_sub(self.others.len());
        let more = if more > 0 {
            format!(" and {}", highwater_model::units::counted(more as u64, "other"))
        } else {
            String::new()
        };
        format!("{}{more}", self.others.join(", "))
    }
}

impl Timeline {
    /// Empty where the storage is unknown. O(tensors of the storage).
    pub fn sharing(&self, comparison: &Comparison, selected: Selected) -> SharedMemory {
        let tensor = selected.tensor;
        let members = self.storage_of(comparison, selected).unwrap_or(&[]);
        let name = |tensor: TensorId| shown_name(comparison, Selected { tensor, ..selected }).into_owned();
        let others = members.iter().copied().filter(|other| *other != tensor);
        let last = self.last_reader(selected, members);
        let last = last.filter(|(_, through)| *through != tensor);
        SharedMemory {
            n_tensors: members.len().max(1),
            others: others.take(MOST_NAMED).map(name).collect(),
            read_last: last.and_then(|(op, through)| Some((op_text(comparison, selected, op)?, name(through)))),
        }
    }

    fn storage_of(&self, comparison: &Comparison, selected: Selected) -> Option<&[TensorId]> {
        let (graph, tensor) = (selected.graph.idx(), selected.tensor);
        let storage = match comparison.ops() {
            OpSource::Graphs(entries) => entries.get(graph)?.graph.tensors().get(tensor)?.storage.idx(),
            OpSource::Tape(tape) => tape.tensors.get(tensor.idx())?.storage as usize,
            OpSource::Program(_) | OpSource::None => return None,
        };
        Some(self.links.storages.get(graph)?.of(storage))
    }

    /// The op that reads any of the tensors last, and that tensor; if it reads several, preferably the selected one.
    fn last_reader(&self, selected: Selected, members: &[TensorId]) -> Option<(OpId, TensorId)> {
        let readers = self.links.graphs.get(selected.graph.idx())?;
        let last_of = |tensor: TensorId| readers.of(tensor).iter().max().copied();
        let last = members.iter().filter_map(|tensor| Some((last_of(*tensor)?, *tensor)));
        last.max_by_key(|(op, through)| (*op, *through == selected.tensor))
    }
}

fn op_text(comparison: &Comparison, selected: Selected, op: OpId) -> Option<String> {
    let graph = &comparison.workload.graphs().get(selected.graph.idx())?.graph;
    let text = format!("{} {}", graph.op_kind(op), graph.op_name(op));
    Some(text.trim().to_owned())
}
