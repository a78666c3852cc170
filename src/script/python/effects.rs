//! Names that a function changes outside itself.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Identifier, Stmt, StmtFunctionDef, StmtImport, StmtImportFrom};
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

/// Most calls that are followed from a change back to the functions that reach it. A chain of calls has one for each pair of a function
/// and a changed name.
const MAX_FOLLOWED: usize = 1_000_000;

/// By function those that call it, by name.
pub(super) fn callers<'a>(effects: &BTreeMap<&'a str, Effects<'a>>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut callers: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
    for (caller, own) in effects {
        for called in own.calls.iter().filter(|called| effects.contains_key(*called)) {
            callers.entry(called).or_default().push(caller);
        }
    }
    callers
}

/// The names with lines that a function, or one that it calls, changes outside itself; of several lines the first.
pub(super) type Changes<'a> = BTreeMap<&'a str, usize>;

/// The changes of each function, and whether they are complete: above [`MAX_FOLLOWED`] a function has its own, and only some of the
/// functions that it calls. O(calls) for each name.
pub(super) fn all_changes<'a>(effects: &BTreeMap<&'a str, Effects<'a>>) -> (BTreeMap<&'a str, Changes<'a>>, bool) {
    let callers = callers(effects);
    let mut origins: Vec<(usize, &'a str, &'a str)> = Vec::new();
    for (function, own) in effects {
        origins.extend(own.changes.iter().map(|(name, line)| (*line, *name, *function)));
    }
    origins.sort_unstable();
    let mut all: BTreeMap<&'a str, Changes<'a>> = BTreeMap::new();
    let mut n_followed = 0;
    for (line, name, function) in origins {
        let mut open = vec![function];
        while let Some(function) = open.pop() {
            let known = all.entry(function).or_default();
            if !known.contains_key(name) {
                known.insert(name, line);
                let own = callers.get(function).map_or(&[][..], Vec::as_slice);
                n_followed += own.len();
                if n_followed <= MAX_FOLLOWED {
                    open.extend(own);
                }
            }
        }
    }
    (all, n_followed <= MAX_FOLLOWED)
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
            Stmt::Import(StmtImport { names, .. }) | Stmt::ImportFrom(StmtImportFrom { names, .. }) => {
                for alias in names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    let name = alias.asname.as_ref().map_or(first, Identifier::as_str);
                    let line = self.source.line(alias.start());
                    self.stored.entry(name).or_insert(line);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    /// By definition: from each function all that it reaches.
    fn by_definition<'a>(effects: &BTreeMap<&'a str, Effects<'a>>, function: &'a str) -> BTreeMap<&'a str, usize> {
        let mut changes: BTreeMap<&'a str, usize> = BTreeMap::new();
        let (mut seen, mut open) = (BTreeSet::new(), vec![function]);
        while let Some(name) = open.pop() {
            if let Some(own) = effects.get(name).filter(|_| seen.insert(name)) {
                for (name, line) in &own.changes {
                    let first = changes.entry(name).or_insert(*line);
                    *first = (*first).min(*line);
                }
                open.extend(&own.calls);
            }
        }
        changes
    }

    #[test]
    fn changes_are_those_of_all_functions_that_a_call_reaches() {
        let mut state = 5_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % bound
        };
        for _ in 0..3_000 {
            let density = below(6);
            let mut effects: BTreeMap<&str, Effects<'_>> = BTreeMap::new();
            for name in &NAMES[..5] {
                // The last name is called and not defined.
                let calls = NAMES.into_iter().filter(|_| below(6) < density).collect();
                let lines = ["x", "y", "z"].map(|name| (name, below(270)));
                let changes = lines.into_iter().filter(|(_, line)| *line < 90).collect();
                effects.insert(name, Effects { changes, calls });
            }
            let (all, is_whole) = all_changes(&effects);
            assert!(is_whole);
            for name in NAMES {
                let found = all.get(name).cloned().unwrap_or_default();
                assert_eq!(found, by_definition(&effects, name), "{name} {effects:?}");
            }
        }
    }

    #[test]
    fn of_too_many_changes_each_function_has_its_own() {
        let names: Vec<String> = (0..2_000).map(|at| format!("f{at:04}")).collect();
        let chain = |n_changes: usize| -> BTreeMap<&str, Effects<'_>> {
            let of = |at: usize| Effects {
                changes: BTreeMap::from_iter((at < n_changes).then_some((names[at].as_str(), at))),
                calls: names.get(at + 1).map(String::as_str).into_iter().collect(),
            };
            (0..names.len()).map(|at| (names[at].as_str(), of(at))).collect()
        };
        let (few, is_whole) = all_changes(&chain(10));
        assert_eq!(
            (few["f0000"].len(), few["f0009"].len(), few.len(), is_whole),
            (10, 1, 10, true)
        );
        let (many, is_whole) = all_changes(&chain(2_000));
        assert!(!is_whole && names.iter().all(|name| many[name.as_str()].contains_key(name.as_str())));
    }
}
