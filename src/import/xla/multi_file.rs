//! Joins the files of a dump into one source.
//!
//! ```text
//! NAME.txt or NAME.hlo.pb        the module        \
//! NAME-buffer-assignment.txt     offsets of values   > one graph with XLA's arenas; without the module, arenas alone
//! NAME-live-range.txt            live ranges       /
//! ```
//!
//! Content decides the kind of a file. Files of one folder belong together where their names are equal but for these words;
//! a single pair of texts without a distinct name belongs to the single module there. Names only suggest it: the live
//! ranges must name instructions of the module, else each file is read by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::detect::{self, Part};
use super::dump::{self, Dump};
use super::join as texts;
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{Dumped, GraphEntry, ProblemEntry, Source};

/// Words by which the texts of a dump differ.
const WORDS: [&str; 2] = ["buffer-assignment", "live-range"];

/// Endings, longest first.
const ENDINGS: [&str; 4] = [".hlo.pb", ".txt", ".hlo", ".pb"];

/// A file that may belong to a dump of several: its name and what it is.
#[derive(Clone, Debug)]
pub struct DumpPart {
    name: String,
    part: Part,
}

impl DumpPart {
    /// The part that a file with this head is; `None` where it is none.
    pub(crate) fn new(name: &str, head: &[u8]) -> Option<Self> {
        let part = detect::part(head)?;
        let name = name.to_owned();
        Some(Self { name, part })
    }
}

/// Positions of files of one folder that are to be read as one, each group ascending.
pub(crate) fn groups(files: &[DumpPart]) -> Vec<Vec<usize>> {
    let mut by_key: BTreeMap<String, [Vec<usize>; 3]> = BTreeMap::new();
    for (position, file) in files.iter().enumerate() {
        by_key.entry(key(&file.name)).or_default()[file.part as usize].push(position);
    }
    let mut modules: Vec<usize> = Vec::new();
    let mut pairs: Vec<(String, [usize; 2])> = Vec::new();
    let mut loose: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for (key, [of_key, assignments, ranges]) in &by_key {
        modules.extend(of_key);
        if let ([assignment], [range]) = (&assignments[..], &ranges[..]) {
            pairs.push((key.clone(), [*assignment, *range]));
        } else {
            loose[0].extend(assignments);
            loose[1].extend(ranges);
        }
    }
    // Two texts without other candidates belong together under any names.
    if let ([assignment], [range], true) = (&loose[0][..], &loose[1][..], pairs.is_empty()) {
        pairs.push((String::new(), [*assignment, *range]));
    }
    let is_only = pairs.len() == 1 && modules.len() == 1;
    let groups = pairs.into_iter().map(|(key, pair)| {
        let own = by_key.get(&key).and_then(|[own, ..]| match own[..] {
            [module] => Some(module),
            _ => None,
        });
        let module = own.or_else(|| modules.first().copied().filter(|_| is_only));
        let mut group: Vec<usize> = module.into_iter().chain(pair).collect();
        group.sort_unstable();
        group
    });
    groups.collect()
}

/// A file's name without the words that distinguish the parts of a dump.
fn key(name: &str) -> String {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let mut key = ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
        .to_owned();
    for word in WORDS {
        key = key.replace(word, "");
    }
    key.trim_matches(['-', '_', '.']).to_owned()
}

