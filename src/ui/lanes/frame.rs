//! Where everything stands: columns, rulers, lanes and their parts.

use eframe::egui::{Pos2, Rangef, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::{LaneLayout, LanesInput};

/// Room for axis marks on the left of every canvas.
pub(super) const GUTTER: f32 = 60.0;
/// Room on the right.
const MARGIN: f32 = 10.0;
const GAP: f32 = 8.0;
const MIN_LANE: f32 = 104.0;
/// The lowest lane with a header of three lines.
const MIN_NARROW_LANE: f32 = 180.0;
/// Height of the tick lane, and what it is in low lanes.
const TICKS: (f32, f32) = (15.0, 10.0);
/// Height of the marks of a run under a budget, and what it is in low lanes.
const REMAT: (f32, f32) = (17.0, 14.0);
/// What lanes under a budget need more than others: their marks, and a curve in which a line can be dragged.
pub(super) const BUDGET_ROOM: f32 = 36.0;
/// Lanes that are lower have a low tick lane.
const LOW_BODY: f32 = 120.0;
/// Narrower lanes write their figures below the name.
const WIDE_HEADER: f32 = 640.0;

/// The arrangement of one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    area: Rect,
    pub(super) n_columns: usize,
    n_rows: usize,
    pub(super) ruler_height: f32,
    lane: Vec2,
}

impl Grid {
    #[expect(clippy::cast_precision_loss, reason = "a handful of lanes")]
    /// `room` is the height that lanes need beyond that of the plainest.
    pub(super) fn new(area: Rect, n_lanes: usize, layout: LaneLayout, (ruler_height, room): (f32, f32)) -> Self {
        let n_columns = match layout {
            LaneLayout::Stacked => 1,
            LaneLayout::SideBySide => 2,
        };
        let n_rows = n_lanes.div_ceil(n_columns).max(1);
        let width = (area.width() - GAP * (n_columns - 1) as f32) / n_columns as f32;
        let height = (area.height() - ruler_height) / n_rows as f32;
        let lowest = if width >= WIDE_HEADER {
            MIN_LANE
        } else {
            MIN_NARROW_LANE
        };
        Self {
            area,
            n_columns,
            n_rows,
            ruler_height,
            lane: vec2(width, height.max(lowest + room).floor()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a handful of lanes")]
    fn left(&self, column: usize) -> f32 {
        self.area.left() + (self.lane.x + GAP) * column as f32
    }

    /// Left and right end of a column's time axis.
    pub(super) fn plot_x(&self, column: usize) -> Rangef {
        let left = self.left(column);
        Rangef::new(left + GUTTER, left + self.lane.x - MARGIN)
    }

    pub(super) fn ruler(&self, column: usize) -> Rect {
        let y = Rangef::new(self.area.top(), self.area.top() + self.ruler_height);
        Rect::from_x_y_ranges(self.plot_x(column), y)
    }

    #[expect(clippy::cast_precision_loss, reason = "a handful of lanes")]
    pub(super) fn content_size(&self) -> Vec2 {
        vec2(self.area.width(), self.lane.y * self.n_rows as f32)
    }

    /// The place of a lane; `origin` is the corner of the scrolled content.
    #[expect(clippy::cast_precision_loss, reason = "a handful of lanes")]
    pub(super) fn lane(&self, lane: usize, origin: Pos2) -> Rect {
        let row = lane / self.n_columns;
        let corner = pos2(self.left(lane % self.n_columns), origin.y + self.lane.y * row as f32);
        Rect::from_min_size(corner, self.lane)
    }
}

/// The parts of a lane, and what the pointer does to its canvases.
#[derive(Debug)]
pub(super) struct LaneFrame {
    pub(super) lane: usize,
    pub(super) header: Rect,
    pub(super) is_wide: bool,
    pub(super) body: Rect,
    pub(super) curve: Rect,
    /// Device events; without height where there can be none.
    pub(super) ticks: Rect,
    /// Evictions and what is computed anew; without height where there is no budget.
    pub(super) remat: Rect,
    pub(super) map: Rect,
    pub(super) response: Response,
}

impl LaneFrame {
    pub(super) fn new(ui: &Ui, rect: Rect, input: &LanesInput<'_>, lane: usize) -> Self {
        let is_wide = rect.width() >= WIDE_HEADER;
        let header_height = if is_wide { 24.0 } else { 60.0 };
        let header = Rect::from_min_size(rect.min, vec2(rect.width() - MARGIN, header_height));
        let body = Rect::from_min_max(
            pos2(rect.left() + GUTTER, header.bottom()),
            pos2(rect.right() - MARGIN, rect.bottom() - GAP),
        );
        // A recording of curves alone has nothing to map, and no events.
        let is_curve = input.comparison.is_measured_lane(lane) && input.timeline.lanes[lane].blocks.start.is_empty();
        let ticks = match body.height() {
            _ if is_curve || input.comparison.is_problem() => 0.0,
            height if height < LOW_BODY => TICKS.1,
            _ => TICKS.0,
        };
        let remat = match (&input.timeline.lanes[lane].remat, body.height() < LOW_BODY) {
            (None, _) => 0.0,
            (Some(_), true) => REMAT.1,
            (Some(_), false) => REMAT.0,
        };
        let strip = ticks + remat;
        let split = if is_curve {
            body.bottom()
        } else {
            (body.top() + (body.height() - strip) * 0.44 + strip).round()
        };
        let response = ui.interact(body, ui.scope_id().with(("lane", lane)), Sense::click_and_drag());
        let title = input.comparison.lane_title(input.comparison.lanes[lane].id);
        response.widget_info(|| {
            let label = format!("lane {title} memory map");
            WidgetInfo::labeled(Role::Canvas, true, label)
        });
        Self {
            lane,
            header,
            is_wide,
            body,
            curve: Rect::from_min_max(body.min, pos2(body.right(), split - 2.0 - strip)),
            ticks: Rect::from_min_max(pos2(body.left(), split - strip), pos2(body.right(), split - remat)),
            remat: Rect::from_min_max(pos2(body.left(), split - remat), pos2(body.right(), split)),
            map: Rect::from_min_max(pos2(body.left(), (split + 2.0).min(body.bottom())), body.max),
            response,
        }
    }
}
