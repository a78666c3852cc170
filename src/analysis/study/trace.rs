//! An allocation trace as a comparison: a lane per policy, each the replay of the same commands.
//!
//! ```text
//! steps      commands          tensors   requests          graphs   the trace, its pools, its static graphs
//! ```
//!
//! The device's memory is that of the user's options, else that of the trace, else that of the profile. A refused request
//! is reported and the trace continues.

use std::borrow::Cow;
use std::sync::Arc;

use super::kind::{Compared, ScheduleChoice, ScheduleNote, Study, StudyWords, only_shown};
use crate::arena::Plans;
use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::explain::explain;
use crate::lane::{Lane, Remark};
use crate::lane_set::{LaneId, LaneSet};
use crate::lowest_peak::lowest_peak;
use crate::name_context::NameContext;
use crate::recommended::recommended;
use crate::request::Request;
use crate::run_lanes::{LaneParts, reference_lane, set_divergence, with_folds};
use crate::workspaces::EstimatedWorkspaces;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, OpId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::threads::on_threads;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{AllocationTrace, Axis, GraphIdx, Workload};
use highwater_options::{Lowered, OptionRow, OptionSubject, Options, find, keys};
use highwater_plan::Strategy;
use highwater_sim::alloc::PagePoolRules;
use highwater_sim::fold::curves;
use highwater_sim::replay::{LARGEST_DEVICE, ReplayRules};
use highwater_sim::{ArenaBehaviour, Params, StaticMemoryPolicy, TraceSession, TraceStop, simulate_trace, verify_log};

/// Most commands that are compared: every lane keeps a few hundred bytes of each.
const MAX_COMMANDS: usize = 2_000_000;

const WORDS: StudyWords = StudyWords {
    tensor: "request",
    no_ops: Some("An allocation trace has no ops, so producers and readers of its requests are unknown."),
    no_readers: Some("An allocation trace has no readers, so idle blocks are unknown."),
    no_plan: "an allocation trace is replayed, not planned",
    no_arena: "A trace has no arena to plan.",
    ..StudyWords::COMMON
};

#[derive(Debug)]
pub(super) struct Traces;

impl Study for Traces {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let mut diagnostics = Diagnostics::new();
        let trace = only_shown(request.workload.traces(), "traces", |one| &one.name, &mut diagnostics)?;
        if trace.commands.len() > MAX_COMMANDS {
            return Err(AnalysisError::TraceTooLong {
                commands: trace.commands.len() as u64,
                limit: MAX_COMMANDS as u64,
            });
        }
        let params = params(trace, request, lowered, &mut diagnostics);
        let session = TraceSession::new(trace);
        let mut lanes = lanes(trace, &session, request, lowered.strategy, &params, progress)?;
        let workspaces = EstimatedWorkspaces::default();
        let axis = Axis::single(session.session.n_steps);
        let names = NameContext {
            trace: Some((trace, &session.requests)),
            ..NameContext::new(&request.workload, &axis, &session.session, &workspaces, &params)
        };
        explain_lanes(&mut lanes, &names);
        report_idle_options(request, trace, &mut diagnostics);
        let mut comparison = Comparison::new(request, lowered, axis, session.session, lanes, diagnostics);
        comparison.device.set_memory(params.device_bytes);
        comparison.lowest_peak = lowest_peak(&comparison.lanes);
        comparison.recommendations = recommended(&comparison.lanes, comparison.active_policy);
        comparison.params = params;
        comparison.requests = session.requests;
        let estimates = lowered.estimates.iter().copied();
        comparison.estimates = estimates.filter(|estimate| is_cost(estimate.key)).collect();
        let texts = comparison.lanes.iter().filter_map(|lane| comparison.refusal_text(lane));
        for text in texts.collect::<Vec<_>>() {
            comparison.diagnostics.warning(text, &trace.name);
        }
        Ok(comparison)
    }

    fn option_subject(&self) -> Option<OptionSubject> {
        Some(OptionSubject::Traces)
    }

    fn schedule_choice(&self) -> ScheduleChoice {
        ScheduleChoice::Device
    }

    fn schedule_notes(&self, workload: &Workload) -> Vec<ScheduleNote> {
        let note = |trace: &Arc<AllocationTrace>| {
            ScheduleNote::new(format!(
                "{} commands, replayed under each policy; iterations and graph options have no effect",
                trace.commands.len()
            ))
        };
        workload.traces().iter().map(note).collect()
    }

    fn takes_pins(&self, lanes: &LaneSet) -> bool {
        *lanes != LaneSet::NameReuse
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let commands = counted(u64::from(comparison.axis.n_steps), "command");
        match self.graph_names(comparison).join(", ").as_str() {
            "" => format!("trace of {commands}"),
            names => format!("trace of {commands}; {names}"),
        }
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, _: GraphIdx, tensor: TensorId) -> &'a str {
        let request = comparison.request(tensor);
        request.map_or("", |(trace, request)| trace.name(request.lifetime.name))
    }

    /// One for all graphs: a request is numbered in the trace, whichever pool or static graph it is of.
    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        vec![comparison.requests.len()]
    }

    fn op_name<'a>(&self, workload: &'a Workload, _: GraphIdx, op: OpId) -> Cow<'a, str> {
        let trace = workload.traces().first();
        let command = trace.and_then(|trace| Some(trace.command_text(*trace.commands.get(op.idx())?)));
        Cow::Owned(command.unwrap_or_default())
    }

    /// Pools and static graphs, in the order of first appearance.
    fn graph_names(&self, comparison: &Comparison) -> Vec<String> {
        let graphs = comparison.session.graphs.iter().skip(1);
        graphs.map(|graph| graph.name.clone()).collect()
    }
}

