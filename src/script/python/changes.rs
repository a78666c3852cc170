//! Dictionaries, lists and objects that change after the line that makes them.
//!
//! Changes by literals are followed. Every other possible change makes the value unknown, with the line, because a stale value is worse
//! than none.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::Value;

use super::constructors::RUN_CONFIG;
use super::datum::{Datum, Fact, Fields, Instance, MAX_ITEMS, Object};
use super::evaluate::Depth;
use super::reader::Reader;

/// The start of the reason of a value that may have changed.
pub(super) const CHANGED: &str = "may be changed in line";

/// Functions that change none of their arguments, unless the script declares one of the same name.
const PURE: &[&str] = &[
    "all",
    "any",
    "append",
    "bool",
    "copy",
    "debug",
    "deepcopy",
    "dict",
    "dumps",
    "enumerate",
    "error",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "info",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "join",
    "len",
    "list",
    "log",
    "map",
    "max",
    "min",
    "pprint",
    "print",
    "range",
    "repr",
    "reversed",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "vars",
    "warning",
    "zip",
];

/// Methods that do not change their object.
const READING: &[&str] = &["copy", "count", "get", "index", "items", "keys", "values"];

pub(super) fn is_pure(name: &str) -> bool {
    PURE.contains(&name)
}

pub(super) fn is_reading(name: &str) -> bool {
    READING.contains(&name)
}

/// The name or dotted name of an expression.
pub(super) fn path_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => match &*attribute.value {
            Expr::Name(owner) => Some(format!("{}.{}", owner.id, attribute.attr)),
            _ => None,
        },
        _ => None,
    }
}

/// The same fields with unknown values.
fn forgotten(fields: &Fields, why: &str) -> Fields {
    let mut fields = fields.clone();
    fields.is_partial = true;
    for field in &mut fields.fields {
        field.fact = Fact::unknown(why);
    }
    fields
}

