//! The arithmetic before any advice on an allocator: whether the figures of a failed request leave room for it.
//!
//! ```text
//! request > device                                            Larger: no setting
//! limit of the program leaves less, the device had enough     Limited
//! nothing reserved / all that is reserved is allocated        NothingReserved, NothingUnused: nothing to join
//! unused + what the pool may grow by >= request               Pieces: the memory is there, but not in one piece
//! what was free decides, and is not stated                    Open
//! else                                                        Short
//! ```
//!
//! In: a failed request. Out: a [`Finding`]. Unknown figures stay unknown: without those that a row needs the finding is
//! [`Finding::Unknown`].

use super::super::recorded_failures::segment_bytes;
use super::request::difference;
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedFailure};

/// What the figures tell of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The text does not state the figures that tell.
    Unknown,
    /// The request is larger than the whole device.
    Larger {
        total: u64,
    },
    /// The program's own limit leaves too little, and nothing says that the device had too little.
    Limited {
        left: u64,
    },
    NothingReserved,
    NothingUnused,
    Pieces(Room),
    /// Unused bytes alone do not suffice, and no text states what was free.
    Open(Room),
    /// `is_sure`: the rounding of printed figures does not explain it.
    Short {
        room: Room,
        missing: u64,
        is_sure: bool,
    },
}

/// The bytes that were there for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Reserved by the pool without a tensor; `None` where no text states it.
    pub(super) unused: Option<u64>,
    pub(super) growth: Growth,
}

/// Bytes by which the pool may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Free on the device, as stated.
    Free(u64),
    /// What a limit leaves.
    Limit(u64),
    /// More than these cannot be free: the device without what the pool has.
    AtMost(u64),
    Unstated,
}

impl Growth {
    const fn bytes(self) -> u64 {
        match self {
            Self::Free(bytes) | Self::Limit(bytes) | Self::AtMost(bytes) => bytes,
            Self::Unstated => 0,
        }
    }

    /// `0 B free`.
    fn words(self) -> Option<String> {
        Some(match self {
            Self::Free(bytes) => format!("{} free", Bytes(bytes)),
            Self::Limit(bytes) => format!("{} below the limit", Bytes(bytes)),
            Self::AtMost(bytes) => format!("at most {} free", Bytes(bytes)),
            Self::Unstated => return None,
        })
    }
}

impl Room {
    const fn sum(self) -> u64 {
        let unused = match self.unused {
            Some(unused) => unused,
            None => 0,
        };
        unused.saturating_add(self.growth.bytes())
    }

    /// `about 1.950 GiB reserved, unused and 0 B free`.
    pub(super) fn words(self) -> String {
        let unused = self
            .unused
            .map(|unused| format!("about {} reserved, unused", Bytes(unused)));
        match (unused, self.growth.words()) {
            (Some(unused), Some(growth)) => format!("{unused} and {growth}"),
            (None, Some(growth)) if matches!(self.growth, Growth::AtMost(_)) => growth,
            (None, Some(growth)) => format!("about {growth}"),
            (Some(unused), None) => unused,
            (None, None) => "unknown bytes".to_owned(),
        }
    }
}

/// Whether the allocator is torch's caching allocator of blocks in segments.
pub(super) const fn is_torch_pool(library: Library) -> bool {
    matches!(
        library,
        Library::TorchNpu | Library::TorchCuda | Library::TorchHip | Library::TorchXpu
    )
}

/// Of a pool under a limit: an unused part of this share is more than the usual remainder of blocks.
const CUT_UP: u64 = 10;

pub(super) fn finding(failure: &LoggedFailure, library: Library) -> Finding {
    let Some(requested) = failure.requested else {
        return Finding::Unknown;
    };
    if let Some(total) = failure.total.filter(|total| *total > 0 && *total < requested) {
        return Finding::Larger { total };
    }
    let unused = difference(failure.reserved, failure.allocated);
    let left = left(failure, library);
    let needed = needed(requested, library);
    let is_cut_up = unused.is_some_and(|unused| {
        unused >= requested && unused.saturating_mul(CUT_UP) >= failure.reserved.unwrap_or(u64::MAX)
    });
    if let Some(left) = left.filter(|left| *left < needed && !is_cut_up)
        && failure.free.is_none_or(|free| free >= needed)
    {
        return Finding::Limited { left };
    }
    match unused {
        Some(0) if failure.reserved == Some(0) => return Finding::NothingReserved,
        Some(0) => return Finding::NothingUnused,
        None if is_torch_pool(library) || library == Library::TorchMps => return Finding::Unknown,
        _ => {}
    }
    let of_pool = of_pool(failure);
    let Some(room) = room(failure, unused, left) else {
        return Finding::Unknown;
    };
    if room.sum() >= requested || room.growth == Growth::Unstated {
        let is_free_needed = unused.is_none_or(|unused| unused < requested);
        let is_open = match room.growth {
            Growth::Free(_) => false,
            // A pool of torch takes segments from the device when it needs them; other pools own what they may take.
            Growth::Limit(_) => failure.free.is_none() && is_torch_pool(library),
            Growth::AtMost(_) | Growth::Unstated => unused.is_some(),
        };
        if is_open && is_free_needed {
            return Finding::Open(room);
        }
        // Free bytes alone, of a pool that states nothing, explain nothing.
        let is_known = unused.is_some() || left.is_some();
        return if is_known {
            let growth = if is_open { Growth::Unstated } else { room.growth };
            Finding::Pieces(Room { unused, growth })
        } else {
            Finding::Unknown
        };
    }
    let missing = requested - room.sum();
    Finding::Short {
        room,
        missing,
        is_sure: unused.or(left).or(of_pool).is_some() && missing > rounding(failure, library),
    }
}

