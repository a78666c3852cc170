//! What several files hold, as one source: graphs become one session, recordings lanes beside them.
//!
//! Invariant: no two things of a kind have one name, so that each can be asked for by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::graph_names::{graph_names, names_kept, names_moved};
use highwater_model::workload::{
    AllocationTrace, BlockProgram, GraphEntry, Lifetimes, ProblemEntry, Recording, Source, Tape,
};

/// What is shown, the recordings beside it, and a sentence for each kind that is left out.
pub(super) type Merged = (Source, Vec<Arc<Recording>>, Vec<String>);

/// Everything that was read, kind by kind, in the order of the files.
#[derive(Debug, Default)]
pub(super) struct Merge {
    pub(super) graphs: Vec<GraphEntry>,
    /// By graph: its source; graphs without one, behind them, are of no file.
    origins: Vec<usize>,
    pub(super) recordings: Vec<Arc<Recording>>,
    lifetimes: Vec<(String, Arc<Lifetimes>)>,
    problems: Vec<Arc<ProblemEntry>>,
    traces: Vec<Arc<AllocationTrace>>,
    tapes: Vec<Arc<Tape>>,
    programs: Vec<Arc<BlockProgram>>,
    /// Names that problems, traces and tapes have so far.
    names: UniqueNames,
}

/// What names of graphs became of other names.
#[derive(Debug, Default)]
pub(super) struct GivenNames {
    /// Other names of graphs, each with the name that the graph has.
    pub(super) aliases: BTreeMap<String, String>,
    /// Names that graphs had, each with the name that the graph has in its place.
    pub(super) renamed: BTreeMap<String, String>,
}

/// Hands out names, each once. O(log n) a name.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: BTreeSet<String>,
    /// Names only ever become taken, so that numbers below the last one tried stay taken.
    next: BTreeMap<String, u32>,
}

impl UniqueNames {
    /// The name, or where it is taken the name with the lowest number that makes it new.
    pub(super) fn take(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        if self.taken.contains(name) {
            let number = self.next.entry(name.to_owned()).or_insert(2);
            while self.taken.contains(&unique) {
                unique = format!("{name} ({number})");
                *number += 1;
            }
        }
        self.taken.insert(unique.clone());
        unique
    }

    /// The name; where it is taken, the name with the file's before it.
    fn take_of(&mut self, name: &str, prefix: &str) -> String {
        if self.taken.contains(name) && !prefix.is_empty() {
            return self.take(&format!("{prefix}: {name}"));
        }
        self.take(name)
    }
}

impl Merge {
    /// Adds what a file held; `prefix` goes before the names of its recordings, where there are several files, and before
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

    /// Says that the graphs that were added since the last call are of a source, by its position.
    pub(super) fn of_source(&mut self, position: usize) {
        self.origins.resize(self.graphs.len(), position);
    }

    /// Gives each graph a name of its own. What sources are called now and were called when names were given says what graphs
    /// are called; the names that `kept` mentions stay, where it is given.
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
            // Where every source is what it was, other names are other names, and no more.
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

    /// The graphs, each with what its source is called.
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

    /// The kind that is shown, in a fixed order of preference; recordings stand beside graphs, and are the source where
    /// there is nothing else. Of the kinds that are left out a sentence is said each.
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
        // Recordings that only measured how long ops took are nothing to look at beside something that is.
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
        let left = there.skip(1).map(left_out).collect();
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

/// What is said of a kind that is not shown.
fn left_out((one, many, count): (&str, &str, usize)) -> String {
    match count {
        1 => format!("1 {one} is not shown beside what is; open its file alone"),
        _ => format!("{count} {many} are not shown beside what is; open their files alone"),
    }
}

/// An entry under a name; the same where it has that already.
fn named<T: Clone>(entry: Arc<T>, name: String, field: impl Fn(&mut T) -> &mut String) -> Arc<T> {
    // Nobody else holds it yet: nothing is copied.
    let mut entry = Arc::unwrap_or_clone(entry);
    *field(&mut entry) = name;
    Arc::new(entry)
}

/// A name that an earlier graph has gets the lowest number that makes it new. O(n log n).
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
