//! What the lanes remember between frames: the view and how it is shown, nothing of the answer.

use std::sync::Arc;

use eframe::egui::Rect;

use super::{
    Arrangement, HoveredRegion, LaneContent, LaneLayout, LanesInput, Marks, PinnedStep, areas, bookmarks, budget,
    column_cache, goto, marks, measure, minimap, pictures, row_paint, rows, views,
};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::Step;
use highwater_session::ContentOrder;
use highwater_timeline::{
    AxisKind, ColorBy, ColoringRequest, RowOrder, ScopeFolds, Selected, StepRange, TimeAxis, Timeline, View, Viewport,
};

/// What the lanes remember between frames: the view, nothing of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesState {
    /// The one viewport of all lanes; `None` before the first answer.
    pub viewport: Option<Viewport>,
    /// What the time axis is to count; where the data has no such times it counts steps.
    pub axis: AxisKind,
    /// How lanes are arranged.
    pub layout: LaneLayout,
    /// What is shown.
    pub content: LaneContent,
    /// The step under the pointer.
    pub cursor: Option<f64>,
    /// Whether something else was there in the last frame that Esc closes or leaves.
    pub is_covered: bool,
    /// The step and the lane that the device panel looks at.
    pub spot: Option<PinnedStep>,
    /// What the device panel points at.
    pub highlight: Option<(LaneId, HoveredRegion)>,
    /// The tensor under the pointer.
    pub hovered: Option<Selected>,
    /// Shapes drawn and blocks within the view, of all lanes, in the last frame.
    pub drawn: (usize, usize),
    /// The order and heights of lanes, which are folded or hidden.
    pub arrangement: Arrangement,
    /// What is marked besides blocks.
    pub marks: Marks,
    /// Whether the wheel alone zooms.
    pub has_plain_wheel: bool,
    /// Shapes drawn and holes within the view, likewise.
    pub holes_drawn: (usize, usize),
    /// Edges drawn and edges that there are, likewise.
    pub edges_drawn: (usize, usize),
    /// Whether the tools had no room to tell how many edges there are.
    pub(super) has_untold_edges: bool,
    pub(super) hole_pictures: Vec<Option<marks::HolePicture>>,
    /// Pictures of lanes with many blocks.
    pub(super) textures: pictures::Textures,
    /// What steps are as wide as in this answer; `None` for one another.
    pub(super) warp: Option<Arc<TimeAxis>>,
    /// Everything there is to see, as it was in the last frame.
    pub(super) whole: Option<Viewport>,
    /// What that was a picture of.
    shown: Option<Shown>,
    /// What of the overview is being dragged.
    pub(super) strip: Option<minimap::Hold>,
    /// The curves of the overview.
    pub(super) strip_picture: Option<minimap::Picture>,
    /// The budget that is being changed.
    pub(super) budget: Option<budget::BudgetDrag>,
    /// Whose lifetimes are shown, where lanes differ; `None` for the first lane under a budget.
    pub(crate) rows_lane: Option<usize>,
    /// What rows of the lifetimes are sorted by.
    pub rows_by: RowOrder,
    /// Which scopes are folded.
    pub folds: ScopeFolds,
    /// Where the rows are to be scrolled to, in points.
    pub(super) scroll_rows_to: Option<f32>,
    /// The selection that the rows were last scrolled to.
    pub(super) followed: Option<Selected>,
    pub(super) rows_asked: Option<rows::Asked>,
    pub(super) row_texture: row_paint::RowTexture,
    pub(super) area_pictures: Vec<Option<areas::AreaPicture>>,
    /// The colours that areas need, and those that were before them.
    pub(super) look_beside_areas: Option<(ColorBy, ColoringRequest)>,
    pub(super) known_columns: column_cache::KnownColumns,
    /// The selected steps.
    pub range: Option<StepRange>,
    /// Where a drag that selects steps began.
    pub(super) range_from: Option<Step>,
    /// What drags do, and what they measured.
    pub(super) measures: measure::Measures,
    /// The views to go back to.
    pub(super) views: views::Views,
    /// Bookmarks, and the note that is being written.
    pub(super) flags: bookmarks::Flags,
    /// The field for a step to go to, while it is open.
    pub(super) goto: Option<goto::Goto>,
    /// Where lanes are on the screen, in points, part by part of their pictures.
    pub(super) places: Vec<(LaneId, [Rect; 3])>,
    /// The lane whose picture is being taken.
    pub(super) pictured: Option<LaneId>,
    /// Where its legend stands.
    pub(super) picture_legend: Option<Rect>,
}

