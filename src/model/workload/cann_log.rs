//! What CANN's logs tell of one process: its graphs with the compiler's placements, loads and unloads, the arena, pools,
//! the driver's memory by module, and requests that failed.
//!
//! Nothing here is modelled: `None` means that the log cannot tell, never zero. Bytes are plain numbers, lists are in the order
//! of first appearance.

use std::fmt;
use std::num::NonZeroU32;

use indexmap::{IndexMap, IndexSet};

/// One process of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedProcess {
    /// `None` for sentences that name no process.
    pub pid: Option<u64>,
    /// As in the heads of its records, cut as printed.
    pub name: Option<String>,
    /// The one device that its records name; `None` where that is none or several.
    pub device: Option<u64>,
    /// The session of the last compiled graph.
    pub session: Option<u64>,
    pub level: LogLevel,
    /// Bytes of the device, as the engine states them.
    pub device_total: Option<u64>,
    /// The static memory policy, and what tells it.
    pub policy: Option<(u64, PolicyFrom)>,
    pub graphs: Vec<LoggedGraph>,
    pub variables: Option<LoggedVariables>,
    /// Names and bytes, in the order of the log.
    pub variable_bytes: IndexMap<String, u64>,
    pub events: Vec<LoggedEvent>,
    /// Bytes that the engine holds over time, with the nanoseconds of each change since the first record.
    pub reserved: Vec<(u64, u64)>,
    /// The largest of them; `None` below the level info.
    pub reserved_peak: Option<u64>,
    /// What the engine read of the device last, before the first failure where there is one.
    pub device_free: Option<DeviceFree>,
    pub arena_loads: Vec<ArenaLoad>,
    pub pools: Vec<LoggedPool>,
    pub driver: Vec<DriverRow>,
    pub failures: Vec<LoggedFailure>,
    /// What its text says of memory besides, in the order of the log.
    pub statements: Vec<LoggedStatement>,
    /// Settings of allocators that its text shows, with their values: `PYTORCH_NPU_ALLOC_CONF`, `expandable_segments:True`.
    pub settings: IndexMap<String, String>,
    /// Releases of libraries that its text states: `torch`, `2.9.1`.
    pub versions: IndexMap<String, String>,
    /// Placements by graph, as printed, and tensor (`op:output:0`).
    pub plans: IndexMap<String, IndexMap<String, LoggedPlace>>,
    pub op_kinds: OpKinds,
    /// Records of placements and statistics that lack a field.
    pub damaged: u64,
    /// Records that were left out as repeated.
    pub repeated: u64,
}

/// A time as a log prints it, without zone: microseconds since March of the year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogTime(pub i64);

impl fmt::Display for LogTime {
    /// `2026-07-12 09:20:29.181`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 86_400_000_000;
        let (days, micros) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        // Eras of 400 years; years begin in March.
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (year, month) = (era * 400 + year + i64::from(month > 9), (month + 2) % 12 + 1);
        let seconds = micros / 1_000_000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let millis = micros / 1000 % 1000;
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}"
        )
    }
}

/// Free memory of the device, as the engine read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFree {
    pub at: Option<LogTime>,
    pub free: u64,
    pub total: Option<u64>,
}

/// What a log was written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Has records of the engine's level info.
    Info,
    /// Has records, none of them of that level.
    Default,
    /// No record at all.
    #[default]
    Terminal,
}

impl LogLevel {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Default => "default",
            Self::Terminal => "terminal",
        }
    }
}

/// The line that tells a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyFrom {
    /// The summary of a compiled graph: what is in force.
    Summary,
    /// An option: what was asked for.
    Option,
}

impl PolicyFrom {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Summary => "smp",
            Self::Option => "option",
        }
    }
}

/// One compilation of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedGraph {
    pub id: u64,
    pub name: String,
    /// Its name in `plans`.
    pub plan: Option<String>,
    /// Arena and inputs and outputs.
    pub total: Option<u64>,
    pub arena: Option<u64>,
    /// Inputs and outputs.
    pub zero_copy: Option<u64>,
    pub theory_min: Option<u64>,
    pub sum_of_sizes: Option<u64>,
    pub no_reuse: Option<u64>,
    /// The assigner with the smaller arena.
    pub winner: Option<&'static str>,
}

