//! Lanes compared with a baseline: figures, changed tensors, and the verdict on limits.

use super::{CompareAnswer, Detail, Shortage};
use crate::baseline_comparison::BaselineComparison;
use crate::blocks::{Block, Line, Span, Table, code, paragraph, text};
use crate::limit_checks::Outcome;
use highwater_analysis::COMPARED;
use highwater_model::diagnostics::Severity;
use highwater_model::units::signed_bytes;
use highwater_timeline::{ChangeLine, Changes};

/// Changes of a kind for people.
const MOST_CHANGES: usize = 10;

/// The active lane compared with an earlier answer; pins, and the active lane, compared with a lane of this one.
pub(super) fn baseline_blocks(answer: &CompareAnswer<'_>) -> Vec<Block> {
    let (comparison, most) = (answer.comparison, answer.most.unwrap_or(MOST_CHANGES));
    let mut blocks = Vec::new();
    if let Some(baseline) = answer.lane_baseline {
        for compared in baseline.others(comparison) {
            let is_active = comparison.main_lane() == Some(compared.position());
            if compared.lane.pinned.is_some() || is_active {
                let title = &baseline.baseline.lane.title;
                blocks.push(paragraph(format!("{} compared with {title}", compared.title)));
                blocks.extend(changes(&compared, most));
            }
        }
    }
    let compared = answer.baseline_comparison;
    if let Some((compared, file)) = compared.and_then(|compared| Some((compared, compared.file()?))) {
        let lane = compared.baseline.map_or("", |(_, baseline)| &baseline.lane.title);
        let title = Line::from(Span::Strong(compared.title.clone()));
        blocks.push(Block::Paragraph(
            title.and(text(format!(" compared with {file} ({lane})"))),
        ));
        blocks.push(compared.figures(|metric| COMPARED.contains(&metric.name)).into());
        blocks.extend(changes(compared, most));
    }
    blocks
}

/// Tensors whose bytes at a peak changed, folded.
fn changes(compared: &BaselineComparison<'_>, most: usize) -> Vec<Block> {
    let why = compared.why_no_changes().map(paragraph);
    let listed = compared.peak_changes().into_iter();
    let listed = listed.map(|(title, changes)| {
        let summary = text(format!("Changed tensors {title}"));
        Block::Details(summary, vec![change_table(changes, most).into()])
    });
    why.into_iter().chain(listed).collect()
}

fn change_table(changes: &Changes, most: usize) -> Table {
    let mut table = Table::captioned("Changed tensors", &["change", ">before", ">now", ">difference", "of"]);
    for line in changes.lines(most) {
        let [kind, before, now, difference, of] = line.cells();
        let of = match line {
            ChangeLine::One(change) if change.is_tensor => code(of),
            ChangeLine::One(_) | ChangeLine::More(..) => text(of),
        };
        table.cells(vec![text(kind), text(before), text(now), text(difference), of]);
    }
    if changes.unlisted != 0 {
        let (difference, words) = (signed_bytes(changes.unlisted), changes.unlisted_words());
        table.row(&[&"", &"", &"", &difference, &words]);
    }
    table
}

/// A word, and an emoji: reasons for "no", warnings, and limits that hold, in this order.
const SIGNS: [(&str, &str); 3] = [
    ("fails", ":x:"),
    ("warning", ":warning:"),
    ("holds", ":white_check_mark:"),
];

/// Reasons for "no" first, so that the first line says why a job failed.
pub(super) fn verdict_lines(answer: &CompareAnswer<'_>, detail: Detail) -> Vec<Line> {
    let mut lines: Vec<(usize, Line)> = Vec::new();
    let mut add = |sign: usize, of: &str, why: &str| {
        let (word, emoji) = SIGNS[sign];
        let colon = if of.is_empty() { ":" } else { "" };
        let word = format!("{word}{colon}");
        let line = Line::from(Span::Sign { word, emoji }).and(text(" "));
        let colon = if of.is_empty() || why.is_empty() { "" } else { ": " };
        let of = if of.is_empty() { Line::default() } else { code(of) };
        lines.push((sign, line.and(of).and(text(format!("{colon}{why}")))));
    };
    if let Some(Shortage { verdict, details }) = answer.shortage {
        // The full answer has the reports of its lanes.
        let is_told = detail == Detail::Full && answer.comparison.lane(answer.comparison.active_policy).is_some();
        let details = if is_told { "" } else { details };
        add(0, "", format!("{verdict} {details}").trim_end());
    }
    let errors = answer.findings.iter();
    for finding in errors.filter(|finding| finding.severity == Severity::Error) {
        add(0, finding.rule, &finding.message);
    }
    if let Some(compared) = answer.baseline_comparison {
        for check in &compared.limit_checks {
            match &check.outcome {
                Outcome::Broken(why) => add(0, &check.limit, why),
                // Nothing to compare with.
                Outcome::Open(why) => add(1, &check.limit, why),
                Outcome::Holds => add(2, &check.limit, ""),
            }
        }
        for why in compared.warnings() {
            add(1, "", &why);
        }
    }
    lines.sort_by_key(|(sign, _)| *sign);
    lines.into_iter().map(|(_, line)| line).collect()
}
