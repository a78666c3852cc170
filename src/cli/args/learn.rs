//! The arguments of `learn`.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Format};

/// Arguments of `learn`.
#[derive(Args, Debug)]
pub struct LearnArgs {
    /// The recording of a real run, and beside it the graphs that ran: without them only what needs no graph is learned;
    /// `-` is standard input, `sample:NAME` a bundled one.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Write a configuration with what was learned set, beside the settings that are given.
    #[arg(long, value_name = "CONFIG.json")]
    pub to: Option<PathBuf>,
    /// Write it although it has error-level findings.
    #[arg(long, requires = "to")]
    pub force: bool,
    /// Take these alone, by their keys; all unless given.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Look at one graph alone: of several, or one that ops call, branch to or repeat.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// How to write the answer: text, or json.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
