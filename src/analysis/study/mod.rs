//! The kinds of source: how each is compared, its words, its capacity and its names.
//!
//! A kind is a file here that implements [`Study`], and a row of [`study_of`]. Code outside asks the study of a workload
//! instead of asking which source it has.

mod anchors;
mod differences;
mod graphs;
mod kind;
mod lifetimes;
mod problem;
mod program;
mod recordings;
mod tape;
mod trace;

pub use kind::{LaneChoice, OpSource, ScheduleChoice, ScheduleNote, Study, StudyWords};
pub use recordings::MOST_RECORDED_LANES;
pub use tape::opening_lanes;

use std::sync::Arc;

use super::comparison::Comparison;
use highwater_model::graph::TensorId;
use highwater_model::workload::{GraphIdx, ProblemEntry, Source, Workload};

/// The study of a workload.
pub fn study_of(workload: &Workload) -> &'static dyn Study {
    match &workload.source {
        Source::Graphs(graphs) if !graphs.is_empty() => &graphs::Graphs,
        Source::Graphs(_) if !workload.measured.is_empty() => &recordings::Recordings,
        Source::Graphs(_) | Source::Lifetimes(_) => &lifetimes::LifetimeLists,
        Source::Problems(_) => &problem::Problems,
        Source::Traces(_) => &trace::Traces,
        Source::Tapes(_) => &tape::Tapes,
        Source::Blocks(_) => &program::Programs,
        Source::Recordings(_) => &recordings::Recordings,
    }
}

impl Comparison {
    pub fn study(&self) -> &'static dyn Study {
        study_of(&self.workload)
    }

    /// The study of a lane: that of recordings, where it shows one.
    pub fn study_of_lane(&self, lane: usize) -> &'static dyn Study {
        if self.is_measured_lane(lane) {
            &recordings::Recordings
        } else {
            self.study()
        }
    }

    /// The study of the tensors of a graph: that of recordings, where the index is that of one.
    pub fn study_of_graph(&self, graph: GraphIdx) -> &'static dyn Study {
        if self.measured_lane(graph).is_some() {
            &recordings::Recordings
        } else {
            self.study()
        }
    }

    pub fn ops(&self) -> OpSource<'_> {
        self.study().ops(&self.workload)
    }

    /// The placement problem that the source states instead of arenas of graphs.
    pub fn stated_problem(&self) -> Option<&Arc<ProblemEntry>> {
        self.study().stated_problem(&self.workload)
    }

    /// The noun for a step of the axis.
    pub fn axis_word(&self) -> &'static str {
        self.study().words().step
    }

    /// Whether there is a capacity to compare peaks with.
    pub fn has_capacity(&self) -> bool {
        self.study().has_capacity(&self.workload)
    }

    /// The name of a tensor, or of an estimated workspace, buffer, request, variable or block; empty where it has none.
    pub fn tensor_name(&self, graph: GraphIdx, tensor: TensorId) -> &str {
        self.study_of_graph(graph).tensor_name(self, graph, tensor)
    }
}
