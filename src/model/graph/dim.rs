//! Dimensions: known numbers, expressions over named symbols, or unknown.
//!
//! Expressions are interned and only refer to earlier ids, so that one pass in id order evaluates all of them under a
//! binding. Simplification is shallow: it only serves readability, because every figure comes from evaluation.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use indexmap::IndexSet;

use super::ids::{ExprId, Id as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Number of elements.
    Known(u64),
    Expr(ExprId),
    /// Neither the file nor shape inference states it.
    Unknown,
}

/// Values of symbolic dimensions, by name.
pub type Bindings = BTreeMap<String, u64>;

/// A node of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimExpr {
    Const(i64),
    /// The symbol at this position of [`DimExprs::symbols`].
    Symbol(u32),
    Binary(DimOp, ExprId, ExprId),
    /// `if condition != 0 { then } else { other }`.
    Select {
        /// 0 means false.
        condition: ExprId,
        then: ExprId,
        other: ExprId,
    },
}

impl DimExpr {
    /// The expressions that it is made of.
    pub fn parts(self) -> impl Iterator<Item = ExprId> {
        let parts = match self {
            Self::Const(_) | Self::Symbol(_) => [None; 3],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
            Self::Select { condition, then, other } => [Some(condition), Some(then), Some(other)],
        };
        parts.into_iter().flatten()
    }
}

/// An integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimOp {
    Add,
    Sub,
    Mul,
    /// Rounded towards minus infinity; division by zero has no value.
    FloorDiv,
    /// Rounded towards plus infinity; division by zero has no value.
    CeilDiv,
    /// Remainder with the sign of the divisor.
    Mod,
    Min,
    Max,
    /// The common size of two broadcast dimensions: equal sizes, or the one that is not 1.
    Broadcast,
    /// 1 where equal, otherwise 0.
    Equal,
    /// 1 where the first is smaller, otherwise 0.
    Less,
}

impl DimOp {
    /// `None` on overflow, division by zero, and sizes that do not broadcast.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::FloorDiv => floor_div(a, b),
            Self::CeilDiv => floor_div(a.checked_neg()?, b)?.checked_neg(),
            Self::Mod => a.checked_sub(floor_div(a, b)?.checked_mul(b)?),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Broadcast => match (a, b) {
                (1, other) | (other, 1) => Some(other),
                _ if a == b => Some(a),
                _ => None,
            },
            Self::Equal => Some(i64::from(a == b)),
            Self::Less => Some(i64::from(a < b)),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Sub => " - ",
            Self::Mul => "*",
            Self::FloorDiv => "/",
            Self::CeilDiv => " ceil/ ",
            Self::Mod => " mod ",
            Self::Min => "min",
            Self::Max => "max",
            Self::Broadcast => "broadcast",
            Self::Equal => " == ",
            Self::Less => " < ",
        }
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let is_rounded_up = a % b != 0 && ((a < 0) != (b < 0));
    Some(quotient - i64::from(is_rounded_up))
}

/// The expressions and symbols of one graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimExprs {
    exprs: IndexSet<DimExpr>,
    symbols: IndexSet<String>,
}

impl DimExprs {
    /// Symbol names in the order of first use.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = &str> {
        self.symbols.iter().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    pub fn symbol(&mut self, name: &str) -> ExprId {
        let (position, _) = self.symbols.insert_full(name.to_owned());
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        self.intern(DimExpr::Symbol(position))
    }

    pub fn constant(&mut self, value: i64) -> ExprId {
        self.intern(DimExpr::Const(value))
    }

