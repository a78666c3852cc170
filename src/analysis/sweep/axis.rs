//! An axis of a sweep: the thing that varies, and its values in order.
//!
//! Keys of `KEY=VALUES`: an option that changes what is simulated (its key, or the last part of it; `policy` for
//! short), a symbolic dimension (`dim:NAME` where an option has the same name), or `iterations`. [`super::values`]
//! describes the values.

use super::SweepError;
use super::values::parse;
use crate::configuration::Configuration;
use highwater_model::units::Bytes;
use highwater_options::{OptionKind, OptionRow, TABLE, Value, find, keys, nearest_of, unknown_key};
use highwater_sim::POLICIES;

/// The thing that an axis varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisOf {
    /// By key.
    Option(&'static str),
    /// By name; a point gives it one value.
    Dim(String),
    Iterations,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepAxis {
    pub of: AxisOf,
    /// In order, each once; never empty. [`Value::Unset`] leaves an option at its default.
    pub values: Vec<Value>,
}

const ITERATIONS: &str = "iterations";

/// The prefix of dimensions.
const DIM: &str = "dim:";

/// Short for `static_memory_policy`.
const POLICY: &str = "policy";

impl SweepAxis {
    ///
    /// # Errors
    /// [`SweepError::Axis`]: the option does not exist or changes nothing that is simulated, or there is no value.
    pub fn option(key: &str, values: Vec<Value>) -> Result<Self, SweepError> {
        let fail = |why: String| SweepError::Axis {
            text: key.to_owned(),
            why,
        };
        let row = find(key).ok_or_else(|| fail(unknown_key(key)))?;
        if !row.affects_memory() {
            return Err(fail(inert(row)));
        }
        if values.is_empty() {
            return Err(fail("it has no value".to_owned()));
        }
        Ok(Self {
            of: AxisOf::Option(row.key),
            values,
        })
    }

    /// Reads `KEY=VALUES`; `dims` are the symbolic dimensions of the workload.
    ///
    /// # Errors
    /// [`SweepError::Axis`] with the mistake and the expected form.
    pub fn parse(text: &str, dims: &[String]) -> Result<Self, SweepError> {
        let fail = |why: String| SweepError::Axis {
            text: text.to_owned(),
            why,
        };
        let form = || "expected KEY=VALUE,VALUE, e.g. policy=0,2,3,4 or batch=8..128x2".to_owned();
        let (key, values) = text.split_once('=').ok_or_else(|| fail(form()))?;
        let key = key.trim();
        if key.is_empty() {
            return Err(fail(form()));
        }
        let of = find_axis(key, dims).map_err(fail)?;
        let values = match of {
            AxisOf::Option(key) => option_values(values, key),
            AxisOf::Dim(_) => numbers(values, i64::MAX),
            AxisOf::Iterations => numbers(values, u32::MAX.into()),
        };
        let values = values.map_err(fail)?;
        Ok(Self { of, values })
    }

    /// The default axes: the policies, and the atomic clean policies.
    pub fn usual() -> Vec<Self> {
        let of = |key, values: Vec<i64>| Self {
            of: AxisOf::Option(key),
            values: values.into_iter().map(Value::Int).collect(),
        };
        let policies = POLICIES.iter().map(|row| i64::from(row.number));
        vec![
            of(keys::STATIC_MEMORY_POLICY, policies.collect()),
            of(keys::ATOMIC_CLEAN_POLICY, vec![0, 1]),
        ]
    }

    /// The option's key without its group, the name of the dimension, or `iterations`.
    pub fn name(&self) -> &str {
        match &self.of {
            AxisOf::Option(key) => find(key).map_or(key, OptionRow::short_key),
            AxisOf::Dim(name) => name,
            AxisOf::Iterations => ITERATIONS,
        }
    }

    /// The unambiguous form for files: the option's whole key, `dim:NAME`, or `iterations`.
    pub fn key(&self) -> String {
        match &self.of {
            AxisOf::Option(key) => (*key).to_owned(),
            AxisOf::Dim(name) => format!("{DIM}{name}"),
            AxisOf::Iterations => ITERATIONS.to_owned(),
        }
    }

    /// Sizes with their unit.
    pub fn value_text(&self, value: &Value) -> String {
        let is_size = matches!(&self.of, AxisOf::Option(key)
            if find(key).is_some_and(|row| matches!(row.kind, OptionKind::Bytes { .. })));
        match value {
            Value::Int(bytes) if is_size => {
                u64::try_from(*bytes).map_or_else(|_| bytes.to_string(), |n| Bytes(n).to_string())
            }
            Value::Unset => "unset".to_owned(),
            value => value.to_string(),
        }
    }

    /// The text that [`Self::parse`] reads.
    pub fn text(&self) -> String {
        let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        format!("{}={}", self.key(), values.join(","))
    }

    /// Whether larger values mean more work, so that "the largest that fits" makes sense: dimensions, iterations,
    /// concurrent instances.
    pub fn is_quantity(&self) -> bool {
        match &self.of {
            AxisOf::Option(key) => *key == keys::GRAPH_MAX_PARALLEL_MODEL_NUM,
            AxisOf::Dim(_) | AxisOf::Iterations => true,
        }
    }

    /// The command line flag that sets a value, and its argument.
    pub fn flag(&self, value: &Value) -> (&'static str, String) {
        match &self.of {
            AxisOf::Option(key) => ("--set", format!("{key}={value}")),
            AxisOf::Dim(name) => ("--dim", format!("{name}={value}")),
            AxisOf::Iterations => ("--iterations", value.to_string()),
        }
    }

    pub(super) fn put(&self, value: &Value, configuration: &mut Configuration) {
        let number = value.as_int().and_then(|number| u64::try_from(number).ok());
        match &self.of {
            // Cannot fail: the key is a row of the option table.
            AxisOf::Option(key) => drop(configuration.options.set(key, value.clone())),
            AxisOf::Dim(name) => {
                let values = number.map_or_else(Vec::new, |number| vec![number]);
                configuration.plan.clear_dim(name);
                configuration.plan.dims.insert(name.clone(), values);
            }
            AxisOf::Iterations => {
                configuration.plan.iterations = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
            }
        }
    }
}

fn inert(row: &OptionRow) -> String {
    format!(
        "{} is not simulated, so all values give the same figures; see `highwater options`",
        row.key
    )
}

fn find_axis(key: &str, dims: &[String]) -> Result<AxisOf, String> {
    let dim = |name: &str| dims.iter().find(|dim| *dim == name).cloned().map(AxisOf::Dim);
    if let Some(name) = key.strip_prefix(DIM) {
        return dim(name.trim()).ok_or_else(|| no_dim(name.trim(), dims));
    }
    if key == ITERATIONS {
        return Ok(AxisOf::Iterations);
    }
    let key = if key == POLICY { keys::STATIC_MEMORY_POLICY } else { key };
    let row = find(key);
    if row.is_none()
        && let Some(found) = dim(key)
    {
        return Ok(found);
    }
    let row = row.or_else(|| TABLE.iter().find(|row| row.affects_memory() && row.short_key() == key));
    match row {
        Some(row) if row.affects_memory() => Ok(AxisOf::Option(row.key)),
        Some(row) => Err(inert(row)),
        None => Err(unknown(key, dims)),
    }
}

fn unknown(key: &str, dims: &[String]) -> String {
    let options = TABLE.iter().filter(|row| row.affects_memory()).map(|row| row.key);
    let known = options
        .chain(dims.iter().map(String::as_str))
        .chain([ITERATIONS, POLICY]);
    match nearest_of(key, known) {
        Some(nearest) => format!("no option or dimension \"{key}\"; did you mean \"{nearest}\"?"),
        None => format!("no option or dimension \"{key}\"; {}", known_dims(dims)),
    }
}

fn no_dim(name: &str, dims: &[String]) -> String {
    format!("no graph has a dimension \"{name}\"; {}", known_dims(dims))
}

fn known_dims(dims: &[String]) -> String {
    match dims {
        [] => "no dimension has a name; `highwater options` lists the options".to_owned(),
        dims => format!("dimensions: {}", dims.join(", ")),
    }
}

/// Values of an option. A value of the wrong type is kept, and the rules report it.
fn option_values(text: &str, key: &str) -> Result<Vec<Value>, String> {
    let kind = find(key).map_or(OptionKind::Any, |row| row.kind);
    let has_ranges = matches!(
        kind,
        OptionKind::Int { .. } | OptionKind::IntChoice(_) | OptionKind::Bytes { .. }
    );
    let read = |item: &str| {
        Ok(match item {
            "None" => Value::Unset,
            item => kind.read(item),
        })
    };
    parse(text, has_ranges, read)
}

/// Whole numbers from 1.
fn numbers(text: &str, largest: i64) -> Result<Vec<Value>, String> {
    let read = |item: &str| {
        let number = item.parse::<i64>().ok().filter(|number| (1..=largest).contains(number));
        number
            .map(Value::Int)
            .ok_or_else(|| format!("\"{item}\" is not an integer from 1 to {largest}"))
    };
    let values = parse(text, true, read)?;
    let is_small = |value: &Value| value.as_int().is_some_and(|number| (1..=largest).contains(&number));
    match values.iter().find(|value| !is_small(value)) {
        None => Ok(values),
        Some(value) => Err(format!("{value} is not an integer from 1 to {largest}")),
    }
}
