//! Who asks for memory, by lines of call stacks, names and phases.

use std::sync::LazyLock;

use super::super::frame_rules::is_python_file;
use super::super::line_patterns::{LineMatcher, LinePatterns};
use super::super::{RecordedName, Recording};
use super::{Category, CategoryRules};
use crate::units::Step;

/// The part of a training step that asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requester {
    /// Builds, loads or moves a module.
    Setup,
    Data,
    Forward,
    /// The forward pass once more, within the backward pass.
    Recomputation,
    Backward,
    Optimizer,
}

impl Requester {
    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Data => "data",
            Self::Forward => "forward pass",
            Self::Recomputation => "recomputation",
            Self::Backward => "backward pass",
            Self::Optimizer => "optimizer",
        }
    }
}

/// A built-in rule: who asks, in a line of such a file and function. An empty pattern matches all.
#[derive(Clone, Copy, Debug)]
pub struct RequesterRule {
    pub requester: Requester,
    pub file: &'static str,
    pub function: &'static str,
    /// Why, for readers of the table.
    pub reason: &'static str,
}

/// The built-in rules. Of the lines of a stack the innermost that one names decides, by the first rule that matches.
pub static REQUESTER_RULES: [RequesterRule; 14] = {
    use Requester::{Backward, Data, Forward, Optimizer, Recomputation, Setup};
    const fn rule(
        requester: Requester,
        file: &'static str,
        function: &'static str,
        reason: &'static str,
    ) -> RequesterRule {
        RequesterRule {
            requester,
            file,
            function,
            reason,
        }
    }
    [
        rule(
            Setup,
            r"(^|/)torch(_npu)?/(nn/(init|parameter)|serialization|nn/utils/_?(stateless|init))\.py$|(^|/)(safetensors|torch/distributed/checkpoint)/",
            "",
            "parameters are made, initialized or loaded",
        ),
        rule(
            Setup,
            r"(^|/)torch/nn/|(^|/)torch_npu/utils/_?module\.py$",
            r"(^|\.)(__init__|reset_parameters|_reset_parameters|_apply|to|cuda|npu|to_empty|load_state_dict|_load_from_state_dict|register_buffer)$",
            "modules are built, moved or loaded",
        ),
        rule(
            Setup,
            "",
            r"(^|\.)(load_state_dict|load_checkpoint|from_pretrained|init_weights|_init_weights)$",
            "a checkpoint is loaded",
        ),
        rule(
            Data,
            r"(^|/)torch/utils/data/|(^|/)(site|dist)-packages/(datasets|webdataset|torchdata)/|(^|/)datasets?/[^/]+\.py$|(^|/)data_?loader\w*\.py$",
            "",
            "batches are collated and moved",
        ),
        rule(
            Data,
            "",
            r"(?i)(^|\.)(get_batch|next_batch|collate\w*|pin_memory|_?prefetch\w*|_?prepare_inputs?|_?prepare_batch|send_to_device|move_data_to_device|batch_to_device|transfer_batch_to_device)$|^enumerate\(DataLoader\)",
            "batches are collated and moved",
        ),
        rule(
            Optimizer,
            r"(^|/)(optim|optimizers?)/([^/]+/)?[^/]+\.py$|(^|/)(optimizer|adamw?|adafactor|lion|muon|sgd)\w*\.py$|(^|/)amp/grad_scaler\.py$",
            "",
            "the optimizer and the gradient scaler",
        ),
        rule(Optimizer, r"(^|/)clip_grad\.py$", "", "gradients are clipped"),
        rule(Optimizer, "", r"(?i)^optimizer[._]step", "the optimizer's annotation"),
        rule(
            Recomputation,
            r"(^|/)torch/utils/checkpoint\.py$",
            r"(^|\.)(unpack|unpack_hook|recompute_fn|backward)$",
            "activations are computed again for the backward pass",
        ),
        rule(
            Backward,
            "",
            r"(torch|at_npu)::autograd::(Engine|generated::\w+|CppNode<.*>|functions::\w+|PyNode|python::PythonEngine|AccumulateGrad)(::|$)|^c10d::Reducer",
            "threads of autograd and the reduction of gradients",
        ),
        rule(
            Backward,
            r"(^|/)torch/(autograd/|_tensor\.py$)",
            r"(^|\.)(backward|_engine_run_backward|_make_grads|grad)$",
            "the backward pass is started",
        ),
        rule(
            Backward,
            "",
            r"(^|\.)(_?backward|\w+Backward\d*|autograd::engine::evaluate_function.*)$",
            "functions and ops of the backward pass",
        ),
        rule(
            Forward,
            r"(^|/)torch/nn/modules/module\.py$",
            r"(^|\.)_(wrapped_)?call_impl$",
            "a module is called",
        ),
        rule(
            Forward,
            "",
            r"(?i)(^|\.)(forward|training_step|validation_step|compute_loss|loss_fn|model_forward)$",
            "the model or its loss runs",
        ),
    ]
};

