//! The story of a process: its facts in their order.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::draft::Draft;
use super::events::Events;
use super::fact::{At, Fact, Says, Statistics, Summary};
use super::pools::Pools;
use super::requests::Requests;
use highwater_model::workload::{
    ArenaLoad, DeviceFree, DriverRow, LogLevel, LogTime, LoggedFailure, LoggedGraph, LoggedProcess, LoggedVariables,
    PolicyFrom,
};

/// Graphs that are looked at for a thread, the last ones.
const MOST_OPEN: usize = 64;

/// The memory type of the device's own memory.
const DEVICE_MEMORY: u64 = 2;

/// A process, and the times of its changes and failures in microseconds.
pub(super) struct Told {
    pub(super) process: LoggedProcess,
    pub(super) samples: Vec<(i64, u64)>,
    pub(super) failed_at: Vec<Option<i64>>,
}

/// Tells a process; of several files by time.
pub(super) fn tell(pid: Option<u64>, mut draft: Draft, is_by_time: bool) -> Told {
    let mut facts = std::mem::take(&mut draft.facts);
    if is_by_time {
        facts.sort_by_key(|fact| fact.at.by_time());
    }
    let mut story = Story::new(draft.policy, &facts);
    for fact in &facts {
        story.take(fact);
    }
    drop(facts);
    story.finish(pid, draft)
}

struct Story {
    graphs: Vec<Compiled>,
    /// The last compilation of each name.
    by_name: BTreeMap<String, usize>,
    /// Times and ids of all compilations, by time: in files that were joined into one, those of a run log come after the
    /// failures of the debug log.
    compiled_at: Vec<(i64, u64)>,
    /// Ids by name, of all compilations: a selection of lines may have lost their order.
    ids: BTreeMap<String, u64>,
    /// Summaries of graphs whose compilation comes later.
    early: BTreeMap<String, Summary>,
    session: Option<u64>,
    arena_only: Option<u64>,
    variables: IndexMap<String, u64>,
    variable_pages: Option<(u64, u64)>,
    blocks: Vec<(Option<u64>, Option<u64>)>,
    arena_loads: Vec<ArenaLoad>,
    pools: Pools,
    events: Events,
    rows: IndexMap<(String, Option<u64>, String), Vec<Row>>,
    requests: Requests,
    device_free: Option<DeviceFree>,
}

struct Compiled {
    graph: LoggedGraph,
    thread: Option<u64>,
}

/// One row of the statistics.
struct Row {
    stamp: Option<i64>,
    current: Option<u64>,
    peak: Option<u64>,
}

impl Story {
    fn new(policy: Option<(u64, PolicyFrom)>, facts: &[Fact]) -> Self {
        let compiled = facts.iter().filter_map(|fact| match &fact.says {
            Says::Compile { graph, name, .. } => Some((name, *graph)),
            _ => None,
        });
        let times = facts.iter().filter_map(|fact| match &fact.says {
            Says::Compile { graph, .. } => Some((fact.at.stamp?, *graph)),
            _ => None,
        });
        let mut compiled_at: Vec<(i64, u64)> = times.collect();
        compiled_at.sort_by_key(|(stamp, _)| *stamp);
        Self {
            compiled_at,
            ids: compiled
                .flat_map(|(name, id)| names_of(name, id).map(|name| (name, id)))
                .collect(),
            early: BTreeMap::new(),
            graphs: Vec::new(),
            by_name: BTreeMap::new(),
            session: None,
            arena_only: None,
            variables: IndexMap::new(),
            variable_pages: None,
            blocks: Vec::new(),
            arena_loads: Vec::new(),
            pools: Pools::default(),
            events: Events::new(policy.map(|(policy, _)| policy)),
            rows: IndexMap::new(),
            requests: Requests::default(),
            device_free: None,
        }
    }

