//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Format};
use highwater_analysis::{LaneGoal, METRICS};

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The graphs of the session, in running order, or a document (.highwater) with its settings, over which flags win.
    #[arg(required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    /// The policies to simulate.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// How static arenas are placed, instead of `simulation.placement_strategy`.
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// Look at one graph alone: of several, or one that ops call, branch to or repeat.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Say where each policy's peak comes from, and where it first differs from policy 0.
    #[arg(long)]
    pub explain: bool,
    /// Draw each policy's memory map as text.
    #[arg(long)]
    pub map: bool,
    /// Write a drawing of a lane, curve and memory map, as SVG.
    #[arg(long, value_name = "PATH")]
    pub svg: Option<PathBuf>,
    /// The policy that is drawn with --svg (the configured one unless given).
    #[arg(long, value_name = "N", requires = "svg")]
    pub policy: Option<String>,
    /// What the axis of --svg counts: "program order" (unless given), "estimated time" or "wall time" (of a recording, or
    /// beside a graph of the run that measured its ops).
    #[arg(long, value_name = "AXIS", requires = "svg")]
    pub axis: Option<String>,
    /// What the colours of --svg show: "tensor" (unless given), "role", "op type", "data type", "phase", "scope",
    /// "size" or "lifetime".
    #[arg(long, value_name = "WHAT", requires = "svg")]
    pub color_by: Option<String>,
    /// An earlier answer of this command (--format json) to compare with: what grew, and which tensors are new, gone, bigger.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Exit with 1 where the lane in force breaks this limit: METRIC>+5%, METRIC>+100MiB (more than the baseline) or
    /// METRIC>16GiB; >= where the bound itself is too much (repeatable).
    #[arg(long, value_name = "LIMIT", long_help = limits_help())]
    pub fail_if: Vec<String>,
    /// Configurations to compare with the policies.
    #[command(flatten)]
    pub lanes: LaneArgs,
    /// The lane that all others are compared with: "policy 2" or 2, the name of a pin or a recording.
    #[arg(long, value_name = "NAME", conflicts_with = "baseline")]
    pub baseline_lane: Option<String>,
    /// How many tensors are listed at each peak in JSON (100 unless given), and of each kind of change (10 unless given).
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// How to write the answer; markdown suits comments on changes.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Additional lanes, and the goal by which one is recommended.
#[derive(Args, Debug, Clone, Default)]
pub struct LaneArgs {
    /// Simulate another configuration as an additional lane: its name, and its file as `export` writes it
    /// (repeatable; a document has its own). What the file does not say of the schedule is as for the other lanes.
    #[arg(long, value_name = "NAME=CONFIG")]
    pub pin: Vec<String>,
    /// Recommend a policy for this goal: least-overhead (among those that fit; unless given) or lowest-peak.
    #[arg(long, value_name = "GOAL", value_parser = lane_goal)]
    pub goal: Option<LaneGoal>,
}

fn lane_goal(text: &str) -> Result<LaneGoal, String> {
    let names = LaneGoal::ALL.map(LaneGoal::name).join(" or ");
    LaneGoal::parse(text).ok_or_else(|| format!("write {names}"))
}

/// Every metric, for --help.
fn limits_help() -> String {
    let mut help = String::from(
        "Exit with 1 where the lane in force breaks this limit (repeatable): METRIC>BOUND, where BOUND is +5% or +100MiB (more \
         than the baseline has) or 16GiB; with >= the bound itself is too much. Metrics:\n",
    );
    for metric in METRICS {
        help.push_str(&format!("- {}: {}\n", metric.name, metric.label));
    }
    help
}
