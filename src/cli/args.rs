//! The arguments, as clap reads them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod align;
mod compare;
mod export;
mod help;
mod learn;
mod peak;
mod plan;
mod space;

pub(super) use align::AlignArgs;
pub(super) use compare::{CompareArgs, LaneArgs};
pub(super) use export::{ExportArgs, Writing};
pub(super) use help::command;
pub(super) use learn::LearnArgs;
pub(super) use peak::PeakArgs;
pub(super) use plan::{LifetimesView, PlanArgs};
pub(super) use space::{RecommendArgs, SpaceArgs, SweepArgs};

pub(super) use super::opening::{Opening, YesNo};
pub(super) use super::verified::Verifying;

/// The program's arguments; `command` adds what `--help` shows besides.
#[derive(Parser, Debug)]
#[command(
    name = "highwater",
    version,
    about = "Plans, simulates and compares the device memory of neural networks under every static memory policy",
    args_conflicts_with_subcommands = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Graphs, recordings or a document to open; `sample:NAME` is a bundled sample
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Ignore the saved layout and files; unsaved edits are still recovered
    #[arg(long)]
    pub no_restore: bool,
    /// Accepted for scripts of earlier versions, without effect
    #[arg(long, hide = true, value_name = "PAINTER", value_parser = ["auto", "gpu", "picture"])]
    pub painter: Option<String>,
    /// Settings that the window starts with.
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    /// Lanes and goal that the window starts with.
    #[command(flatten)]
    pub lanes: LaneArgs,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// Show the content of files: ops, tensors, bytes, peaks, diagnostics
    Inspect(InspectArgs),
    /// Explain an out-of-memory: who requested how much, who had the rest, and what to try
    #[command(alias = "explain-log")]
    Explain(ExplainArgs),
    /// Simulate graphs, or replay a trace, under every policy and compare
    Compare(CompareArgs),
    /// Simulate all combinations of options, dimensions and devices; show the Pareto front
    Sweep(SweepArgs),
    /// Search such combinations for the recommended configuration, with reasons
    Recommend(RecommendArgs),
    /// List the live tensors at the peak, at a step or in a range, and what would lower it
    Peak(PeakArgs),
    /// Place the tensors of a graph, or the buffers of a problem, in one arena
    Plan(PlanArgs),
    /// Run under a memory budget with eviction and recomputation (DTR)
    Remat(RematArgs),
    /// Replay an allocation trace on the engine's allocators, call by call
    Replay(ReplayArgs),
    /// Reuse the memory of dead variables as Paddle's `memory_optimize` does
    Reuse(ReuseArgs),
    /// Learn op rates, scratch memory and rounding from a recording
    Learn(LearnArgs),
    /// Validate a configuration and environment
    Check(CheckArgs),
    /// List every option, rule and environment variable
    Options(OptionsArgs),
    /// List the device profiles with the source of each figure
    Devices(DevicesArgs),
    /// List the file formats that open, or explain one
    Formats(FormatsArgs),
    /// Write a configuration, report, drawing, table or trace file
    Export(ExportArgs),
    /// Print shell completions
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: Shell,
    },
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Manual {
        /// An existing folder
        folder: PathBuf,
    },
}

impl Action {
    /// The files that a command reads, as they were named.
    pub(super) fn inputs(&self) -> &[PathBuf] {
        use std::slice::from_ref;
        match self {
            Self::Inspect(args) => &args.files,
            Self::Explain(args) => &args.files,
            Self::Compare(args) => &args.files,
            Self::Sweep(args) => &args.space.files,
            Self::Recommend(args) => &args.space.files,
            Self::Peak(args) => &args.files,
            Self::Plan(args) => from_ref(&args.file),
            Self::Remat(args) => from_ref(&args.file),
            Self::Replay(args) => from_ref(&args.trace),
            Self::Reuse(args) => from_ref(&args.file),
            Self::Learn(args) => &args.files,
            Self::Export(args) => &args.files,
            Self::Check(_)
            | Self::Options(_)
            | Self::Devices(_)
            | Self::Formats(_)
            | Self::Completions { .. }
            | Self::Manual { .. } => &[],
        }
    }
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
    /// A page for people: of `options`, `compare` as a comment on a change, or `explain` for a ticket.
    Markdown,
    /// Folded stacks of `peak`.
    Folded,
    /// The flame graph of `peak`.
    Svg,
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
            Self::Markdown => "`options`, `compare`, `peak` and `explain`",
            Self::Folded | Self::Svg => "`peak`",
            Self::Schema | Self::DocumentSchema => "`options`",
        };
        anyhow::anyhow!("--format {name} is for {command}; use text or json")
    }
}

