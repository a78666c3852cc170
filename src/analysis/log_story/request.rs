//! One failed request in sentences.

use super::super::verdict::Verdict;
use super::advice::{Advice, advice};
use super::graphs::{GraphState, State};
use super::modules::ModuleMemory;
use super::needs::named;
use super::vendor::{library, vendor};
use highwater_model::units::{Bytes, first_of};
use highwater_model::workload::{Library, LoggedFailure, LoggedProcess, MemoryPlace, RefusedBy};

/// Holders of memory that a remark names.
const MOST_HOLDERS: usize = 8;

/// A request for memory that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedRequest {
    pub failure: LoggedFailure,
    /// Who requested how much, for what, where and when, and what refused it.
    pub sentence: String,
    /// What the log tells besides, a sentence each.
    pub remarks: Vec<String>,
    /// Graphs that the engine evicted before it.
    pub evicted: Vec<u64>,
    /// Whether a setting could have served it.
    pub verdict: Verdict,
    /// What may help, the first thing to try first; never empty.
    pub advice: Vec<Advice>,
    /// Sum of the driver's modules then.
    pub allocated_by_modules: Option<u64>,
    /// The device's memory without that sum: of other processes, of the system, or free.
    pub of_no_module: Option<u64>,
    /// Of torch's figures: total without reserved and free, which is memory outside the pool.
    pub outside_pool: Option<u64>,
}

impl FailedRequest {
    /// `modules` are the driver's at this request; empty where the log has none.
    pub(super) fn new(
        process: &LoggedProcess,
        failure: &LoggedFailure,
        state: &State,
        modules: &[ModuleMemory],
    ) -> Self {
        let allocated_by_modules = at_failure(modules, failure.device);
        let total = process.device_total;
        let mut request = Self {
            sentence: sentence(failure),
            remarks: Vec::new(),
            evicted: state.of_state(GraphState::Evicted).map(|graph| graph.id).collect(),
            verdict: Verdict::unknown(String::new()),
            advice: Vec::new(),
            allocated_by_modules,
            of_no_module: difference(total, allocated_by_modules),
            outside_pool: difference(failure.total, failure.reserved)
                .and_then(|rest| difference(Some(rest), failure.free)),
            failure: failure.clone(),
        };
        request.remarks = remarks(process, &request, state);
        (request.verdict, request.advice) = advice(process, &request, state, modules);
        request
    }

    /// The device; `None` of memory of the host.
    pub fn device(&self) -> Option<u64> {
        device(&self.failure)
    }
}

/// Memory of the host is of no device, whatever device the process uses.
pub(super) fn device(failure: &LoggedFailure) -> Option<u64> {
    failure.device.filter(|_| failure.memory == MemoryPlace::Device)
}

/// The sum of the modules of a device, of the only device where the request names none.
fn at_failure(modules: &[ModuleMemory], device: Option<u64>) -> Option<u64> {
    let is_own = |one: &&ModuleMemory| device.is_none_or(|device| one.device == Some(device));
    let mut sums = modules.iter().filter(is_own).map(|one| one.at_failure).peekable();
    sums.peek()?;
    sums.try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
}

pub(super) fn difference(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one?.checked_sub(other?)
}

fn sentence(failure: &LoggedFailure) -> String {
    let who = failure.who.as_deref().unwrap_or_else(|| whose(failure));
    let is_host = failure.memory == MemoryPlace::Host;
    let size = match failure.requested {
        Some(bytes) if is_host => format!("{} of host memory", Bytes(bytes)),
        Some(bytes) => Bytes(bytes).to_string(),
        None if is_host => "host memory of unknown size".to_owned(),
        None => "memory of unknown size".to_owned(),
    };
    let purpose = match (&failure.purpose, failure.graph) {
        (Some(purpose), Some(graph)) => format!(" for graph {graph} ({purpose})"),
        (Some(purpose), None) => format!(" ({purpose})"),
        (None, Some(graph)) => format!(" for graph {graph}"),
        (None, None) => String::new(),
    };
    let place = device(failure).map_or_else(String::new, |device| format!(" on device {device}"));
    let time = failure.at.map_or_else(String::new, |at| format!(" at {at}"));
    let refusal = match failure.refused {
        RefusedBy::Device => String::new(),
        RefusedBy::Check => format!(": refused by {}, before any request to the device", check(failure)),
        RefusedBy::Fraction => format!(
            ": refused by {}, the program's own limit",
            vendor(library(failure)).limit
        ),
        RefusedBy::Workspace => " for the workspace of operators, outside its pool".to_owned(),
    };
    format!("{who} did not get {size}{purpose}{place}{time}{refusal}.")
}

