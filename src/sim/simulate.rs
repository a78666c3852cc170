//! Runs a session on one device under one policy.
//!
//! ```text
//! variables | run 0: load, io, ops... | run 1: (load), io, ops... | ...
//!                     step s of a run: lifetimes that end at s are freed, then those born at s are allocated
//! ```
//!
//! In: a [`DeviceSession`], a policy, [`Params`]. Out: a [`Simulation`]. Rules: a graph is loaded at its first run and
//! stays loaded; before a static graph is loaded, the room check unloads other static graphs, in graph order, while
//! need exceeds the free bytes less one 32nd of the device; an unloaded graph is loaded again at its next run. A static
//! graph's tensors are at their plan's offsets; a dynamic graph's pool serves them op by op, in the order of the
//! lifetimes. Between runs graphs are loaded and unloaded as the session says; graphs of a concurrent group hold their
//! memory at the same time (`concurrent_groups`). Running out of memory ends the log and is an answer.
//!
//! Not modelled: interleaved ops of concurrent runs (copies: `feature_copies`), streams, time.

mod concurrent_groups;
mod loading;

use super::alloc::{
    DynamicMemory as _, GrantId, Order, PagePoolRules, PagePools, PoolFigures, PoolKey, RunError, Shortage,
};
use super::buckets::Buckets;
use super::device::DeviceMemory;
use super::event::{EventKind, PoolRow, RegionId, RegionKind, Simulation, Subject, SubjectId};
use super::params::Params;
use super::placement::{ArenaRequest, StaticGraphs};
use super::policies::StaticMemoryPolicy;
use super::recorder::{LogSpec, NO_REGION, RegionPurpose, SESSION_SUBJECT};
use super::residents::{Residents, io_bytes, next_io, variables_bytes};
use super::session::{BoundGraph, DeviceRun, DeviceSession};
use highwater_model::graph::Id as _;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_plan::Plan;

/// Events between two checks of the cancel flag.
const EVENTS_PER_CHECK: usize = 1000;

/// The log ends early where the device runs out of memory. O(runs * log graphs + events * log layers); deterministic.
///
/// # Errors
/// [`Cancelled`].
pub fn simulate(
    session: &DeviceSession,
    policy: StaticMemoryPolicy,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Simulation, Cancelled> {
    let mut machine = Machine::new(session, policy, params);
    match machine.run_all(progress) {
        Ok(()) => {}
        Err(Stop::Cancelled) => return Err(Cancelled),
        Err(Stop::Shortage(shortage)) => machine.memory.out_of_memory(shortage),
    }
    Ok(machine.finish())
}

/// Why a simulation stops early.
enum Stop {
    Cancelled,
    Shortage(Shortage),
}

impl From<Shortage> for Stop {
    fn from(shortage: Shortage) -> Self {
        Self::Shortage(shortage)
    }
}

impl From<Cancelled> for Stop {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loading {
    Never,
    Loaded,
    Unloaded,
}

#[derive(Clone, Copy, Debug)]
struct GraphState<'a> {
    loading: Loading,
    /// The loaded binding of a static graph.
    bound: Option<&'a BoundGraph>,
    has_pool: bool,
    /// Whether it belongs to the concurrent group that runs.
    is_held: bool,
    /// Figures of its last destroyed pool.
    pool_before: Option<PoolFigures>,
    /// Log subject of its inputs and outputs.
    io_subject: SubjectId,
    first_run: Option<&'a DeviceRun>,
}

/// Place of a run's tensors.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// At their plan's offsets.
    Static(&'a Plan, ArenaRequest<'a>),
    Dynamic(PoolKey),
}

/// A tensor on the device.
#[derive(Clone, Copy)]
struct Live {
    subject: SubjectId,
    region: RegionId,
    offset: u64,
    bytes: Bytes,
    grant: Option<GrantId>,
}

struct Machine<'a> {
    session: &'a DeviceSession,
    params: &'a Params,
    memory: DeviceMemory,
    pools: PagePools,
    statics: StaticGraphs,
    residents: Residents<'a>,
    graphs: Vec<GraphState<'a>>,
    /// Graphs that ever had a pool, in the order of creation.
    pooled: Vec<GraphIdx>,
    copies: usize,
    /// Bytes of the session's variables.
    variables: Bytes,
    /// For each run, the inputs and outputs of its graph's next run.
    next_io: Vec<Option<Bytes>>,
    /// Tensors of the current run, by lifetime and copy.
    live: Vec<Option<Live>>,
    births: Buckets,
    ends: Buckets,
    checked_at: usize,
}

