//! The wire form of `highwater compare --format json`.

use serde::Serialize;

use super::WireDiagnostic;
use super::against::WireAgainst;
use super::contributors::WirePeaks;
use super::device::WireFigure;
use super::oom_report::{WireOomReport, wire_story};
use super::pinned::{WireBeside, WirePin, WirePinProblem};
use super::request_summary::{graph_name, graphs, settings};
use super::run_remat::{WireRunRemat, wire_remat};
use super::space::WireRefusal;
use highwater_analysis::{Comparison, Configuration, Lane, LaneId};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::Id as _;
use highwater_model::units::Step;
use highwater_model::workload::Recording;
use highwater_options::Finding;
use highwater_sim::StaticMemoryPolicy;

#[derive(Serialize, Debug)]
struct WireReserved {
    features: u64,
    weights: u64,
    variables: u64,
    io: u64,
}

#[derive(Serialize, Debug)]
struct WireDevice {
    name: String,
    memory_bytes: u64,
    figures: Vec<WireFigure>,
}

/// A sentence, and the step that it speaks of.
#[derive(Serialize, Debug)]
struct WireRemark {
    text: String,
    step: Option<u32>,
}

#[derive(Serialize, Debug)]
pub(super) struct WirePolicy {
    policy: u8,
    label: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    peak_reserved_bytes: u64,
    peak_reserved_step: Option<u32>,
    reserved: WireReserved,
    peak_live_bytes: u64,
    fragmentation: f64,
    internal_waste_bytes: u64,
    external_fragmentation: Option<f64>,
    largest_free_bytes: u64,
    reach_rate: Option<f64>,
    virtual_bytes: u64,
    device_mallocs: u64,
    device_frees: u64,
    device_calls: u64,
    reallocations: u64,
    pages_mapped: u64,
    pages_allocated: u64,
    pages_unmapped: u64,
    stitches: u64,
    recycles: u64,
    synchronizations: u64,
    splits: u64,
    merges: u64,
    clears: u64,
    cleared_bytes: u64,
    unloads: u64,
    out_of_memory: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_memory_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused_requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_refused_step: Option<u32>,
    /// Error-level findings under this policy; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    forbidden_by: Vec<WireRefusal>,
    out_of_memory_story: Option<WireOomReport>,
    explanation: Vec<WireRemark>,
    estimated_overhead_ns: u64,
    overhead: Vec<WireOverhead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arena_behaviour: Option<&'static str>,
    first_divergence_step: Option<u32>,
    lower_bound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    remat: Option<Vec<WireRunRemat>>,
    #[serde(flatten)]
    peaks: WirePeaks,
}

#[derive(Serialize, Debug)]
struct WireOverhead {
    cause: &'static str,
    count: u64,
    estimated_ns: u64,
}

#[derive(Serialize, Debug)]
struct WireBest {
    policy: u8,
    why: String,
}

#[derive(Serialize, Debug)]
struct WireRun {
    graph: String,
    iteration: u32,
    dims: std::collections::BTreeMap<String, u64>,
    start_step: u32,
    steps: u32,
}

#[derive(Serialize, Debug)]
struct WireWorkload {
    name: String,
    graphs: Vec<String>,
    steps: u32,
    runs: Vec<WireRun>,
}

/// A recording of a real run.
#[derive(Serialize, Debug)]
struct WireMeasured {
    title: String,
    peak_reserved_bytes: Option<u64>,
    peak_reserved_step: Option<u32>,
    peak_live_bytes: Option<u64>,
    peak_live_step: Option<u32>,
    fragmentation: Option<f64>,
    out_of_memory: bool,
    remarks: Vec<WireRemark>,
    #[serde(flatten)]
    peaks: WirePeaks,
}

/// An option or a variable that is not as by default.
#[derive(Serialize, Debug)]
struct WireSetting {
    setting: String,
    value: String,
}

fn wire_settings(options: &Configuration) -> Vec<WireSetting> {
    let rows = settings(options).into_iter();
    rows.map(|(setting, value)| WireSetting { setting, value }).collect()
}

