//! The content of a configuration file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use highwater_model::workload::SchedulePlan;
use highwater_options::{Environment, Options};

/// The version of the format that is written, and the newest that is read.
pub const CONFIG_VERSION: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigDevice {
    pub name: String,
    /// After settings that replace the profile's memory.
    pub memory_bytes: u64,
}

/// The prediction for one policy when the file was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicted {
    pub peak_reserved_bytes: u64,
    /// Of feature memory.
    pub peak_live_bytes: u64,
    /// Whether the run ends out of memory.
    #[serde(default)]
    pub out_of_memory: bool,
}

/// What a script has besides settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptFacts {
    /// The folder of the file: relative paths may start there.
    pub folder: Option<String>,
    /// The names of its configurations, in the order of the script: calls of `NPURunConfig` and parameter maps.
    pub configurations: Vec<String>,
    /// Further names that choose one of them: those of optimizers with a parameter map.
    pub aliases: Vec<String>,
    /// Those that are left out, because another one is taken.
    pub left_out: Vec<String>,
    /// Statements with settings that were not followed.
    pub not_followed: Vec<NotFollowed>,
    /// Options of parameter maps that are set in a field which the adapter does not read.
    pub unread: Vec<String>,
    /// Whether the script runs its graphs by a runtime without policies, or by one that is not known.
    pub runs_elsewhere: bool,
}

/// Statements of a script that no known path reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFollowed {
    /// First and last line, from 1.
    pub lines: [usize; 2],
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigDocument {
    /// The highwater that wrote it; empty where the file does not say.
    pub tool_version: String,
    pub options: Options,
    /// Options that are not in the table, as in the file (nested names dotted).
    pub unknown_options: Map<String, Json>,
    pub environment: Environment,
    pub device: Option<ConfigDevice>,
    /// Iterations and values of symbolic dimensions, where the file states them.
    pub schedule: Option<SchedulePlan>,
    /// Whether the forward phase of each training graph runs too.
    pub evaluation: bool,
    /// Names of the files that were simulated.
    pub sources: Vec<String>,
    /// Figures by policy number.
    pub predicted: BTreeMap<String, Predicted>,
    /// Facts about the script that it was read from.
    pub script: ScriptFacts,
    /// Fields of the file that this version does not know.
    pub unknown_fields: Map<String, Json>,
}

impl ConfigDocument {
    pub fn new() -> Self {
        Self {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }
}
