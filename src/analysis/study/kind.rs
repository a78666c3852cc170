//! The questions that every kind of source answers.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::comparison::Comparison;
use crate::error::AnalysisError;
use crate::lane_set::LaneSet;
use crate::request::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{OpId, TensorId};
use highwater_model::progress::Progress;
use highwater_model::workload::{BlockProgram, GraphEntry, GraphIdx, ProblemEntry, Tape, Workload};
use highwater_options::{Lowered, OptionSubject};

/// The answer of a comparison.
pub(super) type Compared = Result<Comparison, AnalysisError>;

/// A kind of source.
pub trait Study: fmt::Debug + Sync {
    fn words(&self) -> &'static StudyWords;

    /// Compares the lanes of the options, without pins.
    ///
    /// # Errors
    /// [`AnalysisError`]; out of memory is an answer.
    fn compare(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Compared;

    /// The lane sets that may be requested.
    fn lane_choice(&self) -> LaneChoice {
        LaneChoice::Fixed
    }

    /// Whether pinned configurations get lanes next to these.
    fn takes_pins(&self, _lanes: &LaneSet) -> bool {
        false
    }

    /// Whether recordings get lanes next to these, aligned to their steps.
    fn takes_recordings(&self) -> bool {
        false
    }

    /// Whether some lane's plan is searched for, which may take seconds.
    fn has_search(&self, _request: &Request) -> bool {
        false
    }

    /// Whether lanes are simulated on a device, so that device calls, parts of the reserved bytes and a schedule exist.
    fn is_simulated(&self) -> bool {
        true
    }

    /// Whether lanes show a device, simulated or recorded.
    fn has_device(&self) -> bool {
        true
    }

    /// Whether there is a capacity to compare peaks with.
    fn has_capacity(&self, _workload: &Workload) -> bool {
        true
    }

    /// The options that change these lanes; `None` where none does.
    fn option_subject(&self) -> Option<OptionSubject> {
        None
    }

    /// Whether arenas are placed, so that strategies can be compared.
    fn has_arenas(&self) -> bool {
        false
    }

    /// The parts of the schedule that the user chooses.
    fn schedule_choice(&self) -> ScheduleChoice {
        ScheduleChoice::Any
    }

    /// Why the rest of the schedule is fixed.
    fn schedule_notes(&self, _workload: &Workload) -> Vec<ScheduleNote> {
        Vec::new()
    }

    /// The ops that compute and read tensors.
    fn ops<'a>(&self, _workload: &'a Workload) -> OpSource<'a> {
        OpSource::None
    }

    /// The placement problem that the source states instead of arenas of graphs.
    fn stated_problem<'a>(&self, _workload: &'a Workload) -> Option<&'a Arc<ProblemEntry>> {
        None
    }

    /// The name of a tensor; empty where it has none. O(1).
    fn tensor_name<'a>(&self, comparison: &'a Comparison, graph: GraphIdx, tensor: TensorId) -> &'a str;

    /// By graph: the upper bound of tensor indices. Graphs after the last have its tensors.
    fn tensor_counts(&self, comparison: &Comparison) -> Vec<usize>;

    /// The name of the op (or command) of a step of a run; empty where it has none.
    fn op_name<'a>(&self, _workload: &'a Workload, _graph: GraphIdx, _op: OpId) -> Cow<'a, str> {
        Cow::Borrowed("")
    }

    /// What runs, in a line without a full stop.
    fn summary(&self, comparison: &Comparison) -> String;

    /// The names of graphs and pools that run.
    fn graph_names(&self, _comparison: &Comparison) -> Vec<String> {
        Vec::new()
    }
}

/// The words of a kind of source in labels and sentences.
#[derive(Debug)]
pub struct StudyWords {
    /// The noun for a step of the axis.
    pub step: &'static str,
    /// The noun for a tensor.
    pub tensor: &'static str,
    /// How figures are counted, where nothing is simulated.
    pub counted: Option<&'static str>,
    /// Why no op computes or reads a tensor, where ops are unknown.
    pub no_ops: Option<&'static str>,
    /// Why idle tensors are unknown, where readers are.
    pub no_readers: Option<&'static str>,
    /// Why no lane has a plan: a clause.
    pub no_plan: &'static str,
    /// Why there is no arena to plan: a sentence.
    pub no_arena: &'static str,
    /// What a sweep of configurations finds instead of something to configure; `None` where it has that.
    pub no_sweep: Option<&'static str>,
}

impl StudyWords {
    /// The words of sources with steps and tensors; a kind replaces what differs.
    pub(super) const COMMON: Self = Self {
        step: "step",
        tensor: "tensor",
        counted: None,
        no_ops: None,
        no_readers: None,
        no_plan: "the source has no arena",
        no_arena: "The source has no arena to plan.",
        no_sweep: None,
    };
}

/// The lane sets that a source allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneChoice {
    /// Every set.
    Any,
    /// Runs under budgets alone.
    Budgets,
    /// Levels of name reuse alone.
    NameReuse,
    /// None: the lanes are given by the source.
    Fixed,
}

/// The parts of the schedule that a source leaves to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleChoice {
    Any,
    /// The device alone.
    Device,
    Fixed,
}

/// A line of text with a tooltip, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleNote {
    pub text: String,
    pub tooltip: String,
}

impl ScheduleNote {
    pub(super) const fn new(text: String) -> Self {
        Self {
            text,
            tooltip: String::new(),
        }
    }
}

/// The ops of a source.
#[derive(Clone, Copy, Debug)]
pub enum OpSource<'a> {
    Graphs(&'a [GraphEntry]),
    Tape(&'a Arc<Tape>),
    Program(&'a Arc<BlockProgram>),
    None,
}

/// The first of several entries, with a warning that only it is shown.
///
/// # Errors
/// [`AnalysisError::NoGraph`] where there is none.
pub(crate) fn only_shown<'a, T>(
    entries: &'a [Arc<T>],
    noun: &str,
    name: impl Fn(&T) -> &str,
    diagnostics: &mut Diagnostics,
) -> Result<&'a Arc<T>, AnalysisError> {
    if let Some(second) = entries.get(1) {
        let count = entries.len();
        let text = format!("{count} {noun} are open, one is shown; choose another under \"show\" or with --graph NAME");
        diagnostics.warning(text, name(second));
    }
    entries.first().ok_or(AnalysisError::NoGraph)
}
