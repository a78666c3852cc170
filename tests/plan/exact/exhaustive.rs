//! Small problems with everything a problem can have, against exhaustive search.

use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, Fit, Gap, Limits, PlacementProblem};

use super::{Random, at, exact};

/// What a random problem has besides rectangles.
#[derive(Clone, Copy, Default)]
struct Kind {
    n_buffers: u64,
    alignments: &'static [u64],
    fixed: bool,
    gaps: bool,
    groups: bool,
}

fn random_problem(random: &mut Random, kind: Kind) -> PlacementProblem {
    let n_buffers = 2 + random.below(kind.n_buffers - 1);
    let n_steps = 3 + random.step(6);
    let mut problem = PlacementProblem::default();
    for buffer in 0..n_buffers {
        let lower = random.step(n_steps);
        let upper = lower + 1 + random.step(n_steps - lower);
        let alignment = match kind.alignments {
            [] => 1,
            some => some[usize::try_from(random.below(some.len() as u64)).unwrap()],
        };
        let is_fixed = kind.fixed && random.below(4) == 0;
        problem.buffers.push(Buffer {
            lower: Step(lower),
            upper: Step(upper),
            size: Bytes(random.below(4) + u64::from(random.below(9) > 0)),
            alignment,
            offset: is_fixed.then(|| random.below(7) / alignment * alignment),
        });
        if kind.gaps && upper - lower > 1 && random.below(2) == 0 {
            // Somewhere in the range, at an end too, but never all of it.
            let start = lower + random.step(upper - lower);
            let end = (start + 1 + random.step(2)).min(upper);
            if end - start < upper - lower {
                problem.gaps.push(Gap {
                    buffer: u32::try_from(buffer).unwrap(),
                    lower: Step(start),
                    upper: Step(end),
                });
            }
        }
    }
    let mut position = 0;
    while kind.groups && position + 1 < n_buffers {
        let n_members = 2 + random.below(2);
        if random.below(2) == 0 && position + n_members <= n_buffers {
            let members = position..position + n_members;
            problem
                .groups
                .push(members.map(|member| u32::try_from(member).unwrap()).collect());
            position += n_members;
        } else {
            position += 1;
        }
    }
    problem
}

/// Tries every offset of every buffer, in file order.
struct Exhaustive<'a> {
    problem: &'a PlacementProblem,
    group_of: Vec<Option<usize>>,
    capacity: u64,
    offsets: Vec<u64>,
}

impl<'a> Exhaustive<'a> {
    fn fits(problem: &'a PlacementProblem, capacity: u64) -> bool {
        let group = |buffer: usize| {
            let is_member = |members: &Vec<u32>| members.iter().any(|member| *member as usize == buffer);
            problem.groups.iter().position(is_member)
        };
        let mut search = Self {
            problem,
            group_of: (0..problem.buffers.len()).map(group).collect(),
            capacity,
            offsets: Vec::new(),
        };
        search.extend()
    }

    fn extend(&mut self) -> bool {
        let idx = self.offsets.len();
        let Some(buffer) = self.problem.buffers.get(idx) else {
            return true;
        };
        let Some(last) = self.capacity.checked_sub(buffer.size.get()) else {
            return false;
        };
        (0..=last).any(|offset| {
            let is_free = offset % buffer.alignment == 0
                && buffer.offset.is_none_or(|fixed| fixed == offset)
                && (0..idx).all(|other| self.agrees(idx, offset, other));
            if !is_free {
                return false;
            }
            self.offsets.push(offset);
            let found = self.extend();
            self.offsets.pop();
            found
        })
    }

    fn agrees(&self, idx: usize, offset: u64, other: usize) -> bool {
        if self.group_of[idx].is_some() && self.group_of[idx] == self.group_of[other] {
            return offset == self.offsets[other];
        }
        let (one, two) = (&self.problem.buffers[idx], &self.problem.buffers[other]);
        let is_separate =
            offset + one.size.get() <= self.offsets[other] || self.offsets[other] + two.size.get() <= offset;
        is_separate
            || one.size.get() == 0
            || two.size.get() == 0
            || !(0..24).any(|step| self.is_live(idx, step) && self.is_live(other, step))
    }

    fn is_live(&self, idx: usize, step: u32) -> bool {
        let buffer = &self.problem.buffers[idx];
        let in_gap = |gap: &Gap| gap.buffer as usize == idx && gap.lower.0 <= step && step < gap.upper.0;
        buffer.lower.0 <= step && step < buffer.upper.0 && !self.problem.gaps.iter().any(in_gap)
    }
}

