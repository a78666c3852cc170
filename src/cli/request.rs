//! From the document of the arguments to a request: its sources are read.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::choice;
use super::dims::unused_dims;
use super::settings::Settings;
use highwater_analysis::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_session::{Document, Keep, Loaded, OnFailure, load_kept, look_at_files_with};
use highwater_sim::StaticMemoryPolicy;

/// A request with the workload and the settings that it was made of.
pub(super) struct Prepared {
    pub(super) settings: Settings,
    pub(super) loaded: Loaded,
    pub(super) request: Request,
}

impl Prepared {
    /// Reads the sources; `graph`, else the document, names the only graph of interest.
    pub(super) fn new(settings: Settings, graph: Option<&String>, progress: &Progress<'_>) -> anyhow::Result<Self> {
        Self::kept(settings, graph, Keep::All, progress)
    }

    /// As [`Self::new`]. Where no graph or recording is named, `keep` says which recordings of a folder are whole.
    pub(super) fn kept(
        mut settings: Settings,
        graph: Option<&String>,
        keep: Keep,
        progress: &Progress<'_>,
    ) -> anyhow::Result<Self> {
        let document = &mut settings.document;
        document.part = graph.or(document.part.as_ref()).cloned();
        // Rules of a document are applied to whole stacks.
        let is_whole = document.part.is_some() || !document.recording_rules.is_empty();
        let keep = if is_whole { Keep::All } else { keep };
        let loaded = load_kept(
            &document.sources,
            document.with_evaluation,
            OnFailure::Stop,
            keep,
            progress,
        );
        let mut loaded = loaded.map_err(anyhow::Error::msg)?;
        if let Some(name) = &document.part {
            show(&mut loaded, name)?;
        }
        Ok(Self {
            request: request(document, &loaded),
            settings,
            loaded,
        })
    }

    pub(super) fn diagnostics(&self) -> Diagnostics {
        import_diagnostics(&self.loaded, &self.settings)
    }
}

/// The request of the document, with the files that its options name as they are now.
pub(super) fn request(document: &Document, loaded: &Loaded) -> Request {
    let files = look_at_files_with(&document.options, &document.environment, &document.pins);
    document.request(loaded, Arc::new(files))
}

/// Restricts the workload to one of its parts.
fn show(loaded: &mut Loaded, name: &str) -> anyhow::Result<()> {
    if loaded.show(Some(name)) {
        return Ok(());
    }
    let file = &loaded.workload.name;
    if loaded.parts.is_empty() {
        bail!("{file}: no graph in the file, so --graph does not apply");
    }
    let names: Vec<&str> = loaded.parts.iter().map(|part| &*part.name).collect();
    Err(choice::no_graph(file, name, &names))
}

/// Diagnostics of importers and configuration files, and a warning per value of a dimension that no graph has.
pub(super) fn import_diagnostics(loaded: &Loaded, settings: &Settings) -> Diagnostics {
    let mut all = loaded.diagnostics.clone();
    for (name, remarks) in &settings.remarks {
        all.extend(&remarks.prefixed(name));
    }
    let dims = settings.document.stated_dims().into_iter();
    let first = dims.filter_map(|(name, values)| Some((name, *values.first()?)));
    all.extend(&unused_dims(&loaded.workload, &first.collect()));
    all
}

/// The policies of `--policies`.
pub(super) fn policies(texts: &[String]) -> anyhow::Result<Vec<StaticMemoryPolicy>> {
    let mut policies = Vec::new();
    for text in texts {
        match policy_of(text) {
            Some(policy) => policies.push(policy),
            None => bail!(
                "--policies {text}: expected a list of {}, e.g. 0,2",
                StaticMemoryPolicy::known_numbers()
            ),
        }
    }
    Ok(policies)
}

/// The policy of `--policy`.
pub(super) fn chosen_policy(text: &str) -> anyhow::Result<StaticMemoryPolicy> {
    policy_of(text).with_context(|| {
        let known = StaticMemoryPolicy::known_numbers();
        format!("--policy {text}: expected {known}")
    })
}

/// The policy of a number as text.
pub(super) fn policy_of(text: &str) -> Option<StaticMemoryPolicy> {
    StaticMemoryPolicy::from_number(text.trim().parse().ok()?)
}
