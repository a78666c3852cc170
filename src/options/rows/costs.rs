//! highwater's own options: what the operations of the simulated device cost.

use super::{Acts, COMMON, OptionKind, OptionRow, Section, keys};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::MALLOC_NS,
        summary: "the estimated time of one malloc of the driver",
        details: "Each device block of an arena or a pool is one malloc; under policies 3 and 4 pages take the place \
                  of most of them. Unset, the device profile applies; no public figures exist, so set a measured \
                  value.",
        memory_effect: "counted once per malloc in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::malloc_cost"),
        ..COST
    },
    OptionRow {
        key: keys::FREE_NS,
        summary: "the estimated time of one free of the driver",
        details: "Device blocks are freed when graphs are unloaded, when the documented arena grows, and when pools \
                  recycle. Unset, the device profile applies; no public figures exist, so set a measured value.",
        memory_effect: "counted once per free in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::free_cost"),
        ..COST
    },
    OptionRow {
        key: keys::MAP_NS,
        summary: "the estimated time of mapping one physical page",
        details: "Expandable pools and the arena of policy 4 map pages of 8 MiB; the time of getting a page from the \
                  driver is part of it. Unset, the device profile applies; no public figures exist, so set a measured \
                  value.",
        memory_effect: "counted once per mapped page in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::map_cost"),
        ..COST
    },
    OptionRow {
        key: keys::UNMAP_NS,
        summary: "the estimated time of unmapping one physical page",
        details: "Pages are unmapped late: when another place needs them or a range is released. Unset, the device \
                  profile applies; no public figures exist, so set a measured value.",
        memory_effect: "counted once per unmapped page in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::unmap_cost"),
        ..COST
    },
    OptionRow {
        key: keys::RESERVE_NS,
        summary: "the estimated time of reserving or releasing a virtual range",
        details: "Each expandable pool reserves one range, and each stitched block another one. Unset, the device \
                  profile applies; no public figures exist, so set a measured value.",
        memory_effect: "counted once per range that is reserved or released in the estimated overhead; no effect on \
                        bytes",
        lowers_to: Some("Params::reserve_cost"),
        ..COST
    },
    OptionRow {
        key: keys::SYNC_NS,
        summary: "the estimated time of one wait for a stream",
        details: "A pool that runs short waits for its stream before it recycles. Unset, the device profile applies; \
                  no public figures exist, so set a measured value.",
        memory_effect: "counted once per wait in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::sync_cost"),
        ..COST
    },
    OptionRow {
        key: keys::LAUNCH_NS,
        summary: "the estimated time of launching one op",
        details: "A clear of memory that ops add to is one launch: one a run under atomic_clean_policy 0, one an op \
                  under 1. Unset, the device profile applies; no public figures exist, so set a measured value.",
        memory_effect: "counted once per clear in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::launch_cost"),
        ..COST
    },
    OptionRow {
        key: keys::MEMSET_BYTES_PER_SECOND,
        summary: "the estimated bandwidth of clearing device memory",
        details: "Bytes that graphs clear at load or before ops that add to them take this bandwidth; 800GB means 800 \
                  000 000 000 bytes a second. Unset, the device profile applies; no public figures exist, so set a \
                  measured value.",
        memory_effect: "divides cleared bytes in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::memset_bytes_per_second"),
        ..BANDWIDTH
    },
    OptionRow {
        key: keys::RELOAD_BYTES_PER_SECOND,
        summary: "the estimated bandwidth of loading an unloaded graph again",
        details: "Weights that went to make room come back from the host at this bandwidth; 24GB means 24 000 000 000 \
                  bytes a second. Unset, the device profile applies; no public figures exist, so set a measured value.",
        memory_effect: "divides reloaded bytes in the estimated overhead; no effect on bytes",
        lowers_to: Some("Params::reload_bytes_per_second"),
        ..BANDWIDTH
    },
];

/// Far more than a call of a driver takes.
const MAX_NANOS: i64 = 3_600_000_000_000;

const COST: OptionRow = OptionRow {
    section: Section::Simulation,
    kind: OptionKind::Int { min: 0, max: MAX_NANOS },
    unit: Some("nanoseconds"),
    unset_means: Some("the device profile's"),
    since: Some("0.1.0"),
    acts: Acts::ON_TIMES,
    is_estimate: true,
    source: "highwater's own",
    ..COMMON
};

const BANDWIDTH: OptionRow = OptionRow {
    kind: OptionKind::Bytes { min: 1, max: 1 << 50 },
    unit: Some("bytes per second"),
    ..COST
};
