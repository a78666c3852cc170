//! The arguments of `sweep` and `recommend`.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Format, Verifying};
use highwater_analysis::sweep::RECOMMEND_EXHAUSTIVE;

/// The space of configurations.
#[derive(Args, Debug)]
pub struct SpaceArgs {
    /// Graphs in running order, or a document (.highwater); flags win (recommend: or memory snapshots)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Values of an option, dimension or the iterations, see below (repeatable)
    #[arg(long, value_name = "KEY=VALUES")]
    pub axis: Vec<String>,
    /// Device memory that a configuration must fit; replaces --device-memory
    #[arg(long, value_name = "SIZE", conflicts_with = "device_memory")]
    pub capacity: Option<String>,
    /// Use one graph or body alone
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    #[command(flatten)]
    pub verifying: Verifying,
    /// Output: text or json; csv with sweep (points)
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub space: SpaceArgs,
    /// List every configuration, not only Pareto-optimal ones
    #[arg(long)]
    pub all: bool,
    /// With --format csv: no ' before texts that a spreadsheet would run as a formula
    #[arg(long)]
    pub raw: bool,
}

/// Arguments of `recommend`.
#[derive(Args, Debug)]
pub struct RecommendArgs {
    #[command(flatten)]
    pub space: SpaceArgs,
    /// Goal: least-overhead (if it fits; the default), lowest-peak (the default of a snapshot) or largest:AXIS
    #[arg(long, value_name = "GOAL")]
    pub goal: Option<String>,
    /// Try all combinations up to this number, else a sample and its neighbours
    #[arg(long, value_name = "N", default_value_t = RECOMMEND_EXHAUSTIVE)]
    pub most: u64,
    /// Version of torch whose settings are recommended for a snapshot, 2.0 to 2.15, or npu
    #[arg(long, value_name = "VERSION")]
    pub torch: Option<String>,
}
