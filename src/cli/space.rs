//! What `sweep` and `recommend` have in common: from arguments to a space over what the files hold.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::SpaceArgs;
use super::compare::{import_diagnostics, request_of, show};
use super::opened::Named;
use highwater_analysis::Request;
use highwater_analysis::sweep::{Explorer, Space, SweepAxis};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_session::{OnFailure, load, probe_sweep_files};

/// A space to try.
#[derive(Debug)]
pub(super) struct Asked {
    /// What tries its points.
    pub(super) explorer: Explorer,
    /// What the files are called.
    pub(super) name: String,
    /// The memory in which points have to fit, as it was given.
    pub(super) capacity: Option<String>,
    /// What was odd in files and configurations.
    pub(super) diagnostics: Diagnostics,
}

impl Asked {
    /// Reads the files and the axes.
    ///
    /// # Errors
    /// A sentence that names the file or the flag.
    pub(super) fn new(args: &SpaceArgs, progress: &Progress<'_>) -> anyhow::Result<Self> {
        let named = Named::of(&args.files, &args.common.opening, progress)?;
        let settings = named.settings(&args.common)?;
        let sources = named.sources;
        let mut loaded = load(&sources, settings.evaluation, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
        if let Some(name) = args.graph.as_ref().or(settings.part.as_ref()) {
            show(&mut loaded, name)?;
        }
        let mut request = request_of(&loaded, &settings, &sources, args.common.iterations.is_none());
        let space = space(args, &request)?;
        request.files = Arc::new(probe_sweep_files(&space));
        Ok(Self {
            name: loaded.workload.name.clone(),
            capacity: args.capacity.clone(),
            diagnostics: import_diagnostics(&loaded, &settings),
            explorer: Explorer::new(&request, space)?,
        })
    }
}

fn space(args: &SpaceArgs, request: &Request) -> anyhow::Result<Space> {
    let dims = request.workload.symbols();
    let axes = if args.axis.is_empty() {
        SweepAxis::usual()
    } else {
        let parsed = args.axis.iter().map(|text| SweepAxis::parse(text, &dims));
        parsed.collect::<Result<_, _>>().context("--axis")?
    };
    let mut space = Space::new(request.configuration(), axes)?;
    if let Some(capacity) = &args.capacity {
        let bytes = Bytes::parse(capacity).context("--capacity")?;
        if bytes == Bytes::ZERO {
            bail!("--capacity must be more than 0");
        }
        space = space.with_capacity(bytes).context("--capacity")?;
    }
    Ok(space)
}
