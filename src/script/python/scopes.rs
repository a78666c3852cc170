//! Bindings of names along the flow of the script.
//!
//! Invariant: the first layer is the module's and is never removed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::changes::CHANGED;
use super::datum::{Datum, Fact, Field, Fields, MAX_ITEMS};

#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) fact: Fact,
    /// The line of the assignment, from 1.
    pub(super) line: usize,
}

/// Names bound in one branch, function, class or module; attributes have dotted names.
pub(super) type Layer = BTreeMap<String, Rc<Binding>>;

/// The innermost layer is the last.
#[derive(Debug)]
pub(super) struct Scopes {
    layers: Vec<Layer>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self {
            layers: vec![Layer::new()],
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Rc<Binding>> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// The binding in the module.
    pub(super) fn get_in_module(&self, name: &str) -> Option<&Rc<Binding>> {
        self.layers.first().and_then(|layer| layer.get(name))
    }

    /// Binds a name; attributes of its former object become unknown.
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

    /// Binds a name of the module in a function, which may run at any time.
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

    /// Leaves the inner scopes for that of the module.
    pub(super) fn leave(&mut self) -> Vec<Layer> {
        self.layers.split_off(1)
    }

    /// Returns to the scopes that were left.
    pub(super) fn back(&mut self, layers: Vec<Layer>) {
        self.layers.truncate(1);
        self.layers.extend(layers);
    }

    pub(super) fn open(&mut self) {
        self.layers.push(Layer::new());
    }

    pub(super) fn take(&mut self, layer: Layer) {
        if let Some(top) = self.layers.last_mut() {
            top.extend(layer);
        }
    }

    /// Removes the innermost layer.
    pub(super) fn close(&mut self) -> Layer {
        if self.layers.len() > 1 {
            self.layers.pop().unwrap_or_default()
        } else {
            Layer::new()
        }
    }

    /// Joins branches of which one was taken, or with `falls_through` perhaps none.
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
                Some(other) if let Some(dict) = joined_dicts(&ends) => Rc::new(Binding {
                    fact: Fact::plain(Datum::Dict(dict)),
                    line: first.line.max(other.line),
                }),
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

/// The entries of dictionaries of which one was taken. Entries that some of them lack or that differ have the conditions around their
/// changes. `None` where one is no dictionary.
fn joined_dicts(ends: &[Rc<Binding>]) -> Option<Rc<Fields>> {
    let dicts: Option<Vec<&Rc<Fields>>> = ends
        .iter()
        .map(|end| match &end.fact.datum {
            Datum::Dict(dict) => Some(dict),
            _ => None,
        })
        .collect();
    let dicts = dicts?;
    let mut joined = Fields::default();
    for dict in &dicts {
        joined.is_partial |= dict.is_partial;
        for field in &dict.fields {
            let is_known = |other: &Field| other.name == field.name && other.fact == field.fact;
            if !joined.fields.iter().any(is_known) {
                joined.fields.push(field.clone());
            }
        }
    }
    // Without a condition of its change, an entry is known only where all have the same.
    let is_certain = |field: &Field| field.is_certain(&[]);
    let n_certain = |name: &str| {
        joined
            .fields
            .iter()
            .filter(|field| field.name == name && is_certain(field))
            .count()
    };
    let is_in_all = |name: &str| dicts.iter().all(|dict| dict.get(name).is_some());
    let unknown: Vec<bool> = joined
        .fields
        .iter()
        .map(|field| is_certain(field) && (n_certain(&field.name) > 1 || !is_in_all(&field.name)))
        .collect();
    for (field, is_unknown) in joined.fields.iter_mut().zip(unknown) {
        if is_unknown && !matches!(field.fact.datum, Datum::Unknown(_)) {
            field.fact = Fact::unknown("has different values in branches of the script");
        }
    }
    // The better reason comes last.
    joined
        .fields
        .sort_by_key(|field| (field.range.start(), is_changed(&field.fact)));
    joined.is_partial |= joined.fields.len() > MAX_ITEMS;
    joined.fields.truncate(MAX_ITEMS);
    Some(Rc::new(joined))
}

fn is_changed(fact: &Fact) -> bool {
    matches!(&fact.datum, Datum::Unknown(why) if why.starts_with(CHANGED))
}

/// The value of a name that two lines bind to different values.
fn differing(a: usize, b: usize) -> Fact {
    let (first, second) = (a.min(b), a.max(b));
    Fact::unknown(&format!("has one value in line {first} and another in line {second}"))
}
