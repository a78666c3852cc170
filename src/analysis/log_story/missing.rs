//! What a log lacks, and how to have it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::log_words::DEFAULT_LEVEL;
use super::vendor::is_of_ascend;
use highwater_model::units::Bytes;
use highwater_model::workload::{LogLevel, LoggedProcess};

const RUN_LOG: &str = "Only error lines are here: add ~/ascend/log/run/plog, which every run writes; it tells what the driver's \
                       modules had, the arenas of graphs, and the policy.";

const PLOG: &str = "This is terminal text: add ~/ascend/log/run/plog and ~/ascend/log/debug/plog of the same run; they tell what \
                    the driver's modules had, and of GE's graphs and policy.";

const DEBUG_LOG: &str =
    "A failed request is in the debug log, not in the run log: if the run failed, add ~/ascend/log/debug/plog.";

const TRACEBACK: &str = "No allocator's line is among the text, so which request failed, and what was free then, is not stated: add \
                         the traceback, up to the sentence with the bytes.";

/// Sentences of one log, at most.
const MOST: usize = 8;

/// A sentence each, without repetitions.
pub(super) fn of(processes: &[Arc<LoggedProcess>]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sentence in processes.iter().flat_map(|process| of_process(process)) {
        if all.len() < MOST && !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    all
}

fn of_process(process: &LoggedProcess) -> Vec<String> {
    let has_run_log = process.device_total.is_some()
        || !process.graphs.is_empty()
        || !process.events.is_empty()
        || !process.driver.is_empty();
    let mut all: Vec<String> = match process.level {
        LogLevel::Default if has_run_log => vec![DEFAULT_LEVEL.to_owned()],
        LogLevel::Default => vec![RUN_LOG.to_owned(), DEFAULT_LEVEL.to_owned()],
        LogLevel::Terminal if is_of_ascend(process) => vec![PLOG.to_owned()],
        LogLevel::Info | LogLevel::Terminal => Vec::new(),
    };
    if process.level == LogLevel::Default && has_run_log && process.failures.is_empty() {
        all.insert(0, DEBUG_LOG.to_owned());
    }
    if process.failures.is_empty() && !process.statements.is_empty() {
        all.insert(0, TRACEBACK.to_owned());
    }
    all.extend(lost_heads(process));
    all
}

/// Plans whose placements end before the memory of their graph: the log's oldest files were deleted.
fn lost_heads(process: &LoggedProcess) -> impl Iterator<Item = String> {
    let mut seen = BTreeSet::new();
    process.graphs.iter().rev().filter_map(move |graph| {
        // The last compilation of a name has the plan.
        if !seen.insert(graph.plan.as_ref()?) {
            return None;
        }
        let total = graph.total?;
        let plan = process.plans.get(graph.plan.as_ref()?)?;
        let ends = plan.values().map(|place| Some(place.offset?.saturating_add(place.block?)));
        let end = ends.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        let rest = total.checked_sub(end).filter(|rest| *rest > 0)?;
        Some(format!(
            "The head of this log was rotated away: {} of the plan of graph {} are not covered. Set ASCEND_HOST_LOG_FILE_NUM=1000 \
             to keep more files.",
            Bytes(rest),
            graph.id
        ))
    })
}
