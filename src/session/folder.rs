//! A folder as one source: the files that an importer recognises, in the order of their names.
//!
//! ```text
//! rank0/ASCEND_PROFILER_OUTPUT/operator_memory.csv     recordings "rank0/ASCEND...: NPU:0"
//! rank1/ASCEND_PROFILER_OUTPUT/operator_memory.csv     recordings "rank1/ASCEND...: NPU:0"
//! saved_model.pb, variables/...                        a SavedModel: that file alone
//! ```
//!
//! In: a path. Out: the files to read, and counts of skipped ones with an example. Invariants: links to folders are not
//! followed; depth and number are limited, so that a wrong folder does no harm.

mod ahead;
mod genai;
mod logs;
mod parts;
mod walk;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::files::{FileError, input_of, read_path};
use super::merge::Merge;
use super::multi_file::{self, read_joined};
pub use ahead::Keep;
use ahead::{Content, read_ahead};
use genai::{GenaiConfig, configurations};
use highwater_import::{
    FolderFile, Imported, Importer, group_slices, importer, missing_slices, recognise, superseded_dumps, unread_advice,
};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::workload::GraphEntry;
use logs::LOGS;
pub use logs::{StatedMemory, read_story};
pub(super) use logs::{logs_among, read_logs};
use parts::read_parts;
use walk::Found;
pub(super) use walk::MOST_FILES;
pub(super) use walk::files_of;

/// Reads every file of a folder that an importer recognises.
pub(super) fn read_folder(
    folder: &Path,
    row: Option<&'static Importer>,
    keep: Keep,
    progress: &Progress<'_>,
) -> Result<Imported, FileError> {
    let Found { files, passed } = files_of(folder, progress)?;
    let known = recognised(&files, row, progress)?;
    let configs = configurations(&files, progress);
    let unread = unread_files(&files, &known, &configs, progress);
    let mut diagnostics = passed_over(&files, &unread);
    diagnostics.extend(&passed.diagnostics());
    let n_known = known.len();
    let known = without_twins(known);
    if known.len() < n_known {
        diagnostics.counted(
            Severity::Info,
            "an XLA text is skipped because the .hlo.pb of the same dump holds more; open it alone to see it"
                .to_owned(),
            &folder.display().to_string(),
            (n_known - known.len()) as u64,
        );
    }
    let known = without_stages(known, &mut diagnostics);
    let Some((first, format)) = known.first().cloned() else {
        let named = unread.iter().find_map(|(path, advice)| Some((path, (*advice)?)));
        let unread = named.map(|(path, advice)| format!("{}: {advice}", name_of(path)));
        return Err(FileError::EmptyFolder {
            name: folder.display().to_string(),
            files: files.len(),
            is_named: unread.is_some(),
            advice: unread.unwrap_or_else(|| EMPTY_ADVICE.to_owned()),
        });
    };
    let is_one_format = known.iter().all(|(_, row)| row.name == format.name);
    let is_flat = known.iter().all(|(path, _)| path.parent() == first.parent());
    let reading = Reading {
        folder,
        is_flat,
        keep,
        configs: &configs,
    };
    let merge = read_known(&reading, &known, &mut diagnostics, progress)?;
    let (source, measured, left) = merge.finish();
    for sentence in left {
        diagnostics.warning(sentence, "");
    }
    Ok(Imported {
        format: if is_one_format { format.name } else { "folder" },
        source,
        measured,
        diagnostics,
    })
}

/// Where formats are listed.
const EMPTY_ADVICE: &str = "docs/formats.md lists what can be read";

/// The most files that are looked at for advice.
const MOST_LOOKED_AT: usize = 100;

/// Files that no importer recognises, with what the first of them are where that is known.
fn unread_files<'f>(
    files: &'f [PathBuf],
    known: &[(PathBuf, &'static Importer)],
    configs: &[GenaiConfig],
    progress: &Progress<'_>,
) -> Vec<(&'f Path, Option<&'static str>)> {
    let read: BTreeSet<&Path> = known
        .iter()
        .map(|(path, _)| &**path)
        .chain(configs.iter().map(GenaiConfig::path))
        .collect();
    let unread = files.iter().map(|path| &**path).filter(|path| !read.contains(path));
    let with_advice = unread.enumerate().map(|(position, path)| {
        let input = || input_of(path, progress).ok()?.ok();
        let mut input = (position < MOST_LOOKED_AT).then(input).flatten();
        (path, input.as_mut().and_then(unread_advice))
    });
    with_advice.collect()
}

/// How the files of a folder are read.
struct Reading<'a> {
    folder: &'a Path,
    is_flat: bool,
    keep: Keep,
    configs: &'a [GenaiConfig],
}

