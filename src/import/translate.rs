//! Dimensions of one graph's expressions as those of another's.
//!
//! All graphs of a file share their expressions during inference; each built graph owns the ones that it uses.
//! The main graph takes them over unchanged. Work is limited: beyond the limit dimensions become unknown.

use std::collections::BTreeMap;

use highwater_model::graph::{Dim, DimExprs, ExprId, GraphBuilder, ShapeId};

#[derive(Debug)]
pub(super) struct Translator {
    is_same: bool,
    copied: BTreeMap<ExprId, ExprId>,
    steps_left: u32,
}

impl Translator {
    pub(super) const fn new() -> Self {
        Self {
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

    pub(super) fn shape(&mut self, from: &DimExprs, dims: &[Dim], to: &mut GraphBuilder) -> ShapeId {
        let translate = |dim: &Dim| match dim {
            Dim::Expr(id) if !self.is_same => {
                let id = self.expr(from, *id, &mut to.exprs);
                id.map_or(Dim::Unknown, |id| to.exprs.dim(id))
            }
            other => *other,
        };
        let dims: Vec<Dim> = dims.iter().map(translate).collect();
        to.shape(&dims)
    }

    fn expr(&mut self, from: &DimExprs, root: ExprId, to: &mut DimExprs) -> Option<ExprId> {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            self.steps_left = self.steps_left.checked_sub(1)?;
            if self.copied.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let parts = from.get(id)?.parts();
            stack.extend(parts.filter(|part| !self.copied.contains_key(part)));
            if stack.len() > before {
                continue;
            }
            let copy = to.copied(from, id, |part| self.copied.get(&part).copied())?;
            self.copied.insert(id, copy);
            stack.pop();
        }
        self.copied.get(&root).copied()
    }
}
