//! The configuration file that was read last: its settings, with which exports are compared, and its alternatives.

use super::loaded::ReadScript;
use super::overwrite::SettingsFiles;
use highwater_analysis::Configuration;
use highwater_model::diagnostics::Diagnostics;
use highwater_script::ScriptFacts;

#[derive(Clone, Debug, PartialEq)]
pub struct OpenedConfig {
    /// The path as the user wrote it.
    pub name: String,
    /// The settings right after it was read.
    pub configuration: Configuration,
    /// Where the script has several configurations.
    pub(super) script: Option<ReadScript>,
}

/// The configuration files that a session starts with.
#[derive(Clone, Debug, Default)]
pub struct StartConfigs {
    /// By the name of the file.
    pub remarks: Vec<(String, Diagnostics)>,
    /// The last of them.
    pub opened: Option<OpenedConfig>,
    /// The files that the settings of the start were read from.
    pub files: SettingsFiles,
    /// Whether documents may read files outside their folders.
    pub allows_outside: bool,
}

impl OpenedConfig {
    pub fn new(name: String, facts: &ScriptFacts, configuration: Configuration) -> Self {
        Self {
            script: ReadScript::of(&name, facts),
            name,
            configuration,
        }
    }

    /// The name of the file without its folder.
    pub fn title(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }
}
