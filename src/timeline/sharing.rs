//! Which tensors live in the same memory: views of one another, or computed in place.
//!
//! In: the storage of each tensor. Out: the members of a storage, O(1). Made once per answer, linear.

use crate::analysis::Comparison;
use crate::graph::{Id as _, OpId, TensorId};

use super::{Selected, Timeline};

/// Others that are named.
pub(super) const MOST_NAMED: usize = 4;

/// Tensors by storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Storages {
    starts: Box<[u32]>,
    members: Box<[TensorId]>,
}

impl Storages {
    /// From the storage of each tensor, in order of the tensors. O(tensors + storages).
    pub(super) fn new(storages: &[u32]) -> Self {
        let n_storages = storages.iter().max().map_or(0, |last| *last as usize + 1);
        let mut starts = vec![0_u32; n_storages + 1];
        for storage in storages {
            starts[*storage as usize + 1] += 1;
        }
        for position in 1..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut fill = starts.clone();
        let mut members = vec![TensorId(0); storages.len()];
        for (tensor, storage) in storages.iter().enumerate() {
            let slot = &mut fill[*storage as usize];
            members[*slot as usize] = TensorId::from_idx(tensor);
            *slot += 1;
        }
        Self {
            starts: starts.into_boxed_slice(),
            members: members.into_boxed_slice(),
        }
    }

    /// The tensors of a storage, ascending. O(1).
    fn of(&self, storage: usize) -> &[TensorId] {
        let bounds = self.starts.get(storage..storage + 2);
        let members = bounds.and_then(|bounds| self.members.get(bounds[0] as usize..bounds[1] as usize));
        members.unwrap_or(&[])
    }
}

/// The memory of a tensor as others have a part in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// How many tensors live in it, the asked one included; at least 1.
    pub n_tensors: usize,
    /// The names of the first others.
    pub others: Vec<String>,
    /// The op that reads it last and the other tensor through which it does: what keeps the memory alive. `None` where the
    /// tensor itself is read last, or nobody reads.
    pub kept_by: Option<(String, String)>,
}

impl SharedMemory {
    /// The others in words, as `a, b and 3 others`; nothing where there are none.
    pub fn words(&self) -> String {
        let count = self.n_tensors.saturating_sub(1);
        let more = count.saturating_sub(self.others.len());
        let more = if more > 0 {
            format!(" and {}", crate::units::counted(more as u64, "other"))
        } else {
            String::new()
        };
        format!("{}{more}", self.others.join(", "))
    }
}

impl Timeline {
    /// Who else lives in a tensor's memory. O(tensors of the storage).
    pub fn sharing(&self, comparison: &Comparison, selected: Selected) -> SharedMemory {
        let (graph, tensor) = (selected.graph.idx(), selected.tensor);
        let workload = &comparison.workload;
        let alone = SharedMemory {
            n_tensors: 1,
            ..SharedMemory::default()
        };
        if let Some(entry) = workload.graphs().get(graph) {
            let Some(known) = entry.graph.tensors().get(tensor) else {
                return alone;
            };
            let members = self.links.storages.get(graph).map(|of| of.of(known.storage.idx()));
            let members = members.unwrap_or(&[]);
            let name = |tensor: &TensorId| comparison.tensor_name(selected.graph, *tensor).to_owned();
            let op_text = |op: OpId| format!("{} {}", entry.graph.op_kind(op), entry.graph.op_name(op));
            let readers = self.links.graphs.get(graph);
            let last_of = |tensor: TensorId| readers.and_then(|readers| readers.of(tensor).iter().max().copied());
            let last = members.iter().filter_map(|tensor| Some((last_of(*tensor)?, *tensor)));
            // Of one op that reads it through several, the tensor itself stands first.
            let last = last.max_by_key(|(op, through)| (*op, *through == tensor));
            return SharedMemory {
                n_tensors: members.len().max(1),
                others: members
                    .iter()
                    .filter(|other| **other != tensor)
                    .take(MOST_NAMED)
                    .map(name)
                    .collect(),
                kept_by: last
                    .filter(|(_, through)| *through != tensor)
                    .map(|(op, through)| (op_text(op).trim().to_owned(), name(&through))),
            };
        }
        let tape = workload.tapes().first();
        let Some((tape, known)) = tape.and_then(|tape| Some((tape, tape.tensors.get(tensor.idx())?))) else {
            return alone;
        };
        let members = self.links.storages.first().map(|of| of.of(known.storage as usize));
        let members = members.unwrap_or(&[]);
        let others = members.iter().filter(|other| **other != tensor);
        SharedMemory {
            n_tensors: members.len().max(1),
            others: others
                .take(MOST_NAMED)
                .map(|other| tape.tensors[other.idx()].name.to_string())
                .collect(),
            kept_by: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_storage_are_found() {
        let storages = Storages::new(&[2, 0, 2, 4, 0, 2]);
        let members = |storage| -> Vec<u32> { storages.of(storage).iter().map(|tensor| tensor.0).collect() };
        assert_eq!(
            [members(0), members(2), members(4)],
            [vec![1, 4], vec![0, 2, 5], vec![3]]
        );
        for nobody in [1, 5, usize::MAX - 2] {
            assert_eq!(members(nobody), [0_u32; 0]);
        }
        assert_eq!(Storages::new(&[]).of(0), []);
    }
}
