//! Decision problems in every kind of round: perturbed orders, both lanes with a full memory, and two threads agree
//! with a different search without memory.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;

use super::descent::Partition;
use super::failed::Failed;
use super::flags::EndFlags;
use super::order::order;
use super::race::{Answer, Ledger, lanes, try_orders};
use super::search::{Budget, Search, Verdict, WORK_PER_NODE};
use super::{Descent, Task, build, partitions, solve};
use crate::{Buffer, Gap, Limits, PlacementProblem, Plan, verify};
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Shapes;

/// Deterministic pseudo-random numbers (xorshift).
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

/// Features of a problem besides rectangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Aligned,
    Fixed,
    Gaps,
}

const N_STEPS: u32 = 9;

/// Target load of every step, which makes placement at the lower bound unlikely.
const FULL: u64 = 16;

fn random_problem(random: &mut Random, kind: Kind) -> PlacementProblem {
    let mut problem = PlacementProblem::default();
    let mut loads = [0; N_STEPS as usize];
    for buffer in 0..16 {
        // From before the emptiest step to behind it.
        let emptiest = (0..N_STEPS).min_by_key(|step| loads[*step as usize]).unwrap_or(0);
        let lower = emptiest - random.step(3).min(emptiest);
        let upper = (emptiest + 1 + random.step(3)).min(N_STEPS);
        let has_gap = kind == Kind::Gaps && upper - lower > 2 && random.below(2) == 0;
        let steps = || (lower..upper).filter(|step| !has_gap || *step != lower + 1);
        let load = steps().map(|step| loads[step as usize]).max().unwrap_or(0);
        if load >= FULL {
            continue;
        }
        let size = (1 + random.below(8)).min(FULL - load);
        steps().for_each(|step| loads[step as usize] += size);
        let alignment = [1, 2, 3][usize::try_from(random.below(3)).unwrap()];
        let number = u32::try_from(problem.buffers.len()).unwrap();
        problem.buffers.push(Buffer {
            lower: Step(lower),
            upper: Step(upper),
            size: Bytes(size),
            alignment: if kind == Kind::Aligned { alignment } else { 1 },
            offset: (kind == Kind::Fixed && buffer % 6 == 0).then(|| random.below(12)),
        });
        if has_gap {
            problem.gaps.push(Gap {
                buffer: number,
                lower: Step(lower + 1),
                upper: Step(lower + 2),
            });
        }
    }
    problem
}

/// Nodes after which a problem is skipped.
const MAX_NODES: u64 = 200_000;

/// Places by ascending offset, each buffer on top of those below it: pushing every buffer down turns any plan into such
/// a plan.
struct Oracle<'a> {
    problem: &'a PlacementProblem,
    /// The steps of each buffer, as bits.
    live: Vec<u32>,
    capacity: u64,
    placed: Vec<Option<u64>>,
    nodes: u64,
}

impl<'a> Oracle<'a> {
    /// Whether there is a plan; `None` if that takes too long.
    fn fits(problem: &'a PlacementProblem, capacity: u64) -> Option<bool> {
        let mut live: Vec<u32> = Vec::new();
        for buffer in &problem.buffers {
            live.push((buffer.lower.0..buffer.upper.0).fold(0, |steps, step| steps | 1 << step));
        }
        for gap in &problem.gaps {
            let steps = (gap.lower.0..gap.upper.0).fold(0, |steps, step| steps | 1_u32 << step);
            live[gap.buffer as usize] &= !steps;
        }
        let placed = vec![None; live.len()];
        let mut oracle = Self {
            problem,
            live,
            capacity,
            placed,
            nodes: 0,
        };
        oracle.extend((0, 0))
    }

    fn size(&self, idx: usize) -> u64 {
        self.problem.buffers[idx].size.get()
    }

    /// The highest end of placed buffers on some of these steps.
    fn top(&self, steps: u32) -> u64 {
        let meets = |idx: &usize| self.live[*idx] & steps != 0;
        let ends = (0..self.live.len())
            .filter(meets)
            .filter_map(|idx| Some(self.placed[idx]? + self.size(idx)));
        ends.max().unwrap_or(0)
    }

    fn is_too_full(&self, step: u32, least: u64) -> bool {
        let waits = |idx: &usize| self.placed[*idx].is_none() && self.live[*idx] & (1 << step) != 0;
        let rest: u64 = (0..self.live.len()).filter(waits).map(|idx| self.size(idx)).sum();
        rest > 0 && self.top(1 << step).max(least) + rest > self.capacity
    }

