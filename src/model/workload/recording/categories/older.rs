//! What sizes of gradients tell: each gradient has a parameter of its size (`Tensor.grad` has the type and the shape of
//! its tensor). So of the blocks that are older than the recording and live on as many are parameters as there are
//! gradients of their size; where there are more, which ones cannot be told. Also older blocks that end within the
//! recording, and blocks of the backward pass that were live when a request failed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::RecordedBlock;
use super::inference::Inference;
use super::passes::births;
use super::requesters::{Note, Requester};
use super::{Category, CategoryBasis, Judgement};
use crate::units::{Bytes, Step};

/// How many blocks there are of each size.
type Counts = BTreeMap<Bytes, u32>;

/// Of all parameters, at least one in so many has a gradient where an optimizer shows no requests.
const LEAST_PART: usize = 4;

/// Requests of the last operator of a backward pass that stay: gradients of a weight and a bias.
const LAST_OPERATOR: usize = 2;

/// A backward pass: its requests, and the blocks that are live when it ends.
#[derive(Debug, Default)]
struct Pass {
    births: Vec<Step>,
    ends: Vec<usize>,
}

/// Sizes of blocks whose category is known.
pub(super) struct Sizes {
    /// Gradients, where most of their bytes are live at once.
    gradients: Counts,
    /// Parameters whose request was recorded.
    parameters: Counts,
    /// Blocks that are older than the recording and outlive the last request.
    older: Counts,
    /// By block that is older: whether it does.
    stays: Vec<bool>,
    /// Whether there may be states or copies of all parameters: of some size there are at least two blocks that stay for
    /// each gradient. Then no number of blocks says that all are parameters, as some of the gradients may be none.
    has_copies: bool,
    /// Whether of each size there are no more parameters than gradients.
    has_all_gradients: bool,
}

impl Sizes {
    /// O(blocks log blocks).
    pub(super) fn new(inference: &Inference<'_>, judgements: &mut [Judgement], at_end: &[bool]) -> Self {
        let blocks = &inference.recording.blocks;
        let last = births(inference.recording).last();
        let stays = |block: &RecordedBlock| {
            let is_unknown = block.stack.is_none() && block.birth == Step(0);
            block.is_older && is_unknown && (!block.is_freed || last.is_some_and(|last| block.freed_at > last))
        };
        let stays: Vec<bool> = blocks.iter().map(stays).collect();
        let mut sizes = Self {
            gradients: Counts::new(),
            parameters: Counts::new(),
            older: Counts::new(),
            stays,
            has_copies: false,
            has_all_gradients: false,
        };
        for ((block, (category, basis)), stays) in blocks.iter().zip(&*judgements).zip(&sizes.stays) {
            if *category == Category::Parameter && *basis == CategoryBasis::CallStack {
                *sizes.parameters.entry(block.bytes).or_default() += 1;
            }
            if *stays {
                *sizes.older.entry(block.bytes).or_default() += 1;
            }
        }
        sizes.judge_ends(inference, judgements, at_end);
        sizes.gradients = gradients(inference, judgements);
        sizes.has_copies = sizes.gradients.iter().any(|(bytes, count)| {
            let n_known = Self::count(&sizes.older, *bytes) + Self::count(&sizes.parameters, *bytes);
            n_known >= 2 * count
        });
        let gradients = &sizes.gradients;
        let has_gradients = |(bytes, count): (&Bytes, &u32)| Self::count(gradients, *bytes) >= *count;
        sizes.has_all_gradients = sizes.parameters.iter().all(has_gradients);
        sizes
    }

