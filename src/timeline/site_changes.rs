//! Call sites of two runs, matched: the same code in two recordings has the same names, though lines move.
//!
//! ```text
//! before                        after                         compared as
//! forward (model.py:10)  1 GiB  forward (model.py:10)  2 GiB  forward (model.py:10)     lines are the same
//! loss (model.py:20)     3 MiB  loss (model.py:22)     3 MiB  loss (model.py)           a line moved
//! ```
//!
//! In: contributors of two peaks. Out: the bytes of both sides under common names. A file is the same where its path is,
//! or where it is the only one whose path ends in the other's. Within a function each line is a name where one side has
//! all lines of the other, else the function is; within a name, size classes are told apart where both sides have the same ones.

use std::collections::{BTreeMap, BTreeSet};

use super::peak_contributors::{ContributorName, SiteName};
use highwater_model::units::Bytes;
use highwater_model::workload::call_site_text;

/// Bytes before and after, by common name; `None` where a side does not list the name.
pub(super) type Matched = BTreeMap<ContributorName, (Option<Bytes>, Option<Bytes>)>;

type Listed<'a> = (&'a ContributorName, Bytes);

/// Which side of the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// O(names log names + files of both sides).
pub(super) fn matched(before: &[(ContributorName, Bytes)], after: &[(ContributorName, Bytes)]) -> Matched {
    let mut matched = Matched::new();
    let mut functions: BTreeMap<(&str, &str), [Vec<Listed<'_>>; 2]> = BTreeMap::new();
    let files = same_files(before, after);
    for (side, rows) in [(Side::Before, before), (Side::After, after)] {
        for (name, bytes) in rows {
            match &name.site {
                None => add(&mut matched, name.clone(), side, *bytes),
                Some(site) => {
                    let file = files.get(site.file.as_str()).copied().filter(|_| side == Side::Before);
                    let key = (file.unwrap_or(&site.file), site.function.as_str());
                    functions.entry(key).or_default()[side as usize].push((name, *bytes));
                }
            }
        }
    }
    for ((file, function), [was, is]) in functions {
        let own = |rows: &[Listed<'_>]| -> BTreeSet<u32> { rows.iter().filter_map(|(name, _)| line(name)).collect() };
        let is_on_one_side = was.is_empty() || is.is_empty();
        let (old, new) = (own(&was), own(&is));
        // A line that one side lacks is new or gone; where both lack some, lines moved.
        let has_lines = old.is_subset(&new) || new.is_subset(&old);
        let mut sites: BTreeMap<Option<u32>, [Vec<Listed<'_>>; 2]> = BTreeMap::new();
        for (side, rows) in [(Side::Before, was), (Side::After, is)] {
            for row in rows {
                let line = line(row.0).filter(|_| has_lines);
                sites.entry(line).or_default()[side as usize].push(row);
            }
        }
        for (line, sides) in sites {
            let place = Place { file, function, line };
            add_site(&mut matched, place, &sides, is_on_one_side);
        }
    }
    matched
}

#[derive(Clone, Copy)]
struct Place<'a> {
    file: &'a str,
    function: &'a str,
    line: Option<u32>,
}

impl Place<'_> {
    fn text(self) -> String {
        let Self { file, function, line } = self;
        match (file, line) {
            ("", _) => function.to_owned(),
            (file, line) => call_site_text(function, file, line.unwrap_or(0)),
        }
    }
}

fn line(name: &ContributorName) -> Option<u32> {
    name.site.as_ref().map(|site| site.line)
}

fn class(name: &ContributorName) -> &str {
    name.site.as_ref().map_or("", |site| site.class.as_str())
}

/// Adds the bytes of one name, by size class where both sides have the same classes.
fn add_site(matched: &mut Matched, place: Place<'_>, sides: &[Vec<Listed<'_>>; 2], is_on_one_side: bool) {
    let classes =
        |rows: &[Listed<'_>]| -> BTreeSet<String> { rows.iter().map(|(name, _)| class(name).to_owned()).collect() };
    let own = classes(&sides[0]);
    let is_by_class = !is_on_one_side && own.len() > 1 && own == classes(&sides[1]);
    for (side, rows) in [Side::Before, Side::After].into_iter().zip(sides) {
        for (name, bytes) in rows {
            let text = place.text();
            let class = if is_by_class { class(name) } else { "" };
            let site = SiteName {
                file: place.file.to_owned(),
                function: place.function.to_owned(),
                line: place.line.unwrap_or(0),
                class: class.to_owned(),
            };
            let name = ContributorName {
                graph: String::new(),
                name: if class.is_empty() {
                    text
                } else {
                    format!("{text}, {class}")
                },
                site: Some(site),
            };
            add(matched, name, side, *bytes);
        }
    }
}

fn add(matched: &mut Matched, name: ContributorName, side: Side, bytes: Bytes) {
    let (before, after) = matched.entry(name).or_default();
    let place = match side {
        Side::Before => before,
        Side::After => after,
    };
    *place = Some(place.unwrap_or_default() + bytes);
}

/// The file after, by the file before, where their paths differ and one of them ends in the other.
fn same_files<'a>(
    before: &'a [(ContributorName, Bytes)],
    after: &'a [(ContributorName, Bytes)],
) -> BTreeMap<&'a str, &'a str> {
    fn files(rows: &[(ContributorName, Bytes)]) -> BTreeSet<&str> {
        let sites = rows.iter().filter_map(|(name, _)| name.site.as_ref());
        sites
            .map(|site| site.file.as_str())
            .filter(|file| !file.is_empty())
            .collect()
    }
    let (was, is) = (files(before), files(after));
    let ends_in = |path: &str, end: &str| path.strip_suffix(end).is_some_and(|head| head.ends_with('/'));
    let mut same = BTreeMap::new();
    for old in was.difference(&is) {
        let mut found = is.difference(&was).filter(|new| ends_in(new, old) || ends_in(old, new));
        if let (Some(new), None) = (found.next(), found.next()) {
            same.insert(*old, *new);
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows `file:line function class bytes`.
    fn rows(text: &str) -> Vec<(ContributorName, Bytes)> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let row = |row: &str| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let (file, number) = words[0].rsplit_once(':').expect("a line");
            let site = SiteName {
                file: file.to_owned(),
                function: words[1].to_owned(),
                line: number.parse().expect("a number"),
                class: words[2].to_owned(),
            };
            let name = ContributorName {
                graph: String::new(),
                name: format!("{} {}", words[0], words[1]),
                site: Some(site),
            };
            (name, Bytes(words[3].parse().expect("bytes")))
        };
        lines.map(row).collect()
    }

    #[test]
    fn the_same_code_has_the_same_names() {
        for (before, after, wanted) in [
            ("m.py:1 f large 10", "m.py:1 f large 12", "f (m.py:1) 10>12"),
            ("m.py:1 f large 10", "m.py:4 f large 12", "f (m.py) 10>12"),
            (
                "m.py:1 f large 10
                 m.py:2 f small 1",
                "m.py:3 f large 12
                 m.py:4 f small 1",
                "f (m.py), large 10>12; f (m.py), small 1>1",
            ),
            // A block that grows into another class is bigger, not new.
            ("m.py:1 f small 1", "m.py:1 f large 9", "f (m.py:1) 1>9"),
            (
                "m.py:1 f large 10",
                "m.py:1 f large 10
                 m.py:3 f large 50",
                "f (m.py:1) 10>10; f (m.py:3) 0>50",
            ),
            ("m.py:1 f large 10", "", "f (m.py:1) 10>0"),
            ("m.py:1 f large 10", "src/m.py:1 f large 10", "f (src/m.py:1) 10>10"),
            (
                "m.py:1 f large 10",
                "a/m.py:1 f large 10
                 b/m.py:1 f large 20",
                "f (a/m.py:1) 0>10; f (b/m.py:1) 0>20; f (m.py:1) 10>0",
            ),
        ] {
            let found = matched(&rows(before), &rows(after));
            let text = |(name, (before, after)): (&ContributorName, &(Option<Bytes>, Option<Bytes>))| {
                let bytes = |side: &Option<Bytes>| side.unwrap_or_default().get();
                format!("{} {}>{}", name.name, bytes(before), bytes(after))
            };
            let found: Vec<String> = found.iter().map(text).collect();
            assert_eq!(found.join("; "), wanted, "{before} against {after}");
        }
    }
}
