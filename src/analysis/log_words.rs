//! A log of CANN in sentences.

use std::collections::BTreeMap;
use std::sync::Arc;

use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{DriverRow, Library, LogLevel, LoggedFailure, LoggedGraph, LoggedProcess, MemoryPlace};

/// Graphs that a sentence names.
const MOST_GRAPHS: usize = 3;

/// Modules of the driver that a sentence names.
const MOST_MODULES: usize = 4;

/// What a log at the default level lacks, and how to have it.
pub const DEFAULT_LEVEL: &str = "The log has no placements or variables, and of weights at most those of unloaded graphs: it was written at the default level. \
                                 Run again with ASCEND_MODULE_LOG_LEVEL=GE=1 and ASCEND_HOST_LOG_FILE_NUM=1000 (atc: \
                                 --log=info) to have them.";

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
    parts.extend(match &policies[..] {
        [] if !processes.iter().any(|one| is_of_engine(one)) => None,
        [] => Some("policy unknown".to_owned()),
        [only] => Some(format!("policy {only}")),
        several => Some(format!("policies {}", several.join(", "))),
    });
    parts.extend(graphs(processes));
    let failures = || processes.iter().flat_map(|one| &one.failures);
    let retried = failures().filter(|failure| failure.was_retried).count();
    let end = match (failures().count() - retried, retried) {
        (0, 0) => String::new(),
        (0, 1) => "; 1 request failed, its repetition did not".to_owned(),
        (0, retried) => format!("; {retried} requests failed, their repetitions did not"),
        (1, _) => "; ended with an out-of-memory".to_owned(),
        (more, _) => format!("; {more} requests for memory failed"),
    };
    format!("{}{end}", parts.join(", "))
}

/// Whether a text is of CANN, whose graphs have a policy: records of its logs, graphs, or its own failures.
fn is_of_engine(process: &LoggedProcess) -> bool {
    let is_cann = |failure: &LoggedFailure| failure.library == Library::Cann;
    process.level != LogLevel::Terminal
        || !process.graphs.is_empty()
        || !process.events.is_empty()
        || process.failures.iter().any(is_cann)
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

/// What a process did and failed at, what the driver held then, and what the log lacks.
pub(super) fn process_remarks(process: &Arc<LoggedProcess>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(first) = LoggedFailure::main(&process.failures).map(|position| &process.failures[position]) {
        let more = match process.failures.len() - 1 {
            0 => String::new(),
            more => format!("; {} later", counted(more as u64, "other request")),
        };
        remarks.push(format!("The request that failed: {}{more}.", failed_request(first)));
    }
    remarks.extend(held_at_failure(&process.driver));
    remarks.push(format!(
        "The log tells of {}.",
        log_sentence(std::slice::from_ref(process))
    ));
    if process.level == LogLevel::Default {
        remarks.push(DEFAULT_LEVEL.to_owned());
    }
    remarks
}

/// The modules that held most on the device at the request that the process failed at.
fn held_at_failure(driver: &[DriverRow]) -> Option<String> {
    let on_device = driver.iter().filter(|row| row.device.is_some());
    let mut modules: BTreeMap<&str, u64> = BTreeMap::new();
    for (row, held) in on_device.filter_map(|row| Some((row, row.at_main_failure?))) {
        let sum = modules.entry(&row.module).or_default();
        *sum = sum.saturating_add(held);
    }
    let total = modules.values().fold(0_u64, |sum, held| sum.saturating_add(*held));
    let mut modules: Vec<(&str, u64)> = modules.into_iter().filter(|(_, held)| *held > 0).collect();
    modules.sort_by_key(|(_, held)| std::cmp::Reverse(*held));
    let named = modules.iter().take(MOST_MODULES);
    let named: Vec<String> = named
        .map(|(module, held)| format!("{module} {}", Bytes(*held)))
        .collect();
    (!named.is_empty()).then(|| {
        let modules = named.join(", ");
        format!(
            "The driver's modules of this process held {} then: {modules}.",
            Bytes(total)
        )
    })
}

/// `25.84 GiB by GE for graph 21 on device 0`.
pub fn failed_request(failure: &LoggedFailure) -> String {
    let size = failure
        .requested
        .map_or_else(|| "of unknown size".to_owned(), |bytes| Bytes(bytes).to_string());
    let who = failure
        .who
        .as_ref()
        .map_or_else(String::new, |who| format!(" by {who}"));
    let graph = failure
        .graph
        .map_or_else(String::new, |graph| format!(" for graph {graph}"));
    let device = match (failure.memory, failure.device) {
        (MemoryPlace::Host, _) => " of host memory".to_owned(),
        (MemoryPlace::Device, Some(device)) => format!(" on device {device}"),
        (MemoryPlace::Device, None) => String::new(),
    };
    let state = [
        ("free", failure.free),
        ("allocated", failure.allocated),
        ("reserved", failure.reserved),
        ("allowed", failure.allowed),
    ];
    let state = state
        .into_iter()
        .filter_map(|(what, bytes)| Some(format!("{} {what}", Bytes(bytes?))));
    let state: Vec<String> = state.collect();
    let state = if state.is_empty() {
        String::new()
    } else {
        format!(" ({})", state.join(", "))
    };
    format!("{size}{who}{graph}{device}{state}")
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
        assert_eq!(log_sentence(&processes[1..]), "1 process");
        let of = |library: Library| LoggedProcess {
            failures: vec![LoggedFailure {
                library,
                ..LoggedFailure::default()
            }],
            ..LoggedProcess::default()
        };
        let sentence = |library| log_sentence(&[Arc::new(of(library))]);
        assert_eq!(sentence(Library::TorchCuda), "1 process; ended with an out-of-memory");
        assert_eq!(
            sentence(Library::Cann),
            "1 process, policy unknown; ended with an out-of-memory"
        );
    }

    #[test]
    fn a_failed_request_is_told_first_with_what_the_driver_held() {
        let row = |module: &str, device, held| DriverRow {
            kind: "MEM_DEV_HUGE_HBM".to_owned(),
            device,
            module: module.to_owned(),
            at_failure: held,
            at_main_failure: held,
            current: None,
            peak: None,
        };
        let failure = LoggedFailure {
            requested: Some(2 << 30),
            who: Some("GE".to_owned()),
            graph: Some(21),
            ..LoggedFailure::default()
        };
        let process = LoggedProcess {
            failures: vec![failure.clone(), failure],
            driver: vec![
                row("HCCL", Some(0), Some(1 << 20)),
                row("APP", Some(0), Some(5 << 30)),
                row("APP", Some(0), None),
                row("APP", None, Some(1 << 30)),
                row("GE", Some(0), Some(0)),
            ],
            level: LogLevel::Default,
            ..LoggedProcess::default()
        };
        let wanted = [
            "The request that failed: 2.000 GiB by GE for graph 21; 1 other request later.",
            "The driver's modules of this process held 5.001 GiB then: APP 5.000 GiB, HCCL 1.000 MiB.",
            "The log tells of 1 process, policy unknown; 2 requests for memory failed.",
            DEFAULT_LEVEL,
        ];
        let remarks = process_remarks(&Arc::new(process)).into_iter();
        let remarks: Vec<String> = remarks.map(|remark| remark.replace('\u{a0}', " ")).collect();
        assert_eq!(remarks, wanted);
    }
}
