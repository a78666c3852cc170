//! A log in one sentence, for a ticket.

use super::modules::ModuleMemory;
use super::request::{FailedRequest, evicted};
use super::{LogStory, ProcessStory};
use highwater_model::units::{Bytes, counted};

/// Modules that the sentence names.
const MOST_MODULES: usize = 3;

/// The first failed request by time; requests without a time come last, in the order of the log.
pub(super) fn first_request(stories: &[ProcessStory]) -> Option<(&ProcessStory, &FailedRequest)> {
    let first = stories
        .iter()
        .filter_map(|story| Some((story, story.requests.first()?)));
    first.min_by_key(|(_, request)| (request.failure.at.is_none(), request.failure.at))
}

pub(super) fn of(stories: &[ProcessStory]) -> String {
    let Some((story, request)) = first_request(stories) else {
        return without_failure(stories);
    };
    let mut parts = vec![
        format!("{}: {}", story.title, request.sentence.trim_end_matches('.')),
        modules(&story.modules, request),
        evicted(request),
    ];
    if request.failure.who.as_deref() == Some("GE") {
        parts.push(policy(story));
    }
    parts.retain(|part| !part.is_empty());
    let n_all: usize = stories
        .iter()
        .map(|story| story.requests.len() + story.n_more_requests)
        .sum();
    let others = match n_all - 1 {
        0 => String::new(),
        more => format!(" {} failed, too.", counted(more as u64, "other request")),
    };
    format!("{}.{others}", parts.join("; "))
}

fn policy(story: &ProcessStory) -> String {
    match story.process.policy {
        Some((policy, _)) => format!("policy {policy}"),
        None => "policy unknown".to_owned(),
    }
}

fn modules(modules: &[ModuleMemory], request: &FailedRequest) -> String {
    if request.allocated_by_modules.is_none() {
        return String::new();
    }
    let named = modules
        .iter()
        .filter_map(|one| Some((one, one.at_failure.filter(|bytes| *bytes > 0)?)));
    let named: Vec<String> = named
        .take(MOST_MODULES)
        .map(|(one, bytes)| format!("{} {}", one.module, Bytes(bytes)))
        .collect();
    format!("the process then had {}", named.join(", "))
}

/// The graph engine's peak, of the process with the highest.
fn without_failure(stories: &[ProcessStory]) -> String {
    const NONE: &str = "No request for memory failed in this log";
    let peaks = stories
        .iter()
        .filter_map(|story| Some((story.process.reserved_peak?, story)));
    let Some((peak, story)) = peaks.rev().max_by_key(|(peak, _)| *peak) else {
        return format!("{NONE}.");
    };
    let whose = if stories.len() > 1 {
        format!(" of {}", story.title)
    } else {
        String::new()
    };
    format!("{NONE}; GE{whose} reserved {} at most, {}.", Bytes(peak), policy(story))
}

impl LogStory {
    /// The sentence for a ticket, with what to try.
    pub fn ticket(&self) -> String {
        match &self.advice {
            Some(advice) => format!("{} Try {}: {}.", self.sentence, advice.setting, advice.reason),
            None => self.sentence.clone(),
        }
    }
}
