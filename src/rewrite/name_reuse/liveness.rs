//! Liveness of a straight line of ops: who is live before it, and who dies and is born at each op.
//!
//! live-out of an op is live-in of the next one (nothing after the last); live-in is what the op reads, with live-out
//! less what it writes. Told as differences, so that O(names in ops) is enough.

use super::flow::Flow;
use highwater_model::progress::{Cancelled, Progress};

/// How often the flag is looked at, in ops.
pub(super) const OPS_BETWEEN_CHECKS: usize = 256;

/// What changes at one op, in names as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// In live-in and not in live-out.
    pub(super) dying: Vec<u32>,
    /// In live-out and not in live-in.
    pub(super) born: Vec<u32>,
}

/// Liveness of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Liveness {
    /// Live before the first op.
    pub(super) at_entry: Vec<u32>,
    /// By op.
    pub(super) changes: Vec<Change>,
}

/// The liveness of a graph as it stands. O(names in ops).
///
/// # Errors
/// [`Cancelled`].
pub(super) fn liveness(flow: &Flow<'_>, progress: &Progress<'_>) -> Result<Liveness, Cancelled> {
    let mut is_live = vec![false; flow.names.len()];
    // By name: the op that was the last to be looked at of those that read it.
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
