//! Reuse edges and gaps, each against an oracle that reads single bytes.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_plan::{ArenaGapRule, Gap, PlacementProblem, Plan, Rectangle, ReuseIndex, arena_gaps, reuse_edges};
use proptest::prelude::*;

use super::{buffer, problem};

const BYTES: u64 = 28;
const STEPS: u32 = 24;

fn rectangles() -> impl Strategy<Value = Vec<Rectangle>> {
    let any = (0_u32..16, 0_u32..8, 0_u64..20, 0_u64..8);
    let any = any.prop_map(|(start, steps, offset, bytes)| Rectangle {
        start,
        end: start + steps,
        offset,
        bytes,
    });
    prop::collection::vec(any, 0..40)
}

/// The same, with whatever overlaps an earlier one left out.
fn apart(rectangles: &[Rectangle]) -> Vec<Rectangle> {
    let mut kept: Vec<Rectangle> = Vec::new();
    for new in rectangles {
        let meets = |old: &Rectangle| {
            old.start < new.end && new.start < old.end && old.offset < new.top() && new.offset < old.top()
        };
        if !new.is_empty() && !kept.iter().any(meets) {
            kept.push(*new);
        }
    }
    kept
}

fn holds(rectangle: &Rectangle, byte: u64) -> bool {
    rectangle.start < rectangle.end && (rectangle.offset..rectangle.top()).contains(&byte)
}

/// (earlier, later) and every byte that passes, directly by the rule.
fn plain_edges(rectangles: &[Rectangle]) -> BTreeMap<(u32, u32), Vec<u64>> {
    let mut edges: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    for (later, new) in rectangles.iter().enumerate() {
        for byte in (0..BYTES).filter(|byte| holds(new, *byte)) {
            let earlier = rectangles
                .iter()
                .enumerate()
                .filter(|(idx, old)| (old.start, *idx) < (new.start, later) && holds(old, byte));
            let last = earlier.max_by_key(|(idx, old)| (old.end, old.start, *idx));
            if let Some((earlier, _)) = last.filter(|(_, old)| old.end <= new.start) {
                edges.entry((earlier as u32, later as u32)).or_default().push(byte);
            }
        }
    }
    edges
}

fn bytes_of<'a>(edges: impl Iterator<Item = &'a highwater_plan::ReuseEdge>) -> BTreeMap<(u32, u32), Vec<u64>> {
    let mut bytes: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    for edge in edges {
        let range = edge.offset..edge.offset + edge.bytes.get();
        bytes.entry((edge.earlier, edge.later)).or_default().extend(range);
    }
    for bytes in bytes.values_mut() {
        bytes.sort_unstable();
    }
    bytes
}

#[test]
fn an_edge_names_the_bytes_and_both_ways_lead_to_it() {
    let problem = problem(
        "a 0..2 4
         b 0..2 4
         c 2..4 6
         d 4..5 8",
    );
    let plan = Plan::new(&problem, vec![0, 4, 0, 0]);
    let index = ReuseIndex::of_plan(&problem, &plan);
    let text = |edges: Vec<&highwater_plan::ReuseEdge>| -> Vec<String> {
        edges
            .iter()
            .map(|edge| {
                format!(
                    "{} -> {}: {} at {}",
                    edge.earlier,
                    edge.later,
                    edge.bytes.get(),
                    edge.offset
                )
            })
            .collect()
    };
    assert_eq!(
        text(index.edges().iter().collect()),
        ["0 -> 2: 4 at 0", "1 -> 2: 2 at 4", "2 -> 3: 6 at 0", "1 -> 3: 2 at 6"]
    );
    assert_eq!(text(index.before(3).collect()), ["2 -> 3: 6 at 0", "1 -> 3: 2 at 6"]);
    assert_eq!(text(index.after(1).collect()), ["1 -> 2: 2 at 4", "1 -> 3: 2 at 6"]);
    assert_eq!(index.before(0).len() + index.after(3).len() + index.after(99).len(), 0);
}

