//! The nesting against the reference that makes every offer, and its checks of the cancel flag.

use highwater_model::progress::{Cancel, Progress};

use super::super::block_reuse::binary_blocks;
use super::super::demand::{Demand, Request, Usage};
use super::{MOST_MET, nest, nest_with, reference};

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
    let n_requests = 2 + below(120);
    let (n_sizes, length, n_streams) = (1 + below(60), 1 + below(40), 1 + below(2));
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
            for most_met in [0, 3, MOST_MET] {
                let mut blocks = binary_blocks(&demand, reuses);
                nest_with(&demand, &mut blocks, most_met, &progress).expect("not cancelled");
                assert_eq!(format!("{blocks:?}"), expected, "seed {seed}, {most_met}");
                n_nested += blocks.nested.len();
            }
        }
    }
    assert!(n_nested > 90_000, "{n_nested}");
}

#[test]
fn the_work_between_two_checks_is_bounded() {
    // A chain of distinct sizes: every block is offered to most others.
    let n_ops = 30_000;
    let requests: Vec<Request> = (0..n_ops)
        .map(|step| Request {
            begin: step,
            end: step + 1,
            bytes: 512 * (1 + u64::from(step) * 7919 % 100_003),
            stream: 0,
            usage: Usage::Feature,
            source: 0,
        })
        .collect();
    let demand = Demand {
        unit: 512,
        requests,
        deaths: (0..n_ops).collect(),
        ..Demand::default()
    };
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
