//! Liveness of a sequence of ops.
//!
//! live-out of an op is live-in of the next one (empty after the last); live-in is what the op reads, plus live-out
//! without what it writes. Stored as differences, so that O(names in ops) suffices.

use super::flow::Flow;
use highwater_model::progress::{Cancelled, Progress};

/// Ops between two checks of the cancel flag.
pub(super) const OPS_BETWEEN_CHECKS: usize = 256;

/// Change of liveness at one op, as numbers of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// In live-in and not in live-out.
    pub(super) dying: Vec<u32>,
    /// In live-out and not in live-in.
    pub(super) born: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Liveness {
    /// Live before the first op.
    pub(super) at_entry: Vec<u32>,
    /// By op.
    pub(super) changes: Vec<Change>,
}

/// O(names in ops).
///
/// # Errors
/// [`Cancelled`].
pub(super) fn liveness(flow: &Flow<'_>, progress: &Progress<'_>) -> Result<Liveness, Cancelled> {
    let mut is_live = vec![false; flow.names.len()];
    // By name: the nearest later op that reads it.
    let mut reader: Vec<Option<usize>> = vec![None; flow.names.len()];
    let mut changes = vec![Change::default(); flow.ops.len()];
    for (position, (op, change)) in flow.ops.iter().zip(&mut changes).enumerate().rev() {
        if position.is_multiple_of(OPS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        for name in &op.uses {
            reader[*name as usize] = Some(position);
        }
        let is_born = |name: &&u32| is_live[**name as usize] && reader[**name as usize] != Some(position);
        change.born = op.defs.iter().filter(is_born).copied().collect();
        change.dying = op
            .uses
            .iter()
            .filter(|name| !is_live[**name as usize])
            .copied()
            .collect();
        for name in &change.born {
            is_live[*name as usize] = false;
        }
        for name in &op.uses {
            is_live[*name as usize] = true;
        }
    }
    let names = 0_u32..;
    let at_entry = names
        .zip(&is_live)
        .filter(|(_, is_live)| **is_live)
        .map(|(name, _)| name);
    Ok(Liveness {
        at_entry: at_entry.collect(),
        changes,
    })
}
