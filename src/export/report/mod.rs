//! The report: one HTML page for people, readable without a network and without scripts.
//!
//! In: an answer and what the session knows about it. Out: HTML, the same bytes every time (no dates, no names of machines). All texts
//! of files are escaped. The page follows the reader's light or dark scheme and can be printed. A script shows details under the
//! pointer, all of which the page has without it.

mod figures;
mod peak;
mod pictures;
mod settings;
mod table;

use std::io::Write;
use std::path::Path;

use super::blocks::{Block, Line, Span, Table, bytes, html, html_line, paragraph, text};
use super::subject::{ExportError, ExportSubject};
use super::svg::text::escaped;
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted, first_of, grouped};

/// Graphs that the summary names.
const MOST_NAMED: usize = 8;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The parts of the page below the summary.
#[derive(Clone, Copy)]
enum Part {
    Comparison,
    Lanes,
    Peak,
    Findings,
    Configuration,
    Reproduction,
}

/// Every part with its anchor and its heading.
const PARTS: [(Part, &str, &str); 6] = [
    (Part::Comparison, "comparison", "Comparison"),
    (Part::Lanes, "lanes", "Curves and memory maps"),
    (Part::Peak, "peak", "Causes of the peak"),
    (Part::Findings, "findings", "Findings"),
    (Part::Configuration, "configuration", "Configuration"),
    (Part::Reproduction, "reproduce", "Reproduction"),
];

#[derive(Clone, Copy)]
struct Report<'a> {
    subject: &'a ExportSubject,
    comparison: &'a Comparison,
    /// The lane that others are compared with.
    base: usize,
}

/// The page. O(steps + events + the size of the drawings).
pub(super) fn report_html(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    let lanes = subject.lanes_or_all();
    let main = comparison.main_lane().filter(|lane| lanes.contains(lane));
    let base = main.or(lanes.first().copied());
    let base = base.ok_or_else(|| "no lane to report".to_owned())?;
    let report = Report {
        subject,
        comparison,
        base,
    };
    let mut page = report.head() + &report.summary();
    for (part, anchor, heading) in PARTS {
        progress.check()?;
        page.push_str(&format!("<h2 id=\"{anchor}\">{}</h2>\n", escaped(heading)));
        let blocks = match part {
            Part::Comparison => report.comparison_part(),
            Part::Lanes => report.lanes_part(progress)?,
            Part::Peak => report.peak_part(progress)?,
            Part::Findings => report.findings_part(),
            Part::Configuration => report.configuration_part(),
            Part::Reproduction => report.reproduction_part(),
        };
        page.push_str(&html(&blocks));
    }
    page.push_str(&format!(
        "</main>\n{}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        report.data()
    ));
    Ok(out.write_all(page.as_bytes())?)
}

