//! Bands along the time axis: which run a step belongs to, and which phase.

use crate::analysis::Comparison;
use crate::graph::{Id as _, Phase};
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
    /// The graph's name alone.
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
        let runs = comparison.axis.runs.iter().map(|run| {
            let short = names.get(run.run.graph.idx()).cloned().unwrap_or_default();
            RunBand {
                start: run.start,
                end: Step(run.start.0 + run.n_steps),
                graph: run.run.graph,
                label: label(&short, run, many),
                short,
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
