//! highwater's own rules of the caching allocators of PyTorch and `torch_npu`: K9, K10.

use highwater_model::diagnostics::Severity;
use highwater_torch::{OPTIONS, OptionRow, Scope, Settings, Version, findings};

use super::super::environment::{PYTORCH_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF, PYTORCH_NPU_ALLOC_CONF};
use super::super::finding::Finding;
use super::{Check, Facts, Report, error, info, warning};

const VARIABLES: [&str; 3] = [PYTORCH_CUDA_ALLOC_CONF, PYTORCH_NPU_ALLOC_CONF, PYTORCH_ALLOC_CONF];

const SOURCE: &str = "PyTorch CUDA semantics, memory management; torch_npu";

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "K9",
        outcomes: &[
            error("the allocator refuses its settings"),
            warning("two variables hold allocator settings, and one of them is not read"),
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

/// The settings of the environment with the newest version that reads them.
fn settings<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'static str, &'a str, Version)> {
    let environment = facts.environment;
    VARIABLES.into_iter().filter_map(move |name| {
        let text = environment.get(name).filter(|text| !text.is_empty())?;
        let version = if name == PYTORCH_NPU_ALLOC_CONF {
            Version::Npu
        } else {
            Version::NEWEST
        };
        Some((name, text, version))
    })
}

fn accepted(facts: &Facts<'_>, report: &mut Report<'_>) {
    for (name, text, version) in settings(facts) {
        if let Err(problem) = Settings::parse(text, version) {
            report.error(&[name], format!("{name}: {problem}"));
        }
    }
    if !facts.is_set(PYTORCH_ALLOC_CONF) {
        return;
    }
    if facts.is_set(PYTORCH_NPU_ALLOC_CONF) {
        let names = [PYTORCH_NPU_ALLOC_CONF, PYTORCH_ALLOC_CONF];
        let message = format!(
            "{} and {} are both set: torch_npu refuses that, so unset one of them",
            names[0], names[1]
        );
        report.error(&names, message).unset_variable(PYTORCH_ALLOC_CONF);
    } else if facts.is_set(PYTORCH_CUDA_ALLOC_CONF) {
        let names = [PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF];
        let message = format!(
            "{} is set, so PyTorch does not read {}: put all keys into one of them",
            names[0], names[1]
        );
        report.warning(&names, message).unset_variable(PYTORCH_ALLOC_CONF);
    }
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
    remarks
}

/// The first version that knows a key, where some do not.
fn newer(row: &OptionRow, version: Version) -> Option<Version> {
    match row.scope {
        Scope::Cuda(since) | Scope::Both(since) if version != Version::Npu && since > Version::Torch2_9 => Some(since),
        Scope::Cuda(_) | Scope::Both(_) | Scope::Npu => None,
    }
}
