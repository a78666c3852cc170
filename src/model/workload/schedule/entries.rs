//! Content of an iteration, entry by entry: runs with values and repeats, concurrent groups, loads and unloads.
//!
//! ```text
//! entries      run a x2 | load b | run a @1, run b @1 | unload b
//! schedule     a  a      (load b)  a  b (concurrent)    (unload b)      once per iteration
//! ```
//!
//! Rules: a run gives values to dimensions of its graph; others take the plan's own. An entry with several values or
//! repeats is a sequence of runs, each combination once per repeat. Adjacent entries with one group number run
//! concurrently, each as its own sequence. The effect of loads and groups on memory is in `sim`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{GraphIdx, LoadChange, Run, Schedule, ScheduleError, SchedulePlan, ScheduledGraph};
use crate::graph::{Bindings, Id as _};
use crate::workload::generator::Generator;

/// The action of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// The graph runs; it is loaded first, unless it is loaded.
    #[default]
    Run,
    /// The graph is loaded, unless it is loaded.
    Load,
    /// The graph is unloaded, if it is loaded.
    Unload,
}

impl EntryKind {
    pub const ALL: [Self; 3] = [Self::Run, Self::Load, Self::Unload];

    /// The name in files and texts.
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
    /// The graph's own name or the name given by the user.
    pub graph: String,
    pub kind: EntryKind,
    /// For a run: values of the graph's dimensions.
    pub dims: BTreeMap<String, Generator>,
    /// For a run: repeats of all values, at least 1.
    pub repeats: u32,
    /// For a run: the concurrent group; adjacent entries of one group run concurrently.
    pub group: Option<u32>,
}

impl ScheduleEntry {
    /// One run of a graph with the plan's own values.
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

/// The current group.
#[derive(Debug)]
struct OpenGroup {
    number: u32,
    start: u32,
    members: BTreeSet<GraphIdx>,
}

impl SchedulePlan {
    /// The runs of graphs, with loads and unloads between them. O(runs).
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

    /// The plan with the entries that the source states, where the user has none.
    pub fn or_stated(&self, stated: &[ScheduleEntry]) -> Cow<'_, Self> {
        if stated.is_empty() || !self.entries.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            entries: stated.to_vec(),
            ..self.clone()
        })
    }

    /// Removes a dimension from linked dimensions and from the values of entries. It then has the plan's own values in
    /// every run. O(entries).
    pub fn clear_dim(&mut self, dim: &str) {
        self.linked_dims.remove(dim);
        for entry in &mut self.entries {
            entry.dims.remove(dim);
        }
    }

    /// Renames graphs to the names that the plan gives them.
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

    /// Removes entries and names of graphs that are not in `own` (own names).
    pub fn retain_graphs(&mut self, own: &[ScheduledGraph]) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|entry| self.graph_of(entry, own).is_some());
        self.entries = entries;
        self.names.retain(|name, _| own.iter().any(|graph| graph.name == *name));
    }

    /// Whether an entry runs the graph with that own name.
    pub fn runs_graph(&self, entry: &ScheduleEntry, own: &str) -> bool {
        entry.kind == EntryKind::Run && self.shown_name(&entry.graph) == self.shown_name(own)
    }

    /// Positions of loads of loaded graphs and unloads of graphs that are not loaded; `own` are graphs under their own
    /// names. Only entries without effect in every iteration count.
    pub fn idle_entries(&self, own: &[ScheduledGraph]) -> Vec<usize> {
        let mut loaded = BTreeSet::new();
        let mut acts = BTreeSet::new();
        // All later iterations equal the second.
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

    /// The number of runs. O(entries and their combinations).
    ///
    /// # Errors
    /// [`ScheduleError`], as [`SchedulePlan::schedule_of`], except for graphs that are only loaded.
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

    /// The name of a graph shown to users.
    pub fn shown_name<'a>(&'a self, own: &'a str) -> &'a str {
        self.names.get(own).map_or(own, String::as_str)
    }

    /// By entry: its graph, and the bindings of one repeat.
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

    /// The bindings of an entry, each combination once.
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
            linked_dims: self.linked_dims.clone(),
            ..Self::default()
        };
        for (dim, generator) in &entry.dims {
            own.linked_dims.remove(dim);
            own.dims.insert(dim.clone(), generator.values());
        }
        own.combinations(&graph.symbols)
    }

    /// Every binding of a graph's runs in an iteration, perhaps repeated; empty for a graph that never runs.
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

    /// Dimensions that a run needs and that have no value, each once, in the order of the graphs.
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

    /// The concurrent groups with at least two members, by number, with the names of their graphs.
    pub fn concurrent_groups(&self) -> Vec<(u32, Vec<String>)> {
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

/// Adds a group with at least two members.
fn close(open: Option<OpenGroup>, end: u32, schedule: &mut Schedule) {
    if let Some(open) = open.filter(|open| open.members.len() > 1) {
        schedule.groups.push(open.start..end);
    }
}

/// A list of names after a lead.
fn clause<'a>(lead: &str, names: impl Iterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    if names.is_empty() {
        none.to_owned()
    } else {
        format!("{lead}{}", names.join(", "))
    }
}
