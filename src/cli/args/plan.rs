//! The arguments of `plan`.

use clap::{Args, ValueEnum};

use super::{Format, Opening, YesNo};

/// Arguments of `plan`.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one flag each, as clap reads them")]
pub struct PlanArgs {
    /// A graph, an op list, or a placement problem (CSV in MiniMalloc's form or JSON; docs/format.md).
    pub file: String,
    #[command(flatten)]
    pub opening: Opening,
    /// The placement strategy; --help lists all of them.
    #[arg(long, value_name = "NAME", default_value = "best", long_help = strategies_help())]
    pub strategy: String,
    /// Which graph or problem of a file that holds several (the first where none is named).
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Divisor of offsets and sizes: 512 for a graph; a problem file keeps its own (1 unless it says).
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub alignment: Option<u64>,
    /// Who owns memory.
    #[arg(long, value_enum, default_value_t)]
    pub lifetimes: LifetimesView,
    /// Of a graph: place its inputs too, as buffers that live all run (TensorFlow Lite's arena holds them).
    #[arg(long)]
    pub with_inputs: bool,
    /// Ask whether the plan fits in so many bytes (exit 1 where it does not); else the file's own capacity.
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// End searches after so many nodes (4000000 unless given) and take the best plan so far.
    #[arg(long, value_name = "N")]
    pub node_limit: Option<u64>,
    /// End searches after so many seconds and take the best plan so far.
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<f64>,
    /// Take whichever best plan is found first: faster, but offsets may differ from run to run.
    #[arg(long)]
    pub race: bool,
    /// Whether ops that read a shape alone (`Shape`, `ShapeN`, `Size`, `Rank`) keep the tensor alive.
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes")]
    pub shapes_keep_alive: YesNo,
    /// Ignore the offsets that a problem file fixes, so that another plan can be seen beside its own.
    #[arg(long)]
    pub free_offsets: bool,
    /// Of an op list and one of the engine's assigners (ge_...): write offsets by op, segments and blocks as one line.
    #[arg(long, conflicts_with_all = ["edges", "explain", "why", "format", "capacity"])]
    pub events: bool,
    /// With --events: name the variant after a sort that keeps the order of equals, as it always does here.
    #[arg(long, requires = "events")]
    pub stable: bool,
    /// List the reuse edges.
    #[arg(long)]
    pub edges: bool,
    /// Say what holds the footprint and where bytes lie idle.
    #[arg(long)]
    pub explain: bool,
    /// Explain why the buffer of this id has its offset, and whose bytes it reuses (repeatable).
    #[arg(long, value_name = "ID")]
    pub why: Vec<String>,
    /// Give a symbolic dimension a value (repeatable).
    #[arg(long = "dim", value_name = "NAME=VALUE")]
    pub dim: Vec<String>,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Every strategy with its summary, for --help.
fn strategies_help() -> String {
    let mut help = String::from("The placement strategy:\n");
    for row in highwater_plan::STRATEGIES {
        help.push_str(&format!("- {}: {}\n", row.name, row.summary));
    }
    help
}

/// Who owns memory.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LifetimesView {
    /// Every result.
    Naive,
    /// Every storage; views and in-place results share it.
    #[default]
    Aliased,
}
