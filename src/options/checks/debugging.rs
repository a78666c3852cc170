//! Rules of operator debugging and its files: R24, R25, R26, R43, R44.

use super::super::effective::{default_cache_dir, is_training, op_debug};
use super::super::environment::{ASCEND_CACHE_PATH, ASCEND_WORK_PATH, NPU_COLLECT_PATH};
use super::{Check, Facts, Report, Value, error, info, keys, warning};

const CONFIG: &str = keys::OP_DEBUG_CONFIG;
const LEVEL: &str = keys::OP_DEBUG_LEVEL;
const CACHE: &str = keys::OP_COMPILER_CACHE_DIR;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R24",
        outcomes: &[error("the file of op_debug_config combines oom and ccec_O0")],
        options: &[CONFIG],
        source: "NPURunConfig option reference",
        run: without_optimization,
    },
    Check {
        id: "R25",
        outcomes: &[error(
            "the file of op_debug_config has oom while NPU_COLLECT_PATH is set",
        )],
        options: &[CONFIG, NPU_COLLECT_PATH],
        source: "NPURunConfig option reference",
        run: while_collecting,
    },
    Check {
        id: "R26",
        outcomes: &[
            error("op_debug_level is 2 and the file of op_debug_config has oom"),
            warning("op_debug_level is 1 or 2 in training"),
        ],
        options: &[LEVEL, CONFIG, keys::GRAPH_RUN_MODE],
        source: "NPURunConfig option reference",
        run: debug_level,
    },
    Check {
        id: "R43",
        outcomes: &[info(
            "NPU_COLLECT_PATH is set and overrides the dumps of failing operators",
        )],
        options: &[NPU_COLLECT_PATH, keys::ENABLE_EXCEPTION_DUMP],
        source: "NPURunConfig option reference",
        run: collecting,
    },
    Check {
        id: "R44",
        outcomes: &[info(
            "an option or variable sets the directory of debug files or compiled operators",
        )],
        options: &[keys::DEBUG_DIR, ASCEND_WORK_PATH, CACHE, ASCEND_CACHE_PATH],
        source: "NPURunConfig option reference",
        run: directories,
    },
];

/// Whether the file of operator debugging enables a switch.
fn has_switch(facts: &Facts<'_>, switch: &str) -> bool {
    op_debug(facts.options, facts.files).is_some_and(|config| config.has(switch))
}

fn without_optimization(facts: &Facts<'_>, report: &mut Report<'_>) {
    if has_switch(facts, "oom") && has_switch(facts, "ccec_O0") {
        report.error(
            &[CONFIG],
            "the file of op_debug_config combines oom and ccec_O0, which causes an AI Core error: remove one",
        );
    }
}

fn while_collecting(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.is_set(NPU_COLLECT_PATH) && has_switch(facts, "oom") {
        report
            .error(
                &[CONFIG, NPU_COLLECT_PATH],
                "the file of op_debug_config has oom, which does not work with NPU_COLLECT_PATH: remove oom or unset \
                 the variable",
            )
            .unset_variable(NPU_COLLECT_PATH);
    }
}

fn debug_level(facts: &Facts<'_>, report: &mut Report<'_>) {
    let level = facts.int(LEVEL);
    if level == 2 && has_switch(facts, "oom") {
        report
            .error(
                &[LEVEL, CONFIG],
                "op_debug_level=2 and oom in the file of op_debug_config cause an AI Core error: remove op_debug_level",
            )
            .set(LEVEL, Value::Unset);
    }
    if matches!(level, 1 | 2) && is_training(facts.options) && !facts.is_computed(keys::GRAPH_RUN_MODE) {
        report
            .warning(
                &[LEVEL],
                format!("op_debug_level={level} slows training down: use 0 or 3 except for debugging"),
            )
            .set(LEVEL, 0);
    }
}

fn collecting(facts: &Facts<'_>, report: &mut Report<'_>) {
    if !facts.is_set(NPU_COLLECT_PATH) {
        return;
    }
    let place = match facts.environment.get(NPU_COLLECT_PATH) {
        Some(path) => Value::from(path).quoted(),
        None => "its directory".to_owned(),
    };
    let names = facts.set_of(&[NPU_COLLECT_PATH, keys::ENABLE_EXCEPTION_DUMP]);
    let whatever = match facts.options.get(keys::ENABLE_EXCEPTION_DUMP) {
        Some(value) if value.as_int() != Some(1) => format!("; enable_exception_dump={value} is ignored"),
        _ => String::new(),
    };
    report.info(
        &names,
        format!("NPU_COLLECT_PATH is set: failing operators are dumped in mode 1 to {place}{whatever}"),
    );
}

fn directories(facts: &Facts<'_>, report: &mut Report<'_>) {
    let variable = |name| facts.environment.get(name).unwrap_or("").to_owned();
    let files = [
        (
            keys::DEBUG_DIR,
            ASCEND_WORK_PATH,
            "debug files of operators",
            variable(ASCEND_WORK_PATH),
        ),
        (
            CACHE,
            ASCEND_CACHE_PATH,
            "compiled operators",
            default_cache_dir(facts.environment),
        ),
    ];
    for (key, name, what, default) in files {
        let names = facts.set_of(&[key, name]);
        let Some(first) = names.first() else {
            continue;
        };
        let path = match facts.options.get(key) {
            Some(Value::Python(_)) => continue,
            Some(value) => value.to_string(),
            None if facts.environment.is_unread(name) => continue,
            None => default,
        };
        let wins = match names.len() {
            1 => String::new(),
            _ => format!(", which overrides {name}"),
        };
        report.info(&names, format!("{what} go to \"{path}\" (from {first}{wins})"));
    }
}
