//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;

use super::{Common, LaneArgs};
use highwater_export::{export_form_help, export_forms_help, export_names_help};

/// Arguments of `export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The graphs of the session, in running order; without any, the settings alone are written (--config, --set, --env).
    pub files: Vec<String>,
    #[arg(long, value_name = "OUT", help = export_names_help(), long_help = export_forms_help())]
    pub to: PathBuf,
    #[arg(long = "as", value_name = "FORM", help = export_form_help())]
    pub form: Option<String>,
    #[command(flatten)]
    pub writing: Writing,
    /// The lanes, by position from 1; unless given all of them, or for tables the one that is in force.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub lane: Vec<String>,
    /// The policies to simulate; all unless given.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Look at one graph alone: of several, or one that ops call, branch to or repeat.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// What the axis of drawings counts: "program order" (unless given), "estimated time" or "wall time".
    #[arg(long, value_name = "AXIS")]
    pub axis: Option<String>,
    /// What colours show: "tensor" (unless given), "role", "op type", "data type", "phase", "scope", "size" or "lifetime".
    #[arg(long, value_name = "WHAT")]
    pub color_by: Option<String>,
    /// Configurations to compare with the policies; a document keeps them.
    #[command(flatten)]
    pub lanes: LaneArgs,
    /// Settings.
    #[command(flatten)]
    pub common: Common,
}

/// Whether files are written.
#[derive(Args, Debug, Clone, Copy)]
pub struct Writing {
    /// Write a configuration although it has error-level findings.
    #[arg(long)]
    pub force: bool,
    /// Print the files that would be written, each under its name, and write nothing.
    #[arg(long)]
    pub preview: bool,
}
