//! The JSON object of a recommendation.

use serde_json::{Map, Value as Json, json};

use super::{VERSION, axes, point_json};
use crate::json_parts::{diagnostics_json, fields_of, list};
use highwater_analysis::sweep::{Chosen, Link, Recommendation, Sentence, Space, SweepPoint, WhichChoice};
use highwater_model::diagnostics::Diagnostics;
use highwater_script::json_of;

/// A recommendation over a space.
pub fn recommendation_json(workload: &str, space: &Space, found: &Recommendation, diagnostics: &Diagnostics) -> Json {
    let left_out = &found.left_out;
    json!({
        "highwater_recommendation": VERSION,
        "workload": workload,
        "goal": found.goal.name(space),
        "axes": axes(space),
        "size": space.size(),
        "tried": found.searched.tried,
        "is_exhaustive": found.searched.is_whole(),
        "winner": found.winner.as_ref().map(|chosen| chosen_json(space, chosen)),
        "runner_up": found.runner_up.as_ref().map(|chosen| chosen_json(space, chosen)),
        "equals": found.equals,
        "at_hand": base_point(space, &found.base),
        "reasons": list(&found.reasons, sentence_json),
        "rules": list(&found.rules, |rule| {
            json!({
                "rule": rule.rule,
                "message": rule.message,
                "options": rule.options,
                "count": rule.count,
            })
        }),
        "left_out": {
            "out_of_memory": left_out.out_of_memory,
            "thrashes": left_out.thrashes,
            "budget_too_small": left_out.budget_too_small,
            "failed": list(&left_out.failed, |(message, count)| json!({"message": message, "count": count})),
        },
        "uncertain": list(&found.uncertain, sentence_json),
        "diagnostics": diagnostics_json(diagnostics),
    })
}

/// The active configuration, which has no number and no values in the space.
fn base_point(space: &Space, base: &SweepPoint) -> Json {
    let mut point = point_json(space, &SweepPoint { idx: 0, ..base.clone() });
    point.shift_remove("index");
    point.insert("values".to_owned(), json!({}));
    Json::Object(point)
}

fn chosen_json(space: &Space, chosen: &Chosen) -> Json {
    let mut fields = fields_of(json!({"title": chosen.title, "settings": settings(chosen)}), &[]);
    fields.extend(point_json(space, &chosen.point));
    Json::Object(fields)
}

/// Options by key, dimensions, iterations, and the entries of the schedule, where it has any.
fn settings(chosen: &Chosen) -> Map<String, Json> {
    let configuration = &chosen.configuration;
    let options = configuration.options.overrides();
    let mut settings: Map<String, Json> = options.map(|(key, value)| (key.to_owned(), json_of(value))).collect();
    for (name, values) in &configuration.plan.dims {
        settings.insert(format!("dim:{name}"), values.as_slice().into());
    }
    settings.insert("iterations".to_owned(), configuration.plan.iterations.into());
    let entries = &configuration.plan.entries;
    if !entries.is_empty() {
        settings.insert("run".to_owned(), list(entries, |entry| entry.to_string().into()));
    }
    settings
}

/// A sentence, and the subjects of its figures.
fn sentence_json(sentence: &Sentence) -> Json {
    let figures = sentence.parts.iter().filter_map(|part| {
        let (about, of, step, option) = match part.link.as_ref()? {
            Link::Lane(of) => ("lane", Some(of), None, None),
            Link::Step { of, step } => ("step", Some(of), Some(step.0), None),
            Link::Tensor { of, step, .. } => ("tensor", Some(of), Some(step.0), None),
            Link::Option(key) => ("option", None, None, Some(key)),
        };
        let object = json!({
            "text": part.text,
            "exact": part.exact,
            "about": about,
            "of": of.map(|of| which(*of)),
            "step": step,
            "option": option,
        });
        Some(Json::Object(fields_of(object, &["exact", "of", "step", "option"])))
    });
    json!({"text": sentence.text(), "figures": figures.collect::<Json>()})
}

const fn which(which: WhichChoice) -> &'static str {
    match which {
        WhichChoice::Winner => "winner",
        WhichChoice::RunnerUp => "runner_up",
        WhichChoice::Base => "at_hand",
    }
}
