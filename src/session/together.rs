//! Sources that are read as one, because they say more together: the texts of one XLA dump, with its module.
//!
//! In: paths. Out: groups of them, and the answer of a group. Deliberately not here: what belongs together, which
//! the importers know.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::{FileError, input_of};
use crate::import::{Imported, Input, join, recognise, together};
use crate::progress::Progress;

/// The importer whose files may belong together.
const JOINED: &str = "xla";

/// Positions of sources in the order of their first members: groups that are read as one, every other by itself.
/// `None` stands for a source that is no file.
pub(super) fn groups(paths: &[Option<&Path>]) -> Vec<Vec<usize>> {
    let mut folders: BTreeMap<&Path, (Vec<usize>, Vec<Input<'static>>)> = BTreeMap::new();
    let n_files = paths.iter().flatten().count();
    for (position, path) in paths.iter().enumerate() {
        let Some(path) = path.filter(|path| n_files > 1 && path.as_os_str() != "-" && !path.is_dir()) else {
            continue;
        };
        let Some(mut input) = input_of(path).ok().and_then(Result::ok) else {
            continue;
        };
        if recognise(&mut input).is_some_and(|row| row.name == JOINED) {
            // Two files that were named are meant, wherever they lie.
            let folder = path.parent().filter(|_| n_files > 2).unwrap_or(Path::new(""));
            let (positions, inputs) = folders.entry(folder).or_default();
            positions.push(position);
            inputs.push(input);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut is_grouped = vec![false; paths.len()];
    for (positions, inputs) in folders.values_mut() {
        for group in together(inputs) {
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

/// What is left to try of files that do not belong together after all: two texts without the module, else each by itself.
pub(super) fn apart(paths: &[&Path]) -> Vec<Vec<usize>> {
    let all = 0..paths.len();
    let without = |left: usize| {
        all.clone()
            .filter(move |position| *position != left)
            .collect::<Vec<usize>>()
    };
    for left in all.clone().filter(|_| paths.len() > 2) {
        let pair = without(left);
        let members: Vec<Option<&Path>> = pair.iter().map(|position| Some(paths[*position])).collect();
        if groups(&members).len() == 1 {
            return vec![pair, vec![left]];
        }
    }
    all.map(|alone| vec![alone]).collect()
}

/// Files as one; `None` where they do not belong together after all.
///
/// # Errors
/// [`FileError`], of any of them.
pub(super) fn read_joined(paths: &[&Path], progress: &Progress<'_>) -> Result<Option<Imported>, FileError> {
    let mut inputs = Vec::with_capacity(paths.len());
    for path in paths {
        inputs.push(input_of(path)?.map_err(|reason| FileError::import(path, reason))?);
    }
    let first = paths.first().copied().unwrap_or(Path::new(""));
    join(&mut inputs, progress).map_err(|reason| FileError::import(first, reason))
}
