//! The nesting against the reference that makes every offer, and its checks of the cancel flag.

use highwater_model::progress::{Cancel, Progress};

use super::super::block_reuse::binary_blocks;
use super::super::demand::{Demand, Request, Usage};
use super::{LIMITS, Limits, nest, nest_with, reference};

/// Requests of a graph: sizes of few or many classes, lives that are short, long or nested.
fn demand(seed: u64) -> Demand {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % limit
    };
    let narrow = |value: u64| u32::try_from(value).expect("small");
    // A few lists are longer than many runs of the search.
    let n_requests = 2 + below(if seed.is_multiple_of(100) { 2_000 } else { 120 });
    let (n_sizes, length, n_streams) = (1 + below(60), 1 + below(40), 1 + below(4));
    let (spread, n_steps) = (1 + below(3), 1 + below(200));
    let mut begins: Vec<u64> = (0..n_requests).map(|_| below(n_steps)).collect();
    begins.sort_unstable();
    let requests: Vec<Request> = begins
        .iter()
        .map(|begin| {
            let is_long = below(8) == 0;
            let end = begin + if is_long { below(n_steps) } else { below(length) };
            let is_input = below(20) == 0;
            let (begin, end) = if is_input {
                (1, u32::MAX)
            } else {
                (narrow(*begin), narrow(end))
            };
            Request {
                begin,
                end,
                bytes: 512 * (1 + below(n_sizes)).pow(narrow(spread)),
                stream: narrow(below(n_streams)),
                usage: if is_input { Usage::Input } else { Usage::Feature },
                source: 0,
            }
        })
        .collect();
    let mut deaths: Vec<u32> = (0..)
        .zip(&requests)
        .filter(|(_, request)| request.usage == Usage::Feature)
        .map(|(at, _)| at)
        .collect();
    deaths.sort_by_key(|at| (requests[*at as usize].end, *at));
    Demand {
        unit: 512,
        requests,
        deaths,
        ..Demand::default()
    }
}

#[test]
fn blocks_nest_as_if_every_offer_were_made() {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let mut n_nested = 0;
    for seed in 0..3_000 {
        let demand = demand(seed);
        for reuses in [true, false] {
            let mut expected = binary_blocks(&demand, reuses);
            reference::nest(&demand, &mut expected);
            let expected = format!("{expected:?}");
            for limits in [Limits { met: 0, gaps: 1 }, Limits { met: 3, gaps: 3 }, LIMITS] {
                let mut blocks = binary_blocks(&demand, reuses);
                nest_with(&demand, &mut blocks, limits, &progress).expect("not cancelled");
                assert_eq!(format!("{blocks:?}"), expected, "seed {seed}, {limits:?}");
                n_nested += blocks.nested.len();
            }
        }
    }
    assert!(n_nested > 90_000, "{n_nested}");
}

/// Of lives and units, by begin.
fn demand_of(lives: &[(u32, u32, u64)]) -> Demand {
    let request = |(begin, end, units): &(u32, u32, u64)| Request {
        begin: *begin,
        end: *end,
        bytes: 512 * units,
        stream: 0,
        usage: Usage::Feature,
        source: 0,
    };
    let mut deaths: Vec<u32> = (0..).zip(lives).map(|(at, _)| at).collect();
    deaths.sort_by_key(|at| (lives[*at as usize].1, *at));
    Demand {
        unit: 512,
        requests: lives.iter().map(request).collect(),
        deaths,
        ..Demand::default()
    }
}

/// Lives and units of leaves that are added in pairs, and of their sums, down to one.
fn sums(n_leaves: u32) -> Vec<(u32, u32, u64)> {
    let mut lives: Vec<(u32, u32, u64)> = (0..n_leaves).map(|step| (step, step, 8 + u64::from(step))).collect();
    let mut level: Vec<usize> = (0..lives.len()).collect();
    let mut step = n_leaves;
    while level.len() > 1 {
        let mut sums = Vec::new();
        for pair in level.chunks(2) {
            let [left, right] = *pair else {
                sums.extend(pair);
                continue;
            };
            (lives[left].1, lives[right].1) = (step, step);
            sums.push(lives.len());
            lives.push((step, step, lives[left].2.max(lives[right].2) + 1));
            step += 1;
        }
        level = sums;
    }
    lives
}

/// Most blocks live on the steps of most others, so that offers that all refuse would be nearly as many as pairs of blocks.
#[test]
fn offers_that_are_refused_are_passed_over() {
    let mut state = 1_u64;
    let mut below = |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from((state >> 33) % u64::from(limit)).expect("below the limit")
    };
    let n = 4_000;
    let long: Vec<(u32, u32, u64)> = (0..n)
        .map(|step| (step, step + below(n - step), 1 + u64::from(below(n))))
        .collect();
    // Many blocks in one that lives on step 1: each of them, and it, may take every second one of the smaller blocks.
    let mut beside: Vec<(u32, u32, u64)> = (0..1_000).map(|at| (0, 0, 3_000 + at)).collect();
    beside.push((1, 1, 5_000_000));
    beside.extend((0..1_000).map(|at| (1, 1, 1 + 2 * at)));
    beside.extend((0..1_000).map(|at| (2 + at, 2 + at, 2 + 2 * u64::from(at))));
    for (lives, least_nested) in [(sums(n), 3_900), (long, 2_000), (beside, 1_999)] {
        let (n_nested, n_looks) = nested_and_looks(&demand_of(&lives));
        assert!(n_nested > least_nested, "{n_nested}");
        // If every offer were made, the sums would need 280 looks.
        assert!(n_looks < 12, "{n_looks}");
    }
}

/// Blocks that nest, and looks at the cancel flag: one per 262,144 units of work.
fn nested_and_looks(demand: &Demand) -> (usize, u64) {
    let mut blocks = binary_blocks(demand, false);
    let cancel = Cancel::at_look(u64::MAX);
    nest(demand, &mut blocks, &Progress::silent(&cancel)).expect("not cancelled");
    (blocks.nested.len(), cancel.looks())
}

#[test]
fn blocks_of_other_streams_are_passed_over() {
    for (n_streams, least_nested) in [(8, 3_000), (8_000, 0)] {
        let mut demand = demand_of(&sums(4_000));
        for (at, request) in (0..).zip(&mut demand.requests) {
            request.stream = at % n_streams;
        }
        let (n_nested, n_looks) = nested_and_looks(&demand);
        assert!(n_nested >= least_nested && n_looks < 12, "{n_nested}, {n_looks}");
    }
}

#[test]
fn the_work_between_two_checks_is_bounded() {
    // A chain of distinct sizes: every block is offered to most others.
    let n_ops = 30_000;
    let lives: Vec<(u32, u32, u64)> = (0..n_ops)
        .map(|step| (step, step + 1, 1 + u64::from(step) * 7919 % 100_003))
        .collect();
    let demand = demand_of(&lives);
    let cancel = Cancel::new();
    let n_checks = std::cell::Cell::new(0_u32);
    let report = |_: &'static str, _: f32| {
        n_checks.set(n_checks.get() + 1);
        cancel.cancel();
    };
    let mut blocks = binary_blocks(&demand, true);
    let ended = nest(&demand, &mut blocks, &Progress::new(&cancel, &report));
    assert_eq!((ended.is_err(), n_checks.get()), (true, 1));
    assert!(blocks.nested.len() < n_ops as usize, "it stops before the end");
}
