//! A summary of a request: the workload and its runs, the device, the settings; and how two summaries differ.
//!
//! In: an earlier answer of `compare`, or a lane. Out: a [`RequestSummary`], and clauses with the value before and the value now. A part
//! that an earlier answer does not state is not compared.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use highwater_analysis::{Comparison, Configuration};
use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, counted, first_of};
use highwater_options::{GE_USE_STATIC_MEMORY, Options, find, keys};

/// The number of settings in a sentence.
const MOST_SETTINGS: usize = 6;

/// Settings that the device and the lane already tell.
const TOLD_ELSEWHERE: [&str; 5] = [
    keys::DEVICE,
    keys::DEVICE_MEMORY,
    keys::STATIC_MEMORY_POLICY,
    keys::ENGINE_STATIC_MEMORY_POLICY,
    GE_USE_STATIC_MEMORY,
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct RequestedRun {
    graph: String,
    iteration: u64,
    dims: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RequestSummary {
    pub workload: String,
    graphs: Vec<String>,
    runs: Option<Vec<RequestedRun>>,
    device: Option<(String, Bytes)>,
    settings: Option<BTreeMap<String, String>>,
}

impl RequestSummary {
    pub(super) fn read(answer: &Json) -> Self {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let list = |pointer: &str| answer.pointer(pointer).and_then(Json::as_array);
        let setting = |row: &Json| {
            Some((
                row.get("setting")?.as_str()?.to_owned(),
                row.get("value")?.as_str()?.to_owned(),
            ))
        };
        let device = answer.get("device").and_then(|device| {
            let name = device.get("name")?.as_str()?.to_owned();
            Some((name, Bytes(device.get("memory_bytes")?.as_u64()?)))
        });
        Self {
            workload: answer.pointer("/workload/name").map(text).unwrap_or_default(),
            graphs: list("/workload/graphs").into_iter().flatten().map(text).collect(),
            runs: list("/workload/runs").and_then(|runs| runs.iter().map(RequestedRun::read).collect()),
            device,
            settings: list("/settings").map(|rows| rows.iter().filter_map(setting).collect()),
        }
    }

    pub fn of_lane(comparison: &Comparison, lane: usize, options: &Configuration) -> Self {
        let device = comparison.device_of(lane);
        let runs = comparison.axis.runs.iter().map(|run| RequestedRun {
            graph: graph_name(comparison, run.run.graph.idx()),
            iteration: run.run.iteration.into(),
            dims: run.run.bindings.clone(),
        });
        Self {
            workload: comparison.workload.name.clone(),
            graphs: graphs(comparison),
            runs: Some(runs.collect()),
            device: (!comparison.is_measured_lane(lane)).then(|| (device.name.clone(), device.memory())),
            settings: Some(settings(options).into_iter().collect()),
        }
    }

    /// The graphs of both, in a sentence; `None` where they are the same or unknown.
    pub fn other_workload(&self, now: &Self) -> Option<String> {
        let set = |graphs: &[String]| graphs.iter().cloned().collect::<BTreeSet<String>>();
        let (before, is) = (set(&self.graphs), set(&now.graphs));
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<String>>().join(", ");
        (!before.is_empty() && before != is).then(|| {
            format!(
                "The baseline has other graphs: {} instead of {}.",
                list(before),
                list(is)
            )
        })
    }

    /// All other differences, in clauses.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let mut parts = Vec::new();
        if !self.workload.is_empty() && self.workload != now.workload {
            parts.push(format!("{} before, {} now", self.workload, now.workload));
        }
        if let Some((before, is)) = self.device.as_ref().zip(now.device.as_ref())
            && before != is
        {
            let words = |(name, bytes): &(String, Bytes), is_exact: bool| {
                let bytes = if is_exact { bytes.exact() } else { bytes.to_string() };
                format!("{name} with {bytes}")
            };
            let is_exact = words(before, false) == words(is, false);
            parts.push(format!(
                "{} before, {} now",
                words(before, is_exact),
                words(is, is_exact)
            ));
        }
        if let Some((before, is)) = self.runs.as_ref().zip(now.runs.as_ref())
            && before != is
        {
            parts.extend(run_differences(before, is));
        }
        if let Some((before, is)) = self.settings.as_ref().zip(now.settings.as_ref()) {
            parts.extend(setting_differences(before, is));
        }
        parts
    }
}

impl RequestedRun {
    fn read(run: &Json) -> Option<Self> {
        let dims = run.get("dims")?.as_object()?.iter();
        let dims = dims.map(|(name, value)| Some((name.clone(), value.as_u64()?)));
        Some(Self {
            graph: run.get("graph")?.as_str()?.to_owned(),
            iteration: run.get("iteration")?.as_u64()?,
            dims: dims.collect::<Option<_>>()?,
        })
    }
}

/// Empty for an unknown graph.
pub(super) fn graph_name(comparison: &Comparison, graph: usize) -> String {
    let known = comparison.session.graphs.get(graph);
    known.map_or_else(String::new, |graph| graph.name.clone())
}

pub(super) fn graphs(comparison: &Comparison) -> Vec<String> {
    comparison.study().graph_names(comparison)
}

/// Options and variables without their defaults, in the order of their tables.
pub(super) fn settings(options: &Configuration) -> Vec<(String, String)> {
    let rows = options.setting_differences(&Configuration::default());
    rows.into_iter().map(|row| (row.name, row.here)).collect()
}

/// Iterations and values of dimensions that differ; without those the number or the order of runs.
fn run_differences(before: &[RequestedRun], now: &[RequestedRun]) -> Vec<String> {
    let mut parts = Vec::new();
    let iterations = |runs: &[RequestedRun]| {
        runs.iter()
            .map(|run| run.iteration.saturating_add(1))
            .max()
            .unwrap_or(0)
    };
    let (were, are) = (iterations(before), iterations(now));
    if were != are {
        parts.push(format!(
            "{} before, {} now",
            counted(were, "iteration"),
            counted(are, "iteration")
        ));
    }
    let (was, is) = (values(before), values(now));
    for ((graph, dim), values) in &is {
        if let Some(old) = was.get(&(*graph, *dim)).filter(|old| *old != values) {
            parts.push(format!(
                "{dim} of {graph}: {} before, {} now",
                listed(old),
                listed(values)
            ));
        }
    }
    if !parts.is_empty() {
        return parts;
    }
    let runs = |runs: &[RequestedRun]| counted(runs.len() as u64, "run");
    parts.push(if before.len() == now.len() {
        "the order of the runs".to_owned()
    } else {
        format!("{} before, {} now", runs(before), runs(now))
    });
    parts
}

fn values(runs: &[RequestedRun]) -> BTreeMap<(&str, &str), BTreeSet<u64>> {
    let mut values: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
    for run in runs {
        for (dim, value) in &run.dims {
            values.entry((&run.graph, dim)).or_default().insert(*value);
        }
    }
    values
}

fn listed(values: &BTreeSet<u64>) -> String {
    first_of(values.iter(), 4, ", ")
}

/// The first settings that differ, and the number of the others.
fn setting_differences(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let usual =
        |key: &str| find(key).map_or_else(|| "unset".to_owned(), |_| Options::default().written(key).to_string());
    let value = |of: &BTreeMap<String, String>, key: &String| of.get(key).cloned().unwrap_or_else(|| usual(key));
    let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let keys = keys.into_iter().filter(|key| !TOLD_ELSEWHERE.contains(&key.as_str()));
    let differing: Vec<&String> = keys.filter(|key| value(before, key) != value(now, key)).collect();
    let one = |key: &&String| format!("{key} {} before, {} now", value(before, key), value(now, key));
    let mut parts: Vec<String> = differing.iter().take(MOST_SETTINGS).map(one).collect();
    let more = differing.len().saturating_sub(MOST_SETTINGS);
    if more > 0 {
        parts.push(counted(more as u64, "more setting"));
    }
    parts
}
