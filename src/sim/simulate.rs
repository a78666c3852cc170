//! Runs a session on one device under one policy.
//!
//! ```text
//! variables | run 0: load, io, ops... | run 1: (load), io, ops... | ...
//!                     step s of a run: what ends at s is freed, then what is born at s is allocated
//! ```
//!
//! In: a [`DeviceSession`], a policy, [`Params`]. Out: a [`Simulation`]. Rules: a graph is loaded at its first
//! run and stays loaded; before a static graph is loaded the room check unloads other static graphs, in graph
//! order, while need exceeds the free bytes less one 32nd of the device; an unloaded graph is loaded again at
//! its next run. A static graph's tensors lie at their plan's offsets; a dynamic graph's are given by its pool,
//! op by op, in the order of the lifetimes. Running out of memory ends the log and is an answer.
//!
//! Deliberately not here: concurrent runs (only their memory, by `feature_copies`), streams, fixed feature
//! memory, atomic clean (a rewrite), time.

use super::arena::{ArenaRequest, Arenas};
use super::device::{DeviceMemory, NO_REGION, Shortage, THE_SESSION};
use super::event::{EventKind, RegionId, Simulation, Subject, SubjectId};
use super::page_pool::Pools;
use super::params::Params;
use super::policies::StaticMemoryPolicy;
use super::residents::{Residents, io_bytes, variables_bytes};
use super::session::{DeviceRun, DeviceSession};
use super::spans::SpanId;
use crate::graph::Id as _;
use crate::plan::Plan;
use crate::progress::{Cancelled, Progress};
use crate::units::{Bytes, Step};
use crate::workload::GraphIdx;

/// Events between two looks at the cancel flag.
const EVENTS_PER_CHECK: usize = 1000;

/// Simulates a session. The log ends early where the device runs out of memory.
/// O(runs + events * log layers); deterministic.
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
    Ok(machine.memory.finish())
}

/// Why a simulation stops before its end.
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

/// Whether a graph is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loading {
    Never,
    Loaded,
    Unloaded,
}

/// A graph's state.
#[derive(Clone, Copy, Debug)]
struct GraphState {
    loading: Loading,
    /// Position of its pool, once it has one.
    pool: Option<usize>,
}

/// Where the tensors of a run are.
enum Place<'a> {
    /// At their plan's offsets in one region per copy.
    Static(&'a Plan, Vec<RegionId>),
    /// In a pool.
    Dynamic(usize),
}

/// A tensor on the device.
#[derive(Clone, Copy)]
struct Live {
    subject: SubjectId,
    region: RegionId,
    offset: u64,
    bytes: Bytes,
    span: Option<SpanId>,
}

struct Machine<'a> {
    session: &'a DeviceSession,
    params: &'a Params,
    memory: DeviceMemory,
    pools: Pools,
    arenas: Arenas,
    residents: Residents<'a>,
    graphs: Vec<GraphState>,
    copies: usize,
    /// For each run, the inputs and outputs of its graph's next run.
    next_io: Vec<Option<Bytes>>,
    /// Tensors of the run at hand, by lifetime and copy.
    live: Vec<Option<Live>>,
    births: Buckets,
    ends: Buckets,
    checked_at: usize,
}

impl<'a> Machine<'a> {
    fn new(session: &'a DeviceSession, policy: StaticMemoryPolicy, params: &'a Params) -> Self {
        let copies = params.feature_copies.clamp(1, u32::from(u16::MAX)) as usize;
        let n_tensors: usize = session
            .runs
            .iter()
            .map(|run| run.bound.program.lifetimes.items.len())
            .sum();
        let mut memory = DeviceMemory::new(policy, params.device_bytes, session, n_tensors * copies);
        let residents = Residents::new(session, params.share_weights, &mut memory);
        Self {
            session,
            params,
            memory,
            pools: Pools::new(params, policy.row().expands_pools),
            arenas: Arenas::new(policy, params, session.graphs.len()),
            residents,
            graphs: vec![
                GraphState {
                    loading: Loading::Never,
                    pool: None
                };
                session.graphs.len()
            ],
            copies,
            next_io: next_io(session, params),
            live: Vec::new(),
            births: Buckets::default(),
            ends: Buckets::default(),
            checked_at: 0,
        }
    }

