//! The answer of `compare` for people: a table of lanes, budgets, estimates, explanations, findings.

use std::sync::Arc;

use super::measured::{self, measured_table};
use crate::args::CompareArgs;
use crate::text::{Table, diagnostics};
use highwater_analysis::{Comparison, LaneId, RunRemat};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::DeviceFigure;
use highwater_options::Finding;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::Timeline;

pub(super) fn text(args: &CompareArgs, comparison: &Comparison, findings: &[Finding], import: &Diagnostics) -> String {
    let mut out = heading(comparison);
    out.push('\n');
    if comparison.is_measured() {
        out.push_str(&measured_table(comparison).text());
        if is_by_time(comparison) {
            out.push_str("events are counted over all recordings, in the order of their times\n");
        }
    } else {
        out.push_str(&table(comparison).text());
        if comparison
            .lanes
            .iter()
            .any(|lane| matches!(lane.id, LaneId::Measured(_)))
        {
            out.push_str("\nmeasured, not simulated; steps are those that the run came by\n");
            out.push_str(&measured_table(comparison).text());
            out.push_str(&measured::errors(comparison));
        }
    }
    out.push('\n');
    out.push_str(&budgets(comparison));
    for lane in &comparison.lanes {
        let Some(story) = &lane.out_of_memory_report else {
            continue;
        };
        out.push_str(&format!("{}\n", comparison.lane_title(lane.id)));
        for sentence in story.sentences() {
            out.push_str(&format!("  {sentence}\n"));
        }
    }
    if let Some(best) = &comparison.lowest_peak {
        out.push_str(&format!("best: policy {}, {}\n", best.policy.number(), best.why));
    }
    out.push_str(&forbidden(comparison));
    if let Some(alike) = &comparison.equivalence {
        out.push_str(alike);
        out.push('\n');
    }
    if let Some(note) = comparison.scratch.note() {
        out.push_str(&format!("{note} Overhead is an estimate.\n"));
    } else if comparison.lower_bound {
        out.push_str("Figures are lower bounds: tensors of unknown size count 0 bytes. Overhead is an estimate.\n");
    }
    let marks = comparison.device.marks_sentence();
    if !comparison.is_measured() && !marks.is_empty() {
        out.push_str(&format!("device: {marks}; `highwater devices` lists them\n"));
    }
    for estimate in &comparison.estimates {
        out.push_str(&format!("estimate: {} {}\n", estimate.key, estimate.effect));
    }
    if args.explain {
        out.push_str(&explanations(comparison));
    }
    if args.map {
        let timeline = Timeline::new(comparison);
        for (position, lane) in comparison.lanes.iter().enumerate() {
            out.push_str(&format!("\n{}\n", comparison.lane_title(lane.id)));
            out.push_str(&timeline.lanes[position].ascii(100, 20));
        }
    }
    let mut all = import.clone();
    all.extend(&comparison.diagnostics);
    let oddities = diagnostics(&all) + &findings_text(findings);
    if !oddities.is_empty() {
        out.push('\n');
        out.push_str(&oddities);
    }
    out
}

/// Which rules forbid which policies.
fn forbidden(comparison: &Comparison) -> String {
    let mut out = String::new();
    for lane in &comparison.lanes {
        for finding in &lane.forbidden {
            let (rule, number) = (finding.rule, lane.policy.number());
            out.push_str(&format!("{rule} forbids policy {number}: {}\n", finding.message));
        }
    }
    out
}

/// Runs under memory budgets, each once; empty where there is none.
fn budgets(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        "run",
        "evicted by",
        ">budget",
        "status",
        ">planner's peak",
        ">evictions",
        ">computed anew",
        ">overhead",
    ]);
    let mut seen: Vec<Arc<RunRemat>> = Vec::new();
    let lanes = comparison.lanes.iter().filter_map(|lane| lane.rewrite.as_ref());
    for run in lanes.flat_map(|rewrite| rewrite.remat.iter().flatten()) {
        if run.answer.budget.is_none() || seen.iter().any(|known| Arc::ptr_eq(known, run)) {
            continue;
        }
        seen.push(Arc::clone(run));
        let anew = run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count();
        table.row(vec![
            run.tape.tape.name.clone(),
            run.answer.heuristic.label.to_owned(),
            run.answer.budget.map_or_else(String::new, |bytes| bytes.to_string()),
            run.answer.status.name().replace('_', " "),
            run.answer.peak.to_string(),
            run.answer.counts.evictions.to_string(),
            format!("{}, {}", counted(anew as u64, "op"), run.answer.remat_compute),
            format!("x{:.3}", run.answer.overhead()),
        ]);
    }
    if seen.is_empty() {
        return String::new();
    }
    format!("{}\n", table.text())
}

