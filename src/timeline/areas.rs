//! Bytes of every group by step, as stacked areas.
//!
//! In: a timeline and the colours of its blocks. Out, by lane: one band per colour, one per kind of region without
//! tensor blocks, and the sum of all bands. Order from the bottom: regions, highlighted groups, dimmed groups; within
//! each the bands that are larger at the lane's peak come first.
//!
//! ```text
//! bytes
//!   |        .--.            a pixel column shows the step with the most bytes among its steps, so its upper edge is
//!   |   .----'  '--.         the exact maximum, and all its bands belong to the same step
//!   |---' activation '---
//!   |  parameter
//!   +--------------------> step
//! ```

use std::sync::Arc;

use highwater_model::units::Bytes;
use highwater_sim::fold::StepBytes;

use super::coloring::{Coloring, DIMMED, NO_TENSOR, OTHER_GROUPS};
use super::curve::Curve;
use super::owner::Owner;
use super::viewport::View;
use super::{LaneView, Timeline};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaSource {
    /// The blocks of a colour number of [`Coloring`].
    Blocks(u8),
    /// Regions in which no tensor has a block, such as weights.
    Regions(Owner),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaBand {
    pub text: String,
    pub of: AreaSource,
    /// Steps at which the bytes change, ascending.
    steps: Vec<u32>,
    /// Bytes from each of `steps` on.
    bytes: Vec<u64>,
    places: Places,
}

/// Speeds up the search in ascending steps: the axis is cut into stretches that hold a few entries each, because a
/// binary search over the whole list misses the cache at every probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Places {
    /// A stretch has `1 << power` steps.
    power: u32,
    /// Number of entries before each stretch, and before the end.
    before: Vec<u32>,
}

impl Places {
    /// Entries per stretch if they are evenly spread.
    const IN_A_STRETCH: u64 = 8;

    /// `steps` ascend. O(steps).
    fn new(steps: &[u32]) -> Self {
        let last = u64::from(steps.last().copied().unwrap_or(0));
        let wanted = (last + 1) * Self::IN_A_STRETCH / (steps.len() as u64).max(1);
        let power = wanted.max(1).ilog2().min(31);
        let n_stretches = (last >> power) + 1;
        let mut before = Vec::new();
        let mut known = 0;
        for stretch in 0..=n_stretches {
            while steps.get(known).is_some_and(|step| u64::from(*step >> power) < stretch) {
                known += 1;
            }
            before.push(u32::try_from(known).unwrap_or(u32::MAX));
        }
        Self { power, before }
    }

    /// Number of entries up to and including `step`. O(1) where entries are evenly spread, O(log entries) at worst.
    fn known(&self, steps: &[u32], step: u32) -> usize {
        let stretch = (step >> self.power) as usize;
        let Some(bounds) = self.before.get(stretch..stretch + 2) else {
            return steps.len();
        };
        let (from, to) = (bounds[0] as usize, bounds[1] as usize);
        from + steps[from..to].partition_point(|from| *from <= step)
    }
}

impl AreaBand {
    fn new(text: String, of: AreaSource, steps: Vec<u32>, bytes: Vec<u64>) -> Self {
        Self {
            text,
            of,
            places: Places::new(&steps),
            steps,
            bytes,
        }
    }

    /// O(1) where changes are evenly spread, O(log changes) at worst.
    pub fn at(&self, step: u32) -> u64 {
        let position = self.places.known(&self.steps, step);
        position.checked_sub(1).map_or(0, |position| self.bytes[position])
    }
}

/// Bands from the bottom up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneAreas {
    pub bands: Vec<AreaBand>,
    pub total: Curve,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// By lane; lanes with equal areas share them.
    pub lanes: Vec<Arc<LaneAreas>>,
}

/// The areas of a lane within a viewport, one step per pixel column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AreaColumns {
    n_bands: usize,
    /// Upper edges, by column and then band.
    tops: Vec<u64>,
    /// The step that each column shows; `None` outside the axis.
    pub steps: Vec<Option<u32>>,
}

impl AreaColumns {
    /// The upper edges of a column's bands, bottom-up.
    pub fn tops(&self, column: usize) -> &[u64] {
        let first = column * self.n_bands;
        self.tops.get(first..first + self.n_bands).unwrap_or(&[])
    }
}

impl Areas {
    /// O(blocks log blocks + steps).
    pub fn new(timeline: &Timeline, coloring: &Coloring) -> Self {
        let lanes = timeline.lanes.iter().enumerate();
        let mut known: Vec<Arc<LaneAreas>> = Vec::new();
        for (number, lane) in lanes {
            let colors = coloring.colors(number, lane);
            let areas = LaneAreas::new(lane, colors, coloring, timeline.n_steps);
            let same = known.iter().find(|known| ***known == areas);
            known.push(same.map_or_else(|| Arc::new(areas), Arc::clone));
        }
        Self { lanes: known }
    }
}

