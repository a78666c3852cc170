//! Comparison with the figures of the corpus' independent oracle: every key that it has is compared or listed as left
//! out, and a missing key is a fault.

use std::collections::BTreeSet;

use highwater_model::graph::{Graph, OpId, TensorId};
use highwater_model::workload::Lifetimes;
use serde_json::Value;

/// The oracle's figures of one file, and the keys compared.
pub(crate) struct Oracle<'a> {
    name: String,
    expected: &'a Value,
    seen: BTreeSet<String>,
    faults: Vec<String>,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(name: impl Into<String>, expected: &'a Value) -> Self {
        let name = name.into();
        let is_there = expected.as_object().is_some_and(|keys| !keys.is_empty());
        let faults = if is_there {
            Vec::new()
        } else {
            vec![format!("{name}: the oracle says nothing of it")]
        };
        Self {
            name,
            expected,
            seen: BTreeSet::new(),
            faults,
        }
    }

    /// The value of a key, `a.b` within `a`; a missing key is a fault.
    pub(crate) fn get(&mut self, key: &str) -> &'a Value {
        self.seen.insert(key.to_owned());
        let found = key.split('.').try_fold(self.expected, |value, part| value.get(part));
        found.unwrap_or_else(|| {
            self.fault(&format!("the oracle has no key {key}"));
            &Value::Null
        })
    }

    pub(crate) fn fault(&mut self, what: &str) {
        self.faults.push(format!("{}: {what}", self.name));
    }

    /// A number that must be equal.
    pub(crate) fn same(&mut self, key: &str, ours: u64) {
        let theirs = self.get(key);
        if theirs.as_u64() != Some(ours) {
            self.fault(&format!("{key} is {ours}, expected {theirs}"));
        }
    }

    /// A number that must be equal, or larger where the oracle does not know all sizes.
    pub(crate) fn same_or_more(&mut self, key: &str, ours: u64, may_exceed: bool) {
        let theirs = self.get(key);
        let is_right = theirs
            .as_u64()
            .is_some_and(|theirs| ours == theirs || may_exceed && ours > theirs);
        if !is_right {
            self.fault(&format!("{key} is {ours}, expected {theirs}"));
        }
    }

    /// A condition on a value.
    pub(crate) fn holds(&mut self, key: &str, is_right: impl FnOnce(&Value) -> bool, ours: &str) {
        let theirs = self.get(key);
        if !is_right(theirs) {
            self.fault(&format!("{key}: {ours}, expected {theirs}"));
        }
    }

    /// Counts by kind, which must be equal and complete.
    pub(crate) fn same_kinds(&mut self, key: &str, graph: &Graph) {
        let theirs = self.get(key);
        let mut kinds: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
        for op in graph.ops().ids() {
            // The oracle leaves out the domain of an op.
            let kind = graph.op_kind(op);
            *kinds.entry(kind.rsplit('.').next().unwrap_or(kind)).or_default() += 1;
        }
        for (kind, count) in theirs.as_object().into_iter().flatten() {
            let ours = kinds.remove(kind.as_str()).unwrap_or(0);
            if count.as_u64() != Some(ours) {
                self.fault(&format!("{ours} ops of type {kind}, expected {count}"));
            }
        }
        if let Some((kind, count)) = kinds.first_key_value() {
            self.fault(&format!("{count} ops of type {kind}, expected none"));
        }
    }

    /// The figures of live ranges under a key: peak, step, node, number, sum, largest. Without `knows_all` the oracle
    /// lacks sizes: its bytes are lower bounds and its steps are of another curve.
    pub(crate) fn same_peak(&mut self, key: &str, graph: &Graph, live: &Lifetimes, knows_all: bool) {
        let (peak, step) = live.peak();
        let at = step.map_or(0, |step| u64::from(step.0));
        self.same_or_more(&format!("{key}.peak_live_bytes"), peak.get(), !knows_all);
        self.same_or_more(&format!("{key}.sum_bytes"), live.total().get(), !knows_all);
        self.same(&format!("{key}.n_buffers"), live.items.len() as u64);
        self.same_largest(&format!("{key}.max_tensor"), graph, live, knows_all);
        if !knows_all {
            for part in ["peak_step", "peak_node", "live_tensors_at_peak"] {
                self.left_out(&format!("{key}.{part}"));
            }
            return;
        }
        self.same(&format!("{key}.peak_step"), at);
        let node = u32::try_from(at).ok().filter(|at| (*at as usize) < graph.ops().len());
        let node = node.map_or("", |at| graph.op_name(OpId(at)));
        let theirs = self.get(&format!("{key}.peak_node"));
        // The oracle names unnamed nodes.
        if !node.is_empty() && theirs.as_str().is_some_and(|theirs| theirs != node) {
            self.fault(&format!("{key}: the peak is at {node}, expected {theirs}"));
        }
        let alive = live.items.iter().filter(|item| {
            let step = u32::try_from(at).unwrap_or(u32::MAX);
            item.birth.0 <= step && step < item.end.0
        });
        let (all, with_bytes) = alive.fold((0, 0), |(all, some), item| {
            (all + 1, some + u64::from(item.bytes.get() > 0))
        });
        let theirs = self.get(&format!("{key}.live_tensors_at_peak")).as_u64();
        // Formats differ in whether tensors without elements count.
        if theirs.is_none_or(|theirs| theirs < with_bytes || theirs > all) {
            self.fault(&format!(
                "{key}: {with_bytes} to {all} tensors live at the peak, expected {theirs:?}"
            ));
        }
    }

    /// The largest live range: its bytes, and that the named one is as large.
    fn same_largest(&mut self, key: &str, graph: &Graph, live: &Lifetimes, knows_all: bool) {
        let Some(largest) = live.items.iter().map(|item| item.bytes.get()).max() else {
            return self.holds(key, Value::is_null, "there is none");
        };
        self.same_or_more(&format!("{key}.bytes"), largest, !knows_all);
        let theirs = self.get(&format!("{key}.name")).as_str().unwrap_or_default();
        let is_it = |id: TensorId| graph.tensor_name(id) == theirs || id.0.to_string() == theirs;
        let its = live.items.iter().find(|item| is_it(item.tensor));
        if knows_all && its.map(|item| item.bytes.get()) != Some(largest) {
            self.fault(&format!("{key}: {theirs} is not as large as the largest"));
        }
    }

    /// A key that is not compared.
    pub(crate) fn left_out(&mut self, key: &str) {
        self.get(key);
    }

    /// The faults, including keys that were not compared.
    pub(crate) fn faults(mut self) -> Vec<String> {
        let mut open: Vec<(String, &Value)> = vec![(String::new(), self.expected)];
        while let Some((prefix, value)) = open.pop() {
            for (key, value) in value.as_object().into_iter().flatten() {
                let path = format!("{prefix}{key}");
                let inside = format!("{path}.");
                if self.seen.contains(&path) {
                    continue;
                }
                if self.seen.iter().any(|seen| seen.starts_with(&inside)) {
                    open.push((inside, value));
                } else {
                    self.fault(&format!("key {path} is not compared"));
                }
            }
        }
        self.faults
    }
}

#[test]
fn keys_that_lack_or_are_overlooked_are_faults() {
    let expected = serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 }, "e": 4 });
    let mut oracle = Oracle::new("x", &expected);
    oracle.same("a", 1);
    oracle.same("b.c", 5);
    oracle.same("f", 0);
    assert_eq!(
        oracle.faults(),
        [
            "x: b.c is 5, expected 2",
            "x: the oracle has no key f",
            "x: f is 0, expected null",
            "x: key e is not compared",
            "x: key b.d is not compared",
        ]
    );
}
