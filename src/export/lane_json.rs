//! Lanes as parts of the answer of `compare`: figures of policies, of pinned configurations, and of recordings.

use serde_json::{Map, Value as Json, json};

use super::allocator_state::allocator_sums_json;
use super::baseline_comparison::wire_fit;
use super::compare::CompareAnswer;
use super::contributors::peak_fields;
use super::failed_requests::FailureAnswer;
use super::json_parts::{fields_of, list, refusal_json, reserved_json};
use highwater_analysis::{
    CapacitySource, Comparison, Fit, Lane, LaneGoal, LaneMark, LaneRewrite, OutOfMemoryReport, PinFailure, PinnedLane,
};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{AllocatorSimulation, Recording};

/// Sentences about the peak, each with its step.
fn explanation(lane: &Lane) -> Json {
    list(
        &lane.explanation,
        |remark| json!({"text": remark.text, "step": remark.step.map(|step| step.0)}),
    )
}

fn out_of_memory(shortage: &OutOfMemoryReport) -> Json {
    json!({
        "step": shortage.step.0,
        "who": shortage.requester,
        "asked_bytes": shortage.tensor_bytes.get(),
        "requested_bytes": shortage.requested.get(),
        "in_use_bytes": shortage.in_use.get(),
        "holders": list(&shortage.contributors, |(who, bytes)| json!({"who": who, "bytes": bytes.get()})),
        "idle_bytes": shortage.idle.0.get(),
        "largest_idle_bytes": shortage.idle.1.get(),
        "idle_pages_bytes": shortage.idle_pages.get(),
        "enough_bytes": shortage.sufficient_device.map(Bytes::get),
    })
}

/// The runs under a memory budget, by position of the run.
fn remat(rewrite: &LaneRewrite) -> Json {
    let runs = rewrite.remat.iter().enumerate();
    list(
        runs.filter_map(|(position, run)| Some((position, run.as_ref()?))),
        |(position, run)| {
            let answer = &run.answer;
            json!({
                "run": position,
                "heuristic": answer.heuristic.name,
                "budget_bytes": answer.budget.map(Bytes::get),
                "status": answer.status_name(),
                "thrashes": answer.thrashes(),
                "peak_bytes": answer.peak.get(),
                "evictions": answer.counts.evictions,
                "recomputed_ops": run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count(),
                "base_compute_ns": answer.base_compute.0,
                "remat_compute_ns": answer.remat_compute.0,
                "overhead": answer.overhead(),
                "steps_over_budget": answer.counts.steps_over_budget,
            })
        },
    )
}

/// The figures and marks of a simulated lane, with the largest `most` tensors of each peak.
pub(super) fn policy_fields(
    comparison: &Comparison,
    position: usize,
    goal: LaneGoal,
    most: usize,
) -> Map<String, Json> {
    let lane = &comparison.lanes[position];
    let row = lane.policy.row();
    let summary = &lane.summary;
    let marks = comparison.lane_marks(position, goal);
    let (mut forbidden, mut arena) = (Vec::new(), None);
    for mark in &marks {
        match mark {
            LaneMark::Forbidden(finding) => forbidden.push(*finding),
            LaneMark::Arena(behaviour) => arena = Some(behaviour.name()),
            _ => {}
        }
    }
    let object = json!({
        "policy": row.number,
        "label": row.label,
        "title": lane.title,
        "peak_reserved_bytes": summary.peak_reserved.get(),
        "peak_reserved_step": summary.peak_reserved_step.map(|step| step.0),
        "reserved": reserved_json(&summary.reserved),
        "peak_live_bytes": summary.peak_live.get(),
        "fragmentation": summary.fragmentation,
        "internal_waste_bytes": summary.internal_waste.get(),
        "external_fragmentation": summary.pool_idle.fragmentation(),
        "largest_free_bytes": summary.pool_idle.largest.get(),
        "reach_rate": summary.reach_rate,
        "virtual_bytes": summary.virtual_bytes.get(),
        "device_mallocs": summary.device_mallocs,
        "device_frees": summary.device_frees,
        "device_calls": summary.device_calls(),
        "reallocations": summary.reallocations,
        "pages_mapped": summary.pages_mapped,
        "pages_allocated": summary.pages_allocated,
        "pages_unmapped": summary.pages_unmapped,
        "stitches": summary.stitches,
        "recycles": summary.recycles,
        "synchronizations": summary.synchronizations,
        "splits": summary.splits,
        "merges": summary.merges,
        "clears": summary.clears,
        "cleared_bytes": summary.cleared.get(),
        "unloads": summary.unloads,
        "out_of_memory": summary.out_of_memory,
        "out_of_memory_reason": lane.out_of_memory_text(),
        "refused_requests": lane.refusals.map(|refusals| refusals.count),
        "first_refused_step": lane.refusals.map(|refusals| refusals.first.0),
        "forbidden_by": list(forbidden, |finding| {
            refusal_json(finding.rule, &finding.message, &finding.options)
        }),
        "out_of_memory_story": lane.out_of_memory_report.as_ref().map(out_of_memory),
        "explanation": explanation(lane),
        "estimated_overhead_ns": summary.estimated_overhead.0,
        "overhead": list(&summary.overhead, |row| {
            json!({"cause": row.cause.name(), "count": row.count, "estimated_ns": row.time.0})
        }),
        "arena_behaviour": arena,
        "first_divergence_step": lane.first_divergence.map(|step| step.0),
        "lower_bound": comparison.is_lower_bound(position),
        "remat": lane.rewrite.as_ref().map(|rewrite| remat(rewrite)),
    });
    let optional = [
        "title",
        "out_of_memory_reason",
        "refused_requests",
        "first_refused_step",
        "forbidden_by",
        "arena_behaviour",
    ];
    let mut fields = fields_of(object, &optional);
    let per_iteration = summary.overhead_per_iteration.map(|time| time.0);
    fields.insert("overhead_per_iteration_ns".to_owned(), per_iteration.into());
    if let Some(exception) = lane.exception() {
        fields.insert("exception".to_owned(), exception.into());
    }
    if let Some(documented) = lane.documented {
        let figures = json!({
            "peak_reserved_bytes": documented.peak_reserved.get(),
            "out_of_memory": documented.out_of_memory,
        });
        fields.insert("documented".to_owned(), figures);
    }
    // A rewritten lane without a budget has an empty list.
    if lane.rewrite.is_none() {
        fields.shift_remove("remat");
    }
    fields.extend(peak_fields(comparison, position, most));
    fields
}