    fn run_all(&mut self, progress: &Progress<'_>) -> Result<(), Stop> {
        let variables = variables_bytes(self.session, self.params);
        if !self.params.variables_on_host && variables > Bytes::ZERO {
            self.memory.serve(THE_SESSION);
            self.memory.malloc_variables(variables)?;
        }
        let n_runs = self.session.runs.len() as u64;
        for (idx, run) in (0_u32..).zip(&self.session.runs) {
            progress.set("simulating", u64::from(idx), n_runs)?;
            self.memory.at(run.start);
            self.run(idx, run, progress)?;
        }
        Ok(())
    }

    fn run(&mut self, idx: u32, run: &'a DeviceRun, progress: &Progress<'_>) -> Result<(), Stop> {
        let place = self.enter(run)?;
        let items = &run.bound.program.lifetimes.items;
        self.births.fill(run.n_steps, items.iter().map(|item| item.birth));
        self.ends.fill(run.n_steps, items.iter().map(|item| item.end));
        self.live.clear();
        self.live.resize(items.len() * self.copies, None);
        for step in 0..run.n_steps {
            self.memory.at(Step(run.start.0 + step));
            for position in 0..self.ends.of(step).len() {
                let item = self.ends.of(step)[position];
                self.free(&place, item as usize);
            }
            for position in 0..self.births.of(step).len() {
                let item = self.births.of(step)[position];
                self.allocate(&place, (idx, run), item as usize)?;
            }
            if self.memory.n_events() - self.checked_at >= EVENTS_PER_CHECK {
                self.checked_at = self.memory.n_events();
                progress.check()?;
            }
        }
        self.memory.at(Step(run.start.0 + run.n_steps));
        for item in 0..items.len() {
            self.free(&place, item);
        }
        self.leave(idx, run, &place);
        Ok(())
    }

