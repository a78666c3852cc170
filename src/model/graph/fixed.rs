//! Copies of a graph that take over what a configuration of its run fixes: values of dimensions, and results that are
//! written into the memory of inputs.

use super::dim::{Bindings, Dim, DimExpr, DimExprs};
use super::ids::{ExprId, Id as _, IdVec, ShapeId, StorageId};
use super::tables::Shapes;
use super::{Graph, TensorId};

impl Graph {
    /// A copy in which symbols are numbers. Ids of ops and tensors do not change. O(expressions + shapes + tensors).
    #[must_use]
    pub fn with_dims(&self, values: &Bindings) -> Self {
        let mut exprs = DimExprs::default();
        let mut copies: Vec<Option<ExprId>> = Vec::with_capacity(self.exprs.len());
        for position in 0..self.exprs.len() {
            let id = ExprId::from_idx(position);
            let value = match self.exprs.get(id) {
                Some(DimExpr::Symbol(symbol)) => self
                    .exprs
                    .symbols()
                    .nth(symbol as usize)
                    .and_then(|name| i64::try_from(*values.get(name)?).ok()),
                _ => None,
            };
            copies.push(match value {
                Some(value) => Some(exprs.constant(value)),
                // Parts come before the whole.
                None => exprs.copied(&self.exprs, id, |part| copies.get(part.idx()).copied().flatten()),
            });
        }
        let mut shapes = Shapes::default();
        let mut graph = self.clone();
        let mut dims = Vec::new();
        let mut shape = |old: ShapeId| {
            dims.clear();
            dims.extend(self.shapes.dims(old).iter().map(|dim| match dim {
                Dim::Expr(id) => match copies.get(id.idx()).copied().flatten() {
                    Some(copy) => exprs.dim(copy),
                    None => Dim::Unknown,
                },
                known => *known,
            }));
            shapes.intern(&dims)
        };
        for tensor in self.tensors.ids() {
            graph.tensors[tensor].shape = self.tensors[tensor].shape.map(&mut shape);
        }
        graph.shapes = shapes;
        graph.exprs = exprs;
        graph
    }

    /// A copy in which the storage of the first tensor of each pair is that of the second. O(tensors + pairs).
    #[must_use]
    pub fn with_shared_storages(&self, pairs: &[(TensorId, TensorId)]) -> Self {
        let mut owners: IdVec<StorageId, StorageId> = IdVec::new();
        for storage in self.storages.ids() {
            owners.push(storage);
        }
        let owner = |owners: &IdVec<StorageId, StorageId>, mut storage: StorageId| {
            while owners[storage] != storage {
                storage = owners[storage];
            }
            storage
        };
        for (tensor, other) in pairs {
            let from = owner(&owners, self.tensors[*tensor].storage);
            let to = owner(&owners, self.tensors[*other].storage);
            owners[from] = to;
        }
        let mut graph = self.clone();
        graph.storages = IdVec::new();
        let mut numbers: IdVec<StorageId, StorageId> = IdVec::new();
        for (id, storage) in self.storages.iter_ids() {
            let is_kept = owners[id] == id;
            let number = if is_kept { graph.storages.push(*storage) } else { id };
            numbers.push(number);
        }
        for tensor in self.tensors.ids() {
            graph.tensors[tensor].storage = numbers[owner(&owners, self.tensors[tensor].storage)];
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DType, GraphBuilder, NewOp, NewTensor, Role};
    use super::*;

    #[test]
    fn symbols_become_numbers_and_results_lie_in_inputs() {
        let mut builder = GraphBuilder::new("g");
        let (batch, heads) = (builder.exprs.symbol("batch"), builder.exprs.symbol("heads"));
        let product = builder.exprs.binary(super::super::DimOp::Mul, batch, heads);
        let shape = builder.shape(&[Dim::Expr(product), Dim::Known(2)]);
        let tensor = |builder: &mut GraphBuilder, name: &str, role: Role| {
            let new = NewTensor {
                name,
                shape: Some(shape),
                dtype: DType::Float32,
                role,
            };
            builder.tensor(new).expect("a tensor")
        };
        let past = tensor(&mut builder, "past", Role::Input);
        let present = tensor(&mut builder, "present", Role::Activation);
        let other = tensor(&mut builder, "other", Role::Activation);
        let op = NewOp {
            name: "op",
            kind: "Op",
            operands: &[past],
            results: &[present, other],
            ..NewOp::default()
        };
        builder.op(op).expect("an op");
        let graph = builder.finish().expect("a graph");
        let bound = graph.with_dims(&Bindings::from([("heads".to_owned(), 3)]));
        assert_eq!(bound.symbols(), ["batch"]);
        let values = Bindings::from([("batch".to_owned(), 5)]);
        assert_eq!(bound.bound_shape_text(past, &values), "15×2");
        assert_eq!(graph.with_dims(&Bindings::new()), graph);
        let shared = graph.with_shared_storages(&[(present, past)]);
        assert_eq!(shared.storages().len(), 2);
        assert_eq!(shared.tensors()[present].storage, shared.tensors()[past].storage);
        assert_ne!(shared.tensors()[other].storage, shared.tensors()[past].storage);
        let root = shared.storages()[shared.tensors()[present].storage].root;
        assert_eq!(root, past);
    }
}
