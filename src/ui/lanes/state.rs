//! State of the lanes between frames: the view, and caches.

use std::sync::Arc;

use eframe::egui::Rect;

use super::lane_scale::LaneScale;
use super::{
    Arrangement, HoveredRegion, LaneContent, LaneLayout, LanesInput, Marks, PinnedStep, areas, bookmarks, budget,
    column_cache, goto, marks, measure, minimap, pictures, row_paint, rows, views,
};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::Step;
use highwater_session::ContentOrder;
use highwater_timeline::{
    AreaColumns, AxisKind, ColorBy, ColoringRequest, LaneView, RowOrder, ScopeFolds, Selected, StepRange, TimeAxis,
    Timeline, View, Viewport,
};

/// Where keys without Ctrl act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyboardFocus {
    #[default]
    Elsewhere,
    /// The last press was in the drawing, or the focus is there.
    Drawing,
}

/// What the drawing does in its next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Shows the selected tensor, or everything where it fills the view.
    ZoomToSelection,
}

/// The view of the lanes, and caches of its drawing.
#[derive(Clone, Debug, Default)]
pub struct LanesState {
    /// The common view of all lanes; `None` before the first answer.
    pub viewport: Option<Viewport>,
    /// The chosen unit of the time axis; steps where the data lacks it.
    pub axis: AxisKind,
    pub layout: LaneLayout,
    pub content: LaneContent,
    pub cursor: Option<f64>,
    pub keyboard: KeyboardFocus,
    /// What a command of the window wants of the next frame.
    pub wish: Option<Wish>,
    /// Whether Esc belonged to something else in the last frame.
    pub is_covered: bool,
    /// The step and lane of the device pane.
    pub spot: Option<PinnedStep>,
    /// The step under the pointer in one line.
    pub reading_text: Option<String>,
    /// The selected lane, which all panes explain.
    pub selected_lane: Option<LaneId>,
    /// The lane of a new pin, by position.
    pub(super) pinned_lane: Option<usize>,
    /// The highlight of the device pane.
    pub highlight: Option<(LaneId, HoveredRegion)>,
    /// Under the pointer.
    pub hovered: Option<Selected>,
    /// Shapes drawn and blocks in view, over all lanes, in the last frame.
    pub drawn: (usize, usize),
    /// Order, heights, collapsed and hidden lanes.
    pub arrangement: Arrangement,
    pub marks: Marks,
    /// Whether the wheel alone zooms.
    pub has_plain_wheel: bool,
    /// Shapes drawn and gaps in view, in the last frame.
    pub holes_drawn: (usize, usize),
    /// Edges drawn and in total, in the last frame.
    pub edges_drawn: (usize, usize),
    /// Of the tensor under the pointer, where the edges of the peak are drawn.
    pub hovered_edges_drawn: (usize, usize),
    /// Whether the toolbar had no room for the count of edges.
    pub(super) has_untold_edges: bool,
    /// The time axis of this answer; `None` for steps of equal width.
    pub(super) warp: Option<Arc<TimeAxis>>,
    /// Everything, as in the last frame.
    pub(super) whole: Option<Viewport>,
    /// The graphs of that frame.
    shown: Option<Shown>,
    /// The grabbed part of the minimap.
    pub(super) strip: Option<minimap::Hold>,
    pub(super) budget: Option<budget::BudgetDrag>,
    /// The lane of the lifetimes, where lanes differ; `None` for the first lane under a budget.
    pub(crate) rows_lane: Option<usize>,
    /// The order of the lifetimes.
    pub rows_by: RowOrder,
    /// Collapsed scopes.
    pub folds: ScopeFolds,
    /// The next scroll offset of the rows, in points.
    pub(super) scroll_rows_to: Option<f32>,
    /// The selection that the rows were scrolled to.
    pub(super) followed: Option<Selected>,
    /// The colour mode for areas, and the mode before it.
    pub(super) look_beside_areas: Option<(ColorBy, ColoringRequest)>,
    pub range: Option<StepRange>,
    /// Start of a drag that selects steps.
    pub(super) range_from: Option<Step>,
    pub(super) measures: measure::Measures,
    pub(super) views: views::Views,
    /// Bookmarks and the note in writing.
    pub(super) flags: bookmarks::Flags,
    /// The open field for a step.
    pub(super) goto: Option<goto::Goto>,
    /// Parts of lanes on the screen for pictures, in points.
    pub(super) places: Vec<(LaneId, [Rect; 3])>,
    /// The captured lane.
    pub(super) pictured: Option<LaneId>,
    /// The place of its legend.
    pub(super) picture_legend: Option<Rect>,
    pub(super) caches: Caches,
}

