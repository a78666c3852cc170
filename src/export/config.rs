//! The configuration file: overrides, effective values, environment, device, schedule, predicted peaks.
//!
//! ```text
//! { "highwater_config": 1, "tool_version": "0.1.0",
//!   "options": {"memory_config.static_memory_policy": 2}, "effective": {...},
//!   "environment": {"GE_USE_STATIC_MEMORY": "2"},
//!   "device": {"name": "generic-32GB", "memory_bytes": 34359738368},
//!   "schedule": {"iterations": 1, "dims": {"seq": [64, 128]}},
//!   "evaluation": false, "sources": ["train.json"],
//!   "predicted": {"0": {"peak_reserved_bytes": ..., "peak_live_bytes": ...}, ...} }
//! ```
//!
//! Reading takes `options`, `environment`, `device`, `schedule` and `evaluation`; the rest is for people and other
//! tools. A plain object of option names (flat with dots, or nested) is read too. Unknown keys are kept, written
//! again and warned about.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Map, Value as Json, json};

use super::options::effective_json;
use crate::analysis::Comparison;
use crate::options::{Environment, Options, Value, find, nearest_key};
use crate::workload::{Device, DeviceError, DeviceProfiles, DimValues, SchedulePlan};

/// The newest version of the format.
pub const VERSION: u64 = 1;

/// Top-level keys of the format.
const KEYS: &[&str] = &[
    "highwater_config",
    "tool_version",
    "options",
    "effective",
    "environment",
    "device",
    "schedule",
    "evaluation",
    "sources",
    "predicted",
];

/// The device of a configuration, by profile name and memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigDevice {
    /// The profile's name.
    pub name: String,
    /// Device memory in bytes.
    pub memory_bytes: u64,
}

impl ConfigDevice {
    /// The profile of that name, with the memory that the file states.
    ///
    /// # Errors
    /// [`DeviceError::UnknownProfile`].
    pub fn resolve(&self, profiles: &DeviceProfiles) -> Result<Device, DeviceError> {
        let mut device = profiles.find(&self.name)?;
        device.memory_bytes = self.memory_bytes;
        Ok(device)
    }
}

/// Predicted peaks of one policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// Peak of reserved bytes.
    pub peak_reserved_bytes: u64,
    /// Peak of requested bytes of feature memory.
    pub peak_live_bytes: u64,
    /// Whether the run ends early for lack of memory.
    pub out_of_memory: bool,
}

/// What a configuration file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigDocument {
    /// Overrides.
    pub options: Options,
    /// Options that this version does not know, kept as they are.
    pub unknown_options: BTreeMap<String, Json>,
    /// Environment variables.
    pub environment: Environment,
    /// The device, where the file names one.
    pub device: Option<ConfigDevice>,
    /// The schedule, where the file states one.
    pub schedule: Option<SchedulePlan>,
    /// Whether evaluation graphs run beside training graphs.
    pub evaluation: bool,
    /// Names of the graphs that were open.
    pub sources: Vec<String>,
    /// Predicted peaks by policy number.
    pub predicted: BTreeMap<u8, Predicted>,
}

/// Why a configuration could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not JSON.
    #[error("this is not JSON: {reason} at line {line} column {column}; export the configuration again")]
    Syntax {
        /// What the parser says.
        reason: String,
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// A value of the wrong form.
    #[error("\"{key}\" must be {expected}")]
    Form {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A newer format.
    #[error("the file is of version {version}, this program reads up to version {VERSION}; use a newer highwater")]
    Newer {
        /// The file's version.
        version: u64,
    },
}

fn form(key: &str, expected: &'static str) -> ConfigError {
    ConfigError::Form {
        key: key.to_owned(),
        expected,
    }
}

/// The JSON form of an option's value; an option that is not set is null.
pub fn json_from_value(value: &Value) -> Json {
    match value {
        Value::Bool(fact) => json!(fact),
        Value::Int(number) => json!(number),
        Value::Text(text) if text.is_empty() => Json::Null,
        Value::Text(text) => json!(text),
    }
}

fn value_from_json(key: &str, json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::UNSET,
        Json::Bool(fact) => Value::Bool(*fact),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| Value::text(&number.to_string()), Value::Int),
        // Texts are read as on the command line where the option takes numbers or bools ("2", "True").
        Json::String(text) => {
            let mut options = Options::default();
            options.set_text(key, text).ok()?;
            options.effective(key)
        }
        Json::Array(_) | Json::Object(_) => return None,
    })
}

