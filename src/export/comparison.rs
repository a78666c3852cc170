//! The answer of `compare` as JSON. Fields are a contract: bytes, nanoseconds and steps are integers.

use serde_json::{Map, Value as Json, json};

use super::baseline_comparison::{compared_record, lane_baseline_record};
use super::compare::CompareAnswer;
use super::device::figures_json;
use super::json_parts::{condition_json, diagnostics_json, fields_of, list};
use super::lane_json::{measured_json, pin_json, pin_problem_json, policy_fields};
use super::request_summary::{graph_name, graphs, settings};
use highwater_analysis::{Comparison, Recommended, ReuseLane, RunDifference, RunDifferences, TradeEnd};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::Id as _;
use highwater_model::units::Bytes;
use highwater_options::{Edit, Finding};
use highwater_script::json_of;
use highwater_sim::StaticMemoryPolicy;

/// The number of tensors of each peak.
const MOST_TENSORS: usize = 100;

/// Every lane, and comparisons with a baseline.
pub(super) fn answer_fields(answer: &CompareAnswer<'_>) -> Map<String, Json> {
    let (most, n_changes) = (answer.most.unwrap_or(MOST_TENSORS), answer.most.unwrap_or(usize::MAX));
    let (comparison, options) = (answer.comparison, answer.options);
    let device = &comparison.device;
    let is_measured = |lane: &usize| comparison.is_measured_lane(*lane);
    let lanes = || 0..comparison.lanes.len();
    let policies = lanes().filter(|lane| !is_measured(lane) && !comparison.is_pinned_lane(*lane));
    let pins = lanes().filter_map(|lane| Some((lane, comparison.pinned(lane)?)));
    let object = json!({
        "workload": workload(comparison),
        "device": {
            "name": device.name,
            "memory_bytes": device.memory().get(),
            "figures": figures_json(device),
        },
        "device_id": comparison.device_id,
        "occupied_bytes": comparison.occupied.get(),
        "policies": list(policies, |lane| Json::Object(policy_fields(comparison, lane, answer.goal, most))),
        "pins": list(pins, |(lane, pinned)| pin_json(lane, pinned, answer, most)),
        "pin_problems": list(&comparison.pin_failures, pin_problem_json),
        "measured": list(lanes().filter(is_measured), |lane| measured_json(comparison, lane, most)),
        "differences": list(&comparison.run_differences, |one| differences_json(comparison, one)),
        "effective_policy": comparison.active_policy.number(),
        "effective_policy_unknown": comparison.is_policy_unknown.then_some(true),
        "effective_policy_depends_on": list(&comparison.policy_conditions, condition_json),
        "settings": list(settings(options), |(setting, value)| json!({"setting": setting, "value": value})),
        "best": comparison.lowest_peak.as_ref().map(|best| json!({"policy": best.policy.number(), "why": best.why})),
        "recommended": answer.recommended().map(recommended_json),
        "trade": list(&comparison.trade(), trade_json),
        "alike": comparison.equivalence,
        "rewrites": list(&comparison.reuse_lanes, |lane| rewrite_json(comparison, lane)),
        "no_effect": list(&comparison.without_effect, |key| Json::from(*key)),
        "advice": list(&comparison.advice, advice_json),
        "scratch": comparison.scratch.name(),
        "estimates": list(&comparison.estimates, |estimate| estimate.key.into()),
        "diagnostics": diagnostics_json(&with_findings(answer)),
        "baseline": answer.baseline_comparison.map(|compared| compared_record(compared, n_changes).to_json()),
        "beside": answer.lane_baseline.map(|baseline| lane_baseline_record(baseline, comparison, n_changes).to_json()),
    });
    fields_of(
        object,
        &[
            "pins",
            "pin_problems",
            "measured",
            "differences",
            "trade",
            "rewrites",
            "advice",
            "no_effect",
            "effective_policy_unknown",
            "effective_policy_depends_on",
            "baseline",
            "beside",
        ],
    )
}

