//! The figures of a device: what each counts, what it is called, and what its value rests on.

use std::sync::Arc;

use serde::Deserialize;

use crate::units::{Bytes, Nanos, grouped};

/// One figure of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceFigure {
    /// Its memory.
    MemoryBytes,
    /// One malloc of the driver.
    MallocNs,
    /// One free of the driver.
    FreeNs,
    /// Mapping one physical page.
    MapNs,
    /// Unmapping one physical page.
    UnmapNs,
    /// Reserving or releasing a virtual range.
    ReserveNs,
    /// One wait for a stream.
    SyncNs,
    /// Launching one op.
    LaunchNs,
    /// Floating point operations a second.
    FlopsPerSecond,
    /// Bandwidth of its memory.
    MemoryBytesPerSecond,
    /// Bandwidth of clearing its memory.
    ClearBytesPerSecond,
    /// Bandwidth from the host.
    HostBytesPerSecond,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Operations a second.
    OperationsPerSecond,
    /// Bytes a second.
    BytesPerSecond,
}

impl FigureUnit {
    /// The unit's name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanoseconds => "nanoseconds",
            Self::OperationsPerSecond => "operations per second",
            Self::BytesPerSecond => "bytes per second",
        }
    }

    /// A value with its unit, for people.
    pub fn text(self, value: u64) -> String {
        match self {
            Self::Bytes => Bytes(value).to_string(),
            Self::Nanoseconds => Nanos(value).to_string(),
            Self::OperationsPerSecond => operations_text(value),
            Self::BytesPerSecond => format!("{}/s", Bytes(value)),
        }
    }

    /// The whole value with its unit.
    pub fn exact(self, value: u64) -> String {
        match self {
            Self::Bytes => Bytes(value).exact(),
            Self::Nanoseconds => format!("{} ns", grouped(value)),
            Self::OperationsPerSecond => format!("{} operations a second", grouped(value)),
            Self::BytesPerSecond => format!("{} bytes a second", grouped(value)),
        }
    }
}

/// Operations a second in thousands: `353.9 TFLOP/s`.
fn operations_text(value: u64) -> String {
    let scales = [(1_000_000_000_000_u64, "TFLOP/s"), (1_000_000_000, "GFLOP/s")];
    let Some((scale, unit)) = scales.into_iter().find(|(scale, _)| value >= *scale) else {
        return format!("{}\u{a0}FLOP/s", grouped(value));
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with four figures only")]
    let figure = value as f64 / scale as f64;
    format!("{figure:.1}\u{a0}{unit}")
}

impl DeviceFigure {
    /// Every figure, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::MemoryBytes,
        Self::MallocNs,
        Self::FreeNs,
        Self::MapNs,
        Self::UnmapNs,
        Self::ReserveNs,
        Self::SyncNs,
        Self::LaunchNs,
        Self::FlopsPerSecond,
        Self::MemoryBytesPerSecond,
        Self::ClearBytesPerSecond,
        Self::HostBytesPerSecond,
    ];

    /// What it is called.
    pub const fn label(self) -> &'static str {
        match self {
            Self::MemoryBytes => "memory",
            Self::MallocNs => "driver malloc",
            Self::FreeNs => "driver free",
            Self::MapNs => "map of a page",
            Self::UnmapNs => "unmap of a page",
            Self::ReserveNs => "reserve or release of a range",
            Self::SyncNs => "wait for a stream",
            Self::LaunchNs => "launch of an op",
            Self::FlopsPerSecond => "operations",
            Self::MemoryBytesPerSecond => "memory bandwidth",
            Self::ClearBytesPerSecond => "bandwidth of clearing",
            Self::HostBytesPerSecond => "bandwidth from the host",
        }
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemoryBytes => "memory_bytes",
            Self::MallocNs => "malloc_ns",
            Self::FreeNs => "free_ns",
            Self::MapNs => "map_ns",
            Self::UnmapNs => "unmap_ns",
            Self::ReserveNs => "reserve_ns",
            Self::SyncNs => "sync_ns",
            Self::LaunchNs => "launch_ns",
            Self::FlopsPerSecond => "flops_per_second",
            Self::MemoryBytesPerSecond => "memory_bytes_per_second",
            Self::ClearBytesPerSecond => "clear_bytes_per_second",
            Self::HostBytesPerSecond => "host_bytes_per_second",
        }
    }

    /// What it counts.
    pub const fn unit(self) -> FigureUnit {
        match self {
            Self::MemoryBytes => FigureUnit::Bytes,
            Self::FlopsPerSecond => FigureUnit::OperationsPerSecond,
            Self::MemoryBytesPerSecond | Self::ClearBytesPerSecond | Self::HostBytesPerSecond => {
                FigureUnit::BytesPerSecond
            }
            _ => FigureUnit::Nanoseconds,
        }
    }
}

/// What a figure rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A source that is named.
    Source(Arc<str>),
    /// No public source settles it: the reason why this value is taken.
    Estimate(Arc<str>),
    /// The user set it.
    User,
}

impl Basis {
    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Source(_) => "source",
            Self::Estimate(_) => "estimate",
            Self::User => "set",
        }
    }

    /// The mark that stands beside the figure; a source needs none.
    pub const fn mark(&self) -> Option<&'static str> {
        match self {
            Self::Source(_) => None,
            Self::Estimate(_) => Some("estimate"),
            Self::User => Some("set by you"),
        }
    }

    /// A sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Source(source) => format!("source: {source}"),
            Self::Estimate(reason) => format!("estimate: {reason}"),
            Self::User => "set by you".to_owned(),
        }
    }
}
