//! Documents on the command line: flags win over their sources and settings; and writing a document.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::args::{ExportArgs, PlanArgs, YesNo};
use super::opening::Opening;
use super::settings::Settings;
use super::{Verdict, warn};
use highwater_analysis::LaneSet;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_options::keys;
use highwater_session::{
    AllowedOutside, Document, DocumentFile, OpenedDocument, OutputKind, SourceSpec, SourceState, is_document,
    open_document, save_document,
};

/// The sources and the document of the arguments.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// A document is replaced by its sources.
    pub(super) sources: Vec<SourceSpec>,
    pub(super) document: Option<OpenedDocument>,
}

impl Named {
    /// A file is a document by its content, or by its name.
    pub(super) fn of(files: &[PathBuf], opening: &Opening, progress: &Progress<'_>) -> anyhow::Result<Self> {
        let mut named = Self {
            sources: Vec::new(),
            document: None,
        };
        for source in opening.sources(files)? {
            let path = match &source {
                SourceSpec::Path(path) if is_document(path) => path,
                SourceSpec::Within { source: inner, .. } if inner.path().is_some_and(is_document) => {
                    bail!(
                        "{}: a range of events is of a recording; name the recording, not a document",
                        inner.label()
                    )
                }
                _ => {
                    named.sources.push(source);
                    continue;
                }
            };
            if let Some(other) = &named.document {
                bail!(
                    "{} and {} are both documents; name one",
                    other.path.display(),
                    path.display()
                );
            }
            let document = open_document(path, &AllowedOutside::all_if(opening.allow_outside), progress)?;
            remark(path, &document)?;
            named.sources.extend(document.file.document.sources.iter().cloned());
            named.document = Some(document);
        }
        Ok(named)
    }

    /// The document with all sources, or a new one. Commands compare policies, whatever lanes the window shows.
    pub(super) fn merged(&self) -> Document {
        let sources = self.sources.clone();
        match &self.document {
            None => Document::new(sources),
            Some(opened) => Document {
                sources,
                lanes: LaneSet::default(),
                ..opened.file.document.clone()
            },
        }
    }

    /// The values of `--dim` with those of the document, for commands that take one value per dimension. Given values win.
    pub(super) fn dims(&self, given: &[String]) -> Vec<String> {
        let mut dims = given.to_vec();
        let document = self.document.as_ref().map(|document| &document.file.document);
        for (name, values) in document.into_iter().flat_map(|document| &document.plan.dims) {
            let is_given = given
                .iter()
                .any(|text| text.split('=').next().map(str::trim) == Some(name));
            if let ([value], false) = (&values[..], is_given) {
                dims.push(format!("{name}={value}"));
            }
        }
        dims
    }
}

/// Warns about oddities and changed sources of a document; a missing source is an error.
fn remark(path: &Path, document: &OpenedDocument) -> anyhow::Result<()> {
    let name = path.display();
    for entry in document.remarks.entries() {
        warn(Severity::Warning, &format!("{name}: {}", entry.message));
    }
    for (source, note) in document.file.document.sources.iter().zip(&document.notes) {
        let label = source.label();
        match &note.state {
            SourceState::Same => {}
            SourceState::Changed => {
                let what = "changed since the document was saved";
                let text = format!("{name}: {label} {what}; figures are of the current file");
                warn(Severity::Warning, &text);
            }
            SourceState::Missing(reason) => bail!(
                "{name}: source {label}: {reason}; restore the file or locate it in the window (`highwater {name}`)"
            ),
        }
    }
    Ok(())
}

/// The arguments of `plan`, completed by its document, and the only source.
pub(super) fn plan_of(args: &PlanArgs, progress: &Progress<'_>) -> anyhow::Result<(PlanArgs, SourceSpec, Diagnostics)> {
    let named = Named::of(std::slice::from_ref(&args.file), &args.opening, progress)?;
    let mut args = args.clone();
    args.dim = named.dims(&args.dim);
    let [source] = &named.sources[..] else {
        bail!(
            "{}: `plan` takes one source, the document has {}: name one, or use `highwater compare`",
            args.file.display(),
            named.sources.len()
        );
    };
    let mut remarks = Diagnostics::new();
    if let Some(opened) = &named.document {
        let document = &opened.file.document;
        args.graph = args.graph.or_else(|| document.part.clone());
        if document.options.written(keys::SHAPES_KEEP_ALIVE).to_string() == "no" {
            args.shapes_keep_alive = YesNo::No;
        }
        remarks = opened.remarks.clone();
    }
    Ok((args, source.clone(), remarks))
}

/// The document among the files with its argument.
pub(super) fn named_document(settings: &Settings, files: &[PathBuf]) -> Option<(String, OpenedDocument)> {
    let document = settings.file.clone()?;
    let is_it = |file: &&PathBuf| std::path::absolute(file).is_ok_and(|path| path == document.path);
    let name = files.iter().find(is_it).unwrap_or(&document.path);
    Some((name.display().to_string(), document))
}

/// Writes a document with the sources and settings of the arguments. Other content of a document among them is kept.
pub(super) fn write_document(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let mut settings = Settings::read(&args.files, &args.common, progress)?;
    settings.add_lanes(&args.lanes)?;
    settings.read_files().refuse(&args.to, OutputKind::Document)?;
    for source in &settings.document.sources {
        if let SourceSpec::Path(path) = source
            && !path.exists()
        {
            bail!("{}: there is no such file", path.display());
        }
    }
    let before = settings.file.map_or_else(
        || DocumentFile::new(Document::new(Vec::new())),
        |document| document.file,
    );
    let mut hashes = before.hashes.clone();
    hashes.resize(settings.document.sources.len(), None);
    let document = Document {
        part: args.graph.clone().or_else(|| before.document.part.clone()),
        lanes: before.document.lanes.clone(),
        ..settings.document
    };
    let file = before.with(document, hashes, before.view.clone());
    save_document(&file, &args.to, progress).map_err(anyhow::Error::msg)?;
    Ok(Verdict::Done)
}
