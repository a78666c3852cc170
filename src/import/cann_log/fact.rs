//! What one line of a log says, with its place in the order of the story.

use super::field::Amount;
use highwater_model::workload::RefusedBy;

/// A line's place: the time of its record, its file, its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Microseconds; `None` for text without a time.
    pub(super) stamp: Option<i64>,
    pub(super) file: u32,
    pub(super) position: u64,
}

impl At {
    /// The order of a folder: by time, text without one last.
    pub(super) fn by_time(self) -> (bool, Option<i64>, u32, u64) {
        (self.stamp.is_none(), self.stamp, self.file, self.position)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) at: At,
    pub(super) thread: Option<u64>,
    pub(super) says: Says,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The compilation of a graph begins.
    Compile {
        session: Option<u64>,
        graph: u64,
        name: String,
    },
    /// An assigner's arena; the smaller is printed first.
    Assigner(&'static str),
    /// The arena without inputs and outputs (2020).
    ArenaOnly(u64),
    Summary(Box<Summary>),
    /// The id of the model that is loaded next.
    Params {
        model: u64,
    },
    Weights {
        graph: u64,
        bytes: Option<u64>,
    },
    Features {
        graph: u64,
        bytes: Option<u64>,
        /// p2p memory and other kinds, beside the main part.
        is_extra: bool,
    },
    Unload(UnloadLine),
    /// The number of users of the shared arena after one is gone.
    ArenaUsers(u64),
    ArenaBegins,
    ArenaBlock {
        total: Option<u64>,
        used: Option<u64>,
    },
    ArenaTotal {
        held: Option<u64>,
        used: Option<u64>,
        peak: Option<u64>,
    },
    /// A page asked from the device.
    Page {
        bytes: u64,
        is_pool: bool,
    },
    /// Bytes of all pages of an allocator after one came or went.
    Pages {
        bytes: u64,
        is_shared: Option<bool>,
    },
    Variable {
        name: String,
        bytes: u64,
    },
    Pool {
        allocator: Option<String>,
        line: PoolLine,
    },
    /// Bytes of the device that are free, and all.
    DeviceFree {
        free: u64,
        total: Option<u64>,
    },
    Driver(Box<Statistics>),
    Report(Box<Report>),
}

/// The summary of a compiled graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) graph: String,
    pub(super) memory_type: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) zero_copy: Option<u64>,
    pub(super) theory_min: Option<u64>,
    pub(super) sum_of_sizes: Option<u64>,
    pub(super) no_reuse: Option<u64>,
}

/// A line on a model that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnloadLine {
    Begin {
        model: Option<u64>,
    },
    Metrics {
        graph: String,
        /// Bytes outside and inside the shared arena.
        freed: Option<u64>,
        shared: Option<u64>,
    },
    Done {
        graph: Option<u64>,
        model: Option<u64>,
        is_evicted: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PoolLine {
    /// It was asked for memory.
    Asked,
    Device {
        occupied: Option<u64>,
        theory_min: Option<u64>,
        real_theory_min: Option<u64>,
    },
    Counts {
        mallocs: Option<u64>,
        frees: Option<u64>,
    },
    Graph(String),
}

/// A row of the driver's statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statistics {
    pub(super) kind: String,
    pub(super) device: Option<u64>,
    pub(super) module: String,
    pub(super) current: Option<u64>,
    pub(super) peak: Option<u64>,
}

/// A line on a request that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) kind: ReportKind,
    pub(super) asked: Option<Amount>,
    pub(super) who: Option<String>,
    pub(super) device: Option<u64>,
    pub(super) graph: Option<u64>,
    pub(super) allocated: Option<u64>,
    pub(super) reserved: Option<u64>,
    pub(super) free: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) allowed: Option<u64>,
    pub(super) refused: RefusedBy,
    /// What the memory is for, in the engine's words.
    pub(super) purpose: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReportKind {
    /// It adds what it names to a request that others report.
    #[default]
    Addition,
    /// The asker frees cached memory and requests again: what failed before is not final.
    Retry,
    /// The driver gives no memory.
    Driver,
    /// The driver gives no page.
    DriverPage,
    /// The engine got no page.
    Page,
    /// The engine got no memory.
    Malloc,
    /// Refused before anything is asked from the device.
    Check,
    /// An error code on the terminal.
    Code,
    /// A sentence of `torch_npu`.
    Torch,
}

impl ReportKind {
    pub(super) const fn is_page(self) -> bool {
        matches!(self, Self::DriverPage | Self::Page)
    }

    pub(super) const fn is_driver(self) -> bool {
        matches!(self, Self::Driver | Self::DriverPage)
    }
}
