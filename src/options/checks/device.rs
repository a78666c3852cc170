//! Rules of the device of a session: R37, R45.

use super::super::effective::device;
use super::super::environment::{ASCEND_DEVICE_ID, DEVICE_ID};
use super::{Check, Facts, Report, Value, error, info, keys, near_value};

const KEY: &str = keys::SESSION_DEVICE_ID;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R37",
        outcomes: &[error("session_device_id is not an integer >= 0")],
        options: &[KEY],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: session_device,
    },
    Check {
        id: "R45",
        outcomes: &[
            info("an option or a variable chooses the device"),
            error("ASCEND_DEVICE_ID or DEVICE_ID chooses the device and is not an integer >= 0"),
        ],
        options: &[KEY, ASCEND_DEVICE_ID, DEVICE_ID],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: device_in_force,
    },
];

fn session_device(facts: &Facts<'_>, report: &mut Report<'_>) {
    let Some(message) = facts.problem(KEY) else {
        return;
    };
    let near = near_value(facts, KEY).unwrap_or(Value::Unset);
    report.error(&[KEY], message).set(KEY, near);
}

fn device_in_force(facts: &Facts<'_>, report: &mut Report<'_>) {
    let names = facts.set_of(&[KEY, ASCEND_DEVICE_ID, DEVICE_ID]);
    match device(facts.options, facts.environment) {
        _ if facts.is_computed(KEY) => {}
        (Some(from), Ok(id)) => {
            let physical = match from {
                DEVICE_ID => ", a physical id",
                _ => "",
            };
            report.info(
                &names,
                format!("the session runs on device {id} (from {from}{physical})"),
            );
        }
        (Some(variable), Err(problem)) if variable != KEY => {
            report
                .error(&[variable], format!("{problem}: use 0 or more"))
                .unset_variable(variable);
        }
        _ => {}
    }
}
