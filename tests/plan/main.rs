//! Placement: hand-made problems, random ones against brute force, reuse edges, the table of strategies.
#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain numbers and may stop at the first surprise"
)]

mod exact;
mod explain;
mod heuristics;
mod improving;
mod nested;
mod problem;
#[path = "../support/problems.rs"]
mod problems;
mod reuse;
#[path = "../support/support.rs"]
mod support;
mod verify;

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_plan::{
    BEST, Buffer, Effort, PlacementProblem, Plan, PlanDefect, PlanRequest, STRATEGIES, find, plan, reuse_edges, verify,
};
use proptest::prelude::*;

/// One buffer a line: `name lower..upper size`.
fn problem(text: &str) -> PlacementProblem {
    let buffers = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (lower, upper) = words[1].split_once("..").expect("a range");
        buffer(
            lower.parse().unwrap(),
            upper.parse().unwrap(),
            words[2].parse().unwrap(),
        )
    });
    PlacementProblem::of(buffers)
}

fn buffer(lower: u32, upper: u32, size: u64) -> Buffer {
    Buffer {
        lower: Step(lower),
        upper: Step(upper),
        size: Bytes(size),
        alignment: 1,
        offset: None,
    }
}

fn offsets(strategy: &str, problem: &PlacementProblem) -> Vec<u64> {
    let cancel = Cancel::new();
    let planned = plan(
        find(strategy).unwrap(),
        &PlanRequest::new(problem),
        &Progress::silent(&cancel),
    )
    .unwrap();
    assert_eq!(verify(problem, &planned.plan), Ok(()));
    planned.plan.offsets
}

/// The strategies that make a plan of their own.
fn makers() -> impl Iterator<Item = &'static highwater_plan::Strategy> {
    STRATEGIES.iter().filter(|row| row.suits(None))
}

#[test]
fn greedy_places_the_largest_first_and_fills_the_smallest_gap() {
    let problem = problem(
        "a 0..4 10
         b 2..6 6
         c 0..2 4
         d 4..6 10
         e 2..4 2",
    );
    assert_eq!(offsets("greedy_by_size", &problem), [0, 10, 10, 0, 16]);
    assert_eq!(offsets("naive", &problem), [0, 10, 16, 20, 30]);
}

#[test]
fn ties_go_to_the_earlier_birth_and_then_to_file_order() {
    let problem = problem(
        "a 2..4 8
         b 0..3 8
         c 2..4 8",
    );
    assert_eq!(offsets("greedy_by_size", &problem), [8, 0, 16]);
}

#[test]
fn an_empty_problem_needs_nothing() {
    let problem = PlacementProblem::default();
    for strategy in makers() {
        assert!(offsets(strategy.name, &problem).is_empty());
    }
    assert_eq!(problem.lower_bound(), Bytes::ZERO);
}

#[test]
fn unknown_strategies_are_named_with_the_known_ones() {
    let error = find("magic").unwrap_err().to_string();
    assert!(
        error.contains("magic") && error.contains("greedy_by_size") && error.contains("best"),
        "{error}"
    );
}

#[test]
fn verify_finds_each_defect() {
    let problem = problem("a 0..2 4\nb 1..3 4");
    let check = |offsets: Vec<u64>, footprint: u64| {
        verify(
            &problem,
            &Plan {
                offsets,
                footprint: Bytes(footprint),
            },
        )
    };
    assert_eq!(check(vec![0, 4], 8), Ok(()));
    assert!(matches!(check(vec![0], 4), Err(PlanDefect::Count { .. })));
    assert!(matches!(
        check(vec![0, 2], 6),
        Err(PlanDefect::Overlap { offset: 2, step: 1, .. })
    ));
    assert!(matches!(check(vec![0, 4], 9), Err(PlanDefect::Footprint { .. })));
    let mut aligned = problem.clone();
    aligned.buffers[1].alignment = 8;
    let plan = Plan::new(&aligned, vec![0, 4]);
    assert!(matches!(
        verify(&aligned, &plan),
        Err(PlanDefect::Misaligned { buffer: 1, .. })
    ));
}

