//! What accompanies the table of lanes: the session, recorded and rewritten runs, conclusions, pins, findings.

use std::sync::Arc;

use super::{Columns, CompareAnswer, lanes_table};
use crate::blocks::{Block, Line, Span, Table, bytes, code, paragraph, text};
use crate::failed_requests::{FailureAnswer, failure_blocks};
use highwater_analysis::{Brevity, Comparison, LaneKind, RunRemat, TradeEnd};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::units::{Bytes, counted, signed_percent_text};
use highwater_model::workload::DeviceFigure;
use highwater_options::{Edit, Finding};
use highwater_timeline::{Timeline, TimelineParts};

/// What runs, and on which device.
pub(crate) fn heading(comparison: &Comparison) -> [Line; 2] {
    let device = if comparison.lane_kind() == LaneKind::Recordings && comparison.chosen_memory.is_none() {
        match &comparison.recorded_capacities()[..] {
            [] => "device memory is not recorded; choose a device with --device or --device-memory".to_owned(),
            texts => format!("device memory: {}", texts.join("; ")),
        }
    } else {
        let occupied = match comparison.occupied {
            Bytes::ZERO => String::new(),
            bytes => format!(
                " available; other processes hold {bytes} on device {}",
                comparison.device_id
            ),
        };
        let memory = comparison.device.text_with_mark(DeviceFigure::MemoryBytes);
        format!("device {} with {memory}{occupied}", comparison.device.name)
    };
    [text(comparison.study().summary(comparison)), text(device)]
}

/// What is measured and not simulated, and how far simulated peaks are from it.
pub(crate) fn recorded_blocks(answer: &CompareAnswer<'_>) -> Vec<Block> {
    let comparison = answer.comparison;
    let (measured, simulated): (Vec<usize>, Vec<usize>) = answer
        .lanes
        .iter()
        .partition(|lane| comparison.is_measured_lane(**lane));
    let is_real = |lane: &&usize| comparison.simulation(comparison.lanes[**lane].id).is_none();
    let mut blocks = Vec::new();
    for lane in measured.iter().filter(is_real) {
        let all: Vec<usize> = std::iter::once(*lane).chain(simulated.iter().copied()).collect();
        if all.len() > 1 {
            let title = comparison.lane_title(comparison.lanes[*lane].id);
            blocks.push(paragraph(format!("Simulated peaks compared with {title}")));
            blocks.push(lanes_table(answer, &all, Columns::Peaks, Some(*lane)).into());
        }
    }
    blocks
}

/// Runs under memory budgets, each once, and Paddle's executor without and with variable reuse.
pub(crate) fn run_tables(comparison: &Comparison) -> [Block; 2] {
    let headings = [
        "run",
        "evicted by",
        ">budget",
        "status",
        ">planner's peak",
        ">evictions",
        ">recomputed",
        ">overhead",
    ];
    let mut budgets = Table::captioned("Runs under memory budgets", &headings);
    let mut seen: Vec<Arc<RunRemat>> = Vec::new();
    let lanes = comparison.lanes.iter().filter_map(|lane| lane.rewrite.as_ref());
    for run in lanes.flat_map(|rewrite| rewrite.remat.iter().flatten()) {
        let answer = &run.answer;
        let Some(budget) = answer
            .budget
            .filter(|_| !seen.iter().any(|known| Arc::ptr_eq(known, run)))
        else {
            continue;
        };
        seen.push(Arc::clone(run));
        let n_recomputed = run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count();
        budgets.cells(vec![
            text(&run.tape.tape.name),
            text(answer.heuristic.label),
            bytes(budget),
            text(answer.status_words()),
            bytes(answer.peak),
            text(answer.counts.evictions),
            text(format!(
                "{}, {}",
                counted(n_recomputed as u64, "op"),
                answer.remat_compute
            )),
            text(format!("x{:.3}", answer.overhead())),
        ]);
    }
    let headings = ["variable reuse", ">variables", ">peak live", ">hits"];
    let mut reuse = Table::captioned("Variable reuse", &headings);
    for lane in &comparison.reuse_lanes {
        let name = text(format!("{} ({})", lane.lane, lane.title));
        reuse.cells(match &lane.figures {
            Ok(figures) => vec![
                name,
                bytes(figures.variables),
                bytes(figures.peak_live),
                text(figures.hits),
            ],
            Err(exception) => {
                let failed = Span::Bad(format!("failed: Paddle raises {exception}"));
                vec![name, failed.into(), Line::default(), Line::default()]
            }
        });
    }
    [budgets.into(), reuse.into()]
}

