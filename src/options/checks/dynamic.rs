//! Rules of dynamic shapes: R32, R38.

use super::super::shape_range::{InputSource, ShapeRanges};
use super::{Check, Facts, Report, Value, error, info, keys, warning};

const RANGE: &str = keys::DYNAMIC_INPUTS_SHAPE_RANGE;
const MODE: &str = keys::DYNAMIC_GRAPH_EXECUTE_MODE;
const SHAPE: &str = keys::INPUT_SHAPE;
const DIMS: &str = keys::DYNAMIC_DIMS;
const NODE_TYPE: &str = keys::DYNAMIC_NODE_TYPE;
const HYBRID: &str = keys::COMPILE_HYBRID_MODE;

/// Most placeholders whose order is kept when their numbers are sorted as texts.
const SORTED_INPUTS: usize = 10;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R32",
        outcomes: &[
            error(
                "dynamic_inputs_shape_range is malformed, or dynamic_graph_execute_mode is invalid under dynamic_input",
            ),
            warning(
                "dynamic_inputs_shape_range has no effect: dynamic_dims overrides it, or dynamic_input is not True",
            ),
            info("dynamic_inputs_shape_range has more than 10 data entries, which are sorted by name"),
        ],
        options: &[RANGE, MODE, keys::DYNAMIC_INPUT, DIMS],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_attrs.cc",
        run: shape_range,
    },
    Check {
        id: "R38",
        outcomes: &[error(
            "the fields of dynamic_input_config are incomplete, malformed, or do not fit together",
        )],
        options: &[SHAPE, DIMS, NODE_TYPE, HYBRID],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: steps,
    },
];

fn shape_range(facts: &Facts<'_>, report: &mut Report<'_>) {
    let is_dynamic = facts.bool(keys::DYNAMIC_INPUT);
    if is_dynamic {
        report.own_kind(facts, MODE);
    }
    report.own_kind_unless_idle(facts, RANGE, Some(keys::DYNAMIC_INPUT));
    if !facts.is_set(RANGE) {
        return;
    }
    if facts.is_set(DIMS) {
        report
            .warning(
                &[RANGE, DIMS],
                "dynamic_inputs_shape_range has no effect, dynamic_dims overrides it: remove the range",
            )
            .set(RANGE, Value::Unset);
    }
    if !is_dynamic && !facts.is_computed(keys::DYNAMIC_INPUT) {
        report
            .warning(
                &[RANGE],
                "dynamic_inputs_shape_range has no effect unless dynamic_input is True: set it",
            )
            .set(keys::DYNAMIC_INPUT, true);
    }
    let entries = ShapeRanges::parse(&facts.text(RANGE)).map_or(0, |ranges| ranges.of(InputSource::Data).len());
    if entries > SORTED_INPUTS {
        report.info(
            &[RANGE],
            format!(
                "dynamic_inputs_shape_range has {entries} data entries: with more than {SORTED_INPUTS}, unnamed \
                 placeholders are sorted as text (_10 before _2); name them"
            ),
        );
    }
}

fn steps(facts: &Facts<'_>, report: &mut Report<'_>) {
    for key in [SHAPE, DIMS, NODE_TYPE, HYBRID] {
        report.own_kind(facts, key);
    }
    let fields = [SHAPE, DIMS, NODE_TYPE];
    let given = facts.set_of(&fields);
    let is_hybrid = facts.int(HYBRID) == 1;
    if !given.is_empty() && given.len() < fields.len() {
        let missing: Vec<&str> = fields
            .iter()
            .filter(|key| !given.contains(key))
            .map(|key| key.rsplit('.').next().unwrap_or(key))
            .collect();
        report
            .error(
                &given,
                format!(
                    "input_shape, dynamic_dims and dynamic_node_type must be set together: add {} or remove all",
                    missing.join(" and ")
                ),
            )
            .remove(&given);
    }
    if given.is_empty() && is_hybrid {
        report
            .error(
                &[HYBRID],
                "compile_hybrid_mode=1 needs input_shape, dynamic_dims and dynamic_node_type=1: set them, or set it to 0",
            )
            .set(HYBRID, 0);
    }
    if given.contains(&NODE_TYPE) && is_hybrid && facts.int(NODE_TYPE) != 1 && !facts.is_computed(NODE_TYPE) {
        report
            .error(
                &[HYBRID, NODE_TYPE],
                "compile_hybrid_mode=1 supports only placeholders: set dynamic_node_type to 1",
            )
            .set(NODE_TYPE, 1);
    }
    malformed(
        facts,
        report,
        SHAPE,
        is_input_shape,
        "NAME:DIM,DIM;NAME:DIM, e.g. data:-1,3,224,224",
    );
    malformed(
        facts,
        report,
        DIMS,
        is_dims,
        "comma-separated numbers, steps separated by semicolons, e.g. 1,224;8,448",
    );
}

fn malformed(facts: &Facts<'_>, report: &mut Report<'_>, key: &'static str, is_right: fn(&str) -> bool, right: &str) {
    if let Some(value) = facts.options.get(key)
        && let Some(text) = value.as_text()
        && !parts(text).is_some_and(|mut parts| parts.all(is_right))
    {
        let name = key.rsplit('.').next().unwrap_or(key);
        report.error(&[key], format!("{name} is {}: expected {right}", value.quoted()));
    }
}

/// The parts between semicolons; a trailing one is allowed. `None` for an empty text.
fn parts(text: &str) -> Option<impl Iterator<Item = &str>> {
    (!text.is_empty()).then(|| text.strip_suffix(';').unwrap_or(text).split(';'))
}

/// `name:1,-1,3`.
fn is_input_shape(part: &str) -> bool {
    part.rsplit_once(':').is_some_and(|(name, dims)| {
        !name.is_empty()
            && dims
                .split(',')
                .all(|dim| is_number(dim.strip_prefix('-').unwrap_or(dim)))
    })
}

/// `1,2,3`.
pub(super) fn is_dims(part: &str) -> bool {
    part.split(',').all(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
