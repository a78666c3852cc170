//! The answer of `remat` as JSON: one object per run, with its events on demand.
//!
//! In: a tape and a run on it. Fields are a contract. A step of the static planner counts ops with planned results, as the planner
//! does; a step of the other engines is the op's number in the tape. Where a runtime recomputes several results of one op at once,
//! the others are listed as siblings of the requested one.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::json_parts::{diagnostics_json, fields_of, list};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{Engine, MinimumRule, NO_CHOICE, RematEvent, RematRun, RematShortage, RematStatus};

#[derive(Serialize, Debug)]
pub struct WireRemat {
    #[serde(flatten)]
    figures: Map<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_memory: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<WireEvent>>,
    diagnostics: Json,
    elapsed_ns: u64,
}

#[derive(Serialize, Debug)]
struct WireEvent {
    step: u32,
    kind: &'static str,
    tensor: String,
    id: u32,
    copy: u32,
    clock: u64,
    memory_after_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    siblings: Vec<u32>,
}

/// A run with its tape.
#[derive(Clone, Copy, Debug)]
pub struct RematAnswer<'a> {
    pub tape: &'a Tape,
    pub run: &'a RematRun,
    /// The engine's peak without a budget.
    pub unlimited: Bytes,
    /// `dtr.evictee_minimum_size`.
    pub minimum: Bytes,
    /// Why the sizes are lower bounds, in words; `None` where they are exact.
    pub lower_bound: Option<&'a str>,
    pub diagnostics: &'a Diagnostics,
    pub elapsed_ns: u64,
}

impl WireRemat {
    pub fn new(answer: &RematAnswer<'_>, has_events: bool) -> Self {
        let RematAnswer { tape, run, .. } = *answer;
        Self {
            figures: figures(answer),
            out_of_memory: match &run.status {
                RematStatus::OutOfMemory(shortage) => Some(shortage_json(tape, shortage)),
                RematStatus::Ok | RematStatus::Thrash => None,
            },
            events: has_events.then(|| events(tape, run)),
            diagnostics: diagnostics_json(answer.diagnostics),
            elapsed_ns: answer.elapsed_ns,
        }
    }
}

fn figures(answer: &RematAnswer<'_>) -> Map<String, Json> {
    let RematAnswer { tape, run, .. } = *answer;
    let object = json!({
        "heuristic": run.heuristic.name,
        "tape": tape.name,
        "budget_bytes": run.budget.map(Bytes::get),
        "unlimited_peak_bytes": answer.unlimited.get(),
        "lower_bound": answer.lower_bound.is_some(),
        "status": run.status_name(),
        "thrashes": run.thrashes(),
        "evictee_minimum": evictee_minimum(answer),
        "base_compute_ns": run.base_compute.0,
        "remat_compute_ns": run.remat_compute.0,
        "overhead": run.overhead(),
        "peak_bytes": run.peak.get(),
        "peak_step": steps(tape, run)(run.peak_step),
        "evictions": run.counts.evictions,
        "evicted_bytes": run.counts.evicted_bytes.get(),
        "eager_evictions": run.counts.eager_evictions,
        "rematerializations": run.counts.rematerializations,
        "rematerialized_bytes": run.counts.rematerialized_bytes.get(),
        "collateral": run.counts.collateral,
        "frees": run.counts.frees,
        "steps_over_budget": run.counts.steps_over_budget,
    });
    fields_of(object, &[])
}

/// `{bytes, rule: at_least|above|ignored}`; no bytes where the engine has no minimum.
fn evictee_minimum(answer: &RematAnswer<'_>) -> Json {
    let rule = answer.run.heuristic.engine.minimum_rule();
    let bytes = (rule != MinimumRule::Ignored).then_some(answer.minimum.get());
    json!({"bytes": bytes, "rule": rule.name()})
}

fn shortage_json(tape: &Tape, shortage: &RematShortage) -> Json {
    let op = tape.ops.get(shortage.op as usize);
    json!({
        "op": op.map_or("", |op| &*op.name),
        "step": shortage.op,
        "requested_bytes": shortage.requested.get(),
        "in_use_bytes": shortage.in_use.get(),
        "short_bytes": shortage.short.get(),
        "held": list(&shortage.held, |id| {
            let tensor = &tape.tensors[*id as usize];
            json!({"tensor": &*tensor.name, "id": id, "bytes": tensor.bytes.get()})
        }),
    })
}

/// Converts numbers of ops to steps of the run's engine.
fn steps<'a>(tape: &'a Tape, run: &RematRun) -> impl Fn(u32) -> u32 + use<'a> {
    let is_planner = run.heuristic.engine == Engine::StaticPlanner;
    let has_own_memory = |id: &u32| {
        let tensor = &tape.tensors[*id as usize];
        !tensor.is_external && tensor.storage == *id
    };
    let mut before = Vec::new();
    if is_planner {
        let mut count = 0;
        for op in &tape.ops {
            before.push(count);
            count += u32::from(op.outputs.iter().any(has_own_memory));
        }
        before.push(count);
    }
    move |op| before.get(op as usize).copied().unwrap_or(op)
}

fn events(tape: &Tape, run: &RematRun) -> Vec<WireEvent> {
    let step = steps(tape, run);
    let joins = matches!(run.heuristic.engine, Engine::Runtime(_));
    let mut wire: Vec<WireEvent> = Vec::with_capacity(run.events.len());
    for event in &run.events {
        if joins
            && event.is_sibling
            && let Some(last) = wire.last_mut()
        {
            last.siblings.push(event.tensor);
            continue;
        }
        wire.push(one_event(tape, run, event, step(event.step)));
    }
    wire
}

fn one_event(tape: &Tape, run: &RematRun, event: &RematEvent, step: u32) -> WireEvent {
    let choice = run
        .choices
        .get(event.choice as usize)
        .filter(|_| event.choice != NO_CHOICE);
    // JSON has no infinity.
    let number = |score: f64| serde_json::Number::from_f64(score).map_or_else(|| Json::from("inf"), Json::Number);
    WireEvent {
        step,
        kind: event.kind.name(),
        tensor: tape.tensors[event.tensor as usize].name.to_string(),
        id: event.tensor,
        copy: event.copy,
        clock: event.clock,
        memory_after_bytes: event.memory_after.get(),
        cost: choice.map(|choice| number(choice.score)),
        chain: (event.chain > 0).then_some(event.chain),
        siblings: Vec::new(),
    }
}
