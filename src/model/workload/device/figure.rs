//! The figures of a device: units, names, and the basis of values.

use std::sync::Arc;

use serde::Deserialize;

use crate::units::{Bytes, Nanos, grouped, parse_with_unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceFigure {
    MemoryBytes,
    MallocNs,
    FreeNs,
    /// Per physical page.
    MapNs,
    /// Per physical page.
    UnmapNs,
    /// Per reserved or released virtual range.
    ReserveNs,
    /// Per wait for a stream.
    SyncNs,
    /// Per launched op.
    LaunchNs,
    /// Floating point operations per second.
    FlopsPerSecond,
    /// Bandwidth of its memory.
    MemoryBytesPerSecond,
    /// Bandwidth of clearing its memory.
    ClearBytesPerSecond,
    /// Bandwidth from the host.
    HostBytesPerSecond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    Bytes,
    Nanoseconds,
    OperationsPerSecond,
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

    /// The unit's symbol.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanoseconds => "ns",
            Self::OperationsPerSecond => "FLOP/s",
            Self::BytesPerSecond => "bytes/s",
        }
    }

    /// The accepted notations of a value.
    pub const fn forms(self) -> &'static str {
        match self {
            Self::Bytes => "34359738368, 32GiB or 32 GB",
            Self::Nanoseconds => "80000, 80us or 0.08 ms",
            Self::OperationsPerSecond => "320000000000000, 320 TFLOP/s or 320T",
            Self::BytesPerSecond => "1200000000000, 1.2 TB/s or 900GiB/s",
        }
    }

    /// Reads a user's value with or without a unit; `None` where it is none of [`FigureUnit::forms`].
    pub fn parse(self, text: &str) -> Option<u64> {
        let lower = text.trim().to_lowercase();
        match self {
            Self::Bytes => Bytes::parse(text).ok().map(Bytes::get),
            Self::BytesPerSecond => Bytes::parse(lower.strip_suffix("/s").unwrap_or(&lower))
                .ok()
                .map(Bytes::get),
            Self::Nanoseconds => parse_with_unit(&lower, |unit| match unit {
                "" | "ns" => Some(1),
                // The micro sign and the Greek letter.
                "us" | "\u{b5}s" | "\u{3bc}s" => Some(1_000),
                "ms" => Some(1_000_000),
                "s" => Some(1_000_000_000),
                _ => None,
            }),
            Self::OperationsPerSecond => parse_with_unit(&lower, |unit| match unit {
                "" | "flop/s" | "flops" => Some(1),
                "g" | "gflop/s" | "gflops" => Some(1_000_000_000),
                "t" | "tflop/s" | "tflops" => Some(1_000_000_000_000),
                "p" | "pflop/s" | "pflops" => Some(1_000_000_000_000_000),
                _ => None,
            }),
        }
    }

    /// A rounded value with its unit.
    pub fn text(self, value: u64) -> String {
        match self {
            Self::Bytes => Bytes(value).to_string(),
            Self::Nanoseconds => Nanos(value).to_string(),
            Self::OperationsPerSecond => operations_text(value),
            Self::BytesPerSecond => format!("{}/s", Bytes(value)),
        }
    }

    /// The exact value with its unit.
    pub fn exact(self, value: u64) -> String {
        match self {
            Self::Bytes => Bytes(value).exact(),
            Self::Nanoseconds => format!("{} ns", grouped(value)),
            Self::OperationsPerSecond => format!("{} operations a second", grouped(value)),
            Self::BytesPerSecond => format!("{} bytes a second", grouped(value)),
        }
    }
}

/// Operations per second: `353.9 TFLOP/s`.
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
    /// In display order.
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

    /// The row of [`ROWS`]: name in files, label shown to users, unit.
    const fn row(self) -> (&'static str, &'static str, FigureUnit) {
        ROWS[self as usize]
    }

    /// The name in files.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The label shown to users.
    pub const fn label(self) -> &'static str {
        self.row().1
    }

    pub const fn unit(self) -> FigureUnit {
        self.row().2
    }
}

/// In the order of the enumeration.
const ROWS: [(&str, &str, FigureUnit); 12] = [
    ("memory_bytes", "memory", FigureUnit::Bytes),
    ("malloc_ns", "driver malloc", FigureUnit::Nanoseconds),
    ("free_ns", "driver free", FigureUnit::Nanoseconds),
    ("map_ns", "map of a page", FigureUnit::Nanoseconds),
    ("unmap_ns", "unmap of a page", FigureUnit::Nanoseconds),
    ("reserve_ns", "reserve or release of a range", FigureUnit::Nanoseconds),
    ("sync_ns", "wait for a stream", FigureUnit::Nanoseconds),
    ("launch_ns", "launch of an op", FigureUnit::Nanoseconds),
    ("flops_per_second", "operations", FigureUnit::OperationsPerSecond),
    (
        "memory_bytes_per_second",
        "memory bandwidth",
        FigureUnit::BytesPerSecond,
    ),
    (
        "clear_bytes_per_second",
        "bandwidth of clearing",
        FigureUnit::BytesPerSecond,
    ),
    (
        "host_bytes_per_second",
        "bandwidth from the host",
        FigureUnit::BytesPerSecond,
    ),
];

/// The basis of a figure's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A named source.
    Source(Arc<str>),
    /// No public source: the reason for this value.
    Estimate(Arc<str>),
    User,
}

impl Basis {
    /// The name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Source(_) => "source",
            Self::Estimate(_) => "estimate",
            Self::User => "set",
        }
    }

    /// The mark shown with the figure; none for a source.
    pub const fn mark(&self) -> Option<&'static str> {
        match self {
            Self::Source(_) => None,
            Self::Estimate(_) => Some("estimate"),
            Self::User => Some("set by you"),
        }
    }

    /// The basis as a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Source(source) => format!("source: {source}"),
            Self::Estimate(reason) => format!("estimate: {reason}"),
            Self::User => "set by you".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FigureUnit::{Bytes, BytesPerSecond, Nanoseconds, OperationsPerSecond};

    #[test]
    fn figures_are_read_as_people_write_them() {
        let cases = [
            (Nanoseconds, "80000", Some(80_000)),
            (Nanoseconds, " 80us ", Some(80_000)),
            (Nanoseconds, "80 \u{b5}s", Some(80_000)),
            (Nanoseconds, "0.08 ms", Some(80_000)),
            (Nanoseconds, "2s", Some(2_000_000_000)),
            (Nanoseconds, "80 parsecs", None),
            (Nanoseconds, "", None),
            (Nanoseconds, "us", None),
            (Bytes, "32GiB", Some(32 << 30)),
            (BytesPerSecond, "1.5 TB/s", Some(1_500_000_000_000)),
            (BytesPerSecond, "900GiB/s", Some(900 << 30)),
            (BytesPerSecond, "7", Some(7)),
            (BytesPerSecond, "7 m/s/s", None),
            (OperationsPerSecond, "320 TFLOP/s", Some(320_000_000_000_000)),
            (OperationsPerSecond, "0.5T", Some(500_000_000_000)),
            (OperationsPerSecond, "99999999999999999999P", None),
        ];
        for (unit, text, expected) in cases {
            assert_eq!(unit.parse(text), expected, "{text:?}");
        }
    }
}
