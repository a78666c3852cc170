//! Sources that are read as one: the texts of one XLA dump with its module, the slices of one table, the logs of CANN.
//!
//! In: paths. Out: groups of them, and the content of a group. Deliberately not here: which files belong together, which the
//! importers know.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use super::document::SourceSpec;
use super::files::{FileError, input_of, read_kept};
use super::folder::{Keep, logs_among, read_logs, read_sliced, slices_among};
use super::titles::titles;
use highwater_import::{DumpPart, Imported, dump_part, group_dump_parts, join_dump, recognise};
use highwater_model::progress::Progress;

/// The importer whose files may belong together.
const JOINED: &str = "xla";

/// The content of one source, or of several that are read as one.
#[derive(Debug)]
pub(super) struct ReadPart {
    pub(super) members: Vec<usize>,
    pub(super) imported: Result<Imported, FileError>,
}

/// Reads sources in the order of their first members. With [`OnFailure::Stop`] the first that cannot be read is the last.
pub(super) fn read_all(
    sources: &[SourceSpec],
    on_failure: OnFailure,
    keep: Keep,
    progress: &Progress<'_>,
) -> Vec<ReadPart> {
    let mut read = Vec::with_capacity(sources.len());
    let mut open: VecDeque<Group> = groups(sources, progress).into();
    while let Some(group) = open.pop_front() {
        let members = group.members.iter().filter_map(|position| sources[*position].path());
        let members: Vec<&Path> = members.collect();
        let imported = match group.members.as_slice() {
            [alone] => Some(read_kept(&sources[*alone], keep, progress)),
            _ => read_together(&group, &members, progress).transpose(),
        };
        match imported {
            Some(imported) => {
                let is_last = imported.is_err() && (on_failure == OnFailure::Stop || progress.check().is_err());
                let members = group.members;
                read.push(ReadPart { members, imported });
                if is_last {
                    break;
                }
            }
            None => apart(&members, progress).into_iter().rev().for_each(|part| {
                open.push_front(Group {
                    members: part.iter().map(|member| group.members[*member]).collect(),
                    kind: GroupKind::Dump,
                });
            }),
        }
    }
    read
}

/// The effect of a source that cannot be read on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Reading stops.
    Stop,
    /// The others are read, and the failure is reported.
    Tell,
}

/// Reads sources, each with its title; those that belong together are one.
pub fn read_each(sources: &[SourceSpec], progress: &Progress<'_>) -> Vec<(String, Result<Imported, FileError>)> {
    let titles = titles(sources);
    let title = |part: &ReadPart| {
        let titles: Vec<&str> = part.members.iter().map(|position| titles[*position].as_str()).collect();
        titles.join(" + ")
    };
    let read = read_all(sources, OnFailure::Tell, Keep::All, progress).into_iter();
    read.map(|part| (title(&part), part.imported)).collect()
}

/// The file of a source without a chosen format.
fn path_of(source: &SourceSpec) -> Option<&Path> {
    match source {
        SourceSpec::Path(path) => Some(path),
        _ => None,
    }
}

#[derive(Debug)]
struct Group {
    /// Positions of the sources.
    members: Vec<usize>,
    kind: GroupKind,
}

#[derive(Clone, Copy, Debug)]
enum GroupKind {
    /// Texts of XLA, or a single source.
    Dump,
    Slices,
    Logs,
}

/// Groups of sources that are read as one, and every other source alone, in the order of their first members.
fn groups(sources: &[SourceSpec], progress: &Progress<'_>) -> Vec<Group> {
    let logs = logs_among(sources, progress);
    let mut paths: Vec<Option<&Path>> = sources.iter().map(path_of).collect();
    for position in &logs {
        paths[*position] = None;
    }
    let tables = if paths.iter().flatten().count() > 1 {
        slices_among(&paths, progress)
    } else {
        Vec::new()
    };
    let mut rest = paths;
    for position in tables.iter().flatten() {
        rest[*position] = None;
    }
    let grouped: Vec<usize> = tables.iter().flatten().chain(&logs).copied().collect();
    let group = |kind: GroupKind| move |members: Vec<usize>| Group { members, kind };
    let mut groups: Vec<Group> = tables.into_iter().map(group(GroupKind::Slices)).collect();
    groups.extend((!logs.is_empty()).then_some(logs).map(group(GroupKind::Logs)));
    let others = dumps(&rest, true, progress).into_iter();
    let others = others.filter(|members| !grouped.contains(&members[0]));
    groups.extend(others.map(group(GroupKind::Dump)));
    groups.sort_unstable_by_key(|group| group.members.iter().min().copied());
    groups
}

