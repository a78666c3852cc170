//! Merges the content of several files into one source: graphs become one session, recordings become lanes.
//!
//! Invariant: names are unique within a kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::graph_names::{graph_names, names_kept, names_moved};
use highwater_analysis::{compare_ops, join_logs};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{
    AllocationTrace, BlockProgram, GraphEntry, Lifetimes, ProblemEntry, Recording, Source, Tape, UniqueNames,
};

/// The source that is shown, the recordings, and a sentence for each kind that is left out.
pub(super) type Merged = (Source, Vec<Arc<Recording>>, Vec<String>);

/// The content by kind, in the order of the files.
#[derive(Debug, Default)]
pub(super) struct Merge {
    pub(super) graphs: Vec<GraphEntry>,
    /// By graph: the position of its source. Graphs behind these have no file.
    origins: Vec<usize>,
    pub(super) recordings: Vec<Arc<Recording>>,
    lifetimes: Vec<(String, Arc<Lifetimes>)>,
    problems: Vec<Arc<ProblemEntry>>,
    traces: Vec<Arc<AllocationTrace>>,
    tapes: Vec<Arc<Tape>>,
    programs: Vec<Arc<BlockProgram>>,
    /// Names of problems, traces and tapes.
    names: UniqueNames,
}

/// Aliases and renamings of graphs.
#[derive(Debug, Default)]
pub(super) struct GivenNames {
    /// Other names, each with the current name.
    pub(super) aliases: BTreeMap<String, String>,
    /// Former names, each with the current name.
    pub(super) renamed: BTreeMap<String, String>,
}

impl Merge {
    /// Adds the content of a file. `prefix` goes before the names of its recordings, where there are several files, and before
    /// other names that are taken.
    pub(super) fn add(&mut self, source: Source, measured: Vec<Arc<Recording>>, prefix: &str) {
        self.add_recordings(measured, prefix);
        match source {
            Source::Graphs(entries) => self.graphs.extend(entries),
            Source::Lifetimes(entries) => {
                for (name, lifetimes) in entries {
                    self.lifetimes.push((self.names.take_of(&name, prefix), lifetimes));
                }
            }
            Source::Problems(entries) => {
                for entry in entries {
                    let name = self.names.take_of(&entry.name, prefix);
                    self.problems.push(named(entry, name, |entry| &mut entry.name));
                }
            }
            Source::Traces(entries) => {
                for entry in entries {
                    let name = self.names.take_of(&entry.name, prefix);
                    self.traces.push(named(entry, name, |entry| &mut entry.name));
                }
            }
            Source::Tapes(entries) => {
                for entry in entries {
                    let name = self.names.take_of(&entry.name, prefix);
                    self.tapes.push(named(entry, name, |entry| &mut entry.name));
                }
            }
            Source::Blocks(entries) => self.programs.extend(entries),
            Source::Recordings(entries) => self.add_recordings(entries, prefix),
        }
    }

