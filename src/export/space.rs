//! What `highwater sweep` and `highwater recommend` write: JSON objects, and points as CSV.
//!
//! Fields are a contract: they are added to freely and changed never. Bytes and nanoseconds are integers; what was not simulated has
//! null in the place of figures. `highwater_sweep` and `highwater_recommendation` are the versions of the forms.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::inspect::WireDiagnostic;
use super::json_of;
use super::table::Line;
use crate::analysis::space::{
    Chosen, Link, Outcome, PointFigures, Recommendation, Sentence, Space, SpacePoint, WhichChoice, front,
};
use crate::diagnostics::Diagnostics;
use crate::options::Value;
use crate::sim::fold::ReservedParts;

/// The version of both forms.
const VERSION: u32 = 1;

/// The points of a space.
#[derive(Serialize, Debug)]
pub struct WireSweep {
    highwater_sweep: u32,
    workload: String,
    axes: Vec<WireAxis>,
    size: u64,
    is_complete: bool,
    points: Vec<WirePoint>,
    front: Vec<u64>,
    largest: Vec<WireLargest>,
    smallest_device: Option<WireDevice>,
    diagnostics: Vec<WireDiagnostic>,
}

/// What a sweep answers beside its points.
#[derive(Clone, Debug, Default)]
pub struct SweepAnswers {
    /// By axis with numbers: its name, the largest value that fits, and the point with it.
    pub largest: Vec<(String, Value, u64)>,
    /// The smallest device profile that fits, with its bytes, and the point that was tried on it.
    pub smallest_device: Option<(String, u64, u64)>,
    /// What was odd.
    pub diagnostics: Diagnostics,
}

#[derive(Serialize, Debug)]
struct WireAxis {
    key: String,
    name: String,
    values: Vec<Json>,
}

#[derive(Serialize, Debug)]
struct WireLargest {
    axis: String,
    value: Json,
    index: u64,
}

#[derive(Serialize, Debug)]
struct WireDevice {
    name: String,
    memory_bytes: u64,
    index: u64,
}

/// One point.
#[derive(Serialize, Debug)]
pub(super) struct WirePoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    values: Map<String, Json>,
    policy: u8,
    status: &'static str,
    peak_reserved_bytes: Option<u64>,
    reserved: Option<WireParts>,
    peak_live_bytes: Option<u64>,
    fragmentation: Option<f64>,
    device_calls: Option<u64>,
    device_mallocs: Option<u64>,
    device_frees: Option<u64>,
    unloads: Option<u64>,
    estimated_overhead_ns: Option<u64>,
    capacity_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_by: Vec<WireRefusal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

#[derive(Serialize, Debug)]
struct WireParts {
    features: u64,
    weights: u64,
    variables: u64,
    io: u64,
}

#[derive(Serialize, Debug)]
struct WireRefusal {
    rule: &'static str,
    message: String,
    options: Vec<String>,
}

impl WireSweep {
    /// The points of a space, by number; all of them, or those until it was stopped.
    pub fn new(workload: &str, space: &Space, points: &[SpacePoint], answers: &SweepAnswers) -> Self {
        let largest = answers.largest.iter().map(|(axis, value, index)| WireLargest {
            axis: axis.clone(),
            value: json_of(value),
            index: *index,
        });
        let device = answers.smallest_device.as_ref();
        Self {
            highwater_sweep: VERSION,
            workload: workload.to_owned(),
            axes: axes(space),
            size: space.size(),
            is_complete: points.len() as u64 == space.size(),
            points: points.iter().map(|point| WirePoint::new(space, point)).collect(),
            front: front(points).into_iter().map(|position| points[position].idx).collect(),
            largest: largest.collect(),
            smallest_device: device.map(|(name, memory_bytes, index)| WireDevice {
                name: name.clone(),
                memory_bytes: *memory_bytes,
                index: *index,
            }),
            diagnostics: WireDiagnostic::all(&answers.diagnostics),
        }
    }
}

fn axes(space: &Space) -> Vec<WireAxis> {
    let axes = space.axes().iter().map(|axis| WireAxis {
        key: axis.key(),
        name: axis.name().to_owned(),
        values: axis.values.iter().map(json_of).collect(),
    });
    axes.collect()
}

