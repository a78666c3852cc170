//! The exact strategy against exhaustive search: what it calls optimal is, and what it calls impossible has no plan.

mod exhaustive;
mod large;
mod limits;

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, Limits, PlacementProblem, PlanRequest, Planned, find, plan, verify};

fn exact(problem: &PlacementProblem, limits: Limits<'_>) -> Planned {
    let cancel = Cancel::new();
    let request = PlanRequest {
        limits,
        ..PlanRequest::new(problem)
    };
    let planned = plan(find("exact").unwrap(), &request, &Progress::silent(&cancel)).unwrap();
    assert_eq!(verify(problem, &planned.plan), Ok(()), "{problem:?}");
    assert!(
        planned.plan.footprint >= planned.proved_bound,
        "{problem:?} {planned:?}"
    );
    planned
}

fn at(capacity: u64) -> Limits<'static> {
    Limits {
        capacity: Some(Bytes(capacity)),
        ..Limits::default()
    }
}

/// Numbers that look random and are the same every time (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(0x0139_408D_CBBF_7A44 ^ (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn step(&mut self, end: u32) -> u32 {
        u32::try_from(self.below(u64::from(end))).unwrap()
    }
}

/// Rectangles that fill `capacity` x 60 steps without a gap, by halving at random places; some are then left out.
fn puzzle(random: &mut Random, n_buffers: usize, leave_out: u64) -> PlacementProblem {
    let mut pieces = vec![(0_u32, 60_u32, 0_u64, 1000_u64)];
    while pieces.len() < n_buffers {
        let idx = (0..3).map(|_| usize::try_from(random.below(pieces.len() as u64)).unwrap());
        let idx = idx.max_by_key(|idx| u64::from(pieces[*idx].1 - pieces[*idx].0) * (pieces[*idx].3 - pieces[*idx].2));
        let piece = &mut pieces[idx.unwrap()];
        let (lower, upper, bottom, top) = *piece;
        if upper - lower > 2 && (random.below(3) == 0 || top - bottom < 2) {
            let middle = lower + 1 + random.step(upper - lower - 1);
            piece.1 = middle;
            pieces.push((middle, upper, bottom, top));
        } else if top - bottom > 1 {
            let middle = bottom + 1 + random.below(top - bottom - 1);
            piece.3 = middle;
            pieces.push((lower, upper, middle, top));
        }
    }
    let kept = pieces
        .into_iter()
        .filter(|_| leave_out == 0 || random.below(leave_out) > 0);
    PlacementProblem::of(kept.map(|(lower, upper, bottom, top)| Buffer {
        lower: Step(lower),
        upper: Step(upper),
        size: Bytes(top - bottom),
        alignment: 1,
        offset: None,
    }))
}
