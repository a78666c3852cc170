//! Messages of protobuf: session configurations, and the optimizers with options in them.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::Value;

use super::changes::path_of;
use super::datum::{Datum, Entry, Fact, Made, Message};
use super::evaluate::Depth;
use super::lookups::item_at;
use super::reader::Reader;
use super::records::{Owner, Run, Session};

/// The class of session configurations.
const SESSION: &str = "ConfigProto";

/// Parts of a session configuration that a script may make by themselves, with the fields that they are put into.
const PARTS: [(&str, &str); 2] = [("GraphOptions", FIELDS[0]), ("RewriterConfig", FIELDS[1])];

/// The class of an optimizer.
const OPTIMIZER: &str = "CustomGraphOptimizer";

/// The list of optimizers in a session configuration.
pub(super) const OPTIMIZERS: &str = "custom_optimizers";

/// The fields between a session configuration and its optimizers.
const FIELDS: [&str; 3] = ["graph_options", "rewrite_options", OPTIMIZERS];

impl Message {
    /// A message that the script does not make.
    fn elsewhere(owner: &Expr) -> Self {
        Self {
            config: None,
            name: path_of(owner),
            field: String::new(),
            optimizer: None,
        }
    }

    pub(super) fn field(&self, name: &str) -> Self {
        Self {
            field: name.to_owned(),
            ..self.clone()
        }
    }

    const fn is_whole(&self) -> bool {
        self.field.is_empty() && self.optimizer.is_none()
    }

    /// Whether it is a configuration or a part of one with optimizers.
    fn has_optimizers(&self) -> bool {
        self.is_whole() || self.optimizer.is_none() && FIELDS.contains(&self.field.as_str())
    }
}

/// The expression of the configuration behind its fields: `config` of `config.graph_options.rewrite_options`.
fn base(mut expr: &Expr) -> &Expr {
    while let Expr::Attribute(attribute) = expr
        && FIELDS.contains(&attribute.attr.as_str())
    {
        expr = &attribute.value;
    }
    expr
}