    fn take(&mut self, fact: &Fact) {
        let Self {
            by_name,
            ids,
            graphs,
            events,
            ..
        } = self;
        let graph_of = |name: &str| {
            let last = by_name.get(name).map(|position| graphs[*position].graph.id);
            last.or_else(|| ids.get(name).copied())
        };
        events.take(fact.at, &fact.says, graph_of);
        match &fact.says {
            Says::Compile { session, graph, name } => self.compile(fact.thread, *session, *graph, name),
            Says::Assigner(winner) => self.assigner(fact.thread, winner),
            Says::ArenaOnly(bytes) => self.arena_only = Some(*bytes),
            Says::Summary(summary) => self.summary(summary),
            Says::ArenaBegins => self.blocks.clear(),
            Says::ArenaBlock { total, used } => self.blocks.push((*total, *used)),
            Says::ArenaTotal { held, used, peak } => self.arena_loads.push(ArenaLoad {
                blocks: std::mem::take(&mut self.blocks),
                held: *held,
                used: *used,
                peak: *peak,
            }),
            Says::Page { bytes, is_pool: true } => self.pools.page(*bytes),
            Says::Page { bytes, .. } => {
                let (count, page) = self.variable_pages.unwrap_or((0, *bytes));
                self.variable_pages = Some((count + 1, page));
            }
            Says::Variable { name, bytes } => {
                self.variables.insert(name.clone(), *bytes);
            }
            Says::Pool { allocator, line } => self.pools.take(allocator.as_deref(), line, graph_of),
            // Later figures are of memory that was freed after the failure.
            Says::DeviceFree { free, total } if !self.requests.has_any() => {
                self.device_free = Some(DeviceFree {
                    at: fact.at.stamp.map(LogTime),
                    free: *free,
                    total: *total,
                });
            }
            Says::Driver(row) => self.row(fact.at, row),
            Says::Report(report) => {
                self.requests.take(fact.at, report, self.compiled_before(fact.at));
            }
            Says::Params { .. }
            | Says::Weights { .. }
            | Says::Features { .. }
            | Says::Unload(_)
            | Says::ArenaUsers(_)
            | Says::Pages { .. }
            | Says::DeviceFree { .. } => {}
        }
    }

    fn compile(&mut self, thread: Option<u64>, session: Option<u64>, id: u64, name: &str) {
        self.session = session.or(self.session);
        let position = self.graphs.len();
        let names = names_of(name, id);
        let early = names.iter().find_map(|name| self.early.remove(name));
        self.by_name.extend(names.map(|name| (name, position)));
        let graph = LoggedGraph {
            id,
            name: name.to_owned(),
            ..LoggedGraph::default()
        };
        self.graphs.push(Compiled { graph, thread });
        if let Some(early) = early {
            self.summary(&early);
        }
    }

    /// The last graph that was compiled before, by time where a time is known.
    fn compiled_before(&self, at: At) -> Option<u64> {
        let by_time = at.stamp.and_then(|stamp| {
            let before = self.compiled_at.partition_point(|(compiled, _)| *compiled <= stamp);
            Some(self.compiled_at.get(before.checked_sub(1)?)?.1)
        });
        by_time.or_else(|| self.graphs.last().map(|one| one.graph.id))
    }

    /// The first assigner after a compilation of the same thread has the smaller arena.
    fn assigner(&mut self, thread: Option<u64>, winner: &'static str) {
        let far = self.graphs.len().saturating_sub(MOST_OPEN);
        let of_thread = self.graphs[far..].iter().rposition(|one| one.thread == thread);
        let position = of_thread.map_or(self.graphs.len().checked_sub(1), |position| Some(far + position));
        if let Some(compiled) = position.and_then(|position| self.graphs.get_mut(position)) {
            compiled.graph.winner.get_or_insert(winner);
        }
    }

    fn summary(&mut self, summary: &Summary) {
        if summary.memory_type.is_some_and(|kind| kind != DEVICE_MEMORY) {
            return;
        }
        let arena_only = self.arena_only.take();
        let Some(position) = self.by_name.get(&summary.graph) else {
            self.early.insert(summary.graph.clone(), summary.clone());
            return;
        };
        let graph = &mut self.graphs[*position].graph;
        graph.total = summary.total;
        graph.zero_copy = summary.zero_copy;
        graph.arena = difference(summary.total, summary.zero_copy);
        if summary.zero_copy.is_none() {
            graph.arena = arena_only;
            graph.zero_copy = difference(summary.total, arena_only);
        }
        graph.theory_min = summary.theory_min;
        graph.sum_of_sizes = summary.sum_of_sizes;
        graph.no_reuse = summary.no_reuse;
    }