    pub fn as_const(&self, id: ExprId) -> Option<i64> {
        match self.exprs.get_index(id.idx()) {
            Some(DimExpr::Const(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn get(&self, id: ExprId) -> Option<DimExpr> {
        self.exprs.get_index(id.idx()).copied()
    }

    /// Folded where both are constants or one is neutral.
    pub fn binary(&mut self, op: DimOp, a: ExprId, b: ExprId) -> ExprId {
        let folded = match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => op.apply(x, y).map(|value| self.constant(value)),
            (left, right) => neutral(op, a, left, b, right),
        };
        folded.unwrap_or_else(|| self.intern(DimExpr::Binary(op, a, b)))
    }

    /// `if condition != 0 { then } else { other }`, folded where the condition is a constant.
    pub fn select(&mut self, condition: ExprId, then: ExprId, other: ExprId) -> ExprId {
        match self.as_const(condition) {
            Some(0) => other,
            Some(_) => then,
            None if then == other => then,
            None => self.intern(DimExpr::Select { condition, then, other }),
        }
    }

    /// A copy of another graph's expression; `at` tells the copies of its parts.
    pub fn copied(&mut self, from: &Self, id: ExprId, at: impl Fn(ExprId) -> Option<ExprId>) -> Option<ExprId> {
        Some(match from.get(id)? {
            DimExpr::Const(value) => self.constant(value),
            DimExpr::Symbol(position) => self.symbol(from.symbols.get_index(position as usize)?),
            DimExpr::Binary(op, a, b) => self.binary(op, at(a)?, at(b)?),
            DimExpr::Select { condition, then, other } => self.select(at(condition)?, at(then)?, at(other)?),
        })
    }

    /// A known dimension for a constant, unknown where that is negative.
    pub fn dim(&self, id: ExprId) -> Dim {
        match self.as_const(id) {
            Some(value) => u64::try_from(value).map_or(Dim::Unknown, Dim::Known),
            None => Dim::Expr(id),
        }
    }

    /// Values of all expressions under a binding, by id. O(expressions).
    pub fn evaluate(&self, bindings: &Bindings) -> Vec<Option<i64>> {
        let symbols: Vec<Option<i64>> = self
            .symbols
            .iter()
            .map(|name| bindings.get(name).and_then(|value| i64::try_from(*value).ok()))
            .collect();
        let mut values: Vec<Option<i64>> = Vec::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            let at = |id: ExprId| values.get(id.idx()).copied().flatten();
            let value = match *expr {
                DimExpr::Const(value) => Some(value),
                DimExpr::Symbol(position) => symbols.get(position as usize).copied().flatten(),
                DimExpr::Binary(op, a, b) => match (at(a), at(b)) {
                    (Some(x), Some(y)) => op.apply(x, y),
                    _ => None,
                },
                DimExpr::Select { condition, then, other } => match at(condition) {
                    Some(0) => at(other),
                    Some(_) => at(then),
                    None => None,
                },
            };
            values.push(value);
        }
        values
    }

    /// Readable text such as `batch*seq`; at most about 80 characters.
    pub fn text(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.write(id, &mut out, 0);
        out
    }

    fn write(&self, id: ExprId, out: &mut String, depth: u32) {
        if depth > 6 || out.len() > 80 {
            out.push('…');
            return;
        }
        match self.get(id) {
            None => out.push('?'),
            Some(DimExpr::Const(value)) => {
                let _infallible = write!(out, "{value}");
            }
            Some(DimExpr::Symbol(position)) => {
                out.push_str(self.symbols.get_index(position as usize).map_or("?", String::as_str));
            }
            Some(DimExpr::Binary(op @ (DimOp::Min | DimOp::Max | DimOp::Broadcast), a, b)) => {
                out.push_str(op.sign());
                out.push('(');
                self.write(a, out, depth + 1);
                out.push_str(", ");
                self.write(b, out, depth + 1);
                out.push(')');
            }
            Some(DimExpr::Binary(op, a, b)) => {
                self.write_operand(a, out, depth);
                out.push_str(op.sign());
                self.write_operand(b, out, depth);
            }
            Some(DimExpr::Select { condition, then, other }) => {
                out.push_str("select(");
                for (position, part) in [condition, then, other].into_iter().enumerate() {
                    if position > 0 {
                        out.push_str(", ");
                    }
                    self.write(part, out, depth + 1);
                }
                out.push(')');
            }
        }
    }

    fn write_operand(&self, id: ExprId, out: &mut String, depth: u32) {
        let needs_brackets = matches!(
            self.get(id),
            Some(DimExpr::Binary(op, ..)) if !matches!(op, DimOp::Min | DimOp::Max | DimOp::Broadcast)
        );
        if needs_brackets {
            out.push('(');
        }
        self.write(id, out, depth + 1);
        if needs_brackets {
            out.push(')');
        }
    }

    fn intern(&mut self, expr: DimExpr) -> ExprId {
        let (position, _) = self.exprs.insert_full(expr);
        ExprId::from_idx(position)
    }
}

/// The operand that an operation with a neutral element returns unchanged.
fn neutral(op: DimOp, a: ExprId, left: Option<i64>, b: ExprId, right: Option<i64>) -> Option<ExprId> {
    match (op, left, right) {
        (DimOp::Add, Some(0), _) | (DimOp::Mul | DimOp::Broadcast, Some(1), _) => Some(b),
        (DimOp::Add | DimOp::Sub, _, Some(0))
        | (DimOp::Mul | DimOp::FloorDiv | DimOp::CeilDiv | DimOp::Broadcast, _, Some(1)) => Some(a),
        // A dimension that broadcasts against a size above 1 has that size.
        (DimOp::Broadcast, Some(n), _) if n > 1 => Some(a),
        (DimOp::Broadcast, _, Some(n)) if n > 1 => Some(b),
        (DimOp::Min | DimOp::Max | DimOp::Broadcast, ..) if a == b => Some(a),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_evaluate_under_a_binding() {
        let mut exprs = DimExprs::default();
        let batch = exprs.symbol("batch");
        let seq = exprs.symbol("seq");
        let product = exprs.binary(DimOp::Mul, batch, seq);
        let two = exprs.constant(2);
        let half = exprs.binary(DimOp::FloorDiv, product, two);
        let bindings = Bindings::from([("batch".to_owned(), 3), ("seq".to_owned(), 5)]);
        assert_eq!(exprs.evaluate(&bindings)[half.idx()], Some(7));
        assert_eq!(exprs.text(half), "(batch*seq)/2");
        assert_eq!(exprs.evaluate(&Bindings::new())[half.idx()], None);
        assert_eq!(exprs.binary(DimOp::Mul, batch, seq), product);
    }

    #[test]
    fn integer_division_rounds_as_named() {
        for (a, b) in [(7_i32, 2_i32), (-7, 2), (7, -2), (-7, -2), (6, 3)] {
            let floor = DimOp::FloorDiv.apply(a.into(), b.into());
            let ceil = DimOp::CeilDiv.apply(a.into(), b.into());
            #[expect(clippy::cast_possible_truncation, reason = "tiny numbers")]
            let exact = |round: fn(f64) -> f64| Some(round(f64::from(a) / f64::from(b)) as i64);
            let (a, b) = (i64::from(a), i64::from(b));
            assert_eq!(DimOp::Mod.apply(a, b), Some(a - floor.unwrap_or(0) * b));
            assert_eq!((floor, ceil), (exact(f64::floor), exact(f64::ceil)));
        }
        assert_eq!(DimOp::FloorDiv.apply(1, 0), None);
    }
}
