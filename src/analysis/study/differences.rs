//! Where separate runs on one axis differ most.
//!
//! In: the lanes of aligned recordings, the first of which is compared with. Out: for each other lane the least and the largest
//! difference of its live bytes, on steps where both have events. O(steps of all lanes).

use std::ops::Range;

use crate::lane::{Lane, Remark};
use crate::run_differences::{RunDifference, RunDifferences};
use highwater_model::units::{Step, signed_bytes};
use highwater_model::workload::Recording;

/// The steps on which a recording has events; `None` of one that holds the state at one moment.
fn own_steps(lane: &Lane, recording: &Recording) -> Option<Range<u32>> {
    let recorded = lane.recorded.as_ref().filter(|_| recording.n_steps > 1)?;
    Some(recorded.own_steps(recording.n_steps))
}

/// Each run's largest differences from the first, where both have events.
pub(super) fn run_differences(lanes: &[Lane], recordings: &[&Recording]) -> Vec<RunDifferences> {
    let mut runs = lanes.iter().zip(recordings).enumerate();
    let first = runs
        .next()
        .and_then(|(_, (lane, recording))| Some((lane, own_steps(lane, recording)?)));
    let Some((first, of_first)) = first else {
        return Vec::new();
    };
    let differences = runs.filter_map(|(position, (lane, recording))| {
        let own = own_steps(lane, recording)?;
        let common = of_first.start.max(own.start)..of_first.end.min(own.end);
        let live = first.curves.live.iter().zip(lane.curves.live.iter());
        let bytes = live.map(|(one, other)| i128::from(other.get()) - i128::from(one.get()));
        let steps = (0_u32..).zip(bytes).filter(|(step, _)| common.contains(step));
        let mut extremes: Option<(RunDifference, RunDifference)> = None;
        for (step, bytes) in steps {
            let here = RunDifference {
                bytes,
                step: Step(step),
            };
            let (least, greatest) = extremes.get_or_insert((here, here));
            if bytes < least.bytes {
                *least = here;
            }
            if bytes > greatest.bytes {
                *greatest = here;
            }
        }
        let (least, greatest) = extremes?;
        Some(RunDifferences {
            lane: position,
            least,
            greatest,
        })
    });
    differences.collect()
}

/// Explains each run by its differences, in the lane's list.
pub(super) fn explain(lanes: &mut [Lane], differences: &[RunDifferences]) {
    let title = lanes.first().and_then(|first| first.title.clone()).unwrap_or_default();
    for one in differences {
        let (least, greatest) = (one.least, one.greatest);
        let text = format!(
            "Live bytes less those of {title}: from {} at event {} to {} at event {} of the common axis.",
            signed_bytes(least.bytes),
            least.step,
            signed_bytes(greatest.bytes),
            greatest.step
        );
        if let Some(lane) = lanes.get_mut(one.lane) {
            lane.explanation.push(Remark {
                text,
                step: Some(one.furthest().step),
            });
        }
    }
}
