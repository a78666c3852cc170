//! Rules of deprecated options: R31, R46.

use super::super::rows::{Selection, count_of, find, keys, keys_of};
use super::{Check, Facts, Report, Value, error, info, warning};

const IMPLEMENTATION: &str = keys::OP_SELECT_IMPLMODE;
const TYPES: &str = keys::OPTYPELIST_FOR_IMPLMODE;
const SIZES: [&str; 2] = [keys::GRAPH_MEMORY_MAX_SIZE, keys::VARIABLE_MEMORY_MAX_SIZE];

/// The deprecated options of the table.
const DEPRECATED: [&str; count_of(Selection::Deprecated)] = keys_of(Selection::Deprecated);

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R31",
        outcomes: &[
            error("op_select_implmode or optypelist_for_implmode is invalid, or the latter is set alone"),
            warning("op_precision_mode overrides op_select_implmode or optypelist_for_implmode"),
        ],
        options: &[IMPLEMENTATION, TYPES, keys::OP_PRECISION_MODE],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_attrs.cc",
        run: implementation,
    },
    Check {
        id: "R46",
        outcomes: &[
            warning("a deprecated option is set"),
            info("graph_memory_max_size or variable_memory_max_size is set, which has no effect"),
        ],
        options: &DEPRECATED,
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
                "optypelist_for_implmode needs op_select_implmode: set it, or use op_precision_mode for both",
            )
            .set(TYPES, Value::Unset);
    }
    let older = facts.set_of(&[IMPLEMENTATION, TYPES]);
    if facts.is_set(keys::OP_PRECISION_MODE) && !older.is_empty() {
        let names = [older.as_slice(), &[keys::OP_PRECISION_MODE]].concat();
        let message = format!("op_precision_mode overrides {}: remove them", older.join(" and "));
        report.warning(&names, message).remove(&older);
    }
}

fn deprecated(facts: &Facts<'_>, report: &mut Report<'_>) {
    for row in DEPRECATED.iter().filter_map(|key| find(key)) {
        let key = row.key;
        let Some(value) = facts.options.get(key) else {
            continue;
        };
        let is_idle = SIZES.contains(&key);
        let what = match row.replaced_by {
            Some(replacement) => format!("use {replacement} instead"),
            None => "no replacement; unset it".to_owned(),
        };
        let finding = report.warning(&[key], format!("{key} is deprecated: {what}"));
        // A replacement takes a value that only the user knows, unless the option has its default.
        if row.replaced_by.is_none() || *value == row.default_value() {
            finding.set(key, Value::Unset);
        }
        if is_idle {
            report
                .info(&[key], format!("{key} has no effect: memory is allocated on demand"))
                .set(key, Value::Unset);
        }
    }
}
