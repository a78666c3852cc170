//! Random placement problems, and verified plans.

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, Gap, PlacementProblem, PlanRequest, Planned, find, plan, verify};
use proptest::prelude::*;

fn buffer(lower: u32, upper: u32, size: u64) -> Buffer {
    Buffer {
        lower: Step(lower),
        upper: Step(upper),
        size: Bytes(size),
        alignment: 1,
        offset: None,
    }
}

/// Problems with alignments, gaps, groups and zero sizes.
pub(crate) fn any_rich_problem() -> impl Strategy<Value = PlacementProblem> {
    let row = (
        (0_u32..12, 1_u32..8, 0_u64..12),
        prop_oneof![3 => Just(1_u64), 1 => Just(4), 1 => Just(8)],
        prop::collection::vec(0_u32..8, 0..4),
        prop::option::weighted(0.25, 0_u32..4),
    );
    prop::collection::vec(row, 0..14).prop_map(|rows| {
        let mut problem = PlacementProblem::default();
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); 4];
        for (position, ((lower, steps, size), alignment, cuts, group)) in (0_u32..).zip(rows) {
            problem.buffers.push(Buffer {
                alignment,
                ..buffer(lower, lower + steps, size)
            });
            let mut cuts: Vec<u32> = cuts.iter().map(|cut| lower + cut % (steps + 1)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            // Gaps leave at least a step.
            let lent: u32 = cuts.chunks_exact(2).map(|pair| pair[1] - pair[0]).sum();
            cuts.truncate(if lent < steps { cuts.len() } else { 0 });
            problem.gaps.extend(cuts.chunks_exact(2).map(|pair| Gap {
                buffer: position,
                lower: Step(pair[0]),
                upper: Step(pair[1]),
            }));
            if let Some(group) = group {
                groups[group as usize].push(position);
            }
        }
        problem.groups = groups.into_iter().filter(|group| group.len() > 1).collect();
        problem.groups.sort_unstable();
        problem
    })
}

/// The verified plan of a strategy.
pub(crate) fn planned(strategy: &str, problem: &PlacementProblem) -> Planned {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let planned = plan(find(strategy).unwrap(), &PlanRequest::new(problem), &progress).unwrap();
    assert_eq!(verify(problem, &planned.plan), Ok(()));
    planned
}