/// Conclusions, and what figures leave out or estimate.
pub(crate) fn lane_notes(answer: &CompareAnswer<'_>) -> Vec<Line> {
    let comparison = answer.comparison;
    let mut lines = Vec::new();
    if let Some(sentence) = comparison.assumed_sentence() {
        lines.push(Span::Bad(sentence).into());
    } else if answer.recommended().is_none() && comparison.lane_kind() == LaneKind::Policies {
        let is_forbidden = comparison.own_lanes().any(|lane| !lane.forbidden.is_empty());
        let words = if is_forbidden {
            "No policy fits."
        } else {
            "No policy completes on this device."
        };
        lines.push(Span::Bad(words.to_owned()).into());
    }
    let ends = comparison.trade();
    if let [_, _] = ends[..] {
        let whole = |end: &TradeEnd| format!("{}: {}", end.label(), end.text(Brevity::Whole));
        lines.extend(ends.iter().map(|end| text(whole(end))));
    }
    let mut texts = comparison.mark_sentences(&answer.lanes, answer.goal, |_| true);
    let is_unfinished = |lane: &&usize| {
        let mut plans = comparison.lanes[**lane].plans.iter();
        plans.any(|(_, planned)| planned.is_unfinished)
    };
    let names = answer.lanes.iter().filter(is_unfinished);
    let names: Vec<String> = names
        .map(|lane| comparison.lane_title(comparison.lanes[*lane].id))
        .collect();
    if !names.is_empty() {
        let names = names.join(", ");
        texts.push(format!(
            "The search for plans did not end in {names}: the figures are those of the smallest plans found."
        ));
    }
    texts.extend(simulation_note(comparison));
    let marks = comparison.device.marks_sentence();
    if comparison.lane_kind() != LaneKind::Recordings && !marks.is_empty() {
        texts.push(format!("device: {marks}; `highwater devices` lists them"));
    }
    texts.extend(comparison.advice.iter().map(advice));
    let estimates = comparison.estimates.iter();
    texts.extend(estimates.map(|estimate| format!("estimate: {} {}", estimate.key, estimate.effect)));
    lines.extend(texts.iter().map(text));
    lines
}

/// An advice with the flags that follow it.
fn advice(finding: &Finding) -> String {
    let edits = finding.fixes.iter().flat_map(|fix| &fix.edits);
    let flags = edits.filter_map(|edit| match edit {
        Edit::Option { key, value } => Some(format!(" (--set {key}={value})")),
        Edit::Variable { .. } => None,
    });
    format!("{}: {}{}", finding.rule, finding.message, flags.collect::<String>())
}

/// What the figures of simulated allocators are; `None` without any.
fn simulation_note(comparison: &Comparison) -> Option<String> {
    let mut simulations = comparison
        .lanes
        .iter()
        .filter_map(|lane| comparison.simulation(lane.id));
    let first = simulations.next()?;
    if first.is_of_graph() {
        return Some("An estimate: an eager program that allocates and frees what the graph shows.".to_owned());
    }
    let error = match first.measured_peak {
        Bytes::ZERO => String::new(),
        measured => format!(
            " The recorded settings, simulated, differ from the measured peak by {}.",
            signed_percent_text(first.replayed_peak.percent_above(measured))
        ),
    };
    let version = &first.version;
    Some(format!(
        "Simulated lanes are an estimate: the recorded requests under {version}.{error}"
    ))
}

/// Why lanes run out of memory, in several sentences each.
pub(crate) fn shortages(answer: &CompareAnswer<'_>) -> Vec<(usize, Line)> {
    let mut lines = Vec::new();
    for lane in &answer.lanes {
        let row = &answer.comparison.lanes[*lane];
        if let Some(report) = &row.out_of_memory_report {
            lines.push((0, text(answer.comparison.lane_title(row.id))));
            lines.extend(report.sentences().iter().map(|sentence| (1, text(sentence))));
        }
    }
    lines
}

/// The failed requests of recordings.
pub(crate) fn failures(answer: &CompareAnswer<'_>) -> Vec<Block> {
    let comparison = answer.comparison;
    let mut blocks = Vec::new();
    for lane in &answer.lanes {
        let failures = FailureAnswer::of_lane(comparison, *lane);
        if !failures.is_empty() && answer.lanes.len() > 1 {
            blocks.push(paragraph(comparison.lane_title(comparison.lanes[*lane].id)));
        }
        blocks.extend(failure_blocks(&failures, comparison.n_more_failures(*lane)));
    }
    blocks
}

