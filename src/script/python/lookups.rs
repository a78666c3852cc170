//! Values of names, attributes and items: bindings, declarations of classes, flags, the environment.

use ruff_python_ast::{Expr, ExprAttribute, ExprName, ExprSubscript};
use ruff_text_size::Ranged as _;

use highwater_options::Value;

use super::arguments::Given;
use super::arithmetic::{float_of, int_of};
use super::changes::CHANGED;
use super::datum::{Datum, Fact, Instance};
use super::evaluate::{COMPUTED, Depth};
use super::paths::{folder_of, own_file};
use super::reader::Reader;
use super::survey::Need;

/// The longest dotted name of a group.
const MAX_GROUP: usize = 256;

/// The item at a position, from the end where that is negative.
fn item_at<T>(items: &[T], at: i64) -> Option<&T> {
    let number = usize::try_from(at.unsigned_abs()).ok()?;
    items.get(if at < 0 {
        items.len().checked_sub(number)?
    } else {
        number
    })
}

impl<'a> Reader<'a> {
    pub(super) fn name(&self, expr: &Expr, name: &ExprName, look: Depth) -> Fact {
        let name = name.id.as_str();
        let binding = if look.hops > 0 {
            self.scopes.get_in_module(name)
        } else {
            self.scopes.get(name)
        };
        match binding {
            Some(binding) => binding.fact.clone(),
            None if self.survey.original(name) == "environ" => Fact::plain(Datum::Environ),
            // The script is read as the main module.
            None if name == "__name__" => Fact::value("__main__"),
            None if name == "__file__" => match self.source.path {
                Some(path) => Fact::value(Value::Text(own_file(path))),
                None => self.computed(expr),
            },
            None => self.computed(expr),
        }
    }

    pub(super) fn attribute(&self, expr: &'a Expr, attribute: &'a ExprAttribute, look: Depth) -> Fact {
        self.attribute_of(expr, &attribute.value, attribute.attr.as_str(), look)
    }

    /// The attribute of an object by its name: `owner.name`, `getattr(owner, "name")`, `vars(owner)["name"]`.
    pub(super) fn attribute_of(&self, expr: &'a Expr, owner: &'a Expr, name: &str, look: Depth) -> Fact {
        let object = owner;
        if let Expr::Name(owner) = object {
            let owner = owner.id.as_str();
            if let Some(binding) = self.scopes.get(&format!("{owner}.{name}")).filter(|_| look.hops == 0) {
                return binding.fact.clone();
            }
            let class = match owner {
                "self" | "cls" => self.classes.last().copied().unwrap_or(owner),
                other => other,
            };
            if let Some(fact) = self.declared(expr, &format!("{class}.{name}"), look) {
                return fact;
            }
        }
        if name == "environ" {
            return Fact::plain(Datum::Environ);
        }
        if let Some(mode) = self.mindspore_mode(object, name) {
            return Fact::value(mode);
        }
        let owner = self.look(object, look).datum;
        if let Some(field) = self.message_field(expr, object, name, &owner) {
            return field;
        }
        match owner {
            Datum::Unknown(_) if name == "__dict__" => Fact::plain(Datum::Flags),
            // absl: `FLAGS["name"].value`.
            Datum::Unknown(_) if name == "value" && object.is_subscript_expr() => self.flag_item(expr, object, look),
            Datum::GlobalOptions(group) if group.is_empty() => Fact::plain(Datum::GlobalOptions(name.into())),
            Datum::GlobalOptions(group) if group.len() <= MAX_GROUP => {
                Fact::plain(Datum::GlobalOptions(format!("{group}.{name}").into()))
            }
            // The adapter's attributes have a leading underscore.
            Datum::Object(object) if object.fields.get(name.trim_start_matches('_')).is_some() => {
                let field = object.fields.get(name.trim_start_matches('_'));
                field.cloned().unwrap_or_else(|| self.computed(expr))
            }
            Datum::Instance(instance) => self.instance_attribute(expr, &instance, name, look),
            Datum::Unknown(why) if why.starts_with(CHANGED) => Fact::unknown(&why),
            Datum::Value(Value::Text(path)) if name == "parent" => Fact::value(Value::Text(folder_of(&path))),
            _ => self.flag(expr, name, look),
        }
    }

    /// An attribute of an object of the script's classes: an argument of its constructor, or a declaration of the class.
    fn instance_attribute(&self, expr: &Expr, instance: &Instance, name: &str, look: Depth) -> Fact {
        if let Some(why) = &instance.changed {
            return Fact::unknown(why);
        }
        let key = format!("{}.{name}", instance.class);
        let has_constructor = self.survey.constructors.contains(instance.class.as_str());
        let declarations = self.survey.attributes.get(&key).map_or(&[][..], Vec::as_slice);
        let is_passed_on =
            matches!(declarations, [only] if matches!(only.value, Expr::Name(value) if value.id.as_str() == name));
        let given = instance.fields.get(name);
        match given {
            Some(fact) if is_passed_on || !has_constructor => fact.clone(),
            None if instance.fields.is_partial && !has_constructor => {
                Fact::unknown(&format!("may come from the arguments of {}(...)", instance.class))
            }
            _ => self.declared(expr, &key, look).unwrap_or_else(|| self.computed(expr)),
        }
    }

