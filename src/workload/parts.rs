//! What a session's files hold that can be looked at by itself: one of several graphs, a graph that ops call or repeat, an
//! arena as its compiler dumped it.
//!
//! In: a workload. Out: its parts, each name once, and the workload of one of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{GraphEntry, ProblemEntry, Source, Workload};

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// One of several graphs of the session.
    Graph(GraphEntry),
    /// A graph that ops call, branch to or repeat: position of the session's graph, and of the body in it.
    Body(usize, usize),
    /// An arena with the compiler's own live ranges and, where it was dumped, its plan.
    Arena(Arc<ProblemEntry>),
}

impl PartOf {
    /// What it is, in a few words.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Graph(_) => "one of the graphs alone",
            Self::Body(..) => "a graph that ops call, branch to or repeat",
            Self::Arena(arena) if arena.recorded.is_some() => "an arena as the compiler dumped it, with its plan",
            Self::Arena(_) => "an arena as the compiler dumped it",
        }
    }
}

/// Something that can be looked at by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; no two parts of a workload have the same.
    pub name: String,
    /// What it is.
    pub of: PartOf,
}

impl Workload {
    /// The parts: graphs where there are several, then for each graph what it calls and its arenas. Of equal names the
    /// first. O(parts log parts).
    pub fn parts(&self) -> Vec<Part> {
        let graphs = self.graphs();
        let mut parts = Vec::new();
        if graphs.len() > 1 {
            let alone = |entry: &GraphEntry| Part {
                name: entry.name.clone(),
                of: PartOf::Graph(entry.clone()),
            };
            parts.extend(graphs.iter().map(alone));
        }
        for (graph, entry) in graphs.iter().enumerate() {
            let bodies = entry.bodies.iter().enumerate().map(|(position, body)| Part {
                name: body.name().to_owned(),
                of: PartOf::Body(graph, position),
            });
            parts.extend(bodies);
            let arenas = entry.dumped.iter().flat_map(|dumped| &dumped.arenas);
            parts.extend(arenas.map(|arena| Part {
                name: arena.name.clone(),
                of: PartOf::Arena(Arc::clone(arena)),
            }));
        }
        let mut known = BTreeSet::new();
        parts.retain(|part| known.insert(part.name.clone()));
        parts
    }

    /// The workload of a part of this one alone. Recordings stay beside a graph of the session: they are of a run of it.
    /// They do not stay beside what the session does not run by itself.
    #[must_use]
    pub fn of_part(&self, part: &Part) -> Self {
        let (source, measured) = match &part.of {
            PartOf::Graph(entry) => (Source::Graphs(vec![entry.clone()]), self.measured.clone()),
            PartOf::Body(graph, body) => {
                let entry = self.graphs().get(*graph).and_then(|entry| entry.body_alone(*body));
                (Source::Graphs(entry.into_iter().collect()), Vec::new())
            }
            PartOf::Arena(arena) => (Source::Problems(vec![Arc::clone(arena)]), Vec::new()),
        };
        Self {
            name: part.name.clone(),
            source,
            measured,
        }
    }
}

impl GraphEntry {
    /// A body as the graph that runs, with what it runs itself; `None` where there is no such body.
    fn body_alone(&self, position: usize) -> Option<Self> {
        let body = self.bodies.get(position)?;
        let number = u32::try_from(position + 1).ok()?;
        // Number 0 is the graph that runs: the body takes the place of the entry's own, whose uses fall away.
        let uses = self.uses.iter().filter(|one| one.graph != 0).cloned().map(|mut one| {
            if one.graph == number {
                one.graph = 0;
            }
            one
        });
        Some(Self {
            bodies: self.bodies.clone(),
            uses: uses.collect(),
            ..Self::new(body.name().to_owned(), Arc::clone(body))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, GraphBuilder};
    use crate::workload::Dumped;

    fn graph(name: &str) -> Arc<Graph> {
        Arc::new(GraphBuilder::new(name).finish().expect("an empty graph is valid"))
    }

    fn entry(name: &str, bodies: &[&str], arenas: &[&str]) -> GraphEntry {
        let arena = |name: &&str| {
            Arc::new(ProblemEntry {
                name: (*name).to_owned(),
                ..ProblemEntry::default()
            })
        };
        GraphEntry {
            bodies: bodies.iter().map(|name| graph(name)).collect(),
            dumped: Some(Arc::new(Dumped {
                arenas: arenas.iter().map(arena).collect(),
                ..Dumped::default()
            })),
            ..GraphEntry::new(name.to_owned(), graph(name))
        }
    }

    #[track_caller]
    fn check(entries: Vec<GraphEntry>, expected: &[&str]) {
        let workload = Workload::new("session".to_owned(), Source::Graphs(entries));
        let parts = workload.parts();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, expected);
        for part in &parts {
            let alone = workload.of_part(part);
            assert_eq!(alone.name, part.name);
            match &part.of {
                PartOf::Arena(arena) => assert_eq!(alone.problems(), [Arc::clone(arena)]),
                PartOf::Body(graph, body) => {
                    assert_eq!(alone.graphs()[0].graph, workload.graphs()[*graph].bodies[*body]);
                }
                PartOf::Graph(entry) => assert_eq!(alone.graphs(), std::slice::from_ref(entry)),
            }
        }
    }

    #[test]
    fn each_part_can_be_looked_at_alone() {
        check(vec![entry("main", &[], &[])], &[]);
        check(
            vec![entry("main", &["loop", "branch"], &["temp"])],
            &["loop", "branch", "temp"],
        );
        check(
            vec![entry("a", &["loop"], &[]), entry("b", &["loop"], &["temp"])],
            &["a", "b", "loop", "temp"],
        );
    }
}
