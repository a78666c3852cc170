//! Arguments that several commands share: how files are read.

use clap::{Args, ValueEnum};

use highwater_import::IMPORTERS;
use highwater_session::{FileError, SourceSpec};

/// How files are read.
#[derive(Args, Debug, Clone, Default)]
pub struct Opening {
    /// Read files as this format, whatever their content looks like; --help lists all of them.
    #[arg(long, value_name = "FORMAT", long_help = formats_help())]
    pub open_as: Option<String>,
}

/// Every format with its description.
fn formats_help() -> String {
    let mut text = "Read files as this format, whatever their content looks like:".to_owned();
    for row in IMPORTERS {
        text.push_str(&format!("\n  {}: {}", row.name, row.description));
    }
    text
}

impl Opening {
    pub(super) fn source(&self, argument: &str) -> Result<SourceSpec, FileError> {
        SourceSpec::from_argument(argument)?.opened_as(self.open_as.as_deref())
    }

    pub(super) fn sources(&self, arguments: &[String]) -> anyhow::Result<Vec<SourceSpec>> {
        if arguments.iter().filter(|argument| *argument == "-").count() > 1 {
            anyhow::bail!("standard input (-) can be read once; name it once, or write what it holds to files");
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
