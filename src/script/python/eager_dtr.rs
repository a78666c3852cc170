//! `megengine.dtr`: the settings of MegEngine's eager interpreter, which a script assigns to the module, and its texts of sizes.
//!
//! Source: MegEngine, imperative/python/megengine/dtr.py. Unlike `DTRConfig`, the module accepts texts; their units are powers of 1024.

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::Ranged as _;

use highwater_model::diagnostics::Severity;
use highwater_options::{Value, keys};

use super::changes::path_of;
use super::datum::Fact;
use super::reader::Reader;

/// The module whose attributes are settings.
pub(super) const MODULE: &str = "megengine.dtr";

/// The heuristic of the eager interpreter.
pub(in super::super) const EAGER_HEURISTIC: &str = "megengine_eager";

/// The settings of the module that are simulated.
pub(in super::super) const EAGER_KEYS: [&str; 2] = [keys::DTR_EVICTION_THRESHOLD, keys::DTR_EVICTEE_MINIMUM_SIZE];

/// The units of the module's texts.
const UNITS: [(&str, u32); 4] = [("GB", 30), ("MB", 20), ("KB", 10), ("B", 0)];

/// Bytes of a text such as `5GB`, as MegEngine reads it; `None` where it raises an error.
pub(super) fn bytes_of(text: &str) -> Option<i64> {
    let upper = text.trim().to_ascii_uppercase();
    let (digits, shift) = UNITS
        .iter()
        .find_map(|(unit, shift)| Some((upper.strip_suffix(unit)?.trim(), *shift)))?;
    match digits.parse::<i64>() {
        Ok(number) if number >= 0 => number.checked_mul(1 << shift),
        Ok(_) => None,
        Err(_) => fraction_of(digits, shift),
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "Python multiplies floats here, too; sizes are far below 2^53"
)]
fn fraction_of(digits: &str, shift: u32) -> Option<i64> {
    let number: f64 = digits.parse().ok()?;
    let bytes = number * (1_i64 << shift) as f64;
    (bytes >= 0.0 && bytes < i64::MAX as f64).then_some(bytes as i64)
}

impl<'a> Reader<'a> {
    /// `megengine.dtr.eviction_threshold = "5GB"`; whether the target is an attribute of that module.
    pub(super) fn assign_eager(&mut self, target: &'a ExprAttribute, value: &'a Expr, fact: &Fact) -> bool {
        let path = path_of(&target.value);
        if path.is_none_or(|path| self.survey.full_name(&path) != MODULE) {
            return false;
        }
        let name = target.attr.as_str();
        let line = self.source.line(target.start());
        let key = format!("dtr.{name}");
        if !EAGER_KEYS.contains(&&*key) {
            self.records
                .info(line, format!("{MODULE}.{name} has no effect here: it is not simulated"));
            return true;
        }
        let mut fact = fact.clone();
        if let Some(text) = fact.as_value().and_then(Value::as_text) {
            let Some(bytes) = bytes_of(text) else {
                let message = format!(
                    "{key} is \"{text}\", which {MODULE} refuses: write a number with B, KB, MB or GB, such as 5GB"
                );
                self.records.remark(Severity::Error, line, message);
                return true;
            };
            let message =
                format!("{key} is \"{text}\", which is {bytes} bytes: KB, MB and GB are powers of 1024 in {MODULE}");
            self.records.info(line, message);
            fact = Fact::value(bytes).with_note(fact.note.as_ref());
        }
        if fact.as_value() == Some(&Value::Int(0)) && name == "eviction_threshold" {
            let message = "megengine.dtr.eviction_threshold is 0: tensors are evicted only where an allocation fails, which is \
                           not simulated";
            self.records.info(line, message.to_owned());
            return true;
        }
        if !self.survey.enables_eager_dtr {
            let message = format!(
                "{MODULE}.enable() is not called in this script; the setting is taken as if, and without the call nothing is \
                 evicted"
            );
            self.records.warn(line, message);
        }
        self.take_value(&key, &fact, value.range(), target.range.into());
        let heuristic = Fact::value(EAGER_HEURISTIC);
        self.take_value(keys::REMAT_HEURISTIC, &heuristic, value.range(), target.range.into());
        true
    }
}
