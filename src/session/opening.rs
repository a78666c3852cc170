//! Detects documents, configurations and graphs among sources, and reads them.

use std::path::Path;

use super::document::SourceSpec;
use super::document_file::{AllowedOutside, NotOpened, OpenedDocument, Outside, is_document, open_document};
use super::files::{is_config, read_bytes};
use super::folder::Keep;
use super::known_names::KnownNames;
use super::load::{Reading, load_known};
use super::loaded::{Loaded, ReadConfig};
use super::multi_file::OnFailure;
use highwater_export::LogPage;
use highwater_import::{Input, recognise, unread_advice};
use highwater_model::progress::Progress;
use highwater_script::{ConfigDocument, is_script_name, read_config_of};

/// The content of sources.
pub(super) enum Opened {
    /// A document; its sources are not read yet.
    Document(Box<OpenedDocument>),
    /// A document that names files outside its folder, which are not allowed.
    Outside(Outside),
    /// Configurations and nothing else.
    Configs(Vec<ReadConfig>),
    /// Graphs, perhaps with configurations.
    Graphs(Box<Loaded>),
}

/// Reads sources. A document must be the only one.
///
/// # Errors
/// The sentence for the user.
pub(super) fn open_sources(
    sources: &[SourceSpec],
    with_evaluation: bool,
    known: &KnownNames,
    allowed: &AllowedOutside,
    progress: &Progress<'_>,
) -> Result<Opened, String> {
    match document_among(sources)?.map(|path| open_document(path, allowed, progress)) {
        Some(Ok(opened)) => return Ok(Opened::Document(Box::new(opened))),
        Some(Err(NotOpened::Outside(outside))) => return Ok(Opened::Outside(outside)),
        Some(Err(NotOpened::Failed(reason))) => return Err(reason),
        None => {}
    }
    let (configs, graphs) = split_configs(sources, progress)?;
    if graphs.is_empty() && !configs.is_empty() {
        return Ok(Opened::Configs(configs));
    }
    let reading = Reading {
        on_failure: OnFailure::Tell,
        keep: Keep::All,
        learns: true,
    };
    let mut loaded = load_known(&graphs, with_evaluation, known, reading, progress)?;
    loaded.configs = configs;
    // Failed requests of recorded histories are replayed, so the page is made here and not where it is shown.
    loaded.log_page = LogPage::new(&loaded.whole, progress).map_err(|cancelled| cancelled.to_string())?;
    Ok(Opened::Graphs(Box::new(loaded)))
}

fn document_among(sources: &[SourceSpec]) -> Result<Option<&Path>, String> {
    let documents = sources.iter().filter_map(|source| match source {
        SourceSpec::Path(path) if is_document(path) => Some(path.as_path()),
        _ => None,
    });
    match documents.collect::<Vec<_>>()[..] {
        [] => Ok(None),
        [one] if sources.len() == 1 => Ok(Some(one)),
        [first, ..] => Err(format!(
            "{}: a document cannot be opened together with other files",
            first.display()
        )),
    }
}

/// Reads the configurations among sources; the other sources are graphs.
fn split_configs(
    sources: &[SourceSpec],
    progress: &Progress<'_>,
) -> Result<(Vec<ReadConfig>, Vec<SourceSpec>), String> {
    let mut configs = Vec::new();
    let mut graphs = Vec::new();
    for source in sources {
        match source {
            SourceSpec::Path(path) if is_config(path) => configs.push(read_config_file(path, None, progress)?),
            _ => graphs.push(source.clone()),
        }
    }
    Ok((configs, graphs))
}

/// Reads a configuration; `of` chooses one of a script's.
///
/// # Errors
/// A sentence that starts with the file's name; for a model or a recording it says what the file is.
pub fn read_config_file(path: &Path, of: Option<&str>, progress: &Progress<'_>) -> Result<ReadConfig, String> {
    let bytes = read_bytes(path, progress).map_err(|error| error.to_string())?;
    let name = path.display().to_string();
    // Any JSON object is read as options.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if let Some(advice) = unread_model(&name, &bytes).filter(|_| is_object) {
        return Err(not_configuration(&name, advice));
    }
    let (config, remarks) = match read_config_of(&name, &bytes, of) {
        Ok(read) => read,
        Err(error) => return Err(other_than_config(&name, &bytes).unwrap_or_else(|| format!("{name}: {error}"))),
    };
    if is_object
        && sets_nothing(&config)
        && let Some(sentence) = other_than_config(&name, &bytes)
    {
        return Err(sentence);
    }
    Ok(ReadConfig {
        path: path.to_owned(),
        name,
        config,
        remarks,
    })
}

fn sets_nothing(config: &ConfigDocument) -> bool {
    config.options.is_empty()
        && config.environment.is_empty()
        && !config.evaluation
        && config.device.is_none()
        && config.schedule.is_none()
}

fn not_configuration(name: &str, advice: &str) -> String {
    format!("{name}: not a configuration: {advice}")
}

/// What a model or a recording is, for a user who takes it for a configuration.
fn other_than_config(name: &str, bytes: &[u8]) -> Option<String> {
    if let Some(advice) = unread_model(name, bytes) {
        return Some(not_configuration(name, advice));
    }
    let format = model_format(name, bytes)?;
    Some(format!(
        "{name}: not a configuration but {format}; open it with `highwater compare` or `highwater inspect`"
    ))
}

/// What a file is that neither an importer nor the reader of scripts takes.
fn unread_model(name: &str, bytes: &[u8]) -> Option<&'static str> {
    let mut input = Input::from_bytes(name, bytes).ok().filter(|_| !is_script_name(name))?;
    unread_advice(&mut input)
}

/// The format of a model or a recording.
fn model_format(name: &str, bytes: &[u8]) -> Option<&'static str> {
    let mut input = Input::from_bytes(name, bytes).ok().filter(|_| !is_script_name(name))?;
    recognise(&mut input).map(|importer| importer.title)
}
