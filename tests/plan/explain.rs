//! Explanations: hand-made cases, and random plans against pictures of bytes and steps.

use highwater_model::units::{Bytes, Step};
use highwater_plan::{Gap, PlacementProblem, Plan, fragmentation, peak_chain, peak_live, placement_reason};
use proptest::prelude::*;

use super::problem;
use super::verify::{collide, is_live, share};
use crate::problems::{any_rich_problem, planned};

#[test]
fn neighbours_below_keep_a_buffer_up() {
    // c lies above b, b above a; d is never live with c.
    let problem = problem(
        "a 0..4 10
         b 2..6 6
         c 3..8 4
         d 8..9 30",
    );
    let plan = Plan::new(&problem, vec![0, 10, 16, 0]);
    let why = placement_reason(&problem, &plan, 2).unwrap();
    let blockers: Vec<_> = why
        .blockers
        .iter()
        .map(|blocker| {
            (
                blocker.buffer,
                blocker.from,
                blocker.to,
                blocker.lower.0,
                blocker.upper.0,
            )
        })
        .collect();
    assert_eq!(blockers, [(0, 0, 10, 3, 4), (1, 7, 16, 3, 6)]);
    assert_eq!((why.lowest_offset, why.is_fixed), (None, false));
    let free = placement_reason(&problem, &plan, 3).unwrap();
    assert!(free.blockers.is_empty() && free.lowest_offset.is_none());
    assert!(placement_reason(&problem, &plan, 4).is_none());
}

#[test]
fn a_buffer_that_could_be_lower_names_the_offset() {
    let problem = problem("a 0..4 10\nb 2..6 6\nc 4..6 3");
    let plan = Plan::new(&problem, vec![0, 13, 40]);
    let why = placement_reason(&problem, &plan, 1).unwrap();
    assert_eq!((why.lowest_offset, why.blockers.len()), (Some(10), 1));
    let why = placement_reason(&problem, &plan, 2).unwrap();
    assert_eq!((why.lowest_offset, why.blockers.len()), (Some(0), 0));
}

#[test]
fn alignment_and_groups_count() {
    let mut problem = problem("a 0..4 10\nb 2..6 6\nc 8..9 4\nd 8..9 4");
    problem.buffers[1].alignment = 8;
    problem.groups = vec![vec![1, 2]];
    let plan = Plan::new(&problem, vec![0, 16, 16, 0]);
    let why = placement_reason(&problem, &plan, 2).unwrap();
    assert_eq!(why.moves_with, [1]);
    assert_eq!(why.lowest_offset, None, "8 is refused by a through b, 0 by both");
    assert_eq!((why.blockers[0].buffer, why.blockers[0].against), (0, 1));
    let chain = peak_chain(&problem, &plan);
    let links: Vec<_> = chain
        .links
        .iter()
        .map(|link| (link.buffer, link.gap_below.get()))
        .collect();
    assert_eq!(links, [(1, 6), (0, 0)]);
}

#[test]
fn the_chain_goes_from_the_top_to_the_bottom() {
    let problem = problem(
        "a 0..4 10
         b 3..8 6
         c 7..9 4
         d 0..3 12",
    );
    let plan = Plan::new(&problem, vec![0, 22, 28, 10]);
    let chain = peak_chain(&problem, &plan);
    let links: Vec<_> = chain
        .links
        .iter()
        .map(|link| (link.buffer, link.offset, link.gap_below.get(), link.is_live_at_peak))
        .collect();
    assert_eq!(links, [(2, 28, 0, false), (1, 22, 12, false), (0, 0, 0, true)]);
    assert_eq!((chain.peak_live, chain.peak_step), (Bytes(22), Some(Step(0))));
    assert_eq!((chain.live_at_peak, chain.gap_bytes), (Bytes(10), Bytes(12)));
}

