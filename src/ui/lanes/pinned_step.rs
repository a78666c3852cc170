//! The step and lane of the device pane: under the pointer, or pinned.

use eframe::egui::{Align2, Rect, Stroke, Ui, pos2};

use super::canvas::{text_with_ground, visible_x};
use super::{LanesInput, LanesState};
use crate::numbers::to_f64;
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::Step;
use highwater_sim::RegionId;
use highwater_timeline::{LaneView, Owner, RegionSpan, Timeline, Viewport, peak_step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedStep {
    /// By position.
    pub lane: usize,
    pub step: Step,
    /// Whether it stays while the pointer moves.
    pub is_pinned: bool,
}

/// The highlight of the device pane in a lane's memory map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoveredRegion {
    Region(RegionId),
    /// Everything that a pool holds.
    Pool(Owner),
}

impl HoveredRegion {
    /// Whether a region is highlighted as a whole: of paged ranges of a pool the held pieces are.
    pub(super) fn is(self, region: &RegionSpan) -> bool {
        self.covers(region) && (matches!(self, Self::Region(_)) || !region.is_paged)
    }

    /// Whether a region is it, or of its pool.
    pub(super) fn covers(self, region: &RegionSpan) -> bool {
        match self {
            Self::Region(id) => region.region == id,
            Self::Pool(owner) => region.owner == owner,
        }
    }
}

/// How keys move the pinned step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Step {
        is_next: bool,
    },
    /// To the next step with an event of the device or a pool, an eviction or a recomputation.
    Event {
        is_next: bool,
    },
}

/// The step that is shown without another: in a recording with the most live bytes, since segments stay.
fn peak_of(comparison: &Comparison, lane: usize) -> Step {
    let step = if comparison.is_measured_lane(lane) {
        peak_step(comparison, lane)
    } else {
        comparison.shown_peak(lane).step
    };
    step.unwrap_or(Step(0))
}

impl LanesState {
    /// The pinned or hovered step, where this answer has it, else the peak; in the selected lane, or that of the pin.
    pub fn spot_in(&self, input: &LanesInput<'_>) -> Option<PinnedStep> {
        let comparison = input.comparison;
        let last = Step(input.timeline.n_steps.checked_sub(1)?);
        let position = |id| comparison.position(id);
        let explained = self.selected_lane.and_then(position);
        let lane = explained.or(comparison.main_lane()).unwrap_or(0);
        let known = self.spot.filter(|spot| spot.lane < comparison.lanes.len());
        if let Some(spot) = known {
            // The pointer chooses a step, never a lane.
            return Some(PinnedStep {
                step: spot.step.min(last),
                lane: if spot.is_pinned { spot.lane } else { lane },
                ..spot
            });
        }
        comparison.lanes.get(lane)?;
        Some(PinnedStep {
            lane,
            step: peak_of(comparison, lane).min(last),
            is_pinned: false,
        })
    }

    /// Drops the step of the pointer; a pinned one stays.
    pub fn forget_pointer(&mut self) {
        self.spot = self.pinned();
    }

    /// Pins the peak of the lane.
    pub fn pin_peak(&mut self, input: &LanesInput<'_>) {
        if let Some(spot) = self.spot_in(input) {
            self.pin(spot.lane, peak_of(input.comparison, spot.lane));
        }
    }

    /// Follows the selected lane: a pinned step stays, in that lane.
    pub fn explain(&mut self, lane: LaneId, comparison: Option<&Comparison>) {
        self.selected_lane = Some(lane);
        let position = comparison.and_then(|known| known.position(lane));
        self.spot = self.spot.filter(|spot| spot.is_pinned);
        if let (Some(spot), Some(position)) = (&mut self.spot, position) {
            spot.lane = position;
        }
    }

    /// Moves the step, and pins it.
    pub fn move_spot(&mut self, how: Move, input: &LanesInput<'_>) {
        let Some(spot) = self.spot_in(input) else { return };
        let lane = &input.timeline.lanes[spot.lane];
        let last = input.timeline.n_steps.saturating_sub(1);
        let step = match how {
            Move::Step { is_next: true } => spot.step.0 + 1,
            Move::Step { is_next: false } => spot.step.0.saturating_sub(1),
            Move::Event { is_next } => {
                let marks = lane.remat.as_ref();
                let marks = marks.and_then(|remat| remat.neighbour(spot.step.0, is_next));
                let both = lane.ticks.neighbour(spot.step.0, is_next).into_iter().chain(marks);
                let nearest = if is_next { both.min() } else { both.max() };
                nearest.unwrap_or(spot.step.0)
            }
        };
        self.pin(spot.lane, Step(step.min(last)));
    }

