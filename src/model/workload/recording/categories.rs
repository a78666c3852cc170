//! Categories of recorded blocks: what a block is for, inferred from who asked for it and how long it lives.
//!
//! ```text
//! who asked        how long                                          category
//! setup            through a step or to the end                      parameter
//! optimizer        through a step or to the end                      optimizer state
//! backward pass    until the optimizer runs or the step ends         gradient
//! forward pass     until the backward pass, or to the end            activation
//! data                                                               input
//! any of these     shorter                                           temporary
//! ```
//!
//! In: the blocks of a recording with their stacks, phases and step marks, and rules. Out: a category for each block. Who
//! asked is told by the innermost line of the stack that a rule names, else by the block's name, else by the innermost
//! phase; where only threads of autograd lack Python, a block without a line of Python is the backward pass's. Rules of
//! a document name categories outright. A recording does not state any of this: it is an inference, and shown as one.
//! O(lines of all stacks + blocks log marks).

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::frame_rules::{FrameRuleError, is_python_file};
use super::line_patterns::{LineMatcher, LinePatterns};
use super::{RecordedBlock, RecordedName, Recording};
use crate::units::Step;

/// What a recorded block is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Parameter,
    Gradient,
    OptimizerState,
    Activation,
    Input,
    Temporary,
    /// Nothing tells.
    #[default]
    Unknown,
}

impl Category {
    pub const ALL: [Self; 7] = [
        Self::Parameter,
        Self::Gradient,
        Self::OptimizerState,
        Self::Activation,
        Self::Input,
        Self::Temporary,
        Self::Unknown,
    ];

    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer state",
            Self::Activation => "activation",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Unknown => "unknown",
        }
    }
}

/// The part of a training step that asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requester {
    /// Builds, loads or moves a module.
    Setup,
    Data,
    Forward,
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
            Self::Backward => "backward pass",
            Self::Optimizer => "optimizer",
        }
    }
}

/// A rule of a document: blocks of stacks with such a line are of a category. A pattern that is absent matches all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRule {
    pub category: Category,
    /// A regular expression, searched in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A regular expression, searched in the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
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
pub static REQUESTER_RULES: [RequesterRule; 13] = {
    use Requester::{Backward, Data, Forward, Optimizer, Setup};
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
            r"(^|/)torch/utils/data/|(^|/)(datasets|webdataset|torchdata)/|(^|/)data_?loader\w*\.py$",
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
            r"(^|/)(optim|optimizers?)/|(^|/)(optimizer|adamw?|adafactor|lion|muon|sgd)\w*\.py$|(^|/)amp/grad_scaler\.py$",
            "",
            "the optimizer and the gradient scaler",
        ),
        rule(Optimizer, r"(^|/)clip_grad\.py$", "", "gradients are clipped"),
        rule(Optimizer, "", r"(?i)^optimizer[._]step", "the optimizer's annotation"),
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

/// Rules of a document; the built-in ones follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoryRules {
    own: Vec<CategoryRule>,
}

impl CategoryRules {
    /// # Errors
    /// The first rule whose pattern is no regular expression.
    pub fn new(own: Vec<CategoryRule>) -> Result<Self, FrameRuleError> {
        let rules = Self { own };
        rules.patterns()?;
        Ok(rules)
    }

    fn patterns(&self) -> Result<LinePatterns, FrameRuleError> {
        let rules = self.own.iter();
        LinePatterns::new(rules.map(|rule| (rule.file.as_deref(), rule.function.as_deref())))
    }

    /// The rules of the document.
    pub fn own(&self) -> &[CategoryRule] {
        &self.own
    }
}

/// Compiled once: this takes several milliseconds.
static BUILT_IN: LazyLock<Option<LinePatterns>> = LazyLock::new(|| {
    let rules = REQUESTER_RULES.iter();
    LinePatterns::new(rules.map(|rule| (Some(rule.file), Some(rule.function)))).ok()
});

/// By the rules of lines, the first rule that names each.
struct Matcher<'a> {
    lines: LineMatcher<'a>,
    recording: &'a Recording,
}

impl<'a> Matcher<'a> {
    const fn new(patterns: &'a LinePatterns, recording: &'a Recording) -> Self {
        let lines = LineMatcher::new(patterns);
        Self { lines, recording }
    }

    fn first(&mut self, file: RecordedName, function: RecordedName) -> Option<usize> {
        let [file, function] = [file, function].map(|name| self.recording.line_text(name));
        self.lines.matches(file, function).1.next()
    }