#[test]
fn what_is_lent_in_a_gap_passes_to_the_borrower_and_back() {
    let mut problem = problem(
        "owner    0..8 10
         borrower 3..5 4
         later    9..10 10",
    );
    problem.gaps = vec![Gap {
        buffer: 0,
        lower: Step(2),
        upper: Step(6),
    }];
    let plan = Plan::new(&problem, vec![0, 2, 0]);
    let edges: Vec<_> = reuse_edges(&problem, &plan)
        .iter()
        .map(|edge| (edge.earlier, edge.later, edge.offset, edge.bytes.get()))
        .collect();
    // Bytes that no other buffer used return to their owner without an edge.
    assert_eq!(edges, [(0, 1, 2, 4), (1, 0, 2, 4), (0, 2, 0, 10)]);
}

#[test]
fn members_of_a_group_pass_bytes_on_only_when_not_live_together() {
    let mut problem = problem(
        "a 0..6 8
         b 2..4 4
         c 7..9 8
         d 9..10 8",
    );
    problem.groups = vec![vec![0, 1, 2]];
    let plan = Plan::new(&problem, vec![0, 0, 0, 0]);
    let edges: Vec<_> = reuse_edges(&problem, &plan)
        .iter()
        .map(|edge| (edge.earlier, edge.later, edge.bytes.get()))
        .collect();
    assert_eq!(edges, [(0, 2, 8), (2, 3, 8)]);
}

#[test]
fn a_gap_that_is_filled_and_freed_again_in_one_step_goes_on() {
    let at = |start, end, offset, bytes| Rectangle {
        start,
        end,
        offset,
        bytes,
    };
    // 20..30 changes hands at step 5 next to the gap 10..20.
    let rectangles = [at(0, 9, 0, 10), at(0, 5, 20, 10), at(5, 9, 20, 10)];
    let found = arena_gaps(&rectangles, ArenaGapRule::BelowTop);
    let texts: Vec<_> = found
        .iter()
        .map(|gap| (gap.start, gap.end, gap.offset, gap.bytes))
        .collect();
    assert_eq!(texts, [(0, 9, 10, 10)]);
    // A pool has no gap below its lowest byte.
    let high = [at(0, 4, 8, 8), at(0, 2, 24, 8)];
    assert_eq!(arena_gaps(&high, ArenaGapRule::BelowTop).len(), 2);
    assert_eq!(arena_gaps(&high, ArenaGapRule::Between).len(), 1);
}

/// Free ranges of a step with live bytes above them.
fn plain_gaps(rectangles: &[Rectangle], step: u32, rule: ArenaGapRule) -> Vec<(u64, u64)> {
    let is_live = |byte: u64| {
        let mut live = rectangles
            .iter()
            .filter(|rectangle| (rectangle.start..rectangle.end).contains(&step));
        live.any(|rectangle| holds(rectangle, byte))
    };
    let top = (0..BYTES).rev().find(|byte| is_live(*byte)).map_or(0, |byte| byte + 1);
    let low = (0..BYTES).find(|byte| is_live(*byte)).unwrap_or(0);
    let from = if rule == ArenaGapRule::Between { low } else { 0 };
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    for byte in (from..top).filter(|byte| !is_live(*byte)) {
        match gaps.last_mut() {
            Some((offset, bytes)) if *offset + *bytes == byte => *bytes += 1,
            _ => gaps.push((byte, 1)),
        }
    }
    gaps
}

fn check_gaps(rectangles: &[Rectangle], rule: ArenaGapRule) {
    let list = arena_gaps(rectangles, rule);
    for step in 0..STEPS {
        let expected = plain_gaps(rectangles, step, rule);
        let mut found: Vec<(u64, u64)> = list
            .iter()
            .filter(|gap| (gap.start..gap.end).contains(&step))
            .map(|gap| (gap.offset, gap.bytes))
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "step {step}");
    }
    assert!(list.is_sorted());
    // Two for a birth and two for a death, and none of them can be joined with another.
    assert!(list.len() <= rectangles.len() * 4);
    for (idx, gap) in list.iter().enumerate() {
        let goes_on = |next: &&highwater_plan::ArenaGap| {
            next.start == gap.end && (next.offset, next.bytes) == (gap.offset, gap.bytes)
        };
        assert_eq!(list[idx..].iter().find(goes_on), None);
    }
}

