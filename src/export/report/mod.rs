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

use super::blocks::{Block, Line, Span, html, html_line, paragraph, text};
use super::compare::{CompareAnswer, finding_lines, heading, lane_notes};
use super::subject::{ExportError, ExportSubject};
use super::svg::text::escaped;
use highwater_analysis::{COMPARED, Comparison, Configuration, LaneId, LaneKind, Metric};
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;
use highwater_model::units::counted;

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
    /// The configuration that pins are compared with.
    options: &'a Configuration,
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
    let configuration = &subject.about.configuration;
    let options = Configuration {
        options: configuration.options.clone(),
        environment: configuration.environment.clone(),
        plan: configuration.schedule.clone().unwrap_or_default(),
    };
    let report = Report {
        subject,
        comparison,
        options: &options,
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

    fn answer(&self) -> CompareAnswer<'_> {
        let about = &self.subject.about;
        CompareAnswer {
            lanes: self.lanes(),
            ..CompareAnswer::new(
                self.comparison,
                about.goal,
                &about.findings,
                &about.diagnostics,
                self.options,
            )
        }
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
        let notes = Block::lines(lane_notes(&self.answer()));
        let findings = self.subject.about.findings.iter();
        let errors = findings.filter(|finding| finding.severity == Severity::Error).count();
        let errors = (errors > 0).then(|| {
            let count = counted(errors as u64, "rule");
            paragraph(format!(
                "The configuration violates {count} at error level: see Findings."
            ))
        });
        let verdicts = [Block::Paragraph(self.base_line()), notes];
        let verdicts: Vec<Block> = verdicts.into_iter().chain(errors).collect();
        let mut facts: Vec<(&str, Line)> = Vec::new();
        for (name, contents) in &self.subject.about.sources {
            let contents = contents.join("; ");
            let separator = if contents.is_empty() { "" } else { ": " };
            facts.push(("source", text(format!("{name}{separator}{contents}"))));
        }
        let [runs, device] = heading(self.comparison);
        facts.push(("what runs", runs));
        let is_of_recordings = self.comparison.lane_kind() == LaneKind::Recordings;
        if is_of_recordings || self.comparison.has_capacity() && self.comparison.study().has_device() {
            facts.push(("device", device));
        }
        let capacities = self.comparison.recorded_capacities();
        if !capacities.is_empty() && !is_of_recordings {
            facts.push(("capacity of recordings", text(capacities.join("; "))));
        }
        let own_words = self.comparison.study().words().counted;
        let words = own_words.unwrap_or("simulated: bytes are exact for the model, times are estimates");
        facts.push(("how figures are counted", text(words)));
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
        let what = match lane.id {
            LaneId::Policy(_) => "Active lane ",
            LaneId::Problem(_) => "Lowest peak, ",
            LaneId::Pass(_) => "Baseline ",
            LaneId::Pinned(_) => "Pin ",
            LaneId::Measured(_) => "Measured ",
        };
        let metrics = COMPARED.iter().take(2).filter_map(|name| Metric::find(name));
        let figures = metrics.filter_map(|metric| {
            let figure = self.comparison.figure(self.base, metric)?;
            let sign = self.comparison.figure_sign(self.base, metric);
            Some(text(format!("{} {sign}{figure}", metric.label)))
        });
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

    /// Broken rules and diagnostics.
    fn findings_part(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if self.subject.about.findings.is_empty() {
            blocks.push(paragraph("The configuration violates no known rule."));
        }
        let lines = finding_lines(&self.answer(), |_| true);
        if lines.len() == self.subject.about.findings.len() {
            blocks.push(paragraph("No diagnostics."));
        }
        blocks.push(Block::lines(lines));
        blocks
    }
}
