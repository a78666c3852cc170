//! Limits of a trace: enough for days of training, not for a file that was made to exhaust memory.

use crate::ImportError;
use highwater_model::units::Bytes;

pub(super) const COMMANDS: usize = 16 << 20;

/// Segments of all loads.
pub(super) const SEGMENTS: usize = 16 << 20;

pub(super) const NAMES: usize = 16 << 20;

pub(super) const NAME_BYTES: usize = 256 << 20;

pub(super) const POOLS: usize = 256;

/// Bytes of a device: the replay keeps a record for every page that it could hold.
pub(super) const DEVICE: Bytes = Bytes::gib(4096);

pub(super) fn check_count(count: usize, limit: usize, what: &str, line: u64) -> Result<(), ImportError> {
    if count < limit {
        return Ok(());
    }
    Err(ImportError::at(
        format!("the trace has more than {limit} {what}, the limit"),
        format!("line {line}"),
        "split the trace and replay its parts",
    ))
}
