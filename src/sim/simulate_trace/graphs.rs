//! Static graphs of a trace in the log: their memory, and when it is shown.
//!
//! ```text
//! own blocks      load |=========== A ===========| unload
//! shared arena    load   exec |A|      exec |A|    unload      the arena is there all the time, A only while it runs
//! ```
//!
//! In: outcomes of loads, runs and unloads, with their calls. Out: events. A graph's memory is divided into parts where
//! its arena has several blocks; a part is a copy of the request. Invariant: no two shown parts overlap.

use std::collections::BTreeMap;

use super::super::alloc::{Address, Call, LoadedSegments, RunError, StaticMemory};
use super::super::event::{EventKind, RegionKind, SubjectId};
use super::super::recorder::{NO_REGION, Recorder, RegionPurpose};
use super::super::replay::{Outcome, ReplayRules};
use super::{Held, record_alloc, record_free, subject_of};
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Bytes;
use highwater_model::workload::{GraphIdx, TraceName};

/// Parts of memory: address and bytes.
type Parts = Vec<(Address, Bytes)>;

/// A graph to load: its name, its index among the session's graphs, the number of its request.
pub(super) type LoadRequest = (TraceName, GraphIdx, TensorId);

/// A loaded graph.
#[derive(Debug)]
struct Loaded {
    graph: GraphIdx,
    tensor: TensorId,
    /// Parts that it uses.
    parts: Parts,
    /// Parts available in the first run; later all are.
    at_first: Parts,
    has_run: bool,
    is_running: bool,
    /// Start of each shown part, and its copy.
    shown: Vec<Address>,
}

/// All static graphs.
#[derive(Debug)]
pub(super) struct StaticGraphs {
    shares_arena: bool,
    shares_pages: bool,
    is_documented: bool,
    /// By graph of the session.
    subjects: Vec<SubjectId>,
    loaded: BTreeMap<TraceName, Loaded>,
    /// Shown parts: by start the end, the graph, and the block.
    shown: BTreeMap<Address, (u64, TraceName, Held)>,
    /// Address of the documented arena.
    arena: Option<Address>,
}

impl StaticGraphs {
    pub(super) fn new(rules: &ReplayRules, subjects: Vec<SubjectId>) -> Self {
        let row = rules.policy.row();
        Self {
            shares_arena: row.shares_static_arena,
            shares_pages: row.shares_static_arena && row.expands_pools,
            is_documented: rules.is_documented && row.shares_static_arena && !row.expands_pools,
            subjects,
            loaded: BTreeMap::new(),
            shown: BTreeMap::new(),
            arena: None,
        }
    }

    /// Records a load, met or refused.
    pub(super) fn load(
        &mut self,
        (name, graph, tensor): LoadRequest,
        bytes: Bytes,
        outcome: &Outcome,
        calls: &[Call],
        log: &mut Recorder,
    ) {
        let owner = (!self.shares_arena).then_some(graph);
        log.set_purpose(RegionPurpose::of(RegionKind::Arena, owner));
        self.drop_freed(calls, log);
        log.set_subject(self.subject(graph));
        self.note_arena(outcome, bytes, calls, log);
        log.settle_calls(calls);
        let Outcome::Loaded(loaded) = outcome else { return };
        let parts = self.parts(loaded, bytes);
        let at_first = if self.shares_pages {
            loaded.held.clone()
        } else {
            parts.clone()
        };
        let loaded = Loaded {
            graph,
            tensor,
            parts,
            at_first,
            has_run: false,
            is_running: false,
            shown: Vec::new(),
        };
        self.loaded.insert(name, loaded);
        if !self.shares_arena {
            self.show(name, log);
        }
    }

    /// Records a run or its first half, met or refused; calls that end a whole run are left.
    pub(super) fn begin(&mut self, name: TraceName, outcome: &Outcome, calls: &[Call], log: &mut Recorder) {
        let Some(graph) = self.loaded.get(&name).map(|loaded| loaded.graph) else {
            return log.settle_calls(calls);
        };
        log.set_purpose(RegionPurpose::of(RegionKind::Arena, None));
        log.set_subject(self.subject(graph));
        let Outcome::Ran {
            status, calls_before, ..
        } = outcome
        else {
            return log.settle_calls(calls);
        };
        match status.0 {
            Ok(()) => {
                log.settle_calls(calls.get(..*calls_before).unwrap_or(calls));
                self.start(name, log);
            }
            Err(error) => {
                log.settle_calls(calls);
                log.set_subject(self.subject(graph));
                if error == RunError::MemoryInUse {
                    log.record(EventKind::MemoryInUse, NO_REGION, 0, Bytes::ZERO);
                }
                if let Some(loaded) = self.loaded.get_mut(&name) {
                    loaded.has_run = true;
                }
            }
        }
    }

    /// Records the end of a run.
    pub(super) fn finish(&mut self, name: TraceName, calls: &[Call], statics: &dyn StaticMemory, log: &mut Recorder) {
        self.stop(name, log);
        self.lose(statics, log);
        log.settle_calls(calls);
    }

    /// Records an unload; a running graph ends its run first.
    pub(super) fn unload(
        &mut self,
        name: TraceName,
        outcome: &Outcome,
        calls: &[Call],
        statics: &dyn StaticMemory,
        log: &mut Recorder,
    ) {
        if *outcome == Outcome::Done {
            self.stop(name, log);
            self.hide(name, log);
            self.lose(statics, log);
            if let Some(gone) = self.loaded.remove(&name) {
                log.set_subject(self.subject(gone.graph));
            }
        }
        log.settle_calls(calls);
    }

    fn subject(&self, graph: GraphIdx) -> SubjectId {
        self.subjects[graph.idx()]
    }

