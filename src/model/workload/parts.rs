//! Parts of a session that can be viewed alone: one of several graphs, a body that ops run, a dumped arena.
//!
//! In: a workload. Out: its parts with unique names, and the workload of one of them.

use std::sync::Arc;

use super::{Dumped, GraphEntry, ProblemEntry, Source, UniqueNames, Workload};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// One of several graphs of the session.
    Graph(GraphEntry),
    /// A graph that ops call, branch to or repeat: position of the session's graph, and of the body in it.
    Body(usize, usize),
    /// An arena with the compiler's own live ranges and, where it was dumped, its plan.
    Arena(Arc<ProblemEntry>),
    /// One of several recordings, problems, traces, tapes or programs.
    Entry(Source),
}

impl PartOf {
    /// A description in a few words.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Graph(_) => "one of the graphs alone",
            Self::Body(..) => "a graph that ops call, branch to or repeat",
            Self::Arena(arena) if arena.recorded.is_some() => "an arena as the compiler dumped it, with its plan",
            Self::Arena(_) => "an arena as the compiler dumped it",
            Self::Entry(_) => "one of several alone",
        }
    }
}

/// A part that can be viewed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Unique within the workload.
    pub name: String,
    pub of: PartOf,
}

impl Workload {
    /// The parts: graphs, then for each graph its bodies and its arenas, those of the dump and those of `found`, by
    /// position of the graph; of recordings those of their processes. A name that is taken gets the graph's name as prefix.
    /// O(parts log parts).
    pub fn parts(&self, found: &[(usize, Arc<ProblemEntry>)]) -> Vec<Part> {
        let mut parts = Parts::default();
        for (name, source) in self.source.entries() {
            parts.add("", &name, PartOf::Entry(source));
        }
        for entry in self.graphs() {
            parts.add("", &entry.name, PartOf::Graph(entry.clone()));
        }
        for (graph, entry) in self.graphs().iter().enumerate() {
            for (position, body) in entry.bodies.iter().enumerate() {
                parts.add(&entry.name, body.name(), PartOf::Body(graph, position));
            }
            let stated = entry.dumped.iter().flat_map(|dumped| &dumped.arenas);
            let found = found.iter().filter(|(of, _)| *of == graph).map(|(_, arena)| arena);
            for arena in stated.chain(found) {
                parts.add(&entry.name, &arena.name, PartOf::Arena(Arc::clone(arena)));
            }
        }
        for (recording, arena) in found.iter().filter(|_| self.graphs().is_empty()) {
            let of = self.recordings().get(*recording).map_or("", |one| &one.name);
            parts.add(of, &arena.name, PartOf::Arena(Arc::clone(arena)));
        }
        parts.list
    }

    /// The workload of one part. Recordings stay with a graph of the session, because they are of a run of it, but not
    /// with parts that the session does not run by themselves.
    #[must_use]
    pub fn of_part(&self, part: &Part) -> Self {
        let (source, measured) = match &part.of {
            PartOf::Graph(entry) => (Source::Graphs(vec![entry.clone()]), self.measured.clone()),
            PartOf::Body(graph, body) => {
                let entry = self.graphs().get(*graph).and_then(|entry| entry.body_alone(*body));
                let entry = entry.map(|entry| GraphEntry {
                    name: part.name.clone(),
                    ..entry
                });
                (Source::Graphs(entry.into_iter().collect()), Vec::new())
            }
            PartOf::Entry(source) => (source.clone(), Vec::new()),
            PartOf::Arena(arena) => {
                let arena = ProblemEntry {
                    name: part.name.clone(),
                    ..ProblemEntry::clone(arena)
                };
                (Source::Problems(vec![Arc::new(arena)]), Vec::new())
            }
        };
        Self {
            name: part.name.clone(),
            source,
            measured,
            schedule: Vec::new(),
        }
        .with_logged_graphs()
    }
}

