//! What an iteration holds, entry by entry: runs with values and repeats, concurrent groups, loads and unloads.
//!
//! ```text
//! entries      run a x2 | load b | run a @1, run b @1 | unload b
//! schedule     a  a      (load b)  a  b (at one time)   (unload b)      once an iteration
//! ```
//!
//! Rules: a run gives values to dimensions of its graph; those without take the plan's own. An entry with several values or
//! repeats is a sequence of runs, each combination once a repeat. Neighbours with one group number run at the same time, each
//! entry its own sequence. Deliberately not here: what being loaded, or running at the same time, means for memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{GraphIdx, LoadChange, Run, Schedule, ScheduleError, SchedulePlan, ScheduledGraph};
use crate::graph::{Bindings, Id as _};
use crate::workload::generator::Generator;

/// What an entry does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// The graph runs; it is loaded before, where it is not.
    #[default]
    Run,
    /// The graph is loaded, where it is not.
    Load,
    /// The graph is unloaded, where it is loaded.
    Unload,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Run, Self::Load, Self::Unload];

    /// Its name in files and texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Load => "load",
            Self::Unload => "unload",
        }
    }
}

/// One entry of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleEntry {
    /// The graph, by the name that it has of itself or by the one that the user gave it.
    pub graph: String,
    /// What happens.
    pub kind: EntryKind,
    /// Values of the graph's dimensions; of a run.
    pub dims: BTreeMap<String, Generator>,
    /// How often the values are run through, at least 1; of a run.
    pub repeats: u32,
    /// The concurrent group, of a run: neighbours of one group run at the same time.
    pub group: Option<u32>,
}

impl ScheduleEntry {
    /// A run of a graph, once, with the plan's own values.
    pub const fn run(graph: String) -> Self {
        Self {
            graph,
            kind: EntryKind::Run,
            dims: BTreeMap::new(),
            repeats: 1,
            group: None,
        }
    }
}

/// The group that is being filled.
#[derive(Debug)]
struct OpenGroup {
    number: u32,
    start: u32,
    members: BTreeSet<GraphIdx>,
}

impl SchedulePlan {
    /// The runs of graphs, with what happens between them. O(runs).
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn schedule_of(&self, graphs: &[ScheduledGraph]) -> Result<Schedule, ScheduleError> {
        if self.entries.is_empty() {
            let symbols: Vec<Vec<String>> = graphs.iter().map(|graph| graph.symbols.clone()).collect();
            return self.schedule(&symbols);
        }
        let entries = self.resolved(graphs)?;
        let mut schedule = Schedule::default();
        for iteration in 0..self.iterations.max(1) {
            self.add_iteration(iteration, &entries, graphs, &mut schedule)?;
        }
        if schedule.runs.is_empty() {
            return Err(ScheduleError::NoRun);
        }
        let is_run = |change: &LoadChange| schedule.runs.iter().any(|run| run.graph == change.graph);
        match schedule.changes.iter().find(|change| change.is_load && !is_run(change)) {
            Some(change) => Err(ScheduleError::LoadedOnly {
                graph: graphs[change.graph.idx()].name.clone(),
            }),
            None => Ok(schedule),
        }
    }

    /// Takes from a dimension what ties it: whole shapes, and the values that entries give it themselves. It has the plan's
    /// own values then, in every run. O(entries).
    pub fn free_of(&mut self, dim: &str) {
        self.together.remove(dim);
        for entry in &mut self.entries {
            entry.dims.remove(dim);
        }
    }

    /// Graphs under the names that the plan gives them, of graphs under their own.
    #[must_use]
    pub fn shown_graphs(&self, mut graphs: Vec<ScheduledGraph>) -> Vec<ScheduledGraph> {
        for graph in &mut graphs {
            graph.name = self.shown_name(&graph.name).to_owned();
        }
        graphs
    }

    /// The position of an entry's graph among graphs under their own names.
    pub fn graph_of(&self, entry: &ScheduleEntry, own: &[ScheduledGraph]) -> Option<usize> {
        let shown = self.shown_name(&entry.graph);
        own.iter().position(|graph| self.shown_name(&graph.name) == shown)
    }

