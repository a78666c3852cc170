//! Everything that is wrong or odd, most severe first: findings of the configuration, what could not be opened, what runs out of
//! memory, what was assumed, oddities of configurations and files.

use super::state::Session;
use highwater_model::diagnostics::Severity;
use highwater_timeline::ProblemLine;

fn line(severity: Severity, source: &str, text: String) -> ProblemLine {
    ProblemLine {
        severity,
        source: source.to_owned(),
        text,
        option: None,
        finding: None,
    }
}

/// The problems of a session. O(problems^2), which are few.
pub fn problem_lines(session: &Session) -> Vec<ProblemLine> {
    let findings = session.findings().iter().enumerate();
    let mut lines: Vec<ProblemLine> = findings
        .map(|(position, finding)| ProblemLine {
            option: finding.options.first().cloned(),
            finding: Some(position),
            ..line(finding.severity, finding.rule, finding.message.clone())
        })
        .collect();
    // Of several files that cannot be read each has a line.
    let problems = session
        .problem()
        .or(session.not_opened())
        .into_iter()
        .flat_map(str::lines);
    lines.extend(problems.map(|problem| line(Severity::Error, "file", problem.to_owned())));
    let out_of_memory = session.answer().and_then(|(comparison, _)| {
        let lane = comparison.lane(comparison.active_policy)?;
        lane.out_of_memory_text()
    });
    lines.extend(out_of_memory.map(|text| line(Severity::Error, "device", text)));
    lines.extend(session.assumed_dims().iter().map(|symbol| {
        let text = format!("dimension \"{symbol}\" has no value, 1 is assumed; type yours under Session");
        line(Severity::Warning, "schedule", text)
    }));
    for (name, remarks) in session.config_remarks() {
        let short = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let entries = remarks.entries().iter();
        lines.extend(entries.map(|entry| line(entry.severity, short, entry.message.clone())));
    }
    add_pins(session, &mut lines);
    add_oddities(session, &mut lines);
    lines.sort_by_key(|line| line.severity);
    lines
}

/// Pins that have no lane, and rules that must hold and that pins break: warnings, since nothing that is set is wrong.
fn add_pins(session: &Session, lines: &mut Vec<ProblemLine>) {
    let Some((comparison, _)) = session.answer() else {
        return;
    };
    for problem in &comparison.pin_failures {
        let text = format!("pinned \"{}\" has no lane: {}", problem.name, problem.why);
        lines.push(line(Severity::Warning, "pin", text));
    }
    for lane in &comparison.lanes {
        let findings = lane.pinned.iter().flat_map(|pinned| &pinned.findings);
        for finding in findings.filter(|finding| finding.severity == Severity::Error) {
            let name = lane.title.as_deref().unwrap_or_default();
            let text = format!("pinned \"{name}\" breaks {}: {}", finding.rule, finding.message);
            lines.push(line(Severity::Warning, "pin", text));
        }
    }
}

/// What was odd in the graphs and in their comparison, each once.
fn add_oddities(session: &Session, lines: &mut Vec<ProblemLine>) {
    let import = session.loaded().map(|loaded| &loaded.diagnostics);
    let run = session.answer().map(|(comparison, _)| &comparison.diagnostics);
    for diagnostics in import.into_iter().chain(run) {
        for entry in diagnostics.entries() {
            let count = if entry.count > 1 {
                format!("{} times: ", entry.count)
            } else {
                String::new()
            };
            let place = if entry.place.is_empty() {
                String::new()
            } else {
                format!(" ({})", entry.place)
            };
            let text = format!("{count}{}{place}", entry.message);
            if !lines.iter().any(|line| line.text == text) {
                lines.push(line(entry.severity, "file", text));
            }
        }
    }
}
