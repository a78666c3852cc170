//! Statement by statement along the flow of the script.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    ElifElseClause, ExceptHandler, Expr, Identifier, Stmt, StmtClassDef, StmtFunctionDef, StmtIf, StmtImportFrom,
    StmtMatch, StmtTry,
};
use ruff_text_size::{Ranged, TextRange};

use super::datum::Fact;
use super::reader::Reader;
use super::scopes::Layer;

/// A left-out branch with one of these words is reported.
const MARKERS: &[&str] = &["parameter_map", "RunConfig(", "global_options()", "environ", "Config("];

impl<'a> Reader<'a> {
    /// The body of a module or function, then the functions that it declares.
    pub(super) fn scope(&mut self, body: &'a [Stmt]) {
        self.pending.push(Vec::new());
        self.body(body);
        for (function, class) in self.pending.pop().unwrap_or_default() {
            self.function(function, class);
        }
    }

    /// Reads statements in order; whether the flow ends in one of them.
    pub(super) fn body(&mut self, body: &'a [Stmt]) -> bool {
        body.iter().any(|statement| self.statement(statement))
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
            Stmt::Delete(deletion) => {
                for target in &deletion.targets {
                    self.delete(target);
                }
            }
            Stmt::Global(global) => self.globals.extend(global.names.iter().map(Identifier::as_str)),
            Stmt::IpyEscapeCommand(command) => self.magic(command),
            Stmt::Return(_) | Stmt::Raise(_) => {
                walk_stmt(self, statement);
                return true;
            }
            Stmt::Break(_) | Stmt::Continue(_) => return true,
            Stmt::Assert(_) => walk_stmt(self, statement),
            _ => {}
        }
        false
    }

    fn is_exit(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else {
            return false;
        };
        matches!(
            self.source.slice(call.func.range()),
            "sys.exit" | "exit" | "quit" | "os._exit"
        )
    }

    /// The bindings of a body that may run; `None` where the flow ends in it.
    fn branch(&mut self, body: &'a [Stmt], condition: Option<usize>) -> Option<Layer> {
        self.conditions.extend(condition);
        self.scopes.open();
        let ends = self.body(body);
        let layer = self.scopes.close();
        if condition.is_some() {
            self.conditions.pop();
        }
        (!ends).then_some(layer)
    }

    fn choice(&mut self, choice: &'a StmtIf) -> bool {
        let first = (Some(&*choice.test), &choice.body);
        let others = choice
            .elif_else_clauses
            .iter()
            .map(|ElifElseClause { test, body, .. }| (test.as_ref(), body));
        let mut line = None;
        let mut layers = Vec::new();
        let mut n_branches = 0;
        let mut is_decided = false;
        for (test, body) in std::iter::once(first).chain(others) {
            let truth = match test {
                None => Some(true),
                Some(test) => {
                    self.visit_expr(test);
                    let fact = self.evaluate(test);
                    let body = TextRange::new(test.end(), body.last().map_or(test.end(), Ranged::end));
                    self.remark_on_choice(&fact, test, body);
                    fact.truth()
                }
            };
            if truth == Some(false) {
                continue;
            }
            if truth == Some(true) && n_branches == 0 {
                return self.body(body);
            }
            n_branches += 1;
            line = test.map(|test| self.source.line(test.start())).or(line);
            layers.push(self.branch(body, line));
            if truth == Some(true) {
                is_decided = true;
                break;
            }
        }
        let ends = is_decided && layers.iter().all(Option::is_none);
        let layers: Vec<Layer> = layers.into_iter().flatten().collect();
        self.scopes.merge(&layers, !is_decided);
        ends
    }

    /// Reports a branch with settings that is left out because of a default.
    fn remark_on_choice(&mut self, fact: &Fact, test: &Expr, body: TextRange) {
        let (Some(false), Some(note)) = (fact.truth(), &fact.note) else {
            return;
        };
        let skipped = self.source.slice(body);
        if MARKERS.iter().any(|marker| skipped.contains(marker)) {
            let message = format!(
                "what stands under \"{}\" is left out: it {note}",
                self.source.shown(test.range())
            );
            self.records.info(self.source.line(test.start()), message);
        }
    }

    fn attempt(&mut self, attempt: &'a StmtTry) -> bool {
        self.scopes.open();
        let mut ends = self.body(&attempt.body);
        let body = self.scopes.close();
        let mut layers = Vec::new();
        for handler in &attempt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
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
        let layers: Vec<Layer> = choice
            .cases
            .iter()
            .filter_map(|case| self.branch(&case.body, Some(line)))
            .collect();
        self.scopes.merge(&layers, true);
    }

    fn declare_function(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_expr(&decorator.expression);
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
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            if alias.name.as_str() != "environ" {
                let line = self.source.line(alias.start());
                let fact = Fact::unknown(&format!("comes from the module {module}"));
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
                self.found_call(call);
                self.changes_of_call(call);
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
                walk_expr(self, expr);
                drop(self.scopes.close());
                return;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
