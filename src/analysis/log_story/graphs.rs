//! Graphs and their memory when a request failed: loads, unloads and evictions until then.

use indexmap::IndexMap;

use highwater_model::workload::{LogTime, LoggedEvent, LoggedEventKind, LoggedFailure, LoggedProcess};

/// Models that are followed, the last ones: more are no real process, and every load looks at all.
const MOST_MODELS: usize = 256;

/// A graph of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphMemory {
    pub id: u64,
    pub name: Option<String>,
    /// Feature memory with inputs and outputs: what its load took, else what its plan needs.
    pub feature_map: Option<u64>,
    pub weights: Option<u64>,
    /// The least that a plan of its lifetimes can need, as the log states it.
    pub lower_bound: Option<u64>,
    pub state: GraphState,
    /// Models of it that are loaded.
    pub loaded: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphState {
    Compiled,
    Loaded,
    /// The failed request is for it.
    Requested,
    Unloaded,
    /// Unloaded by the engine to make room.
    Evicted,
}

impl GraphState {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compiled => "compiled",
            Self::Loaded => "loaded",
            Self::Requested => "requested",
            Self::Unloaded => "unloaded",
            Self::Evicted => "evicted",
        }
    }
}

/// The graphs that a process wanted at once, at the time when this needed most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Graphs with feature memory.
    pub(super) graphs: Vec<u64>,
    pub(super) sum_of_features: u64,
    pub(super) largest: u64,
    pub(super) weights: u64,
    /// Graphs whose weights the log does not tell.
    pub(super) lacks_weights: Vec<u64>,
}

/// The graphs at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) graphs: Vec<GraphMemory>,
    pub(super) wanted: Wanted,
}

/// A model that is loaded, or that was evicted and is wanted.
struct Model {
    graph: u64,
    id: Option<u64>,
    is_evicted: bool,
}

impl State {
    /// The graphs when a request failed; without one, at the end of the log.
    pub(super) fn at(process: &LoggedProcess, failure: Option<&LoggedFailure>) -> Self {
        let mut graphs = known(process);
        let mut models: Vec<Model> = Vec::new();
        let mut wanted = Wanted::default();
        let until = failure.and_then(|failure| failure.at);
        for event in process.events.iter().filter(|event| is_until(event, until)) {
            follow(event, &mut models, &mut graphs);
            if event.kind == LoggedEventKind::Load {
                wanted.raise(&models, &graphs, None);
            }
        }
        for model in models.iter().filter(|model| !model.is_evicted) {
            if let Some(graph) = graphs.get_mut(&model.graph) {
                graph.loaded += 1;
            }
        }
        let requested = failure.and_then(|failure| failure.graph);
        if let Some(graph) = requested.and_then(|graph| graphs.get_mut(&graph))
            && graph.loaded == 0
        {
            graph.state = GraphState::Requested;
            wanted.raise(&models, &graphs, requested);
        }
        Self {
            graphs: graphs.into_values().collect(),
            wanted,
        }
    }

    pub(super) fn graph(&self, id: u64) -> Option<&GraphMemory> {
        self.graphs.iter().find(|graph| graph.id == id)
    }

    pub(super) fn of_state(&self, state: GraphState) -> impl Iterator<Item = &GraphMemory> {
        self.graphs.iter().filter(move |graph| graph.state == state)
    }
}

fn is_until(event: &LoggedEvent, until: Option<LogTime>) -> bool {
    event.at.zip(until).is_none_or(|(at, until)| at <= until)
}

/// Graphs that are compiled or loaded, with the bytes that are known of them.
fn known(process: &LoggedProcess) -> IndexMap<u64, GraphMemory> {
    let mut graphs: IndexMap<u64, GraphMemory> = IndexMap::new();
    for graph in &process.graphs {
        let row = graphs.entry(graph.id).or_insert_with(|| unknown(graph.id));
        row.name = Some(graph.name.clone());
        row.feature_map = graph.total.or(row.feature_map);
        row.lower_bound = graph.theory_min.or(row.lower_bound);
    }
    for event in &process.events {
        let Some(id) = event.graph else { continue };
        let row = graphs.entry(id).or_insert_with(|| unknown(id));
        if event.kind == LoggedEventKind::Load {
            row.feature_map = event.feature_map.or(row.feature_map);
            row.weights = event.weights.or(row.weights);
        } else if row.weights.is_none() {
            row.weights = freed_weights(event, row.feature_map);
        }
    }
    graphs
}

const fn unknown(id: u64) -> GraphMemory {
    GraphMemory {
        id,
        name: None,
        feature_map: None,
        weights: None,
        lower_bound: None,
        state: GraphState::Compiled,
        loaded: 0,
    }
}

/// The weights of a model that goes: its bytes without its feature memory, which is in the shared arena or its own.
fn freed_weights(event: &LoggedEvent, feature_map: Option<u64>) -> Option<u64> {
    let freed = event.freed?;
    if event.shared.is_some_and(|shared| shared > 0) {
        return Some(freed);
    }
    freed.checked_sub(feature_map?)
}

fn follow(event: &LoggedEvent, models: &mut Vec<Model>, graphs: &mut IndexMap<u64, GraphMemory>) {
    let Some(graph) = event.graph else { return };
    let state = match event.kind {
        LoggedEventKind::Load => {
            models.retain(|model| !(model.is_evicted && model.graph == graph));
            models.push(Model {
                graph,
                id: event.model,
                is_evicted: false,
            });
            if models.len() > MOST_MODELS {
                models.remove(0);
            }
            GraphState::Loaded
        }
        LoggedEventKind::Unload | LoggedEventKind::Evict => {
            let is_evicted = event.kind == LoggedEventKind::Evict;
            let is_own = |model: &Model| model.graph == graph && !model.is_evicted;
            let by_id = |model: &Model| is_own(model) && model.id.is_some() && model.id == event.model;
            let found = models.iter().position(by_id).or_else(|| models.iter().position(is_own));
            if let Some(position) = found {
                let mut model = models.remove(position);
                model.is_evicted = is_evicted;
                models.extend(is_evicted.then_some(model));
            }
            if is_evicted {
                GraphState::Evicted
            } else {
                GraphState::Unloaded
            }
        }
    };
    let is_loaded = models.iter().any(|model| model.graph == graph && !model.is_evicted);
    if let Some(row) = graphs.get_mut(&graph) {
        row.state = if is_loaded { GraphState::Loaded } else { state };
    }
}

impl Wanted {
    /// Takes these models, and perhaps one more graph, where they need more.
    fn raise(&mut self, models: &[Model], graphs: &IndexMap<u64, GraphMemory>, requested: Option<u64>) {
        let mut now = Self::default();
        for id in models.iter().map(|model| model.graph).chain(requested) {
            let Some(graph) = graphs.get(&id) else { continue };
            let features = graph.feature_map.unwrap_or(0);
            now.sum_of_features = now.sum_of_features.saturating_add(features);
            now.largest = now.largest.max(features);
            now.weights = now.weights.saturating_add(graph.weights.unwrap_or(0));
            if features > 0 {
                now.graphs.push(id);
            }
            if graph.weights.is_none() && !now.lacks_weights.contains(&id) {
                now.lacks_weights.push(id);
            }
        }
        let size = |one: &Self| one.sum_of_features.saturating_add(one.weights);
        if size(&now) > size(self) || self.graphs.is_empty() {
            *self = now;
        }
    }
}