#[test]
fn gaps_are_counted_step_by_step() {
    let problem = problem(
        "a 0..4 10
         b 2..6 6
         c 3..8 4",
    );
    let plan = Plan::new(&problem, vec![0, 12, 20]);
    let idle = fragmentation(&problem, &plan);
    let steps: Vec<_> = idle
        .steps
        .iter()
        .map(|at| (at.step.0, at.live.get(), at.top.get(), at.n_gaps, at.largest_gap.get()))
        .collect();
    assert_eq!(
        steps,
        [
            (0, 10, 10, 0, 0),
            (2, 16, 18, 1, 2),
            (3, 20, 24, 2, 2),
            (4, 10, 24, 2, 12),
            (6, 4, 24, 1, 20),
            (8, 0, 0, 0, 0),
        ]
    );
    assert_eq!((idle.lost(), idle.at_footprint), (Bytes(4), Some(2)));
    let gaps: Vec<_> = idle
        .gaps
        .iter()
        .map(|gap| (gap.offset, gap.size.get(), gap.below, gap.above))
        .collect();
    assert_eq!(gaps, [(10, 2, Some(0), 1), (18, 2, Some(1), 2)]);
}

#[test]
fn nothing_is_explained_by_nothing() {
    let problem = PlacementProblem::default();
    let plan = Plan::default();
    assert!(peak_chain(&problem, &plan).links.is_empty());
    assert!(fragmentation(&problem, &plan).steps.is_empty());
    assert_eq!(peak_live(&problem), (Bytes::ZERO, None));
}

/// Which bytes are held on a step.
fn picture(problem: &PlacementProblem, plan: &Plan, step: u32) -> Vec<bool> {
    let mut bytes = vec![false; plan.footprint.get() as usize];
    for idx in 0..problem.buffers.len() {
        if is_live(problem, idx, step) {
            let start = plan.offsets[idx] as usize;
            bytes[start..start + problem.buffers[idx].size.get() as usize].fill(true);
        }
    }
    bytes
}

/// Live bytes, top, gaps, largest gap.
fn described(bytes: &[bool]) -> (u64, u64, u32, u64) {
    let top = bytes.iter().rposition(|held| *held).map_or(0, |last| last + 1);
    let gaps: Vec<u64> = bytes[..top]
        .split(|held| *held)
        .filter(|gap| !gap.is_empty())
        .map(|gap| gap.len() as u64)
        .collect();
    let live = bytes.iter().filter(|held| **held).count() as u64;
    (
        live,
        top as u64,
        gaps.len() as u32,
        gaps.iter().copied().max().unwrap_or(0),
    )
}

