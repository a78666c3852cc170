//! Names of the graphs of several files: their own names, or, where files share a name, names after the files.
//!
//! ```text
//! main_graph of bert.onnx, main_graph of vit.stripped.onnx, train of t.json     "bert", "vit", "train"
//! ```
//!
//! In: names with their files. Out: a unique name for each, and aliases, so that schedules written with other files open are
//! still understood. While files are missing, mentioned names stay: the name of a graph must not depend on which of the others
//! can be read.

use std::collections::{BTreeMap, BTreeSet};

use highwater_model::workload::UniqueNames;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GraphNames {
    /// By graph; unique.
    pub(super) names: Vec<String>,
    /// Other names, each with the name of its graph; none is in `names`.
    pub(super) aliases: BTreeMap<String, String>,
}

/// The files of graphs.
#[derive(Debug, Default)]
struct Files<'a> {
    /// Graphs by file.
    n_of: BTreeMap<&'a str, usize>,
    /// Files by name without extensions.
    by_stem: BTreeMap<&'a str, usize>,
}

impl<'a> Files<'a> {
    fn of(graphs: &[(&str, &'a str)]) -> Self {
        let mut files = Self::default();
        for (_, file) in graphs {
            *files.n_of.entry(file).or_default() += 1;
        }
        for file in files.n_of.keys() {
            *files.by_stem.entry(stem(file)).or_default() += 1;
        }
        files
    }

    /// A graph's name after its file, with the file's extensions or without.
    fn called(&self, name: &str, file: &str, is_whole: bool) -> String {
        let short = if is_whole { file } else { stem(file) };
        if self.n_of.get(file) == Some(&1) {
            short.to_owned()
        } else {
            format!("{short}: {name}")
        }
    }

    /// The shortest unique name after the file.
    fn after_file(&self, name: &str, file: &str) -> String {
        self.called(name, file, self.by_stem.get(stem(file)).is_some_and(|count| *count > 1))
    }
}

/// Names graphs, each given by its own name and the name of its file, which may be empty. O(n log n).
pub(super) fn graph_names(graphs: &[(&str, &str)]) -> GraphNames {
    let mut files_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, file) in graphs {
        files_of.entry(name).or_default().insert(file);
    }
    let files = Files::of(graphs);
    let (mut names, mut numbered) = (UniqueNames::default(), UniqueNames::default());
    let mut found = GraphNames::default();
    let mut others = Vec::with_capacity(2 * graphs.len());
    for (name, file) in graphs {
        let other = (!file.is_empty()).then(|| files.after_file(name, file));
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

/// The renaming where files replace others: every name and alias from before, with the name that the graph has now.
/// O(n log n).
pub(super) fn names_moved(before: &[(&str, &str)], now: &GraphNames) -> BTreeMap<String, String> {
    let before = graph_names(before);
    let own: BTreeMap<&String, &String> = before.names.iter().zip(&now.names).collect();
    let others = before.aliases.iter().map(|(other, name)| (other, own[name]));
    let moved = own.iter().map(|(name, now)| (*name, *now)).chain(others);
    let moved = moved.filter(|(name, now)| name != now);
    moved.map(|(name, now)| (name.clone(), now.clone())).collect()
}

/// Names of graphs while some files cannot be read: mentioned names stay, where they are unambiguous. `before` has the graphs
/// with the files that the names were given for, `now` with their current files. Returns a unique name for each, and which
/// mentioned names changed. O(n log n).
pub(super) fn names_kept(
    before: &[(&str, &str)],
    now: &[(&str, &str)],
    mentioned: &BTreeSet<String>,
) -> (Vec<String>, BTreeMap<String, String>) {
    let (files_before, files) = (Files::of(before), Files::of(now));
    let mut in_file: BTreeMap<&str, UniqueNames> = BTreeMap::new();
    let (mut unique, mut names, mut renamed) = (UniqueNames::default(), Vec::new(), BTreeMap::new());
    for ((name, old), (_, file)) in before.iter().zip(now) {
        let own = in_file.entry(old).or_default().take(name);
        if file.is_empty() {
            names.push(unique.take(&own));
            continue;
        }
        let called = |is_whole| {
            (
                files_before.called(name, old, is_whole),
                files.called(name, file, is_whole),
            )
        };
        let mut known = [called(false), called(true), (own.clone(), own.clone())].into_iter();
        let kept = match known.find(|(old, _)| mentioned.contains(old)) {
            Some((old, new)) if old != new && !mentioned.contains(&new) => {
                renamed.insert(old, new.clone());
                new
            }
            Some((old, _)) => old,
            // A missing file may have a graph of this name.
            None => files.after_file(name, file),
        };
        names.push(unique.take(&kept));
    }
    (names, renamed)
}

/// A file's name without its extensions: `.onnx`, `.stripped.onnx`, `.json.gz`.
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
    fn names_that_are_known_stay_while_files_are_missing() {
        let mentioned = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<BTreeSet<String>>()
        };
        for (before, now, known, expected, renamed) in [
            // The graph of a file that is there, called after it beside one that is not.
            (("main", "b.onnx"), ("main", "b.onnx"), &["a", "b"][..], "b", None),
            (("main", "b.onnx"), ("main", "b.onnx"), &["a", "b.onnx"], "b.onnx", None),
            (("train", "b.onnx"), ("train", "b.onnx"), &["a", "train"], "train", None),
            (("main", "b.onnx"), ("main", "b.onnx"), &["a"], "b", None),
            // Located under another name, which another graph may have already.
            (("main", "b.onnx"), ("main", "c.pb"), &["a", "b"], "c", Some(("b", "c"))),
            (("main", "b.onnx"), ("main", "a.pb"), &["a", "b"], "b", None),
        ] {
            let (names, moved) = names_kept(&[before], &[now], &mentioned(known));
            assert_eq!(names, [expected], "{known:?}");
            let moved: Vec<(&str, &str)> = moved.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
            assert_eq!(moved.first().copied(), renamed, "{known:?}");
        }
    }

    #[test]
    fn names_move_with_files_that_take_the_place_of_others() {
        let before = [("main", "a.onnx"), ("main", "b.onnx"), ("loss", "a.onnx")];
        let now = graph_names(&[("main", "c.onnx"), ("main", "b.onnx"), ("loss", "c.onnx")]);
        let moved = names_moved(&before, &now);
        let told: Vec<(&str, &str)> = moved.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let expected = [
            ("a: loss", "loss"),
            ("a: main", "c: main"),
            ("main", "c: main"),
            ("main (2)", "b"),
        ];
        assert_eq!(told, expected);
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
