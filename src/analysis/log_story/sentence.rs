//! A log in one sentence, for a ticket.

use super::super::verdict::{Served, Verdict};
use super::needs::named;
use super::request::{FailedRequest, asked_by, free_before, pool, retry};
use super::{LogStory, ProcessStory};
use highwater_model::units::{Bytes, counted};

/// Modules that the sentence names.
const MOST_MODULES: usize = 3;

/// The failed request that the sentence is about, a first one of its process: one that was not retried, with a size and
/// with figures of what was reserved, then the earliest; without a time, in the order of the log.
pub(super) fn main_request(stories: &[ProcessStory]) -> Option<(&ProcessStory, &FailedRequest)> {
    let firsts = stories
        .iter()
        .filter_map(|story| Some((story, story.requests.first()?)));
    firsts.min_by_key(|(_, request)| {
        let failure = &request.failure;
        let has_figures = failure.reserved.is_some() || request.allocated_by_modules.is_some();
        (
            failure.was_retried,
            failure.requested.is_none(),
            !has_figures,
            failure.at.is_none(),
            failure.at,
        )
    })
}

pub(super) fn of(stories: &[ProcessStory]) -> String {
    let Some((story, request)) = main_request(stories) else {
        return without_failure(stories);
    };
    let mut parts = vec![format!("{}{}", story.whose(), request.sentence.trim_end_matches('.'))];
    parts.extend(asked_by(&request.failure).map(|words| format!("requested {words}")));
    parts.extend(retry(&request.failure).map(|words| format!("after it, {words}")));
    parts.extend(pool(request));
    parts.extend(free_before(&story.process, &request.failure));
    parts.extend(modules(story, request));
    if !request.evicted.is_empty() {
        parts.push(format!("GE had evicted {}", named(&request.evicted)));
    }
    if request.failure.who.as_deref() == Some("GE") {
        parts.push(policy(story));
    }
    let all = stories.iter().map(|story| story.requests.len() + story.n_more_requests);
    let others = match all.sum::<usize>() - 1 {
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

fn modules(story: &ProcessStory, request: &FailedRequest) -> Option<String> {
    request.allocated_by_modules?;
    let named = story
        .modules
        .iter()
        .filter_map(|one| Some((one, one.at_failure.filter(|bytes| *bytes > 0)?)));
    let all: Vec<(&str, u64)> = named.map(|(one, bytes)| (one.module.as_str(), bytes)).collect();
    let (first, others) = all.split_at(MOST_MODULES.min(all.len()));
    let mut named: Vec<String> = first
        .iter()
        .map(|(module, bytes)| format!("{module} {}", Bytes(*bytes)))
        .collect();
    named.extend((!others.is_empty()).then(|| counted(others.len() as u64, "other module")));
    let rest = request
        .of_no_module
        .zip(story.process.device_total)
        .map(|(rest, total)| {
            format!(
                "; {} of {} belong to no module of this process (used by others, or free)",
                Bytes(rest),
                Bytes(total)
            )
        });
    Some(format!(
        "then allocated: {}{}",
        named.join(", "),
        rest.unwrap_or_default()
    ))
}

/// The graph engine's peak, of the process with the highest; at the default level as the driver counts it.
fn without_failure(stories: &[ProcessStory]) -> String {
    const NONE: &str = "The log has no failed request for memory";
    const MOST_LETTERS: usize = 600;
    const MOST_STATEMENTS: usize = 3;
    if stories.is_empty() {
        return "What was read states no failed request for memory.".to_owned();
    }
    let statements = stories.iter().flat_map(|story| &story.statements);
    let texts: Vec<&str> = statements.map(|one| one.text.trim_end_matches('.')).collect();
    if !texts.is_empty() {
        let told: Vec<&str> = texts.iter().take(MOST_STATEMENTS).copied().collect();
        let more = match texts.len() - told.len() {
            0 => String::new(),
            more => format!("; and {}", counted(more as u64, "more statement")),
        };
        let told: String = told.join("; ").chars().take(MOST_LETTERS).collect();
        return format!("The text states no request of an allocator that failed. It states: {told}{more}.");
    }
    let peak_of = |story: &ProcessStory| {
        let engine = story.modules.iter().find(|one| one.module == "GE");
        story.process.reserved_peak.or(engine.and_then(|one| one.peak))
    };
    let peaks = stories.iter().filter_map(|story| Some((peak_of(story)?, story)));
    let Some((peak, story)) = peaks.rev().max_by_key(|(peak, _)| *peak) else {
        return format!("{NONE}.");
    };
    let whose = if stories.len() > 1 {
        format!(" of {}", story.title)
    } else {
        String::new()
    };
    let by = match story.process.reserved_peak {
        Some(_) => "",
        None => " by the driver's count",
    };
    format!(
        "{NONE}; GE{whose} reserved {} at most{by}, {}.",
        Bytes(peak),
        policy(story)
    )
}

impl LogStory {
    /// The sentence for a ticket, with the arithmetic and what to try.
    pub fn ticket(&self) -> String {
        let verdict = self
            .verdict
            .as_ref()
            .filter(|verdict| verdict.served != Served::Unknown);
        let verdict = verdict.map(Verdict::sentence);
        let advice = self
            .advice
            .as_ref()
            .map(|advice| format!("{}: {}.", advice.action, advice.reason));
        let parts = std::iter::once(self.sentence.clone()).chain(verdict).chain(advice);
        parts.collect::<Vec<String>>().join(" ")
    }
}
