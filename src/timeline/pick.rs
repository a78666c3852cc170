//! Hit tests: the block or region under the pointer.

use std::cmp::Ordering;

use super::block::LaneView;
use super::index::Least;

/// How far from the pointer a block is still picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    pub steps: (f64, f64),
    /// Below and above the address.
    pub bytes: f64,
}

impl LaneView {
    /// The block at an address on a step; where blocks overlap, the last in order. O(classes log blocks + blocks on the
    /// step).
    pub fn pick(&self, step: f64, address: f64) -> Option<u32> {
        let reach = Reach {
            steps: (step, step),
            bytes: 0.0,
        };
        self.pick_within(step, address, reach)
    }

    /// As [`Self::pick`], but if no block is hit, the nearest within reach, so that marks thinner than a pixel can be
    /// pointed at. Distances are measured in units of the reach on their side; the first of equals wins.
    pub fn pick_within(&self, step: f64, address: f64, reach: Reach) -> Option<u32> {
        let mut nearest: Option<(f64, usize)> = None;
        // The reach includes its ends.
        let steps = (reach.steps.0.next_down(), reach.steps.1.next_up());
        for idx in self.blocks.met(steps, Least::default()) {
            let Some(distance) = self.distance(idx, step, address, reach) else {
                continue;
            };
            let is_nearer = |(best, known): (f64, usize)| match distance.total_cmp(&best) {
                Ordering::Less => true,
                // Of those hit the last in order lies on top; of others the first wins.
                Ordering::Equal => (idx > known) == (distance == 0.0),
                Ordering::Greater => false,
            };
            if nearest.is_none_or(is_nearer) {
                nearest = Some((distance, idx));
            }
        }
        nearest.and_then(|(_, idx)| u32::try_from(idx).ok())
    }

    /// The region at an address on a step. O(classes log regions + regions on the step).
    pub fn pick_region(&self, step: f64, address: f64) -> Option<usize> {
        self.region_rects.hits(step, address).max()
    }

    /// 0 inside the block, up to 2 within reach, `None` beyond.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    fn distance(&self, idx: usize, step: f64, address: f64, reach: Reach) -> Option<f64> {
        let blocks = &self.blocks;
        let base = blocks.base.at(idx) as f64;
        let x = gap(
            step,
            f64::from(blocks.start[idx]),
            f64::from(blocks.end[idx]),
            step - reach.steps.0,
            reach.steps.1 - step,
        )?;
        let y = gap(
            address,
            base,
            base + blocks.bytes.at(idx) as f64,
            reach.bytes,
            reach.bytes,
        )?;
        Some(x + y)
    }
}

/// Distance of a value from a half-open range, in units of the reach below or above the value; `None` beyond it.
fn gap(value: f64, low: f64, high: f64, below: f64, above: f64) -> Option<f64> {
    if (low..high).contains(&value) {
        return Some(0.0);
    }
    let (distance, reach) = if value < low {
        (low - value, above)
    } else {
        (value - high, below)
    };
    (reach > 0.0 && distance <= reach).then(|| (distance / reach).max(f64::MIN_POSITIVE))
}
