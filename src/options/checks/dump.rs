//! Rules of objects and of dumps: R8, R39.

use super::aoe::directory_problem;
use super::{Check, Facts, Report, Value, error, keys, warning};

const GRAPH_MEMORY: &str = keys::GRAPH_MEMORY_OPTIMIZE_CONFIG;

/// Most sets of steps in a dump.
const MAX_SETS: usize = 100;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R8",
        outcomes: &[error(
            "an argument is not an object of its class, or a field of GraphMemoryOptimizeConfig is not auto or manual",
        )],
        options: &[
            keys::DUMP_CONFIG,
            keys::EXPERIMENTAL_CONFIG,
            keys::DYNAMIC_INPUT_CONFIG,
            GRAPH_MEMORY,
        ],
        source: "TensorFlow adapter, npu_config.py",
        run: classes,
    },
    Check {
        id: "R39",
        outcomes: &[
            error("dumps have no valid dump_path, or dump_step, dump_mode, dump_debug_mode or dump_data is invalid"),
            warning(
                "dump_step, dump_mode or dump_debug_mode is invalid while dumps are off, or dump_path is missing or \
                 invalid under a condition",
            ),
        ],
        options: &[
            keys::ENABLE_DUMP,
            keys::ENABLE_DUMP_DEBUG,
            keys::DUMP_PATH,
            keys::DUMP_STEP,
            keys::DUMP_MODE,
            keys::DUMP_DEBUG_MODE,
            keys::DUMP_DATA,
        ],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: dumps,
    },
];

fn classes(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [keys::DUMP_CONFIG, keys::EXPERIMENTAL_CONFIG, keys::DYNAMIC_INPUT_CONFIG] {
        report.own_kind(facts, key);
    }
    let Some(Value::Python(text)) = facts.options.get(GRAPH_MEMORY) else {
        return;
    };
    let arguments = text
        .split_once("GraphMemoryOptimizeConfig(")
        .and_then(|(_, rest)| rest.strip_suffix(')'))
        .unwrap_or("");
    for (idx, argument) in arguments.split(',').enumerate() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => (if idx == 0 { "recompute" } else { "graph_slice" }, argument.trim()),
        };
        let literal = value
            .strip_prefix(['"', '\''])
            .map(|value| value.trim_end_matches(['"', '\'']));
        if literal.is_some_and(|literal| !matches!(literal, "auto" | "manual")) {
            report.error(
                &[GRAPH_MEMORY],
                format!("{name} of GraphMemoryOptimizeConfig is {value}: use auto or manual"),
            );
        }
    }
}

fn dumps(facts: &Facts<'_>, report: &mut Report<'_>) {
    for (key, switch) in [
        (keys::DUMP_STEP, Some(keys::ENABLE_DUMP)),
        (keys::DUMP_MODE, Some(keys::ENABLE_DUMP)),
        (keys::DUMP_DEBUG_MODE, Some(keys::ENABLE_DUMP_DEBUG)),
        (keys::DUMP_DATA, None),
    ] {
        report.own_kind_unless_idle(facts, key, switch);
    }
    if let Some(value) = facts.options.get(keys::DUMP_STEP)
        && let Some(problem) = value.as_text().and_then(step_problem)
    {
        let message = format!("dump_step is {}: {problem}", value.quoted());
        report.error_unless_idle(facts, keys::DUMP_STEP, Some(keys::ENABLE_DUMP), message);
    }
    let switches = [keys::ENABLE_DUMP, keys::ENABLE_DUMP_DEBUG];
    let on: Vec<&'static str> = switches.into_iter().filter(|key| facts.bool(key)).collect();
    let Some(first) = on.first().and_then(|key| key.rsplit('.').next()) else {
        return;
    };
    let Some(value) = facts.options.get(keys::DUMP_PATH) else {
        let message = format!("{first} is on without dump_path: set dump_path");
        // Another branch of the script may set the path.
        let finding = if on.iter().any(|key| facts.condition(key).is_some()) {
            report.warning(&on, message)
        } else {
            report.error(&on, message)
        };
        finding.remove(&on);
        return;
    };
    // A path that the command line gives may be there when the script runs.
    if let Some(path) = value.as_text()
        && !facts.is_assumed(keys::DUMP_PATH)
        && let Some(problem) = directory_problem(facts, path)
    {
        let names = [on.as_slice(), &[keys::DUMP_PATH]].concat();
        let message = format!("dump_path is \"{path}\", which {problem}: dumps need a readable and writable directory");
        // What the script does under a condition may come with the directory.
        if names.iter().any(|name| facts.condition(name).is_some()) {
            report.warning(&names, message);
        } else {
            report.error(&names, message);
        }
    }
}

/// The error of steps such as `0|5|10-20`, by the adapter's own parser: a trailing bar or dash is accepted, and a
/// missing side of a range counts as 0.
fn step_problem(text: &str) -> Option<String> {
    let sets = pieces(text, '|');
    if sets.len() > MAX_SETS {
        return Some(format!("it has {} sets of steps; the limit is {MAX_SETS}", sets.len()));
    }
    let is_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| match text {
        "" => 0,
        _ => text.parse::<u64>().unwrap_or(u64::MAX),
    };
    sets.into_iter().find_map(|set| {
        let ends = pieces(set, '-');
        match ends.as_slice() {
            [_] | [_, _] if !ends.iter().all(is_digits) => {}
            [_] => return None,
            [first, last] if number(first) < number(last) => return None,
            [_, _] => return Some(format!("the range {set} must end after its start")),
            _ => {}
        }
        Some("expected steps and ranges separated by |, e.g. 0|5|10-20".to_owned())
    })
}

/// The parts between separators; none in an empty text, and none behind a trailing separator.
fn pieces(text: &str, separator: char) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    text.strip_suffix(separator).unwrap_or(text).split(separator).collect()
}
