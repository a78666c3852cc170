//! The walk over the steps: frees, evictions and recomputations.
//!
//! Invariants: `usage` is the sum of resident variables and of the externals between their first and last reader. A
//! variable that was recomputed, or that a copy reads, is never freed, only evicted (copies count as used at the end).
//! The original searches for variables without a future use whenever it makes room; every such variable that may be
//! freed was freed at the end of the step of its last use, so that search is omitted (a test compares with an oracle
//! that has it).

use super::costs::{Copy, Costs, State};
use super::model::Model;
use super::search::Search;
use crate::remat::run::{NO_CHOICE, RematEvent, RematKind, RematRequest, RematRun, RematStatus};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;

/// Most events of a run: without a limit, recomputation can be exponentially expensive, and each event is kept (up to
/// about 500 MB with the choices). A run that reaches it ends as thrashing.
pub const MAX_EVENTS: usize = 4_000_000;

/// A variable under recomputation.
#[derive(Clone, Copy, Debug)]
struct Frame {
    variable: u32,
    copy: u32,
    /// Number of available inputs.
    n_ready: u32,
    /// Whether the next input was requested.
    is_waiting: bool,
    /// Copies finished before this one began.
    n_before: u32,
}

/// The state of the walk.
pub(super) struct Planner<'a> {
    pub(super) model: &'a Model,
    tape: &'a Tape,
    request: &'a RematRequest,
    progress: &'a Progress<'a>,
    states: Vec<State>,
    pins: Vec<u32>,
    copies: Vec<Copy>,
    n_finished: u32,
    frames: Vec<Frame>,
    costs: Costs,
    search: Search,
    usage: u64,
    /// Bytes moved by copies.
    pub(super) moved: u64,
    pub(super) run: RematRun,
}

/// Why the run stops.
pub(super) enum Stop {
    Thrash,
    Cancelled(Cancelled),
}