#[test]
fn later_buffers_take_bytes_from_the_last_owners() {
    let problem = problem(
        "a 0..2 4
         b 0..2 4
         c 2..4 6
         d 4..5 8",
    );
    let plan = Plan::new(&problem, vec![0, 4, 0, 0]);
    assert_eq!(verify(&problem, &plan), Ok(()));
    let edges: Vec<(u32, u32, u64)> = reuse_edges(&problem, &plan)
        .iter()
        .map(|edge| (edge.earlier, edge.later, edge.bytes.get()))
        .collect();
    assert_eq!(edges, [(0, 2, 4), (1, 2, 2), (2, 3, 6), (1, 3, 2)]);
}

fn any_problem() -> impl Strategy<Value = PlacementProblem> {
    let any_buffer = (
        0_u32..12,
        1_u32..8,
        0_u64..20,
        prop_oneof![Just(1_u64), Just(4), Just(8)],
    );
    let aligned = any_buffer.prop_map(|(lower, steps, size, alignment)| Buffer {
        alignment,
        ..buffer(lower, lower + steps, size)
    });
    prop::collection::vec(aligned, 0..40).prop_map(PlacementProblem::of)
}

proptest! {
    #[test]
    fn every_strategy_gives_a_valid_plan_above_the_bound(problem in any_problem()) {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        let mut request = PlanRequest::new(&problem);
        request.limits.nodes = 2_000;
        let best = plan(find(BEST).unwrap(), &request, &progress).unwrap();
        for strategy in makers() {
            let planned = plan(strategy, &request, &progress).unwrap();
            prop_assert_eq!(verify(&problem, &planned.plan), Ok(()));
            prop_assert!(planned.plan.footprint >= problem.lower_bound());
            // A search that has all nodes for itself may see more than its share of them showed.
            let is_search = strategy.effort == Effort::Search;
            prop_assert!(is_search || planned.plan.footprint >= best.plan.footprint);
        }
    }

    /// The placement rule, written once more in the plainest way: all neighbours, all gaps.
    #[test]
    fn greedy_equals_its_plain_definition(problem in any_problem()) {
        prop_assert_eq!(offsets("greedy_by_size", &problem), plain_greedy(&problem));
    }

    #[test]
    fn edges_never_carry_more_than_the_later_buffer_holds(problem in any_problem()) {
        let plan = Plan::new(&problem, offsets("greedy_by_size", &problem));
        for edge in reuse_edges(&problem, &plan) {
            let (earlier, later) = (edge.earlier as usize, edge.later as usize);
            prop_assert!(problem.buffers[earlier].upper <= problem.buffers[later].lower);
            prop_assert!(edge.bytes <= problem.buffers[earlier].size.min(problem.buffers[later].size));
        }
    }
}

fn plain_greedy(problem: &PlacementProblem) -> Vec<u64> {
    let buffers = &problem.buffers;
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|idx| (std::cmp::Reverse(buffers[*idx].size), buffers[*idx].lower, *idx));
    let mut placed: Vec<(usize, u64)> = Vec::new();
    for idx in order {
        let size = buffers[idx].size.get();
        if size == 0 {
            placed.push((idx, 0));
            continue;
        }
        let up = |offset: u64| offset.div_ceil(buffers[idx].alignment) * buffers[idx].alignment;
        let mut neighbours: Vec<(u64, u64)> = placed
            .iter()
            .filter(|(other, _)| buffers[*other].overlaps(&buffers[idx]))
            .map(|(other, offset)| (*offset, offset + buffers[*other].size.get()))
            .collect();
        neighbours.sort_unstable();
        let (mut end, mut best) = (0, None);
        for (start, stop) in neighbours {
            if start >= up(end) + size {
                let gap = start - end;
                if best.is_none_or(|(smallest, _)| gap < smallest) {
                    best = Some((gap, up(end)));
                }
            }
            end = end.max(stop);
        }
        placed.push((idx, best.map_or(up(end), |(_, offset)| offset)));
    }
    placed.sort_unstable();
    placed.into_iter().map(|(_, offset)| offset).collect()
}
