//! The recordings of a job beside each other: the worst rank and why, and the peak of each; a click explains its lane.

use eframe::egui;

use super::bars::{Line, line_ui};
use super::{PeakState, Shown};
use crate::numbers::{at_least_one, count_f32, part_of, to_points};
use crate::widgets::Named as _;
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::{Bytes, signed_bytes};
use highwater_timeline::{RankPeak, RankSpread};

/// Recordings listed before the rest is counted.
const LISTED: usize = 100;

pub(super) fn ranks_ui(ui: &mut egui::Ui, shown: Shown<'_>, spread: &RankSpread, state: &mut PeakState) {
    let has_ranks = spread.ranks.iter().any(|rank| rank.rank.is_some());
    let noun = if has_ranks { "Ranks" } else { "Recordings" };
    if let Some(sentence) = spread.sentence() {
        ui.label(format!("{sentence}."));
    }
    egui::CollapsingHeader::new(format!("{noun} ({})", spread.ranks.len()))
        .id_salt("ranks")
        .default_open(false)
        .show_unindented(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            for rank in spread.ranks.iter().take(LISTED) {
                rank_ui(ui, shown, spread, rank, state);
            }
            let left = spread.ranks.len().saturating_sub(LISTED);
            if left > 0 {
                ui.weak(format!("{left} more"));
            }
        });
    egui::CollapsingHeader::new("Curves of live bytes, highest peak first")
        .id_salt("rank curves")
        .default_open(false)
        .show_unindented(ui, |ui| curves_ui(ui, shown, spread, state));
}

/// A cell of a curve.
const CELL: egui::Vec2 = egui::vec2(112.0, 46.0);

/// Room of the name in a cell.
const NAME: f32 = 14.0;

/// A small curve of each rank on one scale, in rows that are drawn as far as they are visible.
fn curves_ui(ui: &mut egui::Ui, shown: Shown<'_>, spread: &RankSpread, state: &mut PeakState) {
    let highest = spread.ranks.first().map_or(Bytes::ZERO, |first| first.live);
    let in_row = at_least_one(ui.available_width() / (CELL.x + 4.0)) as usize;
    let n_rows = spread.ranks.len().div_ceil(in_row);
    let height = (CELL.y * count_f32(n_rows.min(8))).max(CELL.y);
    egui::ScrollArea::vertical()
        .id_salt("rank curves")
        .max_height(height)
        .show_rows(ui, CELL.y, n_rows, |ui, rows| {
            for row in rows {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 4.0;
                    for rank in spread.ranks.iter().skip(row * in_row).take(in_row) {
                        curve_ui(ui, shown, rank, highest, state);
                    }
                });
            }
        });
}

fn curve_ui(ui: &mut egui::Ui, shown: Shown<'_>, rank: &RankPeak, highest: Bytes, state: &mut PeakState) {
    let (cell, response) = ui.allocate_exact_size(CELL - egui::vec2(0.0, 2.0), egui::Sense::click());
    let lane = lane_of(shown.comparison, rank);
    let words = format!("{}: live peak {}", rank.name, rank.live.exact());
    let response = response.named(egui::Role::Button, || words.clone());
    let painter = ui.painter().with_clip_rect(cell);
    let (theme, visuals) = (shown.theme, ui.visuals());
    painter.rect_filled(cell, 2.0, visuals.faint_bg_color);
    let drawn = egui::Rect::from_min_max(cell.min + egui::vec2(0.0, NAME), cell.max);
    let width = drawn.width() / count_f32(rank.outline.len().max(1));
    for (part, bytes) in rank.outline.iter().enumerate() {
        let left = drawn.left() + width * count_f32(part);
        let top = drawn.bottom() - drawn.height() * to_points(part_of(bytes.get(), highest.get()));
        let bar = egui::Rect::from_min_max(egui::pos2(left, top), egui::pos2(left + width, drawn.bottom()));
        painter.rect_filled(bar, 0.0, theme.live);
    }
    let text = format!("{}  {}", rank.label(), rank.live);
    let font = egui::FontId::proportional(10.5);
    painter.text(
        cell.min + egui::vec2(3.0, 1.0),
        egui::Align2::LEFT_TOP,
        text,
        font,
        visuals.text_color(),
    );
    let hint = if lane.is_some() {
        "click to explain its peak"
    } else {
        "not among the lanes shown"
    };
    if response.on_hover_text(format!("{words}; {hint}")).clicked()
        && let Some(lane) = lane
    {
        state.lane = Some(lane);
    }
}

fn rank_ui(ui: &mut egui::Ui, shown: Shown<'_>, spread: &RankSpread, rank: &RankPeak, state: &mut PeakState) {
    let lane = lane_of(shown.comparison, rank);
    let explained = shown.comparison.lanes.get(shown.report.ask.lane).map(|lane| lane.id);
    let highest = spread.ranks.first().map_or(rank.live, |first| first.live);
    let over = i128::from(rank.live.get()) - i128::from(spread.median.get());
    let difference = match over {
        0 => "median".to_owned(),
        over => signed_bytes(over),
    };
    let figures = format!("{}   {difference}", rank.live);
    let hint = match lane {
        Some(_) => "click to explain its peak",
        None => "not among the lanes shown; open it alone",
    };
    let words = format!("{}: live peak {}, {difference}; {hint}", rank.name, rank.live.exact());
    let row = Line {
        name: &rank.name,
        figures: &figures,
        part: to_points(part_of(rank.live.get(), highest.get())),
        is_selected: lane.is_some() && lane == explained,
        indent: 4.0,
    };
    let is_clicked = line_ui(ui, shown, row, &words).clicked();
    if let Some(lane) = lane.filter(|_| is_clicked) {
        state.lane = Some(lane);
    }
}

/// The lane of a recording, where it has one.
fn lane_of(comparison: &Comparison, rank: &RankPeak) -> Option<LaneId> {
    let lanes = comparison.lanes.iter();
    let mut ids = lanes.map(|lane| lane.id);
    ids.find(|id| {
        comparison
            .recording(*id)
            .is_some_and(|recording| recording.name == rank.name)
    })
}