impl From<Cancelled> for Stop {
    fn from(cancelled: Cancelled) -> Self {
        Self::Cancelled(cancelled)
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(model: &'a Model, tape: &'a Tape, request: &'a RematRequest, progress: &'a Progress<'a>) -> Self {
        let n = model.variables.len();
        Self {
            model,
            tape,
            request,
            progress,
            states: vec![State::default(); n],
            pins: vec![0; n],
            copies: Vec::new(),
            n_finished: 0,
            frames: Vec::new(),
            costs: Costs::new(n),
            search: Search::new(n, request.factors),
            usage: 0,
            moved: 0,
            run: RematRun::new(request, model.compute(tape)),
        }
    }

    pub(super) fn plan(&mut self) -> Result<(), Cancelled> {
        let n_steps = self.model.steps.len() as u64;
        for step in 0..u32::try_from(n_steps).unwrap_or(u32::MAX) {
            if step.is_multiple_of(64) {
                self.progress.set("planning", u64::from(step), n_steps)?;
            }
            match self.step(step) {
                Ok(()) => {}
                Err(Stop::Thrash) => {
                    self.run.status = RematStatus::Thrash;
                    break;
                }
                Err(Stop::Cancelled(cancelled)) => return Err(cancelled),
            }
        }
        Ok(())
    }

    fn step(&mut self, at: u32) -> Result<(), Stop> {
        let model = self.model;
        let step = &model.steps[at as usize];
        self.pin(&step.inputs);
        for external in &step.externals {
            let external = model.externals[*external as usize];
            if external.first == at {
                self.usage = self.usage.saturating_add(external.bytes);
            }
        }
        for input in &step.inputs {
            if !self.states[*input as usize].is_resident {
                self.regenerate(*input, at)?;
            }
        }
        self.make_room(step.output_bytes, at)?;
        for (position, output) in step.outputs.iter().enumerate() {
            self.enter(*output);
            self.event(RematKind::Compute, *output, at, |event| {
                event.is_sibling = position > 0;
            });
            self.note_peak(at);
        }
        self.unpin(&step.inputs);
        for input in &step.inputs {
            if model.variables[*input as usize].readers.last() == Some(&at) {
                self.free(*input, at);
            }
        }
        for output in &step.outputs {
            if model.variables[*output as usize].readers.is_empty() {
                self.free(*output, at);
            }
        }
        if self.request.budget.is_some_and(|budget| self.usage >= budget.0) {
            self.run.counts.steps_over_budget += 1;
        }
        for external in &step.externals {
            let external = model.externals[*external as usize];
            if external.last == at {
                self.usage = self.usage.saturating_sub(external.bytes);
            }
        }
        Ok(())
    }

    fn pin(&mut self, variables: &[u32]) {
        for variable in variables {
            self.pins[*variable as usize] += 1;
        }
    }

    fn unpin(&mut self, variables: &[u32]) {
        for variable in variables {
            self.pins[*variable as usize] -= 1;
        }
    }

    fn enter(&mut self, variable: u32) {
        self.states[variable as usize].is_resident = true;
        self.usage = self.usage.saturating_add(self.model.variables[variable as usize].bytes);
        self.search.enter(self.model, variable);
        self.costs.forget(self.model, &self.states, variable);
    }

    fn leave(&mut self, variable: u32) {
        self.states[variable as usize].is_resident = false;
        self.usage = self.usage.saturating_sub(self.model.variables[variable as usize].bytes);
        self.search.leave(variable);
        self.costs.forget(self.model, &self.states, variable);
    }

    fn note_peak(&mut self, at: u32) {
        self.run.raise_peak(self.usage, self.model.steps[at as usize].op);
    }

    fn event(&mut self, kind: RematKind, variable: u32, at: u32, more: impl FnOnce(&mut RematEvent)) {
        let mut event = self.event_of(kind, variable, at);
        more(&mut event);
        self.run.events.push(event);
    }

    fn event_of(&self, kind: RematKind, variable: u32, at: u32) -> RematEvent {
        RematEvent {
            step: self.model.steps[at as usize].op,
            kind,
            tensor: self.model.variables[variable as usize].tensor,
            copy: self.states[variable as usize].version,
            chain: 0,
            clock: u64::from(at),
            memory_after: Bytes(self.usage),
            choice: NO_CHOICE,
            is_sibling: false,
        }
    }

    /// Whether a variable can be freed for good: not held, and without a future use.
    fn is_over(&self, variable: u32, at: u32) -> bool {
        let state = &self.states[variable as usize];
        let last = self.model.variables[variable as usize].readers.last();
        state.is_resident
            && self.pins[variable as usize] == 0
            && state.version == 0
            && state.copies.is_empty()
            && last.is_none_or(|last| *last <= at)
    }

    /// Frees a variable, then the inputs of its producer, depth first.
    fn free(&mut self, variable: u32, at: u32) {
        let mut stack = vec![variable];
        while let Some(variable) = stack.pop() {
            if !self.is_over(variable, at) {
                continue;
            }
            self.leave(variable);
            self.run.counts.frees += 1;
            self.event(RematKind::Free, variable, at, |_| {});
            let producer = self.model.variables[variable as usize].producer;
            stack.extend(self.model.steps[producer as usize].inputs.iter().rev());
        }
    }

    fn make_room(&mut self, needed: u64, at: u32) -> Result<(), Stop> {
        let Some(budget) = self.request.budget else {
            return Ok(());
        };
        while self.usage.saturating_add(needed) >= budget.0 {
            self.progress.check()?;
            let (states, copies, pins) = (&self.states, &self.copies, &self.pins);
            let found = self.search.find(self.model, &mut self.costs, states, copies, pins, at);
            let Some((variable, choice)) = found else { break };
            self.leave(variable);
            let event = self.event_of(RematKind::Evict, variable, at);
            self.run.evict(choice, event);
        }
        if self.run.events.len() >= MAX_EVENTS {
            return Err(Stop::Thrash);
        }
        Ok(())
    }

    /// Brings a variable back, recomputing its inputs as needed; a variable of a non-recomputable producer stays
    /// absent.
    fn regenerate(&mut self, variable: u32, at: u32) -> Result<(), Stop> {
        self.begin(variable);
        while let Some(frame) = self.frames.last().copied() {
            let producer = self.model.variables[frame.variable as usize].producer;
            let step = &self.model.steps[producer as usize];
            let Some(input) = step.inputs.get(frame.n_ready as usize).copied() else {
                self.make_room(step.output_bytes, at)?;
                self.finish(frame, at)?;
                self.frames.pop();
                self.unpin(&step.inputs);
                continue;
            };
            let is_asked = frame.is_waiting || self.states[input as usize].is_resident;
            if let Some(frame) = self.frames.last_mut() {
                frame.is_waiting = !is_asked;
                frame.n_ready += u32::from(is_asked);
            }
            if is_asked {
                self.states[input as usize].copies.push(frame.copy);
            } else {
                self.begin(input);
            }
        }
        Ok(())
    }

    fn begin(&mut self, variable: u32) {
        let producer = self.model.variables[variable as usize].producer;
        let step = &self.model.steps[producer as usize];
        if step.is_non_recomputable {
            return;
        }
        let copy = u32::try_from(self.copies.len()).unwrap_or(u32::MAX);
        self.copies.push(Copy {
            step: producer,
            is_finished: false,
        });
        self.pin(&step.inputs);
        self.frames.push(Frame {
            variable,
            copy,
            n_ready: 0,
            is_waiting: false,
            n_before: self.n_finished,
        });
    }

    fn finish(&mut self, frame: Frame, at: u32) -> Result<(), Stop> {
        let variable = frame.variable;
        let info = &self.model.variables[variable as usize];
        let step = &self.model.steps[info.producer as usize];
        self.copies[frame.copy as usize].is_finished = true;
        self.n_finished += 1;
        self.states[variable as usize].version += 1;
        self.enter(variable);
        let chain = self.n_finished - frame.n_before;
        self.event(RematKind::Rematerialize, variable, at, |event| event.chain = chain);
        self.note_peak(at);
        let counts = &mut self.run.counts;
        counts.rematerializations += 1;
        counts.rematerialized_bytes += Bytes(info.bytes);
        self.moved = self.moved.saturating_add(step.moved);
        let time = self.tape.ops[step.op as usize].time;
        if self.run.spend(time, self.request.thrash_limit) {
            Err(Stop::Thrash)
        } else {
            Ok(())
        }
    }
}
