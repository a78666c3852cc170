//! The colour number of every block of every lane, and the legend.
//!
//! In: a comparison with its timeline, the colour mode, the groups shown, the tensors that a search found. Groups are
//! ranked by their bytes at the peak of the main lane; those after the last colour share one. The theme maps numbers to
//! colours:
//!
//! ```text
//! 0..16 tensors by name | 16..28 groups | 28 all further groups | 29 no tensor | 30..36 classes | +128 dimmed
//! ```
//! O(blocks of all lanes + tensors).

use highwater_analysis::Comparison;
use highwater_model::graph::Phase;
use highwater_model::units::Bytes;

use super::grouping::{Attribute, Grouping, HeldTensor};
use super::{LaneView, PALETTE_LEN, Selected, Timeline};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// A tensor keeps its colour in all lanes and runs.
    #[default]
    Tensor,
    /// All tensors of a group share a colour.
    By(Attribute),
}

impl ColorBy {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::By(attribute) => attribute.words(),
        }
    }

    /// The name on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::By(attribute) => attribute.key(),
        }
    }

    /// By key or label.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|by| by.key() == name || by.words() == name)
    }

    /// In the order of menus.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Tensor).chain(Attribute::ALL.map(Self::By))
    }
}

pub const FIRST_GROUP: u8 = PALETTE_LEN;
pub const GROUP_COLORS: u8 = 12;
/// Shared by all groups after the first [`GROUP_COLORS`].
pub const OTHER_GROUPS: u8 = FIRST_GROUP + GROUP_COLORS;
/// Of blocks without a tensor.
pub const NO_TENSOR: u8 = OTHER_GROUPS + 1;
/// Colour numbers start here for classes, which are ordered.
pub const FIRST_CLASS: u8 = NO_TENSOR + 1;
pub const CLASS_COLORS: u8 = 6;
/// Added to the number of a dimmed block.
pub const DIMMED: u8 = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegendRow {
    pub text: String,
    pub color: u8,
    /// Bytes at the peak of the main lane.
    pub at_peak: Bytes,
    /// In the main lane.
    pub n_blocks: usize,
    /// The user hides the group: its blocks are dimmed.
    pub is_hidden: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColoringRequest {
    pub by: ColorBy,
    pub hidden: Vec<String>,
}

/// Whether a search found a tensor of the lane with that position.
pub type MatchTest<'a> = &'a dyn Fn(usize, Selected) -> bool;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloring {
    pub by: ColorBy,
    /// Groups with blocks: most bytes at the peak first, classes in their order; empty where every tensor has a colour.
    pub legend: Vec<LegendRow>,
    /// By lane, by block; empty where blocks keep the colours of their names.
    lanes: Vec<Vec<u8>>,
}

impl Coloring {
    /// Dims everything that `matches` does not contain.
    pub fn new(
        comparison: &Comparison,
        timeline: &Timeline,
        order: &ColoringRequest,
        matches: Option<MatchTest<'_>>,
    ) -> Self {
        let grouping = match order.by {
            ColorBy::Tensor if matches.is_none() => return Self::default(),
            ColorBy::Tensor => None,
            ColorBy::By(attribute) => Some(Grouping::new(comparison, attribute)),
        };
        let coloring = grouping.map(|grouping| GroupColoring::new(grouping, comparison, timeline, &order.hidden));
        let color_lane = |(number, lane): (usize, &LaneView)| {
            let blocks = 0..lane.blocks.len();
            let color = |idx: usize| {
                let own = coloring
                    .as_ref()
                    .map_or(lane.blocks.color[idx], |coloring| coloring.color(lane, idx));
                let Some(is_match) = matches else { return own };
                let is_found = tensor_of(lane, idx).is_some_and(|tensor| is_match(number, tensor));
                if is_found { own } else { own | DIMMED }
            };
            blocks.map(color).collect()
        };
        Self {
            by: order.by,
            lanes: timeline.lanes.iter().enumerate().map(color_lane).collect(),
            legend: coloring.map_or_else(Vec::new, |coloring| coloring.legend),
        }
    }

    pub fn color(&self, number: usize, lane: &LaneView, block: usize) -> u8 {
        self.colors(number, lane).get(block).copied().unwrap_or(NO_TENSOR)
    }

    pub fn colors<'a>(&'a self, number: usize, lane: &'a LaneView) -> &'a [u8] {
        match self.lanes.get(number) {
            Some(colors) if colors.len() == lane.blocks.len() => colors,
            _ => &lane.blocks.color,
        }
    }
}

fn tensor_of(lane: &LaneView, idx: usize) -> Option<Selected> {
    lane.tensor(u32::try_from(idx).ok()?)
}

fn held(lane: &LaneView, idx: usize) -> Option<HeldTensor> {
    Some(HeldTensor {
        tensor: tensor_of(lane, idx)?,
        bytes: Bytes(lane.blocks.bytes.at(idx)),
        n_steps: lane.blocks.end[idx] - lane.blocks.start[idx],
    })
}

struct GroupColoring {
    grouping: Grouping,
    /// By group.
    colors: Vec<u8>,
    legend: Vec<LegendRow>,
}

impl GroupColoring {
    fn new(grouping: Grouping, comparison: &Comparison, timeline: &Timeline, hidden: &[String]) -> Self {
        let mut rows: Vec<LegendRow> = (0..grouping.len())
            .map(|group| {
                let text = grouping.text(u32::try_from(group).unwrap_or(u32::MAX));
                LegendRow {
                    text: text.to_owned(),
                    color: 0,
                    at_peak: Bytes::ZERO,
                    n_blocks: 0,
                    is_hidden: hidden.iter().any(|hidden| hidden == text),
                }
            })
            .collect();
        count(&mut rows, &grouping, comparison, timeline);
        let is_ordered = !grouping.attribute().classes().is_empty();
        let mut ranked: Vec<usize> = (0..rows.len()).collect();
        if !is_ordered {
            ranked.sort_by(|a, b| {
                let key = |row: &LegendRow| (std::cmp::Reverse(row.at_peak), std::cmp::Reverse(row.n_blocks));
                key(&rows[*a])
                    .cmp(&key(&rows[*b]))
                    .then_with(|| rows[*a].text.cmp(&rows[*b].text))
            });
        }
        for (rank, group) in (0_u8..=u8::MAX).zip(&ranked) {
            rows[*group].color = if is_ordered {
                FIRST_CLASS + rank.min(CLASS_COLORS - 1)
            } else {
                FIRST_GROUP + rank.min(GROUP_COLORS)
            };
        }
        for group in ranked.iter().skip(usize::from(GROUP_COLORS)) {
            rows[*group].color = OTHER_GROUPS;
        }
        if grouping.attribute() == Attribute::Phase {
            for row in &mut rows {
                row.color = phase_color(&row.text);
            }
        }
        let color = |row: &LegendRow| row.color | if row.is_hidden { DIMMED } else { 0 };
        let colors = rows.iter().map(color).collect();
        let legend = ranked.into_iter().map(|group| rows[group].clone());
        Self {
            colors,
            legend: legend.filter(|row| row.n_blocks > 0).collect(),
            grouping,
        }
    }

    fn color(&self, lane: &LaneView, idx: usize) -> u8 {
        let group = held(lane, idx).and_then(|held| self.grouping.group(&held));
        let known = group.and_then(|group| self.colors.get(group as usize));
        known.copied().unwrap_or(NO_TENSOR)
    }
}

fn phase_color(text: &str) -> u8 {
    let known = [(Phase::Forward, 0), (Phase::Backward, 3), (Phase::Optimizer, 1)];
    let known = known.into_iter().find(|(phase, _)| phase.name() == text);
    FIRST_GROUP + known.map_or(6, |(_, color)| color)
}

/// Adds up blocks and bytes at the peak of the main lane, and blocks of lanes that hold other tensors.
fn count(rows: &mut [LegendRow], grouping: &Grouping, comparison: &Comparison, timeline: &Timeline) {
    let main = comparison.main_lane().unwrap_or(0);
    let lanes = timeline.lanes.iter().zip(&comparison.lanes).enumerate();
    for (number, (view, lane)) in lanes.filter(|(number, _)| *number == main || timeline.has_lane_rows()) {
        let peak = lane.summary.peak_live_step.filter(|_| number == main);
        for idx in 0..view.blocks.len() {
            let Some(held) = held(view, idx) else { continue };
            let row = grouping.group(&held).and_then(|group| rows.get_mut(group as usize));
            let Some(row) = row else { continue };
            row.n_blocks += 1;
            let life = view.blocks.start[idx]..view.blocks.end[idx];
            if peak.is_some_and(|peak| life.contains(&peak.0)) {
                row.at_peak = Bytes(row.at_peak.get().saturating_add(held.bytes.get()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ColorBy;

    #[test]
    fn modes_are_found_by_key_and_label() {
        for by in ColorBy::all() {
            assert_eq!([by.key(), by.words()].map(ColorBy::find), [Some(by); 2]);
        }
        assert_eq!(ColorBy::find("taste"), None);
    }
}