/// Every policy beside the others.
#[derive(Serialize, Debug)]
pub struct WireComparison {
    workload: WireWorkload,
    device: WireDevice,
    device_id: u32,
    occupied_bytes: u64,
    policies: Vec<WirePolicy>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pins: Vec<WirePin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pin_problems: Vec<WirePinProblem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measured: Vec<WireMeasured>,
    effective_policy: u8,
    settings: Vec<WireSetting>,
    best: Option<WireBest>,
    alike: Option<String>,
    scratch: &'static str,
    estimates: Vec<&'static str>,
    diagnostics: Vec<WireDiagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<WireAgainst>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<WireBeside>,
}

impl WireComparison {
    /// The wire form of a comparison. `diagnostics` are the importers'; findings of the configuration join them. Of the tensors
    /// at each peak the largest `most` are listed. Pins are told by how they differ from `options`.
    pub fn new(
        (comparison, options): (&Comparison, &Configuration),
        (findings, diagnostics): (&[Finding], &Diagnostics),
        most: usize,
    ) -> Self {
        let peaks = |lane: usize| WirePeaks::new(comparison, lane, most);
        let mut all = diagnostics.clone();
        all.extend(&comparison.diagnostics);
        for finding in findings {
            let message = format!("{}: {}", finding.rule, finding.message);
            let place = finding.options.join(", ");
            match finding.severity {
                Severity::Error => all.error(message, &place),
                Severity::Warning => all.warning(message, &place),
                Severity::Info => all.info(message, &place),
            }
        }
        Self {
            workload: wire_workload(comparison),
            device: WireDevice {
                name: comparison.device.name.clone(),
                memory_bytes: comparison.device.memory_bytes,
                figures: WireFigure::all(&comparison.device),
            },
            device_id: comparison.device_id,
            occupied_bytes: comparison.occupied.get(),
            policies: comparison
                .lanes
                .iter()
                .enumerate()
                .filter(|(_, lane)| !is_measured(lane) && lane.pinned.is_none())
                .map(|(position, _)| wire_policy(comparison, position, peaks(position)))
                .collect(),
            pins: comparison
                .lanes
                .iter()
                .enumerate()
                .filter_map(|(position, lane)| Some((position, lane.pinned.as_deref()?)))
                .map(|(position, pinned)| WirePin::new(comparison, position, pinned, options, peaks(position)))
                .collect(),
            pin_problems: comparison.pin_failures.iter().map(WirePinProblem::new).collect(),
            measured: comparison
                .lanes
                .iter()
                .enumerate()
                .filter(|(_, lane)| is_measured(lane))
                .map(|(position, lane)| wire_measured(comparison, lane, peaks(position)))
                .collect(),
            effective_policy: comparison.active_policy.number(),
            settings: wire_settings(options),
            best: comparison.lowest_peak.as_ref().map(|best| WireBest {
                policy: best.policy.number(),
                why: best.why.clone(),
            }),
            alike: comparison.equivalence.clone(),
            scratch: comparison.scratch.name(),
            estimates: comparison.estimates.iter().map(|estimate| estimate.key).collect(),
            diagnostics: WireDiagnostic::all(&all),
            baseline: None,
            beside: None,
        }
    }

    /// The same with what differs from an earlier answer.
    #[must_use]
    pub fn against(self, baseline: Option<WireAgainst>) -> Self {
        Self { baseline, ..self }
    }

    /// The same with all lanes beside one of them.
    #[must_use]
    pub fn beside(self, beside: Option<WireBeside>) -> Self {
        Self { beside, ..self }
    }
}

fn is_measured(lane: &Lane) -> bool {
    matches!(lane.id, LaneId::Measured(_))
}

/// Figures of a measured lane; what the file does not state is `null`.
fn wire_measured(comparison: &Comparison, lane: &Lane, peaks: WirePeaks) -> WireMeasured {
    let summary = &lane.summary;
    let recording = comparison.recording(lane.id);
    let stated = |states: fn(&Recording) -> bool| recording.is_some_and(states);
    let step = |states, step: Option<Step>| step.filter(|_| stated(states)).map(|step| step.0);
    WireMeasured {
        title: comparison.lane_title(lane.id),
        peak_reserved_bytes: stated(Recording::states_reserved).then_some(summary.peak_reserved.get()),
        peak_reserved_step: step(Recording::states_reserved, summary.peak_reserved_step),
        peak_live_bytes: stated(Recording::states_live).then_some(summary.peak_live.get()),
        peak_live_step: step(Recording::states_live, summary.peak_live_step),
        fragmentation: recording
            .filter(|one| one.states_use_of_reserved(summary.peak_live, summary.peak_reserved))
            .map(|_| summary.fragmentation),
        out_of_memory: summary.out_of_memory,
        remarks: wire_explanation(lane),
        peaks,
    }
}

