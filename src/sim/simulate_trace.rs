//! Replays an allocation trace into an event log, so that a trace is shown like a session.
//!
//! ```text
//! command    a x 3M      load A 100M    exec A              f x          step = position of the command
//! events     calls, Alloc calls, (Alloc) calls, Alloc, Free, calls   Free, calls
//! ```
//!
//! In: a trace with its [`TraceSession`], [`ReplayRules`]. Out: a [`Simulation`], and the refused requests. Rules: a
//! block lives from `a` to `f`; a static graph's memory lives from load to unload in its own block, and during runs
//! where graphs share an arena (where parts of two running graphs overlap, the later one is shown); fixed memory is one
//! block, as large as the largest request, owned by its requester. Weights are regions without blocks: they are no
//! feature memory. A refused request has no effect, and the trace continues.

mod graphs;

use std::collections::{BTreeMap, BTreeSet};

use super::alloc::{Call, PoolFigures, PoolKey};
use super::event::{EventKind, PoolRow, RegionId, RegionKind, Simulation, Subject, SubjectId};
use super::recorder::{LogSpec, Recorder, RegionPurpose, SESSION_SUBJECT};
use super::replay::{Advanced, Outcome, Replay, ReplayRules};
use super::trace_session::{THE_TRACE, TraceSession};
use graphs::StaticGraphs;
use highwater_model::graph::TensorId;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{AllocationTrace, GraphIdx, TraceCommand, TraceName, TraceOwner};

/// Most events of one log: half a gibibyte.
pub const MAX_TRACE_EVENTS: usize = 1 << 24;

/// Commands between two checks of the cancel flag.
const COMMANDS_PER_CHECK: usize = 1 << 10;

/// Refused requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals {
    pub count: u64,
    /// The first refused command.
    pub first: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStop {
    Cancelled,
    /// More than [`MAX_TRACE_EVENTS`] events.
    TooManyEvents,
}

impl From<Cancelled> for TraceStop {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// O(commands * log names + events * log regions); deterministic.
///
/// # Errors
/// [`TraceStop`].
pub fn simulate_trace(
    trace: &AllocationTrace,
    session: &TraceSession,
    rules: &ReplayRules,
    progress: &Progress<'_>,
) -> Result<(Simulation, Option<Refusals>), TraceStop> {
    let mut replay = Replay::with_notes(trace, *rules);
    let mut machine = Machine::new(trace, session, rules);
    for position in 0..trace.commands.len() {
        if position.is_multiple_of(COMMANDS_PER_CHECK) {
            progress.check()?;
        }
        machine.prepare(position);
        let Some(advanced) = replay.advance() else {
            break;
        };
        machine.follow(&advanced);
        if machine.log.n_events() > MAX_TRACE_EVENTS {
            return Err(TraceStop::TooManyEvents);
        }
    }
    let summary = replay.summary();
    let refusals = summary.first_failure.map(|first| Refusals {
        count: summary.failed,
        first: Step(first),
    });
    let finish = replay.finish();
    let mut pools = Vec::new();
    if session.pools().next().is_some() {
        pools.push(PoolRow {
            graph: None,
            figures: finish.device_pool.unwrap_or_default(),
        });
    }
    // Rows are in the order in which the log numbers pools; a destroyed pool holds nothing.
    pools.extend(session.pools().map(|(pool, graph)| {
        let known = finish.pools.iter().find(|(key, _)| *key == PoolKey(pool));
        PoolRow {
            graph: Some(graph),
            figures: known.map_or_else(PoolFigures::default, |(_, figures)| *figures),
        }
    }));
    Ok((machine.log.finish(pools), refusals))
}

/// A block in the log.
#[derive(Clone, Copy, Debug)]
struct Held {
    subject: SubjectId,
    region: RegionId,
    offset: u64,
    bytes: Bytes,
    /// The pool of a block.
    pool: u32,
}

/// State of a pool for the log.
#[derive(Debug, Default)]
struct PoolState {
    /// Whether its own range is reserved: later ranges are stitched.
    has_range: bool,
    /// Live blocks.
    blocks: BTreeSet<TraceName>,
}

#[derive(Debug, Default)]
struct Fixed {
    users: BTreeSet<TraceName>,
    held: Option<Held>,
}

/// The log under construction, and its owners.
struct Machine<'a> {
    trace: &'a AllocationTrace,
    session: &'a TraceSession,
    log: Recorder,
    current: u32,
    pools: BTreeMap<u32, PoolState>,
    blocks: BTreeMap<TraceName, Held>,
    fixed: Fixed,
    statics: StaticGraphs,
    /// The next request.
    next_request: usize,
    /// The last request of each owner.
    requests: BTreeMap<(TraceOwner, TraceName), u32>,
}

