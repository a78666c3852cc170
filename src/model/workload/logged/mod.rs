//! A process of a log as graphs: the compiler's placements as ops and tensors, and its loads and unloads as a schedule.
//!
//! ```text
//! [IMAS]Set lines of a graph    arena.rs    ops in the order of their ids, tensors with offset, bytes and life
//!                               graph.rs    a graph: a tensor is computed where its life begins, read where it ends
//! loads and unloads             here        runs and unloads of these graphs
//! ```
//!
//! The log has no edges: only the last reader of a tensor is known, so shapes, element types and other readers are missing.
//! Variables are those of the session, in every graph. O(placements log placements + events).

mod arena;
mod graph;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cann_log::{LoggedEvent, LoggedEventKind, LoggedGraph, LoggedProcess};
use super::schedule::{EntryKind, ScheduleEntry};
use super::{DumpedOption, GraphEntry, Recording, Source, Workload};
use arena::Arena;

/// Who made the plan of a log.
pub const LOG_MAKER: &str = "CANN's log";

/// The options for the policy and the memory of the device.
const POLICY: &str = "static_memory_policy";
const DEVICE_MEMORY: &str = "simulation.device_memory";

/// Most steps of a schedule that a log states.
const MOST_STEPS: usize = 1 << 20;

/// The graphs of a process with what the log says they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedSession {
    pub graphs: Vec<LoggedEntry>,
    pub schedule: Vec<ScheduleEntry>,
    /// Loads and unloads that are too many to be simulated.
    pub n_cut: usize,
}

/// A graph of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEntry {
    pub id: u64,
    pub entry: GraphEntry,
    /// Bytes of the arena, as the log sums them.
    pub arena: Option<u64>,
    /// Placements that lack an offset, bytes or a life, or own no memory of the device.
    pub n_left_out: usize,
    /// Whether the log has its placements; else its feature memory is one block.
    pub is_placed: bool,
}

impl LoggedSession {
    /// `None` where the log has no placements of the process.
    pub fn of(process: &LoggedProcess) -> Option<Self> {
        let mut graphs: Vec<LoggedEntry> = compiled(process)
            .into_iter()
            .filter_map(|graph| entry(graph, process))
            .collect();
        if !graphs.iter().any(|one| one.is_placed) {
            return None;
        }
        let settings: Vec<DumpedOption> = settings(process)
            .into_iter()
            .map(|(key, value)| DumpedOption {
                key: key.to_owned(),
                value,
                op: String::new(),
                count: 1,
            })
            .collect();
        if let Some(dumped) = graphs[0].entry.dumped.as_mut() {
            // They are of the session: told once.
            Arc::make_mut(dumped).options.extend(settings);
        }
        let (schedule, n_cut) = schedule(process, &graphs);
        Some(Self {
            graphs,
            schedule,
            n_cut,
        })
    }
}

/// What the log says of the run, as options.
fn settings(process: &LoggedProcess) -> Vec<(&'static str, String)> {
    let memory = process.device_total.map(|bytes| (DEVICE_MEMORY, bytes.to_string()));
    let policy = process.policy.map(|(policy, _)| (POLICY, policy.to_string()));
    [memory, policy].into_iter().flatten().collect()
}

/// The last compilation of each id, in the order of first appearance.
fn compiled(process: &LoggedProcess) -> Vec<&LoggedGraph> {
    let mut position: BTreeMap<u64, usize> = BTreeMap::new();
    let mut last: Vec<&LoggedGraph> = Vec::new();
    for graph in &process.graphs {
        if let Some(known) = position.get(&graph.id) {
            last[*known] = graph;
        } else {
            position.insert(graph.id, last.len());
            last.push(graph);
        }
    }
    last
}

/// A graph with placements, or one that was loaded.
fn entry(logged: &LoggedGraph, process: &LoggedProcess) -> Option<LoggedEntry> {
    let plan = logged.plan.as_ref().and_then(|name| process.plans.get(name));
    let arena = plan.map(|plan| Arena::of(plan, logged.arena, &process.op_kinds));
    let arena = arena.filter(|arena| !arena.tensors.is_empty());
    let mut loads = process.events.iter().filter(|event| is_load_of(event, logged.id));
    let load = loads.next();
    if arena.is_none() && load.is_none() {
        return None;
    }
    let features = load.and_then(|load| load.feature_map).unwrap_or(0);
    let is_placed = arena.is_some();
    let arena = arena.unwrap_or_else(|| Arena::one_block(features));
    Some(LoggedEntry {
        id: logged.id,
        arena: logged.arena,
        n_left_out: arena.n_left_out,
        is_placed,
        entry: graph::entry(logged, &arena, load.and_then(|load| load.weights), process).ok()?,
    })
}

