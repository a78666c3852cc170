//! The arguments of `peak`.

use clap::Args;

use super::{Common, Format};

/// Arguments of `peak`.
#[derive(Args, Debug)]
pub struct PeakArgs {
    /// The graphs of the session in running order, or a recording, a problem, a trace; `-` is standard input, `sample:NAME` a
    /// bundled one.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// The policy: 0, 2, 3 or 4; 1 is 2. Unless given, the one that options and variables put in force.
    #[arg(long, value_name = "N", conflicts_with = "lane")]
    pub policy: Option<String>,
    /// The lane by position from 1, where lanes are strategies, recordings or runs under budgets.
    #[arg(long, value_name = "N")]
    pub lane: Option<usize>,
    /// Explain this step instead of the peak.
    #[arg(long, value_name = "S", conflicts_with = "range")]
    pub step: Option<u32>,
    /// What happens on the steps from A to B, without B, and the highest of them.
    #[arg(long, value_name = "A..B")]
    pub range: Option<String>,
    /// By what tensors are grouped: role, `op_type`, dtype, phase, scope, size or lifetime.
    #[arg(long, value_name = "ATTRIBUTE", default_value = "role")]
    pub group_by: String,
    /// How many tensors are listed; unless given 10 in texts, and all in JSON and CSV. Rankings have as many, or 10.
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Tell what this lane, by position from 1, holds otherwise at its peak or on the same step: tensors that are new, gone,
    /// bigger, smaller here. Lanes of policies are 0, 2, 3 and 4, in this order.
    #[arg(long, value_name = "N")]
    pub against: Option<usize>,
    /// Look at one graph alone: of several, or one that ops call, branch to or repeat.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// How to write the answer; csv lists the live tensors.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
