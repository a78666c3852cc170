//! highwater's own options: what the operations of the simulated device cost.

use super::{Acts, COMMON, OptionKind, OptionRow, Section, keys};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::MALLOC_NS,
        summary: "the estimated time of one malloc of the driver",
        details: "Each device block of an arena or a pool is one malloc; under policies 3 and 4 pages take the place \
                  of most of them. Unset, the figure of the device profile holds; no public figures exist, so set \
                  what you measured.",
        memory_effect: "the estimated overhead counts it once a malloc; no bytes change",
        lowers_to: Some("Params::malloc_cost"),
        ..COST
    },
    OptionRow {
        key: keys::FREE_NS,
        summary: "the estimated time of one free of the driver",
        details: "Device blocks are freed when graphs are unloaded, when the documented arena grows, and when pools \
                  recycle. Unset, the figure of the device profile holds; no public figures exist, so set what you \
                  measured.",
        memory_effect: "the estimated overhead counts it once a free; no bytes change",
        lowers_to: Some("Params::free_cost"),
        ..COST
    },
    OptionRow {
        key: keys::MAP_NS,
        summary: "the estimated time of mapping one physical page",
        details: "Expandable pools and the arena of policy 4 map pages of 8 MiB; the time of getting a page from the \
                  driver is part of it. Unset, the figure of the device profile holds; no public figures exist, so \
                  set what you measured.",
        memory_effect: "the estimated overhead counts it once a mapped page; no bytes change",
        lowers_to: Some("Params::map_cost"),
        ..COST
    },
    OptionRow {
        key: keys::UNMAP_NS,
        summary: "the estimated time of unmapping one physical page",
        details: "Pages are unmapped late: when another place needs them or a range is released. Unset, the figure of \
                  the device profile holds; no public figures exist, so set what you measured.",
        memory_effect: "the estimated overhead counts it once an unmapped page; no bytes change",
        lowers_to: Some("Params::unmap_cost"),
        ..COST
    },
    OptionRow {
        key: keys::RESERVE_NS,
        summary: "the estimated time of reserving or releasing a virtual range",
        details: "Each expandable pool reserves one range, and each stitched block another one. Unset, the figure of the \
                  device profile holds; no public figures exist, so set what you measured.",
        memory_effect: "the estimated overhead counts it once a range that is reserved or released; no bytes change",
        lowers_to: Some("Params::reserve_cost"),
        ..COST
    },
    OptionRow {
        key: keys::SYNC_NS,
        summary: "the estimated time of one wait for a stream",
        details: "A pool that runs short waits for its stream before it recycles. Unset, the figure of the device \
                  profile holds; no public figures exist, so set what you measured.",
        memory_effect: "the estimated overhead counts it once a wait; no bytes change",
        lowers_to: Some("Params::sync_cost"),
        ..COST
    },
    OptionRow {
        key: keys::LAUNCH_NS,
        summary: "the estimated time of launching one op",
        details: "A clear of memory that ops add to is one launch: one a run under atomic_clean_policy 0, one an op \
                  under 1. Unset, the figure of the device profile holds; no public figures exist, so set what you \
                  measured.",
        memory_effect: "the estimated overhead counts it once a clear; no bytes change",
        lowers_to: Some("Params::launch_cost"),
        ..COST
    },
    OptionRow {
        key: keys::MEMSET_BYTES_PER_SECOND,
        summary: "the estimated bandwidth of clearing device memory",
        details: "Bytes that graphs clear at load or before ops that add to them take this bandwidth; 800GB means 800 \
                  000 000 000 bytes a second. Unset, the figure of the device profile holds; no public figures \
                  exist, so set what you measured.",
        memory_effect: "the estimated overhead divides cleared bytes by it; no bytes change",
        lowers_to: Some("Params::memset_bytes_per_second"),
        ..BANDWIDTH
    },
    OptionRow {
        key: keys::RELOAD_BYTES_PER_SECOND,
        summary: "the estimated bandwidth of loading an unloaded graph again",
        details: "Weights that went to make room come back from the host at this bandwidth; 24GB means 24 000 000 000 \
                  bytes a second. Unset, the figure of the device profile holds; no public figures exist, so set \
                  what you measured.",
        memory_effect: "the estimated overhead divides reloaded bytes by it; no bytes change",
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
