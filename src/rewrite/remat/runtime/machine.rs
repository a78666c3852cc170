//! The machine: executes the calls of a tape, counts, and records events.
//!
//! In: a tape, a request, a rule. Out: a [`RematRun`]. Invariants: a storage is in the pool while it is resident
//! without locks; a pin is a permanent lock; bytes in use are those of the resident storages between two computations.

use super::choose::choose;
use super::materialize::Frame;
use super::pool::Pool;
use super::rule::{Change, Rule};
use super::storage_state::{State, StorageState};
use crate::remat::{NO_CHOICE, RematEvent, RematKind, RematRequest, RematRun, RematShortage, RematStatus};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{Tape, TapeCall};

/// Computations and evictions between two checks of the cancel flag.
const WORK_BETWEEN_CHECKS: u32 = 256;

/// Calls between two reports.
const CALLS_BETWEEN_REPORTS: usize = 1024;

/// Why a run ends early.
#[derive(Debug)]
pub(super) enum Stop {
    Thrash,
    OutOfMemory(RematShortage),
    Cancelled(Cancelled),
}

/// State of a storage that heuristics do not see.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    pub(super) locks: u32,
    /// References of the caller.
    pub(super) references: u32,
    /// Counts evictions: a tensor defined in an earlier residency is not defined now.
    pub(super) residency: u32,
    /// Tensors computed so far, and those of them that are defined.
    pub(super) n_computed: u32,
    pub(super) n_defined: u32,
    pub(super) is_pinned: bool,
    /// It cannot be recomputed; one of its locks represents that.
    pub(super) is_excluded: bool,
}

/// State of a tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Version {
    /// The residency of its storage in which it was computed, plus one.
    pub(super) residency: u32,
    pub(super) copy: u32,
    /// References of the caller.
    pub(super) references: u32,
}

pub(super) struct Machine<'a, R> {
    pub(super) states: StorageState<'a>,
    pub(super) rule: R,
    pub(super) pool: Pool,
    pub(super) holds: Vec<Hold>,
    pub(super) versions: Vec<Version>,
    /// By op: bytes of its results.
    pub(super) needs: Vec<u64>,
    pub(super) used: u64,
    pub(super) step: u32,
    pub(super) budget: Option<u64>,
    pub(super) remat_limit: f64,
    pub(super) run: RematRun,
    /// Pending computations, outermost first, and their missing inputs.
    pub(super) frames: Vec<Frame>,
    pub(super) waiting: Vec<u32>,
    /// Storages that cannot be banished yet, each with the storage that needs it.
    pub(super) deferred: Vec<(u32, u32)>,
    /// The last descendant walk that visited each storage, and the number of walks.
    pub(super) seen: Vec<u32>,
    pub(super) n_walks: u32,
    work: u32,
}

impl<'a, R: Rule> Machine<'a, R> {
    pub(super) fn new(tape: &'a Tape, request: &RematRequest, rule: R) -> Self {
        let states = StorageState::new(tape);
        let n = tape.tensors.len();
        let needs = tape.ops.iter().map(|op| {
            let bytes = op.outputs.iter().map(|tensor| states.bytes[*tensor as usize]);
            bytes.fold(0, u64::saturating_add)
        });
        let base_compute = tape.compute();
        // Where all ops are free, counts of ops replace costs.
        let base = if base_compute.0 == 0 {
            tape.ops.len() as u64
        } else {
            base_compute.0
        };
        #[expect(clippy::cast_precision_loss, reason = "the limit is a part of the baseline")]
        let remat_limit = request.thrash_limit.map_or(f64::INFINITY, |limit| limit * base as f64);
        Self {
            needs: needs.collect(),
            states,
            rule,
            pool: Pool::new(n),
            holds: vec![Hold::default(); n],
            versions: vec![Version::default(); n],
            used: 0,
            step: 0,
            budget: request.budget.map(Bytes::get),
            remat_limit,
            run: RematRun {
                events: Vec::with_capacity(2 * n),
                ..RematRun::new(request, base_compute)
            },
            frames: Vec::new(),
            waiting: Vec::new(),
            deferred: Vec::new(),
            seen: Vec::new(),
            n_walks: 0,
            work: 0,
        }
    }

