//! The arguments, as clap reads them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod compare;
mod export;
mod learn;
mod peak;
mod plan;
mod space;

pub(super) use compare::{CompareArgs, LaneArgs};
pub(super) use export::{ExportArgs, Writing};
pub(super) use learn::LearnArgs;
pub(super) use peak::PeakArgs;
pub(super) use plan::{LifetimesView, PlanArgs};
pub(super) use space::{RecommendArgs, SpaceArgs, SweepArgs};

pub(super) use super::opening::{Opening, YesNo};

use highwater_session::{PainterChoice, SAMPLES};

/// Plans, simulates and compares the device memory of neural networks under every static memory policy.
#[derive(Parser, Debug)]
#[command(
    name = "highwater",
    version,
    about = "Plans, simulates and compares the device memory of neural networks under every static memory policy",
    args_conflicts_with_subcommands = true, after_help = after_help()
)]
pub struct Arguments {
    /// What to do; without a command the window opens.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Graphs or a document to open in the window (the bundled sample where none is given); `sample:NAME` opens a bundled
    /// one.
    pub files: Vec<String>,
    /// Start the window without the layout, theme, size and files of the last time. Unsaved edits are recovered all the same.
    #[arg(long)]
    pub no_restore: bool,
    /// Who draws lanes with many blocks in the window.
    #[arg(long, value_enum, value_name = "WHO", default_value_t)]
    pub painter: PainterName,
    /// Settings that the window starts with.
    #[command(flatten)]
    pub common: Common,
    /// Lanes and goal that the window starts with.
    #[command(flatten)]
    pub lanes: LaneArgs,
}

/// Who draws lanes with many blocks.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PainterName {
    /// The graphics device where there is a real one, otherwise the processor.
    #[default]
    Auto,
    /// The graphics device, even one that is a processor in disguise.
    Gpu,
    /// The processor, as pictures.
    Picture,
}

impl From<PainterName> for PainterChoice {
    fn from(name: PainterName) -> Self {
        match name {
            PainterName::Auto => Self::Auto,
            PainterName::Gpu => Self::Device,
            PainterName::Picture => Self::Picture,
        }
    }
}

/// Sizes, samples and exit codes.
fn after_help() -> String {
    let samples: Vec<String> = SAMPLES.iter().map(|sample| format!("sample:{}", sample.name)).collect();
    format!(
        "Sizes: 1048576, 1MiB, 1.5GiB (MB and GB are powers of 1000). Samples: {}.\nExit codes: 0 done; 1 the answer is \"no\" \
         (does not fit, an error-level finding, the effective policy runs out of memory); 2 bad usage or bad input.",
        samples.join(", ")
    )
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// What was read: counts, bytes, peaks, diagnostics.
    Inspect(InspectArgs),
    /// Simulate under every policy and compare.
    Compare(CompareArgs),
    /// Simulate every combination of option values, dimensions and devices; show which fit and which are Pareto-optimal.
    Sweep(SweepArgs),
    /// Search such combinations for the configuration to take, and say why.
    Recommend(RecommendArgs),
    /// Who is live at the peak, at a step or in a range, and what would lower it.
    Peak(PeakArgs),
    /// Place the lifetimes of one graph, or the buffers of a problem, in an arena.
    Plan(PlanArgs),
    /// Run under a memory budget with eviction and recomputation (DTR).
    Remat(RematArgs),
    /// Feed an allocation trace to the engine's allocators, call for call.
    Replay(ReplayArgs),
    /// Let variables take the memory of dead ones, as Paddle's `memory_optimize` does it.
    Reuse(ReuseArgs),
    /// What a measured run teaches: rates of ops, scratch memory by op type, rounding of tensors.
    Learn(LearnArgs),
    /// Validate a configuration and environment.
    Check(CheckArgs),
    /// Every option: type, default, range, effect on memory, rules.
    Options(OptionsArgs),
    /// Every device profile: each figure with its unit, and its source or the reason for the estimate.
    Devices(DevicesArgs),
    /// Write a file by its name: the configuration, a report, drawings, tables, a trace for viewers.
    Export(ExportArgs),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// How answers are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables for people.
    #[default]
    Text,
    /// One object for programs.
    Json,
    /// Rows: `id,lower,upper,size,offset` of `plan`, the live tensors of `peak`, the points of `sweep`.
    Csv,
    /// A page for people: of `options`, or `compare` as a comment on a change.
    Markdown,
    /// The JSON Schema of configuration files (options only).
    Schema,
    /// The JSON Schema of documents (options only).
    DocumentSchema,
}

