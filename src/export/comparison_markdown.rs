//! The answer of `compare` as Markdown, short enough for a comment on a change: figures first, then changes, with folded details.

use super::baseline_comparison::{BaselineComparison, LaneBaseline, until_of};
use super::blocks::{Block, Line, Span, Table, bytes, code, figure, markdown, text};
use super::compare_answer::CompareAnswer;
use super::verdict::{VerdictMark, verdict};
use highwater_analysis::{COMPARED, Comparison, Configuration, Fit, LaneMark, Metric};
use highwater_model::diagnostics::Severity;
use highwater_model::units::signed_bytes;
use highwater_options::Finding;
use highwater_timeline::{Change, ChangeKind, Changes};

/// The metrics of the table of lanes.
const COLUMNS: [&str; 5] = [
    "peak_reserved",
    "peak_live",
    "fragmentation",
    "device_mallocs",
    "estimated_overhead",
];

/// The page. Linear in the number of its rows.
pub fn comparison_markdown(answer: &CompareAnswer<'_>) -> String {
    let comparison = answer.comparison;
    let title = text("Device memory of ").and(code(&comparison.workload.name));
    let mut blocks = vec![Block::Heading(3, title)];
    blocks.extend(list(verdict_items(answer)));
    blocks.push(lanes(answer).into());
    blocks.extend(list(notes(answer)));
    blocks.extend(list(allocators(comparison)));
    blocks.extend(list(pins(comparison, answer.options)));
    if let Some(baseline) = answer.lane_baseline {
        blocks.extend(others(baseline, comparison, answer.most));
    }
    let compared = answer.baseline_comparison;
    if let Some(compared) = compared.filter(|compared| compared.file().is_some()) {
        let title = Line::from(Span::Strong(compared.title.clone()));
        blocks.push(Block::Paragraph(title.and(text(" against the baseline"))));
        blocks.push(compared.figures(|metric| COLUMNS.contains(&metric.name)).into());
        blocks.extend(changes(compared, answer.most));
    }
    let findings = answer.findings.iter();
    let warnings = findings.filter(|finding| finding.severity == Severity::Warning);
    let warnings: Vec<(usize, Line)> = warnings.map(|finding| (0, finding_line(finding))).collect();
    if !warnings.is_empty() {
        blocks.push(Block::Paragraph(Span::Strong("Findings".to_owned()).into()));
        blocks.push(Block::List(warnings));
    }
    markdown(&blocks)
}

/// The items as a list, where there are any.
fn list(items: Vec<(usize, Line)>) -> Option<Block> {
    (!items.is_empty()).then_some(Block::List(items))
}

fn finding_line(finding: &Finding) -> Line {
    text(format!("{} {}: {}", finding.severity, finding.rule, finding.message))
}

/// Failures, then warnings, then limits that hold.
fn verdict_items(answer: &CompareAnswer<'_>) -> Vec<(usize, Line)> {
    let item = |line: super::verdict::VerdictLine| {
        let emoji = match line.mark {
            VerdictMark::No => ":x:",
            VerdictMark::Warning => ":warning:",
            VerdictMark::Holds => ":white_check_mark:",
        };
        let of = if line.of.is_empty() { text("") } else { code(&line.of) };
        let has_both = !line.of.is_empty() && !line.text.is_empty();
        let colon = if has_both { ": " } else { "" };
        let words = text(" ").and(of).and(text(format!("{colon}{}", line.text)));
        (0, Line::from(Span::Emoji(emoji)).and(words))
    };
    verdict(answer).into_iter().map(item).collect()
}

fn lanes(answer: &CompareAnswer<'_>) -> Table {
    let comparison = answer.comparison;
    let metrics: Vec<&Metric> = COLUMNS.iter().filter_map(|name| Metric::find(name)).collect();
    let mut table = metric_table(&metrics, &["marks"]);
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let title = comparison.lane_title(lane.id);
        let title = if comparison.main_lane() == Some(position) {
            Line::from(Span::Strong(title))
        } else {
            text(title)
        };
        let figures = metrics.iter().map(|metric| {
            let figure = comparison.figure(position, metric);
            let sign = match metric.name {
                "peak_reserved" => comparison.bound_sign(position),
                _ => "",
            };
            figure.map_or_else(|| text("not recorded"), |figure| text(format!("{sign}{figure}")))
        });
        let mut cells = vec![title.and(text(until_of(lane)))];
        cells.extend(figures);
        cells.push(fits(comparison.fit(position)));
        let marks = comparison.lane_marks(position, answer.goal);
        let labels: Vec<String> = marks
            .iter()
            .map(LaneMark::label)
            .filter(|label| !label.is_empty())
            .collect();
        cells.push(text(labels.join(", ")));
        table.cells(cells);
    }
    table
}

/// Inactive and free bytes of recorded allocators at their reserved peaks.
fn allocators(comparison: &Comparison) -> Vec<(usize, Line)> {
    let lanes = comparison.lanes.iter().filter_map(|lane| {
        let (event, sums) = lane.recorded.as_ref()?.fragmentation.at_peak?;
        let bound = sums.at_most();
        let words = format!(
            " at peak reserved (event {event}): inactive split {bound}{}, largest free block {bound}{}",
            sums.inactive_split, sums.largest_free
        );
        Some((0, code(comparison.lane_title(lane.id)).and(text(words))))
    });
    lanes.collect()
}