/// Drawings of the view and the answer, which can be made again at any time.
#[derive(Clone, Debug, Default)]
pub(super) struct Caches {
    pub(super) hole_pictures: Vec<Option<marks::HolePicture>>,
    pub(super) areas: column_cache::FrameCache<areas::AreaKey, Arc<AreaColumns>>,
    pub(super) columns: column_cache::ColumnCache,
    pub(super) minimap: Option<minimap::Picture>,
    pub(super) textures: pictures::Textures,
    pub(super) row_texture: row_paint::RowTexture,
    pub(super) rows_asked: Option<rows::Asked>,
}

/// Identifies the same graphs in another answer: name, runs, ops.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    name: String,
    n_runs: usize,
    n_ops: usize,
}

impl Shown {
    pub(super) fn is_of(&self, comparison: &Comparison) -> bool {
        let (n_runs, n_ops) = sizes_of(comparison);
        self.n_runs == n_runs && self.n_ops == n_ops && self.name == comparison.workload.name
    }

    pub(super) fn of(comparison: &Comparison) -> Self {
        let (n_runs, n_ops) = sizes_of(comparison);
        Self {
            name: comparison.workload.name.clone(),
            n_runs,
            n_ops,
        }
    }
}

/// Runs, and ops of all graphs and tapes.
fn sizes_of(comparison: &Comparison) -> (usize, usize) {
    let graphs = comparison.workload.graphs().iter().map(|entry| entry.graph.ops().len());
    let tapes = comparison.workload.tapes().iter().map(|tape| tape.ops.len());
    (comparison.axis.runs.len(), graphs.chain(tapes).sum())
}

impl LanesState {
    /// Takes the size of a new answer: a view of everything stays one, another view keeps its steps. Where the same
    /// graphs have another number of steps, because recomputations differ, the view keeps its share of them.
    pub(super) fn adopt(&mut self, timeline: &Timeline, comparison: &Comparison) -> Viewport {
        let whole = self.whole_of(timeline);
        let is_same = self.shown.as_ref().is_some_and(|shown| shown.is_of(comparison));
        self.arrangement.adopt(comparison);
        self.warp = timeline.axes.get(self.axis).cloned();
        // All addresses stay all addresses, whatever is outside the scale.
        let all_addresses = self.viewport.zip(self.whole);
        let all_addresses = all_addresses.is_some_and(|(view, before)| view.a0 <= before.a0 && view.a1 >= before.a1);
        let clamped = |view: Viewport| {
            let (a0, a1) = if all_addresses {
                (whole.a0, whole.a1)
            } else {
                (view.a0, view.a1)
            };
            View::new(Viewport { a0, a1, ..view }, self.warp.as_deref()).clamp(whole)
        };
        let viewport = match (self.viewport, self.whole) {
            (Some(viewport), Some(before)) if viewport != before && (before.t1 - whole.t1).abs() < 0.5 => {
                clamped(viewport)
            }
            (Some(viewport), Some(before)) if viewport != before && is_same => {
                let part = whole.t1 / before.t1.max(1.0);
                let scaled = Viewport {
                    t0: viewport.t0 * part,
                    t1: viewport.t1 * part,
                    ..viewport
                };
                clamped(scaled)
            }
            _ => whole,
        };
        if !is_same {
            self.arrangement.sort(comparison);
            self.shown = Some(Shown::of(comparison));
            self.budget = None;
            self.rows_lane = None;
            self.range = None;
            self.measures.clear();
        }
        self.whole = Some(whole);
        self.viewport = Some(viewport);
        viewport
    }