/// The predicted peaks of a comparison.
pub fn predicted(comparison: &Comparison) -> BTreeMap<u8, Predicted> {
    let row = |lane: &crate::analysis::Lane| {
        let predicted = Predicted {
            peak_reserved_bytes: lane.summary.peak_reserved.get(),
            peak_live_bytes: lane.summary.peak_live.get(),
            out_of_memory: lane.summary.out_of_memory,
        };
        (lane.policy.number(), predicted)
    };
    comparison.lanes.iter().map(row).collect()
}

/// The file's text: stable key order, a line break at the end.
pub fn to_json(document: &ConfigDocument) -> String {
    let mut options: Map<String, Json> = Map::new();
    for (key, value) in document.options.overrides() {
        options.insert(key.to_owned(), json_from_value(value));
    }
    for (key, value) in &document.unknown_options {
        options.insert(key.clone(), value.clone());
    }
    let environment: Map<String, Json> = document
        .environment
        .iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let mut root = Map::new();
    root.insert("highwater_config".to_owned(), json!(VERSION));
    root.insert("tool_version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    root.insert("options".to_owned(), Json::Object(options));
    root.insert(
        "effective".to_owned(),
        Json::Object(effective_json(&document.options, &document.environment)),
    );
    root.insert("environment".to_owned(), Json::Object(environment));
    if let Some(device) = &document.device {
        let device = json!({"name": device.name, "memory_bytes": device.memory_bytes});
        root.insert("device".to_owned(), device);
    }
    if let Some(schedule) = &document.schedule {
        let schedule = json!({"iterations": schedule.iterations, "dims": schedule.dims});
        root.insert("schedule".to_owned(), schedule);
    }
    root.insert("evaluation".to_owned(), json!(document.evaluation));
    root.insert("sources".to_owned(), json!(document.sources));
    let predicted: Map<String, Json> = document
        .predicted
        .iter()
        .map(|(policy, row)| {
            let row = json!({
                "peak_reserved_bytes": row.peak_reserved_bytes, "peak_live_bytes": row.peak_live_bytes,
                "out_of_memory": row.out_of_memory,
            });
            (policy.to_string(), row)
        })
        .collect();
    root.insert("predicted".to_owned(), Json::Object(predicted));
    let mut text = format!("{:#}", Json::Object(root));
    text.push('\n');
    text
}

/// Reads a configuration file, or a plain object of options. Returns warnings beside it.
///
/// # Errors
/// [`ConfigError`], with line and column where the text is no JSON.
pub fn from_json(bytes: &[u8]) -> Result<(ConfigDocument, Vec<String>), ConfigError> {
    let root: Json = serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        ConfigError::Syntax {
            reason: text.split(" at line ").next().unwrap_or(&text).to_owned(),
            line: error.line(),
            column: error.column(),
        }
    })?;
    let Json::Object(root) = root else {
        return Err(form("the file", "an object"));
    };
    let mut document = ConfigDocument::default();
    let mut warnings = Vec::new();
    if root.contains_key("highwater_config") {
        read_document(&root, &mut document, &mut warnings)?;
    } else {
        read_options("", &root, &mut document, &mut warnings);
    }
    Ok((document, warnings))
}

