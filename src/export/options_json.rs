//! The tables of options, rules and variables as one JSON object: `highwater options --format json`.

use serde_json::{Map, Value as Json, json};

use super::allocator::allocator_options_json;
use super::json_parts::{fields_of, list};
use highwater_options::{CHECKS, Choice, ENVIRONMENT, OptionRow, TABLE};
use highwater_script::json_of;

pub fn options_json() -> Json {
    let outcomes = CHECKS
        .iter()
        .flat_map(|check| check.outcomes.iter().map(move |outcome| (check, outcome)));
    json!({
        "options": list(TABLE, option_json),
        "rules": list(outcomes, |(check, outcome)| {
            json!({
                "rule": check.id,
                "severity": outcome.severity.name(),
                "options": check.options,
                "summary": outcome.summary,
                "source": check.source,
            })
        }),
        "environment": list(ENVIRONMENT, |row| {
            let choice = |(value, meaning): &Choice<&str>| ((*value).to_owned(), (*meaning).into());
            json!({
                "name": row.name,
                "summary": row.summary,
                "details": row.details,
                "precedence": row.precedence,
                "choices": row.choices.iter().map(choice).collect::<Map<String, Json>>(),
                "source": row.source,
            })
        }),
        "allocator": allocator_options_json(),
    })
}

/// One option, with `range` or with `choices` or with neither.
fn option_json(row: &OptionRow) -> Json {
    let choices = row.kind.choices();
    let summaries = choices
        .iter()
        .map(|(value, summary)| (value.to_string(), (*summary).into()));
    let object = json!({
        "key": row.key,
        "section": row.section.name(),
        "type": row.kind.name(),
        "default": json_of(&row.default_value()),
        "unset_means": row.unset_means,
        "default_by_run_mode": row.by_run_mode.map(|[inference, training]| {
            json!({"inference": json_of(&inference.value()), "training": json_of(&training.value())})
        }),
        "range": row.kind.range().map(|(min, max)| [min, max]),
        "choices": list(&choices, |(value, _)| json_of(value)),
        "choice_summaries": summaries.collect::<Map<String, Json>>(),
        "unit": row.unit,
        "summary": row.summary,
        "details": row.details,
        "since": row.since,
        "deprecated": row.deprecated,
        "replaced_by": row.replaced_by,
        "memory_effect": row.memory_effect,
        "lowers_to": row.lowers_to,
        "estimate": row.is_estimate,
        "rule": row.rule,
        "source": row.source,
    });
    Json::Object(fields_of(object, &["range", "choices", "choice_summaries"]))
}
