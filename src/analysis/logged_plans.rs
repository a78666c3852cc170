//! The plans that a log states for graphs, beside those that the planner makes for the same lifetimes.

use std::sync::Arc;

use super::dumped::dumped_problems;
use highwater_model::workload::{GraphEntry, ProblemEntry, Recording};

/// The arenas of all graphs of all processes with placements; of several processes with their names.
pub fn logged_arenas(recordings: &[Arc<Recording>]) -> Vec<Arc<ProblemEntry>> {
    let sessions = recordings.iter().filter_map(|one| Some((one, one.logged_session()?)));
    let sessions: Vec<_> = sessions.collect();
    let is_alone = sessions.len() == 1;
    let mut arenas = Vec::new();
    for (recording, session) in sessions {
        let entries: Vec<GraphEntry> = session.graphs.into_iter().map(|one| one.entry).collect();
        for (_, arena) in dumped_problems(&entries) {
            if is_alone {
                arenas.push(arena);
            } else {
                let mut arena = Arc::unwrap_or_clone(arena);
                arena.name = format!("{}: {}", recording.name, arena.name);
                arenas.push(Arc::new(arena));
            }
        }
    }
    arenas
}