fn is_load_of(event: &LoggedEvent, graph: u64) -> bool {
    event.kind == LoggedEventKind::Load && event.graph == Some(graph)
}

/// Runs at loads, and unloads; what was evicted is left to the simulation. A graph that failed to load runs where it failed. The
/// number of events beyond the limit.
fn schedule(process: &LoggedProcess, graphs: &[LoggedEntry]) -> (Vec<ScheduleEntry>, usize) {
    let mut draft = Draft {
        graphs,
        is_loaded: vec![false; graphs.len()],
        n_steps: 0,
        entries: Vec::new(),
    };
    let events = &process.events;
    for position in 0..=events.len() {
        for failure in process.failures.iter().filter(|one| one.n_events == position) {
            draft.failed(failure.graph);
        }
        if let Some(event) = events.get(position)
            && !draft.take(event)
        {
            return (draft.entries, events.len() - position);
        }
    }
    (draft.entries, 0)
}

struct Draft<'a> {
    graphs: &'a [LoggedEntry],
    is_loaded: Vec<bool>,
    n_steps: usize,
    entries: Vec<ScheduleEntry>,
}

impl Draft<'_> {
    /// Whether there is room for the event.
    fn take(&mut self, event: &LoggedEvent) -> bool {
        let Some(found) = self.find(event.graph) else {
            return true;
        };
        match event.kind {
            LoggedEventKind::Load => return self.push(found, EntryKind::Run),
            LoggedEventKind::Unload if self.is_loaded[found] => return self.push(found, EntryKind::Unload),
            // Its next load is another one, also where the engine unloaded it.
            LoggedEventKind::Unload | LoggedEventKind::Evict => self.is_loaded[found] = false,
        }
        true
    }

    /// A load that failed; one that had begun is an event.
    fn failed(&mut self, graph: Option<u64>) {
        if let Some(found) = self.find(graph).filter(|found| !self.is_loaded[*found]) {
            self.push(found, EntryKind::Run);
        }
    }

    fn find(&self, graph: Option<u64>) -> Option<usize> {
        self.graphs.iter().position(|one| Some(one.id) == graph)
    }

    fn push(&mut self, found: usize, kind: EntryKind) -> bool {
        self.n_steps += self.graphs[found].entry.graph.ops().len();
        if self.n_steps > MOST_STEPS {
            return false;
        }
        self.is_loaded[found] = kind == EntryKind::Run;
        self.entries.push(ScheduleEntry {
            kind,
            ..ScheduleEntry::run(self.graphs[found].entry.name.clone())
        });
        true
    }
}

impl Recording {
    /// The graphs of a log's process; `None` for other recordings, and where the log has no placements.
    pub fn logged_session(&self) -> Option<LoggedSession> {
        LoggedSession::of(self.process.as_deref()?)
    }
}

impl Workload {
    /// Whether its graphs are those of a log, with its plans.
    pub fn has_logged_plans(&self) -> bool {
        let mut dumped = self
            .graphs()
            .iter()
            .filter_map(|entry| entry.dumped.as_ref()?.offsets.as_ref());
        dumped.any(|offsets| !offsets.sizes.is_empty())
    }

