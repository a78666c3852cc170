//! The check of plans against a picture of bytes and steps, for problems with everything that a problem may have.

use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, Gap, PlacementProblem, Plan, PlanDefect, verify};
use proptest::prelude::*;

use crate::problems::{any_rich_problem, planned};

fn buffer(lower: u32, upper: u32, size: u64) -> Buffer {
    super::buffer(lower, upper, size)
}

/// Whether a buffer holds its bytes on a step.
pub(super) fn is_live(problem: &PlacementProblem, idx: usize, step: u32) -> bool {
    let buffer = &problem.buffers[idx];
    let is_lent = problem
        .gaps
        .iter()
        .any(|gap| gap.buffer as usize == idx && gap.lower.0 <= step && step < gap.upper.0);
    buffer.lower.0 <= step && step < buffer.upper.0 && !is_lent
}

/// Whether the problem fixes both at one address.
pub(super) fn share(problem: &PlacementProblem, one: usize, other: usize) -> bool {
    let holds = |group: &Vec<u32>, idx: usize| group.iter().any(|member| *member as usize == idx);
    one == other
        || problem
            .groups
            .iter()
            .any(|group| holds(group, one) && holds(group, other))
}

/// Whether two buffers hold a byte on one step and may not.
pub(super) fn collide(problem: &PlacementProblem, offsets: &[u64], one: usize, other: usize) -> bool {
    let end = |idx: usize| offsets[idx] + problem.buffers[idx].size.get();
    !share(problem, one, other)
        && offsets[one] < end(other)
        && offsets[other] < end(one)
        && problem.buffers[one].size.get().min(problem.buffers[other].size.get()) > 0
        && (0..24).any(|step| is_live(problem, one, step) && is_live(problem, other, step))
}

fn is_valid(problem: &PlacementProblem, offsets: &[u64]) -> bool {
    let n = problem.buffers.len();
    let aligned = (0..n).all(|idx| offsets[idx].is_multiple_of(problem.buffers[idx].alignment));
    let fixed = (0..n).all(|idx| problem.buffers[idx].offset.is_none_or(|fixed| fixed == offsets[idx]));
    let pairs = || (0..n).flat_map(|one| (0..one).map(move |other| (one, other)));
    let together = pairs().all(|(one, other)| !share(problem, one, other) || offsets[one] == offsets[other]);
    aligned && fixed && together && pairs().all(|(one, other)| !collide(problem, offsets, one, other))
}

proptest! {
    #[test]
    fn the_check_is_right_about_any_offsets(
        problem in any_rich_problem(),
        spread in 1_u64..8,
        offsets in prop::collection::vec(0_u64..8, 14),
        fixed in prop::option::of((0_usize..14, 0_u64..8)),
    ) {
        let mut problem = problem;
        let offsets: Vec<u64> = offsets.iter().take(problem.buffers.len()).map(|offset| offset * spread * 4).collect();
        if let Some((idx, offset)) = fixed
            && let Some(buffer) = problem.buffers.get_mut(idx)
        {
            buffer.offset = Some(offset * spread * 4);
        }
        let plan = Plan::new(&problem, offsets.clone());
        let verdict = verify(&problem, &plan);
        prop_assert_eq!(verdict.is_ok(), is_valid(&problem, &offsets), "{:?}", verdict);
        if let Err(PlanDefect::Overlap { first, second, offset, step }) = verdict {
            prop_assert!(collide(&problem, &offsets, first, second));
            for idx in [first, second] {
                prop_assert!(is_live(&problem, idx, step));
                prop_assert!(offsets[idx] <= offset && offset < offsets[idx] + problem.buffers[idx].size.get());
            }
        }
    }

    /// Moving one buffer of a valid plan is noticed exactly where it collides.
    #[test]
    fn a_moved_buffer_is_noticed(problem in any_rich_problem(), idx in 0_usize..14, offset in 0_u64..40) {
        let mut offsets = planned("greedy_by_size", &problem).plan.offsets;
        if let Some(moved) = offsets.get_mut(idx) {
            *moved = offset;
        }
        let verdict = verify(&problem, &Plan::new(&problem, offsets.clone()));
        prop_assert_eq!(verdict.is_ok(), is_valid(&problem, &offsets), "{:?}", verdict);
    }

    #[test]
    fn every_strategy_is_valid_with_gaps_groups_and_fixed_offsets(problem in any_rich_problem(), keep in 1_usize..5) {
        let mut problem = problem;
        let first = planned("naive", &problem).plan;
        for (idx, buffer) in problem.buffers.iter_mut().enumerate() {
            buffer.offset = (idx % keep == 0).then_some(first.offsets[idx]);
        }
        for strategy in super::makers() {
            let plan = planned(strategy.name, &problem).plan;
            prop_assert!(is_valid(&problem, &plan.offsets), "{}", strategy.name);
        }
    }
}

#[test]
fn each_defect_is_told_with_positions_or_with_names() {
    let mut problem = PlacementProblem::of([buffer(0, 4, 8), buffer(2, 6, 8), buffer(2, 3, 8)]);
    problem.buffers[2].offset = Some(16);
    let check = |problem: &PlacementProblem, offsets: [u64; 3]| {
        let defect = verify(problem, &Plan::new(problem, offsets.to_vec())).unwrap_err();
        let name = |idx: usize| ["\"a\"", "\"b\"", "\"c\""][idx].to_owned();
        (
            defect.to_string(),
            defect.sentence(&name, &|step| u64::from(step) * 1000),
        )
    };
    let (plain, named) = check(&problem, [0, 4, 16]);
    assert_eq!(plain, "buffers 0 and 1 both hold byte 4 at step 2");
    assert_eq!(named, "buffers \"a\" and \"b\" both hold byte 4 at step 2000");
    let (plain, named) = check(&problem, [0, 8, 24]);
    assert_eq!(plain, "buffer 2 starts at 24 but is fixed at 16");
    assert_eq!(named, "buffer \"c\" starts at 24 but is fixed at 16");
    problem.groups = vec![vec![0, 1]];
    assert_eq!(
        check(&problem, [0, 8, 16]).1,
        "buffers \"a\" and \"b\" share an address but start at 0 and 8"
    );
    assert_eq!(verify(&problem, &Plan::new(&problem, vec![0, 0, 16])), Ok(()));
    let late = Plan {
        offsets: vec![0, 0, 16],
        footprint: Bytes(23),
    };
    assert_eq!(
        verify(&problem, &late).unwrap_err().to_string(),
        "the plan states a footprint of 23 bytes, its buffers end at 24"
    );
}

#[test]
fn gaps_lend_their_bytes_and_nothing_else() {
    let mut problem = PlacementProblem::of([buffer(0, 10, 8), buffer(4, 6, 8)]);
    problem.gaps = vec![Gap {
        buffer: 0,
        lower: Step(4),
        upper: Step(6),
    }];
    assert_eq!(verify(&problem, &Plan::new(&problem, vec![0, 0])), Ok(()));
    problem.buffers[1].upper = Step(7);
    assert_eq!(
        verify(&problem, &Plan::new(&problem, vec![0, 0])),
        Err(PlanDefect::Overlap {
            first: 1,
            second: 0,
            offset: 0,
            step: 6
        })
    );
}

#[test]
fn twenty_thousand_buffers_are_checked_at_once() {
    let buffers = (0..20_000_u32).map(|idx| buffer(idx, idx + 1 + idx % 300, 64));
    let problem = PlacementProblem::of(buffers);
    planned("naive", &problem);
}
