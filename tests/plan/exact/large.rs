//! Puzzles without a gap, heights beyond 32 bits, and the benchmarks of the corpus.

use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, Fit, Limits, PlacementProblem};

use super::{Random, at, exact, puzzle};
use crate::support::shared;

#[test]
fn puzzles_without_a_gap_are_solved() {
    for seed in 0..12 {
        let problem = puzzle(&mut Random::new(seed), 60, 0);
        let planned = exact(&problem, Limits::default());
        assert_eq!(
            (planned.plan.footprint, planned.is_optimal()),
            (Bytes(1000), true),
            "{problem:?}"
        );
    }
}

#[test]
fn heights_beyond_32_bits_are_placed() {
    let mut problem = puzzle(&mut Random::new(5), 30, 0);
    for buffer in &mut problem.buffers {
        buffer.size = Bytes(buffer.size.get() * 10_000_000_007);
    }
    problem.buffers.push(Buffer {
        lower: Step(60),
        upper: Step(61),
        size: Bytes(3),
        alignment: 1,
        offset: None,
    });
    let planned = exact(&problem, Limits::default());
    assert_eq!(
        (planned.plan.footprint, planned.is_optimal()),
        (Bytes(10_000_000_007_000), true)
    );
}

/// The form of `MiniMalloc`: `id,lower,upper,size`.
fn read_problem(text: &str) -> PlacementProblem {
    PlacementProblem::of(text.lines().skip(1).map(|line| {
        let numbers: Vec<u64> = line.split(',').skip(1).map(|word| word.parse().unwrap()).collect();
        Buffer {
            lower: Step(u32::try_from(numbers[0]).unwrap()),
            upper: Step(u32::try_from(numbers[1]).unwrap()),
            size: Bytes(numbers[2]),
            alignment: 1,
            offset: None,
        }
    }))
}

#[test]
fn the_hard_benchmarks_fit_and_two_traces_are_optimal() {
    let Some(folder) = shared("corpus/fetched/alloc_benchmarks") else {
        return;
    };
    let read = |name: &str| read_problem(&std::fs::read_to_string(folder.join(name)).unwrap());
    for letter in 'A'..='K' {
        let problem = read(&format!("minimalloc_{letter}.1048576.csv"));
        let planned = exact(&problem, at(1_048_576));
        assert_eq!(planned.fit(Bytes(1_048_576)), Fit::Fits, "{letter}");
        assert!(planned.nodes < 20_000, "{letter}: {} nodes", planned.nodes);
    }
    for name in ["idealloc_somas_tensors_resnet50.csv", "idealloc_iopddl_G_1.csv"] {
        assert!(exact(&read(name), Limits::default()).is_optimal(), "{name}");
    }
    let tight = read("minimalloc_C.1048576.csv");
    assert_eq!(exact(&tight, Limits::default()).plan.footprint, Bytes(1_039_360));
}