    /// Pins a step of a lane, which becomes the selected lane of all panes, and brings it into view.
    pub fn pin(&mut self, lane: usize, step: Step) {
        self.pinned_lane = Some(lane);
        self.spot = Some(PinnedStep {
            lane,
            step,
            is_pinned: true,
        });
        let at = f64::from(step.0) + 0.5;
        self.change_view(|view| {
            if view.t0 <= at && at <= view.t1 {
                view.viewport()
            } else {
                view.centred(at)
            }
        });
    }

    /// The lane of a pin since the last call.
    pub(crate) fn take_pinned_lane(&mut self, comparison: &Comparison) -> Option<LaneId> {
        let lane = self.pinned_lane.take()?;
        comparison.lanes.get(lane).map(|lane| lane.id)
    }

    pub fn pinned(&self) -> Option<PinnedStep> {
        self.spot.filter(|spot| spot.is_pinned)
    }

    /// Follows the pointer.
    pub fn unpin(&mut self) {
        if let Some(spot) = &mut self.spot {
            spot.is_pinned = false;
        }
    }

    /// Brings the highlight into view, where it is outside or small.
    pub fn show_highlight(&mut self, timeline: &Timeline, lane: &LaneView, what: HoveredRegion, step: Step) {
        const ROOM: f64 = 0.15;
        const LEAST: f64 = 65536.0;
        let extents = extents(lane, what, step);
        let Some(low) = extents.iter().map(|(low, _)| *low).min() else {
            return;
        };
        let high = extents.iter().map(|(_, high)| *high).max().unwrap_or(low);
        let scale = self.scale(timeline, lane);
        let (low, high) = (scale.common(to_f64(low)), scale.common(to_f64(high)));
        if high <= 0.0 {
            return;
        }
        let room = ((high - low) * ROOM).max(LEAST);
        self.change_view(|view| {
            let is_large = (high - low) * 4.0 >= view.bytes();
            if is_large && low >= view.a0 && high <= view.a1 {
                return view.viewport();
            }
            Viewport {
                a0: low - room,
                a1: high + room,
                ..view.viewport()
            }
        });
    }

    /// The step under the pointer, else the pinned one.
    pub(super) fn reading(&self) -> Option<f64> {
        self.cursor.or_else(|| self.pinned().map(|spot| f64::from(spot.step.0)))
    }
}

/// Addresses of the highlight on a step.
fn extents(lane: &LaneView, what: HoveredRegion, step: Step) -> Vec<(u64, u64)> {
    let regions = lane.regions_at(step).into_iter().map(|idx| &lane.regions[idx]);
    let regions = regions.filter(|region| what.is(region));
    let regions = regions.map(|region| (region.base, region.base + region.bytes.get()));
    let holdings = &lane.owned_ranges;
    let held = holdings.alive(f64::from(step.0)).into_iter().filter(|idx| match what {
        HoveredRegion::Region(_) => false,
        HoveredRegion::Pool(pool) => is_of(holdings.owner[*idx], pool),
    });
    let held = held.map(|idx| (holdings.base.at(idx), holdings.base.at(idx) + holdings.bytes.at(idx)));
    regions.chain(held).collect()
}

/// Stitched pages belong to the pool of their graph.
pub(super) fn is_of(holding: Owner, pool: Owner) -> bool {
    match (holding, pool) {
        (Owner::Stitched(graph), Owner::Pool(of)) => graph == of,
        _ => holding == pool,
    }
}

/// The line at the pinned step through all lanes; its lane has the label.
pub(super) fn paint(ui: &Ui, lane: usize, body: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let (Some(spot), Some(viewport)) = (state.pinned(), state.view()) else {
        return;
    };
    let Some(x) = visible_x(body, &viewport, f64::from(spot.step.0)) else {
        return;
    };
    let theme = input.theme;
    let painter = ui.painter_at(body);
    let (ground, words) = theme.cursor_tag;
    painter.vline(x, body.y_range(), Stroke::new(1.5, ground));
    if lane == spot.lane {
        let place = (pos2(x, body.bottom() - 1.0), Align2::CENTER_BOTTOM);
        text_with_ground(
            &painter,
            place,
            format!("{} pinned", input.comparison.step_text(spot.lane, spot.step)),
            (words, ground),
            body,
        );
    }
}