/// The optimum is what exhaustive search finds, and every smaller capacity is proved impossible.
fn check(problem: &PlacementProblem) {
    let optimum = (0..100).find(|capacity| Exhaustive::fits(problem, *capacity)).unwrap();
    let planned = exact(problem, Limits::default());
    assert_eq!(planned.plan.footprint, Bytes(optimum), "{problem:?}");
    assert!(planned.is_optimal(), "{problem:?} {planned:?}");
    for capacity in 1..optimum {
        let answer = exact(problem, at(capacity)).fit(Bytes(capacity));
        assert_eq!(answer, Fit::Impossible, "{capacity} of {problem:?}");
    }
    assert_eq!(
        exact(problem, at(optimum)).fit(Bytes(optimum)),
        Fit::Fits,
        "{problem:?}"
    );
}

fn check_many(n_problems: u64, kind: Kind) {
    let mut n_checked = 0;
    for seed in 0..n_problems {
        let problem = random_problem(&mut Random::new(seed), kind);
        if problem.validate().is_ok() {
            n_checked += 1;
            check(&problem);
        }
    }
    assert!(n_checked * 3 > n_problems, "only {n_checked} problems were valid");
}

const ALIGNMENTS: &[u64] = &[1, 1, 2, 3, 4];

#[test]
fn rectangles_equal_exhaustive_search() {
    let kind = Kind {
        n_buffers: 6,
        ..Kind::default()
    };
    check_many(2500, kind);
}

#[test]
fn alignments_equal_exhaustive_search() {
    let kind = Kind {
        n_buffers: 6,
        alignments: ALIGNMENTS,
        ..Kind::default()
    };
    check_many(2500, kind);
}

#[test]
fn fixed_offsets_equal_exhaustive_search() {
    let kind = Kind {
        n_buffers: 6,
        fixed: true,
        ..Kind::default()
    };
    check_many(2500, kind);
}

#[test]
fn gaps_equal_exhaustive_search() {
    let kind = Kind {
        n_buffers: 6,
        gaps: true,
        ..Kind::default()
    };
    check_many(2500, kind);
}

#[test]
fn groups_equal_exhaustive_search() {
    let kind = Kind {
        n_buffers: 7,
        groups: true,
        ..Kind::default()
    };
    check_many(2500, kind);
}

#[test]
fn everything_at_once_equals_exhaustive_search() {
    let kind = Kind {
        n_buffers: 7,
        alignments: ALIGNMENTS,
        fixed: true,
        gaps: true,
        groups: true,
    };
    check_many(4000, kind);
}

/// Tries every order, each buffer at the lowest offset that is free: enough for rectangles, and fast enough for more.
fn best_of_all_orders(problem: &PlacementProblem, placed: &mut Vec<(usize, u64)>, best: &mut u64) {
    let end = |(idx, offset): &(usize, u64)| offset + problem.buffers[*idx].size.get();
    let height = placed.iter().map(end).max().unwrap_or(0);
    if height >= *best {
        return;
    }
    if placed.len() == problem.buffers.len() {
        *best = height;
        return;
    }
    for idx in 0..problem.buffers.len() {
        if placed.iter().any(|(other, _)| *other == idx) {
            continue;
        }
        let buffer = &problem.buffers[idx];
        let in_the_way = |offset: u64| {
            let others = placed
                .iter()
                .filter(|(other, _)| problem.buffers[*other].overlaps(buffer));
            others
                .filter(|other| other.1 < offset + buffer.size.get() && offset < end(other))
                .map(end)
                .max()
        };
        let mut offset = 0;
        while let Some(next) = in_the_way(offset) {
            offset = next;
        }
        placed.push((idx, offset));
        best_of_all_orders(problem, placed, best);
        placed.pop();
    }
}

#[test]
fn more_rectangles_equal_the_best_of_all_orders() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let buffers = (0..8).map(|_| {
            let lower = random.step(9);
            Buffer {
                lower: Step(lower),
                upper: Step(lower + 1 + random.step(5)),
                size: Bytes(64 * (1 + random.below(9))),
                alignment: 1,
                offset: None,
            }
        });
        let problem = PlacementProblem::of(buffers);
        let mut optimum = u64::MAX;
        best_of_all_orders(&problem, &mut Vec::new(), &mut optimum);
        let planned = exact(&problem, Limits::default());
        assert_eq!(
            (planned.plan.footprint, planned.is_optimal()),
            (Bytes(optimum), true),
            "{problem:?}"
        );
        assert_eq!(
            exact(&problem, at(optimum - 1)).fit(Bytes(optimum - 1)),
            Fit::Impossible
        );
    }
}