/// A table of lanes with a column per metric, and whether they fit.
fn metric_table(metrics: &[&Metric], more: &[&str]) -> Table {
    let labels: Vec<String> = metrics.iter().map(|metric| format!(">{}", metric.label)).collect();
    let labels = labels.iter().map(String::as_str);
    let headings: Vec<&str> = std::iter::once("lane")
        .chain(labels)
        .chain(["fits"])
        .chain(more.iter().copied())
        .collect();
    Table::new(&headings)
}

fn fits(fit: Fit) -> Line {
    let word = fit.word().to_owned();
    if fit.is_good() {
        text(word)
    } else {
        Span::Bad(word).into()
    }
}

/// How pins differ from the options, and pins without a lane.
fn pins(comparison: &Comparison, options: &Configuration) -> Vec<(usize, Line)> {
    let mut items = Vec::new();
    for lane in 0..comparison.lanes.len() {
        let Some(pinned) = comparison.pinned(lane) else {
            continue;
        };
        let title = text(format!("{}: ", comparison.lane_title(comparison.lanes[lane].id)));
        let differences = pinned.configuration.differences(options);
        let texts = differences
            .iter()
            .map(|row| code(&row.name).and(text(format!(" {}", row.texts().0))));
        let how = if differences.is_empty() {
            text("active configuration")
        } else {
            Line::joined(texts, ", ")
        };
        items.push((0, title.and(how)));
        let findings = pinned.findings.iter();
        let findings = findings.filter(|finding| finding.severity != Severity::Info);
        items.extend(findings.map(|finding| (1, finding_line(finding))));
    }
    let problems = comparison.pin_failures.iter();
    let problems = problems.map(|problem| text(format!("pin {} has no lane: {}", problem.name, problem.why)));
    items.extend(problems.map(|line| (0, line)));
    items
}

/// All lanes compared with one of them.
fn others(baseline: &LaneBaseline, comparison: &Comparison, most: usize) -> Vec<Block> {
    let metrics: Vec<&Metric> = COMPARED.iter().filter_map(|name| Metric::find(name)).collect();
    let title = &baseline.baseline.lane.title;
    let mut table = metric_table(&metrics, &[]);
    let others = baseline.others(comparison);
    for compared in &others {
        let differences = metrics.iter().map(|metric| figure(compared.difference_cell(metric)));
        let mut cells = vec![text(&compared.title)];
        cells.extend(differences);
        cells.push(fits(compared.fit()));
        table.cells(cells);
    }
    let heading = Line::from(Span::Strong("Lanes".to_owned()));
    let heading = heading.and(text(format!(" against {title}")));
    let mut blocks = vec![Block::Paragraph(heading), table.into()];
    for compared in others.iter().filter(|compared| compared.lane.pinned.is_some()) {
        let heading = text(format!("{} against {title}", compared.title));
        blocks.push(Block::Paragraph(heading));
        blocks.extend(changes(compared, most));
    }
    blocks
}

/// Tensors whose bytes at a peak changed, folded.
fn changes(compared: &BaselineComparison<'_>, most: usize) -> Vec<Block> {
    let why = compared.why_no_changes().map(|why| Block::Paragraph(text(why)));
    let listed = compared.peak_changes().into_iter();
    let listed = listed.map(|(title, changes)| {
        let summary = text(format!("Changed tensors {title}"));
        Block::Details(summary, vec![change_table(changes, most).into()])
    });
    why.into_iter().chain(listed).collect()
}

fn change_table(changes: &Changes, most: usize) -> Table {
    let mut table = Table::new(&["", "name", ">before", ">now", ">difference"]);
    let empty = Line::default;
    for kind in ChangeKind::ALL {
        let n_rows = changes.of_kind(kind).count();
        for change in changes.of_kind(kind).take(most) {
            let name = &change.of;
            table.cells(vec![
                text(change.kind().words()),
                if change.is_tensor { code(&name.name) } else { text(name) },
                bytes(change.before),
                bytes(change.after),
                text(signed_bytes(change.difference())),
            ]);
        }
        if n_rows > most {
            let more = changes.of_kind(kind).skip(most).map(Change::difference).sum();
            let count = text(format!("{} more", n_rows - most));
            let difference = text(signed_bytes(more));
            table.cells(vec![text(kind.words()), count, empty(), empty(), difference]);
        }
    }
    if changes.unlisted != 0 {
        let (words, difference) = (text(changes.unlisted_words()), text(signed_bytes(changes.unlisted)));
        table.cells(vec![empty(), words, empty(), empty(), difference]);
    }
    table
}

/// What the marks of the lanes mean, and advice.
fn notes(answer: &CompareAnswer<'_>) -> Vec<(usize, Line)> {
    let comparison = answer.comparison;
    let all: Vec<usize> = (0..comparison.lanes.len()).collect();
    let sentences = comparison.mark_sentences(&all, answer.goal, |_| true).into_iter();
    let advice = comparison.advice.iter();
    let advice = advice.map(|finding| format!("{}: {}", finding.rule, finding.message));
    sentences.chain(advice).map(|sentence| (0, text(sentence))).collect()
}
