//! The result of reading a script.

use highwater_model::diagnostics::Diagnostics;

use super::config::ConfigError;
use super::config_document::ConfigDocument;

/// A configuration, as far as it is readable.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) document: ConfigDocument,
    pub(super) warnings: Diagnostics,
    /// Whether the script sets an option or a variable, even to an unknown value.
    pub(super) is_found: bool,
    /// Whether an assumption, such as the default of a flag, left out statements with settings.
    pub(super) drops_by_assumption: bool,
    /// Where the script makes its configurations, in the order of their names: the same in every reading of it.
    pub(super) places: Vec<usize>,
    /// The first syntax error.
    pub(super) error: Option<ConfigError>,
}
