//! Allocation traces through the allocators: recorded answers of the original engine, rules by hand, random traces, the
//! command line.

mod cases;
mod command;
mod conformance;
mod failing;
mod random;

use std::sync::Arc;

use highwater::export::{replay_final, replay_header, replay_line};
use highwater::sim::StaticMemoryPolicy;
use highwater::sim::replay::{Replay, ReplayRules};
use highwater::workload::{AllocationTrace, Source};
use serde_json::Value as Json;

use crate::support;

pub(crate) fn trace(text: &str) -> Arc<AllocationTrace> {
    match support::read("small.trace", text.as_bytes()).unwrap().source {
        Source::Traces(mut traces) => traces.remove(0),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn rules(trace: &AllocationTrace, policy: u8) -> ReplayRules {
    let policy = StaticMemoryPolicy::from_number(policy).unwrap();
    ReplayRules::new(trace, policy, None)
}

pub(crate) fn lines(trace: &AllocationTrace, rules: ReplayRules) -> Vec<String> {
    let mut replay = Replay::new(trace, rules);
    let mut lines = vec![replay_header(&rules)];
    while let Some(answer) = replay.step() {
        lines.push(replay_line(trace, &rules, &answer));
    }
    lines.push(replay_final(&replay.finish()));
    lines
}

pub(crate) fn replayed(text: &str, policy: u8) -> Vec<Json> {
    let trace = trace(text);
    let lines = lines(&trace, rules(&trace, policy));
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}