    /// One part for a graph's own block; one per used block of a shared arena.
    fn parts(&self, loaded: &LoadedSegments, bytes: Bytes) -> Parts {
        if self.shares_arena {
            return loaded.active.clone();
        }
        let whole = loaded.base.map(|base| (base, bytes));
        whole.into_iter().collect()
    }

    /// Records the change of the documented arena, and stores its address.
    fn note_arena(&mut self, outcome: &Outcome, bytes: Bytes, calls: &[Call], log: &mut Recorder) {
        if !self.is_documented {
            return;
        }
        let malloc = calls.iter().rev().find_map(|call| match call {
            Call::Malloc { at, .. } => Some(Address::device(*at)),
            _ => None,
        });
        let is_freed = calls.iter().any(|call| matches!(call, Call::Free { .. }));
        if bytes > Bytes::ZERO && matches!(outcome, Outcome::Loaded(_)) {
            match (malloc, is_freed) {
                (None, _) => log.record(EventKind::Reuse, NO_REGION, 0, bytes),
                (Some(_), true) => log.record(EventKind::Reallocate, NO_REGION, 0, bytes),
                (Some(_), false) => {}
            }
        }
        self.arena = malloc.or(self.arena);
    }

    fn start(&mut self, name: TraceName, log: &mut Recorder) {
        if self.shares_arena {
            let parts = self.loaded.get(&name).map_or(&[][..], |loaded| &loaded.parts);
            let region = parts.first().map_or(NO_REGION, |(at, _)| log.locate(*at).0);
            log.record(EventKind::Run, region, 0, Bytes::ZERO);
            self.show(name, log);
        }
        if let Some(loaded) = self.loaded.get_mut(&name) {
            loaded.has_run = true;
            loaded.is_running = true;
        }
    }

    fn stop(&mut self, name: TraceName, log: &mut Recorder) {
        let Some(loaded) = self.loaded.get_mut(&name).filter(|loaded| loaded.is_running) else {
            return;
        };
        loaded.is_running = false;
        let graph = loaded.graph;
        if self.shares_arena {
            self.hide(name, log);
        }
        log.set_subject(self.subject(graph));
        if self.shares_pages {
            log.record(EventKind::Run, NO_REGION, 0, Bytes::ZERO);
        }
    }

    /// The engine gives back the pages of a graph's parts, also those of slots that others got at their load: these have
    /// none in their first run, even if it has begun.
    fn lose(&mut self, statics: &dyn StaticMemory, log: &mut Recorder) {
        if !self.shares_pages {
            return;
        }
        for loaded in self.loaded.values_mut() {
            loaded.at_first.retain(|(at, bytes)| !statics.lacks_pages(*at, *bytes));
        }
        let is_lost = |(at, (end, ..)): (&Address, &(u64, TraceName, Held))| {
            let bytes = Bytes(end.saturating_sub(at.offset()));
            statics.lacks_pages(*at, bytes).then_some((*at, bytes))
        };
        let lost: Vec<(Address, Bytes)> = self.shown.iter().filter_map(is_lost).collect();
        for (at, bytes) in lost {
            self.drop_within(at, bytes.get(), log);
        }
    }

    /// Shows the parts of a graph, hiding overlapping parts of others.
    fn show(&mut self, name: TraceName, log: &mut Recorder) {
        let Some(loaded) = self.loaded.get(&name) else { return };
        let (tensor, is_first) = (loaded.tensor, !loaded.has_run);
        let mut parts = if is_first { &loaded.at_first } else { &loaded.parts }.clone();
        if let (Some(arena), Some((at, _))) = (self.arena, parts.first_mut()) {
            *at = arena;
        }
        let mut shown = Vec::with_capacity(parts.len());
        for (copy, (at, bytes)) in (0_u16..).zip(parts).filter(|(_, (_, bytes))| *bytes > Bytes::ZERO) {
            self.drop_within(at, bytes.get(), log);
            let (region, offset) = log.locate(at);
            let held = Held {
                subject: log.set_new_subject(subject_of(tensor, copy), bytes),
                region,
                offset,
                bytes,
                pool: 0,
            };
            record_alloc(log, held);
            let end = at.offset().saturating_add(bytes.get());
            self.shown.insert(at, (end, name, held));
            shown.push(at);
        }
        if let Some(loaded) = self.loaded.get_mut(&name) {
            loaded.shown = shown;
        }
    }

    fn hide(&mut self, name: TraceName, log: &mut Recorder) {
        let shown = self
            .loaded
            .get_mut(&name)
            .map(|loaded| std::mem::take(&mut loaded.shown));
        for at in shown.unwrap_or_default() {
            // Another graph may be shown there by now.
            if self.shown.get(&at).is_some_and(|(_, whose, _)| *whose == name)
                && let Some((_, _, held)) = self.shown.remove(&at)
            {
                record_free(log, held);
            }
        }
    }

    /// Hides blocks that the driver frees.
    fn drop_freed(&mut self, calls: &[Call], log: &mut Recorder) {
        for call in calls {
            if let Call::Free { at, bytes } = call {
                self.drop_within(Address::device(*at), *bytes, log);
            }
        }
    }

    /// Hides parts within a piece of memory.
    fn drop_within(&mut self, at: Address, bytes: u64, log: &mut Recorder) {
        let end = at.plus(bytes);
        while let Some((start, (behind, _, held))) = self.shown.range(..end).next_back() {
            let (start, behind, held) = (*start, *behind, *held);
            if start.is_virtual() != at.is_virtual() || behind <= at.offset() {
                return;
            }
            self.shown.remove(&start);
            record_free(log, held);
        }
    }
}
