//! Released versions of the allocator and what each does differently, as one table.

/// A release whose allocator is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// torch 2.9.
    Torch2_9,
    /// torch 2.10.
    Torch2_10,
    /// torch 2.11.
    Torch2_11,
    /// torch 2.12.
    Torch2_12,
    /// torch 2.13.
    Torch2_13,
    /// torch 2.14.
    Torch2_14,
    /// torch 2.15.
    Torch2_15,
    /// `torch_npu`.
    Npu,
}

/// Which program the allocator belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// PyTorch on CUDA devices.
    Cuda,
    /// `torch_npu` on Ascend devices.
    Npu,
}

impl Framework {
    /// The environment variable that holds its settings.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Cuda => "PYTORCH_CUDA_ALLOC_CONF",
            Self::Npu => "PYTORCH_NPU_ALLOC_CONF",
        }
    }
}

/// Which of several free blocks of equal size is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// A: the lower address.
    Address,
    /// B: the block object that was made earlier.
    BlockAge,
    /// C: the segment that was allocated earlier, then the lower address; expandable memory first.
    SegmentAge,
}

/// Where `>` of a list of divisions starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRest {
    /// At the last named interval, which it overwrites.
    AtLastNamed,
    /// After the last named interval.
    AfterLastNamed,
}

/// Which of several open private pools takes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenPool {
    /// The one begun first.
    First,
    /// The one begun last.
    Last,
}

/// When free blocks of overflow pools are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Before anything cached is released.
    BeforeRelease,
    /// When everything else failed.
    LastResort,
}

/// The smallest value of `max_split_size_mb` and `max_non_split_rounding_mb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallestSplit {
    /// A number of MiB.
    Mib(u64),
    /// The size of a large segment.
    LargeSegment,
}

/// What a fraction of 1 means after an earlier, smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeFraction {
    /// A limit of the whole device; garbage collection goes on.
    LimitOfDevice,
    /// No limit.
    NoLimit,
}

/// What happens to a reserved range that is shorter than the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortRange {
    /// It is kept and mapping is tried, which fails.
    Kept,
    /// It is given back at once.
    GivenBack,
}

/// Whether an open private pool counts as a graph being captured: nothing is reaped while it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// It does.
    OpenPool,
    /// It does not.
    Never,
}

/// How whole numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// 32 bits with a sign; others are refused.
    Signed32,
    /// 64 bits without a sign.
    Unsigned64,
}

/// What one version does where versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Order of free blocks of equal size.
    pub ties: Ties,
    /// Where `>` starts in a list of divisions.
    pub list_rest: ListRest,
    /// Which open private pool wins.
    pub open_pool: OpenPool,
    /// Whether open private pools defer reaping.
    pub capture: Capture,
    /// When overflow pools are searched.
    pub overflow: Overflow,
    /// The smallest split size.
    pub smallest_split: SmallestSplit,
    /// How sizes are read.
    pub counts: Counts,
    /// What a fraction of 1 does.
    pub whole_fraction: WholeFraction,
    /// What happens to ranges that are too short.
    pub short_range: ShortRange,
    /// Bytes added to every request before rounding.
    pub spare_bytes: u64,
    /// CUDA or NPU.
    pub framework: Framework,
}

/// torch 2.15; the other rows say what differs from it.
const NEWEST: Rules = Rules {
    ties: Ties::SegmentAge,
    list_rest: ListRest::AfterLastNamed,
    open_pool: OpenPool::Last,
    capture: Capture::Never,
    overflow: Overflow::BeforeRelease,
    smallest_split: SmallestSplit::LargeSegment,
    counts: Counts::Unsigned64,
    whole_fraction: WholeFraction::NoLimit,
    short_range: ShortRange::GivenBack,
    spare_bytes: 0,
    framework: Framework::Cuda,
};

const TORCH_2_14: Rules = Rules {
    short_range: ShortRange::Kept,
    ..NEWEST
};

const TORCH_2_12: Rules = Rules {
    ties: Ties::BlockAge,
    capture: Capture::OpenPool,
    ..TORCH_2_14
};

const TORCH_2_11: Rules = Rules {
    ties: Ties::Address,
    ..TORCH_2_12
};

const TORCH_2_10: Rules = Rules {
    overflow: Overflow::LastResort,
    smallest_split: SmallestSplit::Mib(20),
    ..TORCH_2_11
};

const TORCH_2_9: Rules = Rules {
    list_rest: ListRest::AtLastNamed,
    open_pool: OpenPool::First,
    smallest_split: SmallestSplit::Mib(21),
    counts: Counts::Signed32,
    whole_fraction: WholeFraction::LimitOfDevice,
    ..TORCH_2_10
};

const NPU: Rules = Rules {
    ties: Ties::Address,
    short_range: ShortRange::Kept,
    spare_bytes: 32,
    framework: Framework::Npu,
    ..NEWEST
};

/// Version, name, rules.
const TABLE: [(Version, &str, Rules); 8] = [
    (Version::Torch2_9, "2.9", TORCH_2_9),
    (Version::Torch2_10, "2.10", TORCH_2_10),
    (Version::Torch2_11, "2.11", TORCH_2_11),
    (Version::Torch2_12, "2.12", TORCH_2_12),
    (Version::Torch2_13, "2.13", TORCH_2_14),
    (Version::Torch2_14, "2.14", TORCH_2_14),
    (Version::Torch2_15, "2.15", NEWEST),
    (Version::Npu, "npu", NPU),
];

impl Version {
    /// The newest release of torch.
    pub const NEWEST: Self = Self::Torch2_15;

    /// All versions, oldest first, then the NPU.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// `2.9` ... `2.15`, `npu`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The version of a name: `2.15`, a patch release (`2.15.0+cu132`) or `npu`.
    pub fn named(text: &str) -> Option<Self> {
        let short = text.split('+').next().unwrap_or(text);
        let is_it = |name: &str| short == name || short.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        TABLE.iter().find(|row| is_it(row.1)).map(|row| row.0)
    }

    /// What this version does where versions differ.
    pub fn rules(self) -> Rules {
        TABLE[self as usize].2
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Npu => out.write_str("torch_npu"),
            _ => write!(out, "torch {}", self.name()),
        }
    }
}

impl Ties {
    /// The three orders.
    pub const ALL: [Self; 3] = [Self::Address, Self::BlockAge, Self::SegmentAge];

    /// `A`, `B` or `C`.
    pub fn letter(self) -> char {
        match self {
            Self::Address => 'A',
            Self::BlockAge => 'B',
            Self::SegmentAge => 'C',
        }
    }
}