/// Bytes that a limit leaves to the pool; of pools that state no device the rest of what they manage.
fn left(failure: &LoggedFailure, library: Library) -> Option<u64> {
    let named = || {
        failure
            .holders
            .iter()
            .fold(0_u64, |sum, one| sum.saturating_add(one.bytes))
    };
    let held = failure.reserved.or(failure.allocated);
    match library {
        // Other allocations count in the limit of MPS.
        Library::TorchMps => Some(difference(failure.allowed, held)?.saturating_sub(named())),
        // MindSpore states its parts, static and dynamic memory, in place of their sum.
        Library::MindSpore if held.is_none() && !failure.holders.is_empty() => {
            difference(failure.allowed, Some(named()))
        }
        _ => difference(failure.allowed, held),
    }
}

/// The rest of a device or pool of which only the allocated bytes are stated.
fn of_pool(failure: &LoggedFailure) -> Option<u64> {
    let is_alone = failure.reserved.is_none() && failure.free.is_none();
    difference(failure.total, failure.allocated).filter(|_| is_alone)
}

fn room(failure: &LoggedFailure, unused: Option<u64>, left: Option<u64>) -> Option<Room> {
    let growth = match (failure.free, left) {
        (Some(free), Some(left)) if free > left => Growth::Limit(left),
        (Some(free), _) => Growth::Free(free),
        (None, Some(left)) => Growth::Limit(left),
        (None, None) => match difference(failure.total.filter(|total| *total > 0), failure.reserved) {
            Some(rest) => Growth::AtMost(rest),
            None if unused.is_some() => Growth::Unstated,
            None => Growth::AtMost(of_pool(failure)?),
        },
    };
    Some(Room { unused, growth })
}

/// What the pool asks the device for.
pub(super) const fn needed(requested: u64, library: Library) -> u64 {
    if is_torch_pool(library) {
        segment_bytes(requested)
    } else {
        requested
    }
}

/// What printed figures may be off together: torch prints two decimals of the largest unit.
fn rounding(failure: &LoggedFailure, library: Library) -> u64 {
    if !failure.is_rounded && !is_torch_pool(library) {
        return 0;
    }
    let figures = [failure.requested, failure.allocated, failure.reserved, failure.free];
    figures.into_iter().flatten().map(half_step).sum()
}

