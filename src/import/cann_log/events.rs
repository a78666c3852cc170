//! Loads and unloads of models, and the bytes that the engine holds: weights, features or the shared arena, pages.
//!
//! ```text
//! policy 0, unknown   weights + features                        + pages of variables
//! policy 2            weights + what the arena holds            + pages of variables
//! policy 3            weights + features + pages of the pools   + pages of variables
//! policy 4            weights + pages of arena and pools        + pages of variables
//! ```

use std::collections::{BTreeMap, VecDeque};

use super::fact::{At, Says, UnloadLine};
use highwater_model::workload::{LogTime, LoggedEvent, LoggedEventKind};

/// Microseconds within which lines are of one model that goes.
const TOGETHER: i64 = 1_000_000;

/// Events that are looked at for a line, the last ones.
const MOST_OPEN: usize = 64;

/// Models whose end is waited for; more are no real log.
const MOST_HELD: usize = 4096;

/// Bits of the lines of an event.
const MAIN: u8 = 1;
const EXTRA: u8 = 2;
const BEGIN: u8 = 4;
const METRICS: u8 = 8;
const DONE: u8 = 16;

const fn bit(line: &UnloadLine) -> u8 {
    match line {
        UnloadLine::Begin { .. } => BEGIN,
        UnloadLine::Metrics { .. } => METRICS,
        UnloadLine::Done { .. } => DONE,
    }
}

/// A model that holds memory.
#[derive(Debug)]
struct Held {
    graph: u64,
    model: Option<u64>,
    weights: u64,
    features: u64,
}

/// An event, with what joins lines to it.
#[derive(Debug)]
struct Open {
    event: LoggedEvent,
    stamp: Option<i64>,
    /// The kinds of its lines, as bits.
    lines: u8,
    is_released: bool,
}

#[derive(Debug)]
pub(super) struct Events {
    policy: Option<u64>,
    all: Vec<Open>,
    params: Option<u64>,
    held: VecDeque<Held>,
    /// Of all models, those that are no longer in the list included.
    weights: u64,
    features: u64,
    arena: u64,
    variable_pages: u64,
    shared_pages: u64,
    page: [u64; 2],
    /// The largest value since the last event began.
    largest: u64,
    peak: u64,
    /// Microseconds and bytes of each change.
    samples: Vec<(i64, u64)>,
    /// Models that were loaded, with their graphs.
    models: BTreeMap<u64, u64>,
}

impl Events {
    pub(super) fn new(policy: Option<u64>) -> Self {
        Self {
            policy,
            all: Vec::new(),
            params: None,
            held: VecDeque::new(),
            weights: 0,
            features: 0,
            arena: 0,
            variable_pages: 0,
            shared_pages: 0,
            page: [0; 2],
            largest: 0,
            peak: 0,
            samples: Vec::new(),
            models: BTreeMap::new(),
        }
    }

    /// Takes a line; `graph_of` finds graphs by name.
    pub(super) fn take(&mut self, at: At, says: &Says, graph_of: impl Fn(&str) -> Option<u64>) {
        match says {
            Says::Params { model } => self.params = Some(*model),
            Says::Weights { graph, bytes } => self.weights(at, *graph, *bytes),
            Says::Features { graph, bytes, is_extra } => self.features(at, *graph, *bytes, *is_extra),
            Says::Unload(line) => self.unload(at, line, graph_of),
            Says::ArenaUsers(0) => self.arena = 0,
            Says::ArenaTotal { held: Some(held), .. } => self.arena = *held,
            Says::Pages { bytes, is_shared } => self.pages(*bytes, *is_shared),
            _ => return,
        }
        self.note(at);
    }

    fn value(&self) -> u64 {
        let (weights, features) = (self.weights, self.features);
        let features = match self.policy {
            Some(2) => self.arena,
            Some(3) => features.saturating_add(self.shared_pages),
            Some(4) => self.shared_pages,
            _ => features,
        };
        weights.saturating_add(features).saturating_add(self.variable_pages)
    }

    fn note(&mut self, at: At) {
        let value = self.value();
        self.largest = self.largest.max(value);
        self.peak = self.peak.max(value);
        if self.samples.last().is_none_or(|(_, last)| *last != value) {
            self.samples.push((at.stamp.unwrap_or(0), value));
        }
    }