    /// Runs the tape to its end, or until it stops.
    pub(super) fn run(mut self, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
        match self.play(progress) {
            Ok(()) => {}
            Err(Stop::Thrash) => self.run.status = RematStatus::Thrash,
            Err(Stop::OutOfMemory(shortage)) => self.run.status = RematStatus::OutOfMemory(shortage),
            Err(Stop::Cancelled(cancelled)) => return Err(cancelled),
        }
        Ok(self.run)
    }

    fn play(&mut self, progress: &Progress<'_>) -> Result<(), Stop> {
        let tape = self.states.tape;
        for (number, call) in tape.calls.iter().enumerate() {
            if number % CALLS_BETWEEN_REPORTS == 0 {
                let done = progress.set("rematerializing", number as u64, tape.calls.len() as u64);
                done.map_err(Stop::Cancelled)?;
            }
            match *call {
                TapeCall::Call(op) => self.call(op, progress)?,
                TapeCall::Retain(tensor) => {
                    let root = self.states.root(tensor);
                    self.retain(tensor, root);
                }
                TapeCall::Release(tensor) => self.release(tensor),
            }
        }
        self.step = u32::try_from(tape.ops.len()).unwrap_or(u32::MAX);
        for tensor in &tape.kept {
            if !self.is_defined(*tensor) {
                self.materialize(Frame::recompute(*tensor, tape), progress)?;
            }
            self.pin(self.states.root(*tensor));
        }
        Ok(())
    }

    fn call(&mut self, number: u32, progress: &Progress<'_>) -> Result<(), Stop> {
        let op = &self.states.tape.ops[number as usize];
        self.step = number;
        self.states.n_called = number + 1;
        for storage in self.states.wiring.writes.of(number as usize) {
            let cost = &mut self.states.cost[*storage as usize];
            *cost = cost.saturating_add(op.time.0);
            let state = &mut self.states.state[*storage as usize];
            if *state == State::Future {
                *state = State::Evicted;
            }
        }
        self.rule.changed(&self.states, Change::Called(number), &mut self.pool);
        self.materialize(Frame::first(number, op.outputs.first().copied()), progress)?;
        for tensor in &op.outputs {
            let root = self.states.root(*tensor);
            self.retain(*tensor, root);
            self.access(root);
            if self.states.tape.tensors[*tensor as usize].is_external {
                self.pin(root);
            } else if op.is_non_recomputable {
                self.exclude_from_eviction(root);
            }
        }
        if self.budget.is_some_and(|budget| self.used > budget) {
            self.run.counts.steps_over_budget += 1;
        }
        self.retry_deferred();
        Ok(())
    }

    fn retain(&mut self, tensor: u32, root: u32) {
        let references = &mut self.versions[tensor as usize].references;
        *references = references.saturating_add(1);
        let references = &mut self.holds[root as usize].references;
        *references = references.saturating_add(1);
    }

    fn release(&mut self, tensor: u32) {
        let references = &mut self.versions[tensor as usize].references;
        if *references == 0 {
            return;
        }
        *references -= 1;
        let root = self.states.root(tensor);
        let hold = &mut self.holds[root as usize];
        hold.references -= 1;
        if hold.references == 0 && self.states.state(root) == State::Resident {
            if self.budget.is_none() {
                self.free(root);
            } else if hold.is_excluded && !hold.is_pinned {
                self.banish(root);
            } else if !hold.is_pinned {
                self.run.counts.eager_evictions += 1;
                self.evict(root);
                self.note(RematKind::EagerEvict, root);
            }
        }
        self.retry_deferred();
    }

    /// Whether a tensor's value is resident.
    pub(super) fn is_defined(&self, tensor: u32) -> bool {
        let hold = &self.holds[self.states.root(tensor) as usize];
        self.versions[tensor as usize].residency == hold.residency.wrapping_add(1)
    }

    /// Marks a storage as used now.
    pub(super) fn access(&mut self, storage: u32) {
        self.states.last_access[storage as usize] = self.states.clock;
        self.pool.touch(storage, self.states.clock);
    }

    pub(super) fn lock(&mut self, storage: u32) {
        let hold = &mut self.holds[storage as usize];
        hold.locks += 1;
        if hold.locks == 1 {
            self.pool.leave(storage);
        }
    }

