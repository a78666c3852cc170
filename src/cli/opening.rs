//! Arguments that several commands share: how files are read.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use highwater_session::{FileError, SourceSpec};

/// How files are read.
#[derive(Args, Debug, Clone, Default)]
pub struct Opening {
    /// Read files as this format (see `highwater formats`)
    #[arg(long, value_name = "FORMAT")]
    pub open_as: Option<String>,
    /// Let a document read files outside its folder
    #[arg(long)]
    pub allow_outside: bool,
}

impl Opening {
    pub(super) fn source(&self, argument: &Path) -> Result<SourceSpec, FileError> {
        SourceSpec::from_argument(argument)?.opened_as(self.open_as.as_deref())
    }

    pub(super) fn sources(&self, arguments: &[PathBuf]) -> anyhow::Result<Vec<SourceSpec>> {
        if arguments.iter().filter(|argument| argument.as_os_str() == "-").count() > 1 {
            anyhow::bail!("standard input (-) can be read only once; save it to a file to use it twice");
        }
        let mut sources = Vec::with_capacity(arguments.len());
        for argument in arguments {
            sources.push(self.source(argument)?);
        }
        Ok(sources)
    }
}

/// Yes or no.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}
