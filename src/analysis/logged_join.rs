//! Graphs of a log beside the graphs of a workload.

use std::collections::BTreeMap;

use highwater_model::workload::{GraphIdx, LoggedProcess, Workload};

/// The graphs of a workload by the ids of a log's graphs: those made of the log, or of its names.
pub(super) fn graphs_of(workload: &Workload, process: &LoggedProcess) -> BTreeMap<u64, GraphIdx> {
    let mut found = BTreeMap::new();
    for logged in &process.graphs {
        let is_same = |name: &str| name == logged.name || name == format!("graph_{}", logged.id);
        let graphs = (0_u32..).zip(workload.graphs());
        let mut graphs = graphs.filter(|(_, entry)| is_same(entry.graph.name()) || is_same(&entry.name));
        if let Some((idx, _)) = graphs.next() {
            found.insert(logged.id, GraphIdx(idx));
        }
    }
    found
}
