//! Names that a function changes outside itself.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Identifier, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged as _;

use super::source::Source;

/// Names that a function changes, and functions that it calls.
#[derive(Debug, Default)]
pub(super) struct Effects<'a> {
    /// Names of outer scopes with the line of the first change.
    pub(super) changes: BTreeMap<&'a str, usize>,
    /// By last name.
    pub(super) calls: BTreeSet<&'a str>,
}

impl<'a> Effects<'a> {
    /// Includes the functions that the function declares.
    pub(super) fn of(function: &'a StmtFunctionDef, source: &Source<'_>) -> Self {
        let mut finder = Finder {
            source,
            effects: Self::default(),
            outer: BTreeSet::new(),
            stored: BTreeMap::new(),
            touched: BTreeMap::new(),
        };
        finder.visit_body(&function.body);
        let Finder {
            mut effects,
            outer,
            stored,
            touched,
            ..
        } = finder;
        let is_parameter = |name: &str| {
            function
                .parameters
                .iter()
                .any(|parameter| parameter.name().as_str() == name)
        };
        for (name, line) in &stored {
            if outer.contains(name) {
                effects.changes.insert(name, *line);
            }
        }
        for (name, line) in touched {
            if outer.contains(name) || !(stored.contains_key(name) || is_parameter(name)) {
                effects.changes.entry(name).or_insert(line);
            }
        }
        effects
    }
}

struct Finder<'a, 's> {
    source: &'s Source<'s>,
    effects: Effects<'a>,
    /// Declared as global or nonlocal.
    outer: BTreeSet<&'a str>,
    stored: BTreeMap<&'a str, usize>,
    /// Names of objects that change.
    touched: BTreeMap<&'a str, usize>,
}

impl<'a> Finder<'a, '_> {
    fn touch(&mut self, mut expr: &'a Expr) {
        let line = self.source.line(expr.start());
        loop {
            expr = match expr {
                Expr::Name(name) => {
                    self.touched.entry(name.id.as_str()).or_insert(line);
                    return;
                }
                Expr::Subscript(subscript) => &subscript.value,
                Expr::Attribute(attribute) => &attribute.value,
                _ => return,
            };
        }
    }
}

impl<'a> Visitor<'a> for Finder<'a, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Global(global) => self.outer.extend(global.names.iter().map(Identifier::as_str)),
            Stmt::Nonlocal(nonlocal) => self.outer.extend(nonlocal.names.iter().map(Identifier::as_str)),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                let line = self.source.line(expr.start());
                self.stored.entry(name.id.as_str()).or_insert(line);
            }
            Expr::Subscript(target) if target.ctx != ExprContext::Load => self.touch(&target.value),
            Expr::Attribute(target) if target.ctx != ExprContext::Load => self.touch(&target.value),
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => {
                    self.effects.calls.insert(name.id.as_str());
                }
                Expr::Attribute(method) => {
                    self.effects.calls.insert(method.attr.as_str());
                    if is_change(method.attr.as_str()) {
                        self.touch(&method.value);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Whether a method changes a dictionary or a list.
fn is_change(name: &str) -> bool {
    const CHANGING: &[&str] = &[
        "append",
        "clear",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    ];
    CHANGING.contains(&name)
}