    /// Brings a run's graph onto the device.
    fn enter(&mut self, run: &'a DeviceRun) -> Result<Place<'a>, Stop> {
        let graph = run.graph;
        let state = self.graphs[graph.idx()];
        self.memory.serve(self.residents.subject(graph));
        if let Some(plan) = static_plan(self.session, run) {
            let request = ArenaRequest {
                graph,
                footprint: plan.footprint,
            };
            if state.loading != Loading::Loaded {
                self.load_static(request, run)?;
            }
            let regions = self.arenas.enter(request, &mut self.pools, &mut self.memory)?;
            return Ok(Place::Static(plan, regions));
        }
        if state.loading == Loading::Never {
            self.residents.load_weights(graph, &mut self.memory)?;
            self.graphs[graph.idx()].loading = Loading::Loaded;
        }
        let io = io_bytes(self.session, run, self.params);
        self.residents.hold_io(graph, io, &mut self.memory)?;
        let pool = match state.pool {
            Some(pool) => pool,
            None => self.pools.add(graph, &mut self.memory),
        };
        self.graphs[graph.idx()].pool = Some(pool);
        Ok(Place::Dynamic(pool))
    }

    fn load_static(&mut self, request: ArenaRequest, run: &DeviceRun) -> Result<(), Stop> {
        let graph = request.graph;
        let io = io_bytes(self.session, run, self.params);
        self.make_room(request, io);
        self.memory.serve(self.residents.subject(graph));
        if self.graphs[graph.idx()].loading == Loading::Unloaded {
            let region = self.arenas.region(graph).unwrap_or(NO_REGION);
            self.residents.record_reload(graph, region, &mut self.memory);
        }
        self.residents.load_weights(graph, &mut self.memory)?;
        self.arenas.load(request, &mut self.memory)?;
        self.residents.hold_io(graph, io, &mut self.memory)?;
        self.graphs[graph.idx()].loading = Loading::Loaded;
        Ok(())
    }

    /// Unloads other static graphs, in graph order, until a graph fits. One 32nd of the device is kept back. What is
    /// needed grows where a graph goes whose weights were shared.
    fn make_room(&mut self, request: ArenaRequest, io: Bytes) {
        let graph = request.graph;
        for other in 0..self.graphs.len() {
            let need = self.arenas.missing(request.footprint) + io + self.residents.missing_weights(graph);
            let capacity = self.memory.capacity().get();
            let usable = u64::try_from(u128::from(capacity) * 31 / 32).unwrap_or(capacity);
            let have = self.memory.available() - Bytes(capacity - usable);
            if need <= have {
                return;
            }
            let is_candidate = self.graphs[other].loading == Loading::Loaded && self.graphs[other].pool.is_none();
            let other = GraphIdx::from_idx(other);
            if is_candidate && other != graph {
                self.memory.serve(self.residents.subject(other));
                let region = self.arenas.region(other).unwrap_or(NO_REGION);
                self.memory.record(EventKind::Unload, region, 0, Bytes::ZERO);
                self.arenas.unload(other, &mut self.memory);
                self.residents.unload(other, &mut self.memory);
                self.graphs[other.idx()].loading = Loading::Unloaded;
            }
        }
    }

    fn leave(&mut self, idx: u32, run: &DeviceRun, place: &Place<'_>) {
        match place {
            Place::Static(plan, _) => self.arenas.leave(plan.footprint, &mut self.pools),
            Place::Dynamic(_) => {
                if self.next_io[idx as usize] != Some(io_bytes(self.session, run, self.params)) {
                    self.memory.serve(self.residents.subject(run.graph));
                    self.residents.free_io(run.graph, &mut self.memory);
                }
            }
        }
    }

    fn allocate(&mut self, place: &Place<'_>, (idx, run): (u32, &DeviceRun), item: usize) -> Result<(), Shortage> {
        let lifetime = run.bound.program.lifetimes.items[item];
        let bytes = run.bound.engine_sizes.get(item).copied().unwrap_or(lifetime.bytes);
        for copy in 0..self.copies {
            let who = Subject::Tensor {
                run: idx,
                tensor: lifetime.tensor,
                copy: u16::try_from(copy).unwrap_or(u16::MAX),
            };
            let subject = self.memory.serve_new(who, lifetime.bytes);
            let live = match place {
                Place::Static(plan, regions) => Live {
                    subject,
                    region: regions.get(copy).copied().unwrap_or(NO_REGION),
                    offset: plan.offsets[item],
                    bytes,
                    span: None,
                },
                Place::Dynamic(pool) => {
                    let grant = self.pools.allocate(*pool, bytes, &mut self.memory)?;
                    Live {
                        subject,
                        region: grant.region,
                        offset: grant.offset,
                        bytes: grant.bytes,
                        span: Some(grant.span),
                    }
                }
            };
            self.memory
                .record(EventKind::Alloc, live.region, live.offset, live.bytes);
            self.live[item * self.copies + copy] = Some(live);
        }
        Ok(())
    }

    fn free(&mut self, place: &Place<'_>, item: usize) {
        for copy in 0..self.copies {
            let Some(live) = self.live[item * self.copies + copy].take() else {
                continue;
            };
            self.memory.serve(live.subject);
            self.memory
                .record(EventKind::Free, live.region, live.offset, live.bytes);
            if let (Place::Dynamic(pool), Some(span)) = (place, live.span) {
                self.pools.release(*pool, span);
            }
        }
    }
}

/// The plan of a run whose graph is placed at load.
fn static_plan<'a>(session: &DeviceSession, run: &'a DeviceRun) -> Option<&'a Plan> {
    let is_static = session.graphs[run.graph.idx()].is_static;
    run.bound.plan.as_deref().filter(|_| is_static)
}

/// For each run, the inputs and outputs of its graph's next run.
fn next_io(session: &DeviceSession, params: &Params) -> Vec<Option<Bytes>> {
    let mut upcoming = vec![None; session.graphs.len()];
    let mut list: Vec<Option<Bytes>> = session
        .runs
        .iter()
        .rev()
        .map(|run| upcoming[run.graph.idx()].replace(io_bytes(session, run, params)))
        .collect();
    list.reverse();
    list
}

/// Positions of items by step, in list order within a step; one allocation serves all runs.
#[derive(Default)]
struct Buckets {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Buckets {
    /// Sorts items by step; steps outside the run are left out. O(items + steps).
    fn fill(&mut self, n_steps: u32, steps: impl Iterator<Item = Step> + Clone) {
        let inside = |step: &Step| step.0 < n_steps;
        self.starts.clear();
        self.starts.resize(n_steps as usize + 2, 0);
        for step in steps.clone().filter(inside) {
            self.starts[step.idx() + 2] += 1;
        }
        for step in 2..self.starts.len() {
            self.starts[step] += self.starts[step - 1];
        }
        let n_items = self.starts.last().copied().unwrap_or(0);
        self.items.clear();
        self.items.resize(n_items as usize, 0);
        for (item, step) in (0_u32..).zip(steps).filter(|(_, step)| inside(step)) {
            // One place ahead, so that filling leaves each start where it belongs.
            let next = &mut self.starts[step.idx() + 1];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }

    /// The items of a step.
    fn of(&self, step: u32) -> &[u32] {
        let at = step as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