    /// The event before ends here.
    fn begin(&mut self, at: At, kind: LoggedEventKind, graph: Option<u64>, model: Option<u64>) -> &mut Open {
        self.close();
        self.largest = 0;
        self.all.push(Open {
            event: LoggedEvent {
                kind,
                at: at.stamp.map(LogTime),
                graph,
                model,
                feature_map: None,
                weights: None,
                reserved: None,
                n_before: u32::try_from(self.samples.len()).unwrap_or(u32::MAX),
                freed: None,
                shared: None,
            },
            stamp: at.stamp,
            lines: 0,
            is_released: false,
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    fn close(&mut self) {
        let value = self.value();
        if let Some(last) = self.all.last_mut() {
            let is_load = last.event.kind == LoggedEventKind::Load;
            last.event.reserved = Some(if is_load { self.largest } else { value });
        }
    }

    fn load(&mut self, at: At, graph: u64) {
        let model = self.params.take();
        if let Some(model) = model {
            self.models.insert(model, graph);
        }
        let open = self.begin(at, LoggedEventKind::Load, Some(graph), model);
        open.event.feature_map = Some(0);
        self.held.push_back(Held {
            graph,
            model,
            weights: 0,
            features: 0,
        });
        if self.held.len() > MOST_HELD {
            self.held.pop_front();
        }
    }

    fn weights(&mut self, at: At, graph: u64, bytes: Option<u64>) {
        self.load(at, graph);
        if let Some(open) = self.all.last_mut() {
            open.event.weights = bytes;
        }
        if let Some(held) = self.held.back_mut() {
            held.weights = bytes.unwrap_or(0);
            self.weights = self.weights.saturating_add(held.weights);
        }
    }

    /// Features join the load of the same graph that has none yet.
    fn features(&mut self, at: At, graph: u64, bytes: Option<u64>, is_extra: bool) {
        let line = if is_extra { EXTRA } else { MAIN };
        let closed = self.all.len().saturating_sub(MOST_OPEN);
        let same = |one: &Open| one.event.graph == Some(graph);
        let last = self.all[closed..]
            .iter()
            .rposition(same)
            .map(|position| closed + position);
        let joined = last.filter(|position| {
            let one = &self.all[*position];
            one.event.kind == LoggedEventKind::Load && one.lines & line == 0 && self.holds(one)
        });
        let position = joined.unwrap_or_else(|| {
            self.load(at, graph);
            self.all.len() - 1
        });
        let open = &mut self.all[position];
        let is_first = open.lines == 0;
        open.lines |= line;
        let known = open.event.feature_map.filter(|_| !is_first).unwrap_or(0);
        open.event.feature_map = bytes.map(|bytes| known.saturating_add(bytes));
        let model = open.event.model;
        let held = self
            .held
            .iter_mut()
            .rev()
            .find(|held| held.graph == graph && held.model == model);
        if let Some(held) = held {
            let bytes = bytes.unwrap_or(0);
            held.features = held.features.saturating_add(bytes);
            self.features = self.features.saturating_add(bytes);
        }
    }

    fn holds(&self, load: &Open) -> bool {
        let own = |held: &Held| Some(held.graph) == load.event.graph && held.model == load.event.model;
        self.held.iter().any(own)
    }

    fn unload(&mut self, at: At, line: &UnloadLine, graph_of: impl Fn(&str) -> Option<u64>) {
        let (graph, model) = match line {
            UnloadLine::Begin { model } => (None, *model),
            UnloadLine::Metrics { graph, .. } => (graph_of(graph), None),
            UnloadLine::Done { graph, model, .. } => (*graph, *model),
        };
        let graph = graph.or_else(|| self.models.get(&model?).copied());
        let closed = self.all.len().saturating_sub(MOST_OPEN);
        let same = |one: &Open| one.goes_with(at, line, graph, model);
        let joined = self.all[closed..].iter().rposition(same);
        let position = if let Some(position) = joined {
            closed + position
        } else {
            self.begin(at, LoggedEventKind::Unload, graph, model);
            self.all.len() - 1
        };
        let open = &mut self.all[position];
        open.event.graph = open.event.graph.or(graph);
        open.event.model = open.event.model.or(model);
        open.lines |= bit(line);
        if let UnloadLine::Metrics { freed, shared, .. } = line {
            (open.event.freed, open.event.shared) = (*freed, *shared);
        }
        if matches!(line, UnloadLine::Done { is_evicted: true, .. }) {
            open.event.kind = LoggedEventKind::Evict;
        }
        if !open.is_released && open.event.model.is_some() {
            open.is_released = true;
            let (graph, model) = (open.event.graph, open.event.model);
            self.release(graph, model);
        }
    }

    /// The model's memory is given back: by its id, else the first of its graph without one.
    fn release(&mut self, graph: Option<u64>, model: Option<u64>) {
        let by_model = self.held.iter().position(|held| held.model == model);
        let by_graph = || {
            let mut held = self.held.iter();
            held.position(|held| held.model.is_none() && Some(held.graph) == graph)
        };
        let gone = by_model
            .or_else(by_graph)
            .and_then(|position| self.held.remove(position));
        if let Some(held) = gone {
            self.weights = self.weights.saturating_sub(held.weights);
            self.features = self.features.saturating_sub(held.features);
        }
    }

    /// A page that goes names no allocator: it is of the one that loses just such a page.
    fn pages(&mut self, bytes: u64, is_shared: Option<bool>) {
        let lost = |all: u64| all.checked_sub(bytes).filter(|lost| *lost > 0);
        let is_shared = is_shared.unwrap_or_else(|| {
            let is_page = |all, page| lost(all).is_some_and(|lost| lost == page);
            is_page(self.shared_pages, self.page[1])
                || !is_page(self.variable_pages, self.page[0]) && lost(self.shared_pages).is_some()
        });
        let (all, page) = if is_shared {
            (&mut self.shared_pages, &mut self.page[1])
        } else {
            (&mut self.variable_pages, &mut self.page[0])
        };
        if bytes > *all {
            *page = bytes - *all;
        }
        *all = bytes;
    }

    /// The number of events that began by a time; all, where it is unknown.
    pub(super) fn count_until(&self, time: Option<i64>) -> usize {
        let is_later = |open: &Open| open.stamp.zip(time).is_some_and(|(stamp, time)| stamp > time);
        self.all.iter().position(is_later).unwrap_or(self.all.len())
    }

    /// The events, the changes of the held bytes, and their peak; without bytes below the level info.
    pub(super) fn finish(mut self, is_info: bool) -> (Vec<LoggedEvent>, Vec<(i64, u64)>, Option<u64>) {
        self.close();
        let events = self.all.into_iter().map(|open| LoggedEvent {
            reserved: open.event.reserved.filter(|_| is_info),
            ..open.event
        });
        let events = events.collect();
        if is_info {
            (events, self.samples, Some(self.peak))
        } else {
            (events, Vec::new(), None)
        }
    }
}

impl Open {
    /// Whether a line is of the same model that goes.
    fn goes_with(&self, at: At, line: &UnloadLine, graph: Option<u64>, model: Option<u64>) -> bool {
        let is_near = self
            .stamp
            .zip(at.stamp)
            .is_some_and(|(one, other)| (one - other).abs() <= TOGETHER);
        let agrees = |one: Option<u64>, other: Option<u64>| one.zip(other).is_none_or(|(one, other)| one == other);
        self.event.kind != LoggedEventKind::Load
            && self.lines & bit(line) == 0
            && is_near
            && agrees(self.event.graph, graph)
            && agrees(self.event.model, model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(policy: Option<u64>, lines: &[(i64, Says)]) -> (Vec<LoggedEvent>, Option<u64>) {
        let mut events = Events::new(policy);
        for (position, (stamp, says)) in (0..).zip(lines) {
            let at = At {
                stamp: Some(*stamp),
                file: 0,
                position,
            };
            events.take(at, says, |name| name.rsplit('_').next()?.parse().ok());
        }
        let (events, _, peak) = events.finish(true);
        (events, peak)
    }

    fn weights(graph: u64, bytes: u64) -> Says {
        Says::Weights {
            graph,
            bytes: Some(bytes),
        }
    }

    fn features(graph: u64, bytes: u64, is_extra: bool) -> Says {
        Says::Features {
            graph,
            bytes: Some(bytes),
            is_extra,
        }
    }

    fn metrics(name: &str) -> Says {
        Says::Unload(UnloadLine::Metrics {
            graph: name.to_owned(),
            freed: Some(110),
            shared: None,
        })
    }

    #[test]
    fn lines_of_one_model_are_one_event() {
        let done = Says::Unload(UnloadLine::Done {
            graph: Some(1),
            model: Some(7),
            is_evicted: true,
        });
        let (events, peak) = story(
            Some(0),
            &[
                (0, Says::Params { model: 7 }),
                (1, weights(1, 10)),
                (2, features(1, 100, false)),
                (3, features(1, 5, true)),
                (5, metrics("g_1")),
                (6, done),
                (9, weights(1, 10)),
            ],
        );
        let told: Vec<_> = events
            .iter()
            .map(|one| (one.kind, one.model, one.feature_map, one.reserved))
            .collect();
        assert_eq!(
            told,
            [
                (LoggedEventKind::Load, Some(7), Some(105), Some(115)),
                (LoggedEventKind::Evict, Some(7), None, Some(0)),
                (LoggedEventKind::Load, None, Some(0), Some(10)),
            ]
        );
        assert_eq!(peak, Some(115));
    }

    #[test]
    fn features_alone_load_again_each_time() {
        let (events, _) = story(None, &[(0, features(1, 8, false)), (9, features(1, 8, false))]);
        assert_eq!((events.len(), events[1].reserved), (2, Some(16)));
    }

    #[test]
    fn the_arena_counts_under_policy_2_and_pages_under_4() {
        let total = |held| Says::ArenaTotal {
            held: Some(held),
            used: None,
            peak: None,
        };
        let lines = [
            (0, weights(1, 10)),
            (1, total(50)),
            (2, features(1, 40, false)),
            (3, Says::ArenaUsers(0)),
        ];
        assert_eq!(story(Some(2), &lines).1, Some(60));
        let page = |bytes, is_shared| Says::Pages { bytes, is_shared };
        let lines = [
            (0, page(2, Some(false))),
            (1, page(8, Some(true))),
            (2, page(16, Some(true))),
            (3, page(8, None)),
            (4, page(0, None)),
            (5, features(1, 40, false)),
        ];
        assert_eq!(story(Some(4), &lines).1, Some(18));
        assert_eq!(story(Some(4), &lines).0[0].reserved, Some(2));
        assert_eq!(story(Some(3), &lines).1, Some(42));
    }
}
