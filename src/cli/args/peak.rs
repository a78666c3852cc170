//! The arguments of `peak`.

use std::path::PathBuf;

use clap::Args;

use super::help::{attributes, policies};
use super::{AlignArgs, Common, Format, Verifying};

/// Arguments of `peak`.
#[derive(Args, Debug)]
pub struct PeakArgs {
    /// Graphs in running order, or a recording, problem or trace
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[arg(long, value_name = "N", conflicts_with = "lane", help = format!("{} (the active one)", policies()))]
    pub policy: Option<String>,
    /// Lane by position from 1, for strategies, recordings and budgets
    #[arg(long, value_name = "N")]
    pub lane: Option<usize>,
    /// Explain this step instead of the peak
    #[arg(long, value_name = "S", conflicts_with = "range", value_parser = step_number)]
    pub step: Option<u32>,
    /// Explain the steps from A to B (exclusive) and their highest step
    #[arg(long, value_name = "A..B")]
    pub range: Option<String>,
    #[arg(long, value_name = "A[,B]", help = format!("Grouping (role; call_site of recordings), B within A: {}", attributes()))]
    pub group_by: Option<String>,
    /// Number of listed tensors, or frames per level (10 in text, all in JSON and CSV)
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// CSV: no ' before texts that a spreadsheet would run as a formula
    #[arg(long)]
    pub raw: bool,
    #[command(flatten)]
    pub stacks: TreeArgs,
    /// Compare with this lane, by position from 1 (policies by ascending number)
    #[arg(long, value_name = "N")]
    pub against: Option<usize>,
    #[command(flatten)]
    pub alignment: AlignArgs,
    /// Compare with the peak of another recording, graph or JSON answer
    #[arg(long, value_name = "FILE", conflicts_with_all = ["against", "segments", "growth", "tree"])]
    pub baseline: Option<PathBuf>,
    /// List the allocator's segments and blocks at that step instead (snapshots)
    #[arg(long, conflicts_with_all = ["range", "against", "group_by", "tree"])]
    pub segments: bool,
    /// List the events from A to B (exclusive) with their call stacks
    #[arg(long, value_name = "A..B", conflicts_with_all = ["range", "step", "against", "segments", "growth"])]
    pub events: Option<String>,
    /// List the blocks or tensors that match, e.g. `file:train.py size:>1MiB`; `?` lists conditions
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, conflicts_with_all = ["range", "step", "against", "segments", "events", "growth", "baseline", "group_by", "tree"])]
    pub find: Option<String>,
    /// List blocks that grow from step to step (of annotations, or of N equal parts)
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "0",
        require_equals = true,
        conflicts_with_all = ["range", "against", "step", "segments"]
    )]
    pub growth: Option<u32>,
    /// Use one graph or body alone
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten)]
    pub verifying: Verifying,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    /// Output: text, markdown, json, csv (live tensors; segments; growth), folded or svg (flame graph)
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// How call stacks are shown.
#[derive(Args, Debug)]
pub struct TreeArgs {
    /// Show call stacks (of graphs: scopes) as a tree, instead of lists of tensors
    #[arg(long)]
    pub tree: bool,
    /// Tree, folded and svg: innermost frame first
    #[arg(long)]
    pub inverse: bool,
    /// Tree, folded and svg: keep C++ frames beside Python frames
    #[arg(long)]
    pub cpp_frames: bool,
}

/// A step as answers write it: with or without blanks between groups of digits.
fn step_number(text: &str) -> Result<u32, std::num::ParseIntError> {
    let digits: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    digits.parse()
}
