//! Names of optimizers, and entries of parameter maps that the adapter does not read.
//!
//! TensorFlow finds a custom optimizer by the exact name under which it is registered. The adapter looks up a fixed list of bare names
//! in the parameter map (`npu_attrs.cc`) and passes nothing else on.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::{OptionKind, OptionRow, Section, TABLE, Value, engine_name, find, nearest_of};

use super::arms::open_condition;
use super::changes::path_of;
use super::datum::{Datum, Entry, Fact, Made, Message};
use super::reader::Reader;
use super::records::{Owner, PARAMETER_MAP, Remark};
use highwater_model::diagnostics::Severity;

/// The name under which the adapter registers its optimizer.
const REGISTERED: &str = "NpuOptimizer";

/// The most fields of an object in a sentence.
const MOST_FIELDS: usize = 6;

/// A name that an optimizer gets.
#[derive(Clone, Debug)]
pub(super) struct OptimizerName {
    /// `None` where only the running script knows it.
    text: Option<String>,
    line: usize,
}

#[derive(Debug, Default)]
pub(super) struct OptimizerNames {
    /// Of optimizers that the script makes.
    by_call: BTreeMap<Made, OptimizerName>,
    /// Of optimizers from elsewhere, by the position of their parameters.
    by_run: BTreeMap<usize, OptimizerName>,
    /// Whether an object from elsewhere gets the registered name: it may be one of the optimizers.
    is_set_elsewhere: bool,
}

/// Rows that a parameter map has: of the adapter, no objects and no arguments of TensorFlow's `RunConfig`.
fn is_parameter(row: &OptionRow) -> bool {
    let is_elsewhere = matches!(
        row.section,
        Section::Engine | Section::Dtr | Section::MemoryOptimize | Section::Simulation | Section::RunConfig
    );
    !is_elsewhere && !matches!(row.kind, OptionKind::Object { .. })
}

/// The option of a name in `custom_op.parameter_map[...]`.
pub(super) fn key_of_parameter(name: &str) -> Option<&'static str> {
    let mut rows = TABLE.iter().filter(|row| is_parameter(row));
    rows.find(|row| row.parameter_name() == name).map(|row| row.key)
}

/// Why the adapter does not read a name in a parameter map, and what it reads instead.
fn unread(name: &str) -> String {
    let known = |row: &OptionRow| is_parameter(row).then(|| row.parameter_name());
    let of_engine = || find(engine_name(name)?.option?).and_then(known);
    let last = name.rsplit('.').next().unwrap_or(name);
    let hint = match find(name) {
        Some(row) if matches!(row.kind, OptionKind::Object { .. }) => {
            let fields = TABLE
                .iter()
                .filter(|field| field.group() == Some(name))
                .filter_map(known);
            let fields: Vec<String> = fields.take(MOST_FIELDS).map(|field| format!("\"{field}\"")).collect();
            format!(
                "it holds numbers, texts and truth values; the fields have names there: {}",
                fields.join(", ")
            )
        }
        Some(row) if row.section == Section::Simulation => "it is highwater's own option".to_owned(),
        Some(row) if row.section == Section::RunConfig => "it is an argument of NPURunConfig".to_owned(),
        Some(row) => match known(row).or_else(|| same_as(row)) {
            Some(there) => format!("the name there is \"{there}\""),
            None => "it is no option of the adapter".to_owned(),
        },
        None => match of_engine().or_else(|| key_of_parameter(last).map(|_| last)) {
            Some(there) => format!("the name there is \"{there}\""),
            None if name.starts_with("ge.") => "the adapter passes no names of GE on".to_owned(),
            None => match nearest_of(name, TABLE.iter().filter_map(known)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "it may be one of a newer adapter".to_owned(),
            },
        },
    };
    format!("parameter_map[\"{name}\"] has no effect, since the adapter does not read it: {hint}")
}

/// The parameter of the same name as an option of the engine: `static_memory_policy` of `ge.exec.staticMemoryPolicy`.
fn same_as(row: &OptionRow) -> Option<&'static str> {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let wanted = plain(row.key.rsplit('.').next()?);
    let mut rows = TABLE.iter().filter(|row| is_parameter(row));
    rows.find(|row| plain(row.parameter_name()) == wanted)
        .map(OptionRow::parameter_name)
}

/// The names and calls of an expression.
struct Parts<'a>(Vec<&'a Expr>);

impl<'a> Visitor<'a> for Parts<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if matches!(expr, Expr::Name(_) | Expr::Call(_)) {
            self.0.push(expr);
        }
        walk_expr(self, expr);
    }
}

impl<'a> Reader<'a> {
    /// `custom_op.parameter_map["name"]` where nothing reads the name. A name that highwater does not know is kept.
    pub(super) fn unread_parameter(&mut self, entry: &Entry, value: &'a Expr, fact: &Fact) {
        let run = self.run_of_entry(entry);
        let value_at = value.start();
        let line = self.source.line(value_at);
        self.records.warn(line, unread(&entry.name));
        self.pass_to_nothing(value);
        let is_known = find(&entry.name).is_some() || engine_name(&entry.name).is_some() || entry.name.contains('.');
        if let Some(value) = fact.as_value().filter(|_| !is_known) {
            self.records.set(super::records::Setting {
                key: entry.name.clone(),
                value: value.clone(),
                json: None,
                line,
                at: value_at,
                run: Some(run),
                path: self.path.clone(),
                note: fact.note.clone(),
                is_unread: true,
            });
        }
    }

