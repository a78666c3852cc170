//! `--run`, `--schedule` and `--name`: the content of an iteration.

use anyhow::{Context as _, bail};

use crate::args::Common;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::{ScheduleEntry, SchedulePlan};
use highwater_script::schedule_from_json;
use highwater_session::read_bytes;

/// The schedule of a file.
pub(super) fn read(common: &Common) -> anyhow::Result<Option<SchedulePlan>> {
    let Some(path) = &common.schedule else { return Ok(None) };
    let name = path.display().to_string();
    let read = schedule_from_json(&read_bytes(path, &Progress::silent(&Cancel::new()))?).with_context(|| name)?;
    Ok(Some(read))
}

/// The entries of flags replace those of a configuration or a document.
pub(super) fn apply(common: &Common, plan: &mut SchedulePlan) -> anyhow::Result<()> {
    if !common.run.is_empty() {
        let read = |text: &String| text.parse::<ScheduleEntry>().with_context(|| format!("--run {text}"));
        plan.entries = common.run.iter().map(read).collect::<Result<_, _>>()?;
    }
    for text in &common.name {
        // Names may contain "=": the last one separates.
        let pair = text.rsplit_once('=').map(|(own, name)| (own.trim(), name.trim()));
        let Some((own, name)) = pair.filter(|(own, name)| !own.is_empty() && !name.is_empty()) else {
            bail!("--name {text}: expected --name GRAPH=NAME");
        };
        plan.names.insert(own.to_owned(), name.to_owned());
    }
    Ok(())
}
