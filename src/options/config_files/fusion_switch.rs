//! The file of `fusion_switch_file`: the fusion passes that run.
//!
//! ```json
//! { "Switch": { "GraphFusion": { "ALL": "off", "SoftmaxFusionPass": "on" }, "UBFusion": { "ALL": "off" } } }
//! ```
//!
//! Source: NPURunConfig option reference.

use super::json::{Item, Node, members, read_strictly};
use super::{FileError, decoded, unknown};

/// Passes (`ALL` for every pass) and whether they run, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FusionSwitches {
    pub graph: Vec<(String, bool)>,
    pub buffer: Vec<(String, bool)>,
}

pub fn fusion_switches(bytes: &[u8]) -> (FusionSwitches, Vec<FileError>) {
    let mut switches = FusionSwitches::default();
    let mut problems = Vec::new();
    let Some(root) = read_strictly(&decoded(bytes), &mut problems) else {
        return (switches, problems);
    };
    for (line, name, item) in members(&root, "the file", &mut problems) {
        if name != "Switch" {
            problems.push(FileError::new(*line, unknown("key", name, &["Switch"])));
            continue;
        }
        for (line, name, item) in members(item, name, &mut problems) {
            match name.as_str() {
                "GraphFusion" => passes(item, name, &mut switches.graph, &mut problems),
                "UBFusion" => passes(item, name, &mut switches.buffer, &mut problems),
                _ => problems.push(FileError::new(
                    *line,
                    unknown("kind of fusion", name, &["GraphFusion", "UBFusion"]),
                )),
            }
        }
    }
    (switches, problems)
}

fn passes(item: &Item, kind: &str, passes: &mut Vec<(String, bool)>, problems: &mut Vec<FileError>) {
    for (line, name, item) in members(item, kind, problems) {
        match &item.node {
            Node::Text(text) if matches!(text.as_str(), "on" | "off") => passes.push((name.clone(), text == "on")),
            _ => problems.push(FileError::new(*line, format!("{name} must be \"on\" or \"off\""))),
        }
    }
}