impl Source {
    /// For sources other than graphs: each entry as a single source, with its name; empty where there is one entry.
    fn entries(&self) -> Vec<(String, Self)> {
        fn each<T: Clone>(
            list: &[T],
            name: impl Fn(&T) -> &str,
            alone: impl Fn(Vec<T>) -> Source,
        ) -> Vec<(String, Source)> {
            let entry = |one: &T| (name(one).to_owned(), alone(vec![one.clone()]));
            if list.len() > 1 {
                list.iter().map(entry).collect()
            } else {
                Vec::new()
            }
        }
        match self {
            Self::Graphs(_) => Vec::new(),
            Self::Lifetimes(list) => each(list, |one| &one.0, Self::Lifetimes),
            Self::Problems(list) => each(list, |one| &one.name, Self::Problems),
            Self::Traces(list) => each(list, |one| &one.name, Self::Traces),
            Self::Tapes(list) => each(list, |one| &one.name, Self::Tapes),
            Self::Blocks(list) => each(list, |one| &one.name, Self::Blocks),
            Self::Recordings(list) => {
                let held: Vec<_> = list.iter().filter(|one| one.has_content()).cloned().collect();
                each(&held, |one| &one.name, Self::Recordings)
            }
        }
    }
}

/// Parts with unique names.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    names: UniqueNames,
}

impl Parts {
    fn add(&mut self, graph: &str, name: &str, of: PartOf) {
        let name = self.names.take_of(name, graph);
        self.list.push(Part { name, of });
    }
}

impl GraphEntry {
    /// A body as the main graph, with the bodies that it runs; `None` where there is no such body.
    fn body_alone(&self, position: usize) -> Option<Self> {
        let body = self.bodies.get(position)?;
        let number = u32::try_from(position + 1).ok()?;
        // Number 0 is the main graph: the body replaces it, and its uses are dropped.
        let uses = self.uses.iter().filter(|one| one.graph != 0).cloned().map(|mut one| {
            if one.graph == number {
                one.graph = 0;
            }
            one
        });
        // The runtime places a body as it places the main graph.
        let alignment = self.dumped.as_ref().and_then(|dumped| dumped.alignment);
        let of_runtime = |alignment| {
            Arc::new(Dumped {
                alignment: Some(alignment),
                ..Dumped::default()
            })
        };
        Some(Self {
            bodies: self.bodies.clone(),
            uses: uses.collect(),
            dumped: alignment.map(of_runtime),
            ..Self::new(body.name().to_owned(), Arc::clone(body))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, GraphBuilder};

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

    #[test]
    fn many_bodies_of_one_name_are_numbered_behind_their_graph() {
        let bodies = vec!["body"; 3_000];
        let parts = Workload::new("s".to_owned(), Source::Graphs(vec![entry("main", &bodies, &[])])).parts(&[]);
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names[..4], ["main", "body", "main: body", "main: body (2)"]);
        assert_eq!(names.last(), Some(&"main: body (2999)"));
    }

    #[track_caller]
    fn check(entries: Vec<GraphEntry>, expected: &[&str]) {
        let workload = Workload::new("session".to_owned(), Source::Graphs(entries));
        let parts = workload.parts(&[]);
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, expected);
        for part in &parts {
            let alone = workload.of_part(part);
            assert_eq!(alone.name, part.name);
            match &part.of {
                PartOf::Arena(_) => assert_eq!(alone.problems()[0].name, part.name),
                PartOf::Body(graph, body) => {
                    assert_eq!(alone.graphs()[0].graph, workload.graphs()[*graph].bodies[*body]);
                }
                PartOf::Graph(entry) => assert_eq!(alone.graphs(), std::slice::from_ref(entry)),
                PartOf::Entry(source) => assert_eq!(alone.source, *source),
            }
        }
    }

    #[test]
    fn each_part_can_be_looked_at_alone() {
        check(vec![entry("main", &[], &[])], &["main"]);
        check(
            vec![entry("main", &["loop", "branch"], &["temp"])],
            &["main", "loop", "branch", "temp"],
        );
        // Equal names do not hide parts.
        check(
            vec![
                entry("a", &["loop", "b"], &["temp"]),
                entry("b", &["loop"], &["temp", "temp"]),
            ],
            &["a", "b", "loop", "a: b", "temp", "b: loop", "b: temp", "b: temp (2)"],
        );
        check(vec![entry("g", &["g"], &[])], &["g", "g: g"]);
    }
}