    /// Who asks in an op or a phase of a name.
    fn requester(&mut self, name: RecordedName) -> Option<Requester> {
        let rule = self.first(name, name)?;
        Some(REQUESTER_RULES[rule].requester)
    }

    /// By line of the recording.
    fn lines(&mut self) -> Vec<Option<usize>> {
        let lines = self.recording.frames.iter();
        lines.map(|line| self.first(line.file, line.function)).collect()
    }
}

/// What is known of blocks with a stack, or with a name.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    by: Option<Requester>,
    /// By a rule of the document.
    category: Option<Category>,
}

/// The category of each block.
pub(super) fn infer(recording: &mut Recording, rules: &CategoryRules) {
    let categories = Inference::new(recording, rules).map(|inference| inference.categories());
    for (block, category) in recording.blocks.iter_mut().zip(categories.unwrap_or_default()) {
        block.category = category;
    }
}

struct Inference<'a> {
    recording: &'a Recording,
    asked: Vec<Asked>,
    /// Steps at which an iteration ends, ascending; with the start of the iteration.
    marks: Vec<(Step, Step)>,
}

impl<'a> Inference<'a> {
    /// `None` where nothing tells who asked for any block.
    fn new(recording: &'a Recording, rules: &CategoryRules) -> Option<Self> {
        let mut matcher = Matcher::new(BUILT_IN.as_ref()?, recording);
        let of_stack = asked_by_stack(recording, &matcher.lines(), rules);
        let mut phases = PhaseRequesters::new(recording, &mut matcher);
        let lacks_python = lacks_python(recording);
        let asked = recording.blocks.iter().map(|block| {
            let stack = block.stack.map(super::StackIdx::idx);
            let of_stack = stack.and_then(|stack| of_stack.get(stack));
            let mut asked = of_stack.copied().unwrap_or_default();
            if asked.by.is_none() && stack.is_none() {
                asked.by = matcher.requester(block.name);
            }
            if asked.by.is_none() && !block.is_older {
                let is_thread = lacks_python
                    .as_ref()
                    .is_some_and(|lacks| stack.is_none_or(|stack| lacks[stack]));
                asked.by = phases.at(block.birth).or(is_thread.then_some(Requester::Backward));
            }
            asked
        });
        let asked: Vec<Asked> = asked.collect();
        let is_told = asked.iter().any(|asked| asked.by.is_some() || asked.category.is_some());
        is_told.then(|| Self {
            recording,
            marks: steps(recording, &asked),
            asked,
        })
    }

    /// From the last block to the first, because a block's category depends on who asks after it.
    fn categories(&self) -> Vec<Category> {
        let mut later = Later::default();
        let mut categories = vec![Category::Unknown; self.asked.len()];
        for (position, block) in self.recording.blocks.iter().enumerate().rev() {
            let asked = self.asked[position];
            categories[position] = asked.category.unwrap_or_else(|| self.category(block, asked.by, &later));
            later.see(asked.by, block);
        }
        categories
    }

    fn category(&self, block: &RecordedBlock, by: Option<Requester>, later: &Later) -> Category {
        let outlives = |step: Option<Step>| step.is_some_and(|step| block.freed_at > step);
        match by {
            Some(Requester::Data) => Category::Input,
            Some(Requester::Setup) if self.persists(block) => Category::Parameter,
            Some(Requester::Optimizer) if self.persists(block) => Category::OptimizerState,
            Some(Requester::Backward) => {
                let optimizer = later.optimizer.map(|step| Step(step.0 + 1));
                let until = [optimizer, self.end_of_step(block.birth)].into_iter().flatten().min();
                let until = until.or(later.forward);
                let is_kept = until.map_or(!block.is_freed, |until| block.freed_at >= until);
                if is_kept {
                    Category::Gradient
                } else {
                    Category::Temporary
                }
            }
            Some(Requester::Setup | Requester::Optimizer) => Category::Temporary,
            Some(Requester::Forward) | None if self.spans_a_step(block) => Category::Unknown,
            Some(Requester::Forward) => {
                let is_kept = later.backward.map_or(!block.is_freed, |next| outlives(Some(next)));
                if is_kept {
                    Category::Activation
                } else {
                    Category::Temporary
                }
            }
            None if block.is_older => Category::Unknown,
            None if outlives(later.backward) => Category::Activation,
            None if block.is_freed => Category::Temporary,
            None => Category::Unknown,
        }
    }

