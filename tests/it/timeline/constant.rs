//! Constant regions against the event log: nothing in them changes while graphs run, and everything else lies above.

use highwater::analysis::Comparison;
use highwater::timeline::{LaneView, Timeline};
use highwater::units::Step;

use crate::synthetic;

/// Changes of a region behind the first step of the runs.
fn n_changes(comparison: &Comparison, lane: usize, region: u32) -> usize {
    let start = comparison.axis.runs[0].start;
    let within = |step: Step| step > start;
    let events = comparison.lanes[lane].simulation.events.iter();
    events
        .filter(|event| event.region.0 == region && event.kind.memory_change().is_some() && within(event.step))
        .count()
}

fn check(comparison: &Comparison, lane: usize, view: &LaneView) {
    let floor = view.floor().get();
    for region in &view.regions {
        let n_changes = n_changes(comparison, lane, region.region.0);
        let is_below = region.base + region.bytes.get() <= floor;
        assert_eq!(is_below, region.is_constant, "{}", region.label);
        assert!(is_below || region.base >= floor, "{} crosses the floor", region.label);
        assert_eq!(
            region.is_constant,
            n_changes == 0,
            "{}: {n_changes} changes",
            region.label
        );
    }
    let bytes: u64 = view.constant.iter().map(|kind| kind.bytes().get()).sum();
    assert_eq!(bytes, floor);
    let n_regions: usize = view.constant.iter().map(|kind| kind.regions.len()).sum();
    assert_eq!(
        n_regions,
        view.regions.iter().filter(|region| region.is_constant).count()
    );
    assert!(view.changing_height().get() > 0);
}

#[test]
fn constant_regions_lie_below_the_floor_and_never_change() {
    for (n_layers, n_iterations) in [(3, 1), (12, 2), (40, 3)] {
        let comparison = synthetic::comparison(n_layers, n_iterations);
        let timeline = Timeline::new(&comparison);
        let mut n_constant = 0;
        for (lane, view) in timeline.lanes.iter().enumerate() {
            check(&comparison, lane, view);
            n_constant += view.constant.len();
        }
        assert!(n_constant > 0, "the weights of {n_layers} layers are constant");
        let highest = timeline.lanes.iter().map(|view| view.changing_height()).max();
        assert_eq!(highest, Some(timeline.changing_height()));
        assert!(timeline.fit_changing().a1 < timeline.fit().a1);
    }
}