/// `{lane, goal, why, equivalent, runner_up}`; lanes are numbers of policies.
fn recommended_json(recommended: &Recommended) -> Json {
    json!({
        "lane": recommended.policy.number(),
        "goal": recommended.goal.name(),
        "why": recommended.why,
        "equivalent": list(&recommended.equivalent, |policy| policy.number().into()),
        "runner_up": recommended.runner_up.map(StaticMemoryPolicy::number),
    })
}

/// `{lane, from, least, greatest}`; lanes count from 1, each difference has the own events of both.
fn differences_json(comparison: &Comparison, of: &RunDifferences) -> Json {
    let one = |one: &RunDifference| {
        let events = [0, of.lane].map(|lane| comparison.shown_step(lane, one.step).0);
        json!({"bytes": i64::try_from(one.bytes).ok(), "from_event": events[0], "event": events[1]})
    };
    json!({"lane": of.lane + 1, "from": 1, "least": one(&of.least), "greatest": one(&of.greatest)})
}

/// `{goals, lane, peak_reserved_bytes, against_active, overhead_once_ns, overhead_per_iteration_ns}`: one end of the trade. Times are
/// 0 where they do not differ significantly.
fn trade_json(end: &TradeEnd) -> Json {
    let time = |nanos: i128| i64::try_from(nanos).ok();
    json!({
        "goals": list(&end.goals, |goal| goal.name().into()),
        "lane": end.recommended.policy.number(),
        "peak_reserved_bytes": end.peak.get(),
        "against_active": end.is_difference,
        "overhead_once_ns": end.time.map_or(Some(0), |of| time(of.once)),
        "overhead_per_iteration_ns": end.time.map_or(Some(0), |of| of.per_iteration.and_then(time)),
    })
}

/// `{rule, message, set: [{setting, value}]}`; nothing is set where no setting simulates it.
fn advice_json(finding: &Finding) -> Json {
    let edits = finding.fixes.iter().flat_map(|fix| &fix.edits);
    let set: Vec<Json> = edits
        .filter_map(|edit| match edit {
            Edit::Option { key, value } => Some(json!({"setting": key, "value": json_of(value)})),
            Edit::Variable { .. } => None,
        })
        .collect();
    json!({"rule": finding.rule, "message": finding.message, "set": set})
}

/// Paddle's executor: every variable (or slot) is an allocation that lasts until the run ends, beside weights and variables
/// of the session.
fn rewrite_json(comparison: &Comparison, lane: &ReuseLane) -> Json {
    let active = comparison.lane(comparison.active_policy);
    let resident = active.map_or(Bytes::ZERO, |active| {
        active.summary.reserved.weights + active.summary.reserved.variables
    });
    let figures = lane.figures.as_ref().ok();
    let object = json!({
        "lane": lane.lane,
        "title": lane.title,
        "exception": lane.figures.as_ref().err(),
        "variables_bytes": figures.map(|of| of.variables.get()),
        "peak_live_bytes": figures.map(|of| of.peak_live.get()),
        "peak_reserved_bytes": figures.map(|of| (of.variables + resident).get()),
        "hits": figures.map(|of| of.hits),
    });
    Json::Object(fields_of(object, &["exception"]))
}

/// The diagnostics of the importers and of the comparison, then the findings of the configuration.
fn with_findings(answer: &CompareAnswer<'_>) -> Diagnostics {
    let mut all = answer.import.clone();
    all.extend(&answer.comparison.diagnostics);
    for finding in answer.findings {
        let message = format!("{}: {}", finding.rule, finding.message);
        let place = finding.options.join(", ");
        match finding.severity {
            Severity::Error => all.error(message, &place),
            Severity::Warning => all.warning(message, &place),
            Severity::Info => all.info(message, &place),
        }
    }
    all
}

fn workload(comparison: &Comparison) -> Json {
    json!({
        "name": comparison.workload.name,
        "graphs": graphs(comparison),
        "steps": comparison.axis.n_steps,
        "runs": list(&comparison.axis.runs, |run| {
            json!({
                "graph": graph_name(comparison, run.run.graph.idx()),
                "iteration": run.run.iteration,
                "dims": run.run.bindings,
                "start_step": run.start.0,
                "steps": run.n_steps,
            })
        }),
    })
}
