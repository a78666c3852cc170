//! A program of blocks as lanes: names as they are, and reused at both levels.

use std::sync::Arc;

use super::kind::{Compared, LaneChoice, OpSource, Study, StudyWords, only_shown};
use crate::comparison::Comparison;
use crate::name_reuse::{Subject, batch_of, compare_name_reuse};
use crate::request::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::TensorId;
use highwater_model::progress::Progress;
use highwater_model::units::counted;
use highwater_model::workload::{GraphIdx, Workload};
use highwater_options::{Lowered, OptionSubject};

const WORDS: StudyWords = StudyWords {
    no_sweep: Some("a program of blocks, whose names `highwater reuse` shares"),
    ..StudyWords::COMMON
};

#[derive(Debug)]
pub(super) struct Programs;

impl Study for Programs {
    fn words(&self) -> &'static StudyWords {
        &WORDS
    }

    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared {
        let mut diagnostics = Diagnostics::new();
        let program = only_shown(
            request.workload.programs(),
            "programs",
            |one| &one.name,
            &mut diagnostics,
        )?;
        let subject = Subject {
            program: Arc::clone(program),
            tensors: None,
            fetched: Vec::new(),
            batch: batch_of(request),
        };
        compare_name_reuse(request, lowered, &subject, diagnostics, progress)
    }

    fn option_subject(&self) -> Option<OptionSubject> {
        Some(OptionSubject::Programs)
    }

    fn lane_choice(&self) -> LaneChoice {
        LaneChoice::NameReuse
    }

    fn ops<'a>(&self, workload: &'a Workload) -> OpSource<'a> {
        workload.programs().first().map_or(OpSource::None, OpSource::Program)
    }

    fn summary(&self, comparison: &Comparison) -> String {
        let blocks = comparison.session.graphs.iter().map(|graph| graph.name.as_str());
        let blocks: Vec<&str> = blocks.collect();
        let ops = counted(u64::from(comparison.axis.n_steps), "op");
        format!("{ops}; {}", blocks.join(", "))
    }

    fn tensor_name<'a>(&self, comparison: &'a Comparison, graph: GraphIdx, tensor: TensorId) -> &'a str {
        let program = comparison.workload.programs().first();
        let variable = program.and_then(|program| program.variable(graph, tensor));
        variable.map_or("", |(name, _)| name)
    }

    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize> {
        let programs = comparison.workload.programs().iter().take(1);
        let blocks = programs.flat_map(|program| &program.blocks);
        blocks.map(|block| block.variables.len()).collect()
    }
}
