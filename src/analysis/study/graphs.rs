//! Graphs on a device: under every policy, under memory budgets, or with levels of name reuse.

use std::borrow::Cow;

use super::kind::{Compared, LaneChoice, OpSource, Study, StudyWords};
use crate::calibration::learned_from_recordings;
use crate::comparison::Comparison;
use crate::configuration::Configuration;
use crate::lane_set::LaneSet;
use crate::passes;
use crate::policies::{compare_policies, wanted_lanes};
use crate::request::Request;
use crate::running::running_request;
use highwater_model::graph::{Graph, OpId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, first_of};
use highwater_model::workload::{GraphIdx, Workload};
use highwater_options::{Lowered, OptionSubject, lower};
use highwater_plan::Effort;
use highwater_sim::{POLICIES, StaticMemoryPolicy};

/// Graphs that the summary names.
const MOST_NAMED: usize = 8;

const WORDS: StudyWords = StudyWords {
    no_plan: "no graph is static (dimensions have several values, or compile_dynamic_mode is on)",
    no_arena: "No graph is placed in an arena: all shapes change over the schedule, so tensors are allocated op by op.",
    ..StudyWords::COMMON
};

#[derive(Debug)]
pub(super) struct Graphs;

impl Study for Graphs {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let (running, diagnostics) = running_request(request, lowered, progress)?;
        let calibrations = learned_from_recordings(&running, lowered, progress)?;
        let mut comparison = match &running.lanes {
            LaneSet::Policies => compare_policies(request, &running, lowered, diagnostics, progress)?,
            LaneSet::NameReuse => passes::compare_graph_names(&running, lowered, diagnostics, progress)?,
            LaneSet::Remat(lanes) => passes::compare_budgets(&running, lanes, lowered, diagnostics, progress)?,
        };
        comparison.calibrations = calibrations;
        Ok(comparison)
    }

    fn option_subject(&self) -> Option<OptionSubject> {
        Some(OptionSubject::Graphs)
    }

    fn has_arenas(&self) -> bool {
        true
    }

    fn lane_choice(&self) -> LaneChoice {
        LaneChoice::Any
    }

    fn takes_pins(&self, lanes: &LaneSet) -> bool {
        *lanes != LaneSet::NameReuse
    }

    fn takes_recordings(&self) -> bool {
        true
    }

    fn has_search(&self, request: &Request) -> bool {
        let lowered = request.lowered();
        let policies: Vec<StaticMemoryPolicy> = POLICIES.iter().map(|row| row.policy).collect();
        let lanes = wanted_lanes(request, &lowered, &policies);
        let pins = request.pins.iter().map(|pin| {
            let Configuration {
                options, environment, ..
            } = &pin.configuration;
            lower(options, environment, &request.device, &*request.files).strategy
        });
        let mut strategies = lanes.into_iter().map(|(_, strategy)| strategy).chain(pins);
        strategies.any(|strategy| strategy.effort == Effort::Search)
    }

    fn ops<'a>(&self, workload: &'a Workload) -> OpSource<'a> {
        OpSource::Graphs(workload.graphs())
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let graphs = comparison.workload.graphs().iter();
        let names = graphs.map(|entry| format!("{} ({})", entry.name, counted(entry.graph.ops().len() as u64, "op")));
        let runs = counted(comparison.axis.runs.len() as u64, "run");
        let steps = counted(u64::from(comparison.axis.n_steps), "step");
        format!("{runs}, {steps}; graphs: {}", first_of(names, MOST_NAMED, ", "))
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, graph: GraphIdx, tensor: TensorId) -> &'a str {
        comparison.workspaces.tensor_name(&comparison.workload, graph, tensor)
    }

    /// Estimated workspaces are numbered by step behind the tensors; recordings are numbered behind the graphs.
    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        let of_graph = |graph: &Graph| graph.tensors().len() + graph.ops().len();
        let graphs = comparison.workload.graphs().iter().map(|entry| of_graph(&entry.graph));
        graphs.chain(super::recordings::block_counts(comparison)).collect()
    }

    fn op_name<'a>(&self, workload: &'a Workload, graph: GraphIdx, op: OpId) -> Cow<'a, str> {
        let entry = workload.graphs().get(graph.0 as usize);
        let entry = entry.filter(|entry| entry.graph.ops().get(op).is_some());
        Cow::Borrowed(entry.map_or("", |entry| entry.graph.op_name(op)))
    }

    fn graph_names(&self, comparison: &Comparison) -> Vec<String> {
        let graphs = comparison.workload.graphs().iter();
        graphs.map(|entry| entry.name.clone()).collect()
    }
}
