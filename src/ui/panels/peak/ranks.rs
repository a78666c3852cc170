//! The recordings of a job beside each other: the worst rank and why, and the peak of each; a click explains its lane.

use eframe::egui;

use super::bars::{Line, line_ui};
use super::{PeakState, Shown};
use crate::numbers::{part_of, to_points};
use highwater_analysis::{Comparison, LaneId};
use highwater_timeline::{RankPeak, RankSpread, signed_bytes};

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
        state.explain(lane);
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
