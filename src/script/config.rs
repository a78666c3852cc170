//! The configuration file: reading and writing the settings of a session as JSON.
//!
//! In: a [`ConfigDocument`], or the bytes of a file. Out: text, or a document with warnings. Two forms are read: the versioned one of
//! [`to_json`], and a plain object of option names (dotted, or nested as `{"memory_config": {"static_memory_policy": 2}}`). Unknown
//! names are kept with a warning, so that an older highwater loses nothing. Deliberately not here: checking values
//! (`options::check`).

use serde_json::{Map, Value as Json};

use highwater_model::diagnostics::{Diagnostics, Severity, without_type_names};
use highwater_model::workload::SchedulePlan;
use highwater_options::{ChosenFramework, EngineName, Framework, engine_name, has_fields, unknown_key};

use super::config_document::{CONFIG_VERSION, ConfigDocument};
use super::config_wire::{Probe, Version, Wire, WireSchedule};
use super::json_kind::json_kind;
use super::json_value::{is_expression, value_of};
use super::neighbours::remarks_on_written;
use super::quotes::{first_in_json, named};

/// Why a configuration could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct ConfigError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    pub reason: String,
}

impl From<serde_json::Error> for ConfigError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text.strip_suffix(&format!(" at line {line} column {column}"));
        let reason = reason.unwrap_or(&text);
        Self {
            line: line.max(1),
            column: column.max(1),
            reason: if error.is_eof() {
                let what = reason.strip_prefix("EOF while parsing ").unwrap_or("it");
                format!("the text ends in the middle of {what}; it was cut off, copy or save it again")
            } else {
                without_type_names(reason)
            },
        }
    }
}

/// The file's text: indented, fields in a fixed order, options in the order of the table, a final line break.
pub fn to_json(document: &ConfigDocument) -> String {
    let mut text = serde_json::to_string_pretty(&Wire::from_document(document))
        .expect("a document holds nothing but texts, numbers and maps with text keys");
    text.push('\n');
    text
}

/// Reads a configuration. The warnings name unknown options and fields; those are kept.
///
/// # Errors
/// [`ConfigError`] with line and column: not JSON, not an object, an answer of ours or a document, a field of the wrong type, or
/// written by a newer highwater.
pub fn from_json(bytes: &[u8]) -> Result<(ConfigDocument, Diagnostics), ConfigError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Json::Object(object) = serde_json::from_slice(bytes).map_err(|error| with_quotes(error, bytes))? else {
        return Err(ConfigError {
            line: 1,
            column: 1,
            reason: "a configuration is a JSON object, such as {\"graph_run_mode\": 0}".to_owned(),
        });
    };
    let probe: Probe = serde_json::from_slice(bytes)?;
    let mut warnings = Diagnostics::new();
    let mut document = ConfigDocument::default();
    if probe.highwater_config.is_none() {
        if let Some(kind) = json_kind(&object) {
            return Err(ConfigError {
                line: 1,
                column: 1,
                reason: format!("this is {kind}"),
            });
        }
        read_options(&object, "", &mut document, &mut warnings);
        return Ok((document, warnings));
    }
    let wire: Wire = serde_json::from_slice(bytes)?;
    read_options(&wire.options, "", &mut document, &mut warnings);
    for (name, text) in &wire.environment {
        document.environment.set(name, text);
        for (severity, message) in remarks_on_written(name, text) {
            warnings.counted(severity, message, name, 1);
        }
    }
    if let Some(name) = &wire.framework {
        let chosen = Framework::of_name(name).map(|framework| ChosenFramework {
            framework,
            condition: None,
        });
        if chosen.is_none() {
            warnings.warning(
                format!("no framework \"{name}\" has defaults here; it is left out"),
                "framework",
            );
        }
        document.options.set_framework(chosen);
    }
    for name in wire.other.keys() {
        warnings.warning(
            format!("\"{name}\" is not a field of a configuration; it is kept unchanged"),
            name,
        );
    }
    document.tool_version = wire.tool_version;
    document.device = wire.device;
    document.schedule = wire.schedule.map(WireSchedule::into_plan);
    document.evaluation = wire.evaluation;
    document.sources = wire.sources;
    document.predicted = wire.predicted;
    document.unknown_fields = wire.other;
    Ok((document, warnings))
}

