//! Every key of the settings, declared once.

use super::error::SettingsError;
use crate::version::{Framework, Version};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A size in MiB, clamped above.
    Mib,
    /// A whole number of a range.
    Count { least: u64, most: u64 },
    /// A power of two.
    PowerOfTwo {
        /// The most.
        most: u64,
    },
    /// A real number between 0 and 1, both excluded.
    OpenUnit,
    /// A real number from 0 to 1.
    ClosedUnit,
    /// `True` or `False`.
    Flag,
    /// A power of two, or a list of sizes with divisions.
    Divisions,
    /// One word.
    Word(&'static str),
    /// Anything.
    Any,
    /// A list in brackets, whatever is in it.
    List,
}

/// What a key sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `Settings::max_split`.
    MaxSplit,
    /// `Settings::slack`.
    Slack,
    /// `Settings::large_segment`.
    LargeSegment,
    /// `Settings::collection_threshold`.
    Threshold,
    /// `Settings::divisions`.
    Divisions,
    /// `Settings::expandable`.
    Expandable,
    /// `Settings::throws`.
    Throws,
    /// `Settings::fraction`.
    Fraction,
    /// `NpuSettings::base_alignment`.
    BaseAlignment,
    /// `NpuSettings::huge_pages`.
    PageSize,
    /// `NpuSettings::segment_page`.
    SegmentPage,
    /// `NpuSettings::lazy_reclaim`.
    LazyReclaim,
    /// Nothing that the simulated rules read.
    None,
}

/// Who knows a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// torch, from this version on.
    Cuda(Version),
    /// torch from this version on, and `torch_npu`.
    Both(Version),
    /// `torch_npu` alone.
    Npu,
}

/// Whether a key changes what the allocator does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes decisions.
    Acts,
    /// It is checked, and changes nothing that is simulated.
    Parsed,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// As written in the settings.
    pub key: &'static str,
    /// Form of the value.
    pub kind: Kind,
    /// What it sets.
    pub field: Field,
    /// Who knows it.
    pub scope: Scope,
    /// The value where it is not named.
    pub default: &'static str,
    /// Accepted values, for people.
    pub accepted: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
}

impl OptionRow {
    /// Whether it changes decisions.
    pub fn effect(&self) -> Effect {
        match self.field {
            Field::None => Effect::Parsed,
            _ => Effect::Acts,
        }
    }

    /// Whether a version knows it.
    pub fn is_known_to(&self, version: Version) -> bool {
        let is_npu = version.rules().framework == Framework::Npu;
        match self.scope {
            Scope::Cuda(since) => !is_npu && version >= since,
            Scope::Both(since) => is_npu || version >= since,
            Scope::Npu => is_npu,
        }
    }
}

const fn row(key: &'static str, kind: Kind, field: Field, scope: Scope, texts: [&'static str; 3]) -> OptionRow {
    let [default, accepted, about] = texts;
    OptionRow {
        key,
        kind,
        field,
        scope,
        default,
        accepted,
        about,
    }
}

const FIRST: Version = Version::FIRST;

const FLAG: &str = "True or False";

const SIZE: &str = "a size in MiB of at least large_segment_size_mb (20 where that is not set; 21 up to torch 2.9)";

