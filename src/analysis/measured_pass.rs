//! One pass of a measured run over a graph: start and duration of each op.
//!
//! ```text
//! measured   A B D C E | A B C D E | A B ...      cut where an op comes a second time
//! pass       A B D C E                            the first of those with most ops
//! ```
//!
//! Where streams record every op several times, cuts leave no complete pass: if none has more than half of the ops, the
//! first occurrence of each op is taken. In: a graph and a recording with measured ops. Out: each op once, by start.
//! O(ops log ops).

use std::collections::BTreeMap;

use highwater_model::graph::{Graph, Id as _, OpId};
use highwater_model::units::Nanos;
use highwater_model::workload::Recording;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRun {
    pub op: OpId,
    pub start: Nanos,
    pub time: Nanos,
}

/// The ops of one measured pass, by start; empty where no op was measured with its time.
pub fn measured_pass(graph: &Graph, recording: &Recording) -> Vec<OpRun> {
    let found = runs_of_ops(graph, recording);
    let n_ops = graph.ops().len();
    let first = first_of_each(&found, n_ops);
    let best = longest_cut(&found, n_ops);
    if best.len() * 2 <= first.len() {
        first
    } else {
        best.to_vec()
    }
}

/// Measured ops of the graph, by start.
fn runs_of_ops(graph: &Graph, recording: &Recording) -> Vec<OpRun> {
    let mut by_name: BTreeMap<&str, OpId> = BTreeMap::new();
    for op in graph.ops().ids() {
        let name = graph.op_name(op);
        if !name.is_empty() {
            by_name.entry(name).or_insert(op);
        }
    }
    let stated = recording.ops.iter().filter(|one| one.states_start());
    let found = stated.filter_map(|one| {
        Some(OpRun {
            op: *by_name.get(recording.text(one.name))?,
            start: one.start,
            time: one.time,
        })
    });
    let mut found: Vec<OpRun> = found.collect();
    found.sort_by_key(|run| run.start);
    found
}

/// The first of the longest parts in which no op repeats.
fn longest_cut(found: &[OpRun], n_ops: usize) -> &[OpRun] {
    let mut part_of = vec![0_usize; n_ops];
    let (mut best, mut from, mut part): (&[OpRun], usize, usize) = (&[], 0, 1);
    for (position, run) in found.iter().enumerate() {
        if part_of[run.op.idx()] == part {
            if position - from > best.len() {
                best = &found[from..position];
            }
            (from, part) = (position, part + 1);
        }
        part_of[run.op.idx()] = part;
    }
    if found.len() - from > best.len() {
        best = &found[from..];
    }
    best
}

fn first_of_each(found: &[OpRun], n_ops: usize) -> Vec<OpRun> {
    let mut is_met = vec![false; n_ops];
    let is_first = |run: &&OpRun| !std::mem::replace(&mut is_met[run.op.idx()], true);
    found.iter().filter(is_first).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::graph::{GraphBuilder, NewOp};
    use highwater_model::units::Bytes;
    use highwater_model::workload::{RecordedNames, RecordedOp};

    fn graph(names: &[&str]) -> Graph {
        let mut builder = GraphBuilder::new("graph");
        for name in names {
            let new = NewOp {
                name,
                kind: "Add",
                ..NewOp::default()
            };
            builder.op(new).expect("a new op");
        }
        builder.finish().expect("ops without tensors")
    }

    /// A recording of ops that begin one a nanosecond, from 1 on; `-` is a pause.
    fn recording(ops: &str) -> Recording {
        let mut names = RecordedNames::default();
        let ops = (1_u64..).zip(ops.chars()).filter(|(_, name)| *name != '-');
        let ops = ops.map(|(start, name)| RecordedOp {
            name: names.intern(&name.to_string()),
            kind: names.intern("Add"),
            start: Nanos(start),
            time: Nanos(1),
            scratch: Bytes::ZERO,
            persistent: Bytes::ZERO,
        });
        let ops = ops.collect();
        Recording {
            ops,
            names: names.finish(),
            ..Recording::default()
        }
    }

    #[test]
    fn the_first_pass_with_most_ops_is_used() {
        let graph = graph(&["a", "b", "c", "d"]);
        for (ops, expected) in [
            ("", &[][..]),
            ("a-b-d", &[(0, 1), (1, 3), (3, 5)]),
            // Another order than the graph's; what the graph has not is passed over.
            ("caxbd", &[(2, 1), (0, 2), (1, 4), (3, 5)]),
            // Begun within a pass: one begins there each time.
            ("cd-abcd-abcd", &[(2, 1), (3, 2), (0, 4), (1, 5)]),
            ("abab", &[(0, 1), (1, 2)]),
            // An op that does not run each time is not taken from another pass.
            ("abc-abcd-abc", &[(0, 5), (1, 6), (2, 7), (3, 8)]),
            // Two streams wrote every op.
            ("aabbccdd", &[(0, 1), (1, 3), (2, 5), (3, 7)]),
        ] {
            let found = measured_pass(&graph, &recording(ops));
            let found: Vec<(u32, u64)> = found.iter().map(|run| (run.op.0, run.start.0)).collect();
            assert_eq!(found, expected, "{ops}");
        }
        let mut lost = recording("ab");
        lost.ops[0].start = Nanos(0);
        assert_eq!(measured_pass(&graph, &lost).len(), 1, "a start that was lost is none");
    }
}