/// Compiled once: this takes several milliseconds.
static BUILT_IN: LazyLock<Option<LinePatterns>> = LazyLock::new(|| {
    let rules = REQUESTER_RULES.iter();
    LinePatterns::new(rules.map(|rule| (Some(rule.file), Some(rule.function)))).ok()
});

/// Lines that say more than who asks. File, function, what is known.
const NOTES: [(&str, &str, Note); 5] = [
    // copy.deepcopy of a module: torch.nn.Parameter.__deepcopy__ clones. A model that is built of clones, or an average of
    // its parameters (torch.optim.swa_utils, timm).
    (
        r"(^|/)torch/(nn/parameter|_tensor)\.py$",
        r"(^|\.)__deepcopy__$",
        Note::Copy,
    ),
    // torch.load with map_location: a file may hold parameters, states and averages.
    (r"(^|/)torch/serialization\.py$", "", Note::Copy),
    (r"(^|/)torch/optim/swa_utils\.py$", "", Note::Copy),
    // torch.optim since 2.0: states are made in `_init_group`; lion, adafactor and others of libraries call it alike.
    (
        "",
        r"(^|\.)(_init_group|_?init_states?|_?initialize_states?)$",
        Note::MakesState,
    ),
    // Parameters are gathered before a layer runs and freed after it, in both passes.
    (
        r"(^|/)torch/distributed/(_?fsdp|_composable)/|(^|/)deepspeed/runtime/zero/|(^|/)fairscale/nn/",
        "",
        Note::Sharded,
    ),
];

static NOTE_PATTERNS: LazyLock<Option<LinePatterns>> = LazyLock::new(|| {
    let notes = NOTES.iter();
    LinePatterns::new(notes.map(|(file, function, _)| (Some(*file), Some(*function)))).ok()
});

/// What a line tells beyond who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// The block is copied, or loaded from a file.
    Copy,
    /// A state of the optimizer is made.
    MakesState,
    Sharded,
}

/// By the rules of lines, the first rule that names each.
pub(super) struct Matcher<'a> {
    lines: LineMatcher<'a>,
    recording: &'a Recording,
}

impl<'a> Matcher<'a> {
    /// By the built-in rules. `None` only where one is no regular expression, which a test excludes.
    pub(super) fn built_in(recording: &'a Recording) -> Option<Self> {
        Some(Self::new(BUILT_IN.as_ref()?, recording))
    }

    const fn new(patterns: &'a LinePatterns, recording: &'a Recording) -> Self {
        let lines = LineMatcher::new(patterns);
        Self { lines, recording }
    }

    fn first(&mut self, file: RecordedName, function: RecordedName) -> Option<usize> {
        let [file, function] = [file, function].map(|name| self.recording.line_text(name));
        self.lines.matches(file, function).1.next()
    }

    /// Who asks in an op or a phase of a name.
    pub(super) fn requester(&mut self, name: RecordedName) -> Option<Requester> {
        let rule = self.first(name, name)?;
        Some(REQUESTER_RULES[rule].requester)
    }

    /// By line of the recording.
    fn lines(&mut self) -> Vec<Option<usize>> {
        let lines = self.recording.frames.iter();
        lines.map(|line| self.first(line.file, line.function)).collect()
    }
}

/// What a call stack tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfStack {
    pub(super) by: Option<Requester>,
    /// By a rule of the document.
    pub(super) category: Option<Category>,
    /// A model runs in an outer line.
    pub(super) is_in_model: bool,
    /// Which notes its lines have.
    notes: [bool; 3],
    /// Without a line of Python, in a recording that has such lines.
    pub(super) lacks_python: bool,
}