impl<'a> Machine<'a> {
    fn new(session: &'a DeviceSession, policy: StaticMemoryPolicy, params: &'a Params) -> Self {
        let copies = params.feature_copies.clamp(1, u32::from(u16::MAX)) as usize;
        let runs = session.runs.iter();
        let n_tensors: usize = runs.map(|run| run.bound.program.lifetimes.items.len()).sum();
        let mut memory = DeviceMemory::new(LogSpec {
            policy,
            capacity: params.device_bytes,
            can_reserve: true,
            n_steps: session.n_steps,
            n_blocks: n_tensors * copies,
        });
        let residents = Residents::new(session, params.share_weights, &mut memory);
        let mut state = |graph: usize| GraphState {
            loading: Loading::Never,
            bound: None,
            has_pool: false,
            is_held: false,
            pool_before: None,
            io_subject: memory
                .log
                .add_subject(Subject::InputOutput(GraphIdx::from_idx(graph)), Bytes::ZERO),
            first_run: None,
        };
        let mut graphs: Vec<GraphState<'a>> = (0..session.graphs.len()).map(&mut state).collect();
        for run in &session.runs {
            graphs[run.graph.idx()].first_run.get_or_insert(run);
        }
        Self {
            session,
            params,
            memory,
            pools: PagePools::new(PagePoolRules {
                threshold: params.threshold(),
                expands: policy.row().expands_pools,
            }),
            statics: StaticGraphs::new(policy, params, session.graphs.len()),
            residents,
            graphs,
            pooled: Vec::new(),
            copies,
            variables: variables_bytes(session, policy, params),
            next_io: next_io(session, params),
            live: Vec::new(),
            births: Buckets::default(),
            ends: Buckets::default(),
            checked_at: 0,
        }
    }

    /// The log, with the final pools.
    fn finish(self) -> Simulation {
        let row = |graph: Option<GraphIdx>| {
            let now = self.pools.figures(graph.map(|graph| PoolKey(graph.0)));
            let figures = now.or_else(|| graph.and_then(|graph| self.graphs[graph.idx()].pool_before))?;
            Some(PoolRow { graph, figures })
        };
        let device = (!self.pooled.is_empty()).then_some(None);
        let pools = device.into_iter().chain(self.pooled.iter().copied().map(Some));
        let pools = pools.filter_map(row).collect();
        self.memory.log.finish(pools)
    }

    fn run_all(&mut self, progress: &Progress<'_>) -> Result<(), Stop> {
        if !self.params.variables_on_host && self.variables > Bytes::ZERO {
            self.memory.log.set_subject(SESSION_SUBJECT);
            self.memory.malloc_variables(self.variables)?;
        }
        let n_runs = self.session.runs.len() as u64;
        for (idx, run) in (0_u32..).zip(&self.session.runs) {
            progress.set("simulating", u64::from(idx), n_runs)?;
            self.memory.log.at(run.start);
            self.before_run(idx)?;
            self.run(idx, run, progress)?;
            self.end_group(idx + 1);
        }
        self.memory.log.at(Step(self.session.n_steps));
        self.before_run(u32::try_from(n_runs).unwrap_or(u32::MAX))
    }

    fn run(&mut self, idx: u32, run: &'a DeviceRun, progress: &Progress<'_>) -> Result<(), Stop> {
        let place = self.enter(run)?;
        let items = &run.bound.program.lifetimes.items;
        self.births.fill(run.n_steps, items.iter().map(|item| item.birth));
        self.ends.fill(run.n_steps, items.iter().map(|item| item.end));
        self.live.clear();
        self.live.resize(items.len() * self.copies, None);
        let mut clears = run.bound.clears.iter().peekable();
        for step in 0..run.n_steps {
            self.memory.log.at(Step(run.start.0 + step));
            for position in 0..self.ends.of(step).len() {
                let item = self.ends.of(step)[position];
                self.free(place, item as usize);
            }
            for position in 0..self.births.of(step).len() {
                let item = self.births.of(step)[position];
                self.allocate(place, idx, run, item as usize)?;
            }
            while let Some(clear) = clears.next_if(|clear| clear.step.0 <= step) {
                self.memory.log.set_subject(self.residents.subject(run.graph));
                self.memory.log.record(EventKind::Clear, NO_REGION, 0, clear.bytes);
            }
            if self.memory.log.n_events() - self.checked_at >= EVENTS_PER_CHECK {
                self.checked_at = self.memory.log.n_events();
                progress.check()?;
            }
        }
        self.memory.log.at(Step(run.start.0 + run.n_steps));
        for item in 0..items.len() {
            self.free(place, item);
        }
        self.leave(idx, run, place);
        Ok(())
    }

