//! Random sequences of static graphs: nothing overlaps, everything is freed, policies agree where they must.

use std::collections::{BTreeMap, BTreeSet};

use highwater::sim::alloc::Call;
use highwater::sim::replay::{Outcome, Replay, ReplayRules};
use highwater::units::Bytes;
use highwater::workload::{AllocationTrace, TraceCommand};
use proptest::prelude::*;

use super::{lines, rules, trace};

const GRAPHS: u8 = 5;

const PAGE: u64 = 8 << 20;

/// A static session without memory of the caller, whose addresses are only nominal: each load is followed by a run; at
/// the end all graphs are unloaded.
fn sessions() -> impl Strategy<Value = String> {
    // An empty segment at the start would fail a load under policy 2: the driver rejects it.
    let segment = (prop_oneof![1..200_u32, 1..60_000_u32], 0..12_u8);
    let step = (0..GRAPHS, 0..4_u8, prop::collection::vec(segment, 1..6));
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut text = "device 8G\n".to_owned();
        let mut loaded = BTreeSet::new();
        for (graph, action, segments) in steps {
            if loaded.insert(graph) {
                let segments: Vec<String> = segments.iter().map(|(kib, flags)| segment_text(*kib, *flags)).collect();
                text.push_str(&format!("load G{graph} {}\nexec G{graph}\n", segments.join(" ")));
            } else if action == 0 {
                loaded.remove(&graph);
                text.push_str(&format!("unload G{graph}\n"));
            } else {
                text.push_str(&format!("exec G{graph}\n"));
            }
        }
        for graph in loaded {
            text.push_str(&format!("unload G{graph}\n"));
        }
        text
    })
}

fn segment_text(kib: u32, flags: u8) -> String {
    let flags = match flags {
        0 => ":z",
        1 => ":g",
        2 => ":gz",
        _ => "",
    };
    format!("{kib}K{flags}")
}

/// The mapped pages by place.
#[derive(Default)]
struct Mappings(BTreeMap<u64, u32>);

impl Mappings {
    fn follow(&mut self, calls: &[Call]) {
        for call in calls {
            match call {
                Call::Map { at, page, .. } => {
                    assert_eq!(self.0.insert(*at, page.0), None, "mapped over a mapping");
                }
                Call::Unmap { at } => {
                    assert!(self.0.remove(at).is_some(), "nothing was mapped there");
                }
                _ => {}
            }
        }
    }

    /// The pages of a part of the virtual space, which is fully mapped.
    fn pages(&self, at: u64, bytes: u64) -> Vec<u32> {
        let first = at / PAGE * PAGE;
        let slots = (first..at + bytes).step_by(usize::try_from(PAGE).unwrap());
        slots.map(|slot| *self.0.get(&slot).expect("mapped")).collect()
    }
}

/// Replays a trace and checks invariants after every command.
fn check(trace: &AllocationTrace, rules: ReplayRules) {
    let mut replay = Replay::new(trace, rules);
    let mut mappings = Mappings::default();
    let mut active: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    let mut own: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    while let Some(answer) = replay.step() {
        assert!(answer.in_use <= rules.device_bytes);
        match (&answer.outcome, answer.command) {
            (Outcome::Loaded(loaded), TraceCommand::Load { graph, first, count }) => {
                mappings.follow(answer.calls);
                apart(
                    loaded
                        .segments
                        .iter()
                        .filter_map(|one| Some((one.at?.offset(), one.bytes.get()))),
                );
                let parts = loaded.active.iter();
                active.insert(graph.0, parts.map(|(at, bytes)| (at.offset(), bytes.get())).collect());
                if let (Some(base), None) = (loaded.base, &answer.arena) {
                    own.insert(graph.0, (base.offset(), trace.load_bytes(first, count).get()));
                }
            }
            (
                Outcome::Ran {
                    status, calls_before, ..
                },
                TraceCommand::Execute(graph),
            ) => {
                assert_eq!(status.number(), 0);
                mappings.follow(&answer.calls[..*calls_before]);
                if rules.policy.number() == 4 {
                    let parts = active[&graph.0].iter();
                    let mut slots: BTreeMap<u64, u32> = BTreeMap::new();
                    for (at, bytes) in parts {
                        for (slot, page) in (at / PAGE..).zip(mappings.pages(*at, *bytes)) {
                            slots.insert(slot, page);
                        }
                    }
                    let pages: BTreeSet<u32> = slots.values().copied().collect();
                    assert_eq!(pages.len(), slots.len(), "one page serves two slots of a running graph");
                }
                mappings.follow(&answer.calls[*calls_before..]);
            }
            (_, TraceCommand::Unload(graph)) => {
                mappings.follow(answer.calls);
                own.remove(&graph.0);
            }
            (outcome, command) => panic!("{command:?}: {outcome:?}"),
        }
        apart(own.values().copied());
    }
    assert_eq!(replay.summary().reserved, Bytes::ZERO);
    let finish = replay.finish();
    assert_eq!(
        (finish.calls.mallocs, finish.calls.page_allocs),
        (finish.calls.frees, finish.calls.page_frees)
    );
    assert_eq!(
        (finish.calls.maps, finish.calls.reserves),
        (finish.calls.unmaps, finish.calls.releases)
    );
}

/// No two ranges share a byte.
fn apart(ranges: impl Iterator<Item = (u64, u64)>) {
    let mut ranges: Vec<(u64, u64)> = ranges.filter(|(_, bytes)| *bytes > 0).collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
}

/// The bytes that each load requests from the engine, and the reserved bytes after every command, as documented.
fn check_documented(trace: &AllocationTrace) {
    let rules = ReplayRules {
        is_documented: true,
        ..rules(trace, 2)
    };
    let mut replay = Replay::new(trace, rules);
    let (mut most, mut users) = (Bytes::ZERO, 0);
    while let Some(answer) = replay.step() {
        match answer.command {
            TraceCommand::Load { first, count, .. } => {
                users += 1;
                most = most.max(trace.load_bytes(first, count));
            }
            TraceCommand::Unload(_) => {
                users -= 1;
                if users == 0 {
                    most = Bytes::ZERO;
                }
            }
            _ => {}
        }
        assert_eq!(answer.in_use, most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn graphs_never_overlap_where_they_must_not_and_all_comes_back(text in sessions()) {
        let trace = trace(&text);
        for policy in [0, 2, 3, 4] {
            check(&trace, rules(&trace, policy));
        }
        check_documented(&trace);
    }

    #[test]
    fn policies_agree_where_they_are_the_same(text in sessions()) {
        let trace = trace(&text);
        prop_assert_eq!(lines(&trace, rules(&trace, 1)), lines(&trace, rules(&trace, 2)));
        prop_assert_eq!(&lines(&trace, rules(&trace, 0))[1..], &lines(&trace, rules(&trace, 3))[1..]);
    }

    #[test]
    fn a_small_device_rejects_and_never_exceeds_its_memory(text in sessions(), mib in 1_u64..120) {
        let trace = trace(&text.replace("device 8G", &format!("device {mib}M")));
        for policy in [0, 2, 3, 4] {
            let rules = rules(&trace, policy);
            let mut replay = Replay::new(&trace, rules);
            while let Some(answer) = replay.step() {
                prop_assert!(answer.in_use <= Bytes::mib(mib));
                prop_assert!(answer.pages <= answer.in_use);
            }
        }
    }
}