impl<'a> Reader<'a> {
    /// The effects of a call: on its object, on its arguments, and on names that the function changes.
    pub(super) fn changes_of_call(&mut self, call: &'a ExprCall) {
        let name = self.survey.last_name(&call.func).unwrap_or("").to_owned();
        if let Expr::Attribute(method) = &*call.func {
            self.changes_of_method(&method.value, &name, call);
        }
        for (changed, line) in &*self.survey.changes_by(&name) {
            if self.scopes.get(changed).is_some() {
                let why = format!("{CHANGED} {line} (by {name}())");
                self.forget(changed, &why, call.range());
            }
        }
        let is_pure = is_pure(&name) && !self.survey.functions.contains_key(name.as_str());
        if is_pure || self.constructor(call).is_some() || self.survey.classes.contains(name.as_str()) {
            return;
        }
        let arguments = call.arguments.args.iter();
        let keywords = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_some());
        for argument in arguments.chain(keywords.map(|keyword| &keyword.value)) {
            if name == "setattr" {
                self.remark_on_change(argument, call.range());
            }
            let mut paths = BTreeSet::new();
            self.shared_by(argument, &mut paths);
            for path in paths {
                self.unfollowed(&path, call.range());
            }
        }
    }

    /// Warns about a change of a configuration that is not followed.
    fn remark_on_change(&mut self, target: &'a Expr, range: TextRange) {
        let is_entry = matches!(target, Expr::Subscript(entry)
            if matches!(self.evaluate(&entry.value).datum, Datum::ParameterMap(_)));
        let is_configuration = match self.evaluate(target).datum {
            Datum::Object(object) => object.group.class == RUN_CONFIG.class,
            Datum::GlobalOptions(_) => true,
            _ => is_entry,
        };
        if is_configuration {
            let shown = self.source.shown(range);
            let message = format!("{shown} changes a configuration in a way that is not followed; set it by hand");
            self.records.warn(self.source.line(range.start()), message);
        }
    }

    fn changes_of_method(&mut self, owner: &'a Expr, name: &str, call: &'a ExprCall) {
        if matches!(name, "replace" | "CopyFrom" | "MergeFrom") {
            self.remark_on_change(owner, call.range());
        }
        if is_reading(name) || name == "replace" {
            return;
        }
        let Some(path) = self.root(owner) else {
            return;
        };
        let changed = if path_of(owner).as_ref() == Some(&path) {
            self.after_method(owner, name, call)
        } else {
            None
        };
        match changed {
            Some(fact) => {
                if let (Datum::Items(items), Some(value)) = (&fact.datum, call.arguments.args.first()) {
                    self.share(&path, value);
                    self.name_items(&path, items, true);
                }
                self.followed(&path, fact, call.range());
            }
            None => self.unfollowed(&path, call.range()),
        }
    }

    /// A dictionary or list after a method, where that is followed.
    fn after_method(&self, owner: &'a Expr, name: &str, call: &'a ExprCall) -> Option<Fact> {
        let before = self.evaluate(owner);
        let first = call.arguments.args.first();
        let text = || match self.evaluate(first?).datum {
            Datum::Value(Value::Text(text)) => Some(text),
            _ => None,
        };
        match (&before.datum, name) {
            (Datum::Dict(dict), "update") => {
                let mut new = self.arguments(&[], 0, call, Depth::default());
                for field in &mut new.fields {
                    field.path.clone_from(&self.path);
                }
                Some(Fact::plain(Datum::Dict(Rc::new(merged(dict, &new)))))
            }
            (Datum::Dict(_), "clear") => Some(Fact::plain(Datum::Dict(Rc::default()))),
            (Datum::Dict(dict), "pop") => Some(without(dict, &text()?)),
            (Datum::Dict(dict), "setdefault") => {
                let name = text()?;
                let is_there = dict.fields.iter().any(|field| field.name == name);
                if is_there {
                    return Some(before.clone());
                }
                let value = call.arguments.args.get(1).filter(|_| !dict.is_partial)?;
                let mut fields = Fields::clone(dict);
                fields.fields.push(super::datum::Field {
                    name,
                    fact: self.evaluate(value).held(),
                    range: value.range(),
                    path: self.path.clone(),
                });
                Some(Fact::plain(Datum::Dict(Rc::new(fields))))
            }
            (Datum::Items(_) | Datum::Value(Value::List(_)), "append" | "extend")
                if Self::has_objects(&before) || Self::has_objects(&self.evaluate(first?)) =>
            {
                let mut facts = Self::facts_of(&before)?;
                let value = self.evaluate(first?);
                match name {
                    "append" => facts.push(value),
                    _ => facts.extend(Self::facts_of(&value)?),
                }
                (facts.len() <= MAX_ITEMS).then(|| self.list_of(owner, facts, Value::List))
            }
            (Datum::Value(Value::List(items)), "append" | "extend" | "remove") => {
                let value = self.evaluate(first?);
                let value = value.as_value()?;
                let mut items = items.clone();
                match name {
                    "append" => items.push(value.clone()),
                    "extend" => items.extend(value.items()?.iter().cloned()),
                    _ => {
                        let at = items.iter().position(|item| item == value)?;
                        items.remove(at);
                    }
                }
                (items.len() <= MAX_ITEMS).then(|| Fact::value(Value::List(items)).held())
            }
            _ => None,
        }
    }

    const fn has_objects(fact: &Fact) -> bool {
        matches!(
            fact.datum,
            Datum::Items(_) | Datum::Object(_) | Datum::Message(_) | Datum::Dict(_)
        )
    }

    /// `del d["name"]`.
    pub(super) fn delete_item(&mut self, owner: &'a Expr, key: &'a Expr, range: TextRange) {
        if let Datum::ParameterMap(Some(optimizer)) = self.evaluate(owner).datum {
            return self.delete_parameter(&optimizer, key);
        }
        let Some(path) = self.root(owner) else {
            return;
        };
        match (self.evaluate(owner).datum, self.evaluate(key).datum) {
            (Datum::Dict(dict), Datum::Value(Value::Text(name))) if path_of(owner).as_ref() == Some(&path) => {
                self.followed(&path, without(&dict, &name), range);
            }
            _ => self.unfollowed(&path, range),
        }
    }

    /// Whether the value of an expression may change in place.
    fn is_mutable(&self, expr: &'a Expr) -> bool {
        matches!(
            self.evaluate(expr).datum,
            Datum::Dict(_)
                | Datum::Items(_)
                | Datum::Value(Value::List(_) | Value::Set(_))
                | Datum::Object(_)
                | Datum::Instance(_)
        )
    }

    /// The name of the mutable value that an expression is or is part of.
    pub(super) fn root(&self, mut expr: &'a Expr) -> Option<String> {
        loop {
            if let Some(path) = path_of(expr).filter(|_| self.is_mutable(expr)) {
                return Some(path);
            }
            expr = match expr {
                Expr::Subscript(subscript) => &subscript.value,
                Expr::Attribute(attribute) => &attribute.value,
                _ => return None,
            };
        }
    }

    /// The names of the mutable values that a value refers to.
    pub(super) fn shared_by(&self, expr: &'a Expr, paths: &mut BTreeSet<String>) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) if self.is_mutable(expr) => {
                paths.extend(self.root(expr));
            }
            Expr::List(list) => list.elts.iter().for_each(|item| self.shared_by(item, paths)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|item| self.shared_by(item, paths)),
            Expr::Dict(dict) => {
                let named = dict.items.iter().filter(|item| item.key.is_some());
                named.for_each(|item| self.shared_by(&item.value, paths));
            }
            Expr::If(choice) => {
                self.shared_by(&choice.body, paths);
                self.shared_by(&choice.orelse, paths);
            }
            Expr::BoolOp(operation) => operation.values.iter().for_each(|value| self.shared_by(value, paths)),
            Expr::Named(named) => self.shared_by(&named.value, paths),
            Expr::Call(call)
                if self
                    .survey
                    .classes
                    .contains(self.survey.last_name(&call.func).unwrap_or("")) =>
            {
                call.arguments
                    .args
                    .iter()
                    .for_each(|value| self.shared_by(value, paths));
                let keywords = call.arguments.keywords.iter();
                keywords.for_each(|keyword| self.shared_by(&keyword.value, paths));
            }
            _ => {}
        }
    }

    /// Records that a name shares mutable values with other names.
    pub(super) fn share(&mut self, name: &str, value: &'a Expr) {
        let mut paths = BTreeSet::new();
        self.shared_by(value, &mut paths);
        for path in paths {
            if path != name && self.shared.len() < MAX_ITEMS {
                self.shared.insert((path.clone(), name.to_owned()));
                self.shared.insert((name.to_owned(), path));
            }
        }
    }

    /// A followed change; names that share the value become unknown.
    pub(super) fn followed(&mut self, path: &str, fact: Fact, range: TextRange) {
        let why = self.why_changed(range);
        self.forget_sharers(path, &why, range);
        self.scopes.bind(path, fact, self.source.line(range.start()));
    }

    /// A change that is not followed.
    pub(super) fn unfollowed(&mut self, path: &str, range: TextRange) {
        let why = self.why_changed(range);
        self.unfollowed_because(path, &why, range);
    }

    pub(super) fn unfollowed_because(&mut self, path: &str, why: &str, range: TextRange) {
        self.forget_sharers(path, why, range);
        self.forget(path, why, range);
    }

    fn why_changed(&self, range: TextRange) -> String {
        let line = self.source.line(range.start());
        format!("{CHANGED} {line} ({})", self.source.shown(range))
    }

    fn forget_sharers(&mut self, path: &str, why: &str, range: TextRange) {
        let mut seen = BTreeSet::from([path.to_owned()]);
        let mut open = vec![path.to_owned()];
        while let Some(name) = open.pop() {
            let from = (name.clone(), String::new());
            let sharers = self.shared.range(from..).take_while(|(owner, _)| *owner == name);
            for (_, sharer) in sharers {
                if seen.insert(sharer.clone()) {
                    open.push(sharer.clone());
                }
            }
        }
        seen.remove(path);
        for sharer in seen {
            self.forget(&sharer, why, range);
        }
    }

    /// Makes the value of a name unknown.
    fn forget(&mut self, path: &str, why: &str, range: TextRange) {
        let line = self.source.line(range.start());
        let fact = match self.scopes.get(path).map(|binding| binding.fact.datum.clone()) {
            Some(Datum::Dict(dict)) => Fact::plain(Datum::Dict(Rc::new(forgotten(&dict, why)))),
            Some(Datum::Object(object)) => {
                let changed = Rc::new(Object {
                    fields: forgotten(&object.fields, why),
                    ..Object::clone(&object)
                });
                self.records.replace_object(&changed);
                Fact::plain(Datum::Object(changed))
            }
            // Its methods are still known.
            Some(Datum::Instance(instance)) => Fact::plain(Datum::Instance(Rc::new(Instance {
                changed: Some(why.into()),
                ..Instance::clone(&instance)
            }))),
            _ => Fact::unknown(why),
        };
        self.scopes.bind(path, fact, line);
    }
}

/// The entries of both; the later ones win.
pub(super) fn merged(old: &Fields, new: &Fields) -> Fields {
    let mut fields = old.clone();
    let is_new = |name: &str| new.fields.iter().any(|field| field.name == name);
    if new.is_partial {
        // An unreadable entry may replace any other.
        fields = forgotten(&fields, super::evaluate::COMPUTED);
    }
    fields.fields.retain(|field| !is_new(&field.name));
    fields.fields.extend(new.fields.iter().cloned());
    fields.is_partial |= new.is_partial || fields.fields.len() > MAX_ITEMS;
    fields.fields.truncate(MAX_ITEMS);
    fields
}

fn without(dict: &Rc<Fields>, name: &str) -> Fact {
    let mut fields = Fields::clone(dict);
    fields.fields.retain(|field| field.name != name);
    Fact::plain(Datum::Dict(Rc::new(fields)))
}
