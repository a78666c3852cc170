//! `highwater manual`: the manual pages of the program and its commands, made of what `--help` says.

use std::path::Path;

use anyhow::Context as _;

use super::Verdict;
use super::args::command;

/// Writes `highwater.1` and `highwater-COMMAND.1` into a folder.
pub(super) fn write(folder: &Path) -> anyhow::Result<Verdict> {
    clap_mangen::generate_to(command(), folder).with_context(|| folder.display().to_string())?;
    Ok(Verdict::Done)
}