/// Parameters with the device memory and the threshold of the trace, where the user sets none.
fn params(trace: &AllocationTrace, request: &Request, lowered: &Lowered, diagnostics: &mut Diagnostics) -> Params {
    let mut params = lowered.params.clone();
    let options = &request.options;
    let is_users = options.is_set(keys::DEVICE_MEMORY) || options.is_set(keys::DEVICE);
    if let Some(own) = trace.device_bytes.filter(|_| !is_users) {
        params.device_bytes = own.saturating_sub(lowered.occupied).max(Bytes(1));
    }
    if params.device_bytes > LARGEST_DEVICE {
        let text = format!("the device memory exceeds the limit of traces; {LARGEST_DEVICE} is used");
        diagnostics.info(text, &trace.name);
        params.device_bytes = LARGEST_DEVICE;
    }
    let own = trace.threshold_gib.map(|gib| Bytes(gib.saturating_mul(1 << 30)));
    params.pool_threshold = params.pool_threshold.or(own);
    params.feature_copies = 1;
    params
}

fn rules(trace: &AllocationTrace, policy: StaticMemoryPolicy, params: &Params) -> ReplayRules {
    let threshold = PagePoolRules::of_device(params.device_bytes, params.pool_threshold, false).threshold;
    ReplayRules {
        is_documented: params.arena_behaviour == ArenaBehaviour::Documented
            && policy == StaticMemoryPolicy::StaticExtend,
        threshold,
        ..ReplayRules::new(trace, policy, Some(params.device_bytes))
    }
}

/// A lane per policy, not yet explained.
fn lanes(
    trace: &AllocationTrace,
    session: &TraceSession,
    request: &Request,
    strategy: &'static Strategy,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Vec<Lane>, AnalysisError> {
    progress.set("replaying", 0, 1)?;
    let cancel = progress.cancel_flag();
    let lanes = on_threads(
        request.wanted_policies(),
        progress,
        |policy| -> Result<Lane, TraceStop> {
            let rules = rules(trace, policy, params);
            let (simulation, refusals) = simulate_trace(trace, session, &rules, &Progress::silent(cancel))?;
            debug_assert_eq!(verify_log(&simulation), Ok(()), "policy {}", policy.number());
            let parts = LaneParts {
                id: LaneId::Policy(policy),
                strategy,
                plans: Plans::new(),
            };
            let folded = curves(&simulation);
            Ok(Lane {
                refusals,
                ..with_folds(simulation, folded, parts, params)
            })
        },
    );
    progress.set("replaying", 1, 1)?;
    let mut lanes = lanes.into_iter().collect::<Result<Vec<Lane>, TraceStop>>()?;
    set_divergence(&mut lanes);
    Ok(lanes)
}

/// Explains each lane: refused requests first.
fn explain_lanes(lanes: &mut [Lane], names: &NameContext<'_>) {
    let reference = reference_lane(lanes);
    let explanation = |lane: &Lane| {
        let reference = reference.filter(|reference| reference.policy != lane.policy);
        let refused = lane.refusals.iter().map(|refusals| Remark {
            text: format!(
                "{} of the requests {} refused, out of memory, the first at {}; the trace continues without.",
                refusals.count,
                if refusals.count == 1 { "is" } else { "are" },
                names.place(refusals.first)
            ),
            step: Some(refusals.first),
        });
        refused.chain(explain(lane, reference, names)).collect()
    };
    let explanations: Vec<Vec<Remark>> = lanes.iter().map(explanation).collect();
    for (lane, explanation) in lanes.iter_mut().zip(explanations) {
        lane.explanation = explanation;
    }
}

/// Reports the settings that change a comparison of graphs and not that of a trace.
fn report_idle_options(request: &Request, trace: &AllocationTrace, diagnostics: &mut Diagnostics) {
    let mut idle = idle_options(&request.options);
    if request.plan.iterations > 1 {
        idle.push("iterations");
    }
    if !request.plan.dims.is_empty() {
        idle.push("values of dimensions");
    }
    if !idle.is_empty() {
        let text = format!("no effect on a trace: {}", idle.join(", "));
        diagnostics.info(text, &trace.name);
    }
}

fn idle_options(options: &Options) -> Vec<&'static str> {
    let set = options.overrides().map(|(key, _)| key);
    let is_idle = |row: &OptionRow| row.affects_memory() && !row.acts.on.contains(&OptionSubject::Traces);
    set.filter(|key| find(key).is_some_and(is_idle)).collect()
}

/// Whether an option is a cost that acts on traces.
fn is_cost(key: &str) -> bool {
    find(key).is_some_and(|row| !row.acts.changes_bytes && row.acts.on.contains(&OptionSubject::Traces))
}