    pub(super) fn unlock(&mut self, storage: u32) {
        let hold = &mut self.holds[storage as usize];
        hold.locks -= 1;
        if hold.locks == 0 {
            self.enter_pool(storage);
        }
    }

    /// Makes a resident storage without locks evictable. Without a budget nothing is evicted.
    pub(super) fn enter_pool(&mut self, storage: u32) {
        if self.budget.is_some() {
            let (states, number) = (&self.states, storage as usize);
            let bound = self.rule.bound(states, storage);
            self.pool
                .enter(storage, bound, states.bytes[number], states.last_access[number]);
        }
    }

    fn pin(&mut self, storage: u32) {
        if !std::mem::replace(&mut self.holds[storage as usize].is_pinned, true) {
            self.lock(storage);
            self.note(RematKind::Pin, storage);
        }
    }

    /// Excludes a storage that cannot be recomputed from eviction.
    pub(super) fn exclude_from_eviction(&mut self, storage: u32) {
        if !std::mem::replace(&mut self.holds[storage as usize].is_excluded, true) {
            self.lock(storage);
        }
    }

    /// Frees a storage's memory; its recipe remains.
    fn evict(&mut self, storage: u32) {
        self.take(storage, State::Evicted);
        self.rule
            .changed(&self.states, Change::Evicted(storage), &mut self.pool);
    }

    /// Frees a storage's memory for good.
    pub(super) fn free(&mut self, storage: u32) {
        self.take(storage, State::Gone);
        self.run.counts.frees += 1;
        self.note(RematKind::Free, storage);
    }

    fn take(&mut self, storage: u32, state: State) {
        let number = storage as usize;
        self.used = self.used.saturating_sub(self.states.bytes[number]);
        self.states.state[number] = state;
        self.holds[number].residency = self.holds[number].residency.wrapping_add(1);
        self.holds[number].n_defined = 0;
        self.pool.leave(storage);
    }

    /// Evicts until the results of an op fit.
    pub(super) fn make_room(&mut self, op: u32, progress: &Progress<'_>) -> Result<(), Stop> {
        let Some(budget) = self.budget else { return Ok(()) };
        let need = self.needs[op as usize];
        while self.used.saturating_add(need) > budget {
            let Some((storage, choice)) = choose(&mut self.rule, &self.states, &mut self.pool) else {
                return Err(Stop::OutOfMemory(self.shortage(op, budget)));
            };
            self.evict(storage);
            let event = self.event(RematKind::Evict, storage);
            self.run.evict(choice, event);
            self.check(progress)?;
        }
        Ok(())
    }

    fn shortage(&self, op: u32, budget: u64) -> RematShortage {
        let requested = self.needs[op as usize];
        let roots = (0_u32..).zip(&self.states.state);
        let mut held: Vec<u32> = roots
            .filter(|(_, state)| **state == State::Resident)
            .map(|(root, _)| root)
            .collect();
        held.sort_by_key(|root| (std::cmp::Reverse(self.states.bytes[*root as usize]), *root));
        RematShortage {
            op,
            requested: Bytes(requested),
            in_use: Bytes(self.used),
            short: Bytes(self.used.saturating_add(requested).saturating_sub(budget)),
            held,
        }
    }

    /// Checks the cancel flag every [`WORK_BETWEEN_CHECKS`] calls.
    pub(super) fn check(&mut self, progress: &Progress<'_>) -> Result<(), Stop> {
        self.work += 1;
        if self.work.is_multiple_of(WORK_BETWEEN_CHECKS) {
            self.work = 0;
            progress.check().map_err(Stop::Cancelled)?;
        }
        Ok(())
    }

    /// An event with the current state.
    pub(super) fn event(&self, kind: RematKind, tensor: u32) -> RematEvent {
        RematEvent {
            step: self.step,
            kind,
            tensor,
            copy: self.versions[tensor as usize].copy,
            chain: 0,
            clock: self.states.clock,
            memory_after: Bytes(self.used),
            choice: NO_CHOICE,
            is_sibling: false,
        }
    }

    fn note(&mut self, kind: RematKind, tensor: u32) {
        self.run.events.push(self.event(kind, tensor));
    }
}
