//! Writes configurations: refuses those with errors and those that would say nothing, and tells what was written.

use std::path::Path;

use super::args::Writing;
use super::settings::Settings;
use super::{Verdict, print, say};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::{Finding, check_scheduled};
use highwater_script::{ConfigDocument, ConfigExport, config_errors, files_text};
use highwater_session::{Document, ReadFiles, config_from_document, look_at_files, write_config};

/// The files of a configuration, with the errors of its rules and of the files that it comes from.
pub(super) fn config_export(
    document: &ConfigDocument,
    path: &Path,
    findings: &[Finding],
    settings: &Settings,
) -> anyhow::Result<ConfigExport> {
    let mut remarks = Diagnostics::new();
    for (name, of_file) in &settings.remarks {
        remarks.extend(&of_file.prefixed(name));
    }
    ConfigExport::new(document, path, config_errors(findings, &remarks)).map_err(anyhow::Error::msg)
}

/// The files of a document's configuration, without a comparison.
pub(super) fn document_export(document: &Document, path: &Path, settings: &Settings) -> anyhow::Result<ConfigExport> {
    let files = look_at_files(&document.options, &document.environment);
    let findings = check_scheduled(&document.options, &document.environment, &files, &document.plan);
    config_export(&config_from_document(document, None), path, &findings, settings)
}

/// Writes or prints the files, or says why not.
pub(super) fn write_or_print(export: &ConfigExport, writing: Writing, read: &ReadFiles) -> anyhow::Result<Verdict> {
    if let Some(verdict) = refused(export, writing) {
        return Ok(verdict);
    }
    if writing.preview {
        print(&files_text(&export.files))?;
    } else {
        write_config(export, read)?;
        print(&report(export))?;
    }
    Ok(Verdict::Done)
}

/// Prints the errors; the verdict where nothing is written. A preview prints the files all the same.
fn refused(export: &ConfigExport, writing: Writing) -> Option<Verdict> {
    for error in &export.errors {
        say(&format!("error: {error}"));
    }
    let refusal = export.refusal(writing.force)?;
    if !refusal.can_be_forced {
        say(&refusal.message);
        return Some(Verdict::No);
    }
    if writing.preview {
        // A closed standard output is ignored: the refusal is the answer.
        drop(print(&files_text(&export.files)));
    }
    say("nothing written: the configuration has errors; fix them or add --force");
    Some(Verdict::No)
}

/// What `learn` says of the files that it wrote; `None` where it wrote none.
pub(super) fn write_learned(
    export: &ConfigExport,
    is_forced: bool,
    read: &ReadFiles,
) -> anyhow::Result<Option<String>> {
    let writing = Writing {
        force: is_forced,
        preview: false,
        raw: false,
    };
    if refused(export, writing).is_some() {
        return Ok(None);
    }
    write_config(export, read)?;
    Ok(Some(report(export)))
}

/// The written files and the notes, a line each.
fn report(export: &ConfigExport) -> String {
    let files = export
        .files
        .iter()
        .map(|file| format!("wrote {}\n", file.path.display()));
    let notes = export.notes.iter().map(|note| format!("note: {note}\n"));
    files.chain(notes).collect()
}