impl<'a> Machine<'a> {
    fn new(trace: &'a AllocationTrace, session: &'a TraceSession, rules: &ReplayRules) -> Self {
        let mut log = Recorder::new(LogSpec {
            policy: rules.policy,
            capacity: rules.device_bytes,
            can_reserve: rules.can_reserve,
            n_steps: session.session.n_steps,
            n_blocks: session.requests.len().min(MAX_TRACE_EVENTS / 4),
        });
        for (pool, _) in session.pools() {
            log.add_pool(PoolKey(pool));
        }
        let n_graphs = session.session.graphs.len();
        let subjects = (0_u32..).take(n_graphs);
        let subjects: Vec<SubjectId> = subjects
            .map(|graph| log.add_subject(Subject::Graph(GraphIdx(graph)), Bytes::ZERO))
            .collect();
        Self {
            trace,
            session,
            log,
            current: 0,
            pools: BTreeMap::new(),
            blocks: BTreeMap::new(),
            fixed: Fixed::default(),
            statics: StaticGraphs::new(rules, subjects),
            next_request: 0,
            requests: BTreeMap::new(),
        }
    }

    /// Advances to a command, before it is executed.
    fn prepare(&mut self, position: usize) {
        let step = Step(u32::try_from(position).unwrap_or(u32::MAX));
        self.log.at(step);
        self.log.set_subject(SESSION_SUBJECT);
        let requests = &self.session.requests;
        while let Some(request) = requests.get(self.next_request) {
            if request.lifetime.birth > step {
                break;
            }
            let key = (request.lifetime.owner, request.lifetime.name);
            let number = u32::try_from(self.next_request).unwrap_or(u32::MAX);
            self.requests.insert(key, number);
            self.next_request += 1;
        }
    }

    /// Records the effects of a command.
    fn follow(&mut self, advanced: &Advanced<'_>) {
        let Advanced {
            command,
            outcome,
            calls,
            statics,
        } = *advanced;
        match command {
            TraceCommand::Use(pool) => {
                self.current = pool;
                self.settle_pool(calls);
            }
            TraceCommand::Allocate { id, bytes } => self.allocate(id, bytes, outcome, calls),
            TraceCommand::Free { id } => {
                if *outcome == Outcome::Done {
                    self.free(id);
                }
                self.log.settle_calls(calls);
            }
            TraceCommand::Synchronize | TraceCommand::Recycle => self.settle_pool(calls),
            TraceCommand::RecycleDevice | TraceCommand::EndIteration(_) => self.log.settle_calls(calls),
            TraceCommand::Destroy(pool) => self.destroy(pool, calls),
            TraceCommand::Weights { id, .. } | TraceCommand::FreeWeights { id } => {
                let purpose = RegionPurpose::of(RegionKind::Weights, self.session.static_graph(id));
                self.log.set_purpose(purpose);
                self.log.settle_calls(calls);
            }
            TraceCommand::Fixed { graph, bytes } => self.request_fixed(graph, bytes, outcome, calls),
            TraceCommand::Unfixed(graph) => self.withdraw_fixed(graph, outcome, calls),
            TraceCommand::Load { graph, first, count } => {
                let idx = self.session.static_graph(graph).unwrap_or(THE_TRACE);
                let request = (graph, idx, self.tensor(TraceOwner::Graph, graph));
                let bytes = self.trace.load_bytes(first, count);
                self.statics.load(request, bytes, outcome, calls, &mut self.log);
            }
            TraceCommand::Execute(graph) => {
                self.statics.begin(graph, outcome, calls, &mut self.log);
                if let Outcome::Ran {
                    status, calls_before, ..
                } = outcome
                    && status.0.is_ok()
                {
                    let behind = calls.get(*calls_before..).unwrap_or(&[]);
                    self.statics.finish(graph, behind, statics, &mut self.log);
                }
            }
            TraceCommand::Begin(graph) => self.statics.begin(graph, outcome, calls, &mut self.log),
            TraceCommand::Finish(graph) => self.statics.finish(graph, calls, statics, &mut self.log),
            TraceCommand::Unload(graph) => self.statics.unload(graph, outcome, calls, statics, &mut self.log),
        }
    }

