//! The report: one page for people, readable without a network and without scripts.
//!
//! In: an answer and what the session knows beside it. Out: HTML, the same every time (no dates, no names of machines). All texts
//! of files are escaped. Light or dark as the reader has it, and made for paper too. A script adds what lies under the pointer;
//! everything that it says stands in the page without it.

mod figures;
mod page;
mod peak;
mod pictures;
mod settings;
mod table;

use page::{Page, bytes};

use super::subject::{ExportError, ExportSubject};
use super::svg::text::escaped;
use highwater_analysis::{Comparison, LaneId};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, grouped};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The parts of the page behind the summary: where links lead, and what they are called.
const PARTS: [(&str, &str); 6] = [
    ("comparison", "Comparison"),
    ("lanes", "Curves and memory maps"),
    ("peak", "Where the peak comes from"),
    ("findings", "Findings"),
    ("configuration", "Configuration"),
    ("reproduce", "How to reproduce this"),
];

/// What every part is written from.
#[derive(Clone, Copy)]
struct Report<'a> {
    subject: &'a ExportSubject,
    comparison: &'a Comparison,
    /// The lane that others are compared with.
    base: usize,
}

/// The page. O(steps + events + what the pictures hold).
///
/// # Errors
/// [`ExportError`]: an answer without lanes, or the user's will.
pub(super) fn report_html(subject: &ExportSubject, progress: &Progress<'_>) -> Result<String, ExportError> {
    let comparison = &*subject.comparison;
    let shown = subject.lanes_or_all();
    let main = comparison.main_lane().filter(|lane| shown.contains(lane));
    let base = main.or(shown.first().copied());
    let base = base.ok_or_else(|| "there is no lane to report".to_owned())?;
    let report = Report {
        subject,
        comparison,
        base,
    };
    let mut page = Page::default();
    report.head(&mut page);
    report.summary(&mut page);
    for (id, title) in PARTS {
        progress.check()?;
        page.part(id, title);
        match id {
            "comparison" => report.compared(&mut page),
            "lanes" => report.pictures(&mut page, progress)?,
            "peak" => report.peak(&mut page)?,
            "findings" => report.findings(&mut page),
            "configuration" => report.configuration(&mut page),
            _ => report.reproduce(&mut page),
        }
    }
    page.raw("</main>\n");
    report.data(&mut page);
    page.raw(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    Ok(page.finish())
}

impl Report<'_> {
    /// The lanes that the report is of.
    fn lanes(&self) -> Vec<usize> {
        self.subject.lanes_or_all()
    }

    /// What a lane is called: its title, and what its policy does.
    fn lane_name(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let title = self.comparison.lane_title(row.id);
        match row.id {
            LaneId::Policy(policy) => format!("{title}: {}", policy.row().label),
            _ => title,
        }
    }

    /// What stands before a figure that is a lower bound.
    fn bound(&self, lane: usize) -> &'static str {
        let is_bound = self.comparison.is_lower_bound(lane) && !self.comparison.is_measured_lane(lane);
        if is_bound && self.comparison.scratch_of(lane) == highwater_analysis::ScratchSource::Missing {
            "≥\u{a0}"
        } else {
            ""
        }
    }

    fn head(&self, page: &mut Page) {
        let name = escaped(&self.comparison.workload.name);
        let version = env!("CARGO_PKG_VERSION");
        page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
        page.raw(&format!("<meta name=\"generator\" content=\"highwater {version}\"/>\n"));
        page.raw("<meta name=\"color-scheme\" content=\"light dark\"/>\n");
        page.raw(&format!(
            "<title>Device memory of {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n"
        ));
        page.raw(&format!("<h1>Device memory of {name}</h1>\n"));
        page.raw(&format!("<p class=\"weak\">A report of highwater {version}</p>\n"));
        page.raw("<nav aria-label=\"Parts of this report\"><ul>\n");
        for (id, title) in PARTS {
            page.raw(&format!("<li><a href=\"#{id}\">{}</a></li>\n", escaped(title)));
        }
        page.raw("</ul></nav>\n</header>\n<main>\n");
    }

    /// The answer in a few lines.
    fn summary(&self, page: &mut Page) {
        page.raw("<section class=\"verdict\" aria-label=\"Summary\">\n");
        page.markup("p", &self.in_force());
        for sentence in self.verdicts() {
            page.line("p", &sentence);
        }
        page.raw("</section>\n<dl class=\"facts\">\n");
        for (name, contents) in &self.subject.about.sources {
            let contents = contents.join("; ");
            let sep = if contents.is_empty() { "" } else { ": " };
            fact(page, "source", &format!("{}{sep}{}", escaped(name), escaped(&contents)));
        }
        fact(page, "what runs", &escaped(&self.what_runs()));
        if self.comparison.has_capacity() && !self.comparison.is_problem() {
            let device = &self.comparison.device;
            let memory = bytes(device.memory());
            let mut text = format!("{}, {memory}", escaped(&device.name));
            if self.comparison.occupied > highwater_model::units::Bytes::ZERO {
                let held = bytes(self.comparison.occupied);
                text.push_str(&format!(
                    " left, others hold {held} on device {}",
                    self.comparison.device_id
                ));
            }
            fact(page, "device", &text);
        }
        fact(page, "how figures are counted", &escaped(&self.how_counted()));
        page.raw("</dl>\n");
    }

    /// The lane that others are compared with, in a sentence.
    fn in_force(&self) -> String {
        let lane = &self.comparison.lanes[self.base];
        let (states_reserved, states_live) = self.comparison.states(self.base);
        let name = escaped(&self.lane_name(self.base));
        let what = match lane.id {
            LaneId::Policy(_) => "In force is",
            LaneId::Problem(_) => "The smallest plan is",
            LaneId::Pass(_) => "The baseline is",
            LaneId::Pinned(_) => "Pinned is",
            LaneId::Measured(_) => "Measured was",
        };
        let bound = self.bound(self.base);
        let mut figures = Vec::new();
        if states_reserved {
            figures.push(format!("peak reserved {bound}{}", bytes(lane.summary.peak_reserved)));
        }
        if states_live {
            figures.push(format!("peak live {bound}{}", bytes(lane.summary.peak_live)));
        }
        let figures = figures.join(", ");
        let (fits, _) = self.fits(self.base);
        let fits = if fits.is_empty() {
            String::new()
        } else {
            format!("; fits: {}", escaped(&fits))
        };
        format!("{what} <strong>{name}</strong>: {figures}{fits}.")
    }

    /// What the comparison says of itself.
    fn verdicts(&self) -> Vec<String> {
        let comparison = self.comparison;
        let mut texts = Vec::new();
        if let Some(best) = &comparison.lowest_peak {
            texts.push(format!(
                "Needs least: policy {}. {}",
                best.policy.number(),
                sentence(&best.why)
            ));
        } else if !comparison.is_problem() && !comparison.is_measured() && !comparison.compares_passes() {
            texts.push("No policy runs to its end on this device.".to_owned());
        }
        texts.extend(comparison.equivalence.as_deref().map(sentence));
        for lane in self.lanes() {
            texts.extend(comparison.lanes[lane].out_of_memory_text().map(|text| sentence(&text)));
        }
        let errors = self.subject.about.findings.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error).count();
        if errors > 0 {
            let count = counted(errors as u64, "rule");
            texts.push(format!(
                "The configuration breaks {count} that must hold: see Findings."
            ));
        }
        texts
    }

    fn what_runs(&self) -> String {
        let comparison = self.comparison;
        let steps = counted(u64::from(comparison.axis.n_steps), comparison.axis_word());
        let graphs = comparison.workload.graphs().iter();
        let names: Vec<String> = graphs
            .map(|entry| format!("{} ({})", entry.name, counted(entry.graph.ops().len() as u64, "op")))
            .collect();
        if names.is_empty() {
            return steps;
        }
        let runs = counted(comparison.axis.runs.len() as u64, "run");
        format!("{runs}, {steps}; {}", names.join(", "))
    }

    fn how_counted(&self) -> String {
        let comparison = self.comparison;
        if comparison.is_measured() {
            return "as the recording states them; nothing is simulated".to_owned();
        }
        if comparison.is_problem() {
            return "plans are placed, nothing is simulated; bytes are exact".to_owned();
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

    /// Rules that are broken, and what was odd.
    fn findings(&self, page: &mut Page) {
        let findings = &self.subject.about.findings;
        if findings.is_empty() {
            page.line("p", "The configuration breaks no rule that is known.");
        }
        let mut rules = page::Table::new(
            "Rules that the configuration breaks",
            &["severity", "rule", "options", "what", "source"],
        );
        for finding in findings {
            let options = finding.options.join(", ");
            let texts = [finding.rule, &options, &finding.message, finding.source];
            let mut cells = vec![severity(finding.severity)];
            cells.extend(texts.map(escaped));
            rules.row(cells);
        }
        page.table(&rules);
        let mut odd = page::Table::new(
            "What was odd in the sources and in the simulation",
            &["severity", "what", "where", ">times"],
        );
        let all = [&self.subject.about.diagnostics, &self.comparison.diagnostics];
        for entry in all.into_iter().flat_map(Diagnostics::entries) {
            odd.row(vec![
                severity(entry.severity),
                escaped(&entry.message),
                escaped(&entry.place),
                grouped(entry.count),
            ]);
        }
        page.table(&odd);
        if all.iter().all(|diagnostics| diagnostics.entries().is_empty()) {
            page.line("p", "Nothing was odd in the sources.");
        }
    }
}

fn severity(severity: Severity) -> String {
    let class = if severity == Severity::Error { "bad" } else { "weak" };
    format!("<span class=\"{class}\">{severity}</span>")
}

fn fact(page: &mut Page, name: &str, html: &str) {
    page.raw(&format!("<dt>{}</dt><dd>{html}</dd>\n", escaped(name)));
}

/// A text as a sentence: a capital at its beginning, a dot at its end.
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
