//! Brings a tensor into view at the current zoom.

use super::{LaneContent, LanesState, Selected};
use crate::numbers::to_f64;
use highwater_timeline::Timeline;

/// Least share of the view that shows a live range (or all of a shorter one).
const LEAST: f64 = 0.02;
/// Where a live range begins that is longer than the view, as a share of the view.
const LEAD: f64 = 0.2;

impl LanesState {
    /// Moves the view so that it shows some of a tensor's live range, and in the memory map some of its bytes in that
    /// lane. Does nothing where they are visible.
    pub fn reveal(&mut self, timeline: &Timeline, lane: usize, tensor: Selected) {
        let rows = timeline.rows_of(lane);
        let Some(row) = rows.find(tensor).or_else(|| timeline.rows.find(tensor)) else {
            return;
        };
        let life = (f64::from(row.start.0), f64::from(row.end.0));
        let addresses = match self.content {
            LaneContent::MemoryMap => self.addresses(timeline, lane, tensor),
            LaneContent::Areas | LaneContent::Lifetimes | LaneContent::Curves => None,
        };
        self.change_view(|view| {
            // In shares of the view.
            let life = (view.x_from_step(life.0, 1.0), view.x_from_step(life.1, 1.0));
            let share = shift(life, (0.0, 1.0));
            let bytes = addresses.map_or(0.0, |addresses| shift(addresses, (view.a0, view.a1)));
            if share == 0.0 && bytes == 0.0 {
                view.viewport()
            } else {
                view.pan(share, bytes)
            }
        });
    }

    /// The addresses of a tensor's first block in a lane; of another lane where this one holds none. `None` in a
    /// constant region outside the scale.
    fn addresses(&self, timeline: &Timeline, lane: usize, tensor: Selected) -> Option<(f64, f64)> {
        let own = timeline.lanes.get(lane);
        let found = own.into_iter().chain(&timeline.lanes).find_map(|lane| {
            let block = lane.blocks_of(tensor).next()? as usize;
            let (base, bytes) = (lane.blocks.base.get(block)?, lane.blocks.bytes.get(block)?);
            let scale = self.scale(timeline, lane);
            Some((scale.common(to_f64(base)), scale.common(to_f64(base + bytes))))
        });
        found.filter(|(_, high)| *high > 0.0)
    }
}

/// The distance to move a view to show a range; 0 where it shows it.
fn shift(range: (f64, f64), view: (f64, f64)) -> f64 {
    let ((low, high), (view_low, view_high)) = (range, view);
    let length = view_high - view_low;
    let seen = high.min(view_high) - low.max(view_low);
    if seen >= (high - low).min(length * LEAST) {
        return 0.0;
    }
    if high - low > length * (1.0 - LEAD) {
        low - view_low - length * LEAD
    } else {
        f64::midpoint(low, high) - f64::midpoint(view_low, view_high)
    }
}

#[cfg(test)]
mod tests {
    use super::shift;

    #[test]
    #[expect(clippy::float_cmp, reason = "small whole numbers")]
    fn a_view_moves_only_as_far_as_it_must() {
        for (range, view, wanted) in [
            ((10.0, 20.0), (0.0, 100.0), 0.0),
            ((110.0, 120.0), (0.0, 100.0), 65.0),
            ((-20.0, -10.0), (0.0, 100.0), -65.0),
            ((200.0, 900.0), (0.0, 100.0), 180.0),
            ((50.0, 900.0), (0.0, 100.0), 0.0),
            ((99.5, 900.0), (0.0, 100.0), 79.5),
            ((99.0, 100.0), (0.0, 100.0), 0.0),
        ] {
            assert_eq!(shift(range, view), wanted, "{range:?} in {view:?}");
        }
    }
}
