//! Arguments that several commands share: how files are read.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use highwater_model::workload::EventRange;
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
    /// Read only events A to B of recordings, or --last-steps N
    #[arg(long, value_name = "A..B", value_parser = event_range, conflicts_with = "last_steps")]
    pub event_range: Option<EventRange>,
    /// Read only the events of the last N steps that annotations mark
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last_steps: Option<u32>,
}

fn event_range(text: &str) -> Result<EventRange, String> {
    let ends = text.split_once("..");
    let number = |text: &str| text.trim().replace(['_', ','], "").parse().ok();
    match ends.and_then(|(first, end)| Some((number(first)?, number(end)?))) {
        Some((first, end)) if first < end => Ok(EventRange::Numbers { first, end }),
        _ => Err("expected FIRST..END (exclusive), e.g. 10000..20000".to_owned()),
    }
}

impl Opening {
    pub(super) fn source(&self, argument: &Path) -> Result<SourceSpec, FileError> {
        let source = SourceSpec::from_argument(argument)?.opened_as(self.open_as.as_deref())?;
        let last = self.last_steps.map(EventRange::LastSteps);
        Ok(source.within(self.event_range.or(last)))
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
