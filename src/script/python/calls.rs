//! Calls with a known result: conversions of literals, constructors, and a few functions of Python's library.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::{Group, Value};

use super::arithmetic::{Outcome, float_of, int_of};
use super::arms::Path;
use super::changes::CHANGED;
use super::constructors::{find_class, n_others_in_front};
use super::datum::{Datum, Fact, Field, Fields, Instance, MAX_ITEMS, MAX_TEXT, Object, set_of};
use super::evaluate::Depth;
use super::folding::{datum_of_json, formatted, joined, json_text, length, text_of};
use super::paths::SAME_PATH;
use super::reader::Reader;

/// The largest number of items of a followed `range`.
const MAX_RANGE: usize = 256;

impl<'a> Reader<'a> {
    pub(super) fn call(&self, expr: &'a Expr, call: &'a ExprCall, look: Depth) -> Fact {
        let Some(name) = self.survey.last_name(&call.func) else {
            return self.computed(expr);
        };
        if let Some(group) = self.constructor(call) {
            return Fact::plain(Datum::Object(Rc::new(self.object(group, call, look)))).held();
        }
        if let Some(message) = self.message_of_call(name, call, look) {
            return message;
        }
        if let Some(path) = self.path_of_call(expr, name, call, look) {
            return path;
        }
        let first = call.arguments.args.first();
        match (name, first) {
            ("global_options", None) => Fact::plain(Datum::GlobalOptions("".into())),
            ("as_bytes" | "as_str" | "as_text" | "as_str_any", Some(text)) => self.look(text, look),
            ("bytes", Some(text)) => self.converted(expr, text, look, |value| value.as_text().map(Value::from)),
            ("str", Some(value)) => self.converted(expr, value, look, |value| text_of(value).map(Value::Text)),
            ("dumps", Some(value)) if call.arguments.keywords.is_empty() => self.json_text(expr, value, look),
            ("loads", Some(text)) => match self.json_value(text) {
                Datum::Unknown(_) => self.computed(expr),
                known => Fact::plain(known).held(),
            },
            ("int", Some(value)) => self.converted(expr, value, look, int_of),
            ("float", Some(value)) => self.converted(expr, value, look, float_of),
            ("len", Some(value)) => {
                let fact = self.look(value, look);
                let outcome = Outcome::from(length(&fact.datum));
                self.outcome(expr, outcome, &[&fact])
            }
            ("encode", Some(text)) if self.source.slice(call.func.range()) == "str.encode" => self.look(text, look),
            ("bool", Some(value)) => {
                let fact = self.look(value, look);
                match fact.truth() {
                    Some(is_true) => Fact::value(is_true).with_note(fact.note.as_ref()),
                    None => self.computed(expr),
                }
            }
            ("list" | "frozenset", Some(items)) => self.listed(expr, items, look, Value::List),
            ("set", Some(items)) => self.listed(expr, items, look, set_of),
            ("tuple", Some(items)) => self.listed(expr, items, look, Value::Tuple),
            ("list" | "set" | "frozenset", None) => Fact::value(Value::List(Vec::new())),
            ("tuple", None) => Fact::value(Value::Tuple(Vec::new())),
            ("dict", _) => Fact::plain(Datum::Dict(Rc::new(self.dict_of(call, look)))).held(),
            ("range", Some(_)) if call.arguments.keywords.is_empty() => self.range(expr, call, look),
            ("enumerate", Some(items)) if call.arguments.len() == 1 => {
                let items = self.look(items, look);
                let numbered = Self::facts_of(&items).map(|facts| {
                    let pair =
                        |(at, fact): (usize, Fact)| vec![Fact::value(i64::try_from(at).unwrap_or(i64::MAX)), fact];
                    facts.into_iter().enumerate().map(pair).collect()
                });
                self.list_of_tuples(expr, numbered)
            }
            ("zip", Some(_)) if call.arguments.keywords.is_empty() => {
                let lists: Option<Vec<Vec<Fact>>> = call
                    .arguments
                    .args
                    .iter()
                    .map(|list| Self::facts_of(&self.look(list, look)))
                    .collect();
                let zipped = lists.map(|lists| {
                    let n_tuples = lists.iter().map(Vec::len).min().unwrap_or(0);
                    let tuple = |at: usize| lists.iter().map(|list| list[at].clone()).collect();
                    (0..n_tuples).map(tuple).collect()
                });
                self.list_of_tuples(expr, zipped)
            }
            ("isinstance", Some(value)) => self.is_instance(expr, value, call, look),
            ("sorted", Some(items)) if call.arguments.keywords.is_empty() => self.sorted_names(expr, items, look),
            ("getattr", Some(object)) => self.named_attribute(expr, object, call, look),
            ("vars", Some(object)) if matches!(self.look(object, look).datum, Datum::Unknown(_)) => {
                Fact::plain(Datum::Flags)
            }
            ("flag_values_dict", None) => Fact::plain(Datum::Flags),
            ("getenv", Some(name)) => self.environment_variable(expr, name, call, look),
            (name, _) if self.survey.classes.contains(name) => {
                let instance = Instance {
                    class: name.to_owned(),
                    fields: self.arguments(&[], 0, call, look),
                    changed: None,
                };
                Fact::plain(Datum::Instance(Rc::new(instance))).held()
            }
            _ => self.method(expr, name, call, look),
        }
    }

