//! Copies dimension expressions from one graph to another.
//!
//! In: a graph whose shapes another graph needs. Out: dimensions over the expressions of the other graph. Symbols with
//! one name are one symbol; an expression with a symbol that the other graph lacks is unknown there, because nothing
//! could give it a value. Only expressions used by shapes are copied.

use std::collections::BTreeSet;

use highwater_model::graph::{Dim, DimExpr, DimExprs, ExprId, Graph, GraphBuilder, Id as _, TensorId};

#[derive(Debug)]
pub(super) struct Exprs {
    /// By expression; `None` where it depends on a foreign symbol, or where no shape uses it.
    ids: Vec<Option<ExprId>>,
}

impl Exprs {
    /// All expressions in their order, for the graph that keeps its ids.
    pub(super) fn all(graph: &Graph, new: &mut GraphBuilder) -> Self {
        for symbol in graph.exprs().symbols() {
            new.exprs.symbol(symbol);
        }
        Self::of(graph, &vec![true; graph.exprs().len()], &symbols(graph), new)
    }

    /// The expressions that shapes use, over `known`, the symbols of the other graph.
    pub(super) fn used(graph: &Graph, known: &BTreeSet<String>, new: &mut GraphBuilder) -> Self {
        Self::of(graph, &used(graph), known, new)
    }

    fn of(graph: &Graph, is_used: &[bool], known: &BTreeSet<String>, new: &mut GraphBuilder) -> Self {
        let old = graph.exprs();
        let symbols: Vec<Option<&str>> = old.symbols().map(|name| known.contains(name).then_some(name)).collect();
        let mut exprs = Self {
            ids: Vec::with_capacity(old.len()),
        };
        for (position, is_used) in is_used.iter().enumerate() {
            let expr = old.get(ExprId::from_idx(position)).filter(|_| *is_used);
            let id = expr.and_then(|expr| exprs.copied(expr, &symbols, &mut new.exprs));
            exprs.ids.push(id);
        }
        exprs
    }

    fn copied(&self, expr: DimExpr, symbols: &[Option<&str>], new: &mut DimExprs) -> Option<ExprId> {
        Some(match expr {
            DimExpr::Const(value) => new.constant(value),
            DimExpr::Symbol(position) => new.symbol(symbols.get(position as usize).copied().flatten()?),
            DimExpr::Binary(op, a, b) => new.binary(op, self.id(a)?, self.id(b)?),
            DimExpr::Select { condition, then, other } => {
                new.select(self.id(condition)?, self.id(then)?, self.id(other)?)
            }
        })
    }

    fn id(&self, old: ExprId) -> Option<ExprId> {
        self.ids.get(old.idx()).copied().flatten()
    }

    pub(super) fn dims(&self, graph: &Graph, tensor: TensorId) -> Option<Vec<Dim>> {
        let dims = graph.dims(tensor)?.iter().map(|dim| match dim {
            Dim::Expr(id) => self.id(*id).map_or(Dim::Unknown, Dim::Expr),
            other => *other,
        });
        Some(dims.collect())
    }
}

pub(super) fn symbols(graph: &Graph) -> BTreeSet<String> {
    graph.exprs().symbols().map(str::to_owned).collect()
}

/// By expression: whether a shape depends on it.
fn used(graph: &Graph) -> Vec<bool> {
    let mut is_used = vec![false; graph.exprs().len()];
    for tensor in graph.tensors().ids() {
        for dim in graph.dims(tensor).unwrap_or(&[]) {
            if let Dim::Expr(id) = dim {
                is_used[id.idx()] = true;
            }
        }
    }
    // Expressions refer only to earlier ones.
    for position in (0..is_used.len()).rev() {
        let expr = graph.exprs().get(ExprId::from_idx(position));
        let children = match expr.filter(|_| is_used[position]) {
            Some(DimExpr::Binary(_, a, b)) => [Some(a), Some(b), None],
            Some(DimExpr::Select { condition, then, other }) => [Some(condition), Some(then), Some(other)],
            _ => [None; 3],
        };
        for child in children.into_iter().flatten() {
            is_used[child.idx()] = true;
        }
    }
    is_used
}