proptest! {
    #[test]
    fn gaps_equal_those_of_the_picture(problem in any_rich_problem(), strategy in prop_oneof![Just("naive"), Just("greedy_by_size")]) {
        let plan = planned(strategy, &problem).plan;
        let idle = fragmentation(&problem, &plan);
        for step in 0..24 {
            let at = idle.steps.iter().rev().find(|at| at.step.0 <= step);
            let found = at.map_or((0, 0, 0, 0), |at| (at.live.get(), at.top.get(), at.n_gaps, at.largest_gap.get()));
            prop_assert_eq!(found, described(&picture(&problem, &plan, step)), "step {}", step);
        }
        let most = (0..24).map(|step| described(&picture(&problem, &plan, step)).0).max();
        prop_assert_eq!(Some(idle.peak_live.get()), most);
        if let Some(at) = idle.at_footprint {
            let at = idle.steps[at];
            prop_assert_eq!(at.top, plan.footprint);
            prop_assert_eq!(idle.gaps.iter().map(|gap| gap.size).sum::<Bytes>(), at.gap_bytes());
            prop_assert_eq!(idle.gaps.len() as u32, at.n_gaps);
            prop_assert!(at.gap_bytes() >= idle.lost());
            for gap in &idle.gaps {
                prop_assert_eq!(plan.offsets[gap.above as usize], gap.offset + gap.size.get());
                prop_assert!(is_live(&problem, gap.above as usize, at.step.0));
                let below = gap.below.map_or(0, |idx| plan.offsets[idx as usize] + problem.buffers[idx as usize].size.get());
                prop_assert_eq!(below, gap.offset);
            }
        } else {
            let mut tops = (0..24).map(|step| described(&picture(&problem, &plan, step)).1);
            prop_assert!(idle.steps.is_empty() || tops.all(|top| top != plan.footprint.get()));
        }
    }

    #[test]
    fn sizes_and_gaps_of_the_chain_add_up_to_its_top(problem in any_rich_problem(), strategy in prop_oneof![Just("naive"), Just("greedy_by_size")]) {
        let plan = planned(strategy, &problem).plan;
        let chain = peak_chain(&problem, &plan);
        let end = |idx: usize| plan.offsets[idx] + problem.buffers[idx].size.get();
        let highest = (0..problem.buffers.len()).filter(|idx| problem.buffers[*idx].size.get() > 0).map(end).max();
        let sum: u64 = chain.links.iter().map(|link| (link.size + link.gap_below).get()).sum();
        prop_assert_eq!(sum, highest.unwrap_or(0));
        let meets = |one: usize, other: usize| {
            (0..problem.buffers.len()).filter(|member| share(&problem, one, *member)).any(|member| {
                (0..24).any(|step| is_live(&problem, member, step) && is_live(&problem, other, step))
            })
        };
        for pair in chain.links.windows(2) {
            let (upper, lower) = (pair[0].buffer as usize, pair[1].buffer as usize);
            prop_assert_eq!(end(lower) + pair[0].gap_below.get(), plan.offsets[upper]);
            prop_assert!(meets(upper, lower));
        }
        for link in &chain.links {
            // No buffer that is live with it ends within the gap below it.
            let link_bottom = link.offset - link.gap_below.get();
            for other in 0..problem.buffers.len() {
                let is_between = end(other) > link_bottom && end(other) <= link.offset;
                prop_assert!(!is_between || problem.buffers[other].size.get() == 0 || !meets(link.buffer as usize, other));
            }
        }
    }

    #[test]
    fn blockers_refuse_every_lower_offset(problem in any_rich_problem(), lift in 0_u64..3) {
        let mut plan = planned("greedy_by_size", &problem).plan;
        // Lifted plans have room below.
        for offset in &mut plan.offsets {
            *offset += lift * 8;
        }
        let plan = Plan::new(&problem, plan.offsets);
        for idx in 0..problem.buffers.len() {
            let why = placement_reason(&problem, &plan, idx).unwrap();
            let members: Vec<usize> = (0..problem.buffers.len()).filter(|other| share(&problem, idx, *other)).collect();
            let alignment = members.iter().map(|member| problem.buffers[*member].alignment).max().unwrap();
            for at in (0..plan.offsets[idx]).step_by(alignment as usize) {
                let mut moved = plan.offsets.clone();
                for member in &members {
                    moved[*member] = at;
                }
                let hits = |other: usize| members.iter().any(|member| collide(&problem, &moved, *member, other));
                if why.lowest_offset == Some(at) {
                    prop_assert!(!(0..problem.buffers.len()).any(hits), "{} could not stand at {}", idx, at);
                    break;
                }
                prop_assert!(why.blockers.iter().any(|blocker| hits(blocker.buffer as usize)), "{} at {}", idx, at);
            }
            for blocker in &why.blockers {
                for step in blocker.lower.0..blocker.upper.0 {
                    prop_assert!(is_live(&problem, blocker.buffer as usize, step));
                    prop_assert!(is_live(&problem, blocker.against as usize, step));
                }
            }
        }
    }
}

#[test]
fn twenty_thousand_buffers_are_explained_at_once() {
    let buffers = (0..20_000_u32).map(|idx| super::buffer(idx / 4, idx / 4 + 1 + idx % 97, 64));
    let mut problem = PlacementProblem::of(buffers);
    problem.gaps = vec![Gap {
        buffer: 3,
        lower: Step(1),
        upper: Step(2),
    }];
    let plan = planned("naive", &problem).plan;
    assert_eq!(plan.footprint, fragmentation(&problem, &plan).footprint);
    let chain = peak_chain(&problem, &plan);
    let sum: Bytes = chain.links.iter().map(|link| link.size + link.gap_below).sum();
    assert_eq!(sum, plan.footprint);
    assert!(placement_reason(&problem, &plan, 19_999).is_some());
}