    fn extend(&mut self, last: (u64, usize)) -> Option<bool> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return None;
        }
        if self.placed.iter().all(Option::is_some) {
            return Some(true);
        }
        if (0..N_STEPS).any(|step| self.is_too_full(step, last.0)) {
            return Some(false);
        }
        for idx in 0..self.live.len() {
            if self.placed[idx].is_some() {
                continue;
            }
            let buffer = &self.problem.buffers[idx];
            let mut offset = self.top(self.live[idx]).next_multiple_of(buffer.alignment);
            if let Some(fixed) = buffer.offset {
                if offset > fixed {
                    return Some(false);
                }
                offset = fixed;
            }
            if offset + self.size(idx) > self.capacity {
                return Some(false);
            }
            if (offset, idx) < last {
                continue;
            }
            self.placed[idx] = Some(offset);
            let found = self.extend((offset, idx))?;
            self.placed[idx] = None;
            if found {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The least capacity with a plan.
fn optimum(problem: &PlacementProblem) -> Option<u64> {
    (problem.lower_bound().get()..200).find_map(|capacity| match Oracle::fits(problem, capacity) {
        Some(true) => Some(Some(capacity)),
        Some(false) => None,
        None => Some(None),
    })?
}

fn ledger<'a>(progress: &'a Progress<'a>) -> Ledger<'a> {
    Ledger {
        nodes_left: u64::MAX,
        nodes_used: 0,
        is_race: false,
        progress,
        flags: EndFlags {
            cancel: progress.cancel_flag(),
            stop: None,
        },
    }
}

/// Solves every part of the problem in every kind of round; whether all have a plan.
fn all_fit(problem: &PlacementProblem, round: u64, capacity: u64) -> bool {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let shapes = Shapes::new(problem);
    let mut plan = Plan::new(problem, vec![0; problem.buffers.len()]);
    for items in partitions(&shapes) {
        let part = build::build::<u64>(&shapes, &items, &progress).unwrap().unwrap();
        let mut ledger = ledger(&progress);
        let mut lanes = lanes(&part, ledger.flags);
        for lane in &mut lanes {
            lane.failed = Failed::of_most(16);
        }
        match try_orders(&mut lanes, capacity, round, 1_000_000, &mut ledger).unwrap() {
            Answer::Plan(offsets) => {
                for (item, offset) in part.items.iter().zip(offsets) {
                    plan.offsets[*item as usize] = offset * part.unit;
                }
            }
            Answer::Impossible => return false,
            Answer::Unknown => panic!("{round} {capacity} {problem:?}"),
        }
    }
    let plan = Plan::new(problem, plan.offsets);
    assert_eq!(verify(problem, &plan), Ok(()), "{round} {problem:?}");
    assert!(plan.footprint.get() <= capacity, "{round} {problem:?}");
    true
}

fn check_many(kind: Kind, n_problems: u64) {
    let (mut n_checked, mut n_above) = (0, 0);
    for seed in 0..n_problems {
        let problem = random_problem(&mut Random::new(seed), kind);
        let Some(optimum) = problem.validate().is_ok().then(|| optimum(&problem)).flatten() else {
            continue;
        };
        n_checked += 1;
        n_above += u32::from(optimum > problem.lower_bound().get());
        for round in [0, 1, 2, 3, 6] {
            assert!(all_fit(&problem, round, optimum), "{round} {problem:?}");
            assert!(!all_fit(&problem, round, optimum - 1), "{round} {problem:?}");
        }
    }
    assert!(n_checked * 3 > n_problems, "only {n_checked} were checked");
    assert!(n_above >= 5, "only {n_above} are above the bound");
}

#[test]
fn rectangles_equal_a_search_without_memory_in_every_round() {
    check_many(Kind::Plain, 400);
}

#[test]
fn alignments_equal_a_search_without_memory_in_every_round() {
    check_many(Kind::Aligned, 60);
}

#[test]
fn fixed_offsets_equal_a_search_without_memory_in_every_round() {
    check_many(Kind::Fixed, 80);
}

#[test]
fn gaps_equal_a_search_without_memory_in_every_round() {
    check_many(Kind::Gaps, 80);
}

/// Long and short lives, many at once.
fn crowd(n_buffers: u32) -> PlacementProblem {
    let mut random = Random::new(1);
    PlacementProblem::of((0..n_buffers).map(|_| {
        let lower = random.step(n_buffers / 2);
        Buffer {
            lower: Step(lower),
            upper: Step(lower + 1 + random.step(n_buffers / 2 - lower)),
            size: Bytes(1 + random.below(1000)),
            alignment: 1,
            offset: None,
        }
    }))
}

/// A search of the crowd at its lower bound: verdict, nodes, and work.
fn search_crowd(nodes: u64, cancel: &Cancel, is_over: &dyn Fn() -> bool) -> (Verdict, u64, usize) {
    let problem = crowd(1500);
    let shapes = Shapes::new(&problem);
    let never = Cancel::new();
    let items = partitions(&shapes).into_iter().max_by_key(Vec::len).unwrap();
    let part = build::build::<u32>(&shapes, &items, &Progress::silent(&never))
        .unwrap()
        .unwrap();
    let mut search = Search::new(&part, EndFlags { cancel, stop: None });
    let before = search.skyline.work;
    let budget = Budget { nodes, is_over };
    let capacity = problem.lower_bound().get();
    let verdict = search.run(capacity, &order(&part, 0, 0), &budget);
    (verdict, search.nodes(&budget), search.skyline.work - before)
}

#[test]
fn nodes_bound_the_work() {
    let cancel = Cancel::new();
    for limit in [1, 10, 100] {
        let (verdict, nodes, work) = search_crowd(limit, &cancel, &|| false);
        assert_eq!((verdict, nodes), (Verdict::OutOfNodes, limit));
        // The last step is finished.
        let most = WORK_PER_NODE * usize::try_from(limit).unwrap() + 10_000_000;
        assert!(work < most, "{work} for {limit} nodes");
    }
}

#[test]
fn a_search_ends_when_it_is_told() {
    let cancel = Cancel::new();
    let n_asked = Cell::new(0);
    let is_over = || n_asked.replace(n_asked.get() + 1) >= 50;
    let (verdict, ..) = search_crowd(u64::MAX, &cancel, &is_over);
    assert_eq!((verdict, n_asked.get()), (Verdict::Ended, 51));
    cancel.cancel();
    let (verdict, nodes, _) = search_crowd(u64::MAX, &cancel, &|| false);
    assert_eq!((verdict, nodes), (Verdict::Ended, 0));
}

/// Two partitions above the goal, of which the higher one is too large to search.
#[test]
fn at_a_capacity_the_others_are_asked_when_one_is_too_large() {
    let problem = crowd(4);
    let shapes = Shapes::new(&problem);
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    for (capacity, next) in [(None, None), (Some(Bytes(7)), Some(1))] {
        let limits = Limits {
            capacity,
            ..Limits::default()
        };
        let task = Task {
            problem: &problem,
            shapes: &shapes,
            bound: 5,
            recorded: None,
            order: None,
            limits: &limits,
            better: None,
            progress: &progress,
        };
        let partition = |height: u64, is_beyond: bool| Partition {
            items: Vec::new(),
            round: 0,
            height,
            bound: 0,
            is_beyond,
        };
        let descent = Descent {
            task: &task,
            capacity: capacity.map(Bytes::get),
            partitions: vec![partition(10, true), partition(9, false)],
            offsets: Vec::new(),
            bound: 5,
        };
        assert_eq!(descent.next(), next);
    }
}

#[test]
fn a_flag_that_is_set_before_leaves_the_plan_as_it_is() {
    let problem = crowd(100);
    let shapes = Shapes::new(&problem);
    let (cancel, stop) = (Cancel::new(), Cancel::new());
    let progress = Progress::silent(&cancel);
    let limits = Limits {
        stop: Some(&stop),
        ..Limits::default()
    };
    let task = Task {
        problem: &problem,
        shapes: &shapes,
        bound: problem.lower_bound().get(),
        recorded: None,
        order: None,
        limits: &limits,
        better: None,
        progress: &progress,
    };
    stop.cancel();
    let offsets = problem.buffers.iter().scan(0, |end, buffer| {
        *end += buffer.size.get();
        Some(*end - buffer.size.get())
    });
    let start: Vec<u64> = offsets.collect();
    let placement = solve(&task, Some(start.clone()), u64::MAX).unwrap();
    assert_eq!((placement.offsets, placement.nodes), (start, 0));
}
