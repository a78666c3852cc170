//! The story of an out-of-memory: failed requests, what the process had then, whether a setting could have served them, and
//! what to try.
//!
//! ```text
//! modules.rs  the driver's modules       graphs.rs  graphs when a request failed    needs.rs  what each policy needs
//! request.rs  one failed request         missing.rs what would tell more
//! sentence.rs the line for a ticket      snapshot.rs failed requests of a recorded history   statements.rs each once
//! advice.rs   what acts on it: torch_advice.rs (allocator_setting.rs), framework_advice.rs, host.rs, by arithmetic.rs, vendor.rs
//! ```
//!
//! In: the facts of processes, and recordings. Out: a value that text, Markdown, JSON and the window show. Invariant: every figure is a fact of a
//! process, or a sum or difference of such facts that its sentence names; what is an estimate is called so.

mod advice;
mod allocator_setting;
mod arithmetic;
mod framework_advice;
mod graphs;
mod host;
#[cfg(test)]
mod library_tests;
mod missing;
mod modules;
mod needs;
mod request;
mod same_request;
mod sentence;
mod snapshot;
mod statements;
#[cfg(test)]
mod tests;
mod torch_advice;
mod vendor;

use std::sync::Arc;

pub use advice::Advice;
pub use graphs::{GraphMemory, GraphState};
pub use modules::ModuleMemory;
pub use needs::{NeedBasis, PolicyNeed};
pub use request::FailedRequest;

use super::recorded_failures::RecordedFailures;
use super::verdict::Verdict;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{
    LogLevel, LoggedFailure, LoggedProcess, LoggedStatement, PolicyFrom, Recording, Workload,
};

/// Failed requests of a process that are told one by one, the first ones.
const MOST_REQUESTS: usize = 1000;

/// Failed requests of a process that a page shows.
const MOST_SHOWN: usize = 16;

/// What the processes of a log did until a request failed, or until their end.
#[derive(Clone, Debug, PartialEq)]
pub struct LogStory {
    /// Those with failed requests first, else in the order of the log.
    pub processes: Vec<ProcessStory>,
    /// The log in one sentence, for a ticket.
    pub sentence: String,
    /// Whether a setting could have served the first failed request.
    pub verdict: Option<Verdict>,
    /// What to try, for the first failed request.
    pub advice: Option<Advice>,
    /// What the log lacks, and how to have it.
    pub missing: Vec<String>,
}

/// The story of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessStory {
    pub process: Arc<LoggedProcess>,
    /// The tool that recorded it, of a recorded history; `None` of a text.
    pub recorder: Option<String>,
    /// Such as `python3 (40518)`; of a text that names no process `Terminal text`.
    pub title: String,
    /// The first ones, in the order of the log; those that were retried are last.
    pub requests: Vec<FailedRequest>,
    /// Failed requests after these.
    pub n_more_requests: usize,
    /// What the text states besides failed requests, each fact once.
    pub statements: Vec<LoggedStatement>,
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
        Self::of_stories(processes.iter().map(ProcessStory::new).collect(), Vec::new())
    }

    fn of_stories(mut stories: Vec<ProcessStory>, lacking: Vec<String>) -> Self {
        let of_texts = stories.iter().filter(|story| story.recorder.is_none());
        let of_texts: Vec<Arc<LoggedProcess>> = of_texts.map(|story| Arc::clone(&story.process)).collect();
        stories.sort_by_key(|story| story.requests.is_empty());
        let main = sentence::main_request(&stories).map(|(_, request)| request);
        Self {
            sentence: sentence::of(&stories),
            verdict: main.map(|request| request.verdict.clone()),
            advice: main.and_then(|request| request.advice.first().cloned()),
            missing: missing::of(&of_texts).into_iter().chain(lacking).collect(),
            processes: stories,
        }
    }

    /// The story of logs and recorded histories together. Failed requests of histories are replayed: O(settings x events).
    ///
    /// # Errors
    /// The work is cancelled.
    pub fn of_recordings<'a>(
        recordings: impl Iterator<Item = &'a Recording>,
        progress: &Progress<'_>,
    ) -> Result<Self, Cancelled> {
        let mut stories = Vec::new();
        let mut lacking = Vec::new();
        let recordings: Vec<&Recording> = recordings.collect();
        for recording in &recordings {
            match &recording.process {
                Some(process) => stories.push(ProcessStory::new(process)),
                None if snapshot::has_failures(recording) => {
                    let total = RecordedFailures::device_total(recording, recordings.iter().copied(), None);
                    let told = snapshot::told(recording, total.map(|total| total.bytes), progress)?;
                    stories.push(ProcessStory::of_snapshot(&told, &recording.recorder));
                }
                None => lacking.push(snapshot::lack(recording)),
            }
        }
        same_request::join(&mut stories);
        Ok(Self::of_stories(stories, lacking))
    }

    /// The story of a workload; `None` where it tells of no out-of-memory.
    ///
    /// # Errors
    /// The work is cancelled.
    pub fn of_workload(workload: &Workload, progress: &Progress<'_>) -> Result<Option<Self>, Cancelled> {
        if !Self::is_of(workload) {
            return Ok(None);
        }
        let told = workload.recordings().iter().filter(|recording| is_told(recording));
        Self::of_recordings(told.map(|recording| &**recording), progress).map(Some)
    }

    /// Whether a workload has a log or a recorded history with a failed request.
    pub fn is_of(workload: &Workload) -> bool {
        workload.recordings().iter().any(|recording| is_told(recording))
    }

    pub fn has_failures(&self) -> bool {
        self.processes.iter().any(|story| !story.requests.is_empty())
    }

    /// What the texts state besides failed requests, process by process.
    pub fn statements(&self) -> impl Iterator<Item = (&ProcessStory, &LoggedStatement)> {
        let stories = self.processes.iter();
        stories.flat_map(|story| story.statements.iter().map(move |statement| (story, statement)))
    }

    /// Whether something about memory is stated: a failed request, a statement, or what an engine or a driver had.
    pub fn states_memory(&self) -> bool {
        self.processes.iter().any(ProcessStory::states_memory)
    }
}