proptest! {
    #[test]
    fn edges_equal_the_rule_byte_by_byte(rectangles in rectangles()) {
        let index = ReuseIndex::new(&rectangles);
        let expected = plain_edges(&rectangles);
        prop_assert_eq!(&bytes_of(index.edges().iter()), &expected);
        for position in 0..rectangles.len() as u32 {
            let of = |is_mine: &dyn Fn(&(u32, u32)) -> bool| -> BTreeMap<(u32, u32), Vec<u64>> {
                expected.iter().filter(|(key, _)| is_mine(key)).map(|(key, bytes)| (*key, bytes.clone())).collect()
            };
            prop_assert_eq!(bytes_of(index.before(position)), of(&|key| key.1 == position));
            prop_assert_eq!(bytes_of(index.after(position)), of(&|key| key.0 == position));
        }
        let births: Vec<_> = index
            .edges()
            .iter()
            .map(|edge| (rectangles[edge.later as usize].start, edge.later, edge.offset))
            .collect();
        prop_assert!(births.is_sorted());
    }

    #[test]
    fn edges_of_a_plan_equal_those_of_its_pieces(rectangles in rectangles(), gaps in prop::collection::vec((0_u32..16, 1_u32..3), 40)) {
        let mut problem = PlacementProblem::default();
        let (mut pieces, mut owners, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        for (rectangle, (from, steps)) in rectangles.iter().zip(&gaps).filter(|(rectangle, _)| rectangle.start < rectangle.end) {
            let owner = problem.buffers.len() as u32;
            problem.buffers.push(buffer(rectangle.start, rectangle.end, rectangle.bytes));
            offsets.push(rectangle.offset);
            let gap = (rectangle.start + from, (rectangle.start + from + steps).min(rectangle.end));
            let mut parts = vec![(rectangle.start, rectangle.end)];
            if gap.0 < gap.1 {
                problem.gaps.push(Gap { buffer: owner, lower: Step(gap.0), upper: Step(gap.1) });
                parts = vec![(rectangle.start, gap.0), (gap.1, rectangle.end)];
            }
            for (start, end) in parts.into_iter().filter(|(start, end)| start < end) {
                pieces.push(Rectangle { start, end, ..*rectangle });
                owners.push(owner);
            }
        }
        let mut expected: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for ((earlier, later), bytes) in plain_edges(&pieces) {
            let (earlier, later) = (owners[earlier as usize], owners[later as usize]);
            if earlier != later {
                expected.entry((earlier, later)).or_default().extend(bytes);
            }
        }
        for bytes in expected.values_mut() {
            bytes.sort_unstable();
        }
        let plan = Plan::new(&problem, offsets);
        prop_assert_eq!(bytes_of(ReuseIndex::of_plan(&problem, &plan).edges().iter()), expected);
    }

    #[test]
    fn gaps_are_the_free_ranges_of_every_step(rectangles in rectangles()) {
        for rule in [ArenaGapRule::BelowTop, ArenaGapRule::Between] {
            check_gaps(&apart(&rectangles), rule);
            check_gaps(&rectangles, rule);
        }
    }
}

/// A plan in which every birth and death changes something: the index and the gaps stay linear in size.
#[test]
fn a_hundred_thousand_rectangles_give_a_few_edges_and_gaps_each() {
    let mut seed = 7_u64;
    let mut next = |most: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let n_slots = 400;
    let mut rectangles = Vec::new();
    for slot in 0..n_slots {
        let mut step = 0;
        while rectangles.len() < (slot + 1) as usize * 250 {
            let end = step + 1 + next(40) as u32;
            rectangles.push(Rectangle {
                start: step,
                end,
                offset: slot * 64 + next(16),
                bytes: 8 + next(40),
            });
            step = end + next(6) as u32;
        }
    }
    let index = ReuseIndex::new(&rectangles);
    let list = arena_gaps(&rectangles, ArenaGapRule::BelowTop);
    assert_eq!(rectangles.len(), 100_000);
    assert!(index.edges().len() < rectangles.len() * 3, "{}", index.edges().len());
    assert!(list.len() < rectangles.len() * 4, "{}", list.len());
    let moved: Bytes = index.edges().iter().map(|edge| edge.bytes).sum();
    assert!(moved > Bytes(1_000_000));
}