fn remarks(process: &LoggedProcess, request: &FailedRequest, state: &State) -> Vec<String> {
    let failure = &request.failure;
    let mut remarks = Vec::new();
    if failure.driver_lines > 1 {
        let lines = failure.driver_lines;
        remarks.push(format!("One request, reported {lines} times by the driver."));
    }
    remarks.extend(asked_by(failure).map(|words| format!("Requested {words}.")));
    remarks.extend(retry(failure).map(|words| format!("After it, {words}.")));
    if let Some(pool) = pool(request) {
        remarks.push(format!("Figures of {}: {pool}.", whose(failure)));
    }
    if let Some(allowed) = failure.allowed {
        let limit = match failure.refused {
            RefusedBy::Check => format!("{} allows", check(failure).trim_end_matches("'s check")),
            _ if library(failure).is_of_torch() => format!("The program's limit allows {}", whose(failure)),
            _ => format!("The pool of {} may take", whose(failure)),
        };
        remarks.push(format!("{limit} {} at most.", Bytes(allowed)));
    }
    if !failure.holders.is_empty() {
        let holders = failure
            .holders
            .iter()
            .map(|one| format!("{}: {}", one.name, Bytes(one.bytes)));
        remarks.push(format!("Held then by {}.", first_of(holders, MOST_HOLDERS, "; ")));
    }
    if let [only] = request.evicted[..] {
        let size = state.graph(only).and_then(|graph| graph.feature_map);
        let size = size.map_or_else(String::new, |bytes| format!(" (feature map {})", Bytes(bytes)));
        remarks.push(format!("GE evicted graph {only}{size} before it."));
    } else if !request.evicted.is_empty() {
        remarks.push(format!("GE evicted {} before it.", named(&request.evicted)));
    }
    remarks.extend(plan(failure, state));
    if let Some(read) = free_before(process, failure) {
        remarks.push(format!("{read}, the last time before."));
    }
    remarks.extend(modules(process, request));
    remarks
}

/// What followed a request that was retried.
pub(super) fn retry(failure: &LoggedFailure) -> Option<&'static str> {
    const RETRIED: &str = "the pool freed cached memory and requested again; the log shows no failure of that request";
    failure.was_retried.then_some(RETRIED)
}

/// Whose pool it is: `torch`.
fn whose(failure: &LoggedFailure) -> &str {
    match library(failure) {
        Library::Cann => "A module that the log does not name",
        Library::System => "The program",
        Library::Other => failure.who.as_deref().unwrap_or("A library"),
        one => vendor(one).pool.trim_end_matches("'s pool"),
    }
}

/// What refuses a request before the device is asked.
fn check(failure: &LoggedFailure) -> &'static str {
    match library(failure) {
        Library::Cann => "GE's check",
        Library::Jax => "XLA's compiler",
        _ => "the library",
    }
}

/// The line and the kernel that requested it: `by kernel MatMul at train.py:61`.
pub(super) fn asked_by(failure: &LoggedFailure) -> Option<String> {
    let kernel = failure.kernel.as_ref().map(|kernel| format!("by {kernel}"));
    let line = failure.line.as_ref().map(|line| format!("at {line}"));
    let parts: Vec<String> = kernel.into_iter().chain(line).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The figures of an allocator's sentence, in words.
pub(super) fn pool(request: &FailedRequest) -> Option<String> {
    let failure = &request.failure;
    let mut parts = Vec::new();
    let figures = [
        (failure.reserved, "reserved by the pool"),
        (failure.allocated, "allocated"),
    ];
    let figures = figures
        .into_iter()
        .filter_map(|(bytes, what)| Some(format!("{} {what}", Bytes(bytes?))));
    let figures: Vec<String> = figures.collect();
    parts.extend((!figures.is_empty()).then(|| figures.join(", ")));
    if let Some(largest) = failure.largest_free {
        parts.push(format!("the largest free piece has {}", Bytes(largest)));
    }
    if let Some(free) = failure.free {
        let total = failure
            .total
            .map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
        parts.push(format!("{}{total} free", Bytes(free)));
    } else if let Some(total) = failure.total {
        parts.push(format!("{} in all", Bytes(total)));
    }
    if let Some(outside) = request.outside_pool {
        parts.push(format!("about {} outside the pool", Bytes(outside)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether another placement of the graph could be smaller.
fn plan(failure: &LoggedFailure, state: &State) -> Option<String> {
    let graph = state.graph(failure.graph?)?;
    let saving = difference(graph.feature_map, graph.lower_bound).filter(|_| graph.feature_map == failure.requested)?;
    Some(if saving == 0 {
        format!(
            "The plan of graph {} is optimal: its size equals the peak of live bytes.",
            graph.id
        )
    } else {
        let saving = Bytes(saving);
        format!("A better plan of graph {} can save {saving} at most.", graph.id)
    })
}

/// The modules' sum against the device, and what that does not tell.
fn modules(process: &LoggedProcess, request: &FailedRequest) -> Option<String> {
    let allocated = Bytes(request.allocated_by_modules?);
    let (Some(total), Some(rest)) = (process.device_total, request.of_no_module) else {
        return Some(format!(
            "The driver counts {allocated} for the modules of this process; the log does not state the device's memory."
        ));
    };
    let yet = match request.failure.requested {
        Some(requested) if requested <= rest => ", yet the request failed",
        Some(_) => ", less than the request",
        None => "",
    };
    Some(format!(
        "The driver counts {allocated} for the modules of this process. {} of {} belong to none of them{yet}: to other \
         processes, to the system, or free; the log cannot tell which.",
        Bytes(rest),
        Bytes(total)
    ))
}

/// What GE read of the device last, where the request itself states nothing.
pub(super) fn free_before(process: &LoggedProcess, failure: &LoggedFailure) -> Option<String> {
    let read = process.device_free.filter(|_| failure.free.is_none())?;
    let total = read
        .total
        .map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
    let time = read.at.map_or_else(String::new, |at| format!(" at {at}"));
    Some(format!("GE read {}{total} free{time}", Bytes(read.free)))
}