/// The error of JSON, or the typographic quotation mark that is its cause.
fn with_quotes(error: serde_json::Error, bytes: &[u8]) -> ConfigError {
    match std::str::from_utf8(bytes).ok().and_then(first_in_json) {
        Some((line, column, mark)) => ConfigError {
            line,
            column,
            reason: named(mark, "JSON takes it for no quotation mark"),
        },
        None => error.into(),
    }
}

/// Reads a schedule by itself: the object that configurations have as `schedule`.
///
/// # Errors
/// [`ConfigError`] with line and column.
pub fn schedule_from_json(bytes: &[u8]) -> Result<SchedulePlan, ConfigError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wire: WireSchedule = serde_json::from_slice(bytes)?;
    Ok(wire.into_plan())
}

/// A schedule as JSON in one line, as [`schedule_from_json`] reads it.
pub(super) fn schedule_json(plan: &SchedulePlan) -> String {
    serde_json::to_string(&WireSchedule::from_plan(plan))
        .expect("a schedule holds nothing but texts, numbers and maps with text keys")
}

/// Reads the options of an object, and those of nested objects with the name of a group.
fn read_options(object: &Map<String, Json>, group: &str, document: &mut ConfigDocument, warnings: &mut Diagnostics) {
    for (name, json) in object {
        let key = format!("{group}{name}");
        match json {
            Json::Object(inner) if has_fields(&key) && !is_expression(inner) => {
                read_options(inner, &format!("{key}."), document, warnings);
            }
            Json::Object(inner) if group.is_empty() && is_of_engine(name, inner) => {
                read_options(inner, "", document, warnings);
            }
            _ if document.options.set(&key, value_of(json)).is_ok() => {}
            _ if let Some(row) = engine_name(&key).and_then(EngineName::acting) => {
                let value = EngineName::value(row, &value_of(json));
                // The key is in the table, so setting it cannot fail.
                drop(document.options.set(row.key, value));
            }
            _ => {
                let (severity, message) = unknown_option(&key);
                warnings.counted(severity, message, &key, 1);
                document.unknown_options.insert(key, json.clone());
            }
        }
    }
}

/// Whether an object is one of the levels of MindSpore's `ge_options` around names of GE: `{"global": {...}, "session": {...}}`.
fn is_of_engine(name: &str, object: &Map<String, Json>) -> bool {
    const LEVELS: [&str; 4] = ["ge_options", "global", "session", "graph"];
    let is_inner = |(name, json): (&String, &Json)| match json {
        Json::Object(inner) => is_of_engine(name, inner),
        _ => name.starts_with("ge."),
    };
    LEVELS.contains(&name) && object.iter().all(is_inner)
}

/// What is said of an option that is not in the table.
pub(super) fn unknown_option(key: &str) -> (Severity, String) {
    if let Some(known) = engine_name(key) {
        return (Severity::Info, format!("{}; it is kept unchanged", known.sentence()));
    }
    let message = unknown_key(key);
    let end = if message.ends_with('?') { " It" } else { "; it" };
    (Severity::Warning, format!("{message}{end} is kept unchanged"))
}

impl Wire {
    fn from_document(document: &ConfigDocument) -> Self {
        Self {
            highwater_config: Version(CONFIG_VERSION),
            tool_version: document.tool_version.clone(),
            options: Self::options_of(document),
            effective: Self::effective_of(document),
            environment: document
                .environment
                .iter()
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
            framework: document
                .options
                .framework()
                .map(|chosen| chosen.framework.row().name.to_owned()),
            device: document.device.clone(),
            schedule: document.schedule.as_ref().map(WireSchedule::from_plan),
            evaluation: document.evaluation,
            sources: document.sources.clone(),
            predicted: document.predicted.clone(),
            other: document.unknown_fields.clone(),
        }
    }
}
