//! The arguments of `learn`.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Format};

/// Arguments of `learn`.
#[derive(Args, Debug)]
pub struct LearnArgs {
    /// Recording, and the graphs that it ran (optional)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write the learned settings, in addition to the given ones
    #[arg(long, value_name = "CONFIG")]
    pub to: Option<PathBuf>,
    /// Write despite error-level findings
    #[arg(long, requires = "to")]
    pub force: bool,
    /// Apply only these settings, by key (all)
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Use one graph or body alone
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
