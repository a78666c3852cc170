//! The lines of Problems, most severe first: findings of the configuration, sources that could not be opened, lanes out of memory,
//! assumptions, remarks on configurations and files.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Session;
use highwater_analysis::Comparison;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::Workload;
use highwater_options::Finding;
use highwater_timeline::ProblemLine;

#[derive(Debug, Default)]
pub(super) struct Problems {
    lines: Arc<[ProblemLine]>,
    revision: u64,
    inputs: Inputs,
}

#[derive(Clone, Debug, Default)]
struct Inputs {
    findings: Arc<[Finding]>,
    remarks: Arc<[(String, Diagnostics)]>,
    workload: Option<Arc<Workload>>,
    comparison: Option<Arc<Comparison>>,
    problem: Option<String>,
    assumed: BTreeSet<String>,
}

impl Session {
    /// Made once per change.
    pub fn problem_lines(&self) -> &Arc<[ProblemLine]> {
        &self.problems.lines
    }

    /// The number of changes.
    pub(super) fn problems_revision(&self) -> u64 {
        self.problems.revision
    }

    /// Makes the lines again where their inputs changed.
    pub(super) fn list_problems(&mut self) {
        let inputs = &self.problems.inputs;
        let comparison = self.answers.comparison();
        let workload = self.loaded.as_ref().map(|loaded| &loaded.whole);
        let is_same = Arc::ptr_eq(&inputs.findings, self.judged.findings())
            && Arc::ptr_eq(&inputs.remarks, &self.remarks)
            && is_same_arc(inputs.workload.as_ref(), workload)
            && is_same_arc(inputs.comparison.as_ref(), comparison)
            && inputs.problem.as_deref() == self.problem_text()
            && inputs.assumed == *self.schedule.assumed();
        if is_same {
            return;
        }
        self.problems = Problems {
            lines: lines_of(self).into(),
            revision: self.problems.revision + 1,
            inputs: Inputs {
                findings: Arc::clone(self.judged.findings()),
                remarks: Arc::clone(&self.remarks),
                workload: workload.cloned(),
                comparison: comparison.cloned(),
                problem: self.problem_text().map(str::to_owned),
                assumed: self.schedule.assumed().clone(),
            },
        };
    }

    /// Why there is no answer, or why something was not opened; of several files a line each.
    fn problem_text(&self) -> Option<&str> {
        self.problem().or(self.not_opened())
    }
}

fn is_same_arc<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
}

fn line(severity: Severity, source: &str, text: String) -> ProblemLine {
    ProblemLine {
        severity,
        source: source.to_owned(),
        text,
        option: None,
        finding: None,
    }
}

fn lines_of(session: &Session) -> Vec<ProblemLine> {
    let findings = session.findings().iter().enumerate();
    let mut lines: Vec<ProblemLine> = findings
        .map(|(position, finding)| ProblemLine {
            option: finding.options.first().cloned(),
            finding: Some(position),
            ..line(finding.severity, finding.rule, finding.message.clone())
        })
        .collect();
    let n_findings = session.findings().len();
    lines.extend(
        session
            .advice()
            .iter()
            .enumerate()
            .map(|(position, finding)| ProblemLine {
                option: finding.options.first().cloned(),
                finding: Some(n_findings + position),
                ..line(finding.severity, finding.rule, finding.message.clone())
            }),
    );
    let problems = session.problem_text().into_iter().flat_map(str::lines);
    // What is on the screen is healthy where a further file could not be opened.
    let severity = if session.problem().is_some() {
        Severity::Error
    } else {
        Severity::Info
    };
    lines.extend(problems.map(|problem| line(severity, "file", problem.to_owned())));
    let out_of_memory = session.answer().and_then(|(comparison, _)| {
        let lane = comparison.lane(comparison.active_policy)?;
        lane.out_of_memory_text()
    });
    lines.extend(out_of_memory.map(|text| line(Severity::Error, "device", text)));
    lines.extend(session.assumed_dims().iter().map(|symbol| {
        let text = format!("dimension \"{symbol}\" has no value, 1 is assumed; set it under Session");
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

/// Pins without a lane, and rules that pins break: warnings, since the active configuration is not affected.
fn add_pins(session: &Session, lines: &mut Vec<ProblemLine>) {
    let Some((comparison, _)) = session.answer() else {
        return;
    };
    for problem in &comparison.pin_failures {
        let text = format!("pin \"{}\" has no lane: {}", problem.name, problem.why);
        lines.push(line(Severity::Warning, "pin", text));
    }
    for lane in &comparison.lanes {
        let findings = lane.pinned.iter().flat_map(|pinned| &pinned.findings);
        for finding in findings.filter(|finding| finding.severity == Severity::Error) {
            let name = lane.title.as_deref().unwrap_or_default();
            let text = format!("pin \"{name}\" violates {}: {}", finding.rule, finding.message);
            lines.push(line(Severity::Warning, "pin", text));
        }
    }
}

/// Remarks on the graphs and their comparison, each once.
fn add_oddities(session: &Session, lines: &mut Vec<ProblemLine>) {
    let import = session.loaded().map(|loaded| &loaded.diagnostics);
    let run = session.answer().map(|(comparison, _)| &comparison.diagnostics);
    let mut known: BTreeSet<String> = lines.iter().map(|line| line.text.clone()).collect();
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
            if known.insert(text.clone()) {
                lines.push(line(entry.severity, "file", text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Document, SAMPLES, SourceSpec, Worker};
    use highwater_model::workload::DeviceProfiles;

    #[test]
    fn lines_are_made_once_per_change() {
        let document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        let worker = Worker::start(|| {}).expect("a thread");
        let profiles = DeviceProfiles::bundled().expect("bundled");
        let mut session = Session::new(document, profiles, worker);
        session.settle();
        let lines = Arc::clone(session.problem_lines());
        assert_eq!(*lines, *lines_of(&session));
        session.apply(Command::Search {
            text: "conv".to_owned(),
            lane: 0,
        });
        session.apply(Command::Select(None));
        session.settle();
        assert!(
            Arc::ptr_eq(&lines, session.problem_lines()),
            "nothing was formatted again"
        );
        let text = "not a number".to_owned();
        session.apply(Command::SetEnvironment {
            name: "ASCEND_DEVICE_ID".to_owned(),
            value: Some(text),
        });
        assert!(session.problem_lines().len() > lines.len());
        session.settle();
        assert_eq!(**session.problem_lines(), *lines_of(&session));
    }
}