    /// Takes away entries and names of graphs that are not among these, under their own names.
    pub fn retain_graphs(&mut self, own: &[ScheduledGraph]) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|entry| self.graph_of(entry, own).is_some());
        self.entries = entries;
        self.names.retain(|name, _| own.iter().any(|graph| graph.name == *name));
    }

    /// Whether an entry runs a graph of that own name.
    pub fn runs_graph(&self, entry: &ScheduleEntry, own: &str) -> bool {
        entry.kind == EntryKind::Run && self.shown_name(&entry.graph) == self.shown_name(own)
    }

    /// Loads of graphs that are loaded there already and unloads of graphs that are not, by position; `own` are graphs under
    /// their own names. Only what changes nothing in any iteration counts.
    pub fn idle_entries(&self, own: &[ScheduledGraph]) -> Vec<usize> {
        let mut loaded = BTreeSet::new();
        let mut acts = BTreeSet::new();
        // What the second iteration does, all others do.
        for _ in 0..self.iterations.clamp(1, 2) {
            for (position, entry) in self.entries.iter().enumerate() {
                let graph = self.graph_of(entry, own);
                let is_change = match entry.kind {
                    EntryKind::Run => {
                        loaded.insert(graph);
                        true
                    }
                    EntryKind::Load => loaded.insert(graph),
                    EntryKind::Unload => loaded.remove(&graph),
                };
                if is_change {
                    acts.insert(position);
                }
            }
        }
        (0..self.entries.len())
            .filter(|position| !acts.contains(position))
            .collect()
    }

    /// How many runs there are. O(entries and their combinations).
    ///
    /// # Errors
    /// [`ScheduleError`], as [`SchedulePlan::schedule_of`] has it but for graphs that are loaded only.
    pub fn n_runs(&self, graphs: &[ScheduledGraph]) -> Result<u64, ScheduleError> {
        if self.entries.is_empty() {
            return Ok(self.schedule_of(graphs)?.runs.len() as u64);
        }
        let entries = self.resolved(graphs)?.into_iter().zip(&self.entries);
        let once: u64 = entries
            .map(|((_, bindings), entry)| bindings.len() as u64 * u64::from(entry.repeats.max(1)))
            .sum();
        Ok(once * u64::from(self.iterations.max(1)))
    }

    /// The name of a graph as it is shown.
    pub fn shown_name<'a>(&'a self, own: &'a str) -> &'a str {
        self.names.get(own).map_or(own, String::as_str)
    }

    /// By entry: its graph, and the bindings that it runs through once.
    fn resolved(&self, graphs: &[ScheduledGraph]) -> Result<Vec<(GraphIdx, Vec<Bindings>)>, ScheduleError> {
        let mut entries = Vec::with_capacity(self.entries.len());
        let mut n_runs = 0_u64;
        for entry in &self.entries {
            let idx = self.find(&entry.graph, graphs)?;
            let graph = &graphs[idx];
            let bindings = match entry.kind {
                EntryKind::Run => self.bindings(entry, graph)?,
                EntryKind::Load | EntryKind::Unload => Vec::new(),
            };
            let of_entry = (bindings.len() as u64).saturating_mul(u64::from(entry.repeats.max(1)));
            n_runs = n_runs.saturating_add(of_entry);
            entries.push((GraphIdx::from_idx(idx), bindings));
        }
        let runs = n_runs.saturating_mul(u64::from(self.iterations.max(1)));
        if runs > Self::MAX_RUNS || entries.len() as u64 > Self::MAX_RUNS {
            return Err(ScheduleError::TooManyRuns {
                runs,
                limit: Self::MAX_RUNS,
            });
        }
        Ok(entries)
    }

    fn find(&self, name: &str, graphs: &[ScheduledGraph]) -> Result<usize, ScheduleError> {
        let shown = self.shown_name(name);
        let found = graphs.iter().position(|graph| graph.name == shown);
        found.ok_or_else(|| ScheduleError::UnknownGraph {
            name: name.to_owned(),
            known: clause(
                "there is ",
                graphs.iter().map(|graph| graph.name.as_str()),
                "there is no graph",
            ),
        })
    }

    /// The bindings that an entry runs its graph with, each combination once.
    fn bindings(&self, entry: &ScheduleEntry, graph: &ScheduledGraph) -> Result<Vec<Bindings>, ScheduleError> {
        if let Some(dim) = entry.dims.keys().find(|dim| !graph.symbols.contains(dim)) {
            return Err(ScheduleError::UnknownDim {
                dim: dim.clone(),
                graph: graph.name.clone(),
                known: clause("it has ", graph.symbols.iter().map(String::as_str), "it has none"),
            });
        }
        let mut own = Self {
            dims: self.dims.clone(),
            together: self.together.clone(),
            ..Self::default()
        };
        for (dim, generator) in &entry.dims {
            own.together.remove(dim);
            own.dims.insert(dim.clone(), generator.values());
        }
        own.combinations(&graph.symbols)
    }

    /// Every binding that a graph runs with in an iteration, perhaps some more than once; of a graph that never runs none.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn bindings_of(&self, graph: &ScheduledGraph) -> Result<Vec<Bindings>, ScheduleError> {
        if self.entries.is_empty() {
            return self.combinations(&graph.symbols);
        }
        let mut all = Vec::new();
        for entry in self.runs_of(graph) {
            all.extend(self.bindings(entry, graph)?);
        }
        Ok(all)
    }

    fn runs_of<'a>(&'a self, graph: &'a ScheduledGraph) -> impl Iterator<Item = &'a ScheduleEntry> {
        let runs = self.entries.iter().filter(|entry| entry.kind == EntryKind::Run);
        runs.filter(|entry| self.shown_name(&entry.graph) == graph.name)
    }

    /// Dimensions that some run needs and nothing gives a value, each once, in the order of the graphs.
    pub fn unbound(&self, graphs: &[ScheduledGraph]) -> Vec<String> {
        let has_value = |dim: &String| self.dims.get(dim).is_some_and(|values| !values.is_empty());
        let mut unbound: Vec<String> = Vec::new();
        for graph in graphs {
            for dim in graph.symbols.iter().filter(|dim| !has_value(dim)) {
                let is_needed =
                    self.entries.is_empty() || self.runs_of(graph).any(|entry| !entry.dims.contains_key(dim));
                if is_needed && !unbound.contains(dim) {
                    unbound.push(dim.clone());
                }
            }
        }
        unbound
    }

    fn add_iteration(
        &self,
        iteration: u32,
        entries: &[(GraphIdx, Vec<Bindings>)],
        graphs: &[ScheduledGraph],
        schedule: &mut Schedule,
    ) -> Result<(), ScheduleError> {
        let mut open: Option<OpenGroup> = None;
        for (entry, (graph, bindings)) in self.entries.iter().zip(entries) {
            // Runs are fewer than MAX_RUNS.
            let position = u32::try_from(schedule.runs.len()).unwrap_or(u32::MAX);
            let group = entry.group.filter(|_| entry.kind == EntryKind::Run);
            if open.as_ref().map(|open| open.number) != group {
                close(open.take(), position, schedule);
                open = group.map(|number| OpenGroup {
                    number,
                    start: position,
                    members: BTreeSet::new(),
                });
            }
            if let Some(open) = &mut open
                && !open.members.insert(*graph)
            {
                return Err(ScheduleError::TwiceInGroup {
                    graph: graphs[graph.idx()].name.clone(),
                    group: open.number,
                });
            }
            if entry.kind != EntryKind::Run {
                schedule.changes.push(LoadChange {
                    before: position,
                    graph: *graph,
                    is_load: entry.kind == EntryKind::Load,
                });
            }
            for _ in 0..entry.repeats.max(1) {
                schedule.runs.extend(bindings.iter().map(|bindings| Run {
                    graph: *graph,
                    iteration,
                    bindings: bindings.clone(),
                }));
            }
        }
        let end = u32::try_from(schedule.runs.len()).unwrap_or(u32::MAX);
        close(open, end, schedule);
        Ok(())
    }

    /// The groups whose members run at the same time, by number, with the names of their graphs.
    pub fn concurrent(&self) -> Vec<(u32, Vec<String>)> {
        let mut groups: Vec<(u32, Vec<String>)> = Vec::new();
        let mut before: Option<u32> = None;
        for entry in &self.entries {
            let group = entry.group.filter(|_| entry.kind == EntryKind::Run);
            let name = self.shown_name(&entry.graph).to_owned();
            match (group, groups.last_mut()) {
                (Some(number), Some((_, members))) if before == Some(number) => members.push(name),
                (Some(number), _) => groups.push((number, vec![name])),
                (None, _) => {}
            }
            before = group;
        }
        groups.retain(|(_, members)| members.len() > 1);
        groups
    }
}

/// Notes a group that has at least two members.
fn close(open: Option<OpenGroup>, end: u32, schedule: &mut Schedule) {
    if let Some(open) = open.filter(|open| open.members.len() > 1) {
        schedule.groups.push(open.start..end);
    }
}

/// A list of names behind a lead.
fn clause<'a>(lead: &str, names: impl Iterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    if names.is_empty() {
        none.to_owned()
    } else {
        format!("{lead}{}", names.join(", "))
    }
}