    /// The class of a constructor call. A class of the script with the same name is another class.
    pub(super) fn constructor(&self, call: &ExprCall) -> Option<&'static Group> {
        let name = self.survey.last_name(&call.func)?;
        if name == "__init__"
            && let Expr::Attribute(method) = &*call.func
            && let Expr::Call(parent) = &*method.value
            && self.survey.last_name(&parent.func) == Some("super")
        {
            return self.survey.children.get(self.classes.last()?).copied();
        }
        find_class(name).filter(|_| !self.survey.classes.contains(name))
    }

    pub(super) fn object(&self, group: &'static Group, call: &'a ExprCall, look: Depth) -> Object {
        Object {
            group,
            range: call.range(),
            round: self.round,
            fields: self.arguments(group.positional, n_others_in_front(group), call, look),
        }
    }

    /// Arguments by name without the first `n_skipped`.
    pub(super) fn arguments(&self, positional: &[&str], n_skipped: usize, call: &'a ExprCall, look: Depth) -> Fields {
        let mut fields = Fields::default();
        for (position, argument) in call.arguments.args.iter().enumerate().skip(n_skipped) {
            if argument.is_starred_expr() {
                fields.is_partial = true;
                break;
            }
            // `...` is how documents leave arguments out.
            if argument.is_ellipsis_literal_expr() {
                continue;
            }
            match positional.get(position - n_skipped) {
                Some(name) => fields.fields.push(Field {
                    name: (*name).to_owned(),
                    fact: self.look(argument, look).held(),
                    range: argument.range(),
                    path: Path::new(),
                }),
                None => self.take_dict(argument, look, &mut fields),
            }
        }
        for keyword in call.arguments.keywords.iter().take(MAX_ITEMS) {
            match &keyword.arg {
                Some(name) if n_skipped > 0 && name.as_str() == "input_program" => {}
                Some(name) => fields.fields.push(Field {
                    name: name.to_string(),
                    fact: self.look(&keyword.value, look).held(),
                    range: keyword.value.range(),
                    path: Path::new(),
                }),
                None => self.take_dict(&keyword.value, look, &mut fields),
            }
        }
        fields
    }

    /// `dict(...)`: of a dictionary or of pairs, and of named arguments.
    fn dict_of(&self, call: &'a ExprCall, look: Depth) -> Fields {
        let [pairs] = &*call.arguments.args else {
            return self.arguments(&[], 0, call, look);
        };
        match Self::fields_of_pairs(&self.look(pairs, look), pairs.range()) {
            Some(mut fields) => {
                let named = self.arguments(&[], 1, call, look);
                fields.fields.extend(named.fields);
                fields.is_partial |= named.is_partial;
                fields
            }
            None => self.arguments(&[], 0, call, look),
        }
    }

    /// The entries of a list of pairs with texts as keys.
    pub(super) fn fields_of_pairs(pairs: &Fact, range: TextRange) -> Option<Fields> {
        let mut fields = Fields::default();
        for pair in Self::facts_of(pairs)? {
            let [key, value] = &Self::facts_of(&pair)?[..] else {
                return None;
            };
            fields.fields.push(Field {
                name: key.as_value()?.as_text()?.to_owned(),
                fact: value.clone().held(),
                range,
                path: Path::new(),
            });
        }
        Some(fields)
    }

    /// `list(...)` or `tuple(...)` of known items.
    fn listed(&self, expr: &Expr, items: &'a Expr, look: Depth, wrap: fn(Vec<Value>) -> Value) -> Fact {
        let fact = self.look(items, look);
        match Self::facts_of(&fact) {
            Some(facts) => self.list_of(expr, facts, wrap).with_note(fact.note.as_ref()),
            None => self.computed_from(expr, &[&fact]),
        }
    }

    /// The items of a list or tuple.
    pub(super) fn facts_of(list: &Fact) -> Option<Vec<Fact>> {
        match &list.datum {
            Datum::Items(items) => Some(items.to_vec()),
            Datum::Value(value) => {
                let fact = |item: &Value| Fact::value(item.clone()).with_note(list.note.as_ref());
                Some(value.items()?.iter().map(fact).collect())
            }
            _ => None,
        }
    }

    fn list_of_tuples(&self, expr: &Expr, tuples: Option<Vec<Vec<Fact>>>) -> Fact {
        let Some(tuples) = tuples else {
            return self.computed(expr);
        };
        let tuples = tuples.into_iter().map(|tuple| self.list_of(expr, tuple, Value::Tuple));
        self.list_of(expr, tuples.collect(), Value::List)
    }

    /// `range(...)` of a few numbers.
    fn range(&self, expr: &Expr, call: &'a ExprCall, look: Depth) -> Fact {
        let facts: Vec<Fact> = call.arguments.args.iter().map(|bound| self.look(bound, look)).collect();
        let bounds: Option<Vec<i64>> = facts.iter().map(|fact| fact.as_value()?.as_int()).collect();
        let (from, to, step) = match bounds.as_deref() {
            Some([to]) => (0, *to, 1),
            Some([from, to]) => (*from, *to, 1),
            Some([from, to, step]) if *step != 0 => (*from, *to, *step),
            _ => return self.computed(expr),
        };
        let mut numbers = Vec::new();
        let mut next = Some(from);
        while let Some(number) = next.filter(|number| if step > 0 { *number < to } else { *number > to }) {
            if numbers.len() >= MAX_RANGE {
                return self.computed(expr);
            }
            numbers.push(Value::Int(number));
            next = number.checked_add(step);
        }
        let note = facts.iter().find_map(|fact| fact.note.as_ref());
        Fact::value(Value::List(numbers)).with_note(note)
    }

    fn take_dict(&self, expr: &'a Expr, look: Depth, fields: &mut Fields) {
        match self.look(expr, look).datum {
            Datum::Dict(dict) => {
                // An entry that may have changed is no longer the expression in the dictionary.
                fields.fields.extend(dict.fields.iter().cloned().map(|mut field| {
                    if matches!(&field.fact.datum, Datum::Unknown(why) if why.starts_with(CHANGED)) {
                        field.range = expr.range();
                    }
                    field
                }));
                fields.is_partial |= dict.is_partial;
            }
            _ => fields.is_partial = true,
        }
        fields.is_partial |= fields.fields.len() > MAX_ITEMS;
        fields.fields.truncate(MAX_ITEMS);
    }

    fn converted(&self, expr: &Expr, of: &'a Expr, look: Depth, convert: fn(&Value) -> Option<Value>) -> Fact {
        let fact = self.look(of, look);
        let outcome = Outcome::from(fact.as_value().and_then(convert));
        self.outcome(expr, outcome, &[&fact])
    }

    fn environment_variable(&self, expr: &Expr, name: &'a Expr, call: &'a ExprCall, look: Depth) -> Fact {
        match self.look(name, look).datum {
            Datum::Value(Value::Text(name)) => {
                self.variable(&name, call.arguments.find_argument_value("default", 1), look)
            }
            _ => self.computed(expr),
        }
    }

    /// The value of a text of JSON, where the text is known.
    pub(super) fn json_value(&self, text: &'a Expr) -> Datum {
        let fact = self.evaluate(text);
        let json = fact
            .as_value()
            .and_then(Value::as_text)
            .and_then(|text| serde_json::from_str(text).ok());
        json.map_or_else(|| self.computed(text).datum, |json| datum_of_json(&json, text.range()))
    }

    /// `json.dumps(value)`, with the spaces that Python puts.
    fn json_text(&self, expr: &'a Expr, value: &'a Expr, look: Depth) -> Fact {
        let fact = self.look(value, look);
        let is_certain = !matches!(&fact.datum, Datum::Dict(dict) if !dict.is_certain(&self.path));
        match json_text(&fact.datum).filter(|_| is_certain) {
            Some(text) if text.len() <= MAX_TEXT => Fact::value(Value::Text(text)).with_note(fact.note.as_ref()),
            _ => self.computed_from(expr, &[&fact]),
        }
    }

    /// `isinstance(value, type)` of a literal and a type of Python.
    fn is_instance(&self, expr: &Expr, value: &'a Expr, call: &'a ExprCall, look: Depth) -> Fact {
        let fact = self.look(value, look);
        let class = call
            .arguments
            .args
            .get(1)
            .and_then(|class| self.survey.last_name(class));
        let is_one = match (fact.as_value(), class) {
            (Some(Value::Bool(_)), Some(class @ ("bool" | "int" | "float" | "str"))) => matches!(class, "bool" | "int"),
            (Some(Value::Int(_)), Some(class @ ("bool" | "int" | "float" | "str"))) => class == "int",
            (Some(Value::Float(_)), Some(class @ ("bool" | "int" | "float" | "str"))) => class == "float",
            (Some(Value::Text(_)), Some(class @ ("bool" | "int" | "float" | "str"))) => class == "str",
            _ => return self.computed(expr),
        };
        Fact::value(is_one).with_note(fact.note.as_ref())
    }

    /// `sorted(dict)`: its keys in order.
    fn sorted_names(&self, expr: &Expr, items: &'a Expr, look: Depth) -> Fact {
        match self.look(items, look).datum {
            Datum::Dict(dict) if !dict.is_partial => {
                let names: std::collections::BTreeSet<&str> =
                    dict.fields.iter().map(|field| field.name.as_str()).collect();
                Fact::value(Value::List(names.into_iter().map(Value::from).collect()))
            }
            _ => self.computed(expr),
        }
    }

    /// The default of `settings.get("name", default)` or `getattr(settings, "name", default)`.
    fn assumed_of(&self, expr: &Expr, default: &'a Expr, look: Depth) -> Fact {
        self.assumed(default, &format!("of {}", self.source.shown(expr.range())), look)
    }

    /// `getattr(object, "name", default)`: a flag or an attribute of that name, else the default.
    fn named_attribute(&self, expr: &'a Expr, object: &'a Expr, call: &'a ExprCall, look: Depth) -> Fact {
        let name = call.arguments.args.get(1).map(|name| self.look(name, look).datum);
        let Some(Datum::Value(Value::Text(name))) = name else {
            return self.computed(expr);
        };
        let attribute = self.attribute_of(expr, object, &name, look);
        match (&attribute.datum, call.arguments.args.get(2)) {
            (Datum::Unknown(_), Some(default)) if !self.survey.flags.contains_key(&name) => {
                self.assumed_of(expr, default, look)
            }
            _ => attribute,
        }
    }

    /// A method of a text, a dictionary or the environment.
    fn method(&self, expr: &'a Expr, name: &str, call: &'a ExprCall, look: Depth) -> Fact {
        let Expr::Attribute(callee) = &*call.func else {
            return self.computed(expr);
        };
        let owner = self.look(&callee.value, look);
        let first = call.arguments.args.first();
        match (&owner.datum, name, first) {
            // The walk reports what is replaced.
            (Datum::Value(Value::Text(_)), "encode" | "decode", _) | (Datum::Object(_), "replace", _) => owner,
            (Datum::Value(Value::Text(_)), name, None) if SAME_PATH.contains(&name) => owner,
            (Datum::Value(Value::Text(text)), "strip", None) => Fact::value(text.trim()).with_note(owner.note.as_ref()),
            (Datum::Value(Value::Text(text)), "lower", None) => {
                Fact::value(Value::Text(text.to_lowercase())).with_note(owner.note.as_ref())
            }
            (Datum::Value(Value::Text(text)), "upper", None) => {
                Fact::value(Value::Text(text.to_uppercase())).with_note(owner.note.as_ref())
            }
            (Datum::Value(Value::Text(separator)), "join", Some(items)) => {
                let items = self.look(items, look);
                let outcome = Outcome::from(joined(separator, &items.datum));
                self.outcome(expr, outcome, &[&items])
            }
            (Datum::Value(Value::Text(template)), "format", _) => {
                let fields = self.arguments(&[], 0, call, look);
                let positional: Vec<Fact> = call.arguments.args.iter().map(|value| self.look(value, look)).collect();
                let outcome = Outcome::from(formatted(template, &positional, &fields).map(Value::Text));
                let operands: Vec<&Fact> = positional.iter().collect();
                self.outcome(expr, outcome, &operands)
            }
            (Datum::Environ, "get" | "setdefault", Some(name)) => self.environment_variable(expr, name, call, look),
            (Datum::ParameterMap(optimizer), "get_or_create", Some(key)) => match self.look(key, look).as_value() {
                Some(Value::Text(name)) => self.entry(&callee.value, optimizer.as_ref(), name),
                _ => self.computed(expr),
            },
            (Datum::Flags, "get", Some(key)) => match self.look(key, look).as_value() {
                Some(Value::Text(name)) if self.survey.flags.contains_key(name) => self.flag(expr, name, look),
                _ => match call.arguments.args.get(1) {
                    Some(default) => self.assumed_of(expr, default, look),
                    None => self.computed(expr),
                },
            },
            (Datum::Dict(dict), "get", Some(key)) => match self.look(key, look).as_value() {
                Some(Value::Text(key)) => match (dict.entry(key), call.arguments.args.get(1)) {
                    (Some(field), _) if !field.is_certain(&self.path) => self.computed(expr),
                    (Some(field), _) => field.fact.clone(),
                    (None, Some(default)) if !dict.is_partial => self.look(default, look),
                    (None, Some(default)) => self.assumed_of(expr, default, look),
                    (None, None) => self.computed(expr),
                },
                _ => self.computed(expr),
            },
            (Datum::Unknown(_), "get" | "pop", Some(_)) => match call.arguments.args.get(1) {
                Some(default) => self.assumed_of(expr, default, look),
                None => self.computed(expr),
            },
            _ => self.computed(expr),
        }
    }
}
