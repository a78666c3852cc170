//! Functions that make configurations.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::super::constructors::find_class;
use super::super::dropped::MARKERS;
use super::super::effects::callers;
use super::super::source::Source;
use super::{Maker, Surveyor};

/// The most functions whose calls count as statements that set something.
const MAX_SETTERS: usize = 64;

/// Names of functions with a statement that seems to set something, and of those that call them.
fn setters<'a>(
    definitions: &BTreeMap<&'a str, Vec<Maker<'a>>>,
    callers: &BTreeMap<&'a str, Vec<&'a str>>,
    source: &Source<'_>,
) -> BTreeSet<&'a str> {
    let sets = |maker: &Maker<'a>| {
        let text = source.slice(maker.function.range());
        MARKERS.iter().any(|marker| text.contains(marker))
    };
    let own = definitions.iter().filter(|(_, makers)| makers.iter().any(sets));
    let mut open: Vec<&'a str> = own.map(|(name, _)| *name).collect();
    let mut setters = BTreeSet::new();
    while let Some(name) = open.pop().filter(|_| setters.len() < MAX_SETTERS) {
        if setters.insert(name) {
            open.extend(callers.get(name).into_iter().flatten());
        }
    }
    setters
}

impl<'a> Surveyor<'a, '_> {
    /// Functions and methods that are defined once and have a constructor or a parameter map, and those that call them.
    /// O(functions and calls).
    pub(super) fn find_makers(&mut self) {
        let definitions = self.only_definitions();
        let callers = callers(&self.survey.effects);
        let calls_constructor = |name: &str| {
            let calls = self.survey.effects.get(name).map(|effects| &effects.calls);
            calls.is_some_and(|calls| {
                calls
                    .iter()
                    .any(|call| find_class(self.survey.original(call)).is_some())
            })
        };
        let mut makers: BTreeMap<&'a str, Vec<Maker<'a>>> = BTreeMap::new();
        let mut open: Vec<&'a str> = Vec::new();
        for (name, definitions) in &definitions {
            let calls_constructor = calls_constructor(name);
            let configures = |maker: &&Maker<'a>| {
                calls_constructor || self.source.slice(maker.function.range()).contains("parameter_map")
            };
            let own: Vec<Maker<'a>> = definitions.iter().filter(configures).copied().collect();
            if !own.is_empty() {
                makers.insert(name, own);
                open.push(name);
            }
        }
        self.survey.setters = setters(&self.definitions, &callers, self.source);
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            for caller in callers.get(name).into_iter().flatten() {
                if let Some(definitions) = definitions.get(caller)
                    && seen.insert(*caller)
                {
                    makers.insert(caller, definitions.clone());
                    open.push(caller);
                }
            }
        }
        self.survey.makers = makers;
        // Methods of one name share their calls.
        let mut known: BTreeMap<(&str, bool), bool> = BTreeMap::new();
        let varied = self.survey.makers.values().flatten().filter(|maker| {
            let shared = (maker.function.name.as_str(), maker.class.is_some());
            let is_varied = || is_varied(self.survey.calls_of(**maker), self.source);
            *known.entry(shared).or_insert_with(is_varied)
        });
        self.survey.varied = varied.map(|maker| maker.function.start()).collect();
    }

    /// By name the functions and methods that are defined once and no generators.
    fn only_definitions(&self) -> BTreeMap<&'a str, Vec<Maker<'a>>> {
        let of_name = |(name, definitions): (&&'a str, &Vec<Maker<'a>>)| {
            let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
            for one in definitions {
                *counts.entry(one.class).or_default() += 1;
            }
            let is_only = |one: &&Maker<'a>| {
                one.is_plain()
                    && counts.get(&one.class) == Some(&1)
                    && !self.source.slice(one.function.range()).contains("yield")
            };
            let only: Vec<Maker<'a>> = definitions.iter().filter(is_only).copied().collect();
            (!only.is_empty()).then_some((*name, only))
        };
        self.definitions.iter().filter_map(of_name).collect()
    }
}

/// Whether the calls of a function pass different values, or one that is no literal.
fn is_varied(calls: &[&ExprCall], source: &Source<'_>) -> bool {
    let distinct: BTreeSet<&str> = calls.iter().map(|call| source.slice(call.arguments.range())).collect();
    let is_literal = |value: &Expr| value.is_literal_expr() || value.is_unary_op_expr();
    let has_names = calls.iter().any(|call| {
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        !call.arguments.args.iter().chain(keywords).all(is_literal)
    });
    distinct.len() > 1 || has_names
}
