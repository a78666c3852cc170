//! Assignments: to names, and to what sets options and variables.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprAttribute, ExprCall, ExprDict, ExprSubscript, Operator, StmtAugAssign};
use ruff_text_size::Ranged as _;

use highwater_model::diagnostics::Severity;
use highwater_options::{Section, Value, find};

use super::allocator::SETTERS;
use super::arithmetic::{Outcome, binary};
use super::changes::{merged, path_of};
use super::constructors::find_class;
use super::datum::{Datum, Entry, Fact, Field, Fields, Object};
use super::evaluate::Depth;
use super::optimizers::key_of_parameter;
use super::parameters::{Stored, read_field, stored, unread};
use super::reader::Reader;
use super::settings::Place;

/// The largest number of entries of a followed dictionary.
const MAX_ENTRIES: usize = 256;

/// Whether a name is one of the engine's session options.
fn is_engine_key(name: &str) -> bool {
    name.starts_with("ge.") || find(name).is_some_and(|row| row.section == Section::Engine)
}

/// The map of `map[key]` or `map.get_or_create(key)`.
fn map_of(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Subscript(entry) => Some(&entry.value),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if method.attr.as_str() == "get_or_create" => Some(&method.value),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Reader<'a> {
    /// `targets = value`.
    pub(super) fn assignment(&mut self, targets: &'a [Expr], value: &'a Expr) {
        use ruff_python_ast::visitor::Visitor as _;
        if !self.is_idle_jit_config(targets, value) {
            self.visit_expr(value);
        }
        let fact = self.evaluate(value);
        self.name_made(targets, value, &fact);
        self.found_build_strategy(targets, value);
        self.found_compiler_config(targets, value);
        self.found_device(targets, value);
        for target in targets {
            self.assign(target, value, fact.clone());
        }
    }

    /// Names what a call makes after the target that it is bound to.
    fn name_made(&mut self, targets: &'a [Expr], value: &'a Expr, fact: &Fact) {
        let name = targets.first().and_then(|target| self.shown_target(target));
        match (&fact.datum, name) {
            (Datum::Object(object), Some(name)) if value.is_call_expr() => {
                if let Some(run) = self.records.run_at(object.made()) {
                    self.records.runs[run].name = Some(name);
                }
            }
            (Datum::Message(message), Some(name)) if value.is_call_expr() && message.optimizer.is_none() => {
                if let Some(session) = message.config.and_then(|made| self.records.sessions.get_mut(&made)) {
                    session.is_idle = matches!(targets, [Expr::Name(_)]);
                    session.name = Some(name);
                }
            }
            (Datum::Items(items), Some(name)) => self.name_items(&name, items, false),
            _ => {}
        }
    }

    /// The name of a target, with a known item of a list or dictionary.
    fn shown_target(&self, target: &'a Expr) -> Option<String> {
        let Expr::Subscript(item) = target else {
            return path_of(target);
        };
        let owner = path_of(&item.value)?;
        let at = self.evaluate(&item.slice);
        Some(format!("{owner}[{}]", at.as_value()?.quoted()))
    }

    /// Names the configurations of a list by their positions; others keep their names unless rounds of a loop made them.
    pub(super) fn name_items(&mut self, list: &str, items: &[Fact], renames: bool) {
        for (at, item) in items.iter().enumerate() {
            let name = format!("{list}[{at}]");
            match &item.datum {
                Datum::Object(object) => {
                    let run = self.records.run_at(object.made());
                    if let Some(run) = run.map(|run| &mut self.records.runs[run])
                        && (run.name.is_none() || renames && object.round > 0)
                    {
                        run.name = Some(name);
                    }
                }
                Datum::Message(message) => {
                    let session = message.config.and_then(|made| self.records.sessions.get_mut(&made));
                    if let Some(session) = session {
                        session.is_idle = false;
                        let is_round = message.config.is_some_and(|made| made.round > 0);
                        if session.name.is_none() || renames && is_round {
                            session.name = Some(name);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `target += value` and the like.
    pub(super) fn augmented(&mut self, assign: &'a StmtAugAssign) {
        use ruff_python_ast::visitor::Visitor as _;
        self.visit_expr(&assign.value);
        let before = self.evaluate(&assign.target);
        let value = self.evaluate(&assign.value);
        if let (Datum::Dict(old), Datum::Dict(new), Operator::BitOr) = (&before.datum, &value.datum, assign.op)
            && let Some(path) = path_of(&assign.target)
        {
            let fact = Fact::plain(Datum::Dict(Rc::new(merged(old, new))));
            return self.followed(&path, fact, assign.range());
        }
        let outcome = match (before.as_value(), value.as_value()) {
            (Some(a), Some(b)) => binary(a, assign.op, b),
            _ => Outcome::Unknown,
        };
        let fact = self.outcome(&assign.value, outcome, &[&before, &value]).held();
        match (path_of(&assign.target), &before.datum) {
            (Some(path), Datum::Value(Value::List(_) | Value::Set(_))) => self.followed(&path, fact, assign.range()),
            _ => self.assign(&assign.target, &assign.value, fact),
        }
    }

    pub(super) fn assign(&mut self, target: &'a Expr, value: &'a Expr, fact: Fact) {
        let line = self.source.line(target.start());
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.share(name, value);
                if self.globals.contains(&name) {
                    self.scopes.bind_global(name, &fact, line);
                }
                self.scopes.bind(name, fact, line);
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, value, &fact),
            Expr::List(list) => self.unpack(&list.elts, value, &fact),
            Expr::Starred(starred) => {
                let fact = self.computed(value);
                self.assign(&starred.value, value, fact);
            }
            Expr::Attribute(attribute) => self.assign_attribute(attribute, value, fact),
            Expr::Subscript(subscript) => self.assign_item(subscript, value, fact),
            _ => {}
        }
    }

    /// `a, b = 1, 2`.
    fn unpack(&mut self, targets: &'a [Expr], value: &'a Expr, fact: &Fact) {
        let values = match value {
            Expr::Tuple(tuple) => &tuple.elts[..],
            Expr::List(list) => &list.elts[..],
            _ => &[],
        };
        let has_star = targets.iter().chain(values).any(Expr::is_starred_expr);
        let items = Self::facts_of(fact);
        // Python evaluates the right side before it assigns.
        let facts: Vec<Option<Fact>> = (0..targets.len())
            .map(|at| match (values.get(at), &items) {
                _ if has_star => None,
                (Some(value), _) if values.len() == targets.len() => Some(self.evaluate(value)),
                (_, Some(items)) if items.len() == targets.len() => Some(items[at].clone()),
                _ => None,
            })
            .collect();
        for (at, (target, fact)) in targets.iter().zip(facts).enumerate() {
            let part = values
                .get(at)
                .filter(|_| values.len() == targets.len())
                .unwrap_or(value);
            let fact = fact.unwrap_or_else(|| self.computed(value));
            self.assign(target, part, fact);
        }
    }

    fn assign_attribute(&mut self, target: &'a ExprAttribute, value: &'a Expr, fact: Fact) {
        let name = target.attr.as_str();
        if self.assign_eager(target, value, &fact) {
            return;
        }
        self.assign_build_strategy(target);
        self.assign_framework(target, value, &fact);
        let owner = self.evaluate(&target.value);
        match owner.datum {
            Datum::Entry(entry) => return self.assign_parameter(&entry, target, value, &fact),
            Datum::Unknown(_)
                if map_of(&target.value)
                    .is_some_and(|map| matches!(self.evaluate(map).datum, Datum::ParameterMap(_))) =>
            {
                let message = format!(
                    "{} is an option computed at run time; set it by hand",
                    self.source.shown(target.value.range())
                );
                return self.records.warn(self.source.line(target.value.start()), message);
            }
            Datum::GlobalOptions(group) => {
                // The second adapter has options of the first one in a group.
                let key = match &*group {
                    "" | "aoe_config" => name.to_owned(),
                    group => format!("{group}.{name}"),
                };
                return self.take_value(&key, &fact, value.range(), target.range.into());
            }
            Datum::Object(object) => return self.assign_field(&object, target, value, fact),
            Datum::Message(optimizer) if name == "name" && optimizer.optimizer.is_some() => {
                return self.name_optimizer(&optimizer, &fact, self.source.line(target.start()));
            }
            _ if name == "name" => self.name_elsewhere(&fact),
            _ => {}
        }
        if let Expr::Name(owner) = &*target.value {
            let line = self.source.line(target.start());
            let path = format!("{}.{name}", owner.id);
            self.share(&path, value);
            self.scopes.bind(&path, fact, line);
        }
    }

    /// `config.name = value` after the constructor call; the adapter's attributes have a leading underscore.
    fn assign_field(&mut self, object: &Object, target: &'a ExprAttribute, value: &'a Expr, fact: Fact) {
        let field = Field {
            name: target.attr.as_str().trim_start_matches('_').to_owned(),
            fact: fact.held(),
            range: value.range(),
            path: self.path.clone(),
        };
        let start = object.made();
        if let Some(run) = self
            .records
            .run_at(start)
            .or_else(|| self.records.passed.get(&start).copied().flatten())
        {
            let place = Place::of_run(target.range.start(), run);
            return self.take_field(object.group, &field, place);
        }
        let Some(path) = path_of(&target.value) else {
            return;
        };
        let mut changed = Object::clone(object);
        changed.fields.fields.retain(|other| other.name != field.name);
        changed.fields.fields.push(field);
        let changed = Rc::new(changed);
        if super::arms::condition(&self.path).is_none() {
            self.records.replace_object(&changed);
        }
        self.followed(&path, Fact::plain(Datum::Object(changed)), target.range);
    }

    /// `custom_op.parameter_map["name"].i = value`.
    fn assign_parameter(&mut self, entry: &Entry, target: &'a ExprAttribute, value: &'a Expr, fact: &Fact) {
        let field = target.attr.as_str();
        let Some(key) = key_of_parameter(&entry.name) else {
            return self.unread_parameter(entry, value, fact);
        };
        let run = self.run_of_entry(entry);
        self.name_of_entry(entry, run);
        let place = Place::of_run(target.value.start(), run);
        let kind = find(key).map(|row| &row.kind);
        let line = self.source.line(value.start());
        if field == "s" && !self.source.is_python_2 && matches!(value, Expr::StringLiteral(_) | Expr::FString(_)) {
            self.records.text_lines.insert(line);
        }
        let fact = match fact.as_value().map(|value| stored(field, value, read_field(key, kind))) {
            None => fact.clone(),
            Some(Stored::Value(value)) => Fact::value(value).with_note(fact.note.as_ref()),
            Some(Stored::Refused(why)) => {
                return self.records.remark(Severity::Error, line, format!("{key} {why}"));
            }
            Some(Stored::Unread(read)) => {
                self.records.unread.push(key.to_owned());
                return self.records.warn(line, unread(key, field, read));
            }
        };
        self.take_value(key, &fact, value.range(), place);
    }

    fn assign_item(&mut self, target: &'a ExprSubscript, value: &'a Expr, fact: Fact) {
        let owner = self.evaluate(&target.value);
        let Datum::Value(Value::Text(name)) = self.evaluate(&target.slice).datum else {
            if owner.datum == Datum::Environ {
                let shown = self.source.shown(target.range);
                let message = format!("{shown} is a variable computed at run time; set it by hand");
                self.records.warn(self.source.line(target.start()), message);
            } else if let Some(path) = self.root(&target.value) {
                self.unfollowed(&path, target.range);
            }
            return;
        };
        match owner.datum {
            Datum::Environ => self.set_variable(&name, &fact, value.range()),
            _ if is_engine_key(&name) => self.take_value(&name, &fact, value.range(), target.range.into()),
            Datum::Dict(dict) => {
                let Some(path) = path_of(&target.value) else {
                    if let Some(path) = self.root(&target.value) {
                        self.unfollowed(&path, target.range);
                    }
                    return;
                };
                let mut fields = Fields::clone(&dict);
                fields.fields.retain(|field| field.name != name);
                fields.is_partial |= fields.fields.len() >= MAX_ENTRIES;
                if fields.fields.len() < MAX_ENTRIES {
                    fields.fields.push(Field {
                        name,
                        fact: fact.held(),
                        range: value.range(),
                        path: self.path.clone(),
                    });
                }
                let fact = Fact::plain(Datum::Dict(Rc::new(fields)));
                self.followed(&path, fact, target.range);
            }
            _ => {
                if let Some(path) = self.root(&target.value) {
                    self.unfollowed(&path, target.range);
                }
            }
        }
    }

    /// `del name`, `del os.environ["NAME"]`.
    pub(super) fn delete(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => {
                let line = self.source.line(target.start());
                self.scopes.bind(name.id.as_str(), Fact::unknown("is deleted"), line);
            }
            Expr::Subscript(subscript) => {
                let owner = self.evaluate(&subscript.value);
                if let (Datum::Environ, Datum::Value(Value::Text(name))) =
                    (owner.datum, self.evaluate(&subscript.slice).datum)
                {
                    return self.unset_variable(&name, target.range());
                }
                self.delete_item(&subscript.value, &subscript.slice, target.range());
            }
            _ => {}
        }
    }

    pub(super) fn found_call(&mut self, call: &'a ExprCall) {
        if let Some(group) = self.constructor(call) {
            let object = self.object(group, call, Depth::default());
            return self.take_object(object);
        }
        self.found_relative(call);
        self.found_training(call);
        self.found_neighbour(call);
        self.found_framework_call(call);
        self.found_setattr(call);
        self.found_json(call);
        let name = match (&*call.func, self.survey.last_name(&call.func)) {
            (_, Some(name)) if SETTERS.contains(&name) => return self.set_allocator(call),
            (_, Some(name @ ("putenv" | "unsetenv"))) => name,
            (Expr::Attribute(method), Some(name @ ("setdefault" | "update" | "pop")))
                if self.evaluate(&method.value).datum == Datum::Environ =>
            {
                name
            }
            _ => return,
        };
        if name == "update" {
            return self.update_variables(call);
        }
        let variable = call
            .arguments
            .args
            .first()
            .map(|variable| self.evaluate(variable).datum);
        let Some(Datum::Value(Value::Text(variable))) = variable else {
            return;
        };
        match (name, call.arguments.args.get(1)) {
            ("pop" | "unsetenv", _) => self.unset_variable(&variable, call.range()),
            ("setdefault", Some(_)) if self.environment.contains_key(&variable) => {}
            (_, Some(value)) => {
                let fact = self.evaluate(value);
                self.set_variable(&variable, &fact, value.range());
            }
            _ => {}
        }
    }

    /// Calls that pass their arguments on to a known class: `functools.partial(NPURunConfig, ...)`, and calls of derived classes.
    fn found_relative(&mut self, call: &'a ExprCall) {
        let name = self.survey.last_name(&call.func).unwrap_or("");
        let first = call.arguments.args.first();
        let class = first
            .and_then(|class| self.survey.last_name(class))
            .and_then(find_class);
        let (group, what) = match (class, self.survey.children.get(name)) {
            (Some(group), _) if name == "partial" => (group, "the additions of its calls are ignored"),
            (_, Some(group)) => (*group, "its arguments are ignored"),
            _ => return,
        };
        let message = format!(
            "{} makes {}(...) in a way that is only partly followed: {what}; set it by hand",
            self.source.shown(call.range()),
            group.class
        );
        self.records.warn(self.source.line(call.start()), message);
        if name == "partial" {
            let object = Object {
                group,
                range: call.range(),
                round: self.round,
                fields: self.arguments(&[], 1, call, Depth::default()),
            };
            self.take_object(object);
        }
    }

    /// The same as a text of JSON: `json.loads('{"ge.exec.staticMemoryPolicy": "3"}')`.
    fn found_json(&mut self, call: &'a ExprCall) {
        if self.survey.last_name(&call.func) != Some("loads") {
            return;
        }
        let Some(Datum::Dict(dict)) = call.arguments.args.first().map(|text| self.json_value(text)) else {
            return;
        };
        let mut open = vec![dict];
        while let Some(dict) = open.pop() {
            for field in &dict.fields {
                match &field.fact.datum {
                    Datum::Dict(inner) => open.push(Rc::clone(inner)),
                    _ if is_engine_key(&field.name) => {
                        self.take_value(&field.name, &field.fact, field.range, call.range().into());
                    }
                    _ => {}
                }
            }
        }
    }

    /// A dictionary with session options of the engine.
    pub(super) fn found_dict(&mut self, expr: &'a Expr, dict: &'a ExprDict) {
        for item in &dict.items {
            let Some(Expr::StringLiteral(key)) = &item.key else {
                continue;
            };
            let name = key.value.to_str();
            if is_engine_key(name) {
                let fact = self.evaluate(&item.value);
                self.take_value(name, &fact, item.value.range(), expr.range().into());
            }
        }
    }
}
