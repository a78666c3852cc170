//! The options of `DTRConfig`, `memory_optimize` and their simulation, as parameters of the rewriting passes.

use super::super::rows::{ARENA, keys};
use super::super::store::Options;
use super::super::value::Value;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Device, DeviceFigure};
use highwater_rewrite::name_reuse::{NameReuseRequest, REFUSED_LEVEL, SkipKind, SkipOptSet, Version};
use highwater_rewrite::remat::{
    DEFAULT_HEURISTIC, DtrFactors, Engine, FreeNeighbors, HEURISTICS, Heuristic, MinimumRule, OpRates, RematRequest,
    find_heuristic,
};

/// A threshold of 0, which the constructor refuses, acts as unset.
pub(super) fn dtr(options: &Options) -> RematRequest {
    let factor = |key| options.acting(key).as_float().filter(|factor| *factor >= 0.0);
    let defaults = DtrFactors::default();
    let named = find_heuristic(&options.text(keys::REMAT_HEURISTIC));
    let heuristic = named.or_else(|_reported| find_heuristic(DEFAULT_HEURISTIC));
    RematRequest {
        budget: options
            .bytes(keys::EVICTION_THRESHOLD)
            .filter(|bytes| *bytes > Bytes::ZERO),
        factors: DtrFactors {
            evictee_minimum_size: options
                .bytes(keys::EVICTEE_MINIMUM_SIZE)
                .unwrap_or(defaults.evictee_minimum_size),
            recomp_memory_factor: factor(keys::RECOMP_MEMORY_FACTOR).unwrap_or(defaults.recomp_memory_factor),
            recomp_time_factor: factor(keys::RECOMP_TIME_FACTOR).unwrap_or(defaults.recomp_time_factor),
        },
        free_neighbors: if options.text(keys::FREE_NEIGHBORS) == ARENA {
            FreeNeighbors::Arena
        } else {
            FreeNeighbors::Zero
        },
        thrash_limit: factor(keys::THRASH_LIMIT),
        seed: options.number(keys::REMAT_SEED).unwrap_or(0),
        ..RematRequest::unlimited(heuristic.unwrap_or(&HEURISTICS[0]))
    }
}

/// The set options that a heuristic does not read, each as a sentence.
pub fn idle_dtr_options(options: &Options, heuristic: &Heuristic) -> Vec<String> {
    type Reads = fn(Engine) -> bool;
    let engine = heuristic.engine;
    let rows: [(&str, Reads); 4] = [
        (keys::EVICTEE_MINIMUM_SIZE, |engine| {
            engine.minimum_rule() != MinimumRule::Ignored
        }),
        (keys::RECOMP_MEMORY_FACTOR, Engine::reads_factors),
        (keys::RECOMP_TIME_FACTOR, Engine::reads_factors),
        (keys::FREE_NEIGHBORS, Engine::reads_free_neighbors),
    ];
    let idle = rows.iter().filter(|(key, reads)| options.is_set(key) && !reads(engine));
    idle.map(|(key, reads)| {
        let readers: Vec<&str> = HEURISTICS
            .iter()
            .filter(|row| reads(row.engine))
            .map(|row| row.name)
            .collect();
        format!(
            "{key} has no effect under the heuristic {}: {} alone read it",
            heuristic.name,
            readers.join(" and ")
        )
    })
    .collect()
}

/// Options that mean that `memory_optimize` is called.
const REUSE_KEYS: [&str; 4] = [
    keys::MEMORY_OPTIMIZE_LEVEL,
    keys::SKIP_OPT_SET,
    keys::SKIP_GRADS,
    keys::PRINT_LOG,
];

pub(super) fn reuses_names(options: &Options) -> bool {
    REUSE_KEYS.iter().any(|key| options.is_set(key))
}

/// The call of `memory_optimize`, unchecked and without its log: the pass reports what the original refuses.
pub fn name_reuse(options: &Options) -> NameReuseRequest {
    NameReuseRequest {
        level: options.get(keys::MEMORY_OPTIMIZE_LEVEL).map_or(0, level),
        skip: options.get(keys::SKIP_OPT_SET).map(skip_set).unwrap_or_default(),
        skip_grads: options.is_on(keys::SKIP_GRADS),
        version: Version::find(&options.text(keys::NAME_REUSE_VERSION)).unwrap_or(Version::V3),
        ..NameReuseRequest::default()
    }
}

/// As Python compares it: `True` and `1.0` are 1. An expression is unknown and acts as the default.
fn level(value: &Value) -> i64 {
    match (value, value.as_int()) {
        (_, Some(level)) => level,
        (Value::Python(_), _) => 0,
        _ if value.as_float() == Some(1.0) => 1,
        _ if value.as_float() == Some(0.0) => 0,
        _ => REFUSED_LEVEL,
    }
}

/// The argument with the type in which it was written. Elements that are expressions are unknown and protect nothing.
fn skip_set(value: &Value) -> SkipOptSet {
    let kind = match value {
        Value::List(_) => SkipKind::List,
        Value::Set(_) => SkipKind::Set,
        Value::Tuple(_) => SkipKind::Tuple,
        Value::Text(_) => SkipKind::Text,
        Value::Bool(_) => SkipKind::Number("bool"),
        Value::Int(_) => SkipKind::Number("int"),
        Value::Float(_) => SkipKind::Number("float"),
        Value::Unset | Value::Python(_) => return SkipOptSet::default(),
    };
    let items = value.items().unwrap_or(std::slice::from_ref(value));
    let other = items
        .iter()
        .find(|item| !matches!(item, Value::Text(_) | Value::Python(_)));
    SkipOptSet {
        kind,
        names: items.iter().filter_map(Value::as_text).map(Into::into).collect(),
        other: other.map(|item| item.to_string().into()),
    }
}

/// The rates that estimate the time of ops.
pub(super) fn rates(options: &Options, device: &Device) -> OpRates {
    let rate = |key, figure| options.number(key).unwrap_or(device.figure(figure)).max(1);
    OpRates {
        flops_per_second: rate(keys::FLOPS_PER_SECOND, DeviceFigure::FlopsPerSecond),
        bytes_per_second: rate(keys::OP_BYTES_PER_SECOND, DeviceFigure::MemoryBytesPerSecond),
        launch: Nanos(options.number(keys::OP_LAUNCH_NS).unwrap_or(0)),
    }
}
