//! What lies under the pointer.

use super::block::{CHUNK, LaneView};

impl LaneView {
    /// The block that holds an address on a step; where blocks overlap, the last in order.
    /// O(log blocks + chunks + blocks of the chunks that are alive).
    pub fn pick(&self, step: f64, address: f64) -> Option<u32> {
        self.pick_within((step, address), (0.0, 0.0))
    }

    /// As [`Self::pick`]; where no block is hit, the nearest one within `reach` (steps, bytes), so that marks
    /// thinner than a pixel can be pointed at. Distances are measured in units of `reach`; the first of equals wins.
    pub fn pick_within(&self, (step, address): (f64, f64), reach: (f64, f64)) -> Option<u32> {
        let blocks = &self.blocks;
        let born = blocks
            .start
            .partition_point(|start| f64::from(*start) <= step + reach.0);
        let mut nearest: Option<(f64, usize)> = None;
        for chunk in (0..born.div_ceil(CHUNK)).rev() {
            if f64::from(blocks.chunk_ends[chunk]) <= step - reach.0 {
                continue;
            }
            for idx in (chunk * CHUNK..born.min((chunk + 1) * CHUNK)).rev() {
                let Some(distance) = self.distance(idx, (step, address), reach) else {
                    continue;
                };
                if distance == 0.0 {
                    return u32::try_from(idx).ok();
                }
                if nearest.is_none_or(|(best, _)| distance <= best) {
                    nearest = Some((distance, idx));
                }
            }
        }
        nearest.and_then(|(_, idx)| u32::try_from(idx).ok())
    }

    /// The region that holds an address on a step.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub fn pick_region(&self, step: f64, address: f64) -> Option<usize> {
        self.regions.iter().rposition(|region| {
            let (low, high) = (region.base as f64, region.base as f64 + region.bytes.get() as f64);
            (f64::from(region.start.0)..f64::from(region.end.0)).contains(&step) && (low..high).contains(&address)
        })
    }

    /// 0 inside the block, up to 2 within reach, `None` beyond.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    fn distance(&self, idx: usize, (step, address): (f64, f64), reach: (f64, f64)) -> Option<f64> {
        let blocks = &self.blocks;
        let base = blocks.base[idx] as f64;
        let x = gap(
            step,
            (f64::from(blocks.start[idx]), f64::from(blocks.end[idx])),
            reach.0,
        )?;
        let y = gap(address, (base, base + blocks.bytes[idx] as f64), reach.1)?;
        Some(x + y)
    }
}

/// How far a value is from a half-open range, in units of `reach`; `None` beyond it.
fn gap(value: f64, (low, high): (f64, f64), reach: f64) -> Option<f64> {
    if (low..high).contains(&value) {
        return Some(0.0);
    }
    let distance = if value < low { low - value } else { value - high };
    (reach > 0.0 && distance <= reach).then(|| (distance / reach).max(f64::MIN_POSITIVE))
}
