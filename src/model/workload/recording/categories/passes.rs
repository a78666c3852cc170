//! The order of requests: steps of training, the requests that follow a block, requests that failed.

use super::super::{MarkKind, RecordedBlock, Recording};
use super::inference::Asked;
use super::requesters::Requester;
use crate::units::Step;

/// The next events after a block at which others ask.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Later {
    pub(super) optimizer: Option<Step>,
    pub(super) backward: Option<Step>,
    /// Of the forward pass or of data, not of a recomputation.
    pub(super) forward: Option<Step>,
    /// The last request of the backward pass that runs, or the next one.
    pub(super) end_of_backward: Option<Step>,
    /// Whether the next request is of a backward pass.
    is_backward: bool,
}

impl Later {
    pub(super) fn see(&mut self, by: Option<Requester>, block: &RecordedBlock) {
        if block.is_older {
            return;
        }
        if let Some(by) = by {
            let is_backward = matches!(by, Requester::Backward | Requester::Recomputation);
            if is_backward && !self.is_backward {
                self.end_of_backward = Some(block.birth);
            }
            self.is_backward = is_backward;
        }
        match by {
            Some(Requester::Optimizer) => self.optimizer = Some(block.birth),
            Some(Requester::Backward) => self.backward = Some(block.birth),
            Some(Requester::Forward | Requester::Data) => self.forward = Some(block.birth),
            Some(Requester::Setup | Requester::Recomputation) | None => {}
        }
    }

    /// The last request of the backward pass in which a block was asked for: `None` for its last one.
    pub(super) fn end_of_its_backward(&self) -> Option<Step> {
        self.end_of_backward.filter(|_| self.is_backward)
    }

    /// Whether the model runs before the next backward pass.
    pub(super) fn runs_forward(&self) -> bool {
        self.forward
            .is_some_and(|forward| self.backward.is_none_or(|backward| forward < backward))
    }
}

/// Requests that failed.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// The event of each, the next request, and whether it ended a step.
    events: Vec<(Step, Option<Step>, bool)>,
}

impl Failures {
    /// O((blocks + failures) log blocks).
    pub(super) fn new(recording: &Recording, asked: &[Asked]) -> Self {
        let births: Vec<Step> = births(recording).collect();
        let marks = recording.marks.iter();
        let failed = marks.filter(|mark| mark.kind == MarkKind::OutOfMemory);
        let events = failed.map(|mark| {
            let next = births.partition_point(|birth| *birth <= mark.step);
            let next = births.get(next).copied();
            (mark.step, next, next.is_none())
        });
        let mut failures = Self {
            events: events.collect(),
        };
        if failures.events.is_empty() {
            return failures;
        }
        // A library tries smaller sizes after a failure (cuDNN's search of algorithms): then nothing is unwound.
        for (block, asked) in recording.blocks.iter().zip(asked) {
            let is_of_pass = !block.is_older && !matches!(asked.by, Some(Requester::Setup | Requester::Data));
            if let Some(position) = failures.position(block).filter(|_| is_of_pass) {
                failures.events[position].2 = true;
            }
        }
        failures
    }

    /// The failure after which a block was freed before anything else was asked for, or after which the recording ends.
    fn position(&self, block: &RecordedBlock) -> Option<usize> {
        let position = self
            .events
            .partition_point(|(failure, ..)| *failure < block.freed_at)
            .checked_sub(1)?;
        let (failure, next, _) = self.events[position];
        let is_live = block.birth < failure && block.freed_at > failure;
        (is_live && next.is_none_or(|next| block.freed_at <= next)).then_some(position)
    }

    /// The failed request that ended a block's step while it was live.
    pub(super) fn cut(&self, block: &RecordedBlock) -> Option<Step> {
        Some(self.events[self.position(block)?].0)
    }

    /// Whether a block was freed at once after the failed request.
    pub(super) fn unwinds(&self, block: &RecordedBlock) -> bool {
        block.is_freed && self.position(block).is_some()
    }

    /// Failures that ended a step.
    fn ends(&self) -> impl Iterator<Item = Step> {
        self.events.iter().filter(|event| event.2).map(|event| event.0)
    }
}

/// Events at which blocks are asked for, ascending.
pub(super) fn births(recording: &Recording) -> impl Iterator<Item = Step> {
    let asked = recording.blocks.iter().filter(|block| !block.is_older);
    asked.map(|block| block.birth)
}

/// Start and exclusive end of each step of training: as annotations mark them, else up to the first request of others
/// after the optimizer, which follows a backward pass. A failed request ends a step, too.
pub(super) fn steps(recording: &Recording, asked: &[Asked], failures: &Failures) -> Vec<(Step, Step)> {
    let marks = recording.step_marks();
    if !marks.is_empty() {
        return marks.iter().map(|mark| (mark.start, mark.end)).collect();
    }
    let mut ends = failures.ends().peekable();
    let (mut steps, mut start) = (Vec::new(), Step(0));
    let (mut has_backward, mut has_optimizer) = (false, false);
    for (block, asked) in recording.blocks.iter().zip(asked) {
        if block.is_older {
            continue;
        }
        while let Some(failure) = ends.next_if(|failure| *failure < block.birth) {
            steps.push((start, Step(failure.0 + 1)));
            start = block.birth;
            (has_backward, has_optimizer) = (false, false);
        }
        match asked.by {
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
    if let Some(failure) = ends.next() {
        steps.push((start, Step(failure.0 + 1)));
    } else if has_optimizer {
        steps.push((start, Step(recording.n_steps)));
    }
    steps
}
