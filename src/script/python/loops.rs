//! Loops: simple loops over literals are followed; values that other loops change are unknown.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, Expr, ExprContext, Stmt, StmtFor, StmtWhile};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_model::diagnostics::Severity;
use highwater_options::Value;

use super::arithmetic::{Outcome, binary, compare};
use super::arms::Path;
use super::changes::{CHANGED, is_pure, is_reading};
use super::constructors::find_class;
use super::datum::{Datum, Fact, Field, set_of};
use super::reader::Reader;

const MAX_ROUNDS: usize = 64;

/// The same for loops that make configurations.
const MAX_MAKING_ROUNDS: usize = 16;

const MAX_STATEMENTS: usize = 32;

impl<'a> Reader<'a> {
    pub(super) fn repetition(&mut self, repeated: &'a StmtFor) {
        self.visit_expr(&repeated.iter);
        match self.rounds(repeated) {
            Some(rounds) if rounds.is_empty() => {
                let why = self.idle_loop(repeated.iter.range());
                self.remark_on_dropped(&repeated.body, &why, Severity::Info);
            }
            Some(rounds) => {
                let is_around = std::mem::replace(&mut self.is_in_rounds, true);
                for round in rounds {
                    let depth = self.path.len();
                    self.path.extend(round.path);
                    self.in_round(|reader| {
                        reader.assign(&repeated.target, round.value, round.fact);
                        reader.body(&repeated.body);
                    });
                    self.path.truncate(depth);
                }
                self.is_in_rounds = is_around;
            }
            None => self.looped(&repeated.body, Some((&repeated.target, &repeated.iter)), repeated.range),
        }
        self.body(&repeated.orelse);
    }

