//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;

use super::{AlignArgs, Common, LaneArgs, Verifying};
use highwater_export::export_form_help;

/// Arguments of `export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Graphs in running order; without any, the settings alone are written
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output file; its name decides the form, see below
    #[arg(long, value_name = "OUT")]
    pub to: PathBuf,
    #[arg(long = "as", value_name = "FORM", help = export_form_help())]
    pub form: Option<String>,
    #[command(flatten)]
    pub writing: Writing,
    /// Lanes by position from 1 (all; of tables, the active one)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub lane: Vec<String>,
    /// Policies to simulate (all)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Export one graph or body alone
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Axis of drawings: program order, estimated time or wall time
    #[arg(long, value_name = "AXIS")]
    pub axis: Option<String>,
    /// Colours of drawings, e.g. role, phase or size
    #[arg(long, value_name = "ATTRIBUTE")]
    pub color_by: Option<String>,
    #[command(flatten)]
    pub alignment: AlignArgs,
    #[command(flatten)]
    pub verifying: Verifying,
    #[command(flatten)]
    pub lanes: LaneArgs,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
}

/// Whether files are written.
#[derive(Args, Debug, Clone, Copy)]
pub struct Writing {
    /// Write a configuration despite error-level findings
    #[arg(long)]
    pub force: bool,
    /// Print the files instead of writing them
    #[arg(long)]
    pub preview: bool,
    /// Tables: no ' before texts that a spreadsheet would run as a formula
    #[arg(long)]
    pub raw: bool,
}
