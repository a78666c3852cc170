//! Nothing to run: lists of live ranges without a graph, or no graph at all. Commands count and place them.

use super::kind::{Study, StudyWords};
use super::recordings;
use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::request::Request;
use highwater_model::graph::TensorId;
use highwater_model::progress::Progress;
use highwater_model::workload::GraphIdx;
use highwater_options::Lowered;

#[derive(Debug)]
pub(super) struct LifetimeLists;

const WORDS: StudyWords = StudyWords {
    no_ops: Some("The source has no graph."),
    no_arena: "There is nothing to plan.",
    no_sweep: recordings::WORDS.no_sweep,
    ..StudyWords::COMMON
};

impl Study for LifetimeLists {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn compare(&self, _: &Request, _: &Lowered, _: &Progress<'_>) -> Result<Comparison, AnalysisError> {
        Err(AnalysisError::NoGraph)
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn summary(&self, _: &Comparison) -> String {
        String::new()
    }

    fn tensor_name<'a>(&self, _: &'a Comparison, _: GraphIdx, _: TensorId) -> &'a str {
        ""
    }

    fn tensor_counts(&self, _: &Comparison) -> Vec<usize> {
        Vec::new()
    }
}