impl OfStack {
    pub(super) const fn has(self, note: Note) -> bool {
        self.notes[note as usize]
    }
}

/// By stack: the innermost line that a rule names tells who asks.
pub(super) fn of_stacks(recording: &Recording, matcher: &mut Matcher<'_>, rules: &CategoryRules) -> Vec<OfStack> {
    use Requester::{Backward, Forward, Recomputation};
    let built_in = matcher.lines();
    let own = rules.patterns().ok().filter(|_| !rules.own().is_empty());
    let own = own.map(|patterns| Matcher::new(&patterns, recording).lines());
    let notes = NOTE_PATTERNS.as_ref();
    let notes = notes.map_or_else(Vec::new, |patterns| Matcher::new(patterns, recording).lines());
    let lacks = lacks_python(recording);
    let stacks = recording.stacks.iter().enumerate();
    let told = stacks.map(|(position, stack)| {
        let first = |lines: &[Option<usize>]| {
            let mut found = stack.iter().filter_map(|line| *lines.get(*line as usize)?);
            found.next()
        };
        let requesters = stack.iter().filter_map(|line| *built_in.get(*line as usize)?);
        let requesters = requesters.map(|rule| REQUESTER_RULES[rule].requester);
        let innermost = requesters.clone().next();
        let is_again = |by: Requester| matches!(by, Backward | Recomputation);
        let by = match innermost {
            Some(Forward) if requesters.clone().any(is_again) => Some(Recomputation),
            other => other,
        };
        let has_note = |note: Note| {
            let mut of_lines = stack.iter().filter_map(|line| *notes.get(*line as usize)?);
            of_lines.any(|found| NOTES[found].2 == note)
        };
        OfStack {
            by,
            category: own
                .as_ref()
                .and_then(|lines| first(lines))
                .and_then(|rule| Some(rules.own().get(rule)?.category)),
            is_in_model: requesters
                .clone()
                .any(|by| matches!(by, Forward | Recomputation | Backward)),
            notes: [Note::Copy, Note::MakesState, Note::Sharded].map(has_note),
            lacks_python: lacks.as_ref().is_some_and(|lacks| lacks[position]),
        }
    });
    told.collect()
}

/// By stack, whether it has no line of Python; `None` where no stack has one.
pub(super) fn lacks_python(recording: &Recording) -> Option<Vec<bool>> {
    let python: Vec<bool> = recording
        .frames
        .iter()
        .map(|line| is_python_file(recording.text(line.file)))
        .collect();
    let is_python = |line: &u32| python.get(*line as usize).is_some_and(|is| *is);
    let lacks: Vec<bool> = recording
        .stacks
        .iter()
        .map(|stack| !stack.iter().any(is_python))
        .collect();
    lacks.contains(&false).then_some(lacks)
}

/// Who asks during phases, asked for in the order of events.
pub(super) struct PhaseRequesters {
    /// Start, exclusive end, by start.
    named: Vec<(Step, Step, Requester)>,
    open: Vec<(Step, Requester)>,
    next: usize,
}

impl PhaseRequesters {
    pub(super) fn new(recording: &Recording, matcher: &mut Matcher<'_>) -> Self {
        let named = recording
            .phases
            .iter()
            .filter_map(|phase| Some((phase.start, phase.end, matcher.requester(phase.name)?)));
        Self {
            named: named.collect(),
            open: Vec::new(),
            next: 0,
        }
    }

    /// Whether a phase is of a pass that only training has.
    pub(super) fn trains(&self) -> bool {
        self.named.iter().any(|(.., by)| is_of_training(*by))
    }

    /// Of the innermost phase at an event that is not before the last one asked for.
    pub(super) fn at(&mut self, step: Step) -> Option<Requester> {
        while let Some((_, end, requester)) = self.named.get(self.next).filter(|(start, ..)| *start <= step) {
            self.open.push((*end, *requester));
            self.next += 1;
        }
        self.open.retain(|(end, _)| *end > step);
        self.open.last().map(|(_, requester)| *requester)
    }
}

/// Whether inference never asks so.
pub(super) const fn is_of_training(by: Requester) -> bool {
    matches!(
        by,
        Requester::Backward | Requester::Recomputation | Requester::Optimizer
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_compile() {
        assert!(BUILT_IN.is_some() && NOTE_PATTERNS.is_some());
    }
}
