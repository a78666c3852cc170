//! What several files hold, as one source: graphs become one session, recordings lanes beside them.

use std::sync::Arc;

use crate::workload::{AllocationTrace, BlockProgram, GraphEntry, Lifetimes, ProblemEntry, Recording, Source, Tape};

/// What is shown, the recordings beside it, and what is left out, by kind.
pub(super) type Merged = (Source, Vec<Arc<Recording>>, Vec<(&'static str, usize)>);

/// Everything that was read, kind by kind, in the order of the files.
#[derive(Debug, Default)]
pub(super) struct Merge {
    pub(super) graphs: Vec<GraphEntry>,
    pub(super) recordings: Vec<Arc<Recording>>,
    lifetimes: Vec<(String, Arc<Lifetimes>)>,
    problems: Vec<Arc<ProblemEntry>>,
    traces: Vec<Arc<AllocationTrace>>,
    tapes: Vec<Arc<Tape>>,
    programs: Vec<Arc<BlockProgram>>,
}

impl Merge {
    /// Adds what a file held; `prefix` goes before the names of its recordings, where there are several files.
    pub(super) fn add(&mut self, source: Source, measured: Vec<Arc<Recording>>, prefix: &str) {
        self.add_recordings(measured, prefix);
        match source {
            Source::Graphs(entries) => self.graphs.extend(entries),
            Source::Lifetimes(entries) => self.lifetimes.extend(entries),
            Source::Problems(entries) => self.problems.extend(entries),
            Source::Traces(entries) => self.traces.extend(entries),
            Source::Tapes(entries) => self.tapes.extend(entries),
            Source::Blocks(entries) => self.programs.extend(entries),
            Source::Recordings(entries) => self.add_recordings(entries, prefix),
        }
    }

    fn add_recordings(&mut self, entries: Vec<Arc<Recording>>, prefix: &str) {
        for entry in entries {
            let named = if prefix.is_empty() {
                entry
            } else {
                // Nobody else holds it yet: nothing is copied.
                let mut recording = Arc::unwrap_or_clone(entry);
                recording.name = format!("{prefix}: {}", recording.name);
                Arc::new(recording)
            };
            self.recordings.push(named);
        }
    }

    /// The kind that is shown, in a fixed order of preference; recordings stand beside graphs, and are the source where
    /// there is nothing else. The kinds that are left out are named, with their number.
    pub(super) fn finish(self) -> Merged {
        let Self {
            graphs,
            recordings,
            lifetimes,
            problems,
            traces,
            tapes,
            programs,
        } = self;
        let mut left = vec![
            ("graphs", graphs.len()),
            ("recordings", if graphs.is_empty() { recordings.len() } else { 0 }),
            ("placement problems", problems.len()),
            ("lists of live ranges", lifetimes.len()),
            ("allocation traces", traces.len()),
            ("tapes", tapes.len()),
            ("programs of blocks", programs.len()),
        ];
        left.retain(|(_, count)| *count > 0);
        if !left.is_empty() {
            left.remove(0);
        }
        let source = if !graphs.is_empty() {
            Source::Graphs(graphs)
        } else if !recordings.is_empty() {
            return (Source::Recordings(recordings), Vec::new(), left);
        } else if !problems.is_empty() {
            Source::Problems(problems)
        } else if !lifetimes.is_empty() {
            Source::Lifetimes(lifetimes)
        } else if !traces.is_empty() {
            Source::Traces(traces)
        } else if !tapes.is_empty() {
            Source::Tapes(tapes)
        } else if !programs.is_empty() {
            Source::Blocks(programs)
        } else {
            Source::Graphs(graphs)
        };
        (source, recordings, left)
    }
}
