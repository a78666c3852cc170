//! Rules of the two companions: D1 and D2 of MegEngine's `DTRConfig`, M1 to M4 of Paddle's `memory_optimize`.

use super::{Check, Facts, Report, Value, error, keys, warning};

const THRESHOLD: &str = keys::DTR_EVICTION_THRESHOLD;
/// The heuristic of MegEngine's eager interpreter.
const EAGER: &str = "megengine_eager";
const SKIPPED: &str = keys::SKIP_OPT_SET;
const DTR: [&str; 4] = [
    THRESHOLD,
    keys::DTR_EVICTEE_MINIMUM_SIZE,
    keys::DTR_RECOMP_MEMORY_FACTOR,
    keys::DTR_RECOMP_TIME_FACTOR,
];
const MEMORY_OPTIMIZE: [&str; 4] = [SKIPPED, keys::PRINT_LOG, keys::MEMORY_OPTIMIZE_LEVEL, keys::SKIP_GRADS];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "D1",
        outcomes: &[error("eviction_threshold is not above 0, as it is by default")],
        options: &DTR,
        source: "MegEngine, dtr_config.py",
        run: threshold,
    },
    Check {
        id: "D2",
        outcomes: &[error(
            "evictee_minimum_size, recomp_memory_factor or recomp_time_factor is below 0 or no number",
        )],
        options: &DTR,
        source: "MegEngine, dtr_config.py",
        run: |facts, report| {
            for key in &DTR[1..] {
                report.own_kind(facts, key);
            }
        },
    },
    Check {
        id: "M1",
        outcomes: &[error("level is not 0 or 1")],
        options: &[keys::MEMORY_OPTIMIZE_LEVEL],
        source: "Paddle, memory_optimization_transpiler.py",
        run: |facts, report| report.own_kind(facts, keys::MEMORY_OPTIMIZE_LEVEL),
    },
    Check {
        id: "M2",
        outcomes: &[error("skip_opt_set is not a set or list; (\"fc\") is a text")],
        options: &[SKIPPED],
        source: "Paddle, memory_optimization_transpiler.py",
        run: skipped_type,
    },
    Check {
        id: "M3",
        outcomes: &[error("an element of skip_opt_set is not a name")],
        options: &[SKIPPED],
        source: "Paddle, memory_optimization_transpiler.py",
        run: skipped_names,
    },
    Check {
        id: "M4",
        outcomes: &[warning(
            "memory_optimize is deprecated in Paddle, whose memory is reused by default",
        )],
        options: &MEMORY_OPTIMIZE,
        source: "Paddle 1.6 release notes",
        run: deprecated,
    },
];

fn threshold(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.is_computed(THRESHOLD) {
        return;
    }
    let is_right = facts
        .options
        .get(THRESHOLD)
        .is_some_and(|value| value.as_float().is_some_and(|bytes| bytes > 0.0));
    if is_right {
        // Values that are no integers still have the wrong type.
        report.own_kind(facts, THRESHOLD);
        return;
    }
    let is_eager = facts.text(keys::REMAT_HEURISTIC) == EAGER;
    let is = match facts.options.get(THRESHOLD) {
        // The eager interpreter's threshold of 0 is legal: it evicts where an allocation fails.
        None if is_eager => return,
        None => "is not set, and its default 0 is invalid".to_owned(),
        Some(value) => format!("is {}", value.quoted()),
    };
    report.error(
        &facts.set_of(&DTR),
        format!(
            "eviction_threshold {is}, which fails the assertion of DTRConfig (eviction_threshold > 0): expected a \
             size > 0, e.g. 300MiB"
        ),
    );
}

fn skipped_type(facts: &Facts<'_>, report: &mut Report<'_>) {
    let Some(value) = facts.options.get(SKIPPED) else {
        return;
    };
    let list = match value {
        Value::List(_) | Value::Set(_) | Value::Python(_) => return,
        Value::Text(text) => plain_names(text),
        Value::Tuple(items) => Some(items.clone()),
        _ => None,
    };
    let finding = report.error(
        &[SKIPPED],
        format!(
            "skip_opt_set is {}: expected a list or set of names, e.g. [\"fc\"]",
            value.quoted()
        ),
    );
    if let Some(list) = list {
        finding.set(SKIPPED, Value::List(list));
    }
}

/// The names of a text that is a list of names separated by commas.
fn plain_names(text: &str) -> Option<Vec<Value>> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._/@:-".contains(letter);
    text.split(',')
        .map(str::trim)
        .map(|name| (!name.is_empty() && name.chars().all(is_letter)).then(|| Value::from(name)))
        .collect()
}

fn skipped_names(facts: &Facts<'_>, report: &mut Report<'_>) {
    let value = facts.options.get(SKIPPED);
    let items = value.and_then(Value::items).unwrap_or(&[]);
    if let Some(item) = items
        .iter()
        .find(|item| !matches!(item, Value::Text(_) | Value::Python(_)))
    {
        let names: Vec<Value> = items.iter().filter(|item| item.as_text().is_some()).cloned().collect();
        report
            .error(
                &[SKIPPED],
                format!("skip_opt_set has {item}, which is not a variable name: use texts"),
            )
            .set(
                SKIPPED,
                match value {
                    Some(Value::Set(_)) if !names.is_empty() => Value::Set(names),
                    _ => Value::List(names),
                },
            );
    }
}

fn deprecated(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.warning(
        &facts.set_of(&MEMORY_OPTIMIZE),
        "memory_optimize only warns since Paddle 1.6, which reuses memory by default, and Paddle 3 has no paddle.fluid: \
         remove the call".to_owned(),
    );
}
