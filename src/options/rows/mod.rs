//! The table of options: one row each. What the program is about comes first (memory), then the sections in the
//! order of the vendor's reference, highwater's own last.
//!
//! Add an option: a constant in [`keys`], a row in the file of its section.

mod accuracy;
mod memory;
mod performance;
mod run;
mod simulation;

use super::kind::OptionKind;
use super::row::OptionRow;
use super::section::Section;
use super::value::DefaultValue;

/// The names of options that code needs, each once.
pub mod keys {
    /// What a graph is run for.
    pub const GRAPH_RUN_MODE: &str = "graph_run_mode";
    /// Who clears outputs that must start as zeros.
    pub const ATOMIC_CLEAN_POLICY: &str = "memory_config.atomic_clean_policy";
    /// How graphs get device memory.
    pub const STATIC_MEMORY_POLICY: &str = "memory_config.static_memory_policy";
    /// Whether weights stand in files of their own.
    pub const EXTERNAL_WEIGHT: &str = "external_weight";
    /// Up to which size inputs are copied together.
    pub const INPUT_FUSION_SIZE: &str = "input_fusion_size";
    /// Whether ops may stay on the host.
    pub const MIX_COMPILE_MODE: &str = "mix_compile_mode";
    /// The older choice of numeric precision.
    pub const PRECISION_MODE: &str = "precision_mode";
    /// The newer choice of numeric precision.
    pub const PRECISION_MODE_V2: &str = "precision_mode_v2";
    /// Iterations per call.
    pub const ITERATIONS_PER_LOOP: &str = "iterations_per_loop";
    /// Where variables live.
    pub const VARIABLE_PLACEMENT: &str = "variable_placement";
    /// Concurrent instances of a graph.
    pub const GRAPH_MAX_PARALLEL_MODEL_NUM: &str = "graph_max_parallel_model_num";
    /// The device profile.
    pub const DEVICE: &str = "simulation.device";
    /// The device's memory.
    pub const DEVICE_MEMORY: &str = "simulation.device_memory";
}

/// What most rows have in common.
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
    is_estimate: false,
    parameter: None,
    rule: "K1",
    is_clamped: false,
    source: "NPURunConfig option reference",
};

const PARTS: &[&[OptionRow]] = &[
    memory::ROWS,
    run::BASIC,
    run::MIXED,
    accuracy::ROWS,
    performance::ROWS,
    simulation::ROWS,
];

const N_ROWS: usize = super::count(PARTS);
const JOINED: [OptionRow; N_ROWS] = super::joined::<OptionRow, N_ROWS>(PARTS);
static ROWS: [OptionRow; N_ROWS] = JOINED;

/// How many rows have a rule.
pub(super) const fn count_of_rule(rule: &str) -> usize {
    let mut n = 0;
    let mut idx = 0;
    while idx < N_ROWS {
        n += is_same(JOINED[idx].rule, rule) as usize;
        idx += 1;
    }
    n
}

/// The keys of the rows that have a rule; `N` is [`count_of_rule`].
pub(super) const fn keys_of_rule<const N: usize>(rule: &str) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut n = 0;
    let mut idx = 0;
    while idx < N_ROWS {
        if is_same(JOINED[idx].rule, rule) {
            keys[n] = JOINED[idx].key;
            n += 1;
        }
        idx += 1;
    }
    keys
}

/// Whether two texts are equal, in constants.
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

/// Every option.
pub static TABLE: &[OptionRow] = &ROWS;

/// The row of a key; names are compared exactly. O(rows).
pub fn find(key: &str) -> Option<&'static OptionRow> {
    TABLE.iter().find(|row| row.key == key)
}