    /// Loads a run's graph and prepares the run.
    fn enter(&mut self, run: &'a DeviceRun) -> Result<Place<'a>, Stop> {
        let graph = run.graph;
        let state = self.graphs[graph.idx()];
        self.memory.log.set_subject(self.residents.subject(graph));
        if let Some(plan) = static_plan(self.session, run) {
            let request = self.request(graph, &run.bound);
            if state.loading != Loading::Loaded {
                self.load_static(&request)?;
                self.memory.log.set_subject(self.residents.subject(graph));
            }
            let ready = self.statics.begin(&request, &mut self.memory);
            ready.map_err(|error| match error {
                RunError::Shortage(shortage) => shortage,
                RunError::MemoryInUse => {
                    let region = self.statics.region(graph).unwrap_or(NO_REGION);
                    self.memory
                        .log
                        .record(EventKind::MemoryInUse, region, 0, request.bytes());
                    Shortage {
                        requested: request.bytes(),
                    }
                }
            })?;
            return Ok(Place::Static(plan, request));
        }
        if state.loading != Loading::Loaded {
            self.load_dynamic(graph)?;
        }
        let io = self.dynamic_io(&run.bound);
        self.residents.hold_io(graph, io, &mut self.memory)?;
        Ok(Place::Dynamic(self.pool(graph)))
    }

    /// The pool of a dynamic graph, created at its first run.
    fn pool(&mut self, graph: GraphIdx) -> PoolKey {
        let pool = PoolKey(graph.0);
        if !self.graphs[graph.idx()].has_pool {
            self.graphs[graph.idx()].has_pool = true;
            if self.graphs[graph.idx()].pool_before.is_none() {
                self.pooled.push(graph);
                self.memory.log.add_pool(pool);
            }
            self.memory
                .log
                .set_purpose(RegionPurpose::of(RegionKind::PagedRange, Some(graph)));
            self.pools.manage(Order::Create(pool), &mut self.memory.device);
            self.memory.settle();
        }
        pool
    }

    /// Inputs and outputs of all copies of a dynamic graph.
    fn dynamic_io(&self, bound: &BoundGraph) -> Bytes {
        let io = io_bytes(bound, self.params);
        (0..self.copies).map(|_| io).sum()
    }

    fn request(&self, graph: GraphIdx, bound: &'a BoundGraph) -> ArenaRequest<'a> {
        ArenaRequest {
            graph,
            bound,
            io: io_bytes(bound, self.params),
            io_subject: self.graphs[graph.idx()].io_subject,
        }
    }

    fn leave(&mut self, idx: u32, run: &'a DeviceRun, place: Place<'a>) {
        self.memory.log.set_subject(self.residents.subject(run.graph));
        let is_held = self.graphs[run.graph.idx()].is_held;
        match place {
            Place::Static(_, request) => {
                self.statics.finish(&request, &mut self.memory);
                if self.params.unloads_after_run && !is_held {
                    self.unload(run.graph, Some(&request));
                }
            }
            Place::Dynamic(_) if is_held => {}
            Place::Dynamic(_) if self.params.unloads_after_run => self.unload(run.graph, None),
            Place::Dynamic(_) => {
                if self.next_io[idx as usize] != Some(self.dynamic_io(&run.bound)) {
                    self.residents.free_io(run.graph, &mut self.memory);
                }
            }
        }
    }

    fn allocate(&mut self, place: Place<'_>, idx: u32, run: &DeviceRun, item: usize) -> Result<(), Shortage> {
        let lifetime = run.bound.program.lifetimes.items[item];
        let bytes = run.bound.engine_sizes.get(item).copied().unwrap_or(lifetime.bytes);
        for copy in 0..self.copies {
            let subject = Subject::Tensor {
                run: idx,
                tensor: lifetime.tensor,
                copy: u16::try_from(copy).unwrap_or(u16::MAX),
            };
            let subject = self.memory.log.set_new_subject(subject, lifetime.bytes);
            let live = match place {
                Place::Static(plan, request) => {
                    let placed = self.statics.placed(request.graph, copy);
                    let (region, offset) = placed.map_or((NO_REGION, 0), |placed| placed.locate(plan.offsets[item]));
                    Live {
                        subject,
                        region,
                        offset,
                        bytes,
                        grant: None,
                    }
                }
                Place::Dynamic(pool) => self.allocate_dynamic(pool, subject, bytes)?,
            };
            self.memory
                .log
                .record(EventKind::Alloc, live.region, live.offset, live.bytes);
            self.live[item * self.copies + copy] = Some(live);
        }
        Ok(())
    }

    fn allocate_dynamic(&mut self, pool: PoolKey, subject: SubjectId, bytes: Bytes) -> Result<Live, Shortage> {
        self.memory.log.set_purpose(RegionPurpose {
            range: (RegionKind::Stitched, Some(GraphIdx(pool.0))),
            ..RegionPurpose::of(RegionKind::PoolBlock, None)
        });
        let grant = self.pools.allocate(pool, bytes, &mut self.memory.device);
        self.memory.settle();
        let grant = grant?;
        let (region, offset) = self.memory.log.locate(grant.at);
        Ok(Live {
            subject,
            region,
            offset,
            bytes: grant.bytes,
            grant: Some(grant.id),
        })
    }

    fn free(&mut self, place: Place<'_>, item: usize) {
        for copy in 0..self.copies {
            let Some(live) = self.live[item * self.copies + copy].take() else {
                continue;
            };
            self.memory.log.set_subject(live.subject);
            self.memory
                .log
                .record(EventKind::Free, live.region, live.offset, live.bytes);
            if let (Place::Dynamic(pool), Some(grant)) = (place, live.grant) {
                self.pools.free(pool, grant, &mut self.memory.device);
                self.memory.settle();
            }
        }
    }
}

/// The plan of a run whose graph is placed at load.
fn static_plan<'a>(session: &DeviceSession, run: &'a DeviceRun) -> Option<&'a Plan> {
    let is_static = session.graphs[run.graph.idx()].is_static;
    run.bound.plan.as_deref().filter(|_| is_static)
}
