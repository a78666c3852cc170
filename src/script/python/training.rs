//! Calls beside the configuration whose arguments have to agree with it.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::{Options, Value, keys};

use super::constructors::RUN_CONFIG;
use super::datum::Datum;
use super::reader::Reader;
use super::records::Records;

/// Arguments of the estimator and of its optimizer.
#[derive(Debug, Default)]
pub(super) struct Training {
    /// Numbers of steps with their lines.
    steps: Vec<(i64, usize)>,
    /// The optimizer's `is_tailing_optimization` with its line.
    is_tailing: Option<(bool, usize)>,
}

impl<'a> Reader<'a> {
    /// `estimator.train(max_steps=...)`, `TrainSpec(max_steps=...)`, `NPUOptimizer(is_tailing_optimization=...)`.
    pub(super) fn found_training(&mut self, call: &'a ExprCall) {
        let argument = |name: &str, at: usize| call.arguments.find_argument_value(name, at);
        if let Some(config) = call.arguments.find_keyword("config")
            && let Datum::Object(object) = self.evaluate(&config.value).datum
            && object.group.class == RUN_CONFIG.class
        {
            self.records.used.insert(object.made());
        }
        match self.survey.last_name(&call.func) {
            Some("train") => {
                for steps in [argument("steps", 2), argument("max_steps", 3)] {
                    self.found_steps(steps);
                }
            }
            Some("TrainSpec") => self.found_steps(argument("max_steps", 1)),
            Some("NPUOptimizer") => {
                let Some(value) = argument("is_tailing_optimization", 4) else {
                    return;
                };
                if let Datum::Value(Value::Bool(is_on)) = self.evaluate(value).datum {
                    self.records.training.is_tailing = Some((is_on, self.source.line(value.start())));
                }
            }
            _ => {}
        }
    }

    fn found_steps(&mut self, value: Option<&'a Expr>) {
        if let Some(value) = value
            && let Datum::Value(Value::Int(steps)) = self.evaluate(value).datum
        {
            let line = self.source.line(value.start());
            self.records.training.steps.push((steps, line));
        }
    }
}

/// The lines at which the script disagrees with its configuration, with sentences.
pub(super) fn disagreements(records: &Records, options: &Options) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let training = &records.training;
    if let Some(per_loop) = options.get(keys::ITERATIONS_PER_LOOP).and_then(Value::as_int)
        && per_loop > 1
    {
        for (steps, line) in training.steps.iter().filter(|(steps, _)| steps % per_loop != 0) {
            let message = format!(
                "{steps} steps are no multiple of iterations_per_loop {per_loop}: the last loop runs beyond them or is \
                 dropped; use a multiple"
            );
            found.push((*line, message));
        }
    }
    let is_tailing = options.acting(keys::IS_TAILING_OPTIMIZATION) == Value::Bool(true);
    let is_unknown = matches!(options.get(keys::IS_TAILING_OPTIMIZATION), Some(Value::Python(_)));
    if let Some((is_on, line)) = training
        .is_tailing
        .filter(|(is_on, _)| *is_on != is_tailing && !is_unknown)
    {
        let name = |is_on: bool| if is_on { "True" } else { "False" };
        let message = format!(
            "is_tailing_optimization is {} in NPUOptimizer and {} in the configuration: both have to be the same",
            name(is_on),
            name(is_tailing)
        );
        found.push((line, message));
    }
    found
}
