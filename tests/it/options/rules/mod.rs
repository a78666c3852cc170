//! Each rule on settings that it accepts and rejects, by topic; fixes; the active policy; no panic on any input.

mod allocator;
mod companions;
mod debugging;
mod devices;
mod dynamic;
mod effective;
mod files;
mod fuzz;
mod memory;
mod messages;
mod plain;
mod precision;
mod syntax;
mod unread;
mod vendor;

use std::collections::BTreeSet;

use highwater::diagnostics::Severity;
use highwater::options::{CHECKS, Environment, FileState, Finding, Options, SeenFiles, Value, check};

type Texts = &'static [(&'static str, &'static str)];

/// Possible states at a path of a case, apart from the content of a file.
const MISSING: &str = "<missing>";
const FOLDER: &str = "<folder>";
const LOCKED: &str = "<locked>";
const UNREADABLE: &str = "<unreadable>";

/// Settings, and the rules that fire.
#[derive(Clone, Copy, Debug)]
struct Case {
    options: Texts,
    variables: Texts,
    files: Texts,
    /// Such as `R49E R51W`, in order and without repeats.
    fires: &'static str,
}

const fn case(options: Texts, fires: &'static str) -> Case {
    Case {
        options,
        variables: &[],
        files: &[],
        fires,
    }
}

impl Case {
    const fn with(mut self, variables: Texts) -> Self {
        self.variables = variables;
        self
    }

    const fn seeing(mut self, files: Texts) -> Self {
        self.files = files;
        self
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (key, text) in self.options {
            settings.options.set_text(key, text).unwrap();
        }
        for (name, text) in self.variables {
            settings.environment.set(name, text);
        }
        for (path, content) in self.files {
            settings.files.insert(path, state_of(content));
        }
        settings
    }
}

fn state_of(content: &str) -> FileState {
    match content {
        MISSING => FileState::Missing,
        FOLDER => FileState::Directory { is_writable: true },
        LOCKED => FileState::Directory { is_writable: false },
        UNREADABLE => FileState::Unreadable("permission denied".to_owned()),
        _ => FileState::File(content.as_bytes().into()),
    }
}

/// Input of the rules.
#[derive(Clone, Debug, Default)]
struct Settings {
    options: Options,
    environment: Environment,
    files: SeenFiles,
}

impl Settings {
    fn check(&self) -> Vec<Finding> {
        check(&self.options, &self.environment, &self.files)
    }
}

fn typed(key: &str, value: Value) -> Settings {
    let mut settings = Settings::default();
    settings.options.set(key, value).unwrap();
    settings
}

/// The rules that fire, such as `R49E R51W`, in order and without repeats.
fn fired(settings: &Settings) -> String {
    let mut names: Vec<String> = Vec::new();
    for finding in settings.check() {
        let letter = match finding.severity {
            Severity::Error => 'E',
            Severity::Warning => 'W',
            Severity::Info => 'I',
        };
        let name = format!("{}{letter}", finding.rule);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" ")
}

fn all_cases() -> impl Iterator<Item = &'static Case> {
    [
        plain::CASES,
        precision::CASES,
        memory::CASES,
        devices::CASES,
        debugging::CASES,
        dynamic::CASES,
        companions::CASES,
        syntax::CASES,
        files::CASES,
        vendor::CASES,
        allocator::CASES,
    ]
    .into_iter()
    .flatten()
}

#[test]
fn every_case_fires_its_rules() {
    let wrong: Vec<String> = all_cases()
        .filter_map(|case| {
            let fired = fired(&case.settings());
            (fired != case.fires).then(|| format!("{case:?}\n    fired: {fired}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_outcome_of_every_rule_has_a_case() {
    let mut seen: BTreeSet<(&str, Severity)> = BTreeSet::new();
    for finding in all_cases().flat_map(|case| case.settings().check()) {
        seen.insert((finding.rule, finding.severity));
    }
    let declared: BTreeSet<(&str, Severity)> = CHECKS
        .iter()
        .flat_map(|check| check.severities().map(|severity| (check.id, severity)))
        // R53 fires for schedules, not for options.
        .filter(|(id, _)| *id != "R53")
        .collect();
    assert_eq!(seen, declared);
}

#[test]
fn every_rule_stays_silent_somewhere() {
    for check in CHECKS.iter().filter(|check| check.id != "R53") {
        let is_silent = all_cases().any(|case| {
            let settings = case.settings();
            let is_looked_at = check
                .options
                .iter()
                .any(|name| settings.options.is_set(name) || settings.environment.is_set(name));
            is_looked_at && settings.check().iter().all(|finding| finding.rule != check.id)
        });
        // These fire for every value, even a right one.
        let is_always_loud = matches!(check.id, "R46" | "R47" | "R54" | "R55" | "M4");
        assert_ne!(is_silent, is_always_loud, "{}", check.id);
    }
}

#[test]
fn every_fix_removes_its_finding() {
    let mut n_fixes = 0;
    for case in all_cases() {
        let settings = case.settings();
        for finding in settings.check() {
            for fix in &finding.fixes {
                let mut mended = settings.clone();
                fix.apply(&mut mended.options, &mut mended.environment);
                let is_gone = !mended.check().iter().any(|left| {
                    left.rule == finding.rule
                        && left.severity == finding.severity
                        && left.options == finding.options
                        && left.message == finding.message
                });
                assert!(is_gone, "{case:?}: {finding:?} after {}", fix.text);
                assert!(!fix.text.is_empty() && !fix.edits.is_empty());
                n_fixes += 1;
            }
        }
    }
    assert!(n_fixes > 60, "{n_fixes}");
}

#[test]
fn rules_are_in_order() {
    let ids: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    let numbered = ['R', 'D', 'M', 'K'].map(|letter| {
        let n = ids.iter().filter(|id| id.starts_with(letter)).count();
        (1..=n).map(move |number| format!("{letter}{number}"))
    });
    let numbered: Vec<String> = numbered.into_iter().flatten().collect();
    assert_eq!(ids, numbered);
}