    /// The graphs of the only recording that is a log's process with placements, beside the recordings; others are unchanged.
    #[must_use]
    pub fn with_logged_graphs(self) -> Self {
        let Source::Recordings(recordings) = &self.source else {
            return self;
        };
        let mut sessions = recordings.iter().filter_map(|one| one.logged_session());
        let (Some(session), None) = (sessions.next(), sessions.next()) else {
            return self;
        };
        let measured = recordings.clone();
        Self {
            name: self.name,
            source: Source::Graphs(session.graphs.into_iter().map(|one| one.entry).collect()),
            measured,
            schedule: session.schedule,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{LoggedFailure, LoggedPlace};

    fn event(kind: LoggedEventKind, graph: u64) -> LoggedEvent {
        LoggedEvent {
            kind,
            at: None,
            graph: Some(graph),
            model: None,
            feature_map: Some(64),
            weights: Some(8),
            reserved: None,
            freed: None,
            shared: None,
            n_before: 0,
        }
    }

    fn process(events: Vec<LoggedEvent>) -> LoggedProcess {
        let graph = |id: u64, plan: Option<&str>| LoggedGraph {
            id,
            name: format!("g_{id}"),
            plan: plan.map(str::to_owned),
            ..LoggedGraph::default()
        };
        let place = LoggedPlace {
            offset: Some(0),
            block: Some(512),
            size: Some(96),
            unpadded: Some(64),
            begin: Some(1),
            end: Some(2),
            ..LoggedPlace::default()
        };
        let plan: indexmap::IndexMap<String, LoggedPlace> = [("a:output:0".to_owned(), place)].into_iter().collect();
        LoggedProcess {
            graphs: vec![
                graph(1, None),
                graph(11, Some("p")),
                graph(21, None),
                graph(11, Some("p")),
            ],
            plans: [("p".to_owned(), plan)].into_iter().collect(),
            variable_bytes: [("v".to_owned(), 1536)].into_iter().collect(),
            events,
            ..LoggedProcess::default()
        }
    }

    #[test]
    fn loads_are_runs_and_evictions_are_left_to_the_simulation() {
        use LoggedEventKind::{Evict, Load, Unload};
        let events = [
            (Unload, 11),
            (Load, 1),
            (Load, 11),
            (Evict, 11),
            (Load, 11),
            (Unload, 11),
            (Load, 99),
        ];
        let process = process(events.into_iter().map(|(kind, graph)| event(kind, graph)).collect());
        let session = LoggedSession::of(&process).expect("placements");
        let schedule: Vec<(&str, EntryKind)> = session
            .schedule
            .iter()
            .map(|entry| (entry.graph.as_str(), entry.kind))
            .collect();
        assert_eq!(
            schedule,
            [
                ("graph_1", EntryKind::Run),
                ("graph_11", EntryKind::Run),
                ("graph_11", EntryKind::Run),
                ("graph_11", EntryKind::Unload)
            ]
        );
        // Each id once; what was neither placed nor loaded is no graph of the session.
        let graphs: Vec<(u64, bool)> = session.graphs.iter().map(|one| (one.id, one.is_placed)).collect();
        assert_eq!(graphs, [(1, false), (11, true)]);
        let names = |entry: &GraphEntry| {
            let graph = Arc::clone(&entry.graph);
            let names = graph.tensors().iter_ids();
            names
                .map(|(id, _)| graph.tensor_name(id).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(&session.graphs[0].entry),
            ["v", "weights of graph_1", "feature memory"]
        );
        assert_eq!(names(&session.graphs[1].entry), ["v", "weights of graph_11", "a:0"]);
        let dumped = session.graphs[1].entry.dumped.as_deref().expect("a plan");
        let offsets = dumped.offsets.as_ref().expect("offsets");
        assert_eq!((offsets.offsets[2], offsets.sizes[2]), (Some(0), Some(96)));
    }

    #[test]
    fn a_graph_that_failed_to_load_runs_where_it_failed() {
        use LoggedEventKind::{Load, Unload};
        let failure = |graph, n_events| LoggedFailure {
            graph: Some(graph),
            n_events,
            ..LoggedFailure::default()
        };
        let mut process = process(vec![event(Load, 1), event(Unload, 1)]);
        // The second is of a graph that holds its memory: it failed at something else.
        process.failures = vec![failure(11, 1), failure(1, 1), failure(11, 2)];
        let session = LoggedSession::of(&process).expect("placements");
        let runs = session.schedule.iter().map(|entry| (entry.graph.as_str(), entry.kind));
        assert_eq!(
            runs.collect::<Vec<_>>(),
            [
                ("graph_1", EntryKind::Run),
                ("graph_11", EntryKind::Run),
                ("graph_1", EntryKind::Unload)
            ]
        );
    }

    #[test]
    fn a_log_without_placements_stays_a_recording() {
        let mut process = process(Vec::new());
        process.plans.clear();
        assert_eq!(LoggedSession::of(&process), None);
    }
}
