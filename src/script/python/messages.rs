//! Messages of protobuf: session configurations, and the optimizers with options in them.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::Value;

use super::changes::path_of;
use super::datum::{Datum, Entry, Fact, Made, Message};
use super::evaluate::Depth;
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
        if list.field != OPTIMIZERS {
            return None;
        }
        let known: Vec<&Rc<Message>> = self.optimizers_of(list).collect();
        let at = usize::try_from(at)
            .ok()
            .or_else(|| known.len().checked_sub(usize::try_from(at.unsigned_abs()).ok()?))?;
        known.get(at).map(|known| Fact::plain(Datum::Message(Rc::clone(known))))
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
            self.name_by_call(&message, call);
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
        match (self.evaluate(&method.value).datum, &*name) {
            (Datum::Message(list), "pop" | "clear") if list.field == OPTIMIZERS => self.remove_optimizers(&list, &name),
            (Datum::Message(config), "Clear") if config.is_whole() => self.remove_optimizers(&config, &name),
            (Datum::Message(to), "CopyFrom" | "MergeFrom") if to.has_optimizers() => {
                if let Some(from) = call.arguments.args.first() {
                    let from = self.evaluate(from);
                    if name == "CopyFrom" {
                        self.remove_optimizers(&to, "clear");
                    }
                    self.take_optimizers(&to, &from, self.made(call.start()));
                }
            }
            (Datum::Message(list), "extend" | "append") if list.field == OPTIMIZERS => {
                if let Some(from) = call.arguments.args.first() {
                    let from = self.evaluate(from);
                    self.take_optimizers(&list, &from, self.made(call.start()));
                }
            }
            (Datum::ParameterMap(Some(optimizer)), "clear") => self.remove_parameters(&optimizer, None),
            (Datum::ParameterMap(Some(optimizer)), "pop") => {
                if let Some(key) = call.arguments.args.first() {
                    self.delete_parameter(&optimizer, key);
                }
            }
            _ => {}
        }
    }

    /// Whether a change holds in every run of the script.
    fn is_certain(&self) -> bool {
        super::arms::open_condition(&self.path).is_none()
    }

    /// `pop()` removes the last optimizer, the others all.
    fn remove_optimizers(&mut self, of: &Message, method: &str) {
        let mut removed: Vec<Rc<Message>> = self.optimizers_of(of).cloned().collect();
        if method == "pop" {
            removed.drain(..removed.len().saturating_sub(1));
        }
        if !self.is_certain() {
            return;
        }
        for optimizer in &removed {
            self.remove_parameters(optimizer, None);
            self.records.optimizers.retain(|known| known != optimizer);
        }
    }

    /// `del custom_op.parameter_map["name"]`.
    pub(super) fn delete_parameter(&mut self, optimizer: &Message, key: &'a Expr) {
        if let Datum::Value(Value::Text(name)) = self.evaluate(key).datum {
            let key = super::optimizers::key_of_parameter(&name).unwrap_or(&name).to_owned();
            self.remove_parameters(optimizer, Some(&key));
        }
    }

    /// Removes the settings of an optimizer so far, or the one of an option.
    fn remove_parameters(&mut self, optimizer: &Message, key: Option<&str>) {
        let run = optimizer.optimizer.and_then(|made| self.records.run_at(made));
        if let Some(run) = run.filter(|_| self.is_certain()) {
            let is_kept = |setting: &super::records::Setting| {
                setting.run != Some(run) || key.is_some_and(|key| setting.key != key)
            };
            self.records.settings.retain(is_kept);
        }
    }

    /// `ConfigProto(graph_options=...)`, `RewriterConfig(custom_optimizers=[...])`: the optimizers of parts.
    fn take_parts(&mut self, config: &Message, call: &'a ExprCall) {
        for keyword in &call.arguments.keywords {
            if keyword.arg.as_ref().is_some_and(|name| FIELDS.contains(&name.as_str())) {
                let from = self.evaluate(&keyword.value);
                self.take_optimizers(config, &from, self.made(call.start()));
            }
        }
    }

    /// Adds the optimizers of a message, or of a list, to a configuration.
    fn take_optimizers(&mut self, to: &Message, from: &Fact, made: Made) {
        let messages: Vec<Rc<Message>> = match &from.datum {
            Datum::Message(message) => vec![Rc::clone(message)],
            Datum::Items(items) => {
                let messages = items.iter().filter_map(|item| match &item.datum {
                    Datum::Message(message) => Some(Rc::clone(message)),
                    _ => None,
                });
                messages.collect()
            }
            _ => return,
        };
        for message in messages {
            let is_session = message
                .config
                .is_none_or(|made| self.records.sessions.contains_key(&made));
            let sources: Vec<Rc<Message>> = match message.optimizer {
                Some(_) => vec![message],
                None => self.optimizers_of(&message).cloned().collect(),
            };
            for source in sources {
                if is_session {
                    self.copy_optimizer(to, &source, made);
                } else {
                    self.move_optimizer(to, &source);
                }
            }
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

    /// A copy of an optimizer with its options so far. Several copies of one call differ by their rounds.
    fn copy_optimizer(&mut self, to: &Message, source: &Message, made: Made) {
        let made = self.in_round(|reader| reader.made(made.at));
        self.copy_name(source, made);
        let copy = Message {
            optimizer: Some(made),
            ..to.clone()
        };
        self.records.optimizers.push(Rc::new(copy));
        let Some(run) = source.optimizer.and_then(|made| self.records.run_at(made)) else {
            return;
        };
        let copied = Run {
            owner: Owner::Call(made),
            config: to.config,
            name: to.name.clone(),
            line: self.source.line(made.at),
            ..self.records.runs[run].clone()
        };
        let to = self.records.parameter_map(copied);
        let of_run = self.records.settings.iter().filter(|setting| setting.run == Some(run));
        let settings: Vec<_> = of_run
            .map(|setting| super::records::Setting {
                run: Some(to),
                at: made.at,
                ..setting.clone()
            })
            .collect();
        self.records.settings.extend(settings);
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
