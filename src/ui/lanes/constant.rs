//! Constant regions below a memory map: bands outside its scale, so that the scale belongs to what changes.

use eframe::egui::{Label, Pos2, Rect, RichText, Stroke, StrokeKind, Ui, pos2, vec2};

use super::canvas::{SMALL, text_in};
use super::frame::LaneFrame;
use super::lane_scale::LaneScale;
use super::tooltip::{exact, rows_ui};
use super::{LanesInput, LanesState};
use crate::numbers::{at_least_one, count_f32, to_points};
use highwater_model::units::Bytes;
use highwater_timeline::{ConstantRegions, LaneView};

/// Height of a band, in points.
pub(super) const ROW: f32 = 13.0;
/// The part of a map's height that bands may take.
const MOST: f64 = 0.3;

/// The number of bands of a lane below a map with this height: one per kind, or one for all where there is little room.
pub(super) fn n_rows(lane: &LaneView, height: f32, scale: LaneScale) -> usize {
    let is_outside = scale.floor > 0.0;
    let n_kinds = lane.constant.len();
    // A low map has one band as long as something of the map is left.
    let least = if height >= 2.0 * ROW { 1.0 } else { 0.0 };
    let most = to_points(f64::from(height) * MOST / f64::from(ROW)).floor().max(least);
    match (is_outside, most >= 1.0) {
        (false, _) | (_, false) => 0,
        (true, true) if n_kinds <= at_least_one(most) as usize => n_kinds,
        (true, true) => 1,
    }
}

/// The bands from top to bottom, with their places: the highest addresses lie at the top, as in the map.
fn bands<'a>(frame: &LaneFrame, lane: &'a LaneView) -> Vec<(Rect, &'a [ConstantRegions])> {
    let rect = frame.constant;
    let n_rows = (rect.height() / ROW).round();
    if n_rows < 1.0 || lane.constant.is_empty() {
        return Vec::new();
    }
    if n_rows < 2.0 {
        return vec![(rect, &lane.constant)];
    }
    let place = |row: usize| {
        let top = rect.top() + ROW * count_f32(row);
        Rect::from_min_max(
            pos2(rect.left(), top),
            pos2(rect.right(), (top + ROW).min(rect.bottom())),
        )
    };
    let kinds = lane.constant.chunks(1).rev().enumerate();
    kinds.map(|(row, kind)| (place(row), kind)).collect()
}

pub(super) fn paint(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let lane = &input.timeline.lanes[frame.lane];
    let theme = input.theme;
    let painter = ui.painter_at(frame.constant.expand(1.0));
    for (rect, kinds) in bands(frame, lane) {
        let color = theme.owner(lane.regions[kinds[0].regions[0]].owner);
        painter.rect_filled(rect, 0, color);
        painter.rect_stroke(rect, 0, Stroke::new(1.0, theme.region_outline), StrokeKind::Inside);
        text_in(
            &painter,
            rect.shrink2(vec2(4.0, 0.0)),
            &label(kinds),
            (SMALL, theme.text),
        );
        let id = input.comparison.lanes[frame.lane].id;
        let highlight = state.highlight.filter(|(of, _)| *of == id);
        let is_highlighted = highlight.is_some_and(|(_, what)| {
            let mut regions = kinds.iter().flat_map(|kind| &kind.regions);
            regions.any(|idx| what.covers(&lane.regions[*idx]))
        });
        if is_highlighted {
            painter.rect_filled(rect, 0, theme.highlight());
        }
        if is_highlighted || holds_selection(lane, kinds, input) {
            painter.rect_stroke(rect, 0, Stroke::new(1.5, theme.selection), StrokeKind::Inside);
        }
    }
}

/// `weights of train 418.0 MiB (constant, not to scale)`.
fn label(kinds: &[ConstantRegions]) -> String {
    let texts: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{} {}", kind.label, kind.bytes()))
        .collect();
    format!("{} (constant, not to scale)", texts.join(", "))
}

fn holds_selection(lane: &LaneView, kinds: &[ConstantRegions], input: &LanesInput<'_>) -> bool {
    let Some(tensor) = input.selected else { return false };
    let mut blocks = lane.blocks_of(tensor);
    blocks.any(|block| {
        let base = lane.blocks.base.at(block as usize);
        kinds.iter().any(|kind| (kind.start..kind.end).contains(&base))
    })
}

/// The regions of the band under the pointer.
pub(super) fn at<'a>(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'a>) -> Option<&'a [ConstantRegions]> {
    let bands = bands(frame, &input.timeline.lanes[frame.lane]);
    let (_, kinds) = bands.into_iter().find(|(rect, _)| rect.contains(pos))?;
    Some(kinds)
}

pub(super) fn tooltip_ui(ui: &mut Ui, kinds: &[ConstantRegions]) {
    let total = kinds.iter().map(|kind| kind.bytes().get()).sum();
    let labels: Vec<&str> = kinds.iter().map(|kind| kind.label.as_str()).collect();
    ui.add(Label::new(RichText::new(labels.join(", ")).strong()).truncate());
    rows_ui(ui, &[("bytes", exact(Bytes(total)))]);
    ui.weak("Constant while graphs run, not to scale");
}