    /// Gradients where the optimizer asks for nothing: blocks of the sizes of parameters that are live when a backward
    /// pass ends that the model or the end of the recording follows.
    fn judge_ends(&self, inference: &Inference<'_>, judgements: &mut [Judgement], at_end: &[bool]) {
        let mut pass = Pass::default();
        for (position, block) in inference.recording.blocks.iter().enumerate() {
            if block.is_older || inference.is_cut(block, &inference.asked[position]) {
                continue;
            }
            match inference.asked[position].by {
                Some(Requester::Backward | Requester::Recomputation) => {
                    pass.births.push(block.birth);
                    pass.ends.extend(at_end[position].then_some(position));
                }
                None => {}
                // It shows which are live then.
                Some(Requester::Optimizer) => pass = Pass::default(),
                Some(Requester::Setup | Requester::Data | Requester::Forward) => {
                    self.judge_pass(inference, judgements, std::mem::take(&mut pass));
                }
            }
        }
        self.judge_pass(inference, judgements, pass);
    }

    /// Of each size as many are gradients as there are parameters, those that are freed last: what the last operators
    /// read is freed before. States of the optimizer and copies have the sizes of parameters, too.
    fn judge_pass(&self, inference: &Inference<'_>, judgements: &mut [Judgement], pass: Pass) {
        let blocks = &inference.recording.blocks;
        // What the last operator reads is freed first; what it makes is made last.
        let first = pass
            .ends
            .iter()
            .min_by_key(|position| blocks[**position].freed_at)
            .copied();
        let last_births = pass.births.iter().rev().nth(LAST_OPERATOR).copied().unwrap_or(Step(0));
        let first = first.filter(|position| blocks[*position].birth <= last_births);
        let mut pass = pass.ends;
        let n_known = |bytes: Bytes| Self::count(&self.parameters, bytes) + Self::count(&self.older, bytes);
        pass.retain(|position| n_known(blocks[*position].bytes) > 0);
        pass.sort_by_key(|position| (blocks[*position].bytes, Reverse(blocks[*position].freed_at)));
        let of_sizes = || pass.chunk_by(|one, other| blocks[*one].bytes == blocks[*other].bytes);
        let ratios = of_sizes().map(|alike| n_known(blocks[alike[0]].bytes) as usize / alike.len());
        let mut ratios: Vec<usize> = ratios.filter(|ratio| *ratio > 0).collect();
        ratios.sort_unstable();
        let n_copies = ratios.get(ratios.len().saturating_sub(1) / 2).copied().unwrap_or(1);
        let of_copies = |bytes: Bytes| (n_known(bytes) as usize / n_copies).max(1);
        let sizes: BTreeSet<Bytes> = self.parameters.keys().chain(self.older.keys()).copied().collect();
        let n_all: usize = sizes.into_iter().map(of_copies).sum();
        // Where gradients stay, only what the last operators read is live and then freed.
        let is_whole = pass.len() * LEAST_PART >= n_all;
        for alike in of_sizes() {
            let n_gradients = of_copies(blocks[alike[0]].bytes);
            for position in alike.iter().take(n_gradients) {
                let judgement = &mut judgements[*position];
                *judgement = if is_whole && Some(*position) != first {
                    (Category::Gradient, judgement.1)
                } else {
                    CategoryBasis::GradientOrTemporary.unknown()
                };
            }
        }
    }

    fn count(counts: &Counts, bytes: Bytes) -> u32 {
        counts.get(&bytes).copied().unwrap_or(0)
    }

    /// Parameters of a size that are older than the recording, at least.
    fn older_parameters(&self, bytes: Bytes) -> u32 {
        Self::count(&self.gradients, bytes).saturating_sub(Self::count(&self.parameters, bytes))
    }

    /// Blocks that the recording saw asked for, where sizes say more than who asked.
    pub(super) fn judge_seen(&self, inference: &Inference<'_>, judgements: &mut [Judgement]) {
        let cut = cut_of_backward(inference);
        let blocks = inference.recording.blocks.iter().zip(&inference.asked);
        for (position, (block, asked)) in blocks.enumerate() {
            let judgement = &mut judgements[position];
            if asked.of_stack.category.is_some() {
                continue;
            }
            match judgement.0 {
                Category::Parameter
                    if asked.of_stack.has(Note::Copy) && inference.trains && !self.has_all_gradients =>
                {
                    *judgement = CategoryBasis::Copy.unknown();
                }
                _ if asked.by == Some(Requester::Backward) && !block.is_older => {
                    let n_known = Self::count(&self.parameters, block.bytes) + Self::count(&self.older, block.bytes);
                    if inference.is_cut(block, asked) {
                        *judgement = self.of_failed_backward(block, Self::count(&cut, block.bytes));
                    } else if judgement.0 == Category::Gradient
                        && n_known == 0
                        && !self.parameters.is_empty()
                        && inference.spans_a_step(block)
                    {
                        // A workspace of a library, which it allocates once for each thread.
                        *judgement = CategoryBasis::BeyondStep.unknown();
                    }
                }
                _ => {}
            }
        }
    }

