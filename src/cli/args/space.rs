//! The arguments of `sweep` and `recommend`.

use clap::Args;

use super::{Common, Format};
use highwater_analysis::sweep::RECOMMEND_EXHAUSTIVE;
use highwater_sim::POLICIES;

/// What is tried.
#[derive(Args, Debug)]
pub struct SpaceArgs {
    /// The graphs of the session, in running order, or a document (.highwater) with its settings, over which flags win.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Try these values of an option, a dimension or the iterations (repeatable; every combination is tried):
    /// `policy=0,2,3,4`, `batch=8..128x2`, `dtr.eviction_threshold=1GiB..4GiB+512MiB`. Unless given, the policies and
    /// `atomic_clean_policy`.
    #[arg(long, value_name = "KEY=VALUES", long_help = axis_help())]
    pub axis: Vec<String>,
    /// Memory of the device on which a configuration has to fit, such as 16GiB; replaces --device-memory.
    #[arg(long, value_name = "SIZE", conflicts_with = "device_memory")]
    pub capacity: Option<String>,
    /// Look at one graph alone: of several, or one that ops call, branch to or repeat.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Settings of the configuration that the axes vary.
    #[command(flatten)]
    pub common: Common,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub space: SpaceArgs,
    /// List every configuration (by default, text lists only the Pareto-optimal ones when there are many).
    #[arg(long)]
    pub all: bool,
}

/// Arguments of `recommend`.
#[derive(Args, Debug)]
pub struct RecommendArgs {
    #[command(flatten)]
    pub space: SpaceArgs,
    /// The goal: least-overhead (among what fits; least-slowdown means the same), lowest-peak, or largest:AXIS (the largest
    /// value of an axis that fits, such as largest:batch).
    #[arg(long, value_name = "GOAL", default_value = "least-overhead")]
    pub goal: String,
    /// Up to so many configurations, all are tried; of more, some that are evenly spread, and those around the best.
    #[arg(long, value_name = "N", default_value_t = RECOMMEND_EXHAUSTIVE)]
    pub most: u64,
}

/// What axes look like, for --help.
fn axis_help() -> String {
    let policies: Vec<String> = POLICIES.iter().map(|row| row.number.to_string()).collect();
    format!(
        "Try these values (repeatable; every combination is tried). KEY is an option that changes what is simulated (its key, or the last \
     part of it; policy for short), the name of a symbolic dimension (dim:NAME where an option is called so too), or iterations. VALUES \
     are a list (0,2,3,4), ranges of numbers or sizes, each with its end (8..128x2: times 2; 8..32+8: plus 8; 8..11: plus 1), or \
     both; None is an option that is not set. Unless given: policy={} and atomic_clean_policy=0,1.",
        policies.join(",")
    )
}