/// Every key of every version.
pub const OPTIONS: [OptionRow; 30] = [
    row(
        "max_split_size_mb",
        Kind::Mib,
        Field::MaxSplit,
        Scope::Both(FIRST),
        [
            "unlimited",
            SIZE,
            "Blocks from this size on are never split, and smaller requests never get them.",
        ],
    ),
    row(
        "max_non_split_rounding_mb",
        Kind::Mib,
        Field::Slack,
        Scope::Both(Version::Torch2_6),
        [
            "large_segment_size_mb",
            SIZE,
            "A request from max_split_size_mb on may get a block that is larger by less than this.",
        ],
    ),
    row(
        "large_segment_size_mb",
        Kind::Mib,
        Field::LargeSegment,
        Scope::Both(Version::Torch2_11),
        [
            "20",
            "a size above 10 MiB",
            "Requests between 1 MiB and 10 MiB share segments of this size; expandable segments grow by it.",
        ],
    ),
    row(
        "garbage_collection_threshold",
        Kind::OpenUnit,
        Field::Threshold,
        Scope::Both(FIRST),
        [
            "off",
            "a number above 0 and below 1",
            "Old free segments are given back once this part of the memory limit is reserved; without a limit nothing happens.",
        ],
    ),
    row(
        "roundup_power2_divisions",
        Kind::Divisions,
        Field::Divisions,
        Scope::Both(FIRST),
        [
            "off",
            "a power of two, or a list such as [256:1,512:2,>:8]",
            "Sizes are rounded up to one of so many steps between powers of two.",
        ],
    ),
    row(
        "expandable_segments",
        Kind::Flag,
        Field::Expandable,
        Scope::Both(Version::Torch2_1),
        [
            "False",
            FLAG,
            "Segments grow page by page in reserved addresses, so that free memory is not cut up.",
        ],
    ),
    row(
        "throw_on_cudamalloc_oom",
        Kind::Flag,
        Field::Throws,
        Scope::Cuda(Version::Torch2_12),
        [
            "False",
            FLAG,
            "A request that would pass per_process_memory_fraction fails at once, without releasing anything.",
        ],
    ),
    row(
        "per_process_memory_fraction",
        Kind::ClosedUnit,
        Field::Fraction,
        Scope::Both(Version::Torch2_10),
        [
            "1",
            "a number from 0 to 1",
            "The part of the device's memory that the allocator may reserve.",
        ],
    ),
    row(
        "base_addr_aligned_kb",
        Kind::Count { least: 0, most: 16 },
        Field::BaseAlignment,
        Scope::Npu,
        [
            "16",
            "a whole number of KiB from 0 to 16, without leading zeros",
            "Blocks from 2 MiB on in expandable segments start at multiples of this; 0 turns it off.",
        ],
    ),
    row(
        "page_size",
        Kind::Word("1g"),
        Field::PageSize,
        Scope::Npu,
        [
            "unset",
            "1g",
            "Segments and pages of the large pool are multiples of 1 GiB.",
        ],
    ),
    row(
        "segment_size_mb",
        Kind::Count { least: 20, most: 512 },
        Field::SegmentPage,
        Scope::Npu,
        [
            "20",
            "a whole number of MiB from 20 to 512",
            "Expandable segments of the large pool grow by this (deprecated: large_segment_size_mb).",
        ],
    ),
    row(
        "multi_stream_lazy_reclaim",
        Kind::Flag,
        Field::LazyReclaim,
        Scope::Npu,
        [
            "False",
            FLAG,
            "Blocks that other streams used are looked after only when many wait or no block was found.",
        ],
    ),
    row(
        "throw_on_npumalloc_oom",
        Kind::Flag,
        Field::Throws,
        Scope::Npu,
        [
            "False",
            FLAG,
            "A request that would pass per_process_memory_fraction fails at once, without releasing anything.",
        ],
    ),
    row(
        "backend",
        Kind::Word("native"),
        Field::None,
        Scope::Cuda(FIRST),
        [
            "native",
            "native (cudaMallocAsync is an allocator of the driver, which is not simulated)",
            "Which allocator runs.",
        ],
    ),
    row(
        "release_lock_on_cudamalloc",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_2),
        ["False", FLAG, "Other threads may allocate during a device allocation."],
    ),
    row(
        "release_lock_on_hipmalloc",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_2),
        [
            "False",
            FLAG,
            "The name of release_lock_on_cudamalloc on AMD devices; both are read.",
        ],
    ),
    row(
        "release_lock_on_npumalloc",
        Kind::Flag,
        Field::None,
        Scope::Npu,
        ["False", FLAG, "Other threads may allocate during a device allocation."],
    ),
    row(
        "graph_capture_record_stream_reuse",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_9),
        [
            "False",
            FLAG,
            "Blocks that other streams used may be used again within a captured graph.",
        ],
    ),
    row(
        "expandable_segments_reserve",
        Kind::Any,
        Field::None,
        Scope::Cuda(Version::Torch2_15),
        [
            "unset",
            "any text",
            "Size of the address ranges of expandable segments; here they keep their default size.",
        ],
    ),
    row(
        "expandable_segments_reserve_by_class",
        Kind::List,
        Field::None,
        Scope::Cuda(Version::Torch2_15),
        [
            "unset",
            "a list such as [small:1G,large:0.5]",
            "Size of the address ranges of expandable segments by pool; here they keep their default size.",
        ],
    ),
    row(
        "pinned_use_cuda_host_register",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_2),
        ["False", FLAG, "How pinned host memory is registered."],
    ),
    row(
        "pinned_use_hip_host_register",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_2),
        [
            "False",
            FLAG,
            "The name of pinned_use_cuda_host_register on AMD devices; both are read.",
        ],
    ),
    row(
        "pinned_free_catch_all",
        Kind::Flag,
        Field::None,
        Scope::Cuda(Version::Torch2_12),
        [
            "False",
            FLAG,
            "Pinned host memory is also freed by threads that did not allocate it.",
        ],
    ),
    row(
        "pinned_num_register_threads",
        Kind::PowerOfTwo { most: 128 },
        Field::None,
        Scope::Cuda(Version::Torch2_2),
        [
            "1",
            "a power of two up to 128",
            "Threads that register pinned host memory.",
        ],
    ),
    row(
        "pinned_use_background_threads",
        Kind::Flag,
        Field::None,
        Scope::Both(Version::Torch2_6),
        [
            "False",
            FLAG,
            "A thread in the background looks after events of pinned host memory.",
        ],
    ),
    row(
        "pinned_reserve_segment_size_mb",
        Kind::Count {
            least: 1,
            most: u64::MAX,
        },
        Field::None,
        Scope::Both(Version::Torch2_10),
        [
            "unset",
            "a whole number of MiB of at least 1",
            "Pinned host memory reserved at the start.",
        ],
    ),
    row(
        "pinned_max_cached_size_mb",
        Kind::Mib,
        Field::None,
        Scope::Both(Version::Torch2_13),
        ["unset", "a size in MiB", "Most pinned host memory that stays cached."],
    ),
    row(
        "pinned_max_round_threshold_mb",
        Kind::Mib,
        Field::None,
        Scope::Both(Version::Torch2_13),
        [
            "unset",
            "a size in MiB",
            "Pinned host requests up to this are rounded to powers of two.",
        ],
    ),
    row(
        "pin_memory_expandable_segments",
        Kind::Flag,
        Field::None,
        Scope::Npu,
        ["False", FLAG, "Expandable segments for pinned host memory."],
    ),
    row(
        "pinned_mem_register",
        Kind::Flag,
        Field::None,
        Scope::Npu,
        ["False", FLAG, "Pinned host memory is registered with the device."],
    ),
];

