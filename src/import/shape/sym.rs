//! Integer arithmetic on known and symbolic numbers, and the limits that keep it small.
//!
//! Every operation returns `None` where an operand is unknown, on overflow, and once the file has used up its
//! share of expressions: then shapes become unknown, and the importer reports it.

use highwater_model::graph::{Dim, DimExprs, DimOp, ExprId, ShapeId, Shapes};

use super::fact::Num;

pub(crate) const MAX_RANK: usize = 64;

/// The expressions and shapes of all graphs of a file.
#[derive(Debug)]
pub(crate) struct Sym {
    /// The main graph takes them over.
    pub(crate) exprs: DimExprs,
    shapes: Shapes,
    exprs_left: u64,
    dims_left: u64,
    elements_left: u64,
}

impl Sym {
    /// The limits grow with the file's length in bytes.
    pub(crate) fn new(file_len: u64) -> Self {
        Self {
            exprs: DimExprs::default(),
            shapes: Shapes::default(),
            exprs_left: 300_000 + file_len / 100,
            dims_left: 600_000 + file_len / 40,
            elements_left: 1_000_000 + file_len / 32,
        }
    }

    /// Whether a limit was hit, after which shapes stay unknown.
    pub(crate) const fn is_exhausted(&self) -> bool {
        self.exprs_left == 0 || self.dims_left == 0 || self.elements_left == 0
    }

    /// Reserves room for the elements of one value; `false` once there is none left.
    pub(crate) const fn take_elements(&mut self, count: usize) -> bool {
        self.elements_left = self.elements_left.saturating_sub(count as u64);
        self.elements_left > 0
    }

    /// Dimensions for messages: `[batch, 3, ?]`.
    pub(crate) fn text(&self, dims: Option<&[Dim]>) -> String {
        let Some(dims) = dims else {
            return "of unknown rank".to_owned();
        };
        let dim = |dim: &Dim| match dim {
            Dim::Known(size) => size.to_string(),
            Dim::Expr(id) => self.exprs.text(*id),
            Dim::Unknown => "?".to_owned(),
        };
        format!("[{}]", dims.iter().map(dim).collect::<Vec<String>>().join(", "))
    }

    pub(crate) fn dims(&self, shape: ShapeId) -> &[Dim] {
        self.shapes.dims(shape)
    }

    /// The id of a shape, unless it has too many dimensions.
    pub(crate) fn shape(&mut self, dims: &[Dim]) -> Option<ShapeId> {
        if dims.len() > MAX_RANK {
            return None;
        }
        // A known shape costs as much as a new one: a lookup must not be free for hostile files.
        let price = (dims.len() as u64 + 2) / 4;
        match self.dims_left.checked_sub(price) {
            Some(left) => self.dims_left = left,
            None => self.dims_left = 0,
        }
        (self.dims_left > 0).then(|| self.shapes.intern(dims))
    }

    pub(crate) fn op(&mut self, op: DimOp, a: Option<Num>, b: Option<Num>) -> Option<Num> {
        let (a, b) = (a?, b?);
        if let (Num::Int(x), Num::Int(y)) = (a, b) {
            return op.apply(x, y).map(Num::Int);
        }
        self.exprs_left = self.exprs_left.saturating_sub(1);
        if self.exprs_left == 0 {
            return None;
        }
        let (a, b) = (self.expr(a), self.expr(b));
        let result = self.exprs.binary(op, a, b);
        Some(self.exprs.as_const(result).map_or(Num::Expr(result), Num::Int))
    }

    /// `if condition != 0 { then } else { other }`.
    pub(crate) fn select(&mut self, condition: Num, then: Num, other: Num) -> Option<Num> {
        match condition {
            Num::Int(0) => return Some(other),
            Num::Int(_) => return Some(then),
            Num::Expr(_) => {}
        }
        self.exprs_left = self.exprs_left.saturating_sub(1);
        if self.exprs_left == 0 {
            return None;
        }
        let [condition, then, other] = [condition, then, other].map(|num| self.expr(num));
        let result = self.exprs.select(condition, then, other);
        Some(self.exprs.as_const(result).map_or(Num::Expr(result), Num::Int))
    }

    pub(crate) fn product(&mut self, dims: &[Dim]) -> Option<Num> {
        let mut product = Some(Num::Int(1));
        for dim in dims {
            product = self.op(DimOp::Mul, product, Num::of(*dim));
        }
        product
    }

    /// Two dimensions under an operation.
    pub(crate) fn dim(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim {
        let result = self.op(op, Num::of(a), Num::of(b));
        result.map_or(Dim::Unknown, Num::dim)
    }

    /// A dimension and a number under an operation.
    pub(crate) fn with(&mut self, op: DimOp, a: Dim, b: i64) -> Dim {
        let result = self.op(op, Num::of(a), Some(Num::Int(b)));
        result.map_or(Dim::Unknown, Num::dim)
    }

    /// The common size of two broadcast dimensions.
    pub(crate) fn broadcast_dim(&mut self, a: Dim, b: Dim) -> Dim {
        match (a, b) {
            (Dim::Known(1), other) | (other, Dim::Known(1)) => other,
            // A known size above 1 is the result, whatever is broadcast against it.
            (Dim::Known(size), Dim::Unknown) | (Dim::Unknown, Dim::Known(size)) => Dim::Known(size),
            _ if a == b => a,
            _ => self.dim(DimOp::Broadcast, a, b),
        }
    }

    /// The common shape of two broadcast shapes, aligned at their ends.
    pub(crate) fn broadcast(&mut self, a: &[Dim], b: &[Dim]) -> Vec<Dim> {
        let rank = a.len().max(b.len());
        let at = |dims: &[Dim], position: usize| match (position + dims.len()).checked_sub(rank) {
            Some(inside) => dims[inside],
            None => Dim::Known(1),
        };
        (0..rank)
            .map(|position| self.broadcast_dim(at(a, position), at(b, position)))
            .collect()
    }

    pub(crate) fn expr(&mut self, num: Num) -> ExprId {
        match num {
            Num::Int(value) => self.exprs.constant(value),
            Num::Expr(id) => id,
        }
    }
}

/// The position of an axis that may count from the end.
pub(crate) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let from_start = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank)
        .contains(&from_start)
        .then(|| usize::try_from(from_start).ok())
        .flatten()
}

/// The positions of axes, each of which may count from the end.
pub(crate) fn axes(listed: &[i64], rank: usize) -> Option<Vec<usize>> {
    listed.iter().map(|at| axis(*at, rank)).collect()
}
