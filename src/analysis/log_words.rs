//! A log of CANN in one sentence.

use std::sync::Arc;

use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{LoggedGraph, LoggedProcess};

/// Graphs that a sentence names.
const MOST_GRAPHS: usize = 3;

/// Such as `2 processes, policy 2, graph 11: 3.10 GiB; ended with an out-of-memory`. O(graphs log graphs).
pub fn log_sentence(processes: &[Arc<LoggedProcess>]) -> String {
    let mut parts = vec![match processes.len() {
        1 => "1 process".to_owned(),
        many => format!("{many} processes"),
    }];
    let mut policies: Vec<String> = processes
        .iter()
        .filter_map(|one| Some(one.policy?.0.to_string()))
        .collect();
    policies.sort();
    policies.dedup();
    parts.push(match &policies[..] {
        [] => "policy unknown".to_owned(),
        [only] => format!("policy {only}"),
        several => format!("policies {}", several.join(", ")),
    });
    parts.extend(graphs(processes));
    let failures: usize = processes.iter().map(|one| one.failures.len()).sum();
    let end = match failures {
        0 => String::new(),
        1 => "; ended with an out-of-memory".to_owned(),
        more => format!("; {more} requests for memory failed"),
    };
    format!("{}{end}", parts.join(", "))
}

/// The largest graphs, with the bytes of arena, inputs and outputs.
fn graphs(processes: &[Arc<LoggedProcess>]) -> Vec<String> {
    let graphs = processes.iter().flat_map(|process| &process.graphs);
    let mut sized: Vec<(u64, &LoggedGraph)> = graphs.filter_map(|graph| Some((graph.total?, graph))).collect();
    sized.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let named = sized.iter().take(MOST_GRAPHS);
    let mut words: Vec<String> = named
        .map(|(bytes, graph)| format!("graph {}: {}", graph.id, Bytes(*bytes)))
        .collect();
    if let Some(more) = sized.len().checked_sub(MOST_GRAPHS).filter(|more| *more > 0) {
        words.push(counted(more as u64, "smaller graph"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::{LoggedFailure, PolicyFrom};

    #[test]
    fn a_log_is_one_sentence() {
        let graph = LoggedGraph {
            id: 11,
            total: Some(3 << 30),
            ..LoggedGraph::default()
        };
        let process = LoggedProcess {
            policy: Some((2, PolicyFrom::Summary)),
            graphs: vec![graph],
            failures: vec![LoggedFailure::default()],
            ..LoggedProcess::default()
        };
        let processes = [Arc::new(process), Arc::new(LoggedProcess::default())];
        let size = Bytes(3 << 30);
        let wanted = format!("2 processes, policy 2, graph 11: {size}; ended with an out-of-memory");
        assert_eq!(log_sentence(&processes), wanted);
        assert_eq!(log_sentence(&processes[1..]), "1 process, policy unknown");
    }
}
