//! What came out of a script.

use highwater_model::diagnostics::Diagnostics;

use super::super::config::{ConfigDocument, ConfigError};

/// A configuration as far as it could be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// What the script says.
    pub(super) document: ConfigDocument,
    /// What to know about it.
    pub(super) warnings: Diagnostics,
    /// Whether anything was found that sets an option or a variable, readable or not.
    pub(super) is_found: bool,
    /// Where the text stops being of its form.
    pub(super) error: Option<ConfigError>,
}
