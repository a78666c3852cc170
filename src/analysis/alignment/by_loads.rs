//! Alignment by loads: a log of CANN has no ops, but it says when graphs are loaded and unloaded.
//!
//! ```text
//! changes   0  | 1 2 3 | 4 5   | 6          | 7
//! log          load a    load b  unload b     load b
//! axis      0    first step of the first run of a, of b;  of the second run of b (with the unload before it)
//! ```
//!
//! The nth load of a graph is at the first step of its nth run. O(events + runs).

use std::collections::BTreeMap;

use super::{Aligned, How};
use crate::comparison::Comparison;
use crate::logged_join::graphs_of;
use highwater_model::workload::{GraphIdx, LoggedEventKind, LoggedProcess, Recording};

/// `None` where no load is of a graph that runs.
pub(super) fn by_loads(comparison: &Comparison, recording: &Recording) -> Option<Aligned> {
    let process = recording.process.as_deref()?;
    let starts = starts(comparison, process);
    let n_matched = starts.iter().flatten().count();
    if n_matched == 0 {
        return None;
    }
    let end = comparison.axis.n_steps.saturating_sub(1);
    let mut steps = Vec::with_capacity(recording.n_steps as usize);
    let mut now = 0;
    for (position, event) in process.events.iter().enumerate() {
        // What comes before the event is at the step before it.
        let from = event.n_before.min(recording.n_steps) as usize;
        steps.resize(from.max(steps.len()), now);
        let next = || starts[position..].iter().flatten().next().copied();
        now = now.max(next().unwrap_or(end));
    }
    steps.resize(recording.n_steps as usize, now);
    let loads = process
        .events
        .iter()
        .filter(|event| event.kind == LoggedEventKind::Load);
    Some(Aligned {
        steps,
        how: How::Loads {
            n_matched,
            n_loads: loads.count(),
        },
    })
}

/// By event: the first step of the run that a load is for.
fn starts(comparison: &Comparison, process: &LoggedProcess) -> Vec<Option<u32>> {
    let graphs = graphs_of(&comparison.workload);
    let mut runs: BTreeMap<GraphIdx, Vec<u32>> = BTreeMap::new();
    for run in comparison.axis.runs.iter().rev() {
        runs.entry(run.run.graph).or_default().push(run.start.0);
    }
    let start = |event: &highwater_model::workload::LoggedEvent| {
        let is_load = event.kind == LoggedEventKind::Load;
        let graph = graphs.get(&event.graph?).filter(|_| is_load)?;
        runs.get_mut(graph)?.pop()
    };
    process.events.iter().map(start).collect()
}