    /// Shows lifetimes; where they are shown, in the next order.
    pub fn next_rows(&mut self) {
        if self.content == LaneContent::Lifetimes {
            let at = RowOrder::ALL.iter().position(|by| *by == self.rows_by).unwrap_or(0);
            self.rows_by = RowOrder::ALL[(at + 1) % RowOrder::ALL.len()];
        }
        self.content = LaneContent::Lifetimes;
    }

    /// The lane of the lifetimes.
    pub fn lane_of_rows(&self, input: &LanesInput<'_>) -> usize {
        let last = input.comparison.lanes.len().saturating_sub(1);
        let first = usize::from(input.comparison.lane_kind() == LaneKind::Passes);
        self.rows_lane.unwrap_or(first).min(last)
    }

    /// Drops the picture of rows.
    pub(super) fn forget_rows(&mut self) {
        (self.caches.rows_asked, self.caches.row_texture) = (None, row_paint::RowTexture::default());
    }

    /// The content that the worker has to compute.
    pub fn content_order(&self, input: &LanesInput<'_>) -> ContentOrder {
        match self.content {
            LaneContent::MemoryMap | LaneContent::Curves => ContentOrder::Maps,
            LaneContent::Areas => ContentOrder::Areas,
            LaneContent::Lifetimes => ContentOrder::Lifetimes {
                lane: self.lane_of_rows(input),
                by: self.rows_by,
            },
        }
    }

    /// Everything: of maps without the constant regions, unless these are to scale.
    fn whole_of(&self, timeline: &Timeline) -> Viewport {
        if self.has_floor() {
            timeline.fit_changing()
        } else {
            timeline.fit()
        }
    }

    /// Whether constant regions are bands outside the scale.
    pub(super) fn has_floor(&self) -> bool {
        self.content == LaneContent::MemoryMap && !self.marks.has_constant_to_scale
    }

    /// The y-axis of a lane's map.
    pub(super) fn scale(&self, timeline: &Timeline, lane: &LaneView) -> LaneScale {
        self.arrangement.scale(timeline, lane, self.has_floor())
    }

    /// The view of a lane's map, in its display addresses.
    pub fn viewport_of(&self, timeline: &Timeline, lane: usize) -> Option<Viewport> {
        let scale = self.scale(timeline, timeline.lanes.get(lane)?);
        Some(scale.view(&self.view()?).viewport())
    }

    pub fn shows_everything(&self) -> bool {
        self.viewport == self.whole
    }

    /// Whether the view belongs to this answer.
    pub fn knows(&self, timeline: &Timeline) -> bool {
        self.whole == Some(self.whole_of(timeline))
    }

    pub fn fit(&mut self) {
        self.viewport = self.whole;
    }

    /// The area of everything divided by that of the view.
    pub(super) fn zoom(&self) -> f64 {
        let area = |view: &Viewport| {
            let along = View::new(*view, self.warp.as_deref());
            along.length(view.t0, view.t1) * view.bytes()
        };
        match (&self.whole, &self.viewport) {
            (Some(whole), Some(view)) if area(view) > 0.0 => area(whole) / area(view),
            _ => 1.0,
        }
    }

    /// Clamped to everything.
    pub(super) fn change_view(&mut self, change: impl FnOnce(View<'_>) -> Viewport) {
        if let (Some(view), Some(whole)) = (self.view(), self.whole) {
            self.viewport = Some(view.with(change(view)).clamp(whole));
        }
    }
}