impl Format {
    /// Refuses a format that a command does not write.
    pub(super) fn check(self, written: &[Self]) -> anyhow::Result<()> {
        if written.contains(&self) {
            return Ok(());
        }
        Err(self.refusal())
    }

    /// The error of a command that does not write this format.
    pub(super) fn refusal(self) -> anyhow::Error {
        let name = self
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned());
        let command = match self {
            Self::Text | Self::Json => "other commands",
            Self::Csv => "`plan`, `peak` and `sweep`",
            Self::Markdown => "`options` and `compare`",
            Self::Schema | Self::DocumentSchema => "`options`",
        };
        anyhow::anyhow!("--format {name} is for {command}; use text or json")
    }
}

/// Options and environment variables, one by one.
#[derive(Args, Debug, Clone)]
pub struct Edits {
    /// Set an option, such as `memory_config.static_memory_policy=2` (repeatable).
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set an environment variable of the session (repeatable).
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Read the variables that matter from the environment of this process.
    #[arg(long)]
    pub inherit_env: bool,
}

/// Settings that several commands share.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// A configuration (JSON), Python training script, notebook or shell script, read before --set and --env.
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// The configuration of a script that has several, by name.
    #[arg(long, value_name = "NAME")]
    pub of: Option<String>,
    #[command(flatten)]
    pub edits: Edits,
    /// The device profile.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Device memory, such as 32GiB, instead of the profile's.
    #[arg(long, value_name = "SIZE")]
    pub device_memory: Option<String>,
    /// Give a symbolic dimension a value, or several values for one run each (repeatable).
    #[arg(long = "dim", value_name = "NAME=VALUE[,VALUE...]")]
    pub dim: Vec<String>,
    /// Iterations of the schedule.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// What an iteration holds, entry by entry (repeatable), instead of every graph once.
    #[arg(long = "run", value_name = "GRAPH[DIM=VALUES]*N", long_help = super::settings::RUN_HELP)]
    pub run: Vec<String>,
    /// Read the schedule from a file: the object under "schedule" in a configuration.
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Call a graph otherwise in answers and in --run (repeatable).
    #[arg(long = "name", value_name = "GRAPH=NAME")]
    pub name: Vec<String>,
    /// Run the forward phase of each training graph beside it.
    #[arg(long)]
    pub evaluation: bool,
    /// Whether ops that read a shape alone keep the tensor alive (`simulation.shapes_keep_alive`).
    #[arg(long, value_enum, value_name = "YES|NO")]
    pub shapes_keep_alive: Option<YesNo>,
    #[command(flatten)]
    pub opening: Opening,
}

/// Arguments of `inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// The files, one answer each; `-` is standard input, `sample:NAME` a bundled sample; a folder is read whole.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Give a symbolic dimension a value (repeatable).
    #[arg(long = "dim", value_name = "NAME=VALUE")]
    pub dim: Vec<String>,
    /// Whether ops that read a shape alone (`Shape`, `ShapeN`, `Size`, `Rank`) keep the tensor alive.
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes")]
    pub shapes_keep_alive: YesNo,
    #[command(flatten)]
    pub opening: Opening,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `remat`.
