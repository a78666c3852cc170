//! Calls of functions that make configurations: each call that differs from the others is followed with its arguments.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::callers_first::callers_first;
use super::datum::{Datum, Fact, Field, Fields};
use super::reader::{Pending, Reader};
use super::survey::Maker;

/// The largest number of followed calls within each other.
const MAX_CALLS: usize = 4;

/// A call that is followed, with the values of the parameters.
pub(super) struct Followed<'a> {
    maker: Maker<'a>,
    parameters: Vec<(&'a str, Fact)>,
}

impl<'a> Reader<'a> {
    /// The call with the values of its arguments before it, where it is followed.
    pub(super) fn followed_call(&self, call: &'a ExprCall) -> Option<Followed<'a>> {
        let maker = self.maker_of(call)?;
        let function = maker.function;
        let is_open = self.following.len() < MAX_CALLS && !self.following.contains(&function.start());
        if !is_open || !self.has_rounds() || !self.survey.is_varied(maker) {
            return None;
        }
        let n_calls = self.survey.calls_of(maker).len();
        let mut parameters = Vec::new();
        let mut is_known = false;
        let n_bound = usize::from(maker.is_bound());
        for parameter in function.parameters.iter_non_variadic_params().take(n_bound) {
            parameters.push((parameter.name().as_str(), Fact::unknown("is the object of the method")));
        }
        let others = function.parameters.iter_non_variadic_params().skip(n_bound);
        for (position, parameter) in others.enumerate() {
            let name = parameter.name().as_str();
            let fact = match self.given(call, position, name) {
                Some(fact) => {
                    is_known |= !matches!(fact.datum, Datum::Unknown(_));
                    fact
                }
                None => match parameter.default() {
                    Some(default) => {
                        is_known |= n_calls > 1;
                        self.evaluate(default)
                    }
                    None => Fact::unknown(&format!("is the parameter \"{name}\" of {}()", function.name)),
                },
            };
            parameters.push((name, fact));
        }
        if let Some(rest) = &function.parameters.kwarg {
            let fields = self.rest_of(call, &parameters);
            is_known |= !fields.fields.is_empty();
            parameters.push((rest.name.as_str(), Fact::plain(Datum::Dict(Rc::new(fields)))));
        }
        if let Some(rest) = &function.parameters.vararg {
            let fact = Fact::unknown(&format!("is passed to {}()", function.name));
            parameters.push((rest.name.as_str(), fact));
        }
        (is_known || self.followed.contains(&function.start())).then_some(Followed { maker, parameters })
    }

    /// The function or method that a call runs, where it makes configurations: of a method the class is known, or there is one of its
    /// name.
    fn maker_of(&self, call: &'a ExprCall) -> Option<Maker<'a>> {
        let named = |name: &str| self.survey.makers.get(name).map_or(&[][..], Vec::as_slice);
        match &*call.func {
            Expr::Name(name) => named(name.id.as_str())
                .iter()
                .find(|maker| maker.class.is_none())
                .copied(),
            Expr::Attribute(method) => {
                let makers = named(method.attr.as_str());
                let class = self.class_of(&method.value)?;
                let own = makers.iter().find(|maker| maker.class == Some(&*class));
                let mut methods = makers.iter().filter(|maker| maker.class.is_some());
                let only = methods.next().filter(|_| methods.next().is_none());
                own.or(only).copied()
            }
            _ => None,
        }
    }

    /// The class of the object of a method: `self`, a class of the script, or an object of one.
    fn class_of(&self, owner: &'a Expr) -> Option<String> {
        if let Expr::Name(name) = owner {
            let name = name.id.as_str();
            if matches!(name, "self" | "cls") {
                return self.classes.last().map(|class| (*class).to_owned());
            }
            if self.survey.classes.contains(name) {
                return Some(name.to_owned());
            }
        }
        match self.evaluate(owner).datum {
            Datum::Instance(instance) => Some(instance.class.clone()),
            _ => None,
        }
    }

    /// The argument of a call for a parameter; `None` where its default holds.
    fn given(&self, call: &'a ExprCall, position: usize, name: &str) -> Option<Fact> {
        if let Some(keyword) = call.arguments.find_keyword(name) {
            return Some(self.evaluate(&keyword.value));
        }
        let plain = call.arguments.args.iter().take_while(|value| !value.is_starred_expr());
        if let Some(value) = plain.clone().nth(position) {
            return Some(self.evaluate(value));
        }
        if plain.count() < call.arguments.args.len() {
            return Some(Fact::unknown("is passed with others"));
        }
        let spread = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_none());
        for keyword in spread {
            match self.evaluate(&keyword.value).datum {
                Datum::Dict(dict) if dict.get(name).is_some() => return dict.get(name).cloned(),
                Datum::Dict(dict) if !dict.is_partial => {}
                _ => return Some(self.computed(&keyword.value)),
            }
        }
        None
    }

    /// The named arguments that are no parameters.
    fn rest_of(&self, call: &'a ExprCall, parameters: &[(&'a str, Fact)]) -> Fields {
        let mut fields = Fields::default();
        for keyword in &call.arguments.keywords {
            let fact = self.evaluate(&keyword.value);
            match (&keyword.arg, fact.datum) {
                (Some(name), datum) => fields.fields.push(Field {
                    name: name.to_string(),
                    fact: Fact { datum, ..fact }.held(),
                    range: keyword.value.range(),
                    path: Vec::new(),
                }),
                (None, Datum::Dict(dict)) => {
                    fields.fields.extend(dict.fields.iter().cloned());
                    fields.is_partial |= dict.is_partial;
                }
                (None, _) => fields.is_partial = true,
            }
        }
        fields
            .fields
            .retain(|field| !parameters.iter().any(|(name, _)| *name == field.name));
        fields
    }

    /// Reads the body of the function with the arguments of the call, and keeps what it returns.
    pub(super) fn follow(&mut self, call: &'a ExprCall, followed: Followed<'a>) {
        let Followed { maker, parameters } = followed;
        let function = maker.function;
        // Branches of the module are a part of its flow.
        let layers = if self.n_functions > 0 {
            self.scopes.leave()
        } else {
            Vec::new()
        };
        let is_left = self.n_functions > 0;
        self.n_functions += 1;
        let globals = std::mem::take(&mut self.globals);
        let classes = std::mem::replace(&mut self.classes, maker.class.into_iter().collect());
        let n_calls = self.survey.calls_of(maker).len();
        let is_around = self.is_in_rounds;
        self.is_in_rounds |= n_calls > 1;
        let line = self.source.line(function.name.start());
        self.scopes.open();
        for (name, fact) in parameters {
            self.scopes.bind(name, fact, line);
        }
        self.following.push(function.start());
        self.returns.push(Vec::new());
        let ends = self.in_round(|reader| reader.scope(&function.body));
        let returned = self.returns.pop().unwrap_or_default();
        self.following.pop();
        drop(self.scopes.close());
        self.n_functions -= 1;
        if is_left {
            self.scopes.back(layers);
        }
        self.is_in_rounds = is_around;
        self.globals = globals;
        self.classes = classes;
        self.followed.insert(function.start());
        if let Some((first, others)) = returned.split_first()
            && ends
            && others.iter().all(|other| other.datum == first.datum)
        {
            self.results.insert(self.made(call.start()), first.clone());
        }
    }

    /// The functions of a scope in the order of their reading: makers last, and callers before what they call, so that calls are
    /// followed first.
    pub(super) fn in_reading_order(&self, pending: Vec<Pending<'a>>) -> Vec<Pending<'a>> {
        let is_maker = |one: &Pending<'a>| {
            let makers = self.survey.makers.get(one.0.name.as_str()).into_iter().flatten();
            let mut own = makers.filter(|maker| maker.function.start() == one.0.start());
            own.any(|maker| self.survey.is_varied(*maker))
        };
        let (makers, mut ordered): (Vec<Pending<'a>>, Vec<Pending<'a>>) = pending.into_iter().partition(is_maker);
        let names: Vec<&str> = makers.iter().map(|one| one.0.name.as_str()).collect();
        let order = callers_first(&names, |name| self.survey.callees(name).collect());
        ordered.extend(order.into_iter().map(|at| makers[at]));
        ordered
    }
}
