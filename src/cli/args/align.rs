//! The alignment of recordings on one axis.

use anyhow::bail;
use clap::Args;

use crate::warn;
use highwater_analysis::{Comparison, LaneKind};
use highwater_model::diagnostics::Severity;
use highwater_model::workload::Alignment;
use highwater_options::{Options, keys};

#[derive(Args, Debug)]
pub struct AlignArgs {
    /// Align recordings by events, steps, annotation=TEXT or `call_site`
    #[arg(long, value_name = "HOW")]
    pub align: Option<String>,
}

impl AlignArgs {
    /// Sets the alignment: a name, or `annotation=TEXT`.
    ///
    /// # Errors
    /// There is no such alignment.
    pub(crate) fn set(&self, options: &mut Options) -> anyhow::Result<()> {
        let Some(how) = &self.align else { return Ok(()) };
        let (name, annotation) = how
            .split_once('=')
            .map_or((how.as_str(), None), |(name, text)| (name, Some(text)));
        let found =
            Alignment::find(name.trim()).filter(|found| annotation.is_none() || *found == Alignment::Annotation);
        let Some(found) = found else {
            let known = Alignment::ALL.map(Alignment::name).join(", ");
            bail!("--align {how}: expected one of {known}, or annotation=TEXT");
        };
        options.set_text(keys::MEASURED_ALIGNMENT, found.name())?;
        if let Some(annotation) = annotation {
            options.set_text(keys::MEASURED_ANNOTATION, annotation)?;
        }
        Ok(())
    }

    /// Warns where there is nothing to align.
    pub(crate) fn warn_without_effect(&self, comparison: &Comparison) {
        let are_recordings = comparison.lane_kind() == LaneKind::Recordings;
        if self.align.is_some() && are_recordings && comparison.workload.recordings().len() < 2 {
            let text = "--align has no effect: one recording is open; to compare runs event by event, give both: \
                        `highwater compare BEFORE AFTER --align HOW`, without --baseline";
            warn(Severity::Warning, text);
        }
    }
}