fn wire_workload(comparison: &Comparison) -> WireWorkload {
    WireWorkload {
        name: comparison.workload.name.clone(),
        graphs: graphs(comparison),
        steps: comparison.axis.n_steps,
        runs: comparison
            .axis
            .runs
            .iter()
            .map(|run| WireRun {
                graph: graph_name(comparison, run.run.graph.idx()),
                iteration: run.run.iteration,
                dims: run.run.bindings.clone(),
                start_step: run.start.0,
                steps: run.n_steps,
            })
            .collect(),
    }
}

/// Where a lane's peak comes from.
fn wire_explanation(lane: &Lane) -> Vec<WireRemark> {
    let remarks = lane.explanation.iter();
    remarks
        .map(|remark| WireRemark {
            text: remark.text.clone(),
            step: remark.step.map(|step| step.0),
        })
        .collect()
}

/// The causes of a lane's overhead.
fn wire_overhead(lane: &Lane) -> Vec<WireOverhead> {
    let rows = lane.summary.overhead.iter();
    rows.map(|row| WireOverhead {
        cause: row.cause.name(),
        count: row.count,
        estimated_ns: row.time.0,
    })
    .collect()
}

pub(super) fn wire_policy(comparison: &Comparison, position: usize, peaks: WirePeaks) -> WirePolicy {
    let lane = &comparison.lanes[position];
    let row = lane.policy.row();
    let summary = &lane.summary;
    WirePolicy {
        policy: row.number,
        label: row.label,
        title: lane.title.clone(),
        peak_reserved_bytes: summary.peak_reserved.get(),
        peak_reserved_step: summary.peak_reserved_step.map(|step| step.0),
        reserved: WireReserved {
            features: summary.reserved.features.get(),
            weights: summary.reserved.weights.get(),
            variables: summary.reserved.variables.get(),
            io: summary.reserved.io.get(),
        },
        peak_live_bytes: summary.peak_live.get(),
        fragmentation: summary.fragmentation,
        internal_waste_bytes: summary.internal_waste.get(),
        external_fragmentation: summary.pool_idle.fragmentation(),
        largest_free_bytes: summary.pool_idle.largest.get(),
        reach_rate: summary.reach_rate,
        virtual_bytes: summary.virtual_bytes.get(),
        device_mallocs: summary.device_mallocs,
        device_frees: summary.device_frees,
        device_calls: summary.device_calls(),
        reallocations: summary.reallocations,
        pages_mapped: summary.pages_mapped,
        pages_allocated: summary.pages_allocated,
        pages_unmapped: summary.pages_unmapped,
        stitches: summary.stitches,
        recycles: summary.recycles,
        synchronizations: summary.synchronizations,
        splits: summary.splits,
        merges: summary.merges,
        clears: summary.clears,
        cleared_bytes: summary.cleared.get(),
        unloads: summary.unloads,
        out_of_memory: summary.out_of_memory,
        forbidden_by: lane.forbidden.iter().map(WireRefusal::from).collect(),
        refused_requests: lane.refusals.map(|refusals| refusals.count),
        first_refused_step: lane.refusals.map(|refusals| refusals.first.0),
        out_of_memory_reason: lane.out_of_memory_text(),
        out_of_memory_story: lane.out_of_memory_report.as_ref().map(wire_story),
        explanation: wire_explanation(lane),
        estimated_overhead_ns: summary.estimated_overhead.0,
        overhead: wire_overhead(lane),
        arena_behaviour: (lane.policy == StaticMemoryPolicy::StaticExtend)
            .then(|| comparison.params_of(position).arena_behaviour.name()),
        first_divergence_step: lane.first_divergence.map(|step| step.0),
        lower_bound: comparison.is_lower_bound(position),
        remat: lane.rewrite.as_ref().map(|rewrite| wire_remat(rewrite)),
        peaks,
    }
}