    /// The rounds of a simple loop over literals.
    fn rounds(&self, repeated: &'a StmtFor) -> Option<Vec<Round<'a>>> {
        let rounds = self.rounds_over(&repeated.iter).filter(|_| !repeated.is_async)?;
        let mut inside = Inside {
            reader: self,
            makes: false,
            is_simple: true,
        };
        inside.visit_body(&repeated.body);
        let is_simple = inside.is_simple
            && repeated.body.len() <= MAX_STATEMENTS
            && repeated.body.iter().all(is_followed)
            && self.has_rounds();
        let max = if inside.makes { MAX_MAKING_ROUNDS } else { MAX_ROUNDS };
        // A list with a name may be filled in ways that are not followed.
        let is_idle = rounds.is_empty()
            && match &*repeated.iter {
                Expr::List(_) | Expr::Tuple(_) => true,
                Expr::Call(call) => self.survey.last_name(&call.func) == Some("range"),
                _ => false,
            };
        let is_followed = is_simple && rounds.len() <= max && !(rounds.is_empty() && inside.makes);
        (is_idle || is_followed).then_some(rounds)
    }

    /// The values of the target of a loop.
    fn rounds_over(&self, iter: &'a Expr) -> Option<Vec<Round<'a>>> {
        let elements = match iter {
            Expr::List(list) => Some(&list.elts[..]),
            Expr::Tuple(tuple) => Some(&tuple.elts[..]),
            _ => None,
        };
        let Some(elements) = elements else {
            return self.items_of(iter);
        };
        let is_plain = !elements.iter().any(Expr::is_starred_expr) && elements.len() <= MAX_ROUNDS;
        let round = |element: &'a Expr| Round {
            value: element,
            fact: self.evaluate(element),
            path: Path::new(),
        };
        is_plain.then(|| elements.iter().map(round).collect())
    }

    /// The items that a loop runs over.
    fn items_of(&self, iter: &'a Expr) -> Option<Vec<Round<'a>>> {
        let round = |fact: Fact| Round {
            value: iter,
            fact,
            path: Path::new(),
        };
        let over = self.evaluate(iter);
        match over.datum {
            Datum::Value(Value::List(items) | Value::Set(items) | Value::Tuple(items)) => {
                let facts = items
                    .into_iter()
                    .map(|item| Fact::value(item).with_note(over.note.as_ref()));
                return Some(facts.map(round).collect());
            }
            Datum::Items(items) => return Some(items.iter().cloned().map(round).collect()),
            _ => {}
        }
        let (of, method) = match iter {
            Expr::Call(call) if call.arguments.is_empty() => match &*call.func {
                Expr::Attribute(method) => (&*method.value, method.attr.as_str()),
                _ => return None,
            },
            _ => (iter, "keys"),
        };
        let Datum::Dict(dict) = self.evaluate(of).datum else {
            return None;
        };
        let item = |field: &Field| {
            let name = Fact::value(field.name.as_str());
            let fact = match (method, field.fact.as_value()) {
                ("keys", _) => name,
                ("values", _) => field.fact.clone(),
                ("items", Some(value)) => {
                    Fact::value(Value::Tuple(vec![Value::from(field.name.as_str()), value.clone()]))
                        .with_note(field.fact.note.as_ref())
                }
                ("items", None) => Fact::plain(Datum::Items([name, field.fact.clone()].into())),
                _ => return None,
            };
            Some(Round {
                value: iter,
                fact,
                path: field.path.clone(),
            })
        };
        (!dict.is_partial).then(|| dict.fields.iter().map(item).collect())?
    }

    /// `[element for target in items if condition]`, and the same as a set, a generator or a dictionary.
    pub(super) fn comprehension(&mut self, expr: &'a Expr, element: Element<'a>, generators: &'a [Comprehension]) {
        let [only] = generators else {
            return walk_expr(self, expr);
        };
        self.visit_expr(&only.iter);
        let rounds = self
            .rounds_over(&only.iter)
            .filter(|rounds| rounds.len() <= self.most_rounds(element) && !only.is_async && self.has_rounds());
        self.scopes.open();
        if let Some(rounds) = rounds {
            let mut facts = Some(Vec::new());
            for round in rounds {
                let is_known = self.in_round(|reader| reader.comprehended(only, element, round, facts.as_mut()));
                facts = facts.filter(|_| is_known);
            }
            if let Some(facts) = facts {
                let result = match element {
                    Element::One(_) if expr.is_dict_comp_expr() => self.computed(expr),
                    Element::One(_) if expr.is_set_comp_expr() => self.list_of(expr, facts, set_of),
                    Element::One(_) => self.list_of(expr, facts, Value::List),
                    Element::Pair { .. } => self.dict_of_rounds(expr, facts),
                };
                self.results.insert(self.made(expr.start()), result);
            }
        } else {
            self.assign_unknown(&only.target, &only.iter);
            only.ifs.iter().for_each(|test| self.visit_expr(test));
            element.parts().for_each(|part| self.visit_expr(part));
        }
        drop(self.scopes.close());
    }

    /// The largest number of followed rounds of a comprehension.
    fn most_rounds(&self, element: Element<'a>) -> usize {
        let mut inside = Inside {
            reader: self,
            makes: false,
            is_simple: true,
        };
        element.parts().for_each(|part| inside.visit_expr(part));
        if inside.makes { MAX_MAKING_ROUNDS } else { MAX_ROUNDS }
    }

    /// The dictionary of a key and a value for each round.
    fn dict_of_rounds(&self, expr: &Expr, facts: Vec<Fact>) -> Fact {
        let pairs = Fact::plain(Datum::Items(facts.into()));
        match Self::fields_of_pairs(&pairs, expr.range()) {
            Some(fields) => Fact::plain(Datum::Dict(Rc::new(fields))).held(),
            None => self.computed(expr),
        }
    }

    /// Adds the element of one round, unless a condition leaves it out; whether that is known.
    fn comprehended(
        &mut self,
        of: &'a Comprehension,
        element: Element<'a>,
        round: Round<'a>,
        facts: Option<&mut Vec<Fact>>,
    ) -> bool {
        self.assign(&of.target, round.value, round.fact);
        for test in &of.ifs {
            self.visit_expr(test);
            match self.evaluate(test).truth() {
                Some(true) => {}
                // The element may be there.
                None => {
                    element.parts().for_each(|part| self.visit_expr(part));
                    return false;
                }
                Some(false) => return true,
            }
        }
        element.parts().for_each(|part| self.visit_expr(part));
        if let Some(facts) = facts {
            facts.push(match element {
                Element::One(element) => self.evaluate(element),
                Element::Pair { key, value } => {
                    Fact::plain(Datum::Items([self.evaluate(key), self.evaluate(value)].into()))
                }
            });
        }
        true
    }

    /// `while i < n` with a counter that the body increases by a literal: the rounds are read one by one. Whether that is so.
    pub(super) fn counted(&mut self, repeated: &'a StmtWhile) -> bool {
        let Some(n_rounds) = self.n_counted(repeated) else {
            return false;
        };
        let is_around = std::mem::replace(&mut self.is_in_rounds, true);
        for _ in 0..n_rounds {
            self.in_round(|reader| reader.body(&repeated.body));
        }
        self.is_in_rounds = is_around;
        self.body(&repeated.orelse);
        true
    }

    /// The number of rounds of such a loop, from 1 to [`MAX_MAKING_ROUNDS`].
    fn n_counted(&self, repeated: &'a StmtWhile) -> Option<usize> {
        let Expr::Compare(test) = &*repeated.test else {
            return None;
        };
        let (Expr::Name(counter), [op], [bound]) = (&*test.left, &*test.ops, &*test.comparators) else {
            return None;
        };
        let name = counter.id.as_str();
        let is_step = |statement: &&'a Stmt| matches!(statement, Stmt::AugAssign(step) if matches!(&*step.target, Expr::Name(target) if target.id.as_str() == name));
        let mut steps = repeated.body.iter().filter(is_step);
        let (Some(Stmt::AugAssign(step)), None) = (steps.next(), steps.next()) else {
            return None;
        };
        let mut others = Bound::default();
        repeated
            .body
            .iter()
            .filter(|statement| !is_step(statement))
            .for_each(|statement| others.visit_stmt(statement));
        let mut inside = Inside {
            reader: self,
            makes: false,
            is_simple: true,
        };
        inside.visit_body(&repeated.body);
        let is_followed = inside.is_simple
            && repeated.body.len() <= MAX_STATEMENTS
            && repeated
                .body
                .iter()
                .all(|statement| is_followed(statement) && !may_skip(statement))
            && self.has_rounds();
        let is_stable = !others.names.contains(name)
            && match bound {
                Expr::Name(bound) => !others.names.contains(bound.id.as_str()),
                _ => bound.is_literal_expr(),
            };
        let (at, bound) = (self.evaluate(&test.left), self.evaluate(bound));
        let step_by = self.evaluate(&step.value);
        if !is_followed || !is_stable || [&at, &bound, &step_by].iter().any(|fact| fact.note.is_some()) {
            return None;
        }
        let (mut at, bound, step_by) = (at.as_value()?.clone(), bound.as_value()?, step_by.as_value()?);
        let mut n_rounds = 0;
        while compare(&at, *op, bound)? {
            n_rounds += 1;
            let Outcome::Value(next) = binary(&at, step.op, step_by) else {
                return None;
            };
            at = next;
            if n_rounds > MAX_MAKING_ROUNDS {
                return None;
            }
        }
        (n_rounds > 0).then_some(n_rounds)
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

/// Whether a statement may leave out the rest of a loop's body.
fn may_skip(statement: &Stmt) -> bool {
    match statement {
        Stmt::Continue(_) => true,
        Stmt::If(choice) => {
            let others = choice.elif_else_clauses.iter().flat_map(|clause| &clause.body);
            choice.body.iter().chain(others).any(may_skip)
        }
        Stmt::With(with) => with.body.iter().any(may_skip),
        _ => false,
    }
}

/// The element of a comprehension.
#[derive(Clone, Copy)]
pub(super) enum Element<'a> {
    One(&'a Expr),
    /// Of a dictionary.
    Pair {
        key: &'a Expr,
        value: &'a Expr,
    },
}

impl<'a> Element<'a> {
    fn parts(self) -> impl Iterator<Item = &'a Expr> {
        let (first, second) = match self {
            Self::One(element) => (element, None),
            Self::Pair { key, value } => (key, Some(value)),
        };
        std::iter::once(first).chain(second)
    }
}

/// One round of a loop.
struct Round<'a> {
    /// The expression that the target is bound to.
    value: &'a Expr,
    fact: Fact,
    /// The conditions under which there is this round.
    path: Path,
}

/// Whether the flow through a statement is followed round by round.
fn is_followed(statement: &Stmt) -> bool {
    match statement {
        Stmt::Assign(_)
        | Stmt::AnnAssign(_)
        | Stmt::AugAssign(_)
        | Stmt::Assert(_)
        | Stmt::Continue(_)
        | Stmt::Delete(_)
        | Stmt::Expr(_)
        | Stmt::Pass(_) => true,
        Stmt::If(choice) => {
            let others = choice.elif_else_clauses.iter().flat_map(|clause| &clause.body);
            choice.body.iter().chain(others).all(is_followed)
        }
        Stmt::With(with) => with.body.iter().all(is_followed),
        Stmt::For(repeated) => repeated.body.iter().all(is_followed),
        _ => false,
    }
}

/// Finds what the body of a loop makes.
struct Inside<'r, 'a> {
    reader: &'r Reader<'a>,
    /// Whether it makes configurations.
    makes: bool,
    is_simple: bool,
}

impl<'a> Visitor<'a> for Inside<'_, 'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Some(name) = self.reader.survey.last_name(&call.func)
        {
            self.makes |= find_class(name).is_some() || self.reader.survey.makers.contains_key(name);
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