#[derive(Args, Debug)]
pub struct RematArgs {
    /// A graph, a DTR log, or a graph or script of MegEngine's planner (docs/format.md); `-` is standard input.
    pub file: String,
    /// What is evicted, instead of `simulation.remat_heuristic`; --help lists all of them.
    #[arg(long, value_name = "NAME", long_help = heuristics_help())]
    pub heuristic: Option<String>,
    /// The budget: a part of the peak without one (a number up to 1, or one with a point: 0.5) or bytes (12GiB); for
    /// MegEngine's heuristics the `eviction_threshold`. Unless given, `dtr.eviction_threshold`.
    #[arg(long, value_name = "B", conflicts_with = "sweep")]
    pub budget: Option<String>,
    /// Run once for each of these budgets.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sweep: Vec<String>,
    /// Stop once recomputation costs more than this many times the program itself (1 unless given; inf never stops).
    #[arg(long, value_name = "X")]
    pub thrash_limit: Option<String>,
    /// Where the eager interpreter takes free bytes beside a tensor from: zero or arena.
    #[arg(long, value_name = "NAME")]
    pub free_neighbors: Option<String>,
    /// Which graph of a file that holds several (the first where none is named).
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// List every decision.
    #[arg(long)]
    pub events: bool,
    #[command(flatten)]
    pub common: Common,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Every heuristic with its summary, for --help.
fn heuristics_help() -> String {
    let mut help = String::from("What is evicted:\n");
    for row in highwater_rewrite::remat::HEURISTICS {
        help.push_str(&format!("- {}: {}\n", row.name, row.summary));
    }
    help
}

/// Arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The trace, one command a line (docs/format.md); `-` is standard input.
    pub trace: String,
    #[command(flatten)]
    pub opening: Opening,
    /// The policy: 0, 2, 3 or 4; 1 is 2.
    #[arg(long, value_name = "N")]
    pub policy: String,
    /// Let the legacy caching allocator answer dynamic requests, instead of the policy's pools.
    #[arg(long)]
    pub legacy: bool,
    /// Under policy 2, one arena as the vendor documents it, instead of the engine's list of blocks.
    #[arg(long)]
    pub documented: bool,
    /// Write JSON lines: a header, one object per command with its driver calls, a final one.
    #[arg(long)]
    pub events: bool,
    /// Device memory, such as 32GiB, instead of what the trace states (32 GiB where it states none).
    #[arg(long, value_name = "SIZE")]
    pub device_memory: Option<String>,
    /// How to write the summary.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `reuse`.
#[derive(Args, Debug)]
pub struct ReuseArgs {
    /// A graph of any format, or a program of blocks (docs/format.md); `-` is standard input, `sample:NAME` a bundled one.
    pub file: String,
    /// 0: only variables of the same shape share memory; 1: any slot with enough elements is taken; default:
    /// `memory_optimize.level`.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub level: Option<String>,
    /// A variable to leave alone (repeatable), beside `memory_optimize.skip_opt_set`.
    #[arg(long, value_name = "NAME")]
    pub skip: Vec<String>,
    /// What `skip_opt_set` is in the script: set, list, tuple, str, variables, `mixed_list` or `bad_element`.
    #[arg(long, value_name = "KIND")]
    pub skip_kind: Option<String>,
    /// Leave the gradients alone that optimizers read.
    #[arg(long)]
    pub skip_grads: bool,
    /// Print every decision as the original does.
    #[arg(long)]
    pub print_log: bool,
    /// The version of the original: 1, 2, 3 or 4, or a release such as 1.5; default: `simulation.memory_optimize_version`.
    #[arg(long, value_name = "VERSION")]
    pub version_line: Option<String>,
    /// Which graph of the file; the first unless given.
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Configurations (JSON), documents, Python training scripts, notebooks or shell scripts.
    pub configs: Vec<PathBuf>,
    /// The configuration of a script that has several, by name.
    #[arg(long, value_name = "NAME")]
    pub of: Option<String>,
    /// The device profile, whose number of AI cores bounds options.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    #[command(flatten)]
    pub edits: Edits,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `options`.
#[derive(Args, Debug)]
pub struct OptionsArgs {
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `devices`.
#[derive(Args, Debug)]
pub struct DevicesArgs {
    /// One profile; all of them unless it is given.
    pub device: Option<String>,
    /// Options: figures that they set replace those of the profile.
    #[command(flatten)]
    pub edits: Edits,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
