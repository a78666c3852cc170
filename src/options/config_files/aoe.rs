//! The file of `aoe_config_file`: the operators that AOE tunes.
//!
//! ```json
//! {
//!   "tune_ops_name": ["loss/MatMul"], "tune_ops_type": ["Add", "Mul"],
//!   "tune_optimization_level": "O1", "feature": ["deeper_opat"]
//! }
//! ```
//!
//! Source: NPURunConfig option reference, whose own example lacks a comma.

use super::json::{Item, Node, members, read, texts};
use super::{FileError, decoded, unknown};

const KEYS: &[&str] = &["tune_ops_name", "tune_ops_type", "tune_optimization_level", "feature"];
const FEATURES: &[&str] = &["deeper_opat", "nonhomo_split"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AoeConfig {
    pub names: Vec<String>,
    pub types: Vec<String>,
    /// `O1` (more time) or `O2` (the default).
    pub level: Option<String>,
    /// Enabled features: `deeper_opat`, `nonhomo_split`.
    pub features: Vec<String>,
}

pub fn aoe_config(bytes: &[u8]) -> (AoeConfig, Vec<FileError>) {
    let mut config = AoeConfig::default();
    let mut problems = Vec::new();
    let Some(root) = read(&decoded(bytes), &mut problems) else {
        return (config, problems);
    };
    for (line, name, item) in members(&root, "the file", &mut problems) {
        match name.as_str() {
            "tune_ops_name" => config.names = plain(item, name, &mut problems),
            "tune_ops_type" => config.types = plain(item, name, &mut problems),
            "tune_optimization_level" => match &item.node {
                Node::Text(level) if matches!(level.as_str(), "O1" | "O2") => config.level = Some(level.clone()),
                _ => problems.push(FileError::new(
                    item.line,
                    "tune_optimization_level must be \"O1\" or \"O2\"",
                )),
            },
            "feature" => {
                let features = match &item.node {
                    // A single feature may be a text.
                    Node::Text(feature) => vec![(item.line, feature.clone())],
                    _ => texts(item, name, &mut problems),
                };
                for (line, feature) in features {
                    if FEATURES.contains(&feature.as_str()) {
                        config.features.push(feature);
                    } else {
                        problems.push(FileError::new(line, unknown("feature", &feature, FEATURES)));
                    }
                }
            }
            _ => problems.push(FileError::new(*line, unknown("key", name, KEYS))),
        }
    }
    (config, problems)
}

fn plain(item: &Item, name: &str, problems: &mut Vec<FileError>) -> Vec<String> {
    texts(item, name, problems).into_iter().map(|(_, text)| text).collect()
}
