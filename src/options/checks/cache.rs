//! Rules of the cache of compiled operators: R29, R30.

use super::super::config_files::{OpCache, cache_size, op_cache, remain_ratio};
use super::super::effective::{has_debug_level, op_debug};
use super::super::environment::{ASCEND_MAX_OP_CACHE_SIZE, ASCEND_REMAIN_CACHE_SIZE_RATIO};
use super::super::files::FileState;
use super::super::paths::op_cache_path;
use super::{Check, Facts, Report, Value, info, keys, warning};

const MODE: &str = keys::OP_COMPILER_CACHE_MODE;
const SIZE: &str = ASCEND_MAX_OP_CACHE_SIZE;
const RATIO: &str = ASCEND_REMAIN_CACHE_SIZE_RATIO;
const DIRECTORY: &str = keys::OP_COMPILER_CACHE_DIR;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R29",
        outcomes: &[warning(
            "operator debugging disables the compile cache, or op_compiler_cache_mode=force clears it",
        )],
        options: &[MODE, keys::OP_DEBUG_LEVEL, keys::OP_DEBUG_CONFIG],
        source: "NPURunConfig option reference",
        run: cache_mode,
    },
    Check {
        id: "R30",
        outcomes: &[
            info("op_cache.ini or a variable limits the compile cache"),
            warning("a size or ratio of the compile cache is invalid, or op_cache.ini is ignored because of one"),
        ],
        options: &[SIZE, RATIO, DIRECTORY],
        source: "NPURunConfig option reference",
        run: cache_size_and_ratio,
    },
];

fn cache_mode(facts: &Facts<'_>, report: &mut Report<'_>) {
    let mode = facts.text(MODE);
    if mode == "disable" || facts.is_computed(MODE) {
        return;
    }
    let has_whole_debugging = op_debug(facts.options, facts.files).is_some_and(|config| config.operators.is_empty());
    let mut is_off = false;
    for (key, is_at_work, why) in [
        (
            keys::OP_DEBUG_LEVEL,
            has_debug_level(facts.options),
            "op_debug_level is not 0",
        ),
        (
            keys::OP_DEBUG_CONFIG,
            has_whole_debugging,
            "op_debug_config names a file without op_debug_list",
        ),
    ] {
        if is_at_work {
            is_off = true;
            let names = facts.set_of(&[MODE, key]);
            report.warning(
                &names,
                format!(
                    "{why}, so op_compiler_cache_mode ({mode}) is ignored and every operator is recompiled: disable \
                     debugging when done"
                ),
            );
        }
    }
    if mode == "force" && !is_off {
        report
            .warning(
                &[MODE],
                "op_compiler_cache_mode=force clears the cache before compiling: concurrent compilations may fail; \
                 use enable afterwards",
            )
            .set(MODE, "enable");
    }
}

/// One of the two parameters of the cache.
struct Figure {
    variable: &'static str,
    file: Option<i64>,
    read: fn(&str) -> Option<i64>,
    default: i64,
    right: &'static str,
}

fn cache_size_and_ratio(facts: &Facts<'_>, report: &mut Report<'_>) {
    let path = op_cache_path(facts.options);
    let mut file = None;
    if let Some(FileState::File(bytes)) = path.as_deref().map(|path| facts.files.look(path)) {
        let (cache, problems) = op_cache(&bytes);
        super::files::report_problems(report, &[DIRECTORY], "op_cache.ini", &problems);
        if !cache.is_effective() {
            let others = [
                ("max_op_cache_size", cache.max_size),
                ("remain_cache_size_ratio", cache.remain_ratio),
            ];
            let ignored = others
                .iter()
                .find_map(|(name, value)| Some(format!(": {name}={} is ignored, too", (*value)?)));
            let message = format!(
                "op_cache.ini takes effect only where max_op_cache_size and remain_cache_size_ratio are both valid{}",
                ignored.unwrap_or_default()
            );
            report.warning(&[DIRECTORY], message);
        }
        file = Some(cache).filter(OpCache::is_effective);
    }
    let cache: OpCache = file.clone().unwrap_or_default();
    let figures = [
        Figure {
            variable: SIZE,
            file: cache.max_size,
            read: cache_size,
            default: 500,
            right: "megabytes > 0, or -1 (unlimited)",
        },
        Figure {
            variable: RATIO,
            file: cache.remain_ratio,
            read: remain_ratio,
            default: 50,
            right: "1 to 100 percent",
        },
    ];
    let names = facts.set_of(&[SIZE, RATIO]);
    let is_unread = figures
        .iter()
        .any(|figure| figure.file.is_none() && facts.environment.is_unread(figure.variable));
    let [size, ratio] = figures.map(|figure| acting(facts, report, &figure));
    if is_unread {
        return;
    }
    let (names, from) = match (&file, names.as_slice()) {
        (None, []) => return,
        (None, _) => (names, "from the variables".to_owned()),
        (Some(_), []) => (vec![DIRECTORY], "from op_cache.ini".to_owned()),
        (Some(_), variables) => {
            let wins = format!("op_cache.ini wins over {}", variables.join(" and "));
            ([&[DIRECTORY], variables].concat(), wins)
        }
    };
    let message = match size {
        -1 => format!("the compile cache is never cleaned ({from})"),
        _ => format!("the compile cache holds up to {size} MB; when full, {ratio} % is kept ({from})"),
    };
    report.info(&names, message);
}

/// The effective value: that of the file, else of the variable, else the default. Reports an invalid variable.
fn acting(facts: &Facts<'_>, report: &mut Report<'_>, figure: &Figure) -> i64 {
    let name = figure.variable;
    let text = facts.environment.get(name).filter(|text| !text.is_empty());
    let variable = text.and_then(figure.read);
    if let (Some(text), None) = (text, variable) {
        report
            .warning(
                &[name],
                format!("{name} is {}: use {}", Value::from(text).quoted(), figure.right),
            )
            .unset_variable(name);
    }
    figure.file.or(variable).unwrap_or(figure.default)
}
