//! The Pareto front against a comparison of every pair.

use highwater::analysis::sweep::{Ending, Outcome, PointFigures, SweepPoint, front, largest_of};
use highwater::sim::StaticMemoryPolicy;
use highwater::sim::fold::ReservedParts;
use highwater::units::{Bytes, Nanos};
use proptest::prelude::*;

use super::{explore, explorer, small};

fn point(idx: u64, peak: u64, overhead: u64, ending: Ending) -> SweepPoint {
    SweepPoint {
        idx,
        policy: StaticMemoryPolicy::Dynamic,
        outcome: Outcome::Ran(PointFigures {
            ending,
            capacity: Bytes::gib(1),
            peak_reserved: Bytes(peak),
            reserved: ReservedParts::default(),
            peak_live: Bytes(peak),
            fragmentation: 0.0,
            device_mallocs: 0,
            device_frees: 0,
            page_calls: 0,
            unloads: 0,
            overhead: Nanos(overhead),
        }),
    }
}

/// Compares every pair.
fn unbeaten(points: &[SweepPoint]) -> Vec<u64> {
    let fitting: Vec<(u64, u64, u64)> = points
        .iter()
        .filter_map(|point| {
            Some((
                point.idx,
                point.fitting()?.peak_reserved.get(),
                point.fitting()?.overhead.0,
            ))
        })
        .collect();
    let beats = |a: &(u64, u64, u64), b: &(u64, u64, u64)| a.1 <= b.1 && a.2 <= b.2 && (a.1, a.2) != (b.1, b.2);
    let kept = fitting.iter().filter(|b| !fitting.iter().any(|a| beats(a, b)));
    let mut kept: Vec<u64> = kept.map(|(idx, _, _)| *idx).collect();
    kept.sort_unstable();
    kept
}

proptest! {
    #[test]
    fn the_front_equals_pairwise_comparison(figures in prop::collection::vec((0_u64..12, 0_u64..12, 0_u8..6), 0..60)) {
        let points: Vec<SweepPoint> = (0_u64..)
            .zip(figures)
            .map(|(idx, (peak, overhead, ending))| match ending {
                0 => point(idx, peak, overhead, Ending::OutOfMemory),
                1 => SweepPoint { outcome: Outcome::Failed("no".to_owned()), ..point(idx, 0, 0, Ending::Complete) },
                _ => point(idx, peak, overhead, Ending::Complete),
            })
            .collect();
        let found = front(&points);
        let figures: Vec<(u64, u64)> = found
            .iter()
            .map(|at| (points[*at].fitting().unwrap().peak_reserved.get(), points[*at].fitting().unwrap().overhead.0))
            .collect();
        prop_assert!(figures.is_sorted(), "by peak: {figures:?}");
        let mut numbers: Vec<u64> = found.iter().map(|at| points[*at].idx).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, unbeaten(&points));
    }
}

#[test]
fn the_largest_that_fits_costs_least() {
    let mut request = small();
    request.options.set_text("simulation.device_memory", "64MiB").unwrap();
    let explorer = explorer(&request, &["policy=0,2,3,4", "batch=1..256x2"]);
    let points = explore(&explorer);
    let found = &points[largest_of(explorer.space(), &points, 1, 0..points.len()).unwrap()];
    let value = |point: &SweepPoint| explorer.space().values(point.idx)[1].as_int().unwrap();
    let largest = points
        .iter()
        .filter(|point| point.fitting().is_some())
        .map(value)
        .max()
        .unwrap();
    assert!(largest < 256, "something does not fit");
    assert_eq!(value(found), largest);
    let others = points.iter().filter(|point| value(point) == largest);
    let least = others
        .filter_map(|point| Some((point.fitting()?.overhead, point.fitting()?.peak_reserved, point.idx)))
        .min();
    let own = found.fitting().unwrap();
    assert_eq!(least, Some((own.overhead, own.peak_reserved, found.idx)));
}
