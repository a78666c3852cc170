//! The rule of experimental options: R55.

use super::super::rows::{Selection, count_of, keys, keys_of};
use super::{Check, Facts, Report, info};

/// `ExperimentalConfig` and its fields.
const EXPERIMENTAL: [&str; count_of(Selection::Group(keys::EXPERIMENTAL_CONFIG))] =
    keys_of(Selection::Group(keys::EXPERIMENTAL_CONFIG));

/// What the documentation says of experimental options.
pub(super) const EXTENDED: &str =
    "experimental, which may change in later versions and cannot be used in commercial products";

pub(super) const ROWS: &[Check] = &[Check {
    id: "R55",
    outcomes: &[info(
        "a field of experimental_config is set, which may change and is not for commercial products",
    )],
    options: &EXPERIMENTAL,
    source: "NPURunConfig option reference",
    run: experimental,
}];

/// One finding for all of them.
fn experimental(facts: &Facts<'_>, report: &mut Report<'_>) {
    let names = facts.set_of(&EXPERIMENTAL);
    let (subject, verb) = match names.as_slice() {
        [] => return,
        [only] => ((*only).to_owned(), "is"),
        [all @ .., last] => (format!("{} and {last}", all.join(", ")), "are"),
    };
    report.info(&names, format!("{subject} {verb} {EXTENDED}"));
}