impl<'a> Reader<'a> {
    /// A call that makes a session configuration or adds an optimizer to one.
    pub(super) fn message_of_call(&self, name: &str, call: &'a ExprCall, look: Depth) -> Option<Fact> {
        let made = self.made(call.start());
        let whole = Message {
            config: Some(made),
            name: None,
            field: String::new(),
            optimizer: None,
        };
        let part = PARTS.iter().find(|(class, _)| *class == name);
        let message = match (name, &*call.func) {
            _ if self.survey.classes.contains(name) => return None,
            (SESSION, _) => whole,
            (OPTIMIZER, _) => Message {
                optimizer: Some(made),
                ..whole
            },
            _ if let Some((_, field)) = part => whole.field(field),
            ("add", Expr::Attribute(method)) => match &*method.value {
                Expr::Attribute(list) if list.attr.as_str() == OPTIMIZERS => {
                    let owner = self.look(&method.value, look).datum;
                    let around = match owner {
                        Datum::Message(message) => Message::clone(&message),
                        _ => Message::elsewhere(base(&method.value)),
                    };
                    Message {
                        optimizer: Some(made),
                        ..around
                    }
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Fact::plain(Datum::Message(Rc::new(message))))
    }

    /// A field of a message, or the options of an optimizer.
    pub(super) fn message_field(&self, expr: &'a Expr, owner: &'a Expr, name: &str, of: &Datum) -> Option<Fact> {
        let datum = match (of, name) {
            (Datum::Message(message), "parameter_map") if message.optimizer.is_some() => {
                Datum::ParameterMap(Some(Rc::clone(message)))
            }
            (_, "parameter_map") => Datum::ParameterMap(None),
            (Datum::Message(message), _) if message.optimizer.is_some() => return Some(self.computed(expr)),
            (Datum::Message(message), _) => Datum::Message(Rc::new(message.field(name))),
            (Datum::Unknown(_), "graph_options") => Datum::Message(Rc::new(Message::elsewhere(owner).field(name))),
            _ => return None,
        };
        Some(Fact::plain(datum))
    }

    /// `custom_optimizers[0]`.
    pub(super) fn optimizer_at(&self, list: &Message, at: i64) -> Option<Fact> {
        let known: Vec<&Rc<Message>> = self.optimizers_of(list).filter(|_| list.field == OPTIMIZERS).collect();
        let optimizer = *item_at(&known, at)?;
        Some(Fact::plain(Datum::Message(Rc::clone(optimizer))))
    }

    fn optimizers_of<'b>(&'b self, of: &'b Message) -> impl Iterator<Item = &'b Rc<Message>> {
        let is_of = move |known: &&Rc<Message>| known.config == of.config && known.name == of.name;
        self.records.optimizers.iter().filter(is_of)
    }

    /// Records what a call makes, and follows the methods that change configurations as wholes.
    pub(super) fn found_message(&mut self, call: &'a ExprCall) {
        let name = self.survey.last_name(&call.func).unwrap_or("").to_owned();
        if let Some(Datum::Message(message)) = self
            .message_of_call(&name, call, Depth::default())
            .map(|fact| fact.datum)
        {
            let line = self.source.line(call.start());
            match (message.config, message.optimizer) {
                (_, Some(_)) if name == OPTIMIZER || self.records.optimizers.contains(&message) => {}
                (_, Some(_)) => self.records.optimizers.push(message),
                (Some(made), None) => {
                    if message.is_whole() {
                        let session = Session {
                            line,
                            ..Session::default()
                        };
                        self.records.sessions.entry(made).or_insert(session);
                    }
                    self.take_parts(&message, call);
                }
                (None, None) => {}
            }
            return;
        }
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        let changed = match (self.evaluate(&method.value).datum, &*name) {
            (Datum::Message(list), "append" | "extend") if list.field == OPTIMIZERS => {
                let added = call.arguments.args.first().map(|added| self.evaluate(added));
                return added.map_or((), |added| self.take_optimizers(&list, &added));
            }
            (Datum::Message(list), "clear" | "pop") if list.field == OPTIMIZERS => list,
            (Datum::Message(config), "Clear" | "CopyFrom" | "MergeFrom") if config.has_optimizers() => config,
            (Datum::ParameterMap(Some(optimizer)), "clear" | "pop") => optimizer,
            _ => return,
        };
        self.leave_to_user(call.range());
        self.forget_parameters(&changed, call.range());
    }

    /// A change of an optimizer, or of a message with optimizers, that is not followed: their options are unknown from there on.
    pub(super) fn forget_parameters(&mut self, of: &Message, range: TextRange) {
        let made: Vec<Made> = match of.optimizer {
            Some(made) => vec![made],
            None => self.optimizers_of(of).filter_map(|known| known.optimizer).collect(),
        };
        let runs: Vec<usize> = made.into_iter().filter_map(|made| self.records.run_at(made)).collect();
        let unknown = Value::Python(self.source.expression(range));
        for setting in &mut self.records.settings {
            if setting.run.is_some_and(|run| runs.contains(&run)) {
                setting.value = unknown.clone();
            }
        }
    }

    /// `ConfigProto(graph_options=...)`, `RewriterConfig(custom_optimizers=[...])`: the optimizers of parts.
    fn take_parts(&mut self, config: &Message, call: &'a ExprCall) {
        for keyword in &call.arguments.keywords {
            if keyword.arg.as_ref().is_some_and(|name| FIELDS.contains(&name.as_str())) {
                let from = self.evaluate(&keyword.value);
                self.take_optimizers(config, &from);
            }
        }
    }

    /// Adds an optimizer, those of a list, or those of a part of a configuration.
    fn take_optimizers(&mut self, to: &Message, from: &Fact) {
        match &from.datum {
            Datum::Items(items) => items.iter().for_each(|item| self.take_optimizers(to, item)),
            Datum::Message(optimizer) if optimizer.optimizer.is_some() => self.move_optimizer(to, optimizer),
            Datum::Message(part) => {
                let optimizers: Vec<Rc<Message>> = self.optimizers_of(part).cloned().collect();
                optimizers
                    .iter()
                    .for_each(|optimizer| self.move_optimizer(to, optimizer));
            }
            _ => {}
        }
    }

    /// An optimizer that the script makes apart from a configuration becomes one of the configuration, with its options.
    fn move_optimizer(&mut self, to: &Message, optimizer: &Rc<Message>) {
        let moved = Message {
            optimizer: optimizer.optimizer,
            ..to.clone()
        };
        self.records
            .optimizers
            .retain(|known| known.optimizer != optimizer.optimizer);
        self.records.optimizers.push(Rc::new(moved));
        if let Some(run) = optimizer.optimizer.and_then(|made| self.records.run_at(made)) {
            self.records.runs[run].config = to.config;
        }
    }

    /// An entry of a map.
    pub(super) fn entry(&self, map: &Expr, optimizer: Option<&Rc<Message>>, name: &str) -> Fact {
        let owner = match map {
            Expr::Attribute(map) => path_of(&map.value),
            other => path_of(other),
        };
        Fact::plain(Datum::Entry(Rc::new(Entry {
            name: name.to_owned(),
            owner,
            optimizer: optimizer.cloned(),
            line: self.source.line(map.start()),
        })))
    }

    /// The position of the parameters that an entry belongs to.
    pub(super) fn run_of_entry(&mut self, entry: &Entry) -> usize {
        let (owner, line) = (entry.owner.clone(), entry.line);
        let run = if let Some(message) = entry.optimizer.as_deref() {
            Run {
                owner: message.optimizer.map_or(Owner::Unknown, Owner::Call),
                config: message.config,
                name: message.name.clone().or_else(|| owner.clone()),
                alias: owner,
                ..Run::default()
            }
        } else {
            let bound = owner.as_ref().and_then(|owner| self.scopes.get(owner));
            Run {
                owner: Owner::Line(bound.map_or(0, |binding| binding.line)),
                name: owner,
                ..Run::default()
            }
        };
        self.records.parameter_map(Run {
            class: super::records::PARAMETER_MAP,
            line,
            ..run
        })
    }
}
