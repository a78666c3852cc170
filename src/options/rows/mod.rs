//! The table of options, one row each: memory first, then the sections in the order of the vendor's reference,
//! highwater's own last. To add an option: a row in the file of its section, and a constant in [`keys`] where code
//! refers to it.

mod accuracy;
mod adapter;
mod building;
mod companions;
mod costs;
mod debugging;
mod deprecated;
mod engine;
mod exceptions;
pub mod keys;
mod memory;
mod parameters;
mod passes;
mod performance;
mod run;
mod run_config;
mod simulation;
mod workspaces;

pub(super) use passes::ARENA;
pub(super) use simulation::{BEFORE_PAGES, ON, SHAPES_RELEASE, UNLOAD_AFTER_RUN};
pub(super) use workspaces::DEFAULT_WORKSPACES;

use super::acts::Acts;
use super::kind::{Choice, OptionKind, PathKind};
use super::row::OptionRow;
use super::section::Section;
use super::value::DefaultValue;

/// The defaults of a row.
const COMMON: OptionRow = OptionRow {
    key: "",
    section: Section::Basic,
    kind: OptionKind::Text,
    default: DefaultValue::Unset,
    unset_means: None,
    by_run_mode: None,
    unit: None,
    summary: "",
    details: "",
    since: None,
    deprecated: None,
    replaced_by: None,
    memory_effect: "nothing",
    lowers_to: None,
    acts: Acts::ON_GRAPHS,
    is_estimate: false,
    parameter: None,
    rule: "K1",
    also: None,
    is_clamped: false,
    source: "NPURunConfig option reference",
};

const PARTS: &[&[OptionRow]] = &[
    memory::ROWS,
    run::BASIC,
    run::DYNAMIC,
    run::MIXED,
    debugging::DEBUGGING,
    accuracy::ROWS,
    debugging::COMPARISON,
    performance::ROWS,
    debugging::PROFILING,
    building::AOE,
    building::COMPILATION,
    building::DATA,
    exceptions::EXCEPTION,
    exceptions::EXPERIMENT,
    deprecated::ROWS,
    run_config::ROWS,
    adapter::ROWS,
    parameters::ROWS,
    engine::ROWS,
    companions::DTR,
    companions::MEMORY_OPTIMIZE,
    simulation::ROWS,
    passes::ROWS,
    workspaces::ROWS,
    costs::ROWS,
];

const N_ROWS: usize = super::count(PARTS);
static ROWS: [OptionRow; N_ROWS] = super::joined::<OptionRow, N_ROWS>(PARTS);

/// A selection of rows.
#[derive(Clone, Copy)]
pub(super) enum Selection {
    /// Values are checked by this rule.
    Rule(&'static str),
    /// Values are files or directories.
    Paths,
    /// Deprecated.
    Deprecated,
    /// Of this group: its object and its fields.
    Group(&'static str),
}

impl Selection {
    const fn has(self, row: &OptionRow) -> bool {
        match self {
            Self::Rule(rule) => is_same(row.rule, rule),
            Self::Paths => matches!(row.kind, OptionKind::Path(_)),
            Self::Deprecated => row.deprecated.is_some(),
            Self::Group(group) => is_in(row.key, group),
        }
    }
}

/// The number of selected rows.
pub(super) const fn count_of(selection: Selection) -> usize {
    let mut n = 0;
    let mut idx = 0;
    while idx < N_ROWS {
        n += selection.has(&ROWS[idx]) as usize;
        idx += 1;
    }
    n
}

/// The keys of the selected rows; `N` is [`count_of`].
pub(super) const fn keys_of<const N: usize>(selection: Selection) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut n = 0;
    let mut idx = 0;
    while idx < N_ROWS {
        if selection.has(&ROWS[idx]) {
            keys[n] = ROWS[idx].key;
            n += 1;
        }
        idx += 1;
    }
    keys
}

/// Whether a key is that of a group or of one of its fields, in constants.
const fn is_in(key: &str, group: &str) -> bool {
    let (key, group) = (key.as_bytes(), group.as_bytes());
    if key.len() < group.len() || (key.len() > group.len() && key[group.len()] != b'.') {
        return false;
    }
    let mut idx = 0;
    while idx < group.len() {
        if key[idx] != group[idx] {
            return false;
        }
        idx += 1;
    }
    true
}

/// Equality of texts, in constants.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut idx = 0;
    while idx < a.len() {
        if a[idx] != b[idx] {
            return false;
        }
        idx += 1;
    }
    true
}

pub static TABLE: &[OptionRow] = &ROWS;

/// Names are compared exactly. O(rows).
pub fn find(key: &str) -> Option<&'static OptionRow> {
    TABLE.iter().find(|row| row.key == key)
}