/// Where the compiler put a tensor. Logs have millions of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggedPlace {
    pub offset: Option<u64>,
    /// Bytes of the block, the same for all its members.
    pub block: Option<u64>,
    pub size: Option<u64>,
    /// Bytes before padding.
    pub unpadded: Option<u64>,
    /// Ids of ops, both included; −1 is for ever.
    pub begin: Option<i64>,
    pub end: Option<i64>,
    /// The id of its op, where that is not `begin`.
    pub op: Option<u32>,
    /// The type of its op, see [`OpKinds`].
    pub kind: Option<OpKind>,
    pub stream: Option<u16>,
    /// The kind of memory; 2 is the device's own.
    pub memory_type: Option<u8>,
    /// Whether it is an input or output of the graph.
    pub is_io: bool,
    /// Whether it was moved to what is cleared before use.
    pub is_cleared: bool,
}

/// A type of ops of a log, by position in [`OpKinds`], from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpKind(NonZeroU32);

/// The types of ops of a log, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpKinds(IndexSet<Box<str>>);

impl OpKinds {
    pub fn intern(&mut self, kind: &str) -> Option<OpKind> {
        let position = match self.0.get_index_of(kind) {
            Some(position) => position,
            None => self.0.insert_full(kind.into()).0,
        };
        let number = u32::try_from(position).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(OpKind)
    }

    pub fn get(&self, kind: OpKind) -> &str {
        self.0.get_index(kind.0.get() as usize - 1).map_or("", |kind| kind)
    }
}

/// Variables of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggedVariables {
    /// Variables and the sum of their sizes.
    pub logic: Option<(u64, u64)>,
    /// Pages asked from the device, and bytes of one.
    pub pages: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedEventKind {
    Load,
    Unload,
    /// Unloaded for another graph.
    Evict,
}

impl LoggedEventKind {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Unload => "unload",
            Self::Evict => "evict",
        }
    }
}

/// A model comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    pub kind: LoggedEventKind,
    pub at: Option<LogTime>,
    pub graph: Option<u64>,
    pub model: Option<u64>,
    pub feature_map: Option<u64>,
    pub weights: Option<u64>,
    /// Of a load the largest value until the next event, else the value then; `None` below the level info.
    pub reserved: Option<u64>,
    /// The number of changes of the held bytes before it.
    pub n_before: u32,
    /// Of an unload: the device bytes that the model had, without those in an arena that graphs share.
    pub freed: Option<u64>,
    /// Of an unload: the model's bytes in the arena that graphs share.
    pub shared: Option<u64>,
}

/// The shared arena after a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenaLoad {
    /// Total and used bytes of each block.
    pub blocks: Vec<(Option<u64>, Option<u64>)>,
    pub held: Option<u64>,
    pub used: Option<u64>,
    pub peak: Option<u64>,
}

/// A pool of a dynamic graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedPool {
    /// `None` where the log does not name it.
    pub allocator: Option<String>,
    pub graph: Option<u64>,
    pub mallocs: Option<u64>,
    pub frees: Option<u64>,
    pub occupied_peak: Option<u64>,
    pub theory_min: Option<u64>,
    pub real_theory_min: Option<u64>,
    /// Pages asked from the device.
    pub pages: u64,
    /// Bytes of one.
    pub page_size: Option<u64>,
}

/// Device memory of one module, as the driver counts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriverRow {
    /// The driver's kind of memory: `MEM_DEV_HUGE_HBM`.
    pub kind: String,
    pub device: Option<u64>,
    pub module: String,
    /// Bytes at the first failed request.
    pub at_failure: Option<u64>,
    /// Bytes at [`LoggedFailure::main`].
    pub at_main_failure: Option<u64>,
    pub current: Option<u64>,
    pub peak: Option<u64>,
}

