//! In which colour every block of every lane is drawn, and what the colours mean.
//!
//! In: a comparison with its timeline, what colours stand for, which groups are shown, which tensors a search found. Out:
//! a colour number for each block, and the legend. Groups are ranked by the bytes that they hold at the peak of the main
//! lane; those behind the last colour share one. Colours are numbers here; the theme makes them seen:
//!
//! ```text
//! 0..16 tensors by name | 16..28 groups | 28 all further groups | 29 no tensor | 30..36 classes | +128 stepped back
//! ```
//! O(blocks of all lanes + tensors).

use highwater_analysis::Comparison;
use highwater_model::graph::Phase;
use highwater_model::units::Bytes;

use super::grouping::{Attribute, Grouping, Held};
use super::{LaneView, PALETTE_LEN, Selected, Timeline};

/// What colours stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// A tensor keeps its colour in all lanes and runs.
    #[default]
    Tensor,
    /// Tensors of one group have one colour.
    By(Attribute),
}

impl ColorBy {
    /// Its name as users see it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::By(attribute) => attribute.words(),
        }
    }

    /// Every choice, in the order of menus.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Tensor).chain(Attribute::ALL.map(Self::By))
    }
}

/// The first colour of groups.
pub const FIRST_GROUP: u8 = PALETTE_LEN;
/// Groups with a colour of their own.
pub const GROUP_COLORS: u8 = 12;
/// Of all groups behind them.
pub const OTHER_GROUPS: u8 = FIRST_GROUP + GROUP_COLORS;
/// Of what is no tensor's.
pub const NO_TENSOR: u8 = OTHER_GROUPS + 1;
/// The first colour of classes, which have an order.
pub const FIRST_CLASS: u8 = NO_TENSOR + 1;
/// Classes.
pub const CLASS_COLORS: u8 = 6;
/// Added to what steps back.
pub const DIMMED: u8 = 128;

/// A row of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegendRow {
    /// What the group is called.
    pub text: String,
    /// Its colour number.
    pub color: u8,
    /// What it holds at the peak of the main lane.
    pub at_peak: Bytes,
    /// Blocks of the main lane.
    pub n_blocks: usize,
    /// Whether it steps back because it is not among those that are shown.
    pub is_hidden: bool,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColoringOrder {
    /// What colours stand for.
    pub by: ColorBy,
    /// Groups that step back, by text.
    pub hidden: Vec<String>,
}

/// Which tensors of a lane a search found, as a test.
pub type IsLit<'a> = &'a dyn Fn(usize, Selected) -> bool;

/// The colours of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloring {
    /// What colours stand for.
    pub by: ColorBy,
    /// Groups with their colours, most bytes at the peak first, classes in their order; empty where colours are of single tensors.
    pub legend: Vec<LegendRow>,
    /// By lane, by block; empty where every block has its own colour.
    lanes: Vec<Vec<u8>>,
}

impl Coloring {
    /// Works out the colours. `lit` tells what a search found; everything else steps back.
    pub fn new(comparison: &Comparison, timeline: &Timeline, order: &ColoringOrder, lit: Option<IsLit<'_>>) -> Self {
        let grouping = match order.by {
            ColorBy::Tensor if lit.is_none() => return Self::default(),
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
                let Some(is_lit) = lit else { return own };
                let is_found = tensor_of(lane, idx).is_some_and(|tensor| is_lit(number, tensor));
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

    /// The colour number of a block.
    pub fn color(&self, (number, lane): (usize, &LaneView), block: usize) -> u8 {
        self.colors(number, lane).get(block).copied().unwrap_or(NO_TENSOR)
    }

    /// The colour numbers of a lane's blocks.
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

/// What a block holds.
fn held(lane: &LaneView, idx: usize) -> Option<Held> {
    Some(Held {
        tensor: tensor_of(lane, idx)?,
        bytes: Bytes(lane.blocks.bytes[idx]),
        n_steps: lane.blocks.end[idx] - lane.blocks.start[idx],
    })
}

/// The colours of groups.
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
        let is_ordered = matches!(grouping.attribute(), Attribute::Size | Attribute::Lifetime);
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

/// Phases keep their colours, which are the hues of the bands above the lanes.
fn phase_color(text: &str) -> u8 {
    let known = [(Phase::Forward, 0), (Phase::Backward, 3), (Phase::Optimizer, 1)];
    let known = known.into_iter().find(|(phase, _)| phase.name() == text);
    FIRST_GROUP + known.map_or(6, |(_, color)| color)
}

/// What every group holds in the main lane.
fn count(rows: &mut [LegendRow], grouping: &Grouping, comparison: &Comparison, timeline: &Timeline) {
    let main = comparison.main_lane().unwrap_or(0);
    let Some((view, lane)) = timeline.lanes.get(main).zip(comparison.lanes.get(main)) else {
        return;
    };
    let peak = lane.summary.peak_live_step.map_or(u32::MAX, |step| step.0);
    for idx in 0..view.blocks.len() {
        let Some(held) = held(view, idx) else { continue };
        let row = grouping.group(&held).and_then(|group| rows.get_mut(group as usize));
        let Some(row) = row else { continue };
        row.n_blocks += 1;
        if (view.blocks.start[idx]..view.blocks.end[idx]).contains(&peak) {
            row.at_peak = Bytes(row.at_peak.get().saturating_add(held.bytes.get()));
        }
    }
}
