//! highwater's own rules of texts with a syntax: K2, K3, K4, K8.

use super::super::occupied::occupied_memory;
use super::{Check, Facts, Report, error, keys};
use highwater_rewrite::WorkspaceTable;

const STREAMS: &str = keys::AUTO_MULTISTREAM_PARALLEL_MODE;
const PATHS: [&str; 2] = [keys::FUSION_SWITCH_FILE, keys::OP_COMPILER_CACHE_DIR];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "K2",
        outcomes: &[error(
            "fusion_switch_file or op_compiler_cache_dir has invalid characters",
        )],
        options: &PATHS,
        source: "NPURunConfig option reference",
        run: characters,
    },
    Check {
        id: "K3",
        outcomes: &[error(
            "auto_multistream_parallel_mode is not cv, LoadBalance, LoadBalance:n or MainStream:n with 1 <= n <= 64",
        )],
        options: &[STREAMS],
        source: "GE session options",
        run: streams,
    },
    Check {
        id: "K4",
        outcomes: &[error(
            "simulation.occupied_memory is not a comma-separated list of ID:SIZE",
        )],
        options: &[keys::OCCUPIED_MEMORY],
        source: "highwater's own",
        run: occupied,
    },
    Check {
        id: "K8",
        outcomes: &[error(
            "simulation.workspace_table is not a comma-separated list of TYPE=AMOUNT",
        )],
        options: &[keys::WORKSPACE_TABLE],
        source: "highwater's own",
        run: workspaces,
    },
];

fn characters(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in PATHS {
        report.own_kind(facts, key);
        let text = facts.options.get(key).and_then(|value| value.as_text()).unwrap_or("");
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
        if let Some(letter) = text.chars().find(|letter| !is_allowed(*letter)) {
            report.error(
                &[key],
                format!("{key} is \"{text}\", which contains {letter:?}: use letters, digits, _, -, . and slashes"),
            );
        }
    }
}

fn streams(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, STREAMS);
    let Some(text) = facts.options.get(STREAMS).and_then(|value| value.as_text()) else {
        return;
    };
    let is_number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse().is_ok_and(|n: u32| (1..=64).contains(&n))
    };
    let is_right = match text.split_once(':') {
        None => matches!(text, "cv" | "LoadBalance"),
        Some(("LoadBalance" | "MainStream", number)) => is_number(number),
        Some(_) => false,
    };
    if !is_right {
        report.error(
            &[STREAMS],
            format!("{STREAMS} is \"{text}\": use cv, LoadBalance, LoadBalance:n or MainStream:n with n from 1 to 64"),
        );
    }
}

fn occupied(facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::OCCUPIED_MEMORY;
    report.own_kind(facts, key);
    if let Some(text) = facts.options.get(key).and_then(|value| value.as_text())
        && let Err(problem) = occupied_memory(text)
    {
        report.error(&[key], format!("occupied_memory: {problem}"));
    }
}

fn workspaces(facts: &Facts<'_>, report: &mut Report<'_>) {
    let key = keys::WORKSPACE_TABLE;
    report.own_kind(facts, key);
    if let Some(text) = facts.options.get(key).and_then(|value| value.as_text())
        && let Err(problem) = WorkspaceTable::parse(text)
    {
        report.error(&[key], format!("workspace_table: {problem}; the default table is used"));
    }
}
