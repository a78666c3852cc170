//! What the graphs of several files are called: by their own names, and where files have one name for different graphs,
//! after their files.
//!
//! ```text
//! main_graph of bert.onnx, main_graph of vit.stripped.onnx, train of t.json     "bert", "vit", "train"
//! ```
//!
//! In: names with their files. Out: a name for each, each once, and what else they were or would be called, so that schedules
//! that were written beside other files are still understood.

use std::collections::{BTreeMap, BTreeSet};

use super::merge::UniqueNames;

/// Names, and other names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GraphNames {
    /// By graph, each once.
    pub(super) names: Vec<String>,
    /// Other names of graphs, each with the name that the graph has; none of them is a graph's name.
    pub(super) aliases: BTreeMap<String, String>,
}

/// Names graphs, each given by its own name and its file's; an empty one stands for no file. O(n log n).
pub(super) fn graph_names(graphs: &[(&str, &str)]) -> GraphNames {
    let mut files_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut n_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, file) in graphs {
        files_of.entry(name).or_default().insert(file);
        *n_of.entry(file).or_default() += 1;
    }
    let mut files_by_stem: BTreeMap<&str, usize> = BTreeMap::new();
    for file in n_of.keys() {
        *files_by_stem.entry(stem(file)).or_default() += 1;
    }
    let after_file = |name: &str, file: &str| {
        let stem = stem(file);
        let short = if files_by_stem[stem] == 1 { stem } else { file };
        if n_of[file] == 1 {
            short.to_owned()
        } else {
            format!("{short}: {name}")
        }
    };
    let (mut names, mut numbered) = (UniqueNames::default(), UniqueNames::default());
    let mut found = GraphNames::default();
    let mut others = Vec::with_capacity(2 * graphs.len());
    for (name, file) in graphs {
        let other = (!file.is_empty()).then(|| after_file(name, file));
        let is_shared = files_of[name].len() > 1;
        let own = names.take(other.as_deref().filter(|_| is_shared).unwrap_or(name));
        others.push((numbered.take(name), own.clone()));
        others.extend(other.map(|other| (other, own.clone())));
        found.names.push(own);
    }
    let taken: BTreeSet<&str> = found.names.iter().map(String::as_str).collect();
    for (other, own) in others.into_iter().filter(|(other, _)| !taken.contains(other.as_str())) {
        found.aliases.entry(other).or_insert(own);
    }
    found
}

/// A file's name without what says its format: `.onnx`, `.stripped.onnx`, `.json.gz`.
fn stem(file: &str) -> &str {
    let packed = file.strip_suffix(".gz").unwrap_or(file);
    let format = packed.rsplit_once('.').map_or(packed, |(stem, _)| stem);
    let stem = format.strip_suffix(".stripped").unwrap_or(format);
    if stem.is_empty() { file } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(graphs: &[(&str, &str)], names: &[&str], aliases: &[(&str, &str)]) {
        let found = graph_names(graphs);
        assert_eq!(found.names, names);
        let told: Vec<(&str, &str)> = found
            .aliases
            .iter()
            .map(|(other, own)| (other.as_str(), own.as_str()))
            .collect();
        assert_eq!(told, aliases);
    }

    #[test]
    fn graphs_of_one_name_are_called_after_their_files() {
        check(&[("main", "a.onnx")], &["main"], &[("a", "main")]);
        check(
            &[("main", "net.dyn.stripped.onnx"), ("main", "b.json.gz"), ("c", "c.pb")],
            &["net.dyn", "b", "c"],
            &[("main", "net.dyn"), ("main (2)", "b")],
        );
        // Of a file with several graphs the file's name alone would not tell which.
        check(
            &[("main", "a.onnx"), ("loss", "a.onnx"), ("main", "b.onnx")],
            &["a: main", "loss", "b"],
            &[("a: loss", "loss"), ("main", "a: main"), ("main (2)", "b")],
        );
    }

    #[test]
    fn where_files_do_not_tell_numbers_do() {
        let files = [("main", "a.onnx"), ("main", "a.json"), ("main", "b.pb")];
        let aliases = [("main", "a.onnx"), ("main (2)", "a.json"), ("main (3)", "b")];
        check(&files, &["a.onnx", "a.json", "b"], &aliases);
        let same = [("main", "a.onnx"), ("main", "a.onnx")];
        check(&same, &["main", "main (2)"], &[("a: main", "main")]);
        check(&[("main", ""), ("main", "")], &["main", "main (2)"], &[]);
        check(
            &[("main", "b.onnx"), ("b", "x.onnx"), ("main", "a.onnx")],
            &["b", "b (2)", "a"],
            &[("main", "b"), ("main (2)", "a"), ("x", "b (2)")],
        );
    }
}