impl WirePoint {
    fn new(space: &Space, point: &SpacePoint) -> Self {
        let figures = point.figures();
        let of = |figure: fn(&PointFigures) -> u64| figures.map(figure);
        let values = space.axes().iter().zip(space.values(point.idx));
        let (refused_by, failed) = match &point.outcome {
            Outcome::Ran(_) => (Vec::new(), None),
            Outcome::Failed(why) => (Vec::new(), Some(why.clone())),
            Outcome::Refused(refusals) => {
                let refusals = refusals.iter().map(|refusal| WireRefusal {
                    rule: refusal.rule,
                    message: refusal.message.clone(),
                    options: refusal.options.clone(),
                });
                (refusals.collect(), None)
            }
        };
        Self {
            index: Some(point.idx),
            values: values.map(|(axis, value)| (axis.key(), json_of(value))).collect(),
            policy: point.policy.number(),
            status: status(point),
            peak_reserved_bytes: of(|figures| figures.peak_reserved.get()),
            reserved: figures.map(|figures| parts(&figures.reserved)),
            peak_live_bytes: of(|figures| figures.peak_live.get()),
            fragmentation: figures.map(|figures| figures.fragmentation),
            device_calls: of(PointFigures::device_calls),
            device_mallocs: of(|figures| figures.device_mallocs),
            device_frees: of(|figures| figures.device_frees),
            unloads: of(|figures| figures.unloads),
            estimated_overhead_ns: of(|figures| figures.overhead.0),
            capacity_bytes: of(|figures| figures.capacity.get()),
            refused_by,
            failed,
        }
    }
}

/// How a point ended, one word.
fn status(point: &SpacePoint) -> &'static str {
    match &point.outcome {
        Outcome::Ran(figures) => figures.ending.name(),
        Outcome::Refused(_) => "refused",
        Outcome::Failed(_) => "failed",
    }
}

const fn parts(reserved: &ReservedParts) -> WireParts {
    WireParts {
        features: reserved.features.get(),
        weights: reserved.weights.get(),
        variables: reserved.variables.get(),
        io: reserved.io.get(),
    }
}

/// Columns behind those of the axes.
const COLUMNS: [&str; 14] = [
    "policy",
    "status",
    "on_front",
    "peak_reserved_bytes",
    "features_bytes",
    "weights_bytes",
    "variables_bytes",
    "io_bytes",
    "peak_live_bytes",
    "fragmentation",
    "device_calls",
    "unloads",
    "estimated_overhead_ns",
    "capacity_bytes",
];

/// The points as a table: a row a point, its number, a column an axis, then the figures; empty where there are none.
pub fn sweep_csv(space: &Space, points: &[SpacePoint]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = Line::default();
    line.push("index");
    for axis in space.axes() {
        line.push(&axis.key());
    }
    for column in COLUMNS {
        line.push(column);
    }
    line.end(&mut out);
    let mut on_front = vec![false; points.len()];
    for position in front(points) {
        on_front[position] = true;
    }
    for (point, on_front) in points.iter().zip(on_front) {
        line.push(&point.idx.to_string());
        for value in space.values(point.idx) {
            line.push(&value.to_string());
        }
        for cell in cells(point, on_front) {
            line.push(&cell);
        }
        line.end(&mut out);
    }
    out
}

fn cells(point: &SpacePoint, on_front: bool) -> [String; 14] {
    let mut cells: [String; 14] = Default::default();
    cells[0] = point.policy.number().to_string();
    status(point).clone_into(&mut cells[1]);
    cells[2] = u8::from(on_front).to_string();
    let Some(figures) = point.figures() else { return cells };
    let reserved = &figures.reserved;
    let bytes = [
        figures.peak_reserved,
        reserved.features,
        reserved.weights,
        reserved.variables,
        reserved.io,
        figures.peak_live,
    ];
    for (cell, bytes) in cells[3..9].iter_mut().zip(bytes) {
        *cell = bytes.get().to_string();
    }
    cells[9] = figures.fragmentation.to_string();
    cells[10] = figures.device_calls().to_string();
    cells[11] = figures.unloads.to_string();
    cells[12] = figures.overhead.0.to_string();
    cells[13] = figures.capacity.get().to_string();
    cells
}

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
            &SpacePoint {
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

/// What a configuration sets: options by key, dimensions and iterations.
fn settings(chosen: &Chosen) -> Map<String, Json> {
    let configuration = &chosen.configuration;
    let options = configuration.options.overrides();
    let mut settings: Map<String, Json> = options.map(|(key, value)| (key.to_owned(), json_of(value))).collect();
    for (name, values) in &configuration.plan.dims {
        settings.insert(format!("dim:{name}"), values.as_slice().into());
    }
    settings.insert("iterations".to_owned(), configuration.plan.iterations.into());
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
