//! The category of each block that the recording saw asked for, and what it rests on.

use std::collections::BTreeMap;

use super::super::{RecordedBlock, Recording};
use super::older::Sizes;
use super::passes::{Failures, Later, steps};
use super::requesters::{Matcher, Note, OfStack, PhaseRequesters, Requester, is_of_training, lacks_python, of_stacks};
use super::{Category, CategoryBasis, CategoryRules, Judgement};
use crate::units::{Bytes, Step};

/// What is known of who asked for a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) by: Option<Requester>,
    /// What that rests on.
    pub(super) basis: CategoryBasis,
    pub(super) of_stack: OfStack,
}

pub(super) struct Inference<'a> {
    pub(super) recording: &'a Recording,
    pub(super) asked: Vec<Asked>,
    pub(super) failures: Failures,
    /// Whether anything in the recording is of a pass that only training has.
    pub(super) trains: bool,
    /// Requests of the backward pass and of the optimizer, ascending.
    backward: Vec<Step>,
    optimizer: Vec<Step>,
    /// Steps at which an iteration ends, ascending; with the start of the iteration.
    marks: Vec<(Step, Step)>,
}

impl<'a> Inference<'a> {
    /// `None` where nothing tells who asked for any block.
    pub(super) fn new(recording: &'a Recording, rules: &CategoryRules) -> Option<Self> {
        let mut matcher = Matcher::built_in(recording)?;
        let of_stack = of_stacks(recording, &mut matcher, rules);
        let mut phases = PhaseRequesters::new(recording, &mut matcher);
        let has_python = lacks_python(recording).is_some();
        let is_training = |stack: &OfStack| stack.by.is_some_and(is_of_training);
        let mut trains = phases.trains() || of_stack.iter().any(is_training);
        let asked = recording.blocks.iter().map(|block| {
            let stack = block.stack.and_then(|stack| of_stack.get(stack.idx()));
            let of_stack = stack.copied().unwrap_or_default();
            let mut by = of_stack.by.map(|by| (by, CategoryBasis::CallStack));
            if by.is_none() && stack.is_none() {
                by = matcher.requester(block.name).map(|by| (by, CategoryBasis::Name));
                trains |= by.is_some_and(|(by, _)| is_of_training(by));
            }
            if by.is_none() && !block.is_older {
                let of_phase = phases.at(block.birth);
                by = of_phase.map(|by| (by, CategoryBasis::Annotation));
                // Threads of autograd have no Python; neither have others, so that there must be a backward pass.
                let is_thread = trains && has_python && stack.is_none_or(|stack| stack.lacks_python);
                by = by.or(is_thread.then_some((Requester::Backward, CategoryBasis::Thread)));
            }
            let (by, basis) = by.unzip();
            Asked {
                by,
                basis: basis.unwrap_or(CategoryBasis::Life),
                of_stack,
            }
        });
        let asked: Vec<Asked> = asked.collect();
        let is_told = |asked: &Asked| asked.by.is_some() || asked.of_stack.category.is_some();
        if !asked.iter().any(is_told) {
            return None;
        }
        let failures = Failures::new(recording, &asked);
        let births = |of: Requester| {
            let blocks = recording.blocks.iter().zip(&asked);
            let of_pass = blocks.filter(|(block, asked)| !block.is_older && asked.by == Some(of));
            of_pass.map(|(block, _)| block.birth).collect()
        };
        Some(Self {
            recording,
            backward: births(Requester::Backward),
            optimizer: births(Requester::Optimizer),
            marks: steps(recording, &asked, &failures),
            asked,
            failures,
            trains,
        })
    }

    /// The category of each block, and the bytes of parameters among blocks that are parameters or states.
    pub(super) fn judge(&self) -> (Vec<Judgement>, Bytes) {
        let (mut judgements, at_end) = self.by_requester();
        self.judge_cut(&mut judgements);
        let sizes = Sizes::new(self, &mut judgements, &at_end);
        sizes.judge_seen(self, &mut judgements);
        let undecided = sizes.judge_older(self, &mut judgements);
        (judgements, undecided)
    }

