//! Options whose values a dump carries.
//!
//! The adapter of TensorFlow stamps every option that it was given on one op, as text under its own name with '_' in front,
//! and marks that op with `_NpuOptimizer`; GE stamps `_ge.` options on ops too, and keeps whole sets of options as
//! attributes of the graph (`GlobalOptions`, `SessionOptions`, `GraphOptions`). What the compiler itself notes under '_'
//! (its kernels, its engines) is no option.

use std::collections::BTreeMap;

use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::DumpedOption;

const SETS: &[&str] = &["GlobalOptions", "SessionOptions", "GraphOptions"];

const MARK: &str = "_NpuOptimizer";

const NOTES: &[&str] = &[
    "_ge_attr_",
    "_lxfusion_",
    "_kernel",
    "_pattern",
    "_engine_type",
    "_op_slice_info",
    "_tbe",
    "_sgt_",
    "_cube_vector_core_type",
    "_core",
    "_datadump_",
    "_graph_name",
    "_session_graph_id",
    "_fe_",
];

const LIMIT: usize = 10_000;

/// Options with the first op that carries each and their number.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    left_out: u64,
    found: BTreeMap<(String, String), (String, u64)>,
}

impl Stamps {
    /// Whether a text attribute of an op may be an option.
    pub(super) fn may_be_option(key: &str) -> bool {
        key.starts_with('_') && !NOTES.iter().any(|note| key.starts_with(note))
    }

    /// Whether an attribute of a graph is a set of options.
    pub(super) fn is_set(key: &str) -> bool {
        SETS.contains(&key)
    }

    pub(super) fn op(&mut self, op: &str, texts: &[(String, String)]) {
        let is_marked = texts.iter().any(|(key, _)| key == MARK);
        for (key, value) in texts {
            if is_marked || key.starts_with("_ge.") {
                self.add(key, value, op);
            }
        }
    }

    /// Takes in an option of a graph (`op` is empty) or of an op.
    pub(super) fn add(&mut self, key: &str, value: &str, op: &str) {
        let is_full = self.found.len() >= LIMIT;
        let at = (key.to_owned(), value.to_owned());
        if let Some((_, count)) = self.found.get_mut(&at) {
            *count += 1;
        } else if is_full {
            self.left_out += 1;
        } else {
            self.found.insert(at, (op.to_owned(), 1));
        }
    }

    pub(super) fn report(&self, diagnostics: &mut Diagnostics) {
        let what = format!("options beyond the first {LIMIT} different ones are left out");
        diagnostics.counted(Severity::Warning, what, "", self.left_out);
    }

    /// Sorted by key and value.
    pub(super) fn into_options(self) -> Vec<DumpedOption> {
        let options = self.found.into_iter();
        options
            .map(|((key, value), (op, count))| DumpedOption { key, value, op, count })
            .collect()
    }
}
