//! The story of an out-of-memory as JSON: per process what logs of CANN tell, and all requests in a form that does not depend on
//! what wrote the text. `null` is unknown.

use serde_json::{Value as Json, json};

use super::cann_log::{arena_json, pool_rows};
use super::explain_log::{graph_record, module_rows, need_rows};
use super::json_parts::list;
use super::record::{Record, Rows};
use highwater_analysis::{Advice, FailedRequest, LogStory, ProcessStory};
use highwater_model::workload::LoggedStatement;

/// Requests of all processes that are listed.
const MOST_REQUESTS: usize = 1000;

pub(super) fn process_record(story: &ProcessStory) -> Record<'_> {
    let process = &*story.process;
    let policy = json!({
        "value": process.policy.map(|(value, _)| value),
        "from": process.policy.map(|(_, from)| from.name()),
        "line": story.policy_line,
    });
    Record::new()
        .key("pid", process.pid)
        .key("name", process.name.as_ref())
        .key("device", process.device)
        .key("device_total", process.device_total)
        .key("level", process.level.name())
        .key("policy", policy)
        .key("ge_reserved_peak", process.reserved_peak)
        .key("requests", list(story.shown_requests(), request_json))
        .key("more_requests", story.n_not_shown())
        .key("modules", module_rows(&story.modules))
        .key("graphs", Rows::new(&story.graphs, graph_record))
        .key("arena", process.arena_loads.last().map(arena_json))
        .key("pools", pool_rows(&process.pools))
        .key("policies", need_rows(&story.needs))
}

fn request_json(request: &FailedRequest) -> Json {
    let failure = &request.failure;
    json!({
        "time": failure.at.map(|at| at.to_string()),
        "who": failure.who,
        "requested": failure.requested,
        "memory": failure.memory.name(),
        "device": request.device(),
        "graph_id": failure.graph,
        "purpose": failure.purpose,
        "refused_by": failure.refused.name(),
        "driver_lines": failure.driver_lines,
        "allocated": failure.allocated,
        "reserved": failure.reserved,
        "free": failure.free,
        "total": failure.total,
        "allowed": failure.allowed,
        "outside_pool": request.outside_pool,
        "allocated_by_modules": request.allocated_by_modules,
        "of_no_module": request.of_no_module,
        "evicted": request.evicted,
        "sentence": request.sentence,
        "remarks": request.remarks,
        "try": list(&request.advice, advice_json),
    })
}

pub(super) fn advice_json(advice: &Advice) -> Json {
    json!({
        "action": advice.action,
        "setting": advice.setting,
        "reason": advice.reason,
        "needs_version": advice.needs_version,
    })
}

fn all_requests(story: &LogStory) -> impl Iterator<Item = (&ProcessStory, &FailedRequest)> {
    let processes = story.processes.iter();
    processes.flat_map(|process| process.requests.iter().map(move |one| (process, one)))
}

/// Failed requests after those that are listed.
pub(super) fn n_more_requests(story: &LogStory) -> usize {
    let untold: usize = story.processes.iter().map(|process| process.n_more_requests).sum();
    all_requests(story).skip(MOST_REQUESTS).count() + untold
}

/// The first requests, in the form that does not depend on what wrote the text: `null` is unknown.
pub(super) fn requests_json(story: &LogStory) -> Json {
    list(all_requests(story).take(MOST_REQUESTS), |(process, request)| {
        let failure = &request.failure;
        let is_known = process.is_process();
        json!({
            "asked_bytes": failure.requested,
            "memory": failure.memory.name(),
            "device": request.device(),
            "library": failure.library.name(),
            "by": {
                "process": is_known.then_some(&process.title),
                "line": failure.line,
                "kernel": failure.kernel,
                "graph": failure.graph,
            },
            "free_bytes": failure.free,
            "reserved_bytes": failure.reserved,
            "allocated_bytes": failure.allocated,
            "largest_free_bytes": failure.largest_free,
            "total_bytes": failure.total,
            "limit_bytes": failure.allowed,
            "holders": list(&failure.holders, |one| json!({ "name": one.name, "bytes": one.bytes })),
            "served_by_setting": request.verdict.served.name(),
            "why": request.verdict.why,
            "try": list(&request.advice, |advice| json!({
                "setting": advice.setting,
                "action": advice.action,
                "why": advice.reason,
                "needs_version": advice.needs_version,
            })),
        })
    })
}

pub(super) fn statement_json(story: &ProcessStory, statement: &LoggedStatement) -> Json {
    let is_known = story.is_process();
    json!({
        "text": statement.text,
        "time": statement.at.map(|at| at.to_string()),
        "process": is_known.then_some(&story.title),
        "device": statement.device,
    })
}
