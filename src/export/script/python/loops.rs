//! Loops: simple loops over literals are followed; values that other loops change are unknown.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt, StmtFor, StmtIf};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::Value;

use super::changes::{CHANGED, is_pure, is_reading};
use super::constructors::find_class;
use super::datum::{Datum, Fact};
use super::reader::Reader;

const MAX_ROUNDS: usize = 64;

const MAX_STATEMENTS: usize = 16;

impl<'a> Reader<'a> {
    pub(super) fn repetition(&mut self, repeated: &'a StmtFor) {
        self.visit_expr(&repeated.iter);
        match self.rounds(repeated) {
            Some(rounds) => {
                let is_around = std::mem::replace(&mut self.is_in_rounds, true);
                for (value, fact) in rounds {
                    self.assign(&repeated.target, value, fact);
                    self.body(&repeated.body);
                }
                self.is_in_rounds = is_around;
            }
            None => self.looped(&repeated.body, Some((&repeated.target, &repeated.iter)), repeated.range),
        }
        self.body(&repeated.orelse);
    }

    /// The values of the target of a simple loop over literals.
    fn rounds(&self, repeated: &'a StmtFor) -> Option<Vec<(&'a Expr, Fact)>> {
        let is_simple =
            repeated.body.len() <= MAX_STATEMENTS && repeated.body.iter().all(|statement| self.is_simple(statement));
        let elements = match &*repeated.iter {
            Expr::List(list) => &list.elts[..],
            Expr::Tuple(tuple) => &tuple.elts[..],
            _ => &[],
        };
        if !is_simple || repeated.is_async || elements.iter().any(Expr::is_starred_expr) {
            return None;
        }
        let rounds: Vec<(&Expr, Fact)> = if elements.is_empty() {
            let items = self.items_of(&repeated.iter)?;
            items
                .into_iter()
                .map(|item| (&*repeated.iter, Fact::value(item)))
                .collect()
        } else {
            elements
                .iter()
                .map(|element| (element, self.evaluate(element)))
                .collect()
        };
        (rounds.len() <= MAX_ROUNDS).then_some(rounds)
    }

    /// The items that a loop runs over.
    fn items_of(&self, iter: &'a Expr) -> Option<Vec<Value>> {
        if let Datum::Value(Value::List(items) | Value::Tuple(items)) = self.evaluate(iter).datum {
            return Some(items);
        }
        let (of, is_pairs) = match iter {
            Expr::Call(call) if call.arguments.is_empty() => match &*call.func {
                Expr::Attribute(method) if method.attr.as_str() == "items" => (&*method.value, true),
                Expr::Attribute(method) if method.attr.as_str() == "keys" => (&*method.value, false),
                _ => return None,
            },
            _ => (iter, false),
        };
        let Datum::Dict(dict) = self.evaluate(of).datum else {
            return None;
        };
        let item = |field: &super::datum::Field| {
            let name = Value::Text(field.name.clone());
            Some(if is_pairs {
                Value::Tuple(vec![name, field.fact.as_value()?.clone()])
            } else {
                name
            })
        };
        (!dict.is_partial).then(|| dict.fields.iter().map(item).collect())?
    }

    /// Whether a statement only assigns or calls, without constructors of configurations.
    fn is_simple(&self, statement: &'a Stmt) -> bool {
        let mut inside = Inside {
            reader: self,
            is_simple: true,
        };
        inside.visit_stmt(statement);
        let is_plain = |statement: &Stmt| {
            matches!(
                statement,
                Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Continue(_) | Stmt::Pass(_)
            )
        };
        let is_choice = |choice: &StmtIf| {
            let others = choice.elif_else_clauses.iter().flat_map(|clause| &clause.body);
            choice.body.iter().chain(others).all(is_plain)
        };
        inside.is_simple && (is_plain(statement) || matches!(statement, Stmt::If(choice) if is_choice(choice)))
    }

    /// A body that runs any number of times: values that it binds or changes are unknown at its start.
    pub(super) fn looped(&mut self, body: &'a [Stmt], target: Option<(&'a Expr, &'a Expr)>, range: TextRange) {
        let line = self.source.line(range.start());
        let mut bound = Bound::default();
        bound.visit_body(body);
        self.scopes.open();
        for name in bound.names {
            if self.scopes.get(name).is_some() {
                let why = format!("changes in the loop of line {line}");
                self.scopes.bind(name, Fact::unknown(&why), line);
            }
        }
        for expr in bound.touched {
            if let Some(path) = self.root(expr) {
                let why = format!(
                    "{CHANGED} {} (in the loop of line {line})",
                    self.source.line(expr.start())
                );
                self.unfollowed_because(&path, &why, expr.range());
            }
        }
        if let Some((target, iter)) = target {
            self.assign_unknown(target, iter);
        }
        self.body(body);
        let layer = self.scopes.close();
        self.scopes.merge(&[layer], true);
    }

    fn assign_unknown(&mut self, target: &'a Expr, iter: &'a Expr) {
        match target {
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| self.assign_unknown(part, iter)),
            Expr::List(list) => list.elts.iter().for_each(|part| self.assign_unknown(part, iter)),
            _ => {
                let fact = self.computed(iter);
                self.assign(target, iter, fact);
            }
        }
    }
}

/// Finds constructor calls of configurations.
struct Inside<'r, 'a> {
    reader: &'r Reader<'a>,
    is_simple: bool,
}

impl<'a> Visitor<'a> for Inside<'_, 'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            let name = self.reader.survey.last_name(&call.func);
            self.is_simple &= name.is_none_or(|name| find_class(name).is_none());
        }
        self.is_simple &= !expr.is_lambda_expr();
        walk_expr(self, expr);
    }
}

/// Names that statements bind, and expressions whose objects they may change, outside of nested functions.
#[derive(Default)]
struct Bound<'a> {
    names: BTreeSet<&'a str>,
    touched: Vec<&'a Expr>,
}

impl<'a> Visitor<'a> for Bound<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store => {
                self.names.insert(name.id.as_str());
            }
            Expr::Subscript(target) if target.ctx != ExprContext::Load => self.touched.push(&target.value),
            Expr::Attribute(target) if target.ctx != ExprContext::Load => self.touched.push(&target.value),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) if !is_reading(method.attr.as_str()) => {
                    self.touched.push(&method.value);
                    if !is_pure(method.attr.as_str()) {
                        self.touched.extend(&call.arguments.args);
                    }
                }
                Expr::Name(name) if !is_pure(name.id.as_str()) && find_class(name.id.as_str()).is_none() => {
                    self.touched.extend(&call.arguments.args);
                }
                _ => {}
            },
            _ => {}
        }
        walk_expr(self, expr);
    }
}