    /// Whether it lives through a step or to the end of the recording.
    fn persists(&self, block: &RecordedBlock) -> bool {
        !block.is_freed || self.spans_a_step(block)
    }

    fn spans_a_step(&self, block: &RecordedBlock) -> bool {
        let next = self.marks.partition_point(|(start, _)| *start < block.birth);
        self.marks.get(next).is_some_and(|(_, end)| block.freed_at >= *end)
    }

    /// The end of the step that runs at an event.
    fn end_of_step(&self, at: Step) -> Option<Step> {
        let next = self.marks.partition_point(|(_, end)| *end <= at);
        let (start, end) = self.marks.get(next)?;
        (*start <= at).then_some(*end)
    }
}

/// The next events after a block at which others ask.
#[derive(Clone, Copy, Debug, Default)]
struct Later {
    optimizer: Option<Step>,
    backward: Option<Step>,
    /// Of the forward pass or of data.
    forward: Option<Step>,
}

impl Later {
    const fn see(&mut self, by: Option<Requester>, block: &RecordedBlock) {
        if block.is_older {
            return;
        }
        match by {
            Some(Requester::Optimizer) => self.optimizer = Some(block.birth),
            Some(Requester::Backward) => self.backward = Some(block.birth),
            Some(Requester::Forward | Requester::Data) => self.forward = Some(block.birth),
            Some(Requester::Setup) | None => {}
        }
    }
}

/// Start and exclusive end of each step of training: as annotations mark them, else up to the first request of others
/// after the optimizer, which follows a backward pass.
fn steps(recording: &Recording, asked: &[Asked]) -> Vec<(Step, Step)> {
    let marks = recording.step_marks();
    if !marks.is_empty() {
        return marks.iter().map(|mark| (mark.start, mark.end)).collect();
    }
    let (mut steps, mut start) = (Vec::new(), Step(0));
    let (mut has_backward, mut has_optimizer) = (false, false);
    for (block, asked) in recording.blocks.iter().zip(asked) {
        match asked.by {
            _ if block.is_older => {}
            Some(Requester::Backward) if !has_optimizer => has_backward = true,
            Some(Requester::Optimizer) => has_optimizer = has_backward,
            _ if has_optimizer => {
                steps.push((start, block.birth));
                start = block.birth;
                has_backward = asked.by == Some(Requester::Backward);
                has_optimizer = false;
            }
            _ => {}
        }
    }
    if has_optimizer {
        steps.push((start, Step(recording.n_steps)));
    }
    steps
}

/// By stack: the innermost line that a rule names.
fn asked_by_stack(recording: &Recording, built_in: &[Option<usize>], rules: &CategoryRules) -> Vec<Asked> {
    let own = rules.patterns().ok().filter(|_| !rules.own.is_empty());
    let own = own.map(|patterns| Matcher::new(&patterns, recording).lines());
    let first = |lines: &[Option<usize>], stack: &[u32]| {
        let mut found = stack.iter().filter_map(|line| lines.get(*line as usize));
        found.find_map(|rule| *rule)
    };
    let asked = recording.stacks.iter().map(|stack| Asked {
        by: first(built_in, stack).map(|rule| REQUESTER_RULES[rule].requester),
        category: own
            .as_ref()
            .and_then(|lines| first(lines, stack))
            .and_then(|rule| Some(rules.own.get(rule)?.category)),
    });
    asked.collect()
}

/// By stack, whether it has no line of Python; `None` where no stack has one.
fn lacks_python(recording: &Recording) -> Option<Vec<bool>> {
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
struct PhaseRequesters {
    /// Start, exclusive end, by start.
    named: Vec<(Step, Step, Requester)>,
    open: Vec<(Step, Requester)>,
    next: usize,
}

impl PhaseRequesters {
    fn new(recording: &Recording, matcher: &mut Matcher<'_>) -> Self {
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

    /// Of the innermost phase at an event that is not before the last one asked for.
    fn at(&mut self, step: Step) -> Option<Requester> {
        while let Some((_, end, requester)) = self.named.get(self.next).filter(|(start, ..)| *start <= step) {
            self.open.push((*end, *requester));
            self.next += 1;
        }
        self.open.retain(|(end, _)| *end > step);
        self.open.last().map(|(_, requester)| *requester)
    }
}