    /// `custom_op.name = "NpuOptimizer"`.
    pub(super) fn name_optimizer(&mut self, optimizer: &Message, fact: &Fact, line: usize) {
        if let Some(made) = optimizer.optimizer {
            let text = fact.as_value().and_then(Value::as_text).map(str::to_owned);
            let names = &mut self.records.optimizer_names.by_call;
            let is_registered = names
                .get(&made)
                .is_some_and(|name| name.text.as_deref() == Some(REGISTERED));
            // Another run may not rename it.
            if !is_registered || open_condition(&self.path).is_none() {
                names.insert(made, OptimizerName { text, line });
            }
        }
    }

    /// Objects that an expression has: an entry of a parameter map takes none of them.
    fn pass_to_nothing(&mut self, value: &'a Expr) {
        let mut parts = Parts(Vec::new());
        parts.visit_expr(value);
        for part in parts.0 {
            if let Datum::Object(object) = self.evaluate(part).datum {
                self.records.passed.entry(object.made()).or_insert(None);
            }
        }
    }

    /// `optimizers.add(name="NpuOptimizer")`.
    pub(super) fn name_by_call(&mut self, optimizer: &Message, call: &'a ExprCall) {
        if let Some(name) = call.arguments.find_keyword("name") {
            let fact = self.evaluate(&name.value);
            self.name_optimizer(optimizer, &fact, self.source.line(name.value.start()));
        }
    }

    /// `setattr(custom_op, "name", "NpuOptimizer")`.
    pub(super) fn found_setattr(&mut self, call: &'a ExprCall) {
        if self.survey.last_name(&call.func) != Some("setattr") {
            return;
        }
        let [object, name, value] = &*call.arguments.args else {
            return;
        };
        let field = self.evaluate(name);
        let field = field.as_value().and_then(Value::as_text);
        let is_name = field == Some("name");
        if let Some(owner) = path_of(object).filter(|_| field == Some("mode"))
            && self.records.frameworks.has_config(&owner)
        {
            let fact = self.evaluate(value);
            return self.set_mode(owner, value, &fact);
        }
        if let Datum::Message(optimizer) = self.evaluate(object).datum
            && is_name
        {
            let fact = self.evaluate(value);
            self.name_optimizer(&optimizer, &fact, self.source.line(value.start()));
        }
    }

    /// A copy has the name of the original.
    pub(super) fn copy_name(&mut self, from: &Message, to: Made) {
        let names = &mut self.records.optimizer_names.by_call;
        if let Some(name) = from.optimizer.and_then(|made| names.get(&made).cloned()) {
            names.insert(to, name);
        }
    }

    /// `anything.name = "NpuOptimizer"`.
    pub(super) fn name_elsewhere(&mut self, fact: &Fact) {
        let is_registered = fact.as_value().and_then(Value::as_text) == Some(REGISTERED);
        self.records.optimizer_names.is_set_elsewhere |= is_registered;
    }

    /// The name that a script gives an optimizer from elsewhere, `custom_op` of a parameter for example.
    pub(super) fn name_of_entry(&mut self, entry: &Entry, run: usize) {
        let owner = entry.owner.as_ref().filter(|_| entry.optimizer.is_none());
        let binding = owner.and_then(|owner| self.scopes.get(&format!("{owner}.name")));
        if let Some(binding) = binding {
            let name = OptimizerName {
                text: binding.fact.as_value().and_then(Value::as_text).map(str::to_owned),
                line: binding.line,
            };
            self.records.optimizer_names.by_run.insert(run, name);
        }
    }

    /// Removes the settings of optimizers that TensorFlow does not find, because of their names.
    pub(super) fn drop_idle_optimizers(&mut self) {
        let names = &self.records.optimizer_names;
        let mut idle = Vec::new();
        for (position, run) in self.records.runs.iter().enumerate() {
            let is_made = matches!(run.owner, Owner::Call(_));
            let name = match run.owner {
                Owner::Call(made) => names.by_call.get(&made),
                _ => names.by_run.get(&position),
            };
            let why = match name {
                _ if run.class != PARAMETER_MAP => continue,
                Some(OptimizerName { text: Some(text), line }) if text != REGISTERED => {
                    format!("is named {} in line {line}", Value::from(text.as_str()).quoted())
                }
                None if is_made && !names.is_set_elsewhere => "has no name".to_owned(),
                _ => continue,
            };
            idle.push((position, run.line, why));
        }
        for (position, line, why) in idle {
            self.records.settings.retain(|setting| setting.run != Some(position));
            self.records.runs[position].is_idle = true;
            let message = format!(
                "this parameter_map sets nothing: its optimizer {why}, and TensorFlow finds the adapter's by the name \
                 {REGISTERED} alone"
            );
            self.records.remarks.push(Remark {
                severity: Severity::Warning,
                line,
                message,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_adapter_does_not_read_are_explained() {
        assert_eq!(
            key_of_parameter("static_memory_policy"),
            Some("memory_config.static_memory_policy")
        );
        for (name, hint) in [
            (
                "memory_config.static_memory_policy",
                "the name there is \"static_memory_policy\"",
            ),
            (
                "ge.exec.staticMemoryPolicy",
                "the name there is \"static_memory_policy\"",
            ),
            ("ge.exec.precision_mode", "the name there is \"precision_mode\""),
            ("ge.exec.isUseHcom", "passes no names of GE on"),
            (
                "memory_config",
                "the fields have names there: \"static_memory_policy\", \"atomic_clean_policy\"",
            ),
            ("dump_config", "\"enable_dump\""),
            ("simulation.device", "highwater's own"),
            ("model_dir", "an argument of NPURunConfig"),
            ("static_memory_polcy", "did you mean \"static_memory_policy\"?"),
            ("my_config.precision_mode", "the name there is \"precision_mode\""),
        ] {
            assert_eq!(key_of_parameter(name), None, "{name}");
            let said = unread(name);
            assert!(said.contains(hint), "{said}");
        }
    }
}
