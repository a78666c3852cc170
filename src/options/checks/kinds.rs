//! highwater's own rule K1: types and ranges of options that no numbered rule covers.

use highwater_model::workload::DeviceProfiles;

use super::super::rows::{Selection, TABLE, count_of, keys, keys_of};
use super::{Check, Facts, Report, error};

const ID: &str = "K1";
const KEYS: [&str; count_of(Selection::Rule(ID))] = keys_of(Selection::Rule(ID));

pub(super) const ROWS: &[Check] = &[Check {
    id: ID,
    outcomes: &[error("the value has the wrong type or is out of range")],
    options: &KEYS,
    source: "highwater's own",
    run: types_and_ranges,
}];

fn types_and_ranges(facts: &Facts<'_>, report: &mut Report<'_>) {
    for row in TABLE.iter().filter(|row| row.rule == ID) {
        report.own_kind(facts, row.key);
    }
    if let Some(name) = facts.options.get(keys::DEVICE).and_then(|value| value.as_text())
        && let Err(error) = DeviceProfiles::bundled().and_then(|profiles| profiles.find(name))
    {
        report.error(&[keys::DEVICE], error.to_string());
    }
}
