//! `--run`, `--schedule` and `--name`: the content of an iteration.

use anyhow::{Context as _, bail};

use crate::args::Common;
use highwater_export::schedule_from_json;
use highwater_model::workload::{ScheduleEntry, SchedulePlan};
use highwater_session::read_bytes;

/// The long help of `--run`.
pub(crate) const RUN_HELP: &str = "\
What an iteration holds, entry by entry in order (repeatable), instead of every graph once:
  GRAPH                          the graph runs once, with the values of --dim
  GRAPH[seq=8,16; batch=4]*3 @1  values of its dimensions, three times, in concurrent group 1
  load GRAPH, unload GRAPH       it is loaded or unloaded there
Values: 8,16,32 (a list), 8..64 step 8 (a range), 8..1024 log 5 seed 7 (a sample of 5, uniform by logarithm),
8~1024 samples 4 (a dimension of dynamic_inputs_shape_range). Neighbours of one group run at the same time.
A name with one of []*@; goes within quotes (\").";

/// The entries of flags replace those of a configuration or a document.
pub(super) fn apply(common: &Common, plan: &mut SchedulePlan) -> anyhow::Result<()> {
    if let Some(path) = &common.schedule {
        let name = path.display().to_string();
        let read = schedule_from_json(&read_bytes(path)?).with_context(|| name)?;
        *plan = read;
    }
    if !common.run.is_empty() {
        let read = |text: &String| text.parse::<ScheduleEntry>().with_context(|| format!("--run {text}"));
        plan.entries = common.run.iter().map(read).collect::<Result<_, _>>()?;
    }
    for text in &common.name {
        // Names may contain "=": the last one separates.
        let pair = text.rsplit_once('=').map(|(own, name)| (own.trim(), name.trim()));
        let Some((own, name)) = pair.filter(|(own, name)| !own.is_empty() && !name.is_empty()) else {
            bail!("--name {text}: write --name GRAPH=NAME");
        };
        plan.names.insert(own.to_owned(), name.to_owned());
    }
    Ok(())
}
