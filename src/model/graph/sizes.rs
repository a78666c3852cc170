//! Bytes of every tensor and storage under a binding, and the index of consumers.

use super::dim::{Bindings, Dim};
use super::ids::{Id as _, IdVec, OpId, StorageId, TensorId};
use super::{Graph, Role, Tensor};
use crate::lists::Lists;
use crate::units::Bytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    tensors: IdVec<TensorId, Option<u64>>,
    storages: IdVec<StorageId, u64>,
}

impl Sizes {
    /// `None` where its shape or type is unknown.
    pub fn tensor(&self, tensor: TensorId) -> Option<u64> {
        self.tensors[tensor]
    }

    /// 0 where its root's shape is unknown.
    pub fn storage(&self, storage: StorageId) -> u64 {
        self.storages[storage]
    }

    /// The bytes of all storages; `None` where these, or the bytes of all tensors, are above [`Bytes::MOST`].
    pub fn total(&self) -> Option<Bytes> {
        Bytes::total(self.tensors.iter().map(|bytes| Bytes(bytes.unwrap_or(0))))?;
        Bytes::total(self.storages.iter().map(|bytes| Bytes(*bytes)))
    }

    pub fn set_storage(&mut self, storage: StorageId, bytes: u64) {
        self.storages[storage] = bytes;
    }
}

/// The ops that read each tensor, in step order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumers(Lists<OpId>);

impl Consumers {
    /// Ascending; an op that reads the tensor twice appears twice.
    pub fn of(&self, tensor: TensorId) -> &[OpId] {
        self.0.of(tensor.idx())
    }
}

impl Graph {
    /// Unbound symbols make sizes unknown.
    pub fn sizes(&self, bindings: &Bindings) -> Sizes {
        let values = self.exprs.evaluate(bindings);
        let tensors: IdVec<TensorId, Option<u64>> = self
            .tensors
            .iter_ids()
            .map(|(id, tensor)| self.bytes_of(id, tensor, &values))
            .collect();
        let storages = self
            .storages
            .iter()
            .map(|storage| storage.stated_bytes.or(tensors[storage.root]).unwrap_or(0))
            .collect();
        Sizes { tensors, storages }
    }

    /// Bytes of single tensors in O(1) each, after O(expressions of symbolic dimensions). `None` where shape or type is
    /// unknown, and for ids of other graphs.
    pub fn tensor_sizes<'a>(&'a self, bindings: &Bindings) -> impl Fn(TensorId) -> Option<u64> + use<'a> {
        let values = self.exprs.evaluate(bindings);
        move |tensor| self.bytes_of(tensor, self.tensors.get(tensor)?, &values)
    }

    fn bytes_of(&self, id: TensorId, tensor: &Tensor, values: &[Option<i64>]) -> Option<u64> {
        if let Some(stated) = self.stated_bytes.get(&id) {
            return Some(*stated);
        }
        if tensor.dtype == super::DType::Handle {
            return Some(0);
        }
        let shape = self.shapes.dims(tensor.shape?);
        if tensor.dtype == super::DType::Unknown {
            return None;
        }
        let elements = shape.iter().try_fold(1_u64, |product, dim| {
            let size = match dim {
                Dim::Known(n) => *n,
                Dim::Expr(id) => u64::try_from(values[id.idx()]?).ok()?,
                Dim::Unknown => return None,
            };
            Some(product.saturating_mul(size))
        })?;
        Some(tensor.dtype.bytes(elements))
    }

    /// Symbols without a value in `bindings`, in the order of first use.
    pub fn unbound_symbols(&self, bindings: &Bindings) -> Vec<String> {
        self.exprs
            .symbols()
            .filter(|name| !bindings.contains_key(*name))
            .map(str::to_owned)
            .collect()
    }

    /// Activations whose bytes are unknown under `bindings`, in id order.
    pub fn unknown_activations<'a>(&'a self, sizes: &'a Sizes) -> impl Iterator<Item = TensorId> + 'a {
        self.tensors
            .iter_ids()
            .filter(|(id, tensor)| tensor.role == Role::Activation && sizes.tensor(*id).is_none())
            .map(|(id, _)| id)
    }

    /// O(ops and operands).
    pub fn consumers(&self) -> Consumers {
        let reads = |op| self.operands(op).iter().map(move |tensor| (tensor.idx(), op));
        Consumers(Lists::of_pairs(self.tensors.len(), self.ops.ids().flat_map(reads)))
    }
}
