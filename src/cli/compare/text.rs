//! The answer of `compare` for people: a table of lanes, budgets, estimates, explanations, findings, pins.

use std::sync::Arc;

use super::measured::{self, Listed, measured_table};
use crate::args::CompareArgs;
use crate::text::{diagnostics, section};
use highwater_analysis::{Comparison, Configuration, LaneId, LaneKind, LaneMark, RunRemat};
use highwater_export::{CompareAnswer, Table};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::DeviceFigure;
use highwater_options::{Edit, Finding};
use highwater_timeline::{Timeline, TimelineParts};

pub(super) fn text(args: &CompareArgs, answer: &CompareAnswer<'_>, import: &Diagnostics) -> String {
    let comparison = answer.comparison;
    let mut out = heading(comparison);
    out.push('\n');
    out.push_str(&tables(answer));
    out.push('\n');
    out.push_str(&budgets(comparison));
    out.push_str(&reuse(comparison));
    for lane in &comparison.lanes {
        let Some(shortage) = &lane.out_of_memory_report else {
            continue;
        };
        out.push_str(&format!("{}\n", comparison.lane_title(lane.id)));
        for sentence in shortage.sentences() {
            out.push_str(&format!("  {sentence}\n"));
        }
    }
    out.push_str(&remarks(answer));
    if args.explain {
        out.push_str(&explanations(comparison));
    }
    if args.map {
        let timeline = Timeline::with(comparison, TimelineParts::Drawing);
        for (lane, view) in comparison.lanes.iter().zip(&timeline.lanes) {
            let (title, map) = (comparison.lane_title(lane.id), view.ascii(100, 20));
            out.push_str(&format!("\n{title}\n{map}"));
        }
    }
    let mut all = import.clone();
    all.extend(&comparison.diagnostics);
    out.push_str(&section(diagnostics(&all) + &findings_text(answer.findings)));
    out.push_str(&pins(comparison, answer.options));
    out
}

/// Simulated lanes, then recordings.
fn tables(answer: &CompareAnswer<'_>) -> String {
    let comparison = answer.comparison;
    if comparison.lane_kind() == LaneKind::Recordings {
        let note = if is_by_time(comparison) {
            "events are numbered in each recording\n"
        } else {
            ""
        };
        return measured_table(comparison, Listed::All).text() + note + &measured::simulation_note(comparison);
    }
    let mut out = table(answer).text();
    let recordings = comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
    let (simulated, measured): (Vec<_>, Vec<_>) = recordings.partition(|one| one.simulation.is_some());
    if !measured.is_empty() {
        out.push_str("\nmeasured, not simulated; aligned to graph steps\n");
        out.push_str(&measured_table(comparison, Listed::Measured).text());
        out.push_str(&measured::errors(comparison));
    }
    if !simulated.is_empty() {
        out.push_str("\nunder the caching allocator of PyTorch or torch_npu\n");
        out.push_str(&measured_table(comparison, Listed::Simulated).text());
        out.push_str(&measured::simulation_note(comparison));
    }
    out
}

/// Conclusions, and what figures leave out or estimate.
fn remarks(answer: &CompareAnswer<'_>) -> String {
    let comparison = answer.comparison;
    let mut out = String::new();
    if answer.recommended().is_none() && comparison.lane_kind() == LaneKind::Policies {
        out.push_str("Recommended: none, no policy fits\n");
    }
    let all: Vec<usize> = (0..comparison.lanes.len()).collect();
    for sentence in comparison.mark_sentences(&all, answer.goal, |_| true) {
        out.push_str(&format!("{sentence}\n"));
    }
    let marks = comparison.device.marks_sentence();
    if comparison.lane_kind() != LaneKind::Recordings && !marks.is_empty() {
        out.push_str(&format!("device: {marks}; `highwater devices` lists them\n"));
    }
    for advice in &comparison.advice {
        let edits = advice.fixes.iter().flat_map(|fix| &fix.edits);
        let flags = edits.filter_map(|edit| match edit {
            Edit::Option { key, value } => Some(format!(" (--set {key}={value})")),
            Edit::Variable { .. } => None,
        });
        let flags: String = flags.collect();
        out.push_str(&format!("{}: {}{flags}\n", advice.rule, advice.message));
    }
    for estimate in &comparison.estimates {
        out.push_str(&format!("estimate: {} {}\n", estimate.key, estimate.effect));
    }
    out
}

/// Paddle's executor without and with variable reuse.
fn reuse(comparison: &Comparison) -> String {
    if comparison.reuse_lanes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["variable reuse", ">variables", ">peak live", ">hits"]);
    for lane in &comparison.reuse_lanes {
        table.row(&[
            &format!("{} ({})", lane.lane, lane.title),
            &lane.variables,
            &lane.peak_live,
            &lane.hits,
        ]);
    }
    table.text() + "\n"
}

