//! From options to engine parameters. The only place that reads a key for the engine.
//!
//! A value that its row does not accept acts as the default (the rules report it).

use super::environment::Environment;
use super::policy::effective_policy;
use super::store::Options;
use super::table::{find, key};
use super::value::Value;
use crate::rewrite::AtomicClean;
use crate::sim::{Params, StaticMemoryPolicy};
use crate::units::Bytes;
use crate::workload::Device;

/// What the engine is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Parameters of the simulation.
    pub params: Params,
    /// The policy in force.
    pub policy: StaticMemoryPolicy,
    /// Who clears atomic memory.
    pub atomic_clean: AtomicClean,
}

/// Lowers options and environment onto a device.
pub fn lower(options: &Options, environment: &Environment, device: &Device) -> Lowered {
    let mut params = Params::for_device(device);
    let accepted = |key: &str| {
        let value = options.effective(key);
        match find(key) {
            Some(row) if row.kind.accepts(&value) => value,
            Some(row) => row.default.clone(),
            None => value,
        }
    };
    let positive = |key: &str| accepted(key).as_int().and_then(|number| u64::try_from(number).ok());
    if let Some(bytes) = positive(key::DEVICE_MEMORY).filter(|bytes| *bytes > 0) {
        params.device_bytes = Bytes(bytes);
    }
    let copies = positive(key::GRAPH_MAX_PARALLEL_MODEL_NUM).unwrap_or(1);
    params.feature_copies = u32::try_from(copies).unwrap_or(u32::MAX).max(1);
    params.share_weights = accepted(key::EXTERNAL_WEIGHT).as_bool().unwrap_or(false);
    params.variables_on_host = accepted(key::VARIABLE_PLACEMENT) == Value::text("Host");
    let is_separate = accepted(key::ATOMIC_CLEAN_POLICY) == Value::Int(1);
    Lowered {
        params,
        policy: effective_policy(options, environment),
        atomic_clean: if is_separate {
            AtomicClean::Separate
        } else {
            AtomicClean::Collective
        },
    }
}