    /// The number of the last request of a name.
    fn tensor(&self, owner: TraceOwner, name: TraceName) -> TensorId {
        let known = self.requests.get(&(owner, name)).copied();
        TensorId(known.unwrap_or(u32::MAX))
    }

    /// Calls in which the current pool may be created: its first range is its own, others are stitched.
    fn settle_pool(&mut self, calls: &[Call]) {
        let graph = self.session.pool(self.current);
        let state = self.pools.entry(self.current).or_default();
        let purpose = |range: RegionKind| RegionPurpose {
            range: (range, graph),
            ..RegionPurpose::of(RegionKind::PoolBlock, None)
        };
        let mut rest = calls;
        let is_reserve = |call: &Call| matches!(call, Call::Reserve { .. });
        if let Some(first) = calls.iter().position(is_reserve).filter(|_| !state.has_range) {
            state.has_range = true;
            let (own, behind) = calls.split_at(first + 1);
            self.log.set_purpose(purpose(RegionKind::PagedRange));
            self.log.settle_calls(own);
            rest = behind;
        }
        self.log.set_purpose(purpose(RegionKind::Stitched));
        self.log.settle_calls(rest);
    }

    fn allocate(&mut self, id: TraceName, bytes: Bytes, outcome: &Outcome, calls: &[Call]) {
        let Outcome::Allocated(grant, _) = outcome else {
            return self.settle_pool(calls);
        };
        let subject = self
            .log
            .set_new_subject(subject_of(self.tensor(TraceOwner::Block, id), 0), bytes);
        self.settle_pool(calls);
        let (region, offset) = self.log.locate(grant.at);
        let held = Held {
            subject,
            region,
            offset,
            bytes: grant.bytes,
            pool: self.current,
        };
        record_alloc(&mut self.log, held);
        self.blocks.insert(id, held);
        self.pools.entry(self.current).or_default().blocks.insert(id);
    }

    fn free(&mut self, id: TraceName) {
        if let Some(held) = self.blocks.remove(&id) {
            record_free(&mut self.log, held);
            if let Some(pool) = self.pools.get_mut(&held.pool) {
                pool.blocks.remove(&id);
            }
        }
    }

    /// Frees a pool's blocks with it, in the order of their names.
    fn destroy(&mut self, pool: u32, calls: &[Call]) {
        let state = self.pools.remove(&pool).unwrap_or_default();
        for id in state.blocks {
            self.free(id);
        }
        self.log.set_subject(SESSION_SUBJECT);
        self.log.settle_calls(calls);
    }

    fn request_fixed(&mut self, graph: TraceName, bytes: Bytes, outcome: &Outcome, calls: &[Call]) {
        self.log.set_purpose(RegionPurpose::of(RegionKind::FixedFeatures, None));
        self.log.settle_calls(calls);
        let Outcome::Placed(at) = outcome else { return };
        self.fixed.users.insert(graph);
        let size = self.fixed.held.map_or(Bytes::ZERO, |held| held.bytes);
        let Some(at) = at.filter(|_| bytes > size) else { return };
        if let Some(before) = self.fixed.held.take() {
            record_free(&mut self.log, before);
        }
        let subject = subject_of(self.tensor(TraceOwner::Fixed, graph), 0);
        let (region, offset) = self.log.locate(at);
        let held = Held {
            subject: self.log.set_new_subject(subject, bytes),
            region,
            offset,
            bytes,
            pool: 0,
        };
        record_alloc(&mut self.log, held);
        self.fixed.held = Some(held);
    }

    fn withdraw_fixed(&mut self, graph: TraceName, outcome: &Outcome, calls: &[Call]) {
        if *outcome == Outcome::Done
            && self.fixed.users.remove(&graph)
            && self.fixed.users.is_empty()
            && let Some(held) = self.fixed.held.take()
        {
            record_free(&mut self.log, held);
        }
        self.log.settle_calls(calls);
    }
}

/// A request of the only run.
const fn subject_of(tensor: TensorId, copy: u16) -> Subject {
    Subject::Tensor { run: 0, tensor, copy }
}

fn record_alloc(log: &mut Recorder, held: Held) {
    log.set_subject(held.subject);
    log.record(EventKind::Alloc, held.region, held.offset, held.bytes);
}

fn record_free(log: &mut Recorder, held: Held) {
    log.set_subject(held.subject);
    log.record(EventKind::Free, held.region, held.offset, held.bytes);
}
