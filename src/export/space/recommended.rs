//! The JSON object of a recommendation.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{VERSION, WireAxis, WirePoint, axes};
use crate::inspect::WireDiagnostic;
use crate::json_of;
use highwater_analysis::sweep::{Chosen, Link, Recommendation, Sentence, Space, SweepPoint, WhichChoice};
use highwater_model::diagnostics::Diagnostics;

/// A recommendation.
#[derive(Serialize, Debug)]
pub struct WireRecommendation {
    highwater_recommendation: u32,
    workload: String,
    goal: String,
    axes: Vec<WireAxis>,
    size: u64,
    tried: u64,
    is_exhaustive: bool,
    winner: Option<WireChosen>,
    runner_up: Option<WireChosen>,
    equals: u64,
    at_hand: WirePoint,
    reasons: Vec<WireSentence>,
    rules: Vec<WireRule>,
    left_out: WireLeftOut,
    uncertain: Vec<WireSentence>,
    diagnostics: Vec<WireDiagnostic>,
}

#[derive(Serialize, Debug)]
struct WireChosen {
    title: String,
    settings: Map<String, Json>,
    #[serde(flatten)]
    point: WirePoint,
}

#[derive(Serialize, Debug)]
struct WireRule {
    rule: &'static str,
    message: String,
    options: Vec<String>,
    count: u64,
}

#[derive(Serialize, Debug)]
struct WireLeftOut {
    out_of_memory: u64,
    thrashes: u64,
    budget_too_small: u64,
    failed: Vec<WireFailed>,
}

#[derive(Serialize, Debug)]
struct WireFailed {
    message: String,
    count: u64,
}

/// A sentence and what its figures are about.
#[derive(Serialize, Debug)]
struct WireSentence {
    text: String,
    figures: Vec<WireFigure>,
}

#[derive(Serialize, Debug)]
struct WireFigure {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
    about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<String>,
}

impl WireRecommendation {
    /// A recommendation over a space.
    pub fn new(workload: &str, space: &Space, found: &Recommendation, diagnostics: &Diagnostics) -> Self {
        let chosen = |chosen: &Chosen| WireChosen {
            title: chosen.title.clone(),
            settings: settings(chosen),
            point: WirePoint::new(space, &chosen.point),
        };
        let mut at_hand = WirePoint::new(
            space,
            &SweepPoint {
                idx: 0,
                ..found.base.clone()
            },
        );
        // It is no point of the space.
        (at_hand.index, at_hand.values) = (None, Map::new());
        let sentences = |sentences: &[Sentence]| sentences.iter().map(WireSentence::new).collect();
        let rules = found.rules.iter().map(|rule| WireRule {
            rule: rule.rule,
            message: rule.message.clone(),
            options: rule.options.clone(),
            count: rule.count,
        });
        let failed = found.left_out.failed.iter().map(|(message, count)| WireFailed {
            message: message.clone(),
            count: *count,
        });
        Self {
            highwater_recommendation: VERSION,
            workload: workload.to_owned(),
            goal: found.goal.name(space),
            axes: axes(space),
            size: space.size(),
            tried: found.searched.tried,
            is_exhaustive: found.searched.is_whole(),
            winner: found.winner.as_ref().map(chosen),
            runner_up: found.runner_up.as_ref().map(chosen),
            equals: found.equals,
            at_hand,
            reasons: sentences(&found.reasons),
            rules: rules.collect(),
            left_out: WireLeftOut {
                out_of_memory: found.left_out.out_of_memory,
                thrashes: found.left_out.thrashes,
                budget_too_small: found.left_out.budget_too_small,
                failed: failed.collect(),
            },
            uncertain: sentences(&found.uncertain),
            diagnostics: WireDiagnostic::all(diagnostics),
        }
    }
}

/// What a configuration sets: options by key, dimensions, iterations, and the entries of the schedule, where it has any.
fn settings(chosen: &Chosen) -> Map<String, Json> {
    let configuration = &chosen.configuration;
    let options = configuration.options.overrides();
    let mut settings: Map<String, Json> = options.map(|(key, value)| (key.to_owned(), json_of(value))).collect();
    for (name, values) in &configuration.plan.dims {
        settings.insert(format!("dim:{name}"), values.as_slice().into());
    }
    settings.insert("iterations".to_owned(), configuration.plan.iterations.into());
    let entries = configuration.plan.entries.iter();
    let entries: Vec<Json> = entries.map(|entry| entry.to_string().into()).collect();
    if !entries.is_empty() {
        settings.insert("run".to_owned(), entries.into());
    }
    settings
}

impl WireSentence {
    fn new(sentence: &Sentence) -> Self {
        let figures = sentence.parts.iter().filter_map(|part| {
            let (about, of, step, option) = match part.link.as_ref()? {
                Link::Lane(of) => ("lane", Some(which(*of)), None, None),
                Link::Step { of, step } => ("step", Some(which(*of)), Some(step.0), None),
                Link::Tensor { of, step, .. } => ("tensor", Some(which(*of)), Some(step.0), None),
                Link::Option(key) => ("option", None, None, Some(key.clone())),
            };
            Some(WireFigure {
                text: part.text.clone(),
                exact: part.exact.clone(),
                about,
                of,
                step,
                option,
            })
        });
        Self {
            text: sentence.text(),
            figures: figures.collect(),
        }
    }
}

const fn which(which: WhichChoice) -> &'static str {
    match which {
        WhichChoice::Winner => "winner",
        WhichChoice::RunnerUp => "runner_up",
        WhichChoice::Base => "at_hand",
    }
}
