//! Statement by statement along the flow of the script.

use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    ElifElseClause, ExceptHandler, ExceptHandlerExceptHandler, Expr, Identifier, Stmt, StmtClassDef, StmtFunctionDef,
    StmtIf, StmtImportFrom, StmtMatch, StmtTry,
};
use ruff_text_size::Ranged as _;

use highwater_model::diagnostics::Severity;
use highwater_options::Value;

use super::arms::{Arm, Basis, bit};
use super::datum::{Fact, IMPORTED, OF_MODULE};
use super::loops::Element;
use super::reader::Reader;
use super::scopes::Layer;

/// An arm of an `if`.
#[derive(Clone, Copy)]
pub(super) struct Clause<'a> {
    /// `None` of `else`.
    pub(super) test: Option<&'a Expr>,
    pub(super) body: &'a [Stmt],
}

fn clauses(choice: &StmtIf) -> Vec<Clause<'_>> {
    let first = Clause {
        test: Some(&choice.test),
        body: &choice.body,
    };
    let others = choice
        .elif_else_clauses
        .iter()
        .map(|ElifElseClause { test, body, .. }| Clause {
            test: test.as_ref(),
            body,
        });
    std::iter::once(first).chain(others).collect()
}

impl<'a> Reader<'a> {
    /// The body of a module or function, then the functions that it declares.
    /// Whether the flow ends in the body.
    pub(super) fn scope(&mut self, body: &'a [Stmt]) -> bool {
        self.pending.push(Vec::new());
        let ends = self.body(body);
        let pending = self.pending.pop().unwrap_or_default();
        for (function, class) in self.in_reading_order(pending) {
            if self.followed.contains(&function.start()) {
                continue;
            }
            if class.is_none() && self.is_left_out(function) {
                let why = format!("{}() is called only in statements that are left out", function.name);
                self.remark_on_dropped(&function.body, &why, Severity::Info);
            } else {
                self.function(function, class);
            }
        }
        ends
    }

    /// Reads statements in order; whether the flow ends in one of them.
    pub(super) fn body(&mut self, body: &'a [Stmt]) -> bool {
        let depth = self.path.len();
        let end = body.iter().position(|statement| self.statement(statement));
        self.path.truncate(depth);
        // The rest of a loop's body runs in another round.
        if let Some(end) = end.filter(|end| !matches!(body[*end], Stmt::Break(_) | Stmt::Continue(_))) {
            self.remark_on_rest(&body[end], &body[end + 1..]);
        }
        end.is_some()
    }

