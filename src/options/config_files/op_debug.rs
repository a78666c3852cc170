//! The file of `op_debug_config`: the switches of operator debugging, and the operators.
//!
//! ```text
//! # comment
//! op_debug_config = ccec_g,oom
//! op_debug_list = GatherV2,OpType::ReduceSum
//! ```
//!
//! Source: NPURunConfig option reference.

use super::lines::{Line, lines, names, no_assignment};
use super::{FileError, decoded, unknown};

const SWITCHES: &[&str] = &[
    "oom",
    "dump_cce",
    "dump_loc",
    "dump_bin",
    "ccec_O0",
    "ccec_g",
    "check_flag",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpDebugConfig {
    /// Switches, known or not.
    pub switches: Vec<String>,
    /// Names of operators, and types behind `OpType::`; empty: all operators.
    pub operators: Vec<String>,
}

impl OpDebugConfig {
    pub fn has(&self, switch: &str) -> bool {
        self.switches.iter().any(|name| name == switch)
    }
}

pub fn op_debug_config(bytes: &[u8]) -> (OpDebugConfig, Vec<FileError>) {
    let mut config = OpDebugConfig::default();
    let mut problems = Vec::new();
    for (number, line) in lines(&decoded(bytes)) {
        match line {
            Line::Assignment("op_debug_config", value) => {
                for name in names(value) {
                    if !SWITCHES.contains(&name) {
                        problems.push(FileError::new(number, unknown("switch", name, SWITCHES)));
                    }
                    config.switches.push(name.to_owned());
                }
            }
            Line::Assignment("op_debug_list", value) => config.operators.extend(names(value).map(str::to_owned)),
            Line::Assignment(name, _) => problems.push(FileError::new(
                number,
                unknown("key", name, &["op_debug_config", "op_debug_list"]),
            )),
            Line::Section(text) | Line::Other(text) => problems.push(no_assignment(number, text)),
        }
    }
    if config.switches.is_empty() && problems.is_empty() {
        problems.push(FileError::new(1, "op_debug_config=... is missing: nothing is debugged"));
    }
    (config, problems)
}
