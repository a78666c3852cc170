//! Measured ops matched with the ops of a graph.
//!
//! In: a graph, and the measured ops of a recording. Out: the graph's op of each measured op. By name, where any name
//! matches. Else by type, because a trace of an eager run names types alone: a type that runs as often as it is in the
//! graph, or a multiple of that (several steps), is matched in order. `aten.add_.Tensor` of an exported graph is
//! `aten::add_` of a trace. O(n log n).

use std::collections::BTreeMap;

use super::recording::Recording;
use crate::graph::{Graph, OpId};

/// How measured ops were matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchedBy {
    #[default]
    Nothing,
    Names,
    /// By type and order.
    Types,
}

/// The graph's op of each measured op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchedOps {
    pub by: MatchedBy,
    /// By measured op.
    pub ops: Vec<Option<OpId>>,
}

pub fn match_ops(graph: &Graph, recording: &Recording) -> MatchedOps {
    if recording.ops.is_empty() {
        return MatchedOps::default();
    }
    let mut by_name: BTreeMap<&str, OpId> = BTreeMap::new();
    for op in graph.ops().ids() {
        let name = graph.op_name(op);
        if !name.is_empty() {
            by_name.entry(name).or_insert(op);
        }
    }
    let named = recording
        .ops
        .iter()
        .map(|op| by_name.get(recording.text(op.name)).copied());
    let named: Vec<Option<OpId>> = named.collect();
    if named.iter().any(Option::is_some) {
        return MatchedOps {
            by: MatchedBy::Names,
            ops: named,
        };
    }
    // Named ops of another graph are not matched.
    if recording.ops.iter().any(|op| op.name != op.kind) {
        return MatchedOps {
            by: MatchedBy::Nothing,
            ops: named,
        };
    }
    by_types(graph, recording)
}

fn by_types(graph: &Graph, recording: &Recording) -> MatchedOps {
    let mut measured: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, op) in recording.ops.iter().enumerate() {
        measured
            .entry(base(recording.text(op.kind)))
            .or_default()
            .push(position);
    }
    let mut in_graph: BTreeMap<&str, Vec<OpId>> = BTreeMap::new();
    for op in graph.ops().ids() {
        in_graph.entry(base(graph.op_kind(op))).or_default().push(op);
    }
    let mut matched = MatchedOps {
        by: MatchedBy::Nothing,
        ops: vec![None; recording.ops.len()],
    };
    for (kind, ops) in in_graph {
        let positions = measured.get(kind).or_else(|| measured.get(plain(kind)));
        let Some(positions) = positions.filter(|positions| positions.len().is_multiple_of(ops.len())) else {
            continue;
        };
        matched.by = MatchedBy::Types;
        for (position, op) in positions.iter().zip(ops.iter().cycle()) {
            matched.ops[*position] = Some(*op);
        }
    }
    matched
}

/// The type without namespace and overload: `aten.add_.Tensor` and `aten::add_` are `add_`. Other types stay.
fn base(kind: &str) -> &str {
    if let Some((_, name)) = kind.rsplit_once("::") {
        return name;
    }
    match kind.split_once('.') {
        Some(("aten" | "prims" | "torchvision", rest)) => rest.split('.').next().unwrap_or(rest),
        _ => kind,
    }
}

/// The public op of an internal variant: `_native_batch_norm_legit` runs as `native_batch_norm`.
fn plain(kind: &str) -> &str {
    let kind = kind.trim_start_matches('_');
    let kind = kind.strip_suffix("_functional").unwrap_or(kind);
    kind.strip_suffix("_legit").unwrap_or(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_traces_and_of_exported_graphs_have_one_base() {
        for (kind, wanted) in [
            ("aten.add_.Tensor", "add_"),
            ("aten::add_", "add_"),
            ("aten._native_batch_norm_legit.default", "_native_batch_norm_legit"),
            ("Conv2D", "Conv2D"),
            ("ConvolutionBackward0", "ConvolutionBackward0"),
            ("my.op", "my.op"),
        ] {
            assert_eq!(base(kind), wanted, "{kind}");
        }
        assert_eq!(plain("_native_batch_norm_legit"), "native_batch_norm");
        assert_eq!(plain("mm"), "mm");
    }
}