/// A pinned lane: its configuration, then the figures as of a policy.
pub(super) fn pin_json(position: usize, pinned: &PinnedLane, answer: &CompareAnswer<'_>, most: usize) -> Json {
    let comparison = answer.comparison;
    let differences = pinned.configuration.differences(answer.options);
    let object = json!({
        "name": comparison.lanes[position].title.as_deref().unwrap_or_default(),
        "differences": list(differences, |row| {
            json!({"setting": row.name, "pinned": row.here, "options": row.other})
        }),
        "device": pinned.device.name,
        "device_memory_bytes": pinned.device.memory().get(),
        "fits": wire_fit(comparison.fit(position)),
        "on_axis": pinned.fit.sentences(),
        "findings": list(&pinned.findings, |finding| {
            json!({"rule": finding.rule, "severity": finding.severity.to_string(), "message": finding.message})
        }),
    });
    let mut fields = fields_of(object, &[]);
    fields.extend(policy_fields(comparison, position, answer.goal, most));
    Json::Object(fields)
}

pub(super) fn pin_problem_json(problem: &PinFailure) -> Json {
    json!({"name": problem.name, "why": problem.why})
}

/// Bytes between the peak and the capacity, negative above it; null where the lane has no such figure.
fn headroom(fit: Fit) -> Json {
    match fit {
        Fit::Yes { left, .. } => left.get().into(),
        Fit::Above { by, .. } => i64::try_from(by.get()).map_or(Json::Null, |by| (-by).into()),
        _ => Json::Null,
    }
}

/// The figures of a recording; null where the file does not state them.
pub(super) fn measured_json(comparison: &Comparison, position: usize, most: usize) -> Json {
    let lane = &comparison.lanes[position];
    let summary = &lane.summary;
    let recording = comparison.recording(lane.id);
    let (states_reserved, states_live) = (
        recording.is_some_and(Recording::states_reserved),
        recording.is_some_and(Recording::states_live),
    );
    let capacity = comparison.capacity_of(position);
    let at_peak = lane
        .recorded
        .as_ref()
        .and_then(|recorded| recorded.fragmentation.at_peak);
    let step = |is_stated: bool, step: Option<Step>| step.filter(|_| is_stated).map(|step| step.0);
    let event = |step: Option<u32>| step.map(|step| comparison.shown_step(position, Step(step)).0);
    let (reserved_step, live_step) = (
        step(states_reserved, summary.peak_reserved_step),
        step(states_live, summary.peak_live_step),
    );
    let object = json!({
        "title": comparison.lane_title(lane.id),
        "peak_reserved_bytes": states_reserved.then_some(summary.peak_reserved.get()),
        "peak_reserved_step": reserved_step,
        "peak_reserved_event": event(reserved_step),
        "peak_live_bytes": states_live.then_some(summary.peak_live.get()),
        "peak_live_step": live_step,
        "peak_live_event": event(live_step),
        "fragmentation": comparison.fragmentation(position),
        "allocator_at_peak_reserved": at_peak.map(|(_, sums)| allocator_sums_json(&sums)),
        "out_of_memory": summary.out_of_memory,
        "fits": wire_fit(comparison.fit(position)),
        "capacity_bytes": capacity.map(|capacity| capacity.bytes.get()),
        "capacity_is_lower_bound": capacity.map(|capacity| {
            capacity.source == CapacitySource::Recording { is_lower_bound: true }
        }),
        "headroom_bytes": headroom(comparison.fit(position)),
        "failed_requests": failed_requests(comparison, position),
        "remarks": explanation(lane),
        "fits_by_construction": lane.recorded.as_ref().is_some_and(|recorded| recorded.is_learned_from).then_some(true),
        "simulation": comparison.simulation(lane.id).map(simulation_json),
    });
    let mut fields = fields_of(object, &["simulation", "fits_by_construction", "failed_requests"]);
    fields.extend(peak_fields(comparison, position, most));
    Json::Object(fields)
}

/// `None` without any.
fn failed_requests(comparison: &Comparison, position: usize) -> Option<Json> {
    let failures = FailureAnswer::of_lane(comparison, position);
    (!failures.is_empty()).then(|| list(&failures, |failure| json!(failure.record())))
}

/// How a lane of a recording was simulated.
fn simulation_json(simulation: &AllocatorSimulation) -> Json {
    json!({
        "measured": simulation.measured,
        "conf": simulation.settings,
        "variable": simulation.variable,
        "allocator": simulation.version,
        "peak_reserved_bytes": simulation.peak.get(),
        "measured_peak_reserved_bytes": (simulation.measured_peak > Bytes::ZERO).then_some(simulation.measured_peak.get()),
        "replayed_peak_reserved_bytes": simulation.replayed_peak.get(),
        "num_alloc_retries": simulation.retries,
        "ooms": simulation.failures,
        "device_calls": simulation.device_calls,
        "replays_exactly": simulation.is_exact,
    })
}
