//! The wire forms of `highwater options` and `highwater check`.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::config::json_from_value;
use crate::options::{
    CHECKS, ENVIRONMENT, Environment, Finding, OptionKind, Options, TABLE, effective_policy, effective_values,
};

/// Every option, rule and variable.
#[derive(Serialize, Debug)]
pub struct WireOptions {
    options: Vec<Json>,
    rules: Vec<Json>,
    environment: Vec<Json>,
}

impl WireOptions {
    /// The tables as they are.
    pub fn new() -> Self {
        Self {
            options: TABLE.iter().map(wire_option).collect(),
            rules: CHECKS
                .iter()
                .map(|check| {
                    let severities: Vec<&str> = check.severities.iter().map(|severity| severity.name()).collect();
                    json!({
                        "rule": check.rule, "severity": severities.join("|"), "options": check.options,
                        "summary": check.summary, "source": check.source,
                    })
                })
                .collect(),
            environment: ENVIRONMENT
                .iter()
                .map(|row| json!({"name": row.name, "summary": row.summary, "precedence": row.precedence}))
                .collect(),
        }
    }
}

impl Default for WireOptions {
    fn default() -> Self {
        Self::new()
    }
}

fn wire_option(row: &crate::options::OptionRow) -> Json {
    let mut object = Map::new();
    object.insert("key".to_owned(), json!(row.key));
    object.insert("section".to_owned(), json!(row.section.title()));
    object.insert("type".to_owned(), json!(row.kind.name()));
    object.insert("default".to_owned(), json_from_value(&row.default));
    match &row.kind {
        OptionKind::Choice(choices) => {
            let choices: Vec<Json> = choices
                .iter()
                .map(|choice| json!({"value": json_from_value(&choice.value), "meaning": choice.meaning}))
                .collect();
            object.insert("choices".to_owned(), Json::Array(choices));
        }
        OptionKind::Int { min, max } | OptionKind::Bytes { min, max } => {
            object.insert("range".to_owned(), json!([min, max]));
        }
        OptionKind::Bool => {}
    }
    for (name, text) in [
        ("unit", row.unit),
        ("summary", row.summary),
        ("details", row.details),
        ("since", row.since),
        ("replaced_by", row.replaced_by),
        ("memory_effect", row.memory_effect),
        ("source", row.source),
    ] {
        object.insert(name.to_owned(), json!(text));
    }
    object.insert("deprecated".to_owned(), json!(row.deprecated));
    Json::Object(object)
}

#[derive(Serialize, Debug)]
struct WireFinding<'a> {
    rule: &'a str,
    severity: &'a str,
    options: &'a [String],
    message: &'a str,
    source: &'a str,
}

/// What `check` answers.
#[derive(Serialize, Debug)]
pub struct WireCheck<'a> {
    findings: Vec<WireFinding<'a>>,
    effective: Map<String, Json>,
}

impl<'a> WireCheck<'a> {
    /// Findings, and every effective value with the policy in force.
    pub fn new(findings: &'a [Finding], options: &Options, environment: &Environment) -> Self {
        Self {
            findings: findings
                .iter()
                .map(|finding| WireFinding {
                    rule: finding.rule,
                    severity: finding.severity.name(),
                    options: &finding.options,
                    message: &finding.message,
                    source: finding.source,
                })
                .collect(),
            effective: effective_json(options, environment),
        }
    }
}

/// Every effective value by key, and `static_memory_policy`: the policy in force.
pub(super) fn effective_json(options: &Options, environment: &Environment) -> Map<String, Json> {
    let mut effective: Map<String, Json> = effective_values(options)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), json_from_value(&value)))
        .collect();
    let policy = effective_policy(options, environment).number();
    effective.insert("static_memory_policy".to_owned(), json!(policy));
    effective
}