/// A group as one; `None` where its members must be read one by one.
///
/// # Errors
/// [`FileError`] of any of them.
fn read_together(group: &Group, paths: &[&Path], progress: &Progress<'_>) -> Result<Option<Imported>, FileError> {
    match group.kind {
        GroupKind::Slices => read_sliced(paths, progress).map(Some),
        GroupKind::Logs => read_logs(paths, progress).map(Some),
        GroupKind::Dump => read_joined(paths, progress),
    }
}

/// Dumps of XLA that are read as one, and every other source alone. Files of one folder belong together; where the user named
/// the files (`are_named`), two of them belong together wherever they are.
pub(super) fn dumps(paths: &[Option<&Path>], are_named: bool, progress: &Progress<'_>) -> Vec<Vec<usize>> {
    let mut parts: Vec<(usize, &Path, DumpPart)> = Vec::new();
    let n_files = paths.iter().flatten().count();
    for (position, path) in paths.iter().enumerate() {
        let Some(path) = path.filter(|path| n_files > 1 && path.is_file()) else {
            continue;
        };
        let input = input_of(path, progress).ok().and_then(Result::ok);
        let part = input.and_then(|mut input| {
            let is_joined = recognise(&mut input).is_some_and(|row| row.name == JOINED);
            dump_part(&mut input).filter(|_| is_joined)
        });
        parts.extend(part.map(|part| (position, path, part)));
    }
    let is_pair = are_named && parts.len() == 2;
    let mut folders: BTreeMap<&Path, (Vec<usize>, Vec<DumpPart>)> = BTreeMap::new();
    for (position, path, part) in parts {
        let folder = path.parent().filter(|_| !is_pair).unwrap_or(Path::new(""));
        let (positions, parts) = folders.entry(folder).or_default();
        positions.push(position);
        parts.push(part);
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut is_grouped = vec![false; paths.len()];
    for (positions, parts) in folders.values() {
        for group in group_dump_parts(parts) {
            let group: Vec<usize> = group.into_iter().map(|member| positions[member]).collect();
            for member in &group {
                is_grouped[*member] = true;
            }
            groups.push(group);
        }
    }
    groups.extend(
        (0..paths.len())
            .filter(|position| !is_grouped[*position])
            .map(|alone| vec![alone]),
    );
    groups.sort_unstable();
    groups
}

/// The groups to try for files that do not belong together: two texts without the module, else each alone.
pub(super) fn apart(paths: &[&Path], progress: &Progress<'_>) -> Vec<Vec<usize>> {
    let all = 0..paths.len();
    let without = |left: usize| {
        all.clone()
            .filter(move |position| *position != left)
            .collect::<Vec<usize>>()
    };
    for left in all.clone().filter(|_| paths.len() > 2) {
        let pair = without(left);
        let members: Vec<Option<&Path>> = pair.iter().map(|position| Some(paths[*position])).collect();
        if dumps(&members, true, progress).len() == 1 {
            return vec![pair, vec![left]];
        }
    }
    all.map(|alone| vec![alone]).collect()
}

/// Files as one; `None` where they do not belong together.
///
/// # Errors
/// [`FileError`] of any of them.
pub(super) fn read_joined(paths: &[&Path], progress: &Progress<'_>) -> Result<Option<Imported>, FileError> {
    let mut inputs = Vec::with_capacity(paths.len());
    for path in paths {
        inputs.push(input_of(path, progress)?.map_err(|reason| FileError::import(path, reason))?);
    }
    let first = paths.first().copied().unwrap_or(Path::new(""));
    join_dump(&mut inputs, progress).map_err(|reason| FileError::import(first, reason))
}