/// The contributors to the peak of each lane.
pub(super) fn explanations(answer: &CompareAnswer<'_>) -> Vec<(usize, Line)> {
    let mut lines = Vec::new();
    for lane in &answer.lanes {
        let row = &answer.comparison.lanes[*lane];
        lines.push((0, Span::Strong(answer.comparison.lane_title(row.id)).into()));
        lines.extend(row.explanation.iter().map(|remark| (1, text(&remark.text))));
    }
    lines
}

/// The memory map of each lane in characters.
pub(super) fn maps(answer: &CompareAnswer<'_>) -> Vec<Block> {
    let comparison = answer.comparison;
    let timeline = Timeline::with(comparison, TimelineParts::Drawing);
    let lanes = answer.lanes.iter();
    let map = |lane: &usize| {
        let title = comparison.lane_title(comparison.lanes[*lane].id);
        Block::Characters(format!("{title}\n{}", timeline.lanes[*lane].ascii(100, 20)))
    };
    lanes.map(map).collect()
}

/// Each pin with its differences, its device and its findings; and the reasons of pins without a lane.
pub(crate) fn pin_lines(answer: &CompareAnswer<'_>) -> Vec<(usize, Line)> {
    let comparison = answer.comparison;
    let mut lines = Vec::new();
    for lane in &answer.lanes {
        let Some(pinned) = comparison.pinned(*lane) else {
            continue;
        };
        let differences = pinned.configuration.differences(answer.options);
        let texts = differences.iter().map(|row| {
            let (here, other) = row.texts();
            code(&row.name).and(text(format!(": {here}, not {other}")))
        });
        let how = if differences.is_empty() {
            text("active configuration")
        } else {
            Line::joined(texts, "; ")
        };
        let title = text(format!("{}: ", comparison.lane_title(comparison.lanes[*lane].id)));
        lines.push((0, title.and(how)));
        let device = &pinned.device;
        let mut more = vec![text(format!("on {} with {}", device.name, device.memory()))];
        more.extend(pinned.fit.sentences().iter().map(text));
        more.extend(findings(&pinned.findings, |is_info| !is_info));
        more.extend(entries(&pinned.diagnostics, |is_info| !is_info));
        lines.extend(more.into_iter().map(|line| (1, line)));
    }
    let failures = comparison.pin_failures.iter();
    let failures = failures.map(|failure| text(format!("pin {} has no lane: {}", failure.name, failure.why)));
    lines.extend(failures.map(|line| (0, line)));
    lines
}

/// Remarks on the sources and the simulation, then findings of the rules; `is_kept` tells whether one of severity info is.
pub(crate) fn finding_lines(answer: &CompareAnswer<'_>, is_kept: impl Fn(bool) -> bool) -> Vec<Line> {
    let mut lines = entries(answer.import, &is_kept);
    lines.extend(entries(&answer.comparison.diagnostics, &is_kept));
    lines.extend(findings(answer.findings, is_kept));
    lines
}

fn findings(findings: &[Finding], is_kept: impl Fn(bool) -> bool) -> Vec<Line> {
    let kept = findings
        .iter()
        .filter(|finding| is_kept(finding.severity == Severity::Info));
    let line = |finding: &Finding| {
        let rule = Span::Hinted {
            text: finding.rule.to_owned(),
            hint: finding.source.to_owned(),
        };
        let options = finding.options.join(", ");
        severity(finding.severity)
            .and(rule)
            .and(text(format!(" {} ({options})", finding.message)))
    };
    kept.map(line).collect()
}

fn entries(diagnostics: &Diagnostics, is_kept: impl Fn(bool) -> bool) -> Vec<Line> {
    let entries = diagnostics.entries().iter();
    let kept = entries.filter(|entry| is_kept(entry.severity == Severity::Info));
    kept.map(|entry| severity(entry.severity).and(text(entry.words())))
        .collect()
}

/// The word in front of a finding.
fn severity(severity: Severity) -> Line {
    let name = severity.to_string();
    let word = match severity {
        Severity::Error => Span::Bad(name),
        Severity::Warning | Severity::Info => Span::Weak(name),
    };
    Line::from(word).and(text(": "))
}