/// Reads recognised files; an unreadable one is a remark, unless it is the only one.
fn read_known(
    reading: &Reading<'_>,
    known: &[(PathBuf, &'static Importer)],
    diagnostics: &mut Diagnostics,
    progress: &Progress<'_>,
) -> Result<Merge, FileError> {
    let labels = Labels::new(reading.folder, known, reading.is_flat);
    let mut merge = Merge::default();
    let mut failed = None;
    let mut n_read = 0_usize;
    let mut of_xla: Vec<usize> = Vec::new();
    let groups = tables(known, progress);
    let read = |group: &[usize], progress: &Progress<'_>| {
        let paths: Vec<&Path> = group.iter().map(|position| &*known[*position].0).collect();
        read_together(&paths, known[group[0]].1, progress)
    };
    let contents = read_ahead(&groups, reading.keep, read, progress);
    let mut again: VecDeque<(Vec<usize>, Option<Content>)> = groups.into_iter().zip(contents).collect();
    while let Some((group, content)) = again.pop_front() {
        let paths: Vec<&Path> = group.iter().map(|position| &*known[*position].0).collect();
        let row = known[group[0]].1;
        let label = if known.len() == group.len() {
            String::new()
        } else {
            labels.of(paths[0])
        };
        match content.unwrap_or_else(|| read(&group, progress)).transpose() {
            // They do not belong to one dump.
            None => {
                for part in multi_file::apart(&paths, progress).into_iter().rev() {
                    again.push_front((part.iter().map(|member| group[*member]).collect(), None));
                }
            }
            Some(Ok(mut imported)) => {
                n_read += 1;
                for config in reading.configs {
                    config.apply(paths[0], &mut imported);
                }
                diagnostics.extend(&match label.as_str() {
                    "" => imported.diagnostics,
                    label => imported.diagnostics.placed_in(label),
                });
                let n_before = merge.graphs.len();
                merge.add(imported.source, imported.measured, &label);
                if row.name == XLA {
                    of_xla.extend(n_before..merge.graphs.len());
                }
            }
            Some(Err(error)) if progress.check().is_err() => return Err(error),
            Some(Err(error)) => {
                // The message begins with the name of the file.
                diagnostics.error(error.to_string(), "");
                failed.get_or_insert(error);
            }
        }
    }
    leave_out_stages(&mut merge.graphs, &of_xla, diagnostics);
    match failed {
        Some(error) if n_read == 0 => Err(error),
        _ => Ok(merge),
    }
}

/// XLA dumps a module at several stages: where one of them has its plan, the others of the same name do not run.
fn leave_out_stages(graphs: &mut Vec<GraphEntry>, of_xla: &[usize], diagnostics: &mut Diagnostics) {
    let is_planned = |entry: &GraphEntry| {
        let dumped = entry.dumped.as_ref();
        dumped.is_some_and(|dumped| dumped.offsets.is_some() || !dumped.arenas.is_empty())
    };
    let planned: Vec<String> = of_xla
        .iter()
        .map(|position| &graphs[*position])
        .filter(|entry| is_planned(entry))
        .map(|entry| entry.name.clone())
        .collect();
    let mut position = 0;
    graphs.retain(|entry| {
        let is_stage = of_xla.contains(&position) && !is_planned(entry) && planned.contains(&entry.name);
        position += 1;
        if is_stage {
            diagnostics.info(
                "a module of another compiler stage is skipped; open that file alone to see it".to_owned(),
                &entry.name,
            );
        }
        !is_stage
    });
}

/// Remarks on files that no importer recognises: what they are, or their number.
fn passed_over(files: &[PathBuf], unread: &[(&Path, Option<&'static str>)]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (path, advice) in unread {
        let message = advice.map_or_else(
            || "a file of the folder has an unknown format".to_owned(),
            |advice| format!("a file of the folder is not read: {advice}"),
        );
        diagnostics.info(message, &path.display().to_string());
    }
    if files.len() >= MOST_FILES {
        diagnostics.warning(
            format!("the folder has more files than the limit of {MOST_FILES}; open a subfolder"),
            "",
        );
    }
    diagnostics
}

/// Groups of files: slices of one table, texts of one XLA dump, all logs of CANN, and every other file alone.
fn tables(known: &[(PathBuf, &'static Importer)], progress: &Progress<'_>) -> Vec<Vec<usize>> {
    let sliced: Vec<usize> = (0..known.len())
        .filter(|position| known[*position].1.name == SLICED)
        .collect();
    let names: Vec<String> = sliced
        .iter()
        .map(|position| known[*position].0.display().to_string())
        .collect();
    let groups = group_slices(&names).into_iter();
    let mut tables: Vec<Vec<usize>> = groups
        .map(|group| group.into_iter().map(|member| sliced[member]).collect())
        .collect();
    let paths: Vec<Option<&Path>> = known
        .iter()
        .map(|(path, row)| (row.name == XLA).then_some(&**path))
        .collect();
    let others = multi_file::dumps(&paths, false, progress).into_iter();
    tables.extend(others.filter(|group| ![SLICED, LOGS].contains(&known[group[0]].1.name)));
    // Logs tell of the same processes.
    let logs: Vec<usize> = (0..known.len())
        .filter(|position| known[*position].1.name == LOGS)
        .collect();
    tables.extend((!logs.is_empty()).then_some(logs));
    tables.sort_unstable_by_key(|group| group.iter().min().copied());
    tables
}

/// The importer whose tables come in slices.
const SLICED: &str = "ascend_profiler";

/// The files that an importer recognises; files that cannot be opened are skipped like unknown ones.
fn recognised(
    files: &[PathBuf],
    row: Option<&'static Importer>,
    progress: &Progress<'_>,
) -> Result<Vec<(PathBuf, &'static Importer)>, FileError> {
    let mut known = Vec::new();
    for (position, path) in files.iter().enumerate() {
        progress
            .set("reading the folder", position as u64, files.len() as u64)
            .map_err(|cancelled| FileError::import(path, cancelled.into()))?;
        let input = input_of(path, progress).ok().and_then(Result::ok);
        let found = input.and_then(|mut input| row.or_else(|| recognise(&mut input)));
        known.extend(found.map(|row| (path.clone(), row)));
    }
    Ok(known)
}

/// Where XLA wrote a module as `.hlo.pb`, which holds everything, the texts of the same dump are left out: those whose
/// names begin like its name, and buffer assignments and live ranges without a module name.
fn without_twins(known: Vec<(PathBuf, &'static Importer)>) -> Vec<(PathBuf, &'static Importer)> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &Path| {
        let name = name(path);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.strip_suffix(".hlo.pb").map(str::to_owned)
    };
    let wholes: Vec<(PathBuf, String)> = known
        .iter()
        .filter(|(_, row)| row.name == XLA)
        .filter_map(|(path, _)| Some((path.parent()?.to_owned(), stem(path)?)))
        .collect();
    let is_twin = |path: &Path| {
        let name = name(path);
        let own = |stem: &str| name.starts_with(stem) || ASSIGNMENTS.iter().any(|text| name.starts_with(text));
        wholes
            .iter()
            .any(|(folder, stem)| path.parent() == Some(folder) && own(stem))
    };
    let is_kept =
        |(path, row): &(PathBuf, &'static Importer)| row.name != XLA || stem(path).is_some() || !is_twin(path);
    known.into_iter().filter(is_kept).collect()
}

/// Dumps of `MindSpore`'s passes are one graph: those that a later one, or a plan, makes superfluous are left out.
fn without_stages(
    known: Vec<(PathBuf, &'static Importer)>,
    diagnostics: &mut Diagnostics,
) -> Vec<(PathBuf, &'static Importer)> {
    let names: Vec<(String, String)> = known
        .iter()
        .map(|(path, _)| {
            (
                path.parent().unwrap_or(Path::new("")).display().to_string(),
                name_of(path),
            )
        })
        .collect();
    let files = names.iter().zip(&known).map(|((folder, name), (_, row))| FolderFile {
        folder,
        name,
        format: row.name,
    });
    let superseded = superseded_dumps(&files.collect::<Vec<FolderFile<'_>>>());
    let mut kept = Vec::with_capacity(known.len());
    for (file, is_superseded) in known.into_iter().zip(superseded) {
        if is_superseded {
            let message = "a dump of MindSpore is skipped because another of the folder has the same graph later or with its plan; open \
                           it alone to see it";
            diagnostics.info(message, &file.0.display().to_string());
        } else {
            kept.push(file);
        }
    }
    kept
}

/// Texts about the module of their folder.
const ASSIGNMENTS: &[&str] = &["buffer-assignment", "live-range", "memory-usage-report"];

/// The importer of XLA's dumps.
const XLA: &str = "xla";

/// Several files as one; `None` where they do not belong together.
fn read_together(
    paths: &[&Path],
    row: &'static Importer,
    progress: &Progress<'_>,
) -> Result<Option<Imported>, FileError> {
    if row.name == XLA && paths.len() > 1 {
        read_joined(paths, progress)
    } else if row.name == LOGS {
        read_logs(paths, progress).map(Some)
    } else {
        read_slices(paths, row, progress).map(Some)
    }
}

/// One table of one or more slices.
fn read_slices(paths: &[&Path], row: &'static Importer, progress: &Progress<'_>) -> Result<Imported, FileError> {
    let [first, rest @ ..] = paths else {
        return Err(FileError::import(
            Path::new(""),
            std::io::Error::from(std::io::ErrorKind::NotFound).into(),
        ));
    };
    let mut read = if rest.is_empty() {
        read_path(first, Some(row), progress)?
    } else {
        read_parts(paths, row, progress)?
    };
    tell_missing_slices(paths, &mut read);
    Ok(read)
}

/// Adds a remark on missing slices of a table.
pub(super) fn tell_missing_slices(paths: &[&Path], read: &mut Imported) {
    let names: Vec<String> = paths.iter().map(|path| name_of(path)).collect();
    let missing = missing_slices(&names);
    if read.format != SLICED || missing.is_empty() {
        return;
    }
    let numbers: Vec<String> = missing.iter().map(u64::to_string).collect();
    let message = format!(
        "slices {} of the table are missing, so blocks may be missing or appear unfreed; open all slices or their \
         folder",
        numbers.join(", ")
    );
    read.diagnostics.warning(message, &names[0]);
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The positions of slices, in their order, one list for each table that has several.
pub(super) fn slices_among(paths: &[Option<&Path>], progress: &Progress<'_>) -> Vec<Vec<usize>> {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.map_or_else(String::new, |path| path.display().to_string()))
        .collect();
    let mut groups = group_slices(&names);
    groups.retain(|group| {
        let is_slice = |position: &usize| {
            let input = paths[*position].filter(|path| path.is_file());
            let input = input.and_then(|path| input_of(path, progress).ok()?.ok());
            input.is_some_and(|mut input| recognise(&mut input).is_some_and(|row| row.name == SLICED))
        };
        group.len() > 1 && group.iter().all(is_slice)
    });
    groups
}

/// Reads the slices of one table.
///
/// # Errors
/// [`FileError`] of the first.
pub(super) fn read_sliced(paths: &[&Path], progress: &Progress<'_>) -> Result<Imported, FileError> {
    match importer(SLICED) {
        Some(row) => read_slices(paths, row, progress),
        None => read_path(paths[0], None, progress),
    }
}

/// Labels of the files of a folder.
struct Labels<'a> {
    folder: &'a Path,
    is_flat: bool,
    /// Files per label.
    counts: BTreeMap<String, usize>,
}

impl<'a> Labels<'a> {
    fn new(folder: &'a Path, known: &[(PathBuf, &'static Importer)], is_flat: bool) -> Self {
        let mut counts = BTreeMap::new();
        for (path, _) in known {
            *counts.entry(label(folder, path, is_flat)).or_default() += 1;
        }
        Self {
            folder,
            is_flat,
            counts,
        }
    }

    /// The label of a file, with the extension where files differ only in that.
    fn of(&self, path: &Path) -> String {
        let label = label(self.folder, path, self.is_flat);
        match (self.counts.get(&label), path.extension()) {
            (Some(2..), Some(ending)) => format!("{label}.{}", ending.to_string_lossy()),
            _ => label,
        }
    }
}

/// The label of a file: its relative folder, or, where all files are in one folder, its name without the extension.
fn label(folder: &Path, file: &Path, is_flat: bool) -> String {
    let inside = file.strip_prefix(folder).unwrap_or(file);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match inside.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !is_flat => {
            format!("{} {stem}", parent.display())
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_above_the_limit_says_the_limit() {
        let error = FileError::EmptyFolder {
            name: "many".to_owned(),
            files: MOST_FILES,
            is_named: false,
            advice: "open another".to_owned(),
        };
        assert!(error.to_string().contains("first 20000 files"), "{error}");
    }

    #[test]
    fn a_file_is_called_after_its_folder() {
        let root = Path::new("/run");
        assert_eq!(label(root, Path::new("/run/rank1/out/b.csv"), false), "rank1/out b");
        assert_eq!(label(root, Path::new("/run/a.csv"), false), "a");
        assert_eq!(label(root, Path::new("/run/out/a.csv"), true), "a");
    }
}