    /// A gradient where a parameter has its size, else a temporary; unknown where there are more than parameters.
    fn of_failed_backward(&self, block: &RecordedBlock, n_alike: u32) -> Judgement {
        let sizes = if self.parameters.is_empty() {
            &self.gradients
        } else {
            &self.parameters
        };
        match Self::count(sizes, block.bytes) {
            _ if sizes.is_empty() => CategoryBasis::GradientOrTemporary.unknown(),
            0 if !self.older.contains_key(&block.bytes) => (Category::Temporary, CategoryBasis::Size),
            n_known if n_alike <= n_known => (Category::Gradient, CategoryBasis::Size),
            _ => CategoryBasis::GradientOrTemporary.unknown(),
        }
    }

    /// Blocks that are older than the recording and have no stack. Returns the bytes of parameters among those that are
    /// a parameter or a state.
    pub(super) fn judge_older(&self, inference: &Inference<'_>, judgements: &mut [Judgement]) -> Bytes {
        let asked = &inference.asked;
        let is_sharded = asked.iter().any(|asked| asked.of_stack.has(Note::Sharded));
        if is_sharded || !inference.trains {
            return Bytes::ZERO;
        }
        let ends = Ends::new(self, inference, judgements);
        let mut undecided: Counts = Counts::new();
        for (position, block) in inference.recording.blocks.iter().enumerate() {
            let is_unknown = judgements[position] == Judgement::default();
            if !block.is_older || block.appears() || !is_unknown || block.stack.is_some() {
                continue;
            }
            judgements[position] = if !self.stays[position] {
                ends.judgement(block)
            } else if self.gradients.is_empty() {
                Judgement::default()
            } else {
                match self.older_parameters(block.bytes) {
                    0 => CategoryBasis::NoGradient.unknown(),
                    n_parameters if !self.has_copies && n_parameters >= Self::count(&self.older, block.bytes) => {
                        (Category::Parameter, CategoryBasis::Size)
                    }
                    n_parameters => {
                        undecided.insert(block.bytes, n_parameters);
                        CategoryBasis::ParameterOrState.unknown()
                    }
                }
            };
        }
        let bytes = undecided
            .iter()
            .map(|(bytes, count)| bytes.get().saturating_mul(u64::from(*count)));
        Bytes(bytes.fold(0, u64::saturating_add))
    }
}

/// Blocks of the backward pass that were live when a request failed.
fn cut_of_backward(inference: &Inference<'_>) -> Counts {
    let mut counts = Counts::new();
    for (block, asked) in inference.recording.blocks.iter().zip(&inference.asked) {
        if asked.by == Some(Requester::Backward) && inference.is_cut(block, asked) {
            *counts.entry(block.bytes).or_default() += 1;
        }
    }
    counts
}

/// Sizes of the gradients that are live when most of their bytes are.
fn gradients(inference: &Inference<'_>, judgements: &[Judgement]) -> Counts {
    let of_gradients = || {
        let blocks = inference.recording.blocks.iter().zip(judgements).zip(&inference.asked);
        // Of a step that failed some are missing, and others may be none.
        let gradients = blocks.filter(|((block, (category, _)), asked)| {
            *category == Category::Gradient && !inference.is_cut(block, asked)
        });
        gradients.map(|((block, _), _)| block)
    };
    let mut changes: Vec<(Step, i128)> = of_gradients()
        .flat_map(|block| {
            let bytes = i128::from(block.bytes.get());
            [(block.birth, bytes), (block.freed_at, -bytes)]
        })
        .collect();
    changes.sort_unstable();
    let (mut live, mut most, mut at) = (0, 0, Step(0));
    for (step, change) in changes {
        live += change;
        if live > most {
            (most, at) = (live, step);
        }
    }
    let mut counts = Counts::new();
    for block in of_gradients().filter(|block| block.birth <= at && block.freed_at > at) {
        *counts.entry(block.bytes).or_default() += 1;
    }
    counts
}

