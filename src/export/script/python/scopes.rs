//! Names and what they are bound to, along the flow of the script.
//!
//! Invariant: the lowest layer is the module's and is never taken away.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::datum::Fact;

/// What a name is bound to, and where.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// What it is.
    pub(super) fact: Fact,
    /// The line of the assignment, from 1.
    pub(super) line: usize,
}

/// Names bound in one branch, function, class or module. Attributes stand under their dotted names.
pub(super) type Layer = BTreeMap<String, Rc<Binding>>;

/// All layers that are in sight, the innermost last.
#[derive(Debug)]
pub(super) struct Scopes {
    layers: Vec<Layer>,
}

impl Scopes {
    /// The module's layer alone.
    pub(super) fn new() -> Self {
        Self {
            layers: vec![Layer::new()],
        }
    }

    /// What a name is bound to.
    pub(super) fn get(&self, name: &str) -> Option<&Rc<Binding>> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// What a name is bound to in the module itself.
    pub(super) fn get_in_module(&self, name: &str) -> Option<&Rc<Binding>> {
        self.layers.first().and_then(|layer| layer.get(name))
    }

    /// Binds a name; what was known about attributes of its former object is forgotten.
    pub(super) fn bind(&mut self, name: &str, fact: Fact, line: usize) {
        let prefix = format!("{name}.");
        let attributes: BTreeSet<String> = self
            .layers
            .iter()
            .flat_map(|layer| {
                layer
                    .range(prefix.clone()..)
                    .take_while(|(key, _)| key.starts_with(&prefix))
            })
            .map(|(key, _)| key.clone())
            .collect();
        let forgotten = Rc::new(Binding {
            fact: Fact::unknown("belongs to another object"),
            line,
        });
        if let Some(top) = self.layers.last_mut() {
            for attribute in attributes {
                top.insert(attribute, Rc::clone(&forgotten));
            }
            top.insert(name.to_owned(), Rc::new(Binding { fact, line }));
        }
    }

    /// A function has bound a name of the module, at some time or other.
    pub(super) fn bind_global(&mut self, name: &str, fact: &Fact, line: usize) {
        let Some(module) = self.layers.first_mut() else {
            return;
        };
        let fact = match module.get(name) {
            Some(before) if before.fact.datum != fact.datum => differing(before.line, line),
            _ => fact.clone(),
        };
        module.insert(name.to_owned(), Rc::new(Binding { fact, line }));
    }

    /// Opens a layer.
    pub(super) fn open(&mut self) {
        self.layers.push(Layer::new());
    }

    /// Binds everything of a layer in the innermost one.
    pub(super) fn take(&mut self, layer: Layer) {
        if let Some(top) = self.layers.last_mut() {
            top.extend(layer);
        }
    }

    /// Closes the innermost layer and hands it back.
    pub(super) fn close(&mut self) -> Layer {
        if self.layers.len() > 1 {
            self.layers.pop().unwrap_or_default()
        } else {
            Layer::new()
        }
    }

    /// Goes on behind branches of which one was taken. `falls_through` says that perhaps none was.
    pub(super) fn merge(&mut self, branches: &[Layer], falls_through: bool) {
        let names: BTreeSet<&String> = branches.iter().flat_map(BTreeMap::keys).collect();
        for name in names {
            let before = self.get(name).cloned();
            let mut ends: Vec<Rc<Binding>> = branches
                .iter()
                .filter_map(|branch| branch.get(name).or(before.as_ref()))
                .cloned()
                .collect();
            if falls_through {
                ends.extend(before);
            }
            let Some(first) = ends.first() else {
                continue;
            };
            let joined = match ends.iter().find(|end| end.fact.datum != first.fact.datum) {
                None => Rc::clone(first),
                Some(other) => Rc::new(Binding {
                    fact: differing(first.line, other.line),
                    line: first.line.max(other.line),
                }),
            };
            if let Some(top) = self.layers.last_mut() {
                top.insert(name.clone(), joined);
            }
        }
    }
}

/// What a name stands for that two lines bind to different things.
fn differing(a: usize, b: usize) -> Fact {
    let (first, second) = (a.min(b), a.max(b));
    Fact::unknown(&format!("has one value in line {first} and another in line {second}"))
}
