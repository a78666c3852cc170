//! What a log of CANN tells, as JSON: `null` where it cannot tell.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::json_parts::list;
use super::record::{Record, Rows, known};
use highwater_model::units::Bytes;
use highwater_model::workload::{
    ArenaLoad, DriverRow, LoggedEvent, LoggedFailure, LoggedGraph, LoggedPlace, LoggedPool, LoggedProcess,
};

/// All processes of a log.
pub(super) fn log_json<'a>(processes: impl Iterator<Item = &'a LoggedProcess> + Clone) -> Json {
    let damaged: u64 = processes.clone().map(|process| process.damaged).sum();
    let repeated: u64 = processes.clone().map(|process| process.repeated).sum();
    json!({
        "processes": list(processes, process_json),
        "damaged_records": damaged,
        "duplicate_records": repeated,
    })
}

/// The recorded placements of all processes: `GRAPH@PID`, tensors with offset, bytes of block, size and unpadded size, and the
/// first and last op.
pub(super) fn plans_json<'a>(processes: impl Iterator<Item = &'a LoggedProcess>) -> Json {
    let mut plans = Map::new();
    for process in processes {
        for (graph, tensors) in &process.plans {
            let tensors = tensors
                .iter()
                .map(|(tensor, place)| (tensor.clone(), place_json(place)));
            plans.insert(plan_name(graph, process), Json::Object(tensors.collect()));
        }
    }
    Json::Object(plans)
}

fn plan_name(graph: &str, process: &LoggedProcess) -> String {
    match process.pid {
        Some(pid) => format!("{graph}@{pid}"),
        None => graph.to_owned(),
    }
}

fn place_json(place: &LoggedPlace) -> Json {
    json!([
        place.offset,
        place.block,
        place.size,
        place.unpadded,
        place.begin,
        place.end
    ])
}

fn process_json(process: &LoggedProcess) -> Json {
    let variables = process.variables.map(|variables| {
        json!({
            "count": variables.logic.map(|(count, _)| count),
            "logic_bytes": variables.logic.map(|(_, bytes)| bytes),
            "pages": variables.pages.map(|(count, _)| count),
            "page_size": variables.pages.map(|(_, bytes)| bytes),
        })
    });
    json!({
        "pid": process.pid,
        "name": process.name,
        "device": process.device,
        "session": process.session,
        "level": process.level.name(),
        "device_total": process.device_total,
        "policy": {
            "value": process.policy.map(|(value, _)| value),
            "from": process.policy.map(|(_, from)| from.name()),
        },
        "graphs": list(&process.graphs, |graph| graph_json(graph, process)),
        "variables": variables,
        "events": event_rows(&process.events),
        "ge_reserved_peak": process.reserved_peak,
        "arena_loads": list(&process.arena_loads, arena_json),
        "pools": pool_rows(&process.pools),
        "driver": list(&process.driver, driver_json),
        "failures": list(&process.failures, failure_json),
        "statements": list(&process.statements, |one| json!({"text": one.text, "device": one.device})),
        "settings": texts_json(&process.settings),
        "versions": texts_json(&process.versions),
    })
}

fn texts_json(texts: &IndexMap<String, String>) -> Json {
    let pairs = texts.iter().map(|(name, text)| (name.clone(), json!(text)));
    Json::Object(pairs.collect())
}

fn graph_json(graph: &LoggedGraph, process: &LoggedProcess) -> Json {
    let plan = graph.plan.as_ref();
    let tensors = plan.and_then(|name| process.plans.get(name)).map_or(0, IndexMap::len);
    json!({
        "graph_id": graph.id,
        "name": graph.name,
        "plan": plan.map(|name| plan_name(name, process)),
        "memoffset": graph.total,
        "arena": graph.arena,
        "zero_copy": graph.zero_copy,
        "theory_min": graph.theory_min,
        "total_size": graph.sum_of_sizes,
        "no_reuse": graph.no_reuse,
        "winner": graph.winner,
        "placements": tensors,
    })
}

/// Loads and unloads.
pub(super) fn event_rows(events: &[LoggedEvent]) -> Rows<'_> {
    let some = |value: Option<u64>| value.map(Bytes);
    Rows::new(events, move |event| {
        Record::new()
            .field("kind", "event", event.kind.name())
            .field("graph_id", ">graph", known(event.graph))
            .key("model_id", event.model)
            .field("feature_map", ">feature map", some(event.feature_map))
            .field("weights", ">weights", some(event.weights))
            .field("ge_reserved", ">GE reserved", some(event.reserved))
    })
    .captioned("Loads and unloads", "")
    .more_with("`highwater inspect --format json` lists all")
}

pub(super) fn arena_json(load: &ArenaLoad) -> Json {
    json!({
        "blocks": list(&load.blocks, |(total, _)| json!(total)),
        "blocks_used": list(&load.blocks, |(_, used)| json!(used)),
        "alloc_size": load.held,
        "used_size": load.used,
        "peak_size": load.peak,
    })
}

pub(super) fn pool_rows(pools: &[LoggedPool]) -> Rows<'_> {
    Rows::new(pools, |pool| {
        Record::new()
            .field("allocator", "pool", known(pool.allocator.as_ref()))
            .field("graph_id", ">graph", known(pool.graph))
            .field("mallocs", ">requests", known(pool.mallocs))
            .key("frees", pool.frees)
            .field(
                "occupied_peak",
                ">occupied at most",
                known(pool.occupied_peak.map(Bytes)),
            )
            .key("theory_min", pool.theory_min)
            .field(
                "real_theory_min",
                ">lower bound",
                known(pool.real_theory_min.map(Bytes)),
            )
            .key("pages", pool.pages)
            .key("page_size", pool.page_size)
    })
    .captioned("Pools of dynamic graphs", "")
}

fn driver_json(row: &DriverRow) -> Json {
    json!({
        "kind": row.kind,
        "device": row.device,
        "module": row.module,
        "at_failure": row.at_failure,
        "current": row.current,
        "peak": row.peak,
    })
}

fn failure_json(failure: &LoggedFailure) -> Json {
    json!({
        "requested": failure.requested,
        "memory": failure.memory.name(),
        "device": failure.device,
        "library": failure.library.name(),
        "who": failure.who,
        "line": failure.line,
        "kernel": failure.kernel,
        "graph_id": failure.graph,
        "allocated": failure.allocated,
        "reserved": failure.reserved,
        "free": failure.free,
        "total": failure.total,
        "allowed": failure.allowed,
        "largest_free": failure.largest_free,
        "holders": list(&failure.holders, |one| json!({"name": one.name, "bytes": one.bytes})),
        "refused_by": failure.refused.name(),
        "driver_lines": failure.driver_lines,
    })
}