impl Report<'_> {
    fn lanes(&self) -> Vec<usize> {
        self.subject.lanes_or_all()
    }

    /// The title of a lane with the label of its policy.
    fn lane_name(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let title = self.comparison.lane_title(row.id);
        match row.id {
            LaneId::Policy(policy) => format!("{title}: {}", policy.row().label),
            LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => title,
        }
    }

    fn head(&self) -> String {
        let name = escaped(&self.comparison.workload.name);
        let version = env!("CARGO_PKG_VERSION");
        let links =
            PARTS.map(|(_, anchor, heading)| format!("<li><a href=\"#{anchor}\">{}</a></li>\n", escaped(heading)));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"generator\" content=\"highwater {version}\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <title>Device memory of {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <h1>Device memory of {name}</h1>\n\
             <p class=\"weak\">A report of highwater {version}</p>\n\
             <nav aria-label=\"Parts of this report\"><ul>\n{}</ul></nav>\n</header>\n<main>\n",
            links.concat()
        )
    }

    /// The answer in a few lines.
    fn summary(&self) -> String {
        let verdicts = self.verdicts().into_iter().map(paragraph);
        let verdicts: Vec<Block> = std::iter::once(Block::Paragraph(self.base_line()))
            .chain(verdicts)
            .collect();
        let mut facts: Vec<(&str, Line)> = Vec::new();
        for (name, contents) in &self.subject.about.sources {
            let contents = contents.join("; ");
            let separator = if contents.is_empty() { "" } else { ": " };
            facts.push(("source", text(format!("{name}{separator}{contents}"))));
        }
        facts.push(("what runs", text(self.what_runs())));
        if self.comparison.has_capacity() && self.comparison.study().has_device() {
            let device = &self.comparison.device;
            let mut line = text(format!("{}, ", device.name)).and(bytes(device.memory()));
            if self.comparison.occupied > Bytes::ZERO {
                line = line
                    .and(text(" available, other processes hold "))
                    .and(bytes(self.comparison.occupied))
                    .and(text(format!(" on device {}", self.comparison.device_id)));
            }
            facts.push(("device", line));
        }
        let capacities = self.comparison.recorded_capacities();
        if !capacities.is_empty() {
            facts.push(("capacity of recordings", text(capacities.join("; "))));
        }
        facts.push(("how figures are counted", text(self.how_counted())));
        let facts = facts.iter();
        let facts = facts.map(|(name, line)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), html_line(line)));
        format!(
            "<section class=\"verdict\" aria-label=\"Summary\">\n{}</section>\n<dl class=\"facts\">\n{}</dl>\n",
            html(&verdicts),
            facts.collect::<String>()
        )
    }

    /// The figures of the base lane in a sentence.
    fn base_line(&self) -> Line {
        let lane = &self.comparison.lanes[self.base];
        let (states_reserved, states_live) = self.comparison.states(self.base);
        let what = match lane.id {
            LaneId::Policy(_) => "Active lane ",
            LaneId::Problem(_) => "Lowest peak, ",
            LaneId::Pass(_) => "Baseline ",
            LaneId::Pinned(_) => "Pin ",
            LaneId::Measured(_) => "Measured ",
        };
        let bound = self.comparison.bound_sign(self.base);
        let figures = [
            (states_reserved, "peak reserved", lane.summary.peak_reserved),
            (states_live, "peak live", lane.summary.peak_live),
        ];
        let figures = figures.into_iter().filter(|(is_stated, ..)| *is_stated);
        let figures = figures.map(|(_, name, figure)| text(format!("{name} {bound}")).and(bytes(figure)));
        let fits = match self.comparison.fit(self.base).text() {
            fits if fits.is_empty() => ".".to_owned(),
            fits => format!("; fits: {fits}."),
        };
        text(what)
            .and(Span::Strong(self.lane_name(self.base)))
            .and(text(": "))
            .and(Line::joined(figures, ", "))
            .and(text(fits))
    }

    /// The conclusions of the comparison, as sentences.
    fn verdicts(&self) -> Vec<String> {
        let comparison = self.comparison;
        let mut texts = Vec::new();
        let goal = self.subject.about.goal;
        if comparison.recommended(goal).is_none() && comparison.lane_kind() == LaneKind::Policies {
            texts.push("No policy completes on this device.".to_owned());
        }
        let sentences = comparison.mark_sentences(&self.lanes(), goal, |_| true);
        texts.extend(sentences.iter().map(|text| sentence(text)));
        for lane in self.lanes() {
            texts.extend(comparison.lanes[lane].out_of_memory_text().map(|text| sentence(&text)));
        }
        texts.extend(self.unfinished_text());
        let errors = self.subject.about.findings.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error).count();
        if errors > 0 {
            let count = counted(errors as u64, "rule");
            texts.push(format!(
                "The configuration violates {count} at error level: see Findings."
            ));
        }
        texts
    }

    /// Lanes whose plans a longer search may make smaller: the search was stopped, or goes on.
    fn unfinished_text(&self) -> Option<String> {
        let is_unfinished = |lane: &usize| {
            let mut plans = self.comparison.lanes[*lane].plans.iter();
            plans.any(|(_, planned)| planned.is_unfinished)
        };
        let names = self.lanes().into_iter().filter(is_unfinished);
        let names: Vec<String> = names
            .map(|lane| self.comparison.lane_title(self.comparison.lanes[lane].id))
            .collect();
        (!names.is_empty()).then(|| {
            let names = first_of(names.into_iter(), MOST_NAMED, ", ");
            format!("The search for plans did not end in {names}: the figures are those of the smallest plans found.")
        })
    }

    fn what_runs(&self) -> String {
        let comparison = self.comparison;
        let steps = counted(u64::from(comparison.axis.n_steps), comparison.axis_word());
        let graphs = comparison.workload.graphs().iter();
        let names = graphs.map(|entry| format!("{} ({})", entry.name, counted(entry.graph.ops().len() as u64, "op")));
        if names.len() == 0 {
            return steps;
        }
        let runs = counted(comparison.axis.runs.len() as u64, "run");
        format!("{runs}, {steps}; {}", first_of(names, MOST_NAMED, ", "))
    }

    fn how_counted(&self) -> String {
        let comparison = self.comparison;
        if let Some(words) = comparison.study().words().counted {
            return words.to_owned();
        }
        let mut parts = vec!["simulated: bytes are exact for the model, times are estimates".to_owned()];
        parts.extend(
            comparison
                .scratch
                .note()
                .map(|note| note.trim_end_matches('.').replace("Figures", "figures")),
        );
        let keys: Vec<&str> = comparison.estimates.iter().map(|estimate| estimate.key).collect();
        if !keys.is_empty() {
            parts.push(format!("the effect of {} is an estimate", keys.join(", ")));
        }
        parts.join("; ")
    }

    /// Broken rules and diagnostics.
    fn findings_part(&self) -> Vec<Block> {
        let findings = &self.subject.about.findings;
        let mut blocks = Vec::new();
        if findings.is_empty() {
            blocks.push(paragraph("The configuration violates no known rule."));
        }
        let caption = "Violated rules";
        let mut rules = Table::captioned(caption, &["severity", "rule", "options", "what", "source"]);
        for finding in findings {
            let options = finding.options.join(", ");
            let texts = [finding.rule, &options, &finding.message, finding.source];
            let mut cells = vec![severity(finding.severity)];
            cells.extend(texts.map(text));
            rules.cells(cells);
        }
        let caption = "Diagnostics of the sources and the simulation";
        let mut odd = Table::captioned(caption, &["severity", "what", "where", ">times"]);
        let all = [&self.subject.about.diagnostics, &self.comparison.diagnostics];
        for entry in all.into_iter().flat_map(Diagnostics::entries) {
            let (message, place) = (text(&entry.message), text(&entry.place));
            odd.cells(vec![
                severity(entry.severity),
                message,
                place,
                text(grouped(entry.count)),
            ]);
        }
        let is_odd = !odd.is_empty();
        blocks.extend([rules.into(), odd.into()]);
        if !is_odd {
            blocks.push(paragraph("No diagnostics."));
        }
        blocks
    }
}

fn severity(severity: Severity) -> Line {
    let name = severity.to_string();
    match severity {
        Severity::Error => Span::Bad(name).into(),
        Severity::Warning | Severity::Info => Span::Weak(name).into(),
    }
}

/// A text with a capital at its beginning and a dot at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters
        .next()
        .map(|first| first.to_uppercase().collect())
        .unwrap_or_default();
    let rest = letters.as_str();
    let dot = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{dot}")
}
