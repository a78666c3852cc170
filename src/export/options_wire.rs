//! The tables of options, rules and variables as one JSON object: `highwater options --format json`.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use highwater_options::{CHECKS, ENVIRONMENT, OptionRow, TABLE};

use super::json_value::json_of;

/// The whole object.
#[derive(Debug, Serialize)]
pub struct OptionsObject {
    options: Vec<WireOption>,
    rules: Vec<WireRule>,
    environment: Vec<WireVariable>,
}

/// One option. Exactly one of `range` and `choices` is given, or neither.
#[derive(Debug, Serialize)]
struct WireOption {
    key: &'static str,
    section: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    default: Json,
    unset_means: Option<&'static str>,
    default_by_run_mode: Option<DefaultByRunMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[i64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<Json>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    choice_summaries: Map<String, Json>,
    unit: Option<&'static str>,
    summary: &'static str,
    details: &'static str,
    since: Option<&'static str>,
    deprecated: Option<&'static str>,
    replaced_by: Option<&'static str>,
    memory_effect: &'static str,
    lowers_to: Option<&'static str>,
    estimate: bool,
    rule: &'static str,
    source: &'static str,
}

/// The defaults of an option whose default depends on `graph_run_mode`.
#[derive(Debug, Serialize)]
struct DefaultByRunMode {
    inference: Json,
    training: Json,
}

/// One severity of one rule.
#[derive(Debug, Serialize)]
struct WireRule {
    rule: &'static str,
    severity: &'static str,
    options: &'static [&'static str],
    summary: &'static str,
    source: &'static str,
}

/// One environment variable.
#[derive(Debug, Serialize)]
struct WireVariable {
    name: &'static str,
    summary: &'static str,
    details: &'static str,
    precedence: &'static str,
    choices: Map<String, Json>,
    source: &'static str,
}

/// The tables, ready to be written by serde.
pub fn options_object() -> OptionsObject {
    let rules = CHECKS.iter().flat_map(|check| {
        check.outcomes.iter().map(|outcome| WireRule {
            rule: check.id,
            severity: outcome.severity.name(),
            options: check.options,
            summary: outcome.summary,
            source: check.source,
        })
    });
    let environment = ENVIRONMENT.iter().map(|row| WireVariable {
        name: row.name,
        summary: row.summary,
        details: row.details,
        precedence: row.precedence,
        choices: row
            .choices
            .iter()
            .map(|choice| (choice.value.to_owned(), Json::from(choice.summary)))
            .collect(),
        source: row.source,
    });
    OptionsObject {
        options: TABLE.iter().map(wire_option).collect(),
        rules: rules.collect(),
        environment: environment.collect(),
    }
}

/// The same as a JSON value.
pub fn options_json() -> Json {
    serde_json::to_value(options_object()).expect("the tables hold nothing but texts and numbers")
}

fn wire_option(row: &OptionRow) -> WireOption {
    let choices = row.kind.choices();
    WireOption {
        key: row.key,
        section: row.section.name(),
        kind: row.kind.name(),
        default: json_of(&row.default_value()),
        unset_means: row.unset_means,
        default_by_run_mode: row.by_run_mode.map(|[inference, training]| DefaultByRunMode {
            inference: json_of(&inference.value()),
            training: json_of(&training.value()),
        }),
        range: row.kind.range().map(|(min, max)| [min, max]),
        choices: (!choices.is_empty()).then(|| choices.iter().map(|(value, _)| json_of(value)).collect()),
        choice_summaries: choices
            .iter()
            .map(|(value, summary)| (value.to_string(), Json::from(*summary)))
            .collect(),
        unit: row.unit,
        summary: row.summary,
        details: row.details,
        since: row.since,
        deprecated: row.deprecated,
        replaced_by: row.replaced_by,
        memory_effect: row.memory_effect,
        lowers_to: row.lowers_to,
        estimate: row.is_estimate,
        rule: row.rule,
        source: row.source,
    }
}