    fn statement(&mut self, statement: &'a Stmt) -> bool {
        match statement {
            Stmt::Assign(assign) => self.assignment(&assign.targets, &assign.value),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assignment(std::slice::from_ref(&*assign.target), value);
                }
            }
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::Expr(statement) => {
                self.visit_expr(&statement.value);
                return self.is_exit(&statement.value);
            }
            Stmt::If(choice) => return self.choice(choice),
            Stmt::For(repeated) => self.repetition(repeated),
            Stmt::While(repeated) => {
                self.visit_expr(&repeated.test);
                let test = self.evaluate(&repeated.test);
                if test.note.is_none() && test.truth() == Some(false) {
                    let why = self.idle_loop(repeated.test.range());
                    self.remark_on_dropped(&repeated.body, &why, Severity::Info);
                    self.body(&repeated.orelse);
                    return false;
                }
                if self.counted(repeated) {
                    return false;
                }
                self.looped(&repeated.body, None, repeated.range);
                self.body(&repeated.orelse);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    self.visit_expr(&item.context_expr);
                    if let Some(name) = &item.optional_vars {
                        let fact = self.computed(&item.context_expr);
                        self.assign(name, &item.context_expr, fact);
                    }
                }
                return self.body(&with.body);
            }
            Stmt::Try(attempt) => return self.attempt(attempt),
            Stmt::Match(choice) => self.cases(choice),
            Stmt::FunctionDef(function) => self.declare_function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::ImportFrom(import) => self.import(import),
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.found_import(alias.name.as_str(), alias);
                    let first = alias.name.split('.').next().unwrap_or_default();
                    let name = alias.asname.as_ref().map_or(first, Identifier::as_str);
                    // What is bound to nothing needs no binding: modules are known by their names.
                    if self.scopes.get(name).is_some() {
                        self.bind_import(name, self.source.line(alias.start()));
                    }
                }
            }
            Stmt::Delete(deletion) => {
                for target in &deletion.targets {
                    self.delete(target);
                }
            }
            Stmt::Global(global) => self.globals.extend(global.names.iter().map(Identifier::as_str)),
            Stmt::IpyEscapeCommand(command) => self.magic(command),
            Stmt::Return(returned) => {
                walk_stmt(self, statement);
                let fact = match &returned.value {
                    Some(value) => self.evaluate(value),
                    None => Fact::value(Value::Unset),
                };
                if let Some(returns) = self.returns.last_mut() {
                    returns.push(fact);
                }
                return true;
            }
            Stmt::Raise(_) => {
                walk_stmt(self, statement);
                return true;
            }
            Stmt::Break(_) | Stmt::Continue(_) => return true,
            Stmt::Assert(_) => walk_stmt(self, statement),
            _ => {}
        }
        false
    }

    /// The bindings of an arm that may be taken; `None` where the flow ends in it.
    fn branch(&mut self, body: &'a [Stmt], arm: Arm) -> Option<Layer> {
        self.path.push(arm);
        self.scopes.open();
        let ends = self.body(body);
        let layer = self.scopes.close();
        self.path.pop();
        (!ends).then_some(layer)
    }

    /// An `if` with its other arms. An arm is decided by a known condition, or by an assumption such as the default of a flag.
    /// The flow never ends by an assumption: a guard says nothing about the runs that pass it.
    fn choice(&mut self, choice: &'a StmtIf) -> bool {
        let clauses = clauses(choice);
        let facts: Vec<Option<Fact>> = clauses
            .iter()
            .map(|clause| clause.test.map(|test| self.evaluate(test)))
            .collect();
        let is_trusted = self.may_assume(&clauses, &facts);
        let mut line = self.source.line(choice.start());
        let mut text = Rc::from("");
        let mut layers = Vec::new();
        let mut open_arms = u64::MAX;
        let mut is_decided = false;
        for (number, (clause, fact)) in clauses.iter().zip(&facts).enumerate() {
            if let Some(test) = clause.test {
                self.visit_expr(test);
                line = self.source.line(test.start());
                text = self.source.shown(test.range()).into();
            } else {
                text = format!("not {text}").into();
            }
            let truth = match fact {
                None => Some(true),
                Some(fact) if fact.note.is_some() && (!is_trusted || self.always_ends(clause.body)) => None,
                Some(fact) if fact.note.is_some() && !self.trusts_assumptions && self.has_settings(clause.body) => None,
                Some(fact) => fact.truth(),
            };
            if truth == Some(false) {
                self.remark_on_skipped(clause, fact.as_ref(), line);
                open_arms &= !bit(number);
                continue;
            }
            let is_chosen = truth == Some(true) && layers.is_empty();
            let arm = Arm {
                choice: choice.start(),
                arms: bit(number),
                line,
                text: Rc::clone(&text),
                basis: if is_chosen { Basis::Assumed } else { Basis::Unknown },
            };
            if is_chosen {
                let is_assumed = facts[..=number].iter().flatten().any(|fact| fact.note.is_some());
                self.remark_on_others(&clauses[number + 1..], line, is_assumed);
                let n_around = self.path.len();
                self.path.extend(is_assumed.then_some(arm));
                let ends = self.body(clause.body);
                self.path.truncate(n_around);
                return ends;
            }
            let layer = self.branch(clause.body, arm);
            if layer.is_none() {
                open_arms &= !bit(number);
            }
            layers.push(layer);
            if truth == Some(true) {
                is_decided = true;
                break;
            }
        }
        let ends = is_decided && layers.iter().all(Option::is_none);
        if layers.iter().any(Option::is_none) && !ends {
            self.path.push(Arm {
                choice: choice.start(),
                arms: open_arms,
                line,
                text,
                basis: Basis::Implied,
            });
        }
        let layers: Vec<Layer> = layers.into_iter().flatten().collect();
        self.scopes.merge(&layers, !is_decided);
        ends
    }

    /// Whether assumptions may choose an arm: not where the flow would end in it.
    fn may_assume(&self, clauses: &[Clause<'a>], facts: &[Option<Fact>]) -> bool {
        let truth = |fact: &Option<Fact>| fact.as_ref().map_or(Some(true), Fact::truth);
        let Some(taken) = facts.iter().position(|fact| truth(fact) != Some(false)) else {
            return true;
        };
        let is_assumed = facts[..=taken].iter().flatten().any(|fact| fact.note.is_some());
        !(is_assumed && truth(&facts[taken]) == Some(true) && self.always_ends(clauses[taken].body))
    }

    /// Whether the flow ends in a body, whatever the script knows only when it runs.
    fn always_ends(&self, body: &[Stmt]) -> bool {
        body.iter().any(|statement| match statement {
            Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_) => true,
            Stmt::Expr(statement) => self.is_exit(&statement.value),
            Stmt::With(with) => self.always_ends(&with.body),
            Stmt::If(choice) => {
                let clauses = clauses(choice);
                let has_else = clauses.last().is_some_and(|clause| clause.test.is_none());
                has_else && clauses.iter().all(|clause| self.always_ends(clause.body))
            }
            Stmt::Try(attempt) => self.always_ends(&attempt.finalbody),
            _ => false,
        })
    }

    fn is_exit(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else {
            return false;
        };
        matches!(
            self.source.slice(call.func.range()),
            "sys.exit" | "exit" | "quit" | "os._exit" | "os.abort"
        )
    }

    /// Binds a name to a module.
    fn bind_import(&mut self, name: &'a str, line: usize) {
        let fact = Fact::unknown(IMPORTED);
        if self.globals.contains(&name) {
            self.scopes.bind_global(name, &fact, line);
        }
        self.scopes.bind(name, fact, line);
    }

    /// `except ImportError:` behind an import is another way, which a run with the module does not take: a name that it sets to `None`
    /// is the import's. Whether a handler is one.
    fn failed_import(&mut self, attempt: &'a StmtTry, handler: &'a ExceptHandlerExceptHandler) -> bool {
        const ERRORS: [&str; 3] = ["ImportError", "ModuleNotFoundError", "Exception"];
        let is_import = |statement: &Stmt| matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_));
        let is_named = handler.type_.as_deref().is_none_or(|error| match error {
            Expr::Tuple(errors) => errors
                .elts
                .iter()
                .any(|error| ERRORS.contains(&self.source.slice(error.range()))),
            error => ERRORS.contains(&self.source.slice(error.range())),
        });
        if !is_named || !attempt.body.iter().any(is_import) {
            return false;
        }
        if self.has_settings(&handler.body) {
            self.drops_by_assumption = true;
            if !self.trusts_assumptions {
                return false;
            }
        }
        let line = self.source.line(handler.start());
        let why = format!("line {line} runs only where an import fails");
        self.remark_on_dropped(&handler.body, &why, Severity::Info);
        for statement in &handler.body {
            match statement {
                Stmt::Assign(assign) if assign.value.is_none_literal_expr() => {
                    for name in assign.targets.iter().filter_map(Expr::as_name_expr) {
                        let name = name.id.as_str();
                        let is_known = self
                            .scopes
                            .get(name)
                            .is_some_and(|binding| !binding.fact.is_absent_or_imported());
                        if !is_known {
                            self.bind_import(name, line);
                        }
                    }
                }
                Stmt::Import(_) | Stmt::ImportFrom(_) => {
                    self.scopes.open();
                    self.statement(statement);
                    drop(self.scopes.close());
                }
                _ => {}
            }
        }
        true
    }

    fn attempt(&mut self, attempt: &'a StmtTry) -> bool {
        self.scopes.open();
        let mut ends = self.body(&attempt.body);
        let failed: Vec<bool> = attempt
            .handlers
            .iter()
            .map(|ExceptHandler::ExceptHandler(handler)| !ends && self.failed_import(attempt, handler))
            .collect();
        let body = self.scopes.close();
        let mut layers = Vec::new();
        for (handler, is_failed) in attempt.handlers.iter().zip(failed) {
            let ExceptHandler::ExceptHandler(handler) = handler;
            if is_failed {
                continue;
            }
            // The body may have stopped at any statement.
            self.scopes.open();
            self.scopes.merge(std::slice::from_ref(&body), true);
            let before = self.scopes.close();
            self.scopes.open();
            self.scopes.take(before);
            let handler_ends = self.body(&handler.body);
            let layer = self.scopes.close();
            if !handler_ends {
                layers.push(layer);
            }
        }
        self.scopes.open();
        self.scopes.take(body);
        ends = self.body(&attempt.orelse) || ends;
        let body = self.scopes.close();
        if !ends {
            layers.push(body);
        }
        let all_end = layers.is_empty();
        self.scopes.merge(&layers, false);
        self.body(&attempt.finalbody) || all_end
    }

    fn cases(&mut self, choice: &'a StmtMatch) {
        self.visit_expr(&choice.subject);
        let line = self.source.line(choice.start());
        let mut layers = Vec::new();
        for (number, case) in choice.cases.iter().enumerate() {
            let arm = Arm {
                choice: choice.start(),
                arms: bit(number),
                line,
                text: self.source.shown(case.pattern.range()).into(),
                basis: Basis::Unknown,
            };
            layers.extend(self.branch(&case.body, arm));
        }
        self.scopes.merge(&layers, true);
    }

    fn declare_function(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_expr(&decorator.expression);
            self.found_decorator(&decorator.expression);
        }
        let class = self.classes.last().copied();
        if let Some(pending) = self.pending.last_mut() {
            pending.push((function, class));
        }
        let line = self.source.line(function.name.start());
        self.scopes
            .bind(function.name.as_str(), Fact::unknown("is a function"), line);
    }

    fn class(&mut self, class: &'a StmtClassDef) {
        for base in class.bases() {
            self.visit_expr(base);
        }
        self.classes.push(class.name.as_str());
        self.scopes.open();
        self.body(&class.body);
        drop(self.scopes.close());
        self.classes.pop();
    }

    fn import(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or(".", |module| module.as_str());
        for alias in &import.names {
            self.found_import(&format!("{module}.{}", alias.name), alias);
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            if alias.name.as_str() != "environ" {
                let line = self.source.line(alias.start());
                let fact = Fact::unknown(&format!("{OF_MODULE} {module}"));
                if self.globals.contains(&name) {
                    self.scopes.bind_global(name, &fact, line);
                }
                self.scopes.bind(name, fact, line);
            }
        }
    }
}