/// A request for memory that failed, however often it is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedFailure {
    pub at: Option<LogTime>,
    pub refused: RefusedBy,
    /// The engine's words: `feature map,used for op input and output`.
    pub purpose: Option<String>,
    pub requested: Option<u64>,
    /// Whether the text prints the requested bytes with a unit, which rounds them.
    pub is_rounded: bool,
    pub device: Option<u64>,
    /// The module, or `torch`.
    pub who: Option<String>,
    /// Whose allocator or driver reports it.
    pub library: Library,
    pub memory: MemoryPlace,
    /// The line of the program that asked: the deepest frame of its traceback outside installed packages, as printed, `train.py:61`.
    pub line: Option<String>,
    /// The kernel or op that asked.
    pub kernel: Option<String>,
    /// The graph, where the engine asked.
    pub graph: Option<u64>,
    /// What the allocator states of itself: bytes that tensors have, bytes that it holds.
    pub allocated: Option<u64>,
    pub reserved: Option<u64>,
    /// The largest free block of the allocator.
    pub largest_free: Option<u64>,
    pub free: Option<u64>,
    pub total: Option<u64>,
    pub allowed: Option<u64>,
    /// Who else has memory, as stated: processes, other allocations, the largest buffers.
    pub holders: Vec<Holder>,
    /// Lines of the driver that belong to it.
    pub driver_lines: u64,
    /// Whether the asker then freed cached memory and requested it again, and no later line of this request reports a failure.
    pub was_retried: bool,
    /// Loads and unloads before it.
    pub n_events: usize,
}

impl LoggedFailure {
    /// The position of the request that a process failed at: the first that was not retried, the first where all were.
    pub fn main(failures: &[Self]) -> Option<usize> {
        let ended = failures.iter().position(|one| !one.was_retried);
        ended.or((!failures.is_empty()).then_some(0))
    }
}

/// Something that has memory when a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub name: String,
    pub bytes: u64,
}

/// A sentence on memory that reports no failed request: what a server found at its start, a row of a device's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedStatement {
    pub at: Option<LogTime>,
    /// What it tells, in our words, with its figures.
    pub text: String,
    /// Device, where it names one.
    pub device: Option<u64>,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryPlace {
    #[default]
    Device,
    /// RAM or locked pages of the host.
    Host,
}

impl MemoryPlace {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}

/// Whose allocator or driver reports a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// CANN's modules and the driver of Ascend.
    #[default]
    Cann,
    TorchNpu,
    TorchCuda,
    TorchHip,
    TorchXpu,
    TorchMps,
    /// XLA's runtimes and compilers: JAX, `torch_xla`, TPU.
    Jax,
    TensorFlow,
    MindSpore,
    Paddle,
    /// What gives memory of the host to any program: C++, numpy, torch's CPU allocator, the kernel.
    System,
    /// Another library of a device: `CuPy`, ONNX Runtime, llama.cpp.
    Other,
}

impl Library {
    /// The name in texts and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cann => "CANN",
            Self::TorchNpu => "torch_npu",
            Self::TorchCuda => "torch (CUDA)",
            Self::TorchHip => "torch (HIP)",
            Self::TorchXpu => "torch (XPU)",
            Self::TorchMps => "torch (MPS)",
            Self::Jax => "XLA",
            Self::TensorFlow => "TensorFlow",
            Self::MindSpore => "MindSpore",
            Self::Paddle => "Paddle",
            Self::System => "host",
            Self::Other => "another library",
        }
    }

    /// Whether an allocator of PyTorch reports it.
    pub const fn is_of_torch(self) -> bool {
        matches!(
            self,
            Self::TorchNpu | Self::TorchCuda | Self::TorchHip | Self::TorchXpu | Self::TorchMps
        )
    }

    /// Whether the device is one of Ascend, as far as the library tells.
    pub const fn is_of_ascend(self) -> bool {
        matches!(self, Self::Cann | Self::TorchNpu)
    }
}

/// What refused a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusedBy {
    /// The device had no memory, or the log does not tell.
    #[default]
    Device,
    /// A check of a graph before anything was asked from the device: GE's, or that of XLA's compiler.
    Check,
    /// The limit that the program set for its process (`per_process_memory_fraction`, MPS's high watermark).
    Fraction,
    /// The device; the request was for workspace outside torch's pool.
    Workspace,
}

impl RefusedBy {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Check => "check",
            Self::Fraction => "fraction",
            Self::Workspace => "workspace",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LogTime;

    #[test]
    fn times_are_dates() {
        let day = |days: i64| LogTime(days * 86_400_000_000 + 3_661_002_003).to_string();
        assert_eq!(day(0), "0000-03-01 01:01:01.002");
        assert_eq!(day(719_468), "1970-01-01 01:01:01.002");
        assert_eq!(day(719_468 + 19_782), "2024-02-29 01:01:01.002");
    }
}