fn is_told(recording: &Recording) -> bool {
    recording.process.is_some() || snapshot::has_failures(recording)
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
            recorder: None,
            title: title(process),
            requests: requests.collect(),
            n_more_requests: process.failures.len().saturating_sub(MOST_REQUESTS),
            statements: statements::once(&process.statements),
            needs: needs::of(process, &state),
            graphs: state.graphs,
            modules,
            policy_line: policy_line(process),
            process: Arc::clone(process),
        }
    }

    /// The requests of a recorded history, with the answers of its replays.
    fn of_snapshot(told: &snapshot::Told, recorder: &str) -> Self {
        let mut story = Self::new(&told.process);
        for (request, (verdict, advice)) in story.requests.iter_mut().zip(&told.answers) {
            request.verdict = verdict.clone();
            if advice.is_empty() {
                let settings = request.advice.iter_mut().filter(|one| one.setting.is_some());
                settings.for_each(|one| one.reason.push_str(" (arithmetic: no replay reproduces the failure)"));
            } else {
                request.advice.clone_from(advice);
            }
        }
        story.n_more_requests = told.n_more;
        story.recorder = Some(recorder.to_owned());
        story
    }

    /// The device in its title; `None` where only memory of the host failed.
    pub fn device(&self) -> Option<u64> {
        let mut devices = self.requests.iter().map(FailedRequest::device).peekable();
        let is_host = devices.peek().is_some() && devices.all(|device| device.is_none());
        self.process.device.filter(|_| !is_host)
    }

    /// The requests that a page shows, the first ones.
    pub fn shown_requests(&self) -> &[FailedRequest] {
        &self.requests[..self.requests.len().min(MOST_SHOWN)]
    }

    /// Failed requests after those that a page shows.
    pub fn n_not_shown(&self) -> usize {
        self.requests.len().saturating_sub(MOST_SHOWN) + self.n_more_requests
    }

    /// The title in a sentence for a ticket: `python3 (40518): `.
    fn whose(&self) -> String {
        if self.is_process() || self.recorder.is_some() {
            return format!("{}: ", self.title);
        }
        String::new()
    }

    /// Whether the title names a process.
    pub fn is_process(&self) -> bool {
        self.recorder.is_none() && is_named(&self.process)
    }

    fn states_memory(&self) -> bool {
        let process = &*self.process;
        let is_stated = [
            !self.requests.is_empty(),
            !process.statements.is_empty(),
            !process.events.is_empty(),
            !process.driver.is_empty(),
            !process.pools.is_empty(),
            !process.arena_loads.is_empty(),
            !process.plans.is_empty(),
            process.graphs.iter().any(|graph| graph.total.is_some()),
            process.device_total.is_some(),
            process.device_free.is_some(),
            process.variables.is_some(),
            process.reserved_peak.is_some(),
        ];
        is_stated.contains(&true)
    }
}

const fn is_named(process: &LoggedProcess) -> bool {
    process.pid.is_some() || process.name.is_some()
}

fn title(process: &LoggedProcess) -> String {
    match (&process.name, process.pid) {
        (Some(name), Some(pid)) => format!("{name} ({pid})"),
        (None, Some(pid)) => format!("process {pid}"),
        (Some(name), None) => name.clone(),
        (None, None) if process.level == LogLevel::Terminal => "Terminal text".to_owned(),
        (None, None) => "Unknown process".to_owned(),
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