/// Options and environment variables, one by one.
#[derive(Args, Debug, Clone)]
pub struct Edits {
    /// Set an option, e.g. `precision_mode=force_fp32` (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set an environment variable of the session (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Read the relevant variables from this process's environment
    #[arg(long)]
    pub inherit_env: bool,
}

/// Settings that several commands share.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// Configuration: JSON, Python script, notebook or shell script
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Name of the configuration in a script that has several
    #[arg(long, value_name = "NAME")]
    pub of: Option<String>,
    #[command(flatten)]
    pub edits: Edits,
    /// Device profile
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Device memory instead of the profile's, e.g. 32GiB
    #[arg(long, value_name = "SIZE")]
    pub device_memory: Option<String>,
    /// Set a symbolic dimension; N,M gives one run each (repeatable)
    #[arg(long = "dim", value_name = "NAME=N")]
    pub dim: Vec<String>,
    /// Number of iterations of the schedule
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// Add an entry to an iteration, e.g. 'train*3' (repeatable)
    #[arg(long = "run", value_name = "ENTRY")]
    pub run: Vec<String>,
    /// Read the schedule from a JSON file
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Rename a graph in answers and in --run (repeatable)
    #[arg(long = "name", value_name = "GRAPH=NAME")]
    pub name: Vec<String>,
    /// Also run the forward phase of each training graph
    #[arg(long)]
    pub evaluation: bool,
    /// Whether ops that read only a shape keep the tensor alive
    #[arg(long, value_enum, value_name = "YES|NO")]
    pub shapes_keep_alive: Option<YesNo>,
    #[command(flatten)]
    pub opening: Opening,
}