/// Finds calls and dictionaries in every expression of a statement.
impl<'a> Visitor<'a> for Reader<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => {
                // Arguments first, as they are evaluated.
                walk_expr(self, expr);
                let followed = self.followed_call(call);
                self.found_message(call);
                self.found_call(call);
                self.changes_of_call(call);
                if let Some(followed) = followed {
                    self.follow(call, followed);
                }
                return;
            }
            Expr::ListComp(list) => return self.comprehension(expr, Element::One(&list.elt), &list.generators),
            Expr::SetComp(set) => return self.comprehension(expr, Element::One(&set.elt), &set.generators),
            Expr::Generator(items) => return self.comprehension(expr, Element::One(&items.elt), &items.generators),
            Expr::DictComp(dict) => {
                let value = &*dict.value;
                let element = dict
                    .key
                    .as_deref()
                    .map_or(Element::One(value), |key| Element::Pair { key, value });
                return self.comprehension(expr, element, &dict.generators);
            }
            Expr::Dict(dict) => self.found_dict(expr, dict),
            Expr::Lambda(lambda) => {
                self.scopes.open();
                let line = self.source.line(lambda.start());
                if let Some(parameters) = &lambda.parameters {
                    for parameter in parameters.iter_non_variadic_params() {
                        let fact = Fact::unknown(&format!("is a parameter of the lambda of line {line}"));
                        self.scopes.bind(parameter.name().as_str(), fact, line);
                    }
                }
                self.n_lambdas += 1;
                walk_expr(self, expr);
                self.n_lambdas -= 1;
                drop(self.scopes.close());
                return;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
