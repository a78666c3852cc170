//! The wire form of `highwater remat`: one object a run, with its events where they are asked for.
//!
//! In: a tape and a run on it. Out: the answer. Fields are a contract. Of the static planner a step counts ops with planned
//! results, as the planner does; of the others it is the op's number in the tape. Where a runtime brings several results
//! of one op back at once, the others stand with the one that was asked for.

use serde::Serialize;
use serde_json::Value as Json;

use super::inspect::WireDiagnostic;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{Engine, NO_CHOICE, RematEvent, RematRun, RematShortage, RematStatus};

/// One run.
#[derive(Serialize, Debug)]
pub struct WireRemat {
    heuristic: &'static str,
    tape: String,
    budget_bytes: Option<u64>,
    unlimited_peak_bytes: u64,
    lower_bound: bool,
    status: &'static str,
    base_compute_ns: u64,
    remat_compute_ns: u64,
    overhead: f64,
    peak_bytes: u64,
    peak_step: u32,
    evictions: u64,
    evicted_bytes: u64,
    eager_evictions: u64,
    rematerializations: u64,
    rematerialized_bytes: u64,
    collateral: u64,
    frees: u64,
    steps_over_budget: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_memory: Option<WireShortage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<WireEvent>>,
    diagnostics: Vec<WireDiagnostic>,
    elapsed_ns: u64,
}

/// What was missing.
#[derive(Serialize, Debug)]
struct WireShortage {
    op: String,
    step: u32,
    requested_bytes: u64,
    in_use_bytes: u64,
    short_bytes: u64,
    held: Vec<WireHeld>,
}

/// A storage that could not be evicted.
#[derive(Serialize, Debug)]
struct WireHeld {
    tensor: String,
    id: u32,
    bytes: u64,
}

/// One event.
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

/// A run beside what it ran on.
#[derive(Clone, Copy, Debug)]
pub struct RematAnswer<'a> {
    /// What ran.
    pub tape: &'a Tape,
    /// How.
    pub run: &'a RematRun,
    /// The engine's peak without a budget.
    pub unlimited: Bytes,
    /// Why the sizes are lower bounds, in words; `None` where they are all there is.
    pub lower_bound: Option<&'a str>,
    /// Oddities.
    pub diagnostics: &'a Diagnostics,
    /// How long it took.
    pub elapsed_ns: u64,
}

impl WireRemat {
    /// The wire form of a run.
    pub fn new(answer: &RematAnswer<'_>, has_events: bool) -> Self {
        let RematAnswer { tape, run, .. } = *answer;
        Self {
            heuristic: run.heuristic.name,
            tape: tape.name.clone(),
            budget_bytes: run.budget.map(Bytes::get),
            unlimited_peak_bytes: answer.unlimited.get(),
            lower_bound: answer.lower_bound.is_some(),
            status: run.status.name(),
            base_compute_ns: run.base_compute.0,
            remat_compute_ns: run.remat_compute.0,
            overhead: run.overhead(),
            peak_bytes: run.peak.get(),
            peak_step: steps(tape, run)(run.peak_step),
            evictions: run.counts.evictions,
            evicted_bytes: run.counts.evicted_bytes.get(),
            eager_evictions: run.counts.eager_evictions,
            rematerializations: run.counts.rematerializations,
            rematerialized_bytes: run.counts.rematerialized_bytes.get(),
            collateral: run.counts.collateral,
            frees: run.counts.frees,
            steps_over_budget: run.counts.steps_over_budget,
            out_of_memory: match &run.status {
                RematStatus::OutOfMemory(shortage) => Some(WireShortage::new(tape, shortage)),
                RematStatus::Ok | RematStatus::Thrash => None,
            },
            events: has_events.then(|| events(tape, run)),
            diagnostics: WireDiagnostic::all(answer.diagnostics),
            elapsed_ns: answer.elapsed_ns,
        }
    }
}

impl WireShortage {
    fn new(tape: &Tape, shortage: &RematShortage) -> Self {
        let held = shortage.held.iter().map(|id| WireHeld {
            tensor: tape.tensors[*id as usize].name.to_string(),
            id: *id,
            bytes: tape.tensors[*id as usize].bytes.get(),
        });
        let op = tape.ops.get(shortage.op as usize);
        Self {
            op: op.map_or_else(String::new, |op| op.name.to_string()),
            step: shortage.op,
            requested_bytes: shortage.requested.get(),
            in_use_bytes: shortage.in_use.get(),
            short_bytes: shortage.short.get(),
            held: held.collect(),
        }
    }
}

/// From op numbers to the steps of a run's engine.
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