    /// Joins logs with the graphs, or op lists, of their runs.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(super) fn join_logs(
        &mut self,
        diagnostics: &mut Diagnostics,
        progress: &Progress<'_>,
    ) -> Result<(), Cancelled> {
        if self.graphs.is_empty() {
            return compare_ops(&self.problems, &self.recordings, diagnostics, progress);
        }
        join_logs(&mut self.graphs, &self.recordings, diagnostics, progress)
    }

    /// Assigns the graphs that were added since the last call to a source, by its position.
    pub(super) fn of_source(&mut self, position: usize) {
        self.origins.resize(self.graphs.len(), position);
    }

    /// Gives each graph a unique name, from the current titles of sources and those when names were given; names in `kept` stay,
    /// where it is given.
    pub(super) fn name_graphs(
        &mut self,
        titles: &[String],
        before: &[String],
        kept: Option<&BTreeSet<String>>,
    ) -> GivenNames {
        let (now, before) = (self.with_files(titles), self.with_files(before));
        let (names, given) = if let Some(mentioned) = kept {
            let (names, renamed) = names_kept(&before, &now, mentioned);
            let aliases = BTreeMap::new();
            (names, GivenNames { aliases, renamed })
        } else {
            let found = graph_names(&now);
            // Where no source was located, nothing is renamed.
            let renamed = if before == now {
                BTreeMap::new()
            } else {
                names_moved(&before, &found)
            };
            let aliases = found.aliases;
            (found.names, GivenNames { aliases, renamed })
        };
        for (entry, name) in self.graphs.iter_mut().zip(names) {
            entry.name = name;
        }
        given
    }

    /// The graphs, each with the title of its source.
    fn with_files<'a>(&'a self, titles: &'a [String]) -> Vec<(&'a str, &'a str)> {
        let file = |position: usize| {
            let origin = self.origins.get(position);
            origin.and_then(|origin| titles.get(*origin)).map_or("", String::as_str)
        };
        let graphs = self.graphs.iter().enumerate();
        graphs
            .map(|(position, entry)| (entry.name.as_str(), file(position)))
            .collect()
    }

    fn add_recordings(&mut self, entries: Vec<Arc<Recording>>, prefix: &str) {
        for entry in entries {
            let name = self.names.take(&match prefix {
                "" => entry.name.clone(),
                prefix => format!("{prefix}: {}", entry.name),
            });
            self.recordings.push(named(entry, name, |entry| &mut entry.name));
        }
    }

    /// The kind that is shown, in a fixed order of preference; recordings are shown with graphs, and are the source where there is
    /// nothing else. Each kind that is left out gets a sentence.
    pub(super) fn finish(self) -> Merged {
        let Self {
            mut graphs,
            origins: _,
            recordings,
            lifetimes,
            problems,
            traces,
            tapes,
            programs,
            names: _,
        } = self;
        number_names(&mut graphs);
        let n_others = lifetimes.len() + problems.len() + traces.len() + tapes.len() + programs.len();
        // Recordings that hold only times of ops show nothing themselves.
        let is_held = recordings.iter().any(|recording| recording.has_content());
        let is_shown = graphs.is_empty() && (is_held || n_others == 0);
        let n_recordings = if is_shown { recordings.len() } else { 0 };
        let kinds = [
            ("graph", "graphs", graphs.len()),
            ("recording", "recordings", n_recordings),
            ("placement problem", "placement problems", problems.len()),
            ("list of live ranges", "lists of live ranges", lifetimes.len()),
            ("allocation trace", "allocation traces", traces.len()),
            ("tape", "tapes", tapes.len()),
            ("program of blocks", "programs of blocks", programs.len()),
        ];
        let there = kinds.into_iter().filter(|(.., count)| *count > 0);
        // The first kind is shown.
        let left = there
            .skip(1)
            .map(|(one, many, count)| left_out(one, many, count))
            .collect();
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

/// The sentence on a kind that is not shown.
fn left_out(one: &str, many: &str, count: usize) -> String {
    match count {
        1 => format!("1 {one} is not shown with the others; open its file alone"),
        _ => format!("{count} {many} are not shown with the others; open their files alone"),
    }
}

/// The entry under another name.
fn named<T: Clone>(entry: Arc<T>, name: String, field: impl Fn(&mut T) -> &mut String) -> Arc<T> {
    // There is one reference: nothing is copied.
    let mut entry = Arc::unwrap_or_clone(entry);
    *field(&mut entry) = name;
    Arc::new(entry)
}

/// Numbers names that an earlier graph has. O(n log n).
fn number_names(graphs: &mut [GraphEntry]) {
    let mut names = UniqueNames::default();
    for entry in graphs {
        entry.name = names.take(&entry.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::graph::GraphBuilder;

    fn numbered(names: &[&str]) -> Vec<String> {
        let graph = Arc::new(GraphBuilder::new("").finish().expect("no op is a graph"));
        let entry = |name: &&str| GraphEntry::new((*name).to_owned(), Arc::clone(&graph));
        let mut graphs: Vec<GraphEntry> = names.iter().map(entry).collect();
        number_names(&mut graphs);
        graphs.into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn names_that_stand_twice_get_the_lowest_free_number() {
        assert_eq!(numbered(&["a", "a (2)", "a", "a"]), ["a", "a (2)", "a (3)", "a (4)"]);
        assert_eq!(numbered(&["a", "a", "a (2)", "b"]), ["a", "a (2)", "a (2) (2)", "b"]);
    }

    #[test]
    fn problems_of_one_name_are_told_apart_by_their_files() {
        let mut merge = Merge::default();
        for file in ["rank0", "rank1", "rank1"] {
            let problem = ProblemEntry {
                name: "host/0".to_owned(),
                ..ProblemEntry::default()
            };
            merge.add(Source::Problems(vec![Arc::new(problem)]), Vec::new(), file);
        }
        let (source, ..) = merge.finish();
        let Source::Problems(problems) = source else {
            panic!("problems")
        };
        let names: Vec<&str> = problems.iter().map(|problem| problem.name.as_str()).collect();
        assert_eq!(names, ["host/0", "rank1: host/0", "rank1: host/0 (2)"]);
    }

    #[test]
    fn many_graphs_of_one_name_are_numbered_at_once() {
        let names = numbered(&vec!["main"; 20_000]);
        assert_eq!(names.last().map(String::as_str), Some("main (20000)"));
    }
}