/// What the ends of older blocks tell.
struct Ends {
    /// Requests that were recorded.
    births: Vec<Step>,
    /// Numbers of requests before which blocks of the sizes of all gradients were freed in one go.
    runs: BTreeSet<usize>,
    /// Sizes of which a run frees as many as there are gradients.
    sizes: BTreeSet<(usize, Bytes)>,
    /// The first backward pass, where a part of its forward pass was recorded before it.
    backward: Option<(Step, Step)>,
}

impl Ends {
    fn new(sizes: &Sizes, inference: &Inference<'_>, judgements: &[Judgement]) -> Self {
        let mut ends = Self {
            births: births(inference.recording).collect(),
            runs: BTreeSet::new(),
            sizes: BTreeSet::new(),
            backward: first_backward(inference),
        };
        if sizes.gradients.is_empty() {
            return ends;
        }
        let mut freed: BTreeMap<usize, (bool, Counts)> = BTreeMap::new();
        for (block, judgement) in inference.recording.blocks.iter().zip(judgements) {
            let is_older = block.is_older && *judgement == Judgement::default();
            if !block.is_freed || !is_older && judgement.0 != Category::Gradient {
                continue;
            }
            let (has_older, counts) = freed.entry(ends.run(block)).or_default();
            *has_older |= is_older;
            *counts.entry(block.bytes).or_default() += 1;
        }
        for (run, (has_older, counts)) in freed {
            let wanted = sizes.gradients.iter();
            let is_whole = wanted
                .clone()
                .all(|(bytes, count)| Sizes::count(&counts, *bytes) >= *count);
            if has_older && is_whole {
                ends.runs.insert(run);
                let exact = wanted.filter(|(bytes, count)| Sizes::count(&counts, **bytes) == **count);
                ends.sizes.extend(exact.map(|(bytes, _)| (run, *bytes)));
            }
        }
        ends
    }

    /// The number of requests before a block was freed.
    fn run(&self, block: &RecordedBlock) -> usize {
        self.births.partition_point(|birth| *birth < block.freed_at)
    }

    fn judgement(&self, block: &RecordedBlock) -> Judgement {
        let run = self.run(block);
        if self.runs.contains(&run) && self.sizes.contains(&(run, block.bytes)) {
            return (Category::Gradient, CategoryBasis::FreedTogether);
        }
        let is_within = |(start, end): &(Step, Step)| block.freed_at > *start && block.freed_at <= *end;
        if self.backward.as_ref().is_some_and(is_within) {
            return (Category::Activation, CategoryBasis::FreedByBackward);
        }
        CategoryBasis::OlderFreed.unknown()
    }
}

/// The first and the last request of the first backward pass, if the model asked before it.
fn first_backward(inference: &Inference<'_>) -> Option<(Step, Step)> {
    let (mut has_forward, mut pass) = (false, None);
    for (block, asked) in inference.recording.blocks.iter().zip(&inference.asked) {
        if block.is_older {
            continue;
        }
        match (asked.by, pass) {
            (Some(Requester::Forward), None) => has_forward = true,
            (Some(Requester::Backward), None) => pass = Some((block.birth, block.birth)),
            (Some(Requester::Backward | Requester::Recomputation), Some((start, _))) => {
                pass = Some((start, block.birth));
            }
            (None, _) | (_, None) => {}
            (Some(_), Some(_)) => break,
        }
    }
    pass.filter(|_| has_forward)
}
