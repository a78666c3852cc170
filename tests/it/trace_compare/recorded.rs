//! Every trace of the shared corpus as a comparison: nothing panics, every log is valid, every view can be built.

use highwater::sim::fold::blocks;
use highwater::timeline::Timeline;

use super::compared;
use crate::golden;
use crate::replay::trace;
use crate::support::{files, name};

#[test]
fn all_recorded_traces_compare() {
    for folder in ["ge/dyn", "ge/static"].into_iter().flat_map(golden::folders) {
        let traces = files(&folder, ".trace");
        assert!(!traces.is_empty());
        for path in traces {
            let text = std::fs::read_to_string(&path).unwrap();
            let trace = trace(&text);
            let comparison = compared(&trace, &[]);
            let timeline = Timeline::new(&comparison);
            assert_eq!(timeline.n_steps as usize, trace.commands.len(), "{}", name(&path));
            for lane in &comparison.lanes {
                let is_dynamic = text
                    .lines()
                    .all(|line| !line.starts_with("load") && !line.starts_with("w "));
                if is_dynamic && lane.refusals.is_none() {
                    assert_eq!(lane.summary.peak_live, trace.peak_live(), "{}", name(&path));
                }
                assert!(blocks(&lane.simulation).len() <= lane.simulation.events.len());
            }
        }
    }
}
