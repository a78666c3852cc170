//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::{AlignArgs, Common, Format, Verifying};
use highwater_analysis::LaneGoal;

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// Graphs in running order, a recording, a trace, or a document (.highwater)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    /// Policies to simulate (all)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Placement strategy of static arenas
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// Compare one graph or body alone
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Explain each policy's peak and difference from policy 0
    #[arg(long)]
    pub explain: bool,
    /// Draw each policy's memory map as text
    #[arg(long)]
    pub map: bool,
    /// Draw the curve and memory map of a policy as SVG
    #[arg(long, value_name = "PATH")]
    pub svg: Option<PathBuf>,
    /// Policy of --svg (the active one)
    #[arg(long, value_name = "N", requires = "svg")]
    pub policy: Option<String>,
    /// Axis of --svg: program order, estimated time or wall time
    #[arg(long, value_name = "AXIS", requires = "svg")]
    pub axis: Option<String>,
    /// Colours of --svg, e.g. role, phase or size
    #[arg(long, value_name = "ATTRIBUTE", requires = "svg")]
    pub color_by: Option<String>,
    /// Earlier JSON answer, or another graph or recording
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub alignment: AlignArgs,
    /// Exit with 1 if METRIC>+5%, >+100MiB or >16GiB (repeatable)
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<String>,
    #[command(flatten)]
    pub lanes: LaneArgs,
    /// Baseline of the lanes: a policy, pin or recording
    #[arg(long, value_name = "NAME", conflicts_with = "baseline")]
    pub baseline_lane: Option<String>,
    #[command(flatten)]
    pub verifying: Verifying,
    /// Tensors per peak in JSON (100), per kind of change (10)
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Output: text, json or markdown
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Additional lanes, and the goal by which one is recommended.
#[derive(Args, Debug, Clone, Default)]
pub struct LaneArgs {
    /// Add a configuration as a lane (repeatable)
    #[arg(long, value_name = "NAME=CONFIG")]
    pub pin: Vec<String>,
    /// Simulate recordings under PyTorch's settings (repeatable; - for none)
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    pub conf: Vec<String>,
    /// Version of torch for --conf, 2.0 to 2.15, or npu (the newest)
    #[arg(long, value_name = "VERSION", requires = "conf")]
    pub torch: Option<String>,
    /// Goal of the recommendation: least-overhead or lowest-peak
    #[arg(long, value_name = "GOAL", value_parser = lane_goal)]
    pub goal: Option<LaneGoal>,
}

fn lane_goal(text: &str) -> Result<LaneGoal, String> {
    let names = LaneGoal::ALL.map(LaneGoal::name).join(" or ");
    LaneGoal::parse(text).ok_or_else(|| format!("expected {names}"))
}