/// What runs: the runs of graphs, or the commands of a trace with its pools and graphs.
fn what_runs(comparison: &Comparison) -> String {
    let graphs = comparison.workload.graphs().iter();
    let graphs = graphs.map(|entry| format!("{} ({})", entry.name, counted(entry.graph.ops().len() as u64, "op")));
    let names: Vec<String> = graphs.chain(comparison.trace_graphs().map(str::to_owned)).collect();
    let names = names.join(", ");
    let steps = u64::from(comparison.axis.n_steps);
    let of = |noun: &str| counted(steps, noun);
    if let Some(tape) = comparison.workload.tapes().first() {
        let ops = tape.ops.iter().filter(|op| !op.is_source).count();
        return format!(
            "{} ({}) under policy {}, {}",
            tape.name,
            counted(ops as u64, "op"),
            comparison.active_policy.number(),
            of("step")
        );
    }
    if !comparison.workload.programs().is_empty() {
        let blocks = comparison.session.graphs.iter().map(|graph| graph.name.as_str());
        return format!("{}; {}", of("op"), blocks.collect::<Vec<_>>().join(", "));
    }
    if comparison.is_measured() {
        return format!("{}, measured: nothing is simulated", of("event"));
    }
    match comparison.trace() {
        Some(_) if names.is_empty() => format!("trace of {}", of("command")),
        Some(_) => format!("trace of {}; {names}", of("command")),
        None => {
            let runs = counted(comparison.axis.runs.len() as u64, "run");
            format!("{runs}, {}; graphs: {names}", of("step"))
        }
    }
}

/// Where the peaks come from, policy by policy.
fn explanations(comparison: &Comparison) -> String {
    let mut out = String::new();
    for lane in &comparison.lanes {
        let label = match lane.id {
            LaneId::Measured(_) => "",
            _ if comparison.compares_passes() => "",
            _ => lane.policy.row().label,
        };
        let title = comparison.lane_title(lane.id);
        let comma = if label.is_empty() { "" } else { ", " };
        out.push_str(&format!("\n{title}{comma}{label}\n"));
        for remark in &lane.explanation {
            out.push_str(&format!("  {}\n", remark.text));
        }
    }
    out
}

fn heading(comparison: &Comparison) -> String {
    let occupied = match comparison.occupied {
        Bytes::ZERO => String::new(),
        bytes => format!(" left; others hold {bytes} on device {}", comparison.device_id),
    };
    format!(
        "{}\n{}\ndevice {} with {}{occupied}\n",
        comparison.workload.name,
        what_runs(comparison),
        comparison.device.name,
        comparison.device.marked(DeviceFigure::MemoryBytes),
    )
}

/// Whether the events of several recordings stand on one axis, each with a step of its own.
fn is_by_time(comparison: &Comparison) -> bool {
    let shown = comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
    let events: Vec<u64> = shown.map(|recording| u64::from(recording.n_steps)).collect();
    events.len() > 1 && events.iter().sum::<u64>() == u64::from(comparison.axis.n_steps)
}

/// What was simulated, lane by lane.
fn table(comparison: &Comparison) -> Table {
    let of_lanes = if comparison.compares_passes() { "lane" } else { "policy" };
    let mut table = Table::new(&[
        of_lanes,
        "",
        ">peak reserved",
        ">exact",
        ">at step",
        ">features",
        ">weights",
        ">variables",
        ">in/out",
        ">peak live",
        ">fragm.",
        ">mallocs",
        ">pages",
        ">est. overhead",
        "",
    ]);
    for lane in comparison.simulated_lanes() {
        let row = lane.policy.row();
        let summary = &lane.summary;
        let mut marks = Vec::new();
        if lane.policy == StaticMemoryPolicy::StaticExtend {
            let params = lane.pinned.as_ref().map_or(&comparison.params, |pinned| &pinned.params);
            marks.push(params.arena_behaviour.label());
        }
        let is_own = lane.pinned.is_none();
        if is_own && lane.policy == comparison.active_policy && !comparison.compares_passes() {
            marks.push("in force");
        }
        if is_own
            && comparison
                .lowest_peak
                .as_ref()
                .is_some_and(|best| best.policy == lane.policy)
        {
            marks.push("best");
        }
        if !lane.forbidden.is_empty() {
            marks.push("FORBIDDEN by a rule");
        }
        if summary.unloads > 0 {
            marks.push("unloads graphs");
        }
        if summary.out_of_memory {
            marks.push("OUT OF MEMORY");
        }
        if lane.refusals.is_some() {
            marks.push("REFUSES REQUESTS");
        }
        let (number, label) = match (lane.id, &lane.title) {
            (LaneId::Pass(_) | LaneId::Pinned(_), Some(title)) => (comparison.lane_mark(lane.id), title.clone()),
            _ => (row.number.to_string(), row.label.to_owned()),
        };
        table.row(vec![
            number,
            label,
            summary.peak_reserved.to_string(),
            summary.peak_reserved.exact(),
            summary
                .peak_reserved_step
                .map_or(String::new(), |step| step.to_string()),
            summary.reserved.features.to_string(),
            summary.reserved.weights.to_string(),
            summary.reserved.variables.to_string(),
            summary.reserved.io.to_string(),
            summary.peak_live.to_string(),
            format!("{:.1} %", summary.fragmentation * 100.0),
            summary.device_mallocs.to_string(),
            summary.pages_mapped.to_string(),
            summary.estimated_overhead.to_string(),
            marks.join(", "),
        ]);
    }
    table
}

/// Findings, one a line.
fn findings_text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        out.push_str(&format!(
            "{}: {} {} ({})\n",
            finding.severity,
            finding.rule,
            finding.message,
            finding.options.join(", ")
        ));
    }
    out
}
