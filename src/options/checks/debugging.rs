//! Rules of operator debugging and its files: R24, R25, R26, R43, R44, R56.

use super::super::effective::{default_cache_dir, is_training, op_debug};
use super::super::environment::{ASCEND_CACHE_PATH, ASCEND_WORK_PATH, NPU_COLLECT_PATH};
use super::{Check, Facts, Report, Value, error, info, keys, warning};

const CONFIG: &str = keys::OP_DEBUG_CONFIG;
const LEVEL: &str = keys::OP_DEBUG_LEVEL;
const CACHE: &str = keys::OP_COMPILER_CACHE_DIR;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R24",
        outcomes: &[
            error("the file of op_debug_config combines oom and ccec_O0"),
            warning("the file of op_debug_config has ccec_O0 or ccec_g, and shapes are dynamic"),
        ],
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
            warning("op_debug_level is 1 or 2 in training, or is 2 and shapes are dynamic"),
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
            "options or variables set the directory of debug files, dumps of failing operators, results of fusion or \
             compiled operators",
        )],
        options: &[
            keys::DEBUG_DIR,
            ASCEND_WORK_PATH,
            CACHE,
            ASCEND_CACHE_PATH,
            keys::ENABLE_EXCEPTION_DUMP,
            keys::EXPORT_COMPILE_STAT,
            LEVEL,
        ],
        source: "NPURunConfig option reference",
        run: directories,
    },
    Check {
        id: "R56",
        outcomes: &[info("operator debugging keeps files, but not those of MC2 operators")],
        options: &[CONFIG, LEVEL],
        source: "NPURunConfig option reference",
        run: files_of_mc2,
    },
];

/// Operators that join a matrix product and communication; the documentation lists them.
const MC2: [&str; 6] = [
    "MatMulAllReduce",
    "MatMulAllReduceAddRmsNorm",
    "AllGatherMatMul",
    "MatMulReduceScatter",
    "AlltoAllAllGatherBatchMatMul",
    "BatchMatMulReduceScatterAlltoAll",
];

/// Why debugging by the compiler does not suit dynamic shapes.
const LARGE_KERNELS: &str = "shapes are dynamic: kernels grow with every case that is compiled, and the linker may refuse \
                             them (InputSection too large for range extension thunk)";

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
    compiler_switches(facts, report);
}

/// The switches of the compiler enlarge kernels, of which dynamic shapes have many.
fn compiler_switches(facts: &Facts<'_>, report: &mut Report<'_>) {
    let switches: Vec<&str> = ["ccec_O0", "ccec_g"]
        .into_iter()
        .filter(|switch| has_switch(facts, switch))
        .collect();
    if let Some(dynamic) = dynamic_shapes(facts).filter(|_| !switches.is_empty()) {
        let names = switches.join(" and ");
        report.warning(
            &[CONFIG, dynamic],
            format!("the file of op_debug_config has {names}, and {LARGE_KERNELS}: remove {names}"),
        );
    }
}

/// The option that makes shapes dynamic.
fn dynamic_shapes(facts: &Facts<'_>) -> Option<&'static str> {
    let switches = [keys::DYNAMIC_INPUT, keys::COMPILE_DYNAMIC_MODE];
    let on = switches.into_iter().find(|key| facts.bool(key));
    on.or_else(|| facts.is_set(keys::DYNAMIC_DIMS).then_some(keys::DYNAMIC_DIMS))
}

fn files_of_mc2(facts: &Facts<'_>, report: &mut Report<'_>) {
    let kept = ["oom", "dump_bin", "dump_cce", "dump_loc"];
    let switches: Vec<&str> = kept.into_iter().filter(|switch| has_switch(facts, switch)).collect();
    let level = facts.int(LEVEL);
    let (key, what) = if !switches.is_empty() {
        let names = switches.join(", ");
        (CONFIG, format!("the file of op_debug_config has {names}"))
    } else if matches!(level, 1 | 2) {
        (LEVEL, format!("op_debug_level is {level}"))
    } else {
        return;
    };
    report.info(
        &[key],
        format!(
            "{what}: kernel_meta gets no .o, .json and .cce files of the MC2 operators {}",
            MC2.join(", ")
        ),
    );
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
    if let Some(dynamic) = dynamic_shapes(facts).filter(|_| level == 2) {
        report
            .warning(
                &[LEVEL, dynamic],
                format!("op_debug_level=2 turns the compiler's debugging on, and {LARGE_KERNELS}: use another level"),
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
    files_of_run(facts, report);
}

/// Files whose place the variables set, whatever their own option says.
fn files_of_run(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.environment.is_unread(ASCEND_WORK_PATH) {
        return;
    }
    let work = facts.environment.get(ASCEND_WORK_PATH).filter(|path| !path.is_empty());
    let below = |folder: &str| match work {
        Some(path) => format!("\"{path}/{folder}\" (from {ASCEND_WORK_PATH})"),
        None => format!("\"./{folder}\", below the directory where the script runs"),
    };
    let is_collected = facts.is_set(NPU_COLLECT_PATH);
    let dump = facts.options.get(keys::ENABLE_EXCEPTION_DUMP).and_then(Value::as_int);
    let stat = facts.options.get(keys::EXPORT_COMPILE_STAT).and_then(Value::as_int);
    let level = facts.options.get(LEVEL).and_then(Value::as_int);
    let fusion = match work {
        Some(path) => {
            format!("\"{path}/FE/PIDfusion_result.json\", with the process id in front (from {ASCEND_WORK_PATH})")
        }
        None => "\"fusion_result.json\" where the script runs".to_owned(),
    };
    let when = if stat == Some(2) {
        "after each compilation"
    } else {
        "when the program ends normally"
    };
    let places = [
        (
            dump == Some(2) && !is_collected,
            keys::ENABLE_EXCEPTION_DUMP,
            format!(
                "dumps of failing operators go to {}",
                below("extra-info/data-dump/DEVICE")
            ),
        ),
        (
            dump == Some(1) && !is_collected,
            keys::ENABLE_EXCEPTION_DUMP,
            "dumps of failing operators go to the directory where the script runs".to_owned(),
        ),
        (
            matches!(stat, Some(1 | 2)),
            keys::EXPORT_COMPILE_STAT,
            format!("the results of fusion go to {fusion} {when}"),
        ),
        (
            level == Some(0) && is_collected,
            LEVEL,
            format!("NPU_COLLECT_PATH is set: kernels go to {}", below("kernel_meta")),
        ),
    ];
    for (_, key, message) in places.into_iter().filter(|(is_told, ..)| *is_told) {
        report.info(&facts.set_of(&[key, ASCEND_WORK_PATH]), message);
    }
}
