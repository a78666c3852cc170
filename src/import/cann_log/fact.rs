//! What one line of a log says, with its place in the order of the story.

use super::field::Amount;
use super::patterns::{BUFFER, MOST_HOLDERS};
use highwater_model::workload::{Holder, Library, MemoryPlace, RefusedBy};

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
    /// The row of the table that read it.
    pub(super) row: &'static str,
    pub(super) library: Library,
    pub(super) memory: MemoryPlace,
    pub(super) asked: Option<Amount>,
    pub(super) who: Option<String>,
    pub(super) device: Option<u64>,
    pub(super) graph: Option<u64>,
    /// The process, where the sentence names one, and its program.
    pub(super) process: Option<u64>,
    pub(super) program: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) allocated: Option<u64>,
    pub(super) reserved: Option<u64>,
    pub(super) largest_free: Option<u64>,
    pub(super) free: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) allowed: Option<u64>,
    pub(super) holders: Vec<Holder>,
    /// The name of a holder that was told before.
    pub(super) holder_name: Option<String>,
    pub(super) refused: RefusedBy,
    /// What the memory is for, in the engine's words.
    pub(super) purpose: Option<String>,
    /// The line of the program, from the traceback before it.
    pub(super) line: Option<String>,
    /// Whether it calls reserved memory cached, as torch 1.3 and older do.
    pub(super) is_cached: bool,
    /// Whether it states any figure or name.
    pub(super) has_figures: bool,
    /// Whether the words are a report by themselves, and no text of a program.
    pub(super) is_told: bool,
}

impl Report {
    /// Takes what another report of the same request names and this one does not: exact sizes and the sentence's asker win.
    pub(super) fn fill(&mut self, other: &Self) {
        let is_better = |known: Option<Amount>| known.is_none_or(|known| !known.is_exact());
        if other.asked.is_some() && is_better(self.asked) {
            self.asked = other.asked;
        }
        // XLA reports what its allocator, TensorFlow's, could not get.
        let is_of_xla = self.library == Library::TensorFlow && other.library == Library::Jax;
        if self.who.is_none() || other.who.as_deref() == Some("torch") || is_of_xla {
            self.who = other.who.clone().or(self.who.take());
        }
        if self.library == Library::Cann || is_of_xla {
            self.library = other.library;
        }
        if other.memory == MemoryPlace::Host {
            self.memory = MemoryPlace::Host;
        }
        if self.refused == RefusedBy::Device {
            self.refused = other.refused;
        }
        for (known, found) in [
            (&mut self.purpose, &other.purpose),
            (&mut self.program, &other.program),
            (&mut self.kernel, &other.kernel),
            (&mut self.line, &other.line),
        ] {
            if known.is_none() {
                known.clone_from(found);
            }
        }
        for (known, found) in [
            (&mut self.device, other.device),
            (&mut self.graph, other.graph),
            (&mut self.process, other.process),
            (&mut self.allocated, other.allocated),
            (&mut self.reserved, other.reserved),
            (&mut self.free, other.free),
            (&mut self.total, other.total),
            (&mut self.allowed, other.allowed),
        ] {
            *known = known.or(found);
        }
        self.largest_free = self.largest_free.max(other.largest_free);
        self.fill_holders(other);
    }

    fn fill_holders(&mut self, other: &Self) {
        if let (Some(name), Some(last)) = (&other.holder_name, self.holders.last_mut())
            && last.name == BUFFER
        {
            last.name.clone_from(name);
        }
        for holder in &other.holders {
            let is_known = holder.name != BUFFER && self.holders.contains(holder);
            if self.holders.len() < MOST_HOLDERS && !is_known {
                self.holders.push(holder.clone());
            }
        }
    }

    /// Whether both can be the same words, of which one may be cut; the traceback before them does not count.
    pub(super) fn is_repeated_by(&self, other: &Self) -> bool {
        let agree = |one: Option<u64>, other: Option<u64>| one.zip(other).is_none_or(|(one, other)| one == other);
        let same = |one: &Option<String>, other: &Option<String>| {
            one.as_ref().zip(other.as_ref()).is_none_or(|(one, other)| one == other)
        };
        self.kind == other.kind
            && self.row == other.row
            && self.memory == other.memory
            && self.asked.zip(other.asked).is_none_or(|(one, other)| one == other)
            && same(&self.who, &other.who)
            && same(&self.kernel, &other.kernel)
            && (self.holders.is_empty() || other.holders.is_empty() || self.holders == other.holders)
            && [
                (self.device, other.device),
                (self.graph, other.graph),
                (self.process, other.process),
                (self.allocated, other.allocated),
                (self.reserved, other.reserved),
                (self.free, other.free),
                (self.total, other.total),
                (self.allowed, other.allowed),
            ]
            .into_iter()
            .all(|(one, other)| agree(one, other))
    }
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
    /// Passes on what another line reports, if one does.
    Echo,
    /// A sentence of a library's allocator.
    Sentence,
    /// The sentence says that the program goes on without the memory.
    Tolerated,
    /// One of several requests, each smaller than the one before.
    Attempt,
}

impl ReportKind {
    pub(super) const fn is_page(self) -> bool {
        matches!(self, Self::DriverPage | Self::Page)
    }

    pub(super) const fn is_driver(self) -> bool {
        matches!(self, Self::Driver | Self::DriverPage)
    }

    /// Whether words of a library report it, which often have no time and no process.
    pub(super) const fn is_sentence(self) -> bool {
        matches!(self, Self::Sentence | Self::Tolerated | Self::Attempt)
    }
}