/// What tells the same graphs in another answer: name, runs, ops.
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
    /// Takes the size of a new answer: a view of everything stays one, another view stays where it is. Where the same
    /// graphs have more steps or fewer, because another number of ops is computed anew, it stays the same part of them.
    pub(super) fn adopt(&mut self, timeline: &Timeline, comparison: &Comparison) -> Viewport {
        let whole = timeline.fit();
        let is_same = self.shown.as_ref().is_some_and(|shown| shown.is_of(comparison));
        self.arrangement.adopt(comparison);
        self.warp = timeline.axes.get(self.axis).cloned();
        let clamped = |view: Viewport| View::new(view, self.warp.as_deref()).clamp(whole);
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

    /// Lifetimes, in the next order where they are seen already.
    pub fn next_rows(&mut self) {
        if self.content == LaneContent::Lifetimes {
            let at = RowOrder::ALL.iter().position(|by| *by == self.rows_by).unwrap_or(0);
            self.rows_by = RowOrder::ALL[(at + 1) % RowOrder::ALL.len()];
        }
        self.content = LaneContent::Lifetimes;
    }

    /// The lane whose lifetimes are shown.
    pub fn lane_of_rows(&self, input: &LanesInput<'_>) -> usize {
        let last = input.comparison.lanes.len().saturating_sub(1);
        let first = usize::from(input.comparison.lane_kind() == LaneKind::Passes);
        self.rows_lane.unwrap_or(first).min(last)
    }

    /// Lets go of pictures of rows: nobody looks at them.
    pub(super) fn forget_rows(&mut self) {
        (self.rows_asked, self.row_texture) = (None, row_paint::RowTexture::default());
    }

    /// What has to be worked out for what is shown.
    pub fn content_order(&self, input: &LanesInput<'_>) -> ContentOrder {
        match self.content {
            LaneContent::MemoryMap => ContentOrder::Maps,
            LaneContent::Areas => ContentOrder::Areas,
            LaneContent::Lifetimes => ContentOrder::Lifetimes {
                lane: self.lane_of_rows(input),
                by: self.rows_by,
            },
        }
    }

    /// Whether all there is to see is in view.
    pub fn shows_everything(&self) -> bool {
        self.viewport == self.whole
    }

    /// Whether the view is one of this answer already.
    pub fn knows(&self, timeline: &Timeline) -> bool {
        self.whole == Some(timeline.fit())
    }

    /// Shows everything.
    pub fn fit(&mut self) {
        self.viewport = self.whole;
    }

    /// Shows every step and the addresses at which tensors stand, without weights and what else lies still; everything where
    /// that is most of it.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub fn fit_tensors(&mut self, timeline: &Timeline) {
        const ROOM: f64 = 0.03;
        self.fit();
        if let Some((low, high)) = timeline.tensor_span() {
            let room = (high - low) as f64 * ROOM;
            self.change_view(|view| Viewport {
                a0: low as f64 - room,
                a1: high as f64 + room,
                ..view.viewport()
            });
        }
    }

    /// How much larger than the whole picture the view shows things, as areas.
    pub(super) fn zoom(&self) -> f64 {
        let area = |view: &Viewport| {
            let along = View::new(*view, self.warp.as_deref());
            along.length((view.t0, view.t1)) * view.bytes()
        };
        match (&self.whole, &self.viewport) {
            (Some(whole), Some(view)) if area(view) > 0.0 => area(whole) / area(view),
            _ => 1.0,
        }
    }

    /// Changes the view, within what there is to see.
    pub(super) fn change_view(&mut self, change: impl FnOnce(View<'_>) -> Viewport) {
        if let (Some(view), Some(whole)) = (self.view(), self.whole) {
            self.viewport = Some(view.with(change(view)).clamp(whole));
        }
    }
}