    fn row(&mut self, at: At, row: &Statistics) {
        let key = (row.kind.clone(), row.device, row.module.clone());
        self.rows.entry(key).or_default().push(Row {
            stamp: at.stamp,
            current: row.current,
            peak: row.peak,
        });
    }

    fn finish(self, pid: Option<u64>, draft: Draft) -> Told {
        let level = match (draft.has_info, draft.has_records) {
            (true, _) => LogLevel::Info,
            (false, true) => LogLevel::Default,
            (false, false) => LogLevel::Terminal,
        };
        let driver_times = self.requests.driver_times();
        let (mut failures, failed_at): (Vec<LoggedFailure>, Vec<Option<i64>>) =
            self.requests.finish().into_iter().unzip();
        let time_of = |position: Option<usize>| driver_times.get(position?).copied().flatten();
        let driver = driver_rows(self.rows, time_of(Some(0)), time_of(LoggedFailure::main(&failures)));
        for (failure, time) in failures.iter_mut().zip(&failed_at) {
            failure.n_events = self.events.count_until(*time);
        }
        let (events, samples, reserved_peak) = self.events.finish(level == LogLevel::Info);
        let has_variables = !self.variables.is_empty() || self.variable_pages.is_some();
        let logic = (!self.variables.is_empty()).then(|| (self.variables.len() as u64, sum(self.variables.values())));
        let plans = draft.plans;
        let graphs = self.graphs.into_iter().map(|one| with_plan(one.graph, &plans));
        let mut devices = draft.devices.iter();
        let device = devices.next().copied().filter(|_| devices.next().is_none());
        let process = LoggedProcess {
            pid,
            name: draft.name,
            device,
            session: self.session,
            level,
            device_total: draft.device_total,
            policy: draft.policy,
            graphs: graphs.collect(),
            variables: has_variables.then_some(LoggedVariables {
                logic,
                pages: self.variable_pages,
            }),
            variable_bytes: self.variables,
            events,
            reserved: since_first(&samples),
            reserved_peak,
            device_free: self.device_free,
            arena_loads: self.arena_loads,
            pools: self.pools.finish(),
            driver,
            failures,
            statements: draft.statements,
            settings: draft.settings,
            versions: draft.versions,
            plans,
            op_kinds: draft.kinds,
            damaged: draft.damaged,
            repeated: draft.repeated,
        };
        Told {
            process,
            samples,
            failed_at,
        }
    }
}

/// How lines name a graph: newer releases print the id after the name.
fn names_of(name: &str, id: u64) -> [String; 2] {
    [format!("{name}_{id}"), name.to_owned()]
}

fn difference(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one?.checked_sub(other?)
}

fn sum<'a>(values: impl Iterator<Item = &'a u64>) -> u64 {
    values.fold(0, |sum, value| sum.saturating_add(*value))
}

/// Nanoseconds since the first change; a clock that goes back adds nothing.
fn since_first(samples: &[(i64, u64)]) -> Vec<(u64, u64)> {
    let first = samples.first().map_or(0, |(stamp, _)| *stamp);
    let since = |stamp: i64| u64::try_from(stamp - first).unwrap_or(0).saturating_mul(1000);
    samples.iter().map(|(stamp, bytes)| (since(*stamp), *bytes)).collect()
}

fn with_plan<T>(mut graph: LoggedGraph, plans: &IndexMap<String, T>) -> LoggedGraph {
    let names = names_of(&graph.name, graph.id);
    graph.plan = names.into_iter().find(|name| plans.contains_key(name));
    graph
}

/// The last row of each kind, device and module; `first` and `main` are the times of failures.
fn driver_rows(
    rows: IndexMap<(String, Option<u64>, String), Vec<Row>>,
    first: Option<i64>,
    main: Option<i64>,
) -> Vec<DriverRow> {
    let one = |((kind, device, module), rows): ((String, Option<u64>, String), Vec<Row>)| {
        let at = |time: Option<i64>| {
            let mut rows = rows.iter().rev();
            let row = rows.find(|row| row.stamp.zip(time).is_some_and(|(stamp, time)| stamp <= time));
            row.and_then(|row| row.current)
        };
        let last = rows.last();
        DriverRow {
            kind,
            device,
            module,
            at_failure: at(first),
            at_main_failure: at(main),
            current: last.and_then(|row| row.current),
            peak: last.and_then(|row| row.peak),
        }
    };
    rows.into_iter().map(one).collect()
}