fn read_document(
    root: &Map<String, Json>,
    document: &mut ConfigDocument,
    warnings: &mut Vec<String>,
) -> Result<(), ConfigError> {
    let version = root["highwater_config"].as_u64();
    let version = version.ok_or_else(|| form("highwater_config", "a version number"))?;
    if version > VERSION {
        return Err(ConfigError::Newer { version });
    }
    for key in root.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        warnings.push(format!("the key \"{key}\" is not known and is left out"));
    }
    if let Some(options) = root.get("options") {
        let options = options.as_object().ok_or_else(|| form("options", "an object"))?;
        read_options("", options, document, warnings);
    }
    if let Some(environment) = root.get("environment") {
        let environment = environment
            .as_object()
            .ok_or_else(|| form("environment", "an object"))?;
        for (name, value) in environment {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            document.environment.set(name, &text);
        }
    }
    document.device = root.get("device").map(read_device).transpose()?;
    document.schedule = root.get("schedule").map(read_schedule).transpose()?;
    document.evaluation = root.get("evaluation").and_then(Json::as_bool).unwrap_or(false);
    if let Some(sources) = root.get("sources") {
        document.sources = Vec::deserialize(sources).map_err(|_error| form("sources", "a list of texts"))?;
    }
    if let Some(predicted) = root.get("predicted").and_then(Json::as_object) {
        document.predicted = predicted.iter().filter_map(read_predicted).collect();
    }
    Ok(())
}

/// Options by name; nested objects add a dot.
fn read_options(prefix: &str, object: &Map<String, Json>, document: &mut ConfigDocument, warnings: &mut Vec<String>) {
    for (name, value) in object {
        let key = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        if find(&key).is_some() {
            match value_from_json(&key, value) {
                // The key is known, so setting it cannot fail.
                Some(value) => drop(document.options.set(&key, value)),
                None => drop(document.options.set(&key, Value::text(&value.to_string()))),
            }
        } else if let (Json::Object(nested), true) = (value, prefix.is_empty()) {
            read_options(&key, nested, document, warnings);
        } else {
            let hint = nearest_key(&key).map_or(String::new(), |near| format!(", did you mean \"{near}\"?"));
            warnings.push(format!("there is no option \"{key}\"{hint}; it is kept as it is"));
            document.unknown_options.insert(key, value.clone());
        }
    }
}

fn read_device(json: &Json) -> Result<ConfigDevice, ConfigError> {
    let name = json.get("name").and_then(Json::as_str);
    let memory = json.get("memory_bytes").and_then(Json::as_u64);
    match (name, memory) {
        (Some(name), Some(memory_bytes)) => Ok(ConfigDevice {
            name: name.to_owned(),
            memory_bytes,
        }),
        _ => Err(form("device", "an object with a name and memory_bytes")),
    }
}

fn read_schedule(json: &Json) -> Result<SchedulePlan, ConfigError> {
    let error = || {
        form(
            "schedule",
            "an object with iterations (1 or more) and dims (lists of whole numbers)",
        )
    };
    let iterations = json.get("iterations").map_or(Some(1), Json::as_u64);
    let iterations = iterations.and_then(|number| u32::try_from(number).ok());
    let iterations = iterations.filter(|number| *number > 0).ok_or_else(error)?;
    let dims = match json.get("dims") {
        None => DimValues::new(),
        Some(dims) => DimValues::deserialize(dims).map_err(|_error| error())?,
    };
    Ok(SchedulePlan { iterations, dims })
}

fn read_predicted((policy, row): (&String, &Json)) -> Option<(u8, Predicted)> {
    let row = Predicted {
        peak_reserved_bytes: row.get("peak_reserved_bytes")?.as_u64()?,
        peak_live_bytes: row.get("peak_live_bytes")?.as_u64()?,
        out_of_memory: row.get("out_of_memory").and_then(Json::as_bool).unwrap_or(false),
    };
    Some((policy.parse().ok()?, row))
}
