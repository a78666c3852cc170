//! Rules of options that the vendor is going to remove: R31, R46.

use crate::diagnostics::Severity;

use super::super::rows::{find, keys};
use super::super::value::Value;
use super::{Check, Facts, Report, outcome};

const IMPLEMENTATION: &str = keys::OP_SELECT_IMPLMODE;
const TYPES: &str = keys::OPTYPELIST_FOR_IMPLMODE;
const SIZES: [&str; 2] = [keys::GRAPH_MEMORY_MAX_SIZE, keys::VARIABLE_MEMORY_MAX_SIZE];

/// Deprecated options, each with what to use instead.
const DEPRECATED: [(&str, Option<&str>); 10] = [
    (keys::ENABLE_DATA_PRE_PROC, None),
    (keys::VARIABLE_FORMAT_OPTIMIZE, None),
    (keys::OP_DEBUG_LEVEL, Some(keys::OP_DEBUG_CONFIG)),
    (IMPLEMENTATION, Some(keys::OP_PRECISION_MODE)),
    (TYPES, Some(keys::OP_PRECISION_MODE)),
    (keys::DYNAMIC_INPUT, None),
    (keys::DYNAMIC_GRAPH_EXECUTE_MODE, None),
    (keys::DYNAMIC_INPUTS_SHAPE_RANGE, None),
    (SIZES[0], None),
    (SIZES[1], None),
];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R31",
        outcomes: &[
            outcome(
                Severity::Error,
                "op_select_implmode or optypelist_for_implmode is not in its list, or the latter stands alone",
            ),
            outcome(
                Severity::Warning,
                "op_precision_mode is set beside op_select_implmode or optypelist_for_implmode, and wins",
            ),
        ],
        options: &[IMPLEMENTATION, TYPES, keys::OP_PRECISION_MODE],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_attrs.cc",
        run: implementation,
    },
    Check {
        id: "R46",
        outcomes: &[
            outcome(Severity::Warning, "an option is set that is going to be removed"),
            outcome(
                Severity::Info,
                "graph_memory_max_size or variable_memory_max_size is set, which has no effect",
            ),
        ],
        options: &[
            DEPRECATED[0].0,
            DEPRECATED[1].0,
            DEPRECATED[2].0,
            DEPRECATED[3].0,
            DEPRECATED[4].0,
            DEPRECATED[5].0,
            DEPRECATED[6].0,
            DEPRECATED[7].0,
            DEPRECATED[8].0,
            DEPRECATED[9].0,
        ],
        source: "NPURunConfig option reference",
        run: deprecated,
    },
];

fn implementation(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, IMPLEMENTATION);
    report.own_kind(facts, TYPES);
    if facts.is_set(TYPES) && !facts.is_set(IMPLEMENTATION) {
        report
            .error(
                &[TYPES],
                "optypelist_for_implmode needs op_select_implmode: set it, or use op_precision_mode for both"
                    .to_owned(),
            )
            .set(TYPES, Value::Unset);
    }
    let older = facts.set_of(&[IMPLEMENTATION, TYPES]);
    if facts.is_set(keys::OP_PRECISION_MODE) && !older.is_empty() {
        let names = [older.as_slice(), &[keys::OP_PRECISION_MODE]].concat();
        let message = format!(
            "op_precision_mode wins over {}: remove what it replaces",
            older.join(" and ")
        );
        report.warning(&names, message).remove(&older);
    }
}

fn deprecated(facts: &Facts<'_>, report: &mut Report<'_>) {
    for (key, replacement) in DEPRECATED {
        let Some(value) = facts.options.get(key) else {
            continue;
        };
        let is_idle = SIZES.contains(&key);
        let what = match replacement {
            Some(replacement) => format!("use {replacement} instead"),
            None if is_idle => "remove it".to_owned(),
            None => "it has no successor, so try to do without it".to_owned(),
        };
        let finding = report.warning(&[key], format!("{key} is going to be removed: {what}"));
        // Without effect, or what holds anyway: nothing changes without it.
        if is_idle || find(key).is_some_and(|row| *value == row.default_value()) {
            finding.set(key, Value::Unset);
        }
        if is_idle {
            report
                .info(
                    &[key],
                    format!("{key} has no effect: memory is allocated as it is needed"),
                )
                .set(key, Value::Unset);
        }
    }
}
