//! Dimensions of one graph's expressions as those of another's.
//!
//! All graphs of a file share their expressions during inference; each built graph owns the ones that it uses.
//! The main graph takes them over unchanged. Work is limited: beyond the limit dimensions become unknown.

use std::collections::BTreeMap;

use highwater_model::graph::{Dim, DimExpr, DimExprs, ExprId};

#[derive(Debug)]
pub(super) struct Translator {
    symbols: Vec<String>,
    is_same: bool,
    copied: BTreeMap<ExprId, ExprId>,
    steps_left: u32,
}

impl Translator {
    pub(super) fn new(from: &DimExprs) -> Self {
        Self {
            symbols: from.symbols().map(str::to_owned).collect(),
            is_same: false,
            copied: BTreeMap::new(),
            steps_left: 1_000_000,
        }
    }

    /// Starts a graph; `is_same`: it has the same expressions.
    pub(super) fn start(&mut self, is_same: bool) {
        self.is_same = is_same;
        self.copied.clear();
    }

    pub(super) fn dims(&mut self, from: &DimExprs, dims: &[Dim], to: &mut DimExprs) -> Vec<Dim> {
        let mut translate = |dim: &Dim| match dim {
            Dim::Expr(id) if !self.is_same => {
                let id = self.expr(from, *id, to);
                id.map_or(Dim::Unknown, |id| to.dim(id))
            }
            other => *other,
        };
        dims.iter().map(&mut translate).collect()
    }

    fn expr(&mut self, from: &DimExprs, root: ExprId, to: &mut DimExprs) -> Option<ExprId> {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            self.steps_left = self.steps_left.checked_sub(1)?;
            if self.copied.contains_key(&id) {
                stack.pop();
                continue;
            }
            let parts: Vec<ExprId> = match from.get(id)? {
                DimExpr::Const(_) | DimExpr::Symbol(_) => Vec::new(),
                DimExpr::Binary(_, a, b) => vec![a, b],
                DimExpr::Select { condition, then, other } => vec![condition, then, other],
            };
            let before = stack.len();
            stack.extend(parts.into_iter().filter(|part| !self.copied.contains_key(part)));
            if stack.len() > before {
                continue;
            }
            let at = |id: ExprId| self.copied.get(&id).copied();
            let copy = match from.get(id)? {
                DimExpr::Const(value) => to.constant(value),
                DimExpr::Symbol(position) => to.symbol(self.symbols.get(position as usize)?),
                DimExpr::Binary(op, a, b) => to.binary(op, at(a)?, at(b)?),
                DimExpr::Select { condition, then, other } => to.select(at(condition)?, at(then)?, at(other)?),
            };
            self.copied.insert(id, copy);
            stack.pop();
        }
        self.copied.get(&root).copied()
    }
}
