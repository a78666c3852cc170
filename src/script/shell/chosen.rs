//! Which command's environment is that of the file.

use std::collections::BTreeMap;

use highwater_model::diagnostics::Severity;
use highwater_model::units::first_of;
use highwater_options::Environment;

use super::runs::Runs;

/// The most lines in a sentence.
const MAX_LINES: usize = 8;

/// A command and its environment.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) runs: Runs,
    pub(super) line: usize,
    pub(super) environment: Environment,
    /// Variables that are set and not exported, with their lines.
    pub(super) unexported: Vec<(String, usize)>,
}

pub(super) struct Choice {
    pub(super) environment: Environment,
    pub(super) remarks: Vec<(Severity, usize, String)>,
}

/// The last command that runs Python and gets a variable; without Python the state at the end of the file, `last`, or of a program that
/// gets more.
/// `set` has the lines that set variables.
pub(super) fn choose(runs: &[Run], last: Run, set: &BTreeMap<String, usize>) -> Choice {
    let best = runs.iter().map(|run| run.runs).max();
    let alike: Vec<&Run> = runs.iter().filter(|run| Some(run.runs) == best).collect();
    let with_variables = alike.iter().rfind(|run| !run.environment.is_empty());
    let chosen = if best == Some(Runs::Python) {
        with_variables.or(alike.last()).map_or(last, |run| (*run).clone())
    } else {
        // Programs may be anything: what the file leaves exported counts, unless one gets more.
        let gets_more = |run: &&&Run| {
            run.environment
                .names()
                .any(|name| !last.environment.names().any(|of| of == name))
        };
        alike.iter().rfind(gets_more).map_or(last, |run| (*run).clone())
    };
    let mut remarks = Vec::new();
    let others: Vec<&&Run> = alike
        .iter()
        .filter(|run| run.environment != chosen.environment)
        .collect();
    if best == Some(Runs::Python) && !others.is_empty() {
        let lines = first_of(others.iter().map(|run| run.line), MAX_LINES, ", ");
        let message = format!(
            "several commands run Python with different variables: those of this command count, not those of line{} {lines}",
            if others.len() == 1 { "" } else { "s" }
        );
        remarks.push((Severity::Warning, chosen.line, message));
    }
    for (name, line) in &chosen.unexported {
        let message = format!("{name} is set and not exported, so that no command gets it: write export {name}=...");
        remarks.push((Severity::Warning, *line, message));
    }
    let reaches = |name: &str| chosen.environment.names().any(|known| known == name);
    let is_told = |name: &str| chosen.unexported.iter().any(|(known, _)| known == name);
    for (name, line) in set.iter().filter(|(name, _)| !reaches(name) && !is_told(name)) {
        let to = match chosen.line {
            0 => "reaches no later command".to_owned(),
            line => format!("does not reach the command of line {line}"),
        };
        let message = format!("{name} is set here and {to}");
        remarks.push((Severity::Info, *line, message));
    }
    Choice {
        environment: chosen.environment,
        remarks,
    }
}