/// Runs under memory budgets, each once.
fn budgets(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        "run",
        "evicted by",
        ">budget",
        "status",
        ">planner's peak",
        ">evictions",
        ">recomputed",
        ">overhead",
    ]);
    let mut seen: Vec<Arc<RunRemat>> = Vec::new();
    let lanes = comparison.lanes.iter().filter_map(|lane| lane.rewrite.as_ref());
    for run in lanes.flat_map(|rewrite| rewrite.remat.iter().flatten()) {
        if run.answer.budget.is_none() || seen.iter().any(|known| Arc::ptr_eq(known, run)) {
            continue;
        }
        seen.push(Arc::clone(run));
        let answer = &run.answer;
        let n_recomputed = run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count();
        table.row(&[
            &run.tape.tape.name,
            &answer.heuristic.label,
            &answer.budget.unwrap_or_default(),
            &answer.status_words(),
            &answer.peak,
            &answer.counts.evictions,
            &format!("{}, {}", counted(n_recomputed as u64, "op"), answer.remat_compute),
            &format!("x{:.3}", answer.overhead()),
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    format!("{}\n", table.text())
}

/// The contributors to the peak of each lane.
fn explanations(comparison: &Comparison) -> String {
    let mut out = String::new();
    for lane in &comparison.lanes {
        let has_label = !matches!(lane.id, LaneId::Measured(_)) && comparison.lane_kind() != LaneKind::Passes;
        let label = if has_label { lane.policy.row().label } else { "" };
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
        bytes => format!(
            " available; other processes hold {bytes} on device {}",
            comparison.device_id
        ),
    };
    let device = if comparison.lane_kind() == LaneKind::Recordings && comparison.chosen_memory.is_none() {
        recorded_devices(comparison)
    } else {
        format!(
            "device {} with {}{occupied}",
            comparison.device.name,
            comparison.device.text_with_mark(DeviceFigure::MemoryBytes)
        )
    };
    format!(
        "{}\n{}\n{device}\n",
        comparison.workload.name,
        comparison.study().summary(comparison),
    )
}

/// The memory of the devices that recordings state, each once.
fn recorded_devices(comparison: &Comparison) -> String {
    let texts = comparison.recorded_capacities();
    if texts.is_empty() {
        return "device memory is not recorded; choose a device with --device or --device-memory".to_owned();
    }
    format!("device memory: {}", texts.join("; "))
}

/// Whether several recordings share an axis with a step per event.
fn is_by_time(comparison: &Comparison) -> bool {
    let shown = comparison.lanes.iter().filter_map(|lane| comparison.recording(lane.id));
    let events: Vec<u64> = shown.map(|recording| u64::from(recording.n_steps)).collect();
    events.len() > 1 && events.iter().sum::<u64>() == u64::from(comparison.axis.n_steps)
}

/// The simulated lanes.
fn table(answer: &CompareAnswer<'_>) -> Table {
    let comparison = answer.comparison;
    let of_lanes = if comparison.lane_kind() == LaneKind::Passes {
        "lane"
    } else {
        "policy"
    };
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
        ">fragmentation",
        ">mallocs",
        ">pages",
        ">est. overhead",
        "",
    ]);
    for (position, lane) in comparison.lanes.iter().enumerate() {
        if lane.is_measured() {
            continue;
        }
        let row = lane.policy.row();
        let summary = &lane.summary;
        let marks = comparison.lane_marks(position, answer.goal);
        let marks: Vec<String> = marks
            .iter()
            .map(LaneMark::label)
            .filter(|label| !label.is_empty())
            .collect();
        let (number, label) = match (lane.id, &lane.title) {
            (LaneId::Pass(_) | LaneId::Pinned(_), Some(title)) => (comparison.lane_mark(lane.id), title.clone()),
            _ => (row.number.to_string(), row.label.to_owned()),
        };
        let step = summary.peak_reserved_step;
        let step = step.map_or(String::new(), |step| step.to_string());
        table.row(&[
            &number,
            &label,
            &format!("{}{}", comparison.bound_sign(position), summary.peak_reserved),
            &summary.peak_reserved.exact(),
            &step,
            &summary.reserved.features,
            &summary.reserved.weights,
            &summary.reserved.variables,
            &summary.reserved.io,
            &summary.peak_live,
            &format!("{:.1} %", summary.fragmentation * 100.0),
            &summary.device_mallocs,
            &summary.pages_mapped,
            &summary.estimated_overhead,
            &marks.join(", "),
        ]);
    }
    table
}

/// One line per finding.
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

/// A paragraph per pin: its differences, its device, its findings; and the reasons of pins without a lane.
fn pins(comparison: &Comparison, options: &Configuration) -> String {
    let mut out = String::new();
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let Some(pinned) = comparison.pinned(position) else {
            continue;
        };
        let differences = pinned.configuration.differences(options);
        let how = if differences.is_empty() {
            "active configuration".to_owned()
        } else {
            let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
            texts.join("; ")
        };
        let device = &pinned.device;
        let mut lines = vec![format!(
            "on {} with {}: fits {}",
            device.name,
            device.memory(),
            comparison.fit(position).text()
        )];
        lines.extend(pinned.fit.sentences());
        let findings = pinned.findings.iter();
        let findings = findings.filter(|finding| finding.severity != Severity::Info);
        lines.extend(findings.map(|finding| format!("{}: {} {}", finding.severity, finding.rule, finding.message)));
        let entries = pinned.diagnostics.entries().iter();
        let entries = entries.filter(|entry| entry.severity != Severity::Info);
        lines.extend(entries.map(|entry| format!("{}: {}", entry.severity, entry.message)));
        let lines = lines.join("\n  ");
        out.push_str(&format!("\n{}: {how}\n  {lines}\n", comparison.lane_title(lane.id)));
    }
    for problem in &comparison.pin_failures {
        out.push_str(&format!("\npin {} has no lane: {}\n", problem.name, problem.why));
    }
    out
}
