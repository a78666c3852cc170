//! highwater's own rules of the caching allocators of PyTorch and `torch_npu`: K9, K10.

use highwater_model::diagnostics::Severity;
use highwater_torch::{OPTIONS, OptionRow, Scope, Settings, SettingsError, Version, findings, in_force};

use super::super::environment::{
    PYTORCH_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF, PYTORCH_NPU_ALLOC_CONF,
};
use super::super::finding::Finding;
use super::{Check, Facts, Report, error, info, warning};

const VARIABLES: [&str; 4] = [
    PYTORCH_CUDA_ALLOC_CONF,
    PYTORCH_HIP_ALLOC_CONF,
    PYTORCH_NPU_ALLOC_CONF,
    PYTORCH_ALLOC_CONF,
];

const SOURCE: &str = "PyTorch CUDA semantics, memory management; torch_npu";

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "K9",
        outcomes: &[
            error("the allocator refuses its settings"),
            warning("several variables hold allocator settings, and only the first is read"),
        ],
        options: &VARIABLES,
        source: SOURCE,
        run: accepted,
    },
    Check {
        id: "K10",
        outcomes: &[
            warning("an allocator setting has no effect, or an unwanted one"),
            info("an allocator setting depends on the version, or is not simulated"),
        ],
        options: &VARIABLES,
        source: SOURCE,
        run: effects,
    },
];

/// The versions whose variables are read: the newest of torch, and `torch_npu` where its own variable is set.
fn versions(facts: &Facts<'_>) -> impl Iterator<Item = Version> {
    let is_of_npu = facts.environment.names().any(|name| name == PYTORCH_NPU_ALLOC_CONF);
    let is_of_torch = facts.environment.names().any(|name| {
        Version::NEWEST.rules().variables.names().contains(&name) && !(is_of_npu && name == PYTORCH_ALLOC_CONF)
    });
    let torch = is_of_torch.then_some(Version::NEWEST);
    torch.into_iter().chain(is_of_npu.then_some(Version::Npu))
}

/// The variables in force, with their texts and the version that reads each. A text that is computed at run time is unknown.
fn settings<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'static str, &'a str, Version)> {
    let environment = facts.environment;
    versions(facts).filter_map(move |version| {
        let (name, text) = in_force_of(facts, version).ok()??;
        (!environment.is_unread(name)).then_some((name, text, version))
    })
}

/// The variable in force; its text is empty where it is computed at run time.
fn in_force_of<'a>(facts: &Facts<'a>, version: Version) -> Result<Option<(&'static str, &'a str)>, SettingsError> {
    let environment = facts.environment;
    in_force(version, |name| {
        environment
            .get(name)
            .or_else(|| environment.is_unread(name).then_some(""))
    })
}

fn accepted(facts: &Facts<'_>, report: &mut Report<'_>) {
    for (name, text, version) in settings(facts) {
        if let Err(problem) = Settings::parse(text, version) {
            report.error(&[name], format!("{name}: {problem}"));
        }
    }
    for version in versions(facts) {
        let names = version.rules().variables.names();
        let is_set = |name: &&&'static str| facts.environment.names().any(|set| set == **name);
        let mut set = names.iter().filter(is_set);
        let Some(first) = set.next() else { continue };
        let refuses = in_force_of(facts, version) == Err(SettingsError::BothVariables);
        for other in set {
            hidden(facts, report, [first, other], refuses);
        }
    }
}

/// A variable that is not read beside the first one.
fn hidden(facts: &Facts<'_>, report: &mut Report<'_>, [first, other]: [&'static str; 2], refuses: bool) {
    let both = [first, other];
    if refuses {
        let message = format!("{first} and {other} are both set: torch_npu refuses that, so unset one of them");
        report.error(&both, message).unset_variable(other);
        return;
    }
    let (text, hidden) = (facts.environment.get(first), facts.environment.get(other));
    let loses_nothing = hidden == Some("") || text.is_some() && text == hidden;
    if loses_nothing {
        return;
    }
    let state = match text {
        Some("") => "is set, although to nothing",
        _ => "is set",
    };
    let message = format!("{first} {state}, so PyTorch does not read {other}: put all keys into one of them");
    report.warning(&both, message).unset_variable(other);
}

fn effects(facts: &Facts<'_>, report: &mut Report<'_>) {
    for (name, text, version) in settings(facts) {
        let Ok(settings) = Settings::parse(text, version) else {
            continue;
        };
        for (severity, message) in remarks(&settings) {
            report.push(severity, &[name], format!("{name}: {message}"));
        }
    }
}

/// The findings of a text of settings under a version.
pub fn allocator_findings(conf: &str, version: Version) -> Vec<Finding> {
    let name = version.rules().framework.variable();
    let finding = |rule: &'static str, severity: Severity, message: String| Finding {
        rule,
        severity,
        options: vec![name.to_owned()],
        message,
        fixes: Vec::new(),
        source: SOURCE,
    };
    match Settings::parse(conf, version) {
        Err(problem) => vec![finding("K9", Severity::Error, problem.to_string())],
        Ok(settings) => {
            let remarks = remarks(&settings).into_iter();
            remarks
                .map(|(severity, message)| finding("K10", severity, message))
                .collect()
        }
    }
}

/// What accepted settings do that their author may not expect.
fn remarks(settings: &Settings) -> Vec<(Severity, String)> {
    let known = findings(settings).into_iter().map(|finding| {
        let severity = if finding.is_warning {
            Severity::Warning
        } else {
            Severity::Info
        };
        let keys = finding.keys.join(", ");
        (severity, format!("{keys}: {}", finding.message.trim_end_matches('.')))
    });
    let mut remarks: Vec<(Severity, String)> = known.collect();
    for row in OPTIONS.iter().filter(|row| settings.named.contains(&row.key)) {
        if let Some(since) = newer(row, settings.version) {
            remarks.push((
                Severity::Info,
                format!("{} is known from {since} on; older versions refuse it", row.key),
            ));
        }
    }
    remarks.extend(settings.version.caveat().map(|caveat| (Severity::Info, caveat)));
    remarks
}

/// The first version that knows a key, where some do not.
fn newer(row: &OptionRow, version: Version) -> Option<Version> {
    match row.scope {
        Scope::Cuda(since) | Scope::Both(since) if version != Version::Npu && since > Version::FIRST_PROVED => {
            Some(since)
        }
        Scope::Cuda(_) | Scope::Both(_) | Scope::Npu => None,
    }
}