/// Half a hundredth of the unit in which a figure is printed, rounded up.
fn half_step(bytes: u64) -> u64 {
    let unit = [1_u64 << 30, 1 << 20, 1 << 10].into_iter().find(|unit| bytes >= *unit);
    unit.map_or(0, |unit| unit.div_ceil(200))
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::Holder;

    const MIB: u64 = 1 << 20;

    /// Requested, allocated, reserved, free, total, allowed in MiB; −1 is not stated.
    fn found(library: Library, figures: [i64; 6]) -> Finding {
        let figures = figures.map(|mib| u64::try_from(mib).ok().map(|mib| mib * MIB));
        let [requested, allocated, reserved, free, total, allowed] = figures;
        let failure = LoggedFailure {
            requested,
            allocated,
            reserved,
            free,
            total,
            allowed,
            ..LoggedFailure::default()
        };
        finding(&failure, library)
    }

    fn name(finding: Finding) -> &'static str {
        match finding {
            Finding::Unknown => "unknown",
            Finding::Larger { .. } => "larger",
            Finding::Limited { .. } => "limited",
            Finding::NothingReserved => "nothing reserved",
            Finding::NothingUnused => "nothing unused",
            Finding::Pieces(_) => "pieces",
            Finding::Open(_) => "open",
            Finding::Short { is_sure: true, .. } => "short",
            Finding::Short { is_sure: false, .. } => "unsure",
        }
    }

    #[test]
    fn figures_decide() {
        use Library::{Jax, MindSpore, Paddle, TensorFlow, TorchCuda, TorchHip, TorchNpu, TorchXpu};
        let rows: [(Library, [i64; 6], &str); 29] = [
            // 9.35 GiB unused and 12.73 GiB free are less than 22.78 GiB.
            (TorchCuda, [23_327, 9298, 18_872, 13_036, 32_225, -1], "short"),
            (TorchCuda, [1741, 3000, 5356, 0, 6144, -1], "pieces"),
            (TorchCuda, [10_988, 17_613, 19_610, 0, 8192, -1], "larger"),
            (TorchNpu, [1500, 10_000, 11_000, 600, 12_000, -1], "pieces"),
            // 9 MiB are less than four roundings.
            (TorchNpu, [88, 4342, 4413, 8, 62_423, -1], "unsure"),
            (TorchNpu, [20, 0, 0, 48, 62_740, -1], "nothing reserved"),
            (TorchNpu, [20, 1024, 1024, 48, 62_740, -1], "nothing unused"),
            (TorchNpu, [1024, 51_200, 51_200, 3072, 62_740, -1], "nothing unused"),
            // A limit that the device does not have.
            (TorchHip, [2, 1017, 1072, 250_000, 262_000, 1075], "limited"),
            (TorchCuda, [500, 10_000, 10_100, 9000, 32_000, 10_200], "limited"),
            (TorchCuda, [500, 10_000, 20_100, 9000, 32_000, 20_200], "pieces"),
            // The device has no more than the limit leaves.
            (TorchNpu, [512, 18_227, 24_453, 215, 30_198, 24_576], "pieces"),
            (TorchXpu, [8305, 0, 0, 16_937, 16_937, 8468], "nothing reserved"),
            (TorchCuda, [500, -1, -1, 100, 12_000, -1], "unknown"),
            // Without free bytes at most 2458 MiB can be free.
            (TorchXpu, [2560, 12_605, 13_834, -1, 16_292, -1], "open"),
            (TorchXpu, [4096, 12_605, 13_834, -1, 16_292, -1], "short"),
            (TorchXpu, [1000, 12_605, 13_834, -1, 16_292, -1], "pieces"),
            (TorchXpu, [1000, 12_605, 13_000, -1, -1, -1], "open"),
            (TorchXpu, [100, 5000, 5000, -1, 16_292, -1], "nothing unused"),
            (TorchCuda, [500, 10_000, 10_400, -1, -1, 11_000], "open"),
            (Paddle, [3709, 3277, -1, 2883, -1, -1], "unsure"),
            (TorchCuda, [-1, 10, 20, 100, 12_000, -1], "unknown"),
            (MindSpore, [1792, 57_344, -1, -1, -1, 58_368], "limited"),
            (MindSpore, [3072, 28_610, -1, -1, 30_720, -1], "short"),
            (TensorFlow, [192, 6597, -1, -1, -1, 7598], "pieces"),
            (Paddle, [256, -1, -1, 96, -1, -1], "unsure"),
            (Paddle, [256, -1, -1, 960, -1, -1], "unknown"),
            (Jax, [65_331, -1, -1, -1, 31_488, -1], "larger"),
            (Jax, [6, -1, -1, -1, -1, -1], "unknown"),
        ];
        for (library, figures, wanted) in rows {
            assert_eq!(name(found(library, figures)), wanted, "{library:?} {figures:?}");
        }
    }

    #[test]
    fn other_allocations_count_in_the_limit_of_mps() {
        let failure = |others: u64| LoggedFailure {
            requested: Some(768 * MIB),
            allocated: Some(5560 * MIB),
            allowed: Some(6800 * MIB),
            holders: vec![Holder {
                name: "other allocations".to_owned(),
                bytes: others * MIB,
            }],
            ..LoggedFailure::default()
        };
        let left = |others| finding(&failure(others), Library::TorchMps);
        assert_eq!(left(1100), Finding::Limited { left: 140 * MIB });
        assert_eq!(left(100), Finding::Unknown);
    }

    #[test]
    fn pools_ask_for_segments() {
        let sizes = [1, MIB, MIB + 1, 10 * MIB - 1, 10 * MIB, 11 * MIB, u64::MAX];
        let needed = sizes.map(|size| needed(size, Library::TorchCuda) / MIB);
        assert_eq!(needed, [2, 2, 20, 20, 10, 12, u64::MAX / MIB]);
    }

    #[test]
    fn the_words_name_their_parts() {
        for (growth, wanted) in [
            (Growth::Free(0), "about 3.000 GiB reserved, unused and 0 B free"),
            (
                Growth::AtMost(1 << 30),
                "about 3.000 GiB reserved, unused and at most 1.000 GiB free",
            ),
            (Growth::Unstated, "about 3.000 GiB reserved, unused"),
        ] {
            let room = Room {
                unused: Some(3 << 30),
                growth,
            };
            assert_eq!(room.words().replace('\u{a0}', " "), wanted);
        }
    }
}
