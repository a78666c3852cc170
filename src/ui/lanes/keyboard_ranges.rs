//! Ranges and rulers by keyboard: they begin and end at the pinned step, else at the last step under the pointer.

use super::{LaneContent, LanesInput, LanesState};
use crate::numbers::to_step;
use highwater_model::units::Step;
use highwater_timeline::{Selected, StepRange};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measuring {
    RangeStart,
    RangeEnd,
    /// The range becomes the live range of the selected tensor.
    RangeOfLife,
    ZoomToRange,
    ClearRange,
    TimeFrom,
    TimeTo,
    /// A ruler over the block of the selected tensor.
    BytesOf,
    /// Extends the ruler over the block of the selected tensor.
    BytesTo,
    ClearRulers,
}

const NO_STEP: &str = "pin a step first (J and K move it), or point at a step";
const NO_TENSOR: &str = "select a tensor first (, and . select the previous and next)";
const NO_BLOCK: &str = "the lane holds no memory for the selected tensor";
const NO_START: &str = "start the time ruler first";
const NO_RANGE: &str = "select a range first: Shift+J sets its start, Shift+K its end";

impl LanesState {
    /// # Errors
    /// There is no step, no tensor, or no start.
    pub fn measure(&mut self, how: Measuring, input: &LanesInput<'_>) -> Result<(), &'static str> {
        let n_steps = input.timeline.n_steps;
        let step = || self.step_meant().ok_or(NO_STEP);
        let tensor = || input.selected.ok_or(NO_TENSOR);
        match how {
            Measuring::RangeStart => {
                let start = step()?;
                let last = self.range.map_or(start, |range| range.last().max(start));
                self.range = StepRange::between(start, last, n_steps);
            }
            Measuring::RangeEnd => {
                let last = step()?;
                let start = self.range.map_or(last, |range| range.start.min(last));
                self.range = StepRange::between(start, last, n_steps);
            }
            Measuring::RangeOfLife => {
                let life = self.life_of(tensor()?, input).ok_or(NO_BLOCK)?;
                self.range = Some(life);
            }
            Measuring::ZoomToRange => {
                if self.range.or(self.measures.steps()).is_none() {
                    return Err(NO_RANGE);
                }
                self.zoom_to_range();
            }
            Measuring::ClearRange => self.range = None,
            Measuring::TimeFrom => {
                let step = step()?;
                self.measures.begin_time(self.lane_meant(input), step, n_steps);
            }
            Measuring::TimeTo => {
                let step = step()?;
                if !self.measures.end_time(step, n_steps) {
                    return Err(NO_START);
                }
            }
            Measuring::BytesOf | Measuring::BytesTo => {
                let block = self.block_of(tensor()?, input).ok_or(NO_BLOCK)?;
                self.content = LaneContent::MemoryMap;
                self.measures.measure_block(block, how == Measuring::BytesTo);
            }
            Measuring::ClearRulers => {
                self.measures.clear();
            }
        }
        Ok(())
    }

    /// The pinned step, else the one under the pointer, else the last one under it.
    pub(super) fn step_meant(&self) -> Option<Step> {
        let pinned = self.pinned().map(|spot| spot.step);
        let hovered = self.cursor.map(to_step);
        pinned.or(hovered).or(self.spot.map(|spot| spot.step))
    }

    /// The lane of [`Self::step_meant`] where it is shown, else the first that is.
    fn lane_meant(&self, input: &LanesInput<'_>) -> usize {
        let shown = self.arrangement.shown(input.comparison);
        let own = self.spot.map(|spot| spot.lane);
        let is_shown = |lane: &usize| shown.iter().any(|(known, _)| known == lane);
        let first = shown.first().map_or(0, |(lane, _)| *lane);
        own.filter(is_shown).unwrap_or(first)
    }

    fn life_of(&self, tensor: Selected, input: &LanesInput<'_>) -> Option<StepRange> {
        let rows = input.timeline.rows_of(self.lane_of_rows(input));
        let row = rows.find(tensor).or_else(|| input.timeline.rows.find(tensor))?;
        let last = Step(row.end.0.saturating_sub(1));
        StepRange::between(row.start, last, input.timeline.n_steps)
    }

    /// Lane, step and addresses of a tensor's block: the block that is alive at [`Self::step_meant`], else the first;
    /// in [`Self::lane_meant`], else the first lane with a block.
    fn block_of(&self, tensor: Selected, input: &LanesInput<'_>) -> Option<(usize, Step, (u64, u64))> {
        let meant = self.lane_meant(input);
        let shown = self.arrangement.shown(input.comparison);
        let mut lanes = std::iter::once(meant).chain(shown.iter().map(|(lane, _)| *lane));
        let lane = lanes.find(|lane| {
            let view = input.timeline.lanes.get(*lane);
            view.is_some_and(|view| view.blocks_of(tensor).len() > 0)
        })?;
        let view = input.timeline.lanes.get(lane)?;
        let blocks = &view.blocks;
        let step = self.step_meant();
        let is_alive = |block: &u32| {
            let idx = *block as usize;
            step.is_some_and(|step| (blocks.start[idx]..blocks.end[idx]).contains(&step.0))
        };
        let alive = view.blocks_of(tensor).find(is_alive);
        let block = alive.or_else(|| view.blocks_of(tensor).next())? as usize;
        let (start, end) = (blocks.start[block], blocks.end[block]);
        let at = match (alive, step) {
            (Some(_), Some(step)) => step,
            _ => Step(start + (end - start) / 2),
        };
        let low = blocks.base.at(block);
        Some((lane, at, (low, low.saturating_add(blocks.bytes.at(block)))))
    }
}
