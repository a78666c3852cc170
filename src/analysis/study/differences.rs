//! Where separate runs on one axis differ most.
//!
//! In: the lanes of aligned recordings, the first of which is compared with. Out: a remark and a diagnostic for each other lane:
//! the least and the largest difference of its live bytes, on steps where both have events. O(steps of all lanes).

use std::ops::Range;

use crate::lane::{Lane, Remark};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Step, signed_bytes};
use highwater_model::workload::Recording;

/// The steps on which a recording has events; `None` of one that holds the state at one moment.
fn own_steps(lane: &Lane, recording: &Recording) -> Option<Range<u32>> {
    let last = recording.n_steps.checked_sub(1).filter(|last| *last > 0)?;
    let (first, end) = lane.recorded.as_ref()?.steps_of(Step(0), Step(last + 1));
    Some(first.0..end.0)
}

/// Tells each run's largest differences from the first, where both have events.
pub(super) fn tell(lanes: &mut [Lane], recordings: &[&Recording], diagnostics: &mut Diagnostics) {
    let Some((first, others)) = lanes.split_first_mut() else {
        return;
    };
    let mut recordings = recordings.iter();
    let Some(of_first) = recordings.next().and_then(|recording| own_steps(first, recording)) else {
        return;
    };
    let title = first.title.clone().unwrap_or_default();
    for (lane, recording) in others.iter_mut().zip(recordings) {
        let Some(own) = own_steps(lane, recording) else {
            continue;
        };
        let common = of_first.start.max(own.start)..of_first.end.min(own.end);
        let live = first.curves.live.iter().zip(lane.curves.live.iter());
        let differences = live.map(|(one, other)| i128::from(other.get()) - i128::from(one.get()));
        let mut extremes: Option<[(i128, u32); 2]> = None;
        for (step, difference) in (0_u32..).zip(differences).filter(|(step, _)| common.contains(step)) {
            let [low, high] = extremes.get_or_insert([(difference, step); 2]);
            if difference < low.0 {
                *low = (difference, step);
            }
            if difference > high.0 {
                *high = (difference, step);
            }
        }
        let Some([low, high]) = extremes else { continue };
        let text = format!(
            "Live bytes less those of {title}: from {} at event {} to {} at event {} of the common axis.",
            signed_bytes(low.0),
            low.1,
            signed_bytes(high.0),
            high.1
        );
        diagnostics.info(text.clone(), lane.title.as_deref().unwrap_or_default());
        let step = if high.0.unsigned_abs() >= low.0.unsigned_abs() {
            high.1
        } else {
            low.1
        };
        lane.explanation.push(Remark {
            text,
            step: Some(Step(step)),
        });
    }
}
