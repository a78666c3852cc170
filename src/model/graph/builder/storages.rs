//! Numbers storages: follows every alias chain to its root.
//!
//! In: the aliases of a builder. Out: storages in the order of their roots. Invariant: a cycle of aliases is an error.

use super::{GraphBuilder, GraphError};
use crate::graph::Storage;
use crate::graph::ids::{Id as _, IdVec, StorageId, TensorId};

impl GraphBuilder {
    pub(super) fn number_storages(&mut self) -> Result<IdVec<StorageId, Storage>, GraphError> {
        let mut storages = IdVec::new();
        let mut of_root: Vec<Option<StorageId>> = vec![None; self.tensors.len()];
        for tensor in self.tensors.ids() {
            let root = self.root(tensor)?;
            let storage = match of_root[root.idx()] {
                Some(storage) => storage,
                None => storages.push(Storage {
                    root,
                    stated_bytes: self.stated_bytes.get(&root).copied(),
                }),
            };
            of_root[root.idx()] = Some(storage);
            self.tensors[tensor].storage = storage;
        }
        Ok(storages)
    }

    /// Follows aliases to the root, with path compression.
    fn root(&mut self, tensor: TensorId) -> Result<TensorId, GraphError> {
        let mut root = tensor;
        let mut hops = 0_usize;
        while let Some(next) = self.aliases[root.idx()] {
            root = next;
            hops += 1;
            if hops > self.tensors.len() {
                return Err(GraphError::Cycle {
                    example: self.names.text(self.tensors[tensor].name).to_owned(),
                    count: 0,
                });
            }
        }
        let mut at = tensor;
        while let Some(next) = self.aliases[at.idx()] {
            if next == root {
                break;
            }
            self.aliases[at.idx()] = Some(root);
            at = next;
        }
        Ok(root)
    }
}