/// The option of a key that the version knows.
pub(super) fn find(key: &str, version: Version) -> Result<&'static OptionRow, SettingsError> {
    let mut same = OPTIONS.iter().filter(|option| option.key == key);
    if let Some(found) = same.clone().find(|option| option.is_known_to(version)) {
        return Ok(found);
    }
    let is_close = |option: &&OptionRow| option.is_known_to(version) && option.key.eq_ignore_ascii_case(key);
    let hint = match (same.next(), OPTIONS.iter().find(is_close)) {
        (Some(other), _) => match other.scope {
            Scope::Cuda(since) | Scope::Both(since) => format!("; it is known from {since} on"),
            Scope::Npu => "; only torch_npu knows it".to_owned(),
        },
        (None, Some(close)) => format!("; it is written `{}`", close.key),
        (None, None) if key.contains('=') => "; a key and its value are written KEY:VALUE".to_owned(),
        (None, None) => format!("; the keys that act are {}", acting_keys(version)),
    };
    Err(SettingsError::UnknownKey {
        key: key.to_owned(),
        version,
        hint,
    })
}

fn acting_keys(version: Version) -> String {
    let acts = |option: &&OptionRow| option.is_known_to(version) && option.effect() == Effect::Acts;
    let keys: Vec<&str> = OPTIONS.iter().filter(acts).map(|option| option.key).collect();
    keys.join(", ")
}
