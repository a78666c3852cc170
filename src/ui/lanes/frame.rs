//! Layout of a frame: columns, rulers, lanes and their parts.

use eframe::egui::{Pos2, Rangef, Rect, Response, Role, Sense, Ui, Vec2, pos2, vec2};

use super::constant;
use super::lane_scale::LaneScale;
use super::{LaneEntry, LaneLayout, LanesInput, LanesState};
use crate::numbers::count_f32;
use crate::widgets::Named as _;
use highwater_timeline::View;

/// Room for axis marks left of every canvas.
pub(super) const GUTTER: f32 = 60.0;
/// Room right of every canvas.
pub(super) const MARGIN: f32 = 10.0;
const GAP: f32 = 4.0;
const MIN_LANE: f32 = 104.0;
/// Least height of a lane with two header lines.
const MIN_NARROW_LANE: f32 = 150.0;
/// Heights of the event row, in high and low lanes.
const TICKS: (f32, f32) = (15.0, 10.0);
/// Heights of the marks of a run under a budget, in high and low lanes.
const REMAT: (f32, f32) = (17.0, 14.0);
/// Additional height of lanes under a budget, for their marks and the budget line.
pub(super) const BUDGET_ROOM: f32 = 36.0;
/// Lower lanes have low rows.
const LOW_BODY: f32 = 120.0;
/// Narrower lanes write their figures below the name.
const WIDE_HEADER: f32 = 640.0;

/// Height of the curve of a collapsed lane.
const FOLDED_BODY: f32 = 30.0;

#[derive(Clone, Debug)]
pub(super) struct Grid {
    area: Rect,
    pub(super) n_columns: usize,
    pub(super) ruler_height: f32,
    width: f32,
    pub(super) plain: f32,
    /// By lane: offset from the origin of the content, and height.
    places: Vec<(Vec2, f32)>,
    height: f32,
}

/// The smallest area with a layout: two columns with 40 points of time axis each, the rulers, a low lane and the
/// minimap. Smaller panes cut it off.
const SMALLEST: Vec2 = vec2(2.0 * (GUTTER + 40.0 + MARGIN) + GAP, 300.0);

/// Grows an area to the right and downwards to [`SMALLEST`].
pub(super) fn at_least_smallest(area: Rect) -> Rect {
    Rect::from_min_size(area.min, area.size().max(SMALLEST))
}

/// Share of a lane's body that the curve has above a memory map.
const CURVE: f32 = 0.44;

/// Wishes of a lane for the layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Share of a plain lane's height.
    pub(super) share: f32,
    /// Share of the body that the curve has.
    pub(super) curve: f32,
    pub(super) is_folded: bool,
    pub(super) has_events: bool,
    /// Whether name and figures have a row of their own; otherwise the name lies on the curve.
    pub(super) has_header: bool,
}

impl Wanted {
    pub(super) const fn of(entry: LaneEntry, has_events: bool) -> Self {
        Self {
            share: entry.share,
            curve: CURVE,
            is_folded: entry.is_folded,
            has_events,
            has_header: true,
        }
    }

    /// A lane whose figures are in the table of lanes.
    pub(super) const fn without_header(self) -> Self {
        Self {
            has_header: false,
            ..self
        }
    }

    /// The curve above areas is lower: the areas show the same in more detail.
    pub(super) const fn beside_areas(self) -> Self {
        Self { curve: 0.3, ..self }
    }

    /// A lane with a curve alone.
    pub(super) const LOW: Self = Self {
        share: 0.6,
        curve: CURVE,
        is_folded: false,
        has_events: false,
        has_header: true,
    };
    pub(super) const PLAIN: Self = Self {
        share: 1.0,
        curve: CURVE,
        is_folded: false,
        has_events: true,
        has_header: true,
    };
}

impl Grid {
    /// `room` is the height that lanes need beyond the least. Lanes share the area as far as it suffices.
    pub(super) fn new(area: Rect, wanted: &[Wanted], layout: LaneLayout, ruler_height: f32, room: f32) -> Self {
        let n_columns = match layout {
            LaneLayout::Stacked => 1,
            LaneLayout::SideBySide => 2,
        };
        let width = (area.width() - GAP * count_f32(n_columns - 1)) / count_f32(n_columns);
        let is_wide = width >= WIDE_HEADER;
        let has_header = wanted.iter().any(|lane| lane.has_header);
        let header = header_height(is_wide, has_header);
        let lowest = if is_wide { MIN_LANE } else { MIN_NARROW_LANE };
        let lowest = lowest - header_height(is_wide, true) + header;
        let folded = header + FOLDED_BODY + GAP;
        let rows: Vec<&[Wanted]> = wanted.chunks(n_columns).collect();
        let is_folded = |row: &&&[Wanted]| row.iter().all(|lane| lane.is_folded);
        let n_folded = rows.iter().filter(is_folded).count();
        let open = rows.iter().filter(|row| !is_folded(row));
        let shares: f32 = open.map(|row| share_of(row)).sum();
        let rest = area.height() - ruler_height - folded * count_f32(n_folded);
        let plain = (rest / shares.max(1e-3)).max(lowest + room).floor();
        let mut top = 0.0;
        let mut places = Vec::with_capacity(wanted.len());
        for row in &rows {
            let height = if is_folded(&row) {
                folded
            } else {
                (plain * share_of(row)).max(lowest).floor()
            };
            for (column, lane) in row.iter().enumerate() {
                let corner = vec2((width + GAP) * count_f32(column), top);
                places.push((corner, if lane.is_folded { folded } else { height }));
            }
            top += height;
        }
        Self {
            area,
            n_columns,
            ruler_height,
            width,
            plain,
            places,
            height: top,
        }
    }

