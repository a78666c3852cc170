//! From the arguments of `sweep` and `recommend` to a space of configurations of one workload.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::SpaceArgs;
use super::request::Prepared;
use super::settings::Settings;
use super::verified::told;
use highwater_analysis::Request;
use highwater_analysis::sweep::{Explorer, Space, SweepAxis};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_session::probe_sweep_files;

#[derive(Debug)]
pub(super) struct Exploration {
    pub(super) explorer: Explorer,
    /// The name of the workload.
    pub(super) name: String,
    /// The value of `--capacity`.
    pub(super) capacity: Option<String>,
    pub(super) diagnostics: Diagnostics,
}

impl Exploration {
    /// Reads the files and the axes.
    pub(super) fn new(args: &SpaceArgs, progress: &Progress<'_>) -> anyhow::Result<Self> {
        Self::over(args, Self::prepared(args, progress)?)
    }

    /// Reads the files alone.
    pub(super) fn prepared(args: &SpaceArgs, progress: &Progress<'_>) -> anyhow::Result<Prepared> {
        let settings = Settings::read(&args.files, &args.common, progress)?;
        Prepared::new(settings, args.graph.as_ref(), progress)
    }

    /// Reads the axes.
    pub(super) fn over(args: &SpaceArgs, mut prepared: Prepared) -> anyhow::Result<Self> {
        let space = space(args, &prepared.request)?;
        prepared.request.files = Arc::new(probe_sweep_files(&space));
        Ok(Self {
            name: prepared.loaded.workload.name.clone(),
            capacity: args.capacity.clone(),
            diagnostics: prepared.diagnostics(),
            explorer: if args.verifying.verify {
                Explorer::verifying(&prepared.request, space)?
            } else {
                Explorer::new(&prepared.request, space)?
            },
        })
    }

    /// Whether all simulations so far hold, or are not verified; a line on standard error says which.
    pub(super) fn holds(&self) -> bool {
        self.explorer.verification().is_none_or(told)
    }

    /// The name, then an axis per line.
    pub(super) fn head(&self) -> String {
        let mut out = format!("{}\n", self.name);
        for axis in self.explorer.space().axes() {
            let values: Vec<String> = axis.values.iter().map(|value| axis.value_text(value)).collect();
            out.push_str(&format!("{}: {}\n", axis.key(), values.join(", ")));
        }
        out
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
