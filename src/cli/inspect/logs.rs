//! What a log of CANN tells, for people: a table per process.

use highwater_analysis::{DEFAULT_LEVEL, failed_request, log_sentence};
use highwater_export::Table;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{DriverRow, LogLevel, LoggedGraph, LoggedProcess, PolicyFrom};
use std::sync::Arc;

/// More processes have only the sentence.
const MOST_IN_DETAIL: usize = 8;

pub(super) fn text(processes: &[Arc<LoggedProcess>]) -> String {
    if processes.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", log_sentence(processes));
    if processes.len() <= MOST_IN_DETAIL {
        for process in processes {
            out.push_str(&format!("\n{}", table(process)));
        }
    }
    if processes.iter().all(|process| process.level == LogLevel::Default) {
        out.push_str(&format!("\n{DEFAULT_LEVEL}\n"));
    }
    out
}

fn table(process: &LoggedProcess) -> String {
    let title = match (&process.name, process.pid) {
        (Some(name), Some(pid)) => format!("{name} ({pid})"),
        (None, Some(pid)) => pid.to_string(),
        _ => "unknown".to_owned(),
    };
    let mut table = Table::new(&["process", &title, ">"]);
    if let Some(device) = process.device {
        table.row(&[&"device", &device, &""]);
    }
    if let Some(bytes) = process.device_total {
        table.row(&[&"device memory", &Bytes(bytes), &Bytes(bytes).exact()]);
    }
    let policy = match process.policy {
        Some((value, PolicyFrom::Summary)) => format!("{value}, as in force at compile time"),
        Some((value, PolicyFrom::Option)) => format!("{value}, as an option asked for"),
        None => "unknown".to_owned(),
    };
    table.row(&[&"policy", &policy, &""]);
    for graph in &process.graphs {
        if let Some(bytes) = graph.total {
            table.row(&[
                &format!("graph {}", graph.id),
                &graph_words(graph, process),
                &Bytes(bytes).exact(),
            ]);
        }
    }
    if let Some(peak) = process.reserved_peak {
        table.row(&[&"held by the engine, at most", &Bytes(peak), &Bytes(peak).exact()]);
    }
    for row in process.driver.iter().filter(|row| row.device.is_some()) {
        driver(&mut table, row);
    }
    for failure in &process.failures {
        let exact = failure.requested.map_or_else(String::new, |bytes| Bytes(bytes).exact());
        table.row(&[&"request that failed", &failed_request(failure), &exact]);
    }
    table.text()
}

fn graph_words(graph: &LoggedGraph, process: &LoggedProcess) -> String {
    let plan = graph.plan.as_ref().and_then(|name| process.plans.get(name));
    let tensors = plan.map_or_else(String::new, |plan| {
        format!(", {} placed", counted(plan.len() as u64, "tensor"))
    });
    let arena = graph
        .arena
        .map_or_else(String::new, |bytes| format!("arena {}, ", Bytes(bytes)));
    let io = graph
        .zero_copy
        .map_or_else(String::new, |bytes| format!("inputs and outputs {}", Bytes(bytes)));
    format!("{arena}{io}{tensors}")
}

fn driver(table: &mut Table, row: &DriverRow) {
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), |bytes| Bytes(bytes).to_string());
    let at_failure = row
        .at_failure
        .map_or_else(String::new, |held| format!("{} at the failure, ", Bytes(held)));
    let words = format!("{at_failure}{} at most", bytes(row.peak));
    let exact = row.peak.map_or_else(String::new, |peak| Bytes(peak).exact());
    table.row(&[&format!("{} {}", row.module, row.kind), &words, &exact]);
}