    fn left(&self, column: usize) -> f32 {
        self.area.left() + (self.width + GAP) * count_f32(column)
    }

    /// Left and right end of a column's time axis.
    pub(super) fn plot_x(&self, column: usize) -> Rangef {
        let left = self.left(column);
        Rangef::new(left + GUTTER, left + self.width - MARGIN)
    }

    pub(super) fn ruler(&self, column: usize) -> Rect {
        let y = Rangef::new(self.area.top(), self.area.top() + self.ruler_height);
        Rect::from_x_y_ranges(self.plot_x(column), y)
    }

    pub(super) fn content_size(&self) -> Vec2 {
        vec2(self.area.width(), self.height)
    }

    /// The place of a lane by its position; `origin` is the corner of the scrolled content.
    pub(super) fn lane(&self, place: usize, origin: Pos2) -> Rect {
        let (corner, height) = self.places[place];
        let min = pos2(self.area.left() + corner.x, origin.y + corner.y);
        Rect::from_min_size(min, vec2(self.width, height))
    }
}

/// Lanes in one row are as high as the highest.
fn share_of(row: &[Wanted]) -> f32 {
    let open = row.iter().filter(|lane| !lane.is_folded);
    open.map(|lane| lane.share).fold(0.0, f32::max)
}

const fn header_height(is_wide: bool, has_header: bool) -> f32 {
    match (has_header, is_wide) {
        (false, _) => 0.0,
        (true, true) => 24.0,
        (true, false) => 44.0,
    }
}

/// The largest name on a curve.
const LABEL: Vec2 = vec2(700.0, 19.0);

/// The parts of a lane, and the response of its canvases.
#[derive(Debug)]
pub(super) struct LaneFrame {
    pub(super) lane: usize,
    pub(super) outer: Rect,
    pub(super) scale: LaneScale,
    /// The row of name and figures, or the place of the name on the curve.
    pub(super) header: Rect,
    pub(super) has_header: bool,
    pub(super) is_wide: bool,
    pub(super) body: Rect,
    pub(super) curve: Rect,
    /// Device events; no height where there can be none.
    pub(super) ticks: Rect,
    /// Evictions and recomputations; no height without a budget.
    pub(super) remat: Rect,
    pub(super) map: Rect,
    /// Constant regions below the map, a row each; no height without them.
    pub(super) constant: Rect,
    pub(super) response: Response,
}

impl LaneFrame {
    pub(super) fn new(
        ui: &Ui,
        rect: Rect,
        input: &LanesInput<'_>,
        lane: usize,
        wanted: Wanted,
        scale: LaneScale,
    ) -> Self {
        let is_wide = rect.width() >= WIDE_HEADER;
        let header_height = header_height(is_wide, wanted.has_header);
        let body = Rect::from_min_max(
            pos2(rect.left() + GUTTER, rect.top() + header_height),
            pos2(rect.right() - MARGIN, rect.bottom() - GAP),
        );
        let header = if wanted.has_header {
            Rect::from_min_size(rect.min, vec2(rect.width() - MARGIN, header_height))
        } else {
            let room = vec2((body.width() * 0.85).max(0.0), LABEL.y);
            Rect::from_min_size(body.min + vec2(1.0, 1.0), LABEL.min(room))
        };
        // A recording without blocks has no map and no events.
        let is_curve = input.comparison.is_measured_lane(lane) && input.timeline.lanes[lane].blocks.start.is_empty();
        let ticks = match body.height() {
            _ if wanted.is_folded || !wanted.has_events || is_curve || !input.comparison.study().has_device() => 0.0,
            height if height < LOW_BODY => TICKS.1,
            _ => TICKS.0,
        };
        let remat = match (&input.timeline.lanes[lane].remat, body.height() < LOW_BODY) {
            _ if wanted.is_folded => 0.0,
            (None, _) => 0.0,
            (Some(_), true) => REMAT.1,
            (Some(_), false) => REMAT.0,
        };
        let strip = ticks + remat;
        let split = if is_curve || wanted.is_folded {
            body.bottom()
        } else {
            (body.top() + (body.height() - strip) * wanted.curve + strip).round()
        };
        let map = Rect::from_min_max(pos2(body.left(), (split + 2.0).min(body.bottom())), body.max);
        let n_rows = constant::n_rows(&input.timeline.lanes[lane], map.height(), scale);
        let (map, constant) = map.split_top_bottom_at_y(map.bottom() - constant::ROW * count_f32(n_rows));
        let response = ui.interact(body, ui.scope_id().with(("lane", lane)), Sense::click_and_drag());
        let title = input.comparison.title_of(lane);
        let response = response.named(Role::Canvas, || format!("lane {title} memory map"));
        Self {
            lane,
            outer: rect,
            scale,
            header,
            has_header: wanted.has_header,
            is_wide,
            body,
            curve: Rect::from_min_max(body.min, pos2(body.right(), split - 2.0 - strip)),
            ticks: Rect::from_min_max(pos2(body.left(), split - strip), pos2(body.right(), split - remat)),
            remat: Rect::from_min_max(pos2(body.left(), split - remat), pos2(body.right(), split)),
            map,
            constant,
            response,
        }
    }

    /// The view of the map: steps of the common view, addresses on the lane's y-axis.
    pub(super) fn view<'a>(&self, state: &'a LanesState) -> Option<View<'a>> {
        Some(self.scale.view(&state.view()?))
    }
}
