//! The arguments of `plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, Opening, Verifying, YesNo};

/// Arguments of `plan`.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one flag each, as clap reads them")]
pub struct PlanArgs {
    /// Graph, op list, or placement problem (CSV or JSON; docs/text-formats.md)
    pub file: PathBuf,
    #[command(flatten)]
    pub opening: Opening,
    /// Placement strategy, see below
    #[arg(long, value_name = "NAME", default_value = "best")]
    pub strategy: String,
    /// Graph or problem of a file that holds several (the first)
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Alignment of offsets and sizes (64 for TensorFlow Lite, 512 for other graphs; the problem's own, else 1)
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub alignment: Option<u64>,
    /// Buffers: every result (naive), or storages that views share (aliased)
    #[arg(long, value_enum, value_name = "VIEW", default_value_t)]
    pub lifetimes: LifetimesView,
    /// Also place the graph's inputs, live during the whole run
    #[arg(long)]
    pub with_inputs: bool,
    /// Exit with 1 if the plan exceeds this size (the file's capacity)
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Stop searches after this many nodes (4000000)
    #[arg(long, value_name = "N")]
    pub node_limit: Option<u64>,
    /// Stop searches after this time
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<f64>,
    /// Faster search; offsets may differ from run to run
    #[arg(long)]
    pub race: bool,
    /// Whether ops that read only a shape keep the tensor alive
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes")]
    pub shapes_keep_alive: YesNo,
    /// Ignore the offsets that a problem file fixes
    #[arg(long)]
    pub free_offsets: bool,
    /// One line of offsets, segments and blocks (op lists with a `ge_` strategy)
    #[arg(long, conflicts_with_all = ["edges", "explain", "why", "format", "capacity", "verify"])]
    pub events: bool,
    /// With --events: name the variant with a stable sort
    #[arg(long, requires = "events")]
    pub stable: bool,
    /// List the reuse edges
    #[arg(long)]
    pub edges: bool,
    /// Explain the arena size and its gaps
    #[arg(long)]
    pub explain: bool,
    /// Explain the offset of this buffer and what it reuses (repeatable)
    #[arg(long, value_name = "ID")]
    pub why: Vec<String>,
    #[command(flatten)]
    pub verifying: Verifying,
    /// Value of a symbolic dimension (repeatable)
    #[arg(long = "dim", value_name = "NAME=N")]
    pub dim: Vec<String>,
    /// With --format csv: no ' before texts that a spreadsheet would run as a formula
    #[arg(long)]
    pub raw: bool,
    /// Output: text, json or csv (id, lower, upper, size, offset)
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Which buffers are placed.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LifetimesView {
    /// Every result.
    Naive,
    /// Every storage; views and in-place results share it.
    #[default]
    Aliased,
}
