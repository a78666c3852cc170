//! Messages of protobuf: session configurations, and the optimizers with options in them.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::Value;

use super::changes::path_of;
use super::datum::{Datum, Fact, Made, Message};
use super::evaluate::Depth;
use super::reader::Reader;
use super::records::{Owner, Run, Session};

/// The class of session configurations.
const SESSION: &str = "ConfigProto";

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
        let message = match (name, &*call.func) {
            (SESSION, _) if !self.survey.classes.contains(SESSION) => Message {
                config: Some(made),
                name: None,
                field: String::new(),
                optimizer: None,
            },
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
            match (message.config, message.optimizer) {
                (_, Some(_)) if self.records.optimizers.contains(&message) => {}
                (_, Some(_)) => self.records.optimizers.push(message),
                (Some(made), None) => {
                    let session = Session {
                        line,
                        ..Session::default()
                    };
                    self.records.sessions.entry(made).or_insert(session);
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
            (Datum::Message(config), "CopyFrom" | "MergeFrom") if config.is_whole() => {
                if let Some(from) = call.arguments.args.first()
                    && let Datum::Message(from) = self.evaluate(from).datum
                    && from.is_whole()
                {
                    self.copy_optimizers(&config, &from, self.made(call.start()));
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
            let key = super::assignments::key_of_parameter(&name).unwrap_or(&name).to_owned();
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

    /// `config.CopyFrom(from)`: the optimizers with their options so far.
    fn copy_optimizers(&mut self, config: &Message, from: &Message, made: Made) {
        let sources: Vec<Rc<Message>> = self.optimizers_of(from).cloned().collect();
        // Several optimizers of one call would be one.
        let [source] = &sources[..] else {
            return;
        };
        let copy = Message {
            optimizer: Some(made),
            ..config.clone()
        };
        self.records.optimizers.push(Rc::new(copy));
        let Some(run) = source.optimizer.and_then(|made| self.records.run_at(made)) else {
            return;
        };
        let copied = Run {
            owner: Owner::Call(made),
            config: config.config,
            name: config.name.clone(),
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

    /// The position of the parameters that an expression of a map belongs to.
    pub(super) fn run_of_map(&mut self, map: &'a Expr, optimizer: Option<&Message>) -> usize {
        let owner = match map {
            Expr::Attribute(map) => path_of(&map.value),
            other => path_of(other),
        };
        let line = self.source.line(map.start());
        let run = if let Some(message) = optimizer {
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