    /// From the last block to the first, because a block's category depends on who asks after it. Also which temporaries
    /// of a backward pass are live when it ends.
    fn by_requester(&self) -> (Vec<Judgement>, Vec<bool>) {
        let before = self.before();
        let mut later = Later::default();
        let mut judgements = vec![Judgement::default(); self.asked.len()];
        let mut at_end = vec![false; self.asked.len()];
        for (position, block) in self.recording.blocks.iter().enumerate().rev() {
            let asked = &self.asked[position];
            judgements[position] = match asked.of_stack.category {
                Some(category) => (category, CategoryBasis::Rule),
                None => self.judgement(block, asked, &later, before[position]),
            };
            if asked.by == Some(Requester::Backward) && !block.is_older && judgements[position].0 == Category::Temporary
            {
                let end = later.end_of_its_backward();
                at_end[position] = end.is_none_or(|end| block.freed_at > end);
            }
            later.see(asked.by, block);
        }
        (judgements, at_end)
    }

    /// By block, who asked before it: the last one that is not data.
    fn before(&self) -> Vec<Option<Requester>> {
        let mut last = None;
        let blocks = self.recording.blocks.iter().zip(&self.asked);
        let before = blocks.map(|(block, asked)| {
            let before = last;
            if !block.is_older && asked.by.is_some_and(|by| by != Requester::Data) {
                last = asked.by;
            }
            before
        });
        before.collect()
    }

    fn judgement(&self, block: &RecordedBlock, asked: &Asked, later: &Later, before: Option<Requester>) -> Judgement {
        let category = match asked.by {
            Some(Requester::Data) => Category::Input,
            Some(Requester::Setup) if self.is_parameter(block, asked, later) => Category::Parameter,
            Some(Requester::Optimizer) if asked.of_stack.has(Note::MakesState) || self.persists(block) => {
                Category::OptimizerState
            }
            Some(Requester::Backward) if self.is_kept(block, later) => Category::Gradient,
            Some(Requester::Setup | Requester::Optimizer | Requester::Backward) => Category::Temporary,
            Some(Requester::Forward | Requester::Recomputation) | None if self.spans_a_step(block) => {
                return if asked.by.is_none() && block.is_older {
                    Judgement::default()
                } else {
                    CategoryBasis::BeyondStep.unknown()
                };
            }
            Some(Requester::Forward | Requester::Recomputation) => {
                if outlives(block, later.backward) || later.backward.is_none() && !block.is_freed {
                    Category::Activation
                } else {
                    Category::Temporary
                }
            }
            None if block.is_older => return Judgement::default(),
            None => return self.of_program(block, asked, later, before),
        };
        (category, asked.basis)
    }

    /// Of a block that no rule names.
    fn of_program(&self, block: &RecordedBlock, asked: &Asked, later: &Later, before: Option<Requester>) -> Judgement {
        let is_between = !matches!(before, Some(Requester::Forward | Requester::Recomputation)) && later.runs_forward();
        if is_between && block.stack.is_some() && !asked.of_stack.lacks_python && outlives(block, later.forward) {
            // The first step of a recording may be preceded by what the program makes once.
            return match before {
                Some(Requester::Setup) | None if !block.is_freed => CategoryBasis::BeyondStep.unknown(),
                None => CategoryBasis::InputOrTemporary.unknown(),
                Some(_) => (Category::Input, CategoryBasis::BetweenSteps),
            };
        }
        if !self.trains && block.stack.is_some() && outlives(block, later.forward) {
            return CategoryBasis::InputOrTemporary.unknown();
        }
        if outlives(block, later.backward) {
            (Category::Activation, asked.basis)
        } else if block.is_freed {
            (Category::Temporary, asked.basis)
        } else {
            Judgement::default()
        }
    }

    /// Whether a block of setup is still there when the model runs; where it was made within a model, whether it stays.
    fn is_parameter(&self, block: &RecordedBlock, asked: &Asked, later: &Later) -> bool {
        self.persists(block) || !asked.of_stack.is_in_model && outlives(block, later.forward)
    }

    /// Whether a block of the backward pass lives until the optimizer asks or the step ends.
    fn is_kept(&self, block: &RecordedBlock, later: &Later) -> bool {
        let optimizer = later.optimizer.map(|step| Step(step.0 + 1));
        let until = [optimizer, self.end_of_step(block.birth)].into_iter().flatten().min();
        let until = until.or(later.forward);
        until.map_or(!block.is_freed, |until| block.freed_at >= until)
    }

    /// Whether it lives through a step, to the end of the recording, or until a request failed.
    fn persists(&self, block: &RecordedBlock) -> bool {
        !block.is_freed || self.spans_a_step(block) || self.failures.cut(block).is_some()
    }