/// Arguments of `inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// Files (one answer each), folders, sample:NAME, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Value of a symbolic dimension (repeatable)
    #[arg(long = "dim", value_name = "NAME=N")]
    pub dim: Vec<String>,
    /// Whether ops that read only a shape keep the tensor alive
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes")]
    pub shapes_keep_alive: YesNo,
    #[command(flatten)]
    pub opening: Opening,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Logs, terminal output, memory snapshots, folders of them (~/ascend/log), read as one story; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output: text, json or markdown
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `remat`.
#[derive(Args, Debug)]
pub struct RematArgs {
    /// Graph, DTR log, or MegEngine graph or script; - is standard input
    pub file: PathBuf,
    /// Eviction heuristic, see below (`simulation.remat_heuristic`)
    #[arg(long, value_name = "NAME")]
    pub heuristic: Option<String>,
    /// Budget: share of the peak (0.5) or bytes (12GiB) (`dtr.eviction_threshold`)
    #[arg(long, value_name = "BUDGET", conflicts_with = "sweep")]
    pub budget: Option<String>,
    /// Run once for each of these budgets
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sweep: Vec<String>,
    /// Stop when recomputation exceeds this multiple of the program's cost (1; inf)
    #[arg(long, value_name = "X")]
    pub thrash_limit: Option<String>,
    /// Eager interpreter: source of the free bytes next to a tensor (zero or arena)
    #[arg(long, value_name = "NAME")]
    pub free_neighbors: Option<String>,
    /// Graph of a file that holds several (the first)
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// List every decision
    #[arg(long)]
    pub events: bool,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    #[command(flatten)]
    pub verifying: Verifying,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Trace, one command per line (docs/text-formats.md), or a memory snapshot; - is standard input
    pub trace: PathBuf,
    #[command(flatten)]
    pub opening: Opening,
    #[arg(long, value_name = "N", help = help::policies())]
    pub policy: Option<String>,
    /// Allocator: engine (with --policy the default), or torch (the caching allocator of PyTorch and `torch_npu`)
    #[arg(long, value_enum)]
    pub allocator: Option<AllocatorChoice>,
    /// Settings of torch's allocator, as in `PYTORCH_CUDA_ALLOC_CONF`; - is none (repeatable)
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    pub conf: Vec<String>,
    /// Version of torch, 2.0 to 2.15, or npu (the newest)
    #[arg(long, value_name = "VERSION")]
    pub torch: Option<String>,
    /// Serve dynamic requests with the legacy caching allocator instead of pools
    #[arg(long)]
    pub legacy: bool,
    /// Policy 2 as documented (one arena) instead of as GE implements it
    #[arg(long)]
    pub documented: bool,
    /// Write JSON lines: a line per command, or per event of a snapshot, then a summary
    #[arg(long)]
    pub events: bool,
    /// Device memory, e.g. 32GiB (what the trace states, else 32GiB)
    #[arg(long, value_name = "SIZE")]
    pub device_memory: Option<String>,
    #[command(flatten)]
    pub verifying: Verifying,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Whose allocator serves a trace.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocatorChoice {
    /// GE's, under a static memory policy.
    Engine,
    /// PyTorch's or `torch_npu`'s.
    Torch,
}

/// Arguments of `reuse`.
#[derive(Args, Debug)]
pub struct ReuseArgs {
    /// Graph, or program of blocks (docs/text-formats.md); - is standard input
    pub file: PathBuf,
    /// 0: equal shapes share memory; 1: any large enough slot (`memory_optimize.level`)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub level: Option<String>,
    /// Variable to skip, in addition to `memory_optimize.skip_opt_set` (repeatable)
    #[arg(long, value_name = "NAME")]
    pub skip: Vec<String>,
    /// Type of `skip_opt_set`: set, list, tuple, str, variables, `mixed_list`, `bad_element`
    #[arg(long, value_name = "KIND")]
    pub skip_kind: Option<String>,
    /// Skip the gradients that optimizers read
    #[arg(long)]
    pub skip_grads: bool,
    /// Print every decision in Paddle's words
    #[arg(long)]
    pub print_log: bool,
    /// Paddle's implementation: 1 to 4, or a release such as 1.5
    #[arg(long, value_name = "VERSION")]
    pub version_line: Option<String>,
    /// Graph of a file that holds several (the first)
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    #[command(flatten, next_help_heading = "Settings")]
    pub common: Common,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Configurations (JSON), documents, Python scripts, notebooks or shell scripts
    #[arg(value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,
    /// Name of the configuration in a script that has several
    #[arg(long, value_name = "NAME")]
    pub of: Option<String>,
    /// Device profile, whose number of AI cores bounds options
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    #[command(flatten)]
    pub edits: Edits,
    /// Check settings of PyTorch's allocator, as in `PYTORCH_CUDA_ALLOC_CONF`, and show what requests get
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    pub alloc_conf: Option<String>,
    /// Version of torch for --alloc-conf, 2.0 to 2.15, or npu (the newest)
    #[arg(long, value_name = "VERSION", requires = "alloc_conf")]
    pub torch: Option<String>,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `options`.
#[derive(Args, Debug)]
pub struct OptionsArgs {
    /// Output: text, json, markdown, schema (of configurations) or document-schema
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `devices`.
#[derive(Args, Debug)]
pub struct DevicesArgs {
    /// One profile (all of them)
    #[arg(value_name = "NAME")]
    pub device: Option<String>,
    #[command(flatten)]
    pub edits: Edits,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `formats`.
#[derive(Args, Debug)]
pub struct FormatsArgs {
    /// One format: its content, how to produce such a file, what highwater reads
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Output: text or json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
