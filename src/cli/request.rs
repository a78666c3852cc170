//! From arguments to a request: the sources are read, and settings, documents and samples fill the request.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::Common;
use super::choice;
use super::dims::unused_dims;
use super::settings::Settings;
use highwater_analysis::{LaneSet, Request, bound_plan};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::ScheduleEntry;
use highwater_plan::Limits;
use highwater_session::{
    Keep, Loaded, OnFailure, SourceSpec, load_kept, look_at_files_with, preset_iterations, presets_of,
};
use highwater_sim::StaticMemoryPolicy;

/// A request with the workload and the settings that it was made of.
pub(super) struct Prepared {
    pub(super) settings: Settings,
    pub(super) sources: Vec<SourceSpec>,
    pub(super) loaded: Loaded,
    pub(super) request: Request,
}

impl Prepared {
    /// Reads the sources; `graph`, else the document, names the only graph of interest.
    pub(super) fn new(
        sources: Vec<SourceSpec>,
        settings: Settings,
        graph: Option<&String>,
        common: &Common,
        progress: &Progress<'_>,
    ) -> anyhow::Result<Self> {
        Self::kept(sources, settings, graph, common, (Keep::All, progress))
    }

    /// As [`Self::new`]. Where no graph or recording is named, `keep` says which recordings of a folder are whole.
    pub(super) fn kept(
        sources: Vec<SourceSpec>,
        settings: Settings,
        graph: Option<&String>,
        common: &Common,
        (keep, progress): (Keep, &Progress<'_>),
    ) -> anyhow::Result<Self> {
        let name = graph.or(settings.part.as_ref());
        // Rules of a document are applied to whole stacks.
        let is_whole = name.is_some() || !settings.recording_rules.is_empty();
        let keep = if is_whole { Keep::All } else { keep };
        let loaded = load_kept(&sources, settings.evaluation, OnFailure::Stop, keep, progress);
        let mut loaded = loaded.map_err(anyhow::Error::msg)?;
        if let Some(name) = name {
            show(&mut loaded, name)?;
        }
        Ok(Self {
            request: request(&loaded, &settings, &sources, common.iterations.is_none()),
            settings,
            sources,
            loaded,
        })
    }

    pub(super) fn diagnostics(&self) -> Diagnostics {
        import_diagnostics(&self.loaded, &self.settings)
    }
}

/// A request under every policy with the settings as they are.
pub(super) fn plain_request(loaded: &Loaded, settings: &Settings) -> Request {
    Request {
        lanes: LaneSet::Policies,
        workload: Arc::clone(&loaded.workload),
        plan: settings.plan.clone(),
        options: settings.options.clone(),
        environment: settings.environment.clone(),
        files: Arc::new(look_at_files_with(
            &settings.options,
            &settings.environment,
            &settings.pins,
        )),
        device: settings.device.clone(),
        policies: Vec::new(),
        strategies: settings.strategies.clone(),
        allocator_settings: settings.allocator_settings.clone(),
        recording_rules: settings.recording_rules.clone(),
        search: Limits::DEFAULT_NODES.into(),
        pins: settings
            .pins
            .iter()
            .map(|pin| pin.with_schedule(&settings.plan))
            .collect(),
    }
}

/// The same for the chosen part of the sources. Samples among them add their presets.
fn request(loaded: &Loaded, settings: &Settings, sources: &[SourceSpec], takes_iterations: bool) -> Request {
    let mut request = plain_request(loaded, settings);
    loaded.follow(&mut request.plan);
    for pin in &mut request.pins {
        loaded.follow(&mut pin.configuration.plan);
    }
    fill_presets(&mut request, sources, takes_iterations && !settings.has_document);
    if !Arc::ptr_eq(&loaded.workload, &loaded.whole) {
        // Entries of graphs outside the chosen part are ignored; those of unknown graphs stay and are reported.
        let (part, whole) = (loaded.workload.scheduled_graphs(), loaded.whole.scheduled_graphs());
        let pins = request.pins.iter_mut().map(|pin| &mut pin.configuration.plan);
        for plan in std::iter::once(&mut request.plan).chain(pins) {
            let names = plan.clone();
            let is_elsewhere = |entry: &ScheduleEntry| {
                names.graph_of(entry, &part).is_none() && names.graph_of(entry, &whole).is_some()
            };
            plan.entries.retain(|entry| !is_elsewhere(entry));
        }
    }
    if !request.workload.graphs().is_empty() {
        // Unknown dimensions are reported by `import_diagnostics`.
        let known = request.workload.symbols();
        request.plan.dims.retain(|name, _| known.contains(name));
    }
    request
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
    let names: Vec<String> = loaded.parts.iter().map(|part| part.name.clone()).collect();
    bail!("{file}: no graph \"{name}\"; the file has {}", choice::list(&names));
}

/// A bundled sample has values for its dimensions, and iterations where no flag has any. Flags and options win over them.
pub(super) fn fill_presets(request: &mut Request, sources: &[SourceSpec], takes_iterations: bool) {
    if takes_iterations && request.plan.iterations == 1 {
        request.plan.iterations = preset_iterations(sources);
    }
    let (bound, _) = bound_plan(request);
    for (name, values) in presets_of(sources) {
        if !bound.dims.contains_key(&name) {
            request.plan.dims.insert(name, values);
        }
    }
}

/// Diagnostics of importers and configuration files, and a warning per value of a dimension that no graph has.
pub(super) fn import_diagnostics(loaded: &Loaded, settings: &Settings) -> Diagnostics {
    let mut all = loaded.diagnostics.clone();
    for (name, remarks) in &settings.remarks {
        all.extend(&remarks.prefixed(name));
    }
    let dims = settings.plan.dims.iter();
    let first = dims.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
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
