//! The file of `op_precision_mode`: precision or performance, by op type and by node.
//!
//! ```text
//! [ByOpType]
//! GatherV2=high_precision
//! [ByNodeName]
//! loss/MatMul=high_performance
//! ```
//!
//! Nodes take precedence over types. Source: NPURunConfig option reference.

use super::lines::{Line, lines, no_assignment};
use super::{FileError, decoded, unknown};

const MODES: &[&str] = &[
    "high_precision",
    "high_performance",
    "support_out_of_bound_index",
    "keep_fp16",
    "super_performance",
];

/// Names with their modes, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpPrecisionModes {
    pub by_type: Vec<(String, String)>,
    pub by_node: Vec<(String, String)>,
}

pub fn op_precision_modes(bytes: &[u8]) -> (OpPrecisionModes, Vec<FileError>) {
    let mut modes = OpPrecisionModes::default();
    let mut problems = Vec::new();
    let mut section = "";
    let text = decoded(bytes);
    for (number, line) in lines(&text) {
        match line {
            Line::Section(name) => {
                section = name;
                if !matches!(name, "ByOpType" | "ByNodeName") {
                    let message = unknown("section", name, &["ByOpType", "ByNodeName"]);
                    problems.push(FileError::new(number, message));
                }
            }
            Line::Assignment(name, mode) => {
                if !MODES.contains(&mode) {
                    problems.push(FileError::new(number, unknown("mode", mode, MODES)));
                    continue;
                }
                let entry = (name.to_owned(), mode.to_owned());
                match section {
                    "ByOpType" => modes.by_type.push(entry),
                    "ByNodeName" => modes.by_node.push(entry),
                    "" => problems.push(FileError::new(
                        number,
                        "no section before this line: add [ByOpType] or [ByNodeName] above it",
                    )),
                    _ => {}
                }
            }
            Line::Other(text) => problems.push(no_assignment(number, text)),
        }
    }
    (modes, problems)
}
