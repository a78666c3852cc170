//! Bands along the time axis: which run a step belongs to, and which phase.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::Comparison;
use crate::graph::{Bindings, Id as _, Phase};
use crate::units::Step;
use crate::workload::{AxisRun, GraphIdx};

/// One run on the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBand {
    /// First step.
    pub start: Step,
    /// Last step, exclusive.
    pub end: Step,
    /// The graph.
    pub graph: GraphIdx,
    /// Graph, iteration and bindings: `train · iteration 0 · batch=8`.
    pub label: String,
    /// What tells the run from its neighbours in few words: the values that change, else the graph's name.
    pub short: String,
}

/// Consecutive steps of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseBand {
    /// First step.
    pub start: Step,
    /// Last step, exclusive.
    pub end: Step,
    /// The phase; never unknown.
    pub phase: Phase,
}

/// All bands, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bands {
    /// Runs.
    pub runs: Vec<RunBand>,
    /// Phases, where the source states them.
    pub phases: Vec<PhaseBand>,
}

impl Bands {
    pub(super) fn new(comparison: &Comparison) -> Self {
        let names: Vec<String> = comparison
            .session
            .graphs
            .iter()
            .map(|graph| graph.name.clone())
            .collect();
        let many = comparison.axis.runs.iter().any(|run| run.run.iteration > 0);
        let changing = changing_symbols(&comparison.axis.runs);
        let runs = comparison.axis.runs.iter().map(|run| {
            let name = names.get(run.run.graph.idx()).cloned().unwrap_or_default();
            let changing = changing_values(run, &changing);
            RunBand {
                start: run.start,
                end: Step(run.start.0 + run.n_steps),
                graph: run.run.graph,
                label: label(&name, run, many),
                short: if changing.is_empty() { name } else { changing },
            }
        });
        let mut phases = Vec::new();
        for run in &comparison.axis.runs {
            if let Some(entry) = comparison.workload.graphs().get(run.run.graph.idx()) {
                let of_ops = entry.graph.ops().iter().map(|op| op.phase);
                add_phases(&mut phases, run, of_ops);
            }
        }
        Self {
            runs: runs.collect(),
            phases,
        }
    }

    /// The runs that reach into the steps `t0..t1`.
    pub fn runs_within(&self, t0: f64, t1: f64) -> &[RunBand] {
        let low = self.runs.partition_point(|band| f64::from(band.end.0) <= t0);
        let high = self.runs.partition_point(|band| f64::from(band.start.0) < t1);
        self.runs.get(low..high).unwrap_or(&[])
    }

    /// The phases that reach into the steps `t0..t1`.
    pub fn phases_within(&self, t0: f64, t1: f64) -> &[PhaseBand] {
        let low = self.phases.partition_point(|band| f64::from(band.end.0) <= t0);
        let high = self.phases.partition_point(|band| f64::from(band.start.0) < t1);
        self.phases.get(low..high).unwrap_or(&[])
    }
}

/// By graph: the dimensions that do not have the same value in all its runs. O(runs x dimensions).
fn changing_symbols(runs: &[AxisRun]) -> BTreeMap<GraphIdx, BTreeSet<&str>> {
    let mut first: BTreeMap<GraphIdx, &Bindings> = BTreeMap::new();
    let mut changing: BTreeMap<GraphIdx, BTreeSet<&str>> = BTreeMap::new();
    for run in runs.iter().map(|run| &run.run) {
        let reference = *first.entry(run.graph).or_insert(&run.bindings);
        let differs = run
            .bindings
            .iter()
            .filter(|(symbol, value)| reference.get(*symbol) != Some(value));
        changing
            .entry(run.graph)
            .or_default()
            .extend(differs.map(|(symbol, _)| symbol.as_str()));
    }
    changing
}

/// The values that change, such as `seq=128`; empty where none does.
fn changing_values(run: &AxisRun, changing: &BTreeMap<GraphIdx, BTreeSet<&str>>) -> String {
    let of_graph = changing.get(&run.run.graph);
    let changes = |symbol: &String| of_graph.is_some_and(|symbols| symbols.contains(symbol.as_str()));
    let values = run.run.bindings.iter().filter(|(symbol, _)| changes(symbol));
    values
        .map(|(symbol, value)| format!("{symbol}={value}"))
        .collect::<Vec<_>>()
        .join(" · ")
}

fn label(name: &str, run: &AxisRun, has_iterations: bool) -> String {
    let mut parts = vec![name.to_owned()];
    if has_iterations {
        parts.push(format!("iteration {}", run.run.iteration));
    }
    parts.extend(
        run.run
            .bindings
            .iter()
            .map(|(symbol, value)| format!("{symbol}={value}")),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn add_phases(bands: &mut Vec<PhaseBand>, run: &AxisRun, phases: impl Iterator<Item = Phase>) {
    let first = bands.len();
    for (step, phase) in (run.start.0..run.start.0 + run.n_steps).zip(phases) {
        if phase == Phase::Unknown {
            continue;
        }
        match bands.get_mut(first..).and_then(<[PhaseBand]>::last_mut) {
            Some(band) if band.phase == phase && band.end.0 == step => band.end = Step(step + 1),
            _ => bands.push(PhaseBand {
                start: Step(step),
                end: Step(step + 1),
                phase,
            }),
        }
    }
}