    pub(super) fn spans_a_step(&self, block: &RecordedBlock) -> bool {
        let next = self.marks.partition_point(|(start, _)| *start < block.birth);
        self.marks.get(next).is_some_and(|(_, end)| block.freed_at >= *end)
    }

    /// The end of the step that runs at an event.
    fn end_of_step(&self, at: Step) -> Option<Step> {
        let next = self.marks.partition_point(|(_, end)| *end <= at);
        let (start, end) = self.marks.get(next)?;
        (*start <= at).then_some(*end)
    }

    /// Whether a request failed that ended the block's step while it was live, before a later pass showed what it is.
    pub(super) fn is_cut(&self, block: &RecordedBlock, asked: &Asked) -> bool {
        if block.is_older || self.failures.cut(block).is_none() || self.spans_a_step(block) {
            return false;
        }
        let shows = match asked.by {
            Some(Requester::Forward | Requester::Recomputation) | None => &self.backward,
            Some(Requester::Backward) => &self.optimizer,
            Some(Requester::Setup | Requester::Data | Requester::Optimizer) => return true,
        };
        let next = shows.partition_point(|step| *step <= block.birth);
        shows.get(next).is_none_or(|step| *step >= block.freed_at)
    }

    /// Blocks of the forward pass and of the optimizer that were live when a request failed: as other blocks of the same
    /// stack and size ended.
    fn judge_cut(&self, judgements: &mut [Judgement]) {
        let blocks = || self.recording.blocks.iter().zip(&self.asked);
        let cut: Vec<bool> = blocks().map(|(block, asked)| self.is_cut(block, asked)).collect();
        if !cut.contains(&true) {
            return;
        }
        let mut alike: BTreeMap<(usize, Bytes), Alike> = BTreeMap::new();
        for ((block, (category, _)), cut) in self.recording.blocks.iter().zip(&*judgements).zip(&cut) {
            let Some(stack) = block.stack.filter(|_| !block.is_older) else {
                continue;
            };
            let known = alike.entry((stack.idx(), block.bytes)).or_default();
            match category {
                _ if *cut => known.cut += 1,
                Category::Temporary => known.temporary += 1,
                _ => known.kept += 1,
            }
        }
        for (position, block) in self.recording.blocks.iter().enumerate() {
            let asked = &self.asked[position];
            if !cut[position] || asked.of_stack.category.is_some() {
                continue;
            }
            let known = block.stack.and_then(|stack| alike.get(&(stack.idx(), block.bytes)));
            let known = known.copied().unwrap_or_default();
            match asked.by {
                None if judgements[position].1 != CategoryBasis::Life
                    && judgements[position] != Judgement::default() => {}
                Some(Requester::Forward | Requester::Recomputation) | None => {
                    judgements[position] = known.of_forward();
                }
                Some(Requester::Optimizer) if !asked.of_stack.has(Note::MakesState) => {
                    judgements[position] = known.of_optimizer(self.failures.unwinds(block));
                }
                _ => {}
            }
        }
    }
}

/// Blocks of one stack and size.
#[derive(Clone, Copy, Debug, Default)]
struct Alike {
    kept: u32,
    temporary: u32,
    /// Live when a request failed.
    cut: u32,
}

impl Alike {
    fn of_forward(self) -> Judgement {
        match (self.kept, self.temporary) {
            (0, 0) => (Category::Activation, CategoryBasis::FailedRequest),
            (_, 0) => (Category::Activation, CategoryBasis::Alike),
            // One of them at a time, as always before.
            (0, _) if self.cut == 1 => (Category::Temporary, CategoryBasis::Alike),
            _ => CategoryBasis::ActivationOrTemporary.unknown(),
        }
    }

    /// The optimizer holds its states: unwinding frees temporaries alone.
    fn of_optimizer(self, is_unwound: bool) -> Judgement {
        match (self.kept, self.temporary) {
            (0, 0) if is_unwound => (Category::Temporary, CategoryBasis::FailedRequest),
            (1.., 0) if !is_unwound => (Category::OptimizerState, CategoryBasis::Alike),
            (0, 1..) => (Category::Temporary, CategoryBasis::Alike),
            _ => CategoryBasis::StateOrTemporary.unknown(),
        }
    }
}

/// Whether a block lives on after an event.
fn outlives(block: &RecordedBlock, step: Option<Step>) -> bool {
    step.is_some_and(|step| block.freed_at > step)
}