impl LaneAreas {
    fn new(lane: &LaneView, colors: &[u8], coloring: &Coloring, n_steps: u32) -> Self {
        let mut changes: Vec<Vec<(u32, i128)>> = vec![Vec::new(); usize::from(u8::MAX) + 1];
        for (block, color) in colors.iter().enumerate() {
            let bytes = i128::from(lane.blocks.bytes.at(block));
            let changes = &mut changes[usize::from(*color)];
            changes.push((lane.blocks.start[block], bytes));
            changes.push((lane.blocks.end[block], -bytes));
        }
        let of_blocks = (0..=u8::MAX).zip(changes).map(|(color, changes)| {
            let text = text_of(coloring, color);
            (AreaSource::Blocks(color), text, changes)
        });
        let mut all: Vec<(u32, i128)> = Vec::new();
        let mut bands = Vec::new();
        for (of, text, mut changes) in of_blocks.chain(of_regions(lane)) {
            if changes.is_empty() {
                continue;
            }
            changes.sort_unstable_by_key(|(step, _)| *step);
            all.extend_from_slice(&changes);
            let (steps, bytes) = sums(&changes);
            bands.push(AreaBand::new(text, of, steps, bytes));
        }
        all.sort_unstable_by_key(|(step, _)| *step);
        let (steps, bytes) = sums(&all);
        let total = Curve::of(&each_step(&steps, &bytes, n_steps));
        let peak = total.highest(0, n_steps as usize).map_or(0, |(step, _)| step);
        bands.sort_by_key(|band| {
            let rank = match band.of {
                AreaSource::Regions(_) => 0,
                AreaSource::Blocks(color) if color & DIMMED == 0 => 1,
                AreaSource::Blocks(_) => 2,
            };
            (rank, std::cmp::Reverse(band.at(peak)))
        });
        Self { bands, total }
    }

    /// One step for each of `width` pixel columns: its first step with the most bytes. O(width (bands + log steps))
    /// where changes are evenly spread.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the steps before the cast"
    )]
    pub fn columns<'v>(&self, view: impl Into<View<'v>>, width: u32) -> AreaColumns {
        let view = view.into();
        let n_steps = f64::from(u32::try_from(self.total.n_steps()).unwrap_or(u32::MAX));
        let edge = |column: u32| view.step_from_x(f64::from(column), f64::from(width));
        let mut left = edge(0);
        let shown = (1..=width).map(|column| {
            let right = edge(column);
            let start = left.floor().clamp(0.0, n_steps) as usize;
            let end = right.ceil().clamp(0.0, n_steps) as usize;
            left = right;
            self.total.highest(start, end).map(|(step, _)| step)
        });
        let steps: Vec<Option<u32>> = shown.collect();
        let n_bands = self.bands.len();
        let mut tops = vec![0_u64; steps.len() * n_bands];
        for (number, band) in self.bands.iter().enumerate() {
            for (tops, step) in tops.chunks_exact_mut(n_bands).zip(&steps) {
                let below = number.checked_sub(1).map_or(0, |below| tops[below]);
                tops[number] = below.saturating_add(step.map_or(0, |step| band.at(step)));
            }
        }
        AreaColumns { n_bands, tops, steps }
    }

    /// The band at a height on a step, with its bytes there; `None` above the top band.
    pub fn band_at(&self, step: u32, bytes: f64) -> Option<(&AreaBand, Bytes)> {
        let mut top = 0_u64;
        self.bands.iter().find_map(|band| {
            let own = band.at(step);
            top = top.saturating_add(own);
            #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
            let is_below = bytes >= 0.0 && bytes < top as f64;
            (is_below && own > 0).then_some((band, Bytes(own)))
        })
    }
}

/// A band under construction: steps with the bytes added there.
type Draft = (AreaSource, String, Vec<(u32, i128)>);

/// Regions without blocks: weights, variables, inputs and outputs.
fn of_regions(lane: &LaneView) -> [Draft; 3] {
    let mut has_block = vec![false; lane.regions.len()];
    for span in &lane.blocks.span {
        if let Some(has_block) = has_block.get_mut(*span as usize) {
            *has_block = true;
        }
    }
    let owners = [Owner::Weights, Owner::Variables, Owner::InputOutput];
    let of_owner = |owner: Owner| {
        let regions = lane.regions.iter().zip(&has_block);
        let own = regions.filter(|(region, has_block)| region.owner == owner && !**has_block && !region.is_paged);
        let changes = own.flat_map(|(region, _)| {
            let bytes = i128::from(region.bytes.get());
            [(region.start.0, bytes), (region.end.0, -bytes)]
        });
        let text = match owner {
            Owner::Weights => "weights",
            Owner::Variables => "variables",
            _ => "inputs and outputs",
        };
        (AreaSource::Regions(owner), text.to_owned(), changes.collect())
    };
    owners.map(of_owner)
}

fn text_of(coloring: &Coloring, color: u8) -> String {
    let plain = color & !DIMMED;
    let known = coloring.legend.iter().find(|row| row.color == plain);
    match (plain, known) {
        (OTHER_GROUPS, _) => "other groups".to_owned(),
        (_, Some(row)) => row.text.clone(),
        (NO_TENSOR, None) => "no tensor".to_owned(),
        (_, None) => format!("group {plain}"),
    }
}

/// From changes sorted by step: the steps at which the sum changes, with the sums.
fn sums(changes: &[(u32, i128)]) -> (Vec<u32>, Vec<u64>) {
    let (mut steps, mut bytes) = (Vec::new(), Vec::new());
    let mut sum = 0_i128;
    for same in changes.chunk_by(|one, other| one.0 == other.0) {
        sum += same.iter().map(|(_, change)| change).sum::<i128>();
        let now = u64::try_from(sum).unwrap_or(if sum < 0 { 0 } else { u64::MAX });
        if bytes.last().copied().unwrap_or(0) != now {
            steps.push(same[0].0);
            bytes.push(now);
        }
    }
    (steps, bytes)
}

fn each_step(steps: &[u32], bytes: &[u64], n_steps: u32) -> StepBytes {
    let mut next = 0;
    let mut now = 0;
    let values = (0..n_steps).map(|step| {
        while steps.get(next).is_some_and(|from| *from <= step) {
            now = bytes[next];
            next += 1;
        }
        Bytes(now)
    });
    values.collect()
}
