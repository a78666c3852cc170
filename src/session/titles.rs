//! Titles of several sources: their file names, and, where these are equal, the folders that differ.
//!
//! ```text
//! rank0/out/memory.csv  rank1/out/memory.csv  a.csv     "rank0 memory.csv", "rank1 memory.csv", "a.csv"
//! ```
//!
//! In: sources. Out: the shortest unique name for each; equal paths keep equal names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use super::document::SourceSpec;

pub(super) fn titles(sources: &[SourceSpec]) -> Vec<String> {
    let mut titles: Vec<String> = sources.iter().map(SourceSpec::title).collect();
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, title) in titles.iter().enumerate() {
        alike.entry(title.clone()).or_default().push(position);
    }
    for (title, positions) in alike.iter().filter(|(_, positions)| positions.len() > 1) {
        let folders: Option<Vec<Vec<String>>> = positions
            .iter()
            .map(|position| sources[*position].path().map(folders_of))
            .collect();
        let distinct = folders.and_then(|folders| distinct(&folders));
        for (position, folders) in positions.iter().zip(distinct.into_iter().flatten()) {
            if !folders.is_empty() {
                titles[*position] = format!("{folders} {title}");
            }
        }
    }
    titles
}

/// The folders above a file, the nearest first.
fn folders_of(path: &Path) -> Vec<String> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let named = folders.filter_map(|folder| match folder {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        Component::ParentDir => Some("..".to_owned()),
        _ => None,
    });
    let mut named: Vec<String> = named.collect();
    named.reverse();
    named
}

/// The shortest part of each list of folders that distinguishes it from the others, without the folders that all share.
/// `None` where nothing does.
fn distinct(all: &[Vec<String>]) -> Option<Vec<String>> {
    let deepest = all.iter().map(Vec::len).max()?;
    let nearest = |folders: &Vec<String>, n: usize| folders[..n.min(folders.len())].to_vec();
    let n = (1..=deepest).find(|n| {
        let parts: BTreeSet<Vec<String>> = all.iter().map(|folders| nearest(folders, *n)).collect();
        parts.len() == all.len()
    })?;
    let n_shared = (0..n).take_while(|at| all.iter().all(|folders| folders.get(*at) == all[0].get(*at)));
    let n_shared = n_shared.count();
    let part = |folders: &Vec<String>| {
        let part = folders.iter().take(n).skip(n_shared).rev().map(String::as_str);
        part.collect::<Vec<&str>>().join("/")
    };
    Some(all.iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_called_after_the_folders_that_differ() {
        let titles = |paths: &[&str]| {
            let sources: Vec<SourceSpec> = paths.iter().map(|path| SourceSpec::Path(path.into())).collect();
            titles(&sources)
        };
        assert_eq!(titles(&["a/m.csv", "b/n.csv"]), ["m.csv", "n.csv"]);
        assert_eq!(
            titles(&["/x/rank0/out/m.csv", "/x/rank1/out/m.csv", "a.csv"]),
            ["rank0 m.csv", "rank1 m.csv", "a.csv"]
        );
        assert_eq!(
            titles(&["x/r0/m.csv", "y/r0/m.csv", "x/r1/m.csv"]),
            ["x/r0 m.csv", "y/r0 m.csv", "x/r1 m.csv"]
        );
        assert_eq!(titles(&["m.csv", "old/m.csv"]), ["m.csv", "old m.csv"]);
        assert_eq!(titles(&["x/rank0", "y/rank0"]), ["x rank0", "y rank0"]);
        assert_eq!(titles(&["a/m.csv", "a/m.csv"]), ["m.csv", "m.csv"]);
    }
}
