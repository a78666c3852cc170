//! How files are read, and other small words that several commands share.

use clap::{Args, ValueEnum};

use crate::import::IMPORTERS;
use crate::session::{FileError, SourceSpec};

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
    /// The source of an argument.
    ///
    /// # Errors
    /// A sample or a format that does not exist.
    pub(super) fn source(&self, argument: &str) -> Result<SourceSpec, FileError> {
        SourceSpec::from_argument(argument)?.opened_as(self.open_as.as_deref())
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