/// Joins the files of one dump, in any order. `None` where they are anything else: then each is read on its own.
pub(crate) fn join(
    inputs: &mut [Input<'_>],
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Source>, ImportError> {
    let parts: Vec<Option<Part>> = inputs.iter().map(|input| detect::part(input.head())).collect();
    let is_once = |part| parts.iter().filter(|found| **found == Some(part)).count() == 1;
    let is_whole = match inputs.len() {
        2 => is_once(Part::Assignment) && is_once(Part::Ranges),
        3 => is_once(Part::Module) && is_once(Part::Assignment) && is_once(Part::Ranges),
        _ => false,
    };
    if !is_whole {
        return Ok(None);
    }
    let mut joined = Dump::default();
    let mut module = None;
    let mut notes = Diagnostics::new();
    let mut name = inputs[0].name().to_owned();
    for (input, part) in inputs.iter_mut().zip(parts) {
        if part == Some(Part::Module) {
            input.name().clone_into(&mut name);
            module = Some(super::import(input, progress, &mut notes)?);
            continue;
        }
        let text = input.read_text(progress)?;
        let dump = dump::read(&text, progress, &mut notes)?;
        let is_double = (dump.assignment.is_some() && joined.assignment.is_some())
            || (dump.ranges.is_some() && joined.ranges.is_some());
        if is_double {
            return Ok(None);
        }
        joined.assignment = joined.assignment.or(dump.assignment);
        joined.ranges = joined.ranges.or(dump.ranges);
    }
    let source = match module {
        None => Some(texts::source(&joined, &name, progress, &mut notes)?),
        Some(Source::Graphs(entries)) => with_arenas(entries, &joined, progress, &mut notes)?,
        Some(_) => None,
    };
    if source.is_some() {
        diagnostics.extend(&notes);
    }
    Ok(source)
}

/// The graph with the arenas of the texts; `None` where these are of another module.
fn with_arenas(
    mut entries: Vec<GraphEntry>,
    dump: &Dump,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Source>, ImportError> {
    let (Some(entry), Some(assignment), Some(ranges)) = (entries.first_mut(), &dump.assignment, &dump.ranges) else {
        return Ok(None);
    };
    let graphs = || std::iter::once(&entry.graph).chain(&entry.bodies);
    let names: BTreeSet<&str> = graphs()
        .flat_map(|graph| graph.ops().ids().map(move |op| graph.op_name(op)))
        .collect();
    let instruction = |value: &str| {
        value
            .split_once('{')
            .map_or_else(|| value.to_owned(), |(name, _)| name.to_owned())
    };
    if ranges.steps.is_empty()
        || ranges
            .steps
            .iter()
            .any(|(value, _)| !names.contains(&*instruction(value)))
    {
        return Ok(None);
    }
    let known = entry.dumped.take().map(Arc::unwrap_or_clone).unwrap_or_default();
    let arenas: Vec<Arc<ProblemEntry>> = if known.arenas.is_empty() {
        texts::both(assignment, ranges, progress, diagnostics)?
    } else {
        diagnostics.info(
            "the module holds its buffer assignment itself; that of the texts is not needed",
            &entry.name,
        );
        known.arenas
    };
    let mut facts = known.facts;
    for fact in assignment.facts() {
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    let peak_live = known.peak_live.or_else(|| texts::stated_peak(ranges));
    entry.dumped = Some(Arc::new(Dumped {
        arenas,
        facts,
        peak_live,
        ..known
    }));
    Ok(Some(Source::Graphs(entries)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &[u8] = b"HloModule f\n";
    const ASSIGNMENT: &[u8] = b"BufferAssignment:\n";
    const RANGES: &[u8] = b"HloLiveRange (max 3):\n";

    #[test]
    fn files_of_one_dump_are_found_by_their_names() {
        let groups = |files: &[(&str, &[u8])]| {
            let parts = files.iter().filter_map(|(name, head)| DumpPart::new(name, head));
            groups(&parts.collect::<Vec<DumpPart>>())
        };
        assert_eq!(
            groups(&[
                ("a-buffer-assignment.txt", ASSIGNMENT),
                ("a-live-range.txt", RANGES),
                ("a.txt", MODULE),
                ("b-buffer-assignment.txt.gz", ASSIGNMENT),
                ("b-live-range.txt", RANGES),
                ("c.txt", MODULE),
            ]),
            [vec![0, 1, 2], vec![3, 4]]
        );
        // Whatever they are called, where nothing else can be meant.
        assert_eq!(
            groups(&[("x.txt", RANGES), ("hlo.txt", MODULE), ("y.txt", ASSIGNMENT)]),
            [[0, 1, 2]]
        );
        let several: [(&str, &[u8]); 4] = [
            ("buffer-assignment.txt", ASSIGNMENT),
            ("live-range.txt", RANGES),
            ("before.txt", MODULE),
            ("after.txt", MODULE),
        ];
        assert_eq!(groups(&several), [[0, 1]]);
        let unclear: [(&str, &[u8]); 3] = [("x", RANGES), ("y", RANGES), ("z", ASSIGNMENT)];
        assert_eq!(groups(&unclear), Vec::<Vec<usize>>::new());
    }
}