    /// The value of an attribute with one assignment in the whole script.
    fn declared(&self, expr: &Expr, key: &str, look: Depth) -> Option<Fact> {
        match &self.survey.attributes.get(key)?[..] {
            [only] => {
                let fact = self.look(only.value, look.elsewhere());
                // The message names the expression here, not the one of the declaration.
                let is_computed = matches!(&fact.datum, Datum::Unknown(why) if why.starts_with(COMPUTED));
                Some(if is_computed { self.computed(expr) } else { fact })
            }
            [first, other, ..] => {
                let why = format!("is assigned more than once (lines {} and {})", first.line, other.line);
                Some(Fact::unknown(&why))
            }
            [] => Some(self.computed(expr)),
        }
    }

    /// The default of a flag of the command line.
    pub(super) fn flag(&self, expr: &Expr, name: &str, look: Depth) -> Fact {
        let Some(flag) = self.survey.flags.get(name) else {
            return self.computed(expr);
        };
        let line = flag.line;
        let shown = flag.shown(name);
        let fact = match (flag.default, flag.implied) {
            _ if let Some(given) = &flag.given => match given {
                Given::Switch => Fact::value(flag.implied == Some(false)),
                Given::Text(text) => Fact::value(text.as_str()),
            },
            _ if flag.need == Need::Required => {
                return Fact::unknown(&format!(
                    "comes from the flag {shown} of line {line}, which has no default"
                ));
            }
            (Some(default), _) => self.look(default, look.elsewhere()),
            (None, Some(implied)) => Fact::value(implied),
            (None, None) => Fact::value(Value::Unset),
        };
        let Datum::Value(value) = fact.datum else {
            return Fact::unknown(&format!(
                "comes from the flag {shown} of line {line}, whose default is computed"
            ));
        };
        let converted = match (flag.kind, &value) {
            (Some("int"), Value::Text(_)) => int_of(&value),
            (Some("float"), Value::Text(_)) => float_of(&value),
            _ => None,
        };
        let note = format!("takes the default of the flag {shown} of line {line}");
        Fact {
            datum: Datum::Value(converted.unwrap_or(value)),
            note: (!flag.is_final).then(|| note.into()),
        }
    }

    /// The flag of `FLAGS["name"]`.
    fn flag_item(&self, expr: &'a Expr, item: &'a Expr, look: Depth) -> Fact {
        let key = item.as_subscript_expr().map(|item| self.look(&item.slice, look));
        match key.as_ref().and_then(Fact::as_value) {
            Some(Value::Text(name)) => self.flag(expr, name, look),
            _ => self.computed(expr),
        }
    }

    /// The object of `vars(object)` or `object.__dict__`.
    fn namespace_of(expr: &Expr) -> Option<&Expr> {
        match expr {
            Expr::Call(call) => {
                let is_vars = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "vars");
                call.arguments.args.first().filter(|_| is_vars)
            }
            Expr::Attribute(attribute) if attribute.attr.as_str() == "__dict__" => Some(&attribute.value),
            _ => None,
        }
    }

    pub(super) fn subscript(&self, expr: &'a Expr, subscript: &'a ExprSubscript, look: Depth) -> Fact {
        let key = self.look(&subscript.slice, look);
        if let (Some(object), Some(Value::Text(name))) = (Self::namespace_of(&subscript.value), key.as_value()) {
            return self.attribute_of(expr, object, name, look);
        }
        let owner = self.look(&subscript.value, look);
        match (&owner.datum, key.as_value()) {
            (Datum::Flags, Some(Value::Text(name))) => self.flag(expr, name, look),
            (Datum::ParameterMap(optimizer), Some(Value::Text(name))) => {
                self.entry(&subscript.value, optimizer.as_ref(), name)
            }
            (Datum::Environ, Some(Value::Text(name))) => self.variable(name, None, look),
            (Datum::Dict(dict), Some(Value::Text(name))) => match dict.entry(name) {
                Some(field) if field.is_certain(&self.path) => field.fact.clone(),
                _ => self.computed(expr),
            },
            (Datum::Value(Value::List(items) | Value::Tuple(items)), Some(Value::Int(at))) => {
                match item_at(items, *at) {
                    Some(item) => Fact::value(item.clone()).with_note(owner.note.as_ref()),
                    None => self.computed(expr),
                }
            }
            (Datum::Items(items), Some(Value::Int(at))) => match item_at(items, *at) {
                Some(item) => item.clone(),
                None => self.computed(expr),
            },
            (Datum::Message(list), Some(Value::Int(at))) => {
                self.optimizer_at(list, *at).unwrap_or_else(|| self.computed(expr))
            }
            _ => self.computed_from(expr, &[&owner]),
        }
    }

    /// An environment variable: the text that the script has set, else the default of the lookup.
    pub(super) fn variable(&self, name: &str, default: Option<&'a Expr>, look: Depth) -> Fact {
        if let Some((text, _)) = self.environment.get(name) {
            return Fact::value(text.as_str());
        }
        match default {
            Some(default) => self.assumed(default, &format!("of the environment variable {name}"), look),
            None => Fact::unknown(&format!(
                "comes from the environment variable {name}, which the script does not set"
            )),
        }
    }

    /// The default of a lookup whose result is known only at run time.
    pub(super) fn assumed(&self, default: &'a Expr, of: &str, look: Depth) -> Fact {
        let mut fact = self.look(default, look);
        if matches!(fact.datum, Datum::Value(_)) {
            let line = self.source.line(default.start());
            fact.note = Some(format!("takes the default {of} in line {line}").into());
        }
        fact
    }
}
