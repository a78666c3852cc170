//! The story of a log of CANN: failed requests, what the process had then, and the policy or setting to try.
//!
//! ```text
//! modules.rs  the driver's modules       graphs.rs  graphs when a request failed    needs.rs  what each policy needs
//! request.rs  one failed request         advice.rs  what acts on it (torch_advice.rs)  missing.rs what would tell more
//! sentence.rs the line for a ticket
//! ```
//!
//! In: the facts of processes. Out: a value that text, Markdown, JSON and the window show. Invariant: every figure is a fact of a
//! process, or a sum or difference of such facts that its sentence names; what is an estimate is called so.

mod advice;
mod graphs;
mod missing;
mod modules;
mod needs;
mod request;
mod sentence;
#[cfg(test)]
mod tests;
mod torch_advice;

use std::sync::Arc;

pub use advice::Advice;
pub use graphs::{GraphMemory, GraphState};
pub use modules::ModuleMemory;
pub use needs::{NeedBasis, PolicyNeed};
pub use request::FailedRequest;

use highwater_model::workload::{LoggedFailure, LoggedProcess, PolicyFrom, Workload};

/// Failed requests of a process that are told one by one, the first ones.
const MOST_REQUESTS: usize = 16;

/// What the processes of a log did until a request failed, or until their end.
#[derive(Clone, Debug, PartialEq)]
pub struct LogStory {
    /// Those with failed requests first, else in the order of the log.
    pub processes: Vec<ProcessStory>,
    /// The log in one sentence, for a ticket.
    pub sentence: String,
    /// What to try, for the first failed request.
    pub advice: Option<Advice>,
    /// What the log lacks, and how to have it.
    pub missing: Vec<String>,
}

/// The story of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessStory {
    pub process: Arc<LoggedProcess>,
    /// Such as `python3 (40518)`.
    pub title: String,
    /// The first ones, in the order of the log; those that were retried are last.
    pub requests: Vec<FailedRequest>,
    /// Failed requests after these.
    pub n_more_requests: usize,
    /// The driver's count of device memory by module; of several kinds of memory the sum.
    pub modules: Vec<ModuleMemory>,
    /// At the first failed request, else at the end of the log.
    pub graphs: Vec<GraphMemory>,
    /// What the graph engine needs under each policy; empty where the log tells of no graph's memory.
    pub needs: Vec<PolicyNeed>,
    /// The line that tells the policy.
    pub policy_line: &'static str,
}

impl LogStory {
    /// O(records of the log that tell of memory).
    pub fn new(processes: &[Arc<LoggedProcess>]) -> Self {
        let mut stories: Vec<ProcessStory> = processes.iter().map(ProcessStory::new).collect();
        stories.sort_by_key(|story| story.requests.is_empty());
        let sentence = sentence::of(&stories);
        let advice = sentence::main_request(&stories).and_then(|(_, request)| request.advice.first().cloned());
        Self {
            sentence,
            advice,
            missing: missing::of(processes),
            processes: stories,
        }
    }

    /// The story of a workload; `None` where it is no log.
    pub fn of_workload(workload: &Workload) -> Option<Self> {
        let recordings = workload.recordings().iter();
        let processes: Vec<Arc<LoggedProcess>> = recordings.filter_map(|one| one.process.clone()).collect();
        (!processes.is_empty()).then(|| Self::new(&processes))
    }

    pub fn has_failures(&self) -> bool {
        self.processes.iter().any(|story| !story.requests.is_empty())
    }
}

impl ProcessStory {
    fn new(process: &Arc<LoggedProcess>) -> Self {
        let modules = modules::of(&process.driver);
        let mut failures: Vec<&LoggedFailure> = process.failures.iter().collect();
        failures.sort_by_key(|failure| failure.was_retried);
        let state = graphs::State::at(process, failures.first().copied());
        let requests = failures.iter().enumerate().take(MOST_REQUESTS);
        let requests = requests.map(|(position, failure)| {
            let of_failure;
            let state = if position == 0 {
                &state
            } else {
                of_failure = graphs::State::at(process, Some(failure));
                &of_failure
            };
            // The driver's rows are of the first one.
            let modules = if position == 0 { &modules[..] } else { &[] };
            FailedRequest::new(process, failure, state, modules)
        });
        Self {
            title: title(process),
            requests: requests.collect(),
            n_more_requests: process.failures.len().saturating_sub(MOST_REQUESTS),
            needs: needs::of(process, &state),
            graphs: state.graphs,
            modules,
            policy_line: policy_line(process),
            process: Arc::clone(process),
        }
    }
}

fn title(process: &LoggedProcess) -> String {
    match (&process.name, process.pid) {
        (Some(name), Some(pid)) => format!("{name} ({pid})"),
        (None, Some(pid)) => format!("process {pid}"),
        _ => "unknown process".to_owned(),
    }
}

/// How the policy is known.
fn policy_line(process: &LoggedProcess) -> &'static str {
    match process.policy {
        Some((_, PolicyFrom::Summary)) => "from smp in the summary of a compiled graph",
        Some((_, PolicyFrom::Option)) => "from an option; the environment may change it",
        None if !process.arena_loads.is_empty() => "2 or 4, from lines of the shared arena",
        None => "no line tells it",
    }
}
