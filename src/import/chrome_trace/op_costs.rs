//! Time and scratch memory of the ops of a trace.
//!
//! In: ops, and the blocks of one device. Out: an op each, by start. Scratch memory of an op is the most bytes that are
//! live at once among blocks that are allocated and freed within it, by its thread. The time is that of the kernels that
//! the op and the ops within it launched (`External id`), without kernels that of the op. O(n log n) in ops and blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::names::{Op, Ops};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{RecordedNames, RecordedOp};

const ITEMS_BETWEEN_CHECKS: usize = 1 << 13;

/// Ops of larger traces are left out: their costs would take more memory than their blocks.
const MOST_OPS: usize = 1_000_000;

/// A block with the thread that allocated it, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Allocation {
    pub(super) thread: u32,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) bytes: u64,
}

/// The ops of a device by start, on the host with their own times without kernels; none where the trace has more than `MOST_OPS`.
pub(super) fn op_costs(
    ops: &Ops,
    is_host: bool,
    mut allocations: Vec<Allocation>,
    names: &mut RecordedNames,
    progress: &Progress<'_>,
) -> Result<Vec<RecordedOp>, Cancelled> {
    let rows = ops.sorted();
    if rows.len() > MOST_OPS {
        return Ok(Vec::new());
    }
    allocations.sort_unstable();
    let scratch = scratch(rows, &allocations, progress)?;
    let kernels = ops.kernel_times();
    let mut costs: Vec<RecordedOp> = Vec::with_capacity(rows.len());
    for (position, (op, scratch)) in rows.iter().zip(scratch).enumerate() {
        let name = names.intern(ops.name(op.name));
        let time = match &kernels {
            Some(sums) => sums[within(rows, position)] - sums[position],
            None if is_host => op.end - op.start,
            // An op of the host only launches work of another device.
            None => 0,
        };
        costs.push(RecordedOp {
            name,
            kind: name,
            start: Nanos(op.start),
            time: Nanos(time),
            scratch: Bytes(scratch),
            persistent: Bytes::ZERO,
        });
    }
    costs.sort_by_key(|op| op.start);
    Ok(costs)
}

/// The position after the ops that lie within an op.
fn within(rows: &[Op], position: usize) -> usize {
    let op = &rows[position];
    let rest = &rows[position..];
    position + rest.partition_point(|other| other.thread == op.thread && other.start <= op.end)
}

/// Scratch memory by op.
fn scratch(rows: &[Op], allocations: &[Allocation], progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    let (mut live, mut most) = (vec![0_u64; rows.len()], vec![0_u64; rows.len()]);
    let mut open: Vec<usize> = Vec::new();
    // Ends of live blocks, the earliest on top, with the ops that they lie within.
    let mut ends: BinaryHeap<Reverse<(u64, u64, Vec<usize>)>> = BinaryHeap::new();
    let (mut next, mut thread) = (0, u32::MAX);
    for (number, block) in allocations.iter().enumerate() {
        if number.is_multiple_of(ITEMS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        if block.thread != thread {
            thread = block.thread;
            open.clear();
            ends.clear();
            next = rows.partition_point(|op| op.thread < thread);
        }
        while ends.peek().is_some_and(|Reverse((end, ..))| *end <= block.start) {
            let Some(Reverse((_, bytes, ops))) = ends.pop() else {
                break;
            };
            for op in ops {
                live[op] -= bytes;
            }
        }
        while let Some(op) = rows
            .get(next)
            .filter(|op| op.thread == thread && op.start <= block.start)
        {
            while open.last().is_some_and(|last| rows[*last].end < op.start) {
                open.pop();
            }
            open.push(next);
            next += 1;
        }
        while open.last().is_some_and(|last| rows[*last].end < block.start) {
            open.pop();
        }
        let around = open.iter().copied().filter(|op| block.end <= rows[*op].end);
        let around: Vec<usize> = around.collect();
        for op in &around {
            live[*op] += block.bytes;
            most[*op] = most[*op].max(live[*op]);
        }
        if !around.is_empty() {
            ends.push(Reverse((block.end, block.bytes, around)));
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;
    use highwater_model::workload::RecordedName;

    #[test]
    fn scratch_is_what_lives_within_an_op() {
        let op = |start: u64, end: u64| Op {
            thread: 0,
            name: RecordedName(0),
            start,
            end,
            external: 0,
        };
        let block = |start: u64, end: u64, bytes: u64| Allocation {
            thread: 0,
            start,
            end,
            bytes,
        };
        let rows = [op(0, 100), op(10, 50), op(20, 30), op(200, 300)];
        for (blocks, wanted) in [
            (vec![block(21, 29, 5)], [5, 5, 5, 0]),
            (vec![block(21, 40, 5)], [5, 5, 0, 0]),
            (vec![block(21, 25, 5), block(26, 29, 7)], [7, 7, 7, 0]),
            (vec![block(21, 28, 5), block(26, 29, 7)], [12, 12, 12, 0]),
            (vec![block(11, 45, 5), block(60, 70, 9)], [9, 5, 0, 0]),
            (vec![block(90, 250, 5), block(210, 400, 9)], [0, 0, 0, 0]),
        ] {
            let cancel = Cancel::new();
            let found = scratch(&rows, &blocks, &Progress::silent(&cancel)).expect("not cancelled");
            assert_eq!(found, wanted, "{blocks:?}");
        }
    }
}
