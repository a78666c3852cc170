//! Released versions of the allocator and what each does differently, as one table.

/// A release whose allocator is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// torch 2.0.
    Torch2_0,
    /// torch 2.1.
    Torch2_1,
    /// torch 2.2.
    Torch2_2,
    /// torch 2.3.
    Torch2_3,
    /// torch 2.4.
    Torch2_4,
    /// torch 2.5.
    Torch2_5,
    /// torch 2.6.
    Torch2_6,
    /// torch 2.7.
    Torch2_7,
    /// torch 2.8.
    Torch2_8,
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
    /// The environment variable of this framework alone that holds its settings.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Cuda => CUDA_VARIABLE,
            Self::Npu => NPU_VARIABLE,
        }
    }
}

const CUDA_VARIABLE: &str = "PYTORCH_CUDA_ALLOC_CONF";
const HIP_VARIABLE: &str = "PYTORCH_HIP_ALLOC_CONF";
const NPU_VARIABLE: &str = "PYTORCH_NPU_ALLOC_CONF";

/// The variable that every framework reads if its own is unset.
pub const COMMON_VARIABLE: &str = "PYTORCH_ALLOC_CONF";

/// Every variable that some version reads.
pub const VARIABLES: [&str; 4] = [CUDA_VARIABLE, HIP_VARIABLE, COMMON_VARIABLE, NPU_VARIABLE];

/// Variables that hold settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// The first one that is set holds, also where it is empty; the others are not read.
    First(&'static [&'static str]),
    /// One of them may be set.
    One(&'static [&'static str]),
}

impl Variables {
    /// Their names, the one that is read first in front.
    pub fn names(self) -> &'static [&'static str] {
        let (Self::First(names) | Self::One(names)) = self;
        names
    }
}

/// What may separate keys, values and pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separators {
    /// `:` between a key and its value, `,` between pairs.
    Exact,
    /// Whatever token is there is skipped.
    Any,
}

/// Letters that are dropped from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blanks {
    /// The space alone.
    Space,
    /// Every blank of ASCII.
    All,
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

/// When free blocks of overflow pools are used, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Before anything cached is released; ordinary ones, split as if expandable segments were off.
    BeforeRelease,
    /// When everything else failed; those that a request of the pool itself would get.
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

/// Whether an open private pool counts as a graph being captured: nothing is reaped while it is open, and of a block
/// that is freed meanwhile only uses of streams from before it was opened are waited for.
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
    /// What separates keys, values and pairs.
    pub separators: Separators,
    /// Which letters are dropped.
    pub blanks: Blanks,
    /// Where the settings are read from.
    pub variables: Variables,
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
    separators: Separators::Any,
    blanks: Blanks::All,
    variables: Variables::First(&[CUDA_VARIABLE, HIP_VARIABLE, COMMON_VARIABLE]),
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
    separators: Separators::Exact,
    blanks: Blanks::Space,
    variables: Variables::First(&[CUDA_VARIABLE]),
    ..TORCH_2_10
};

const NPU: Rules = Rules {
    ties: Ties::Address,
    short_range: ShortRange::Kept,
    spare_bytes: 32,
    variables: Variables::One(&[NPU_VARIABLE, COMMON_VARIABLE]),
    framework: Framework::Npu,
    ..NEWEST
};

/// Version, name, rules. What the allocators of 2.0 to 2.8 do with requests was not compared: theirs are those of 2.9.
const TABLE: [(Version, &str, Rules); 17] = [
    (Version::Torch2_0, "2.0", TORCH_2_9),
    (Version::Torch2_1, "2.1", TORCH_2_9),
    (Version::Torch2_2, "2.2", TORCH_2_9),
    (Version::Torch2_3, "2.3", TORCH_2_9),
    (Version::Torch2_4, "2.4", TORCH_2_9),
    (Version::Torch2_5, "2.5", TORCH_2_9),
    (Version::Torch2_6, "2.6", TORCH_2_9),
    (Version::Torch2_7, "2.7", TORCH_2_9),
    (Version::Torch2_8, "2.8", TORCH_2_9),
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

    /// The oldest release of torch that can be chosen.
    pub const FIRST: Self = Self::Torch2_0;

    /// The first release whose decisions were compared with the original's.
    pub const FIRST_PROVED: Self = Self::Torch2_9;

    /// Whether the decisions of its allocator were compared with the original's; of older ones the settings were.
    pub fn is_proved(self) -> bool {
        self >= Self::FIRST_PROVED
    }

    /// What is not known of its decisions, as a sentence without a point; `None` where they were compared.
    pub fn caveat(self) -> Option<String> {
        (!self.is_proved()).then(|| {
            let first = Self::FIRST_PROVED;
            format!(
                "the decisions of {self}'s allocator were not compared with the original's; they are simulated by the rules of \
                 {first}, the oldest that were"
            )
        })
    }

    /// All versions, oldest first, then the NPU.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// `2.0` ... `2.15`, `npu`.
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
