//! The table of lanes: figures, and differences from the baseline.

use eframe::egui::{self, Align, Key, Layout, Modifiers, Rangef, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use super::{CompareState, Shown, menu};
use crate::numbers::count_f32;
use crate::panels::lane_table::about_metric;
use crate::panels::sorted_table::{Head, Sorting, sorted_table_ui};
use crate::widgets::{Named as _, keep_arrows, walked_row};
use highwater_analysis::{COMPARED, Figure, Fit, LaneMark, Metric};
use highwater_session::Command;

/// Heights, widths and sizes in points.
const ROW: f32 = 34.0;
const HEADER: f32 = 20.0;
const NAME: f32 = 160.0;
const LEAST_NAME: f32 = 120.0;
const FIGURE: f32 = 100.0;
const LEAST_FIGURE: f32 = 86.0;
const FITS: f32 = 84.0;
const SIZE: f32 = 12.0;
const SMALL: f32 = 10.5;
/// Width that the clip of the first column takes.
const EDGE: f32 = 6.0;

/// Returns the place of the chosen lane's row.
pub(super) fn table_ui(
    ui: &mut Ui,
    shown: Shown<'_>,
    state: &mut CompareState,
    commands: &mut Vec<Command>,
) -> Option<Rangef> {
    let n_lanes = shown.comparison.lanes.len();
    let is_known = |metric: &&Metric| (0..n_lanes).any(|lane| shown.comparison.figure(lane, metric).is_some());
    let metrics = COMPARED.iter().filter_map(|name| Metric::find(name));
    let metrics: Vec<&Metric> = metrics.filter(is_known).collect();
    let has_fits = (0..n_lanes).any(|lane| shown.comparison.fit(lane) != Fit::Unknown);
    let fits = if has_fits { FITS } else { 0.0 };
    let id = ui.scope_id().with("lanes side by side");
    let height = HEADER + (ROW + ui.spacing().item_spacing.y) * count_f32(n_lanes);
    let area = egui::Rect::from_min_size(ui.next_widget_position(), egui::vec2(ui.available_width(), height));
    let response = ui.interact(area, id, Sense::focusable_noninteractive());
    let chosen = state.lane_in(shown.comparison, shown.baseline);
    let response = response.named(egui::Role::Table, || words(shown, chosen));
    if std::mem::take(&mut state.wants_focus) {
        // The header stays in view; keys scroll to rows.
        response.request_focus();
    }
    let is_focused = response.has_focus();
    if is_focused {
        keys(ui, id, shown, state, chosen, commands);
    }
    ui.style_mut().interaction.selectable_labels = false;
    ui.spacing_mut().item_spacing.x = 4.0;
    let heads = heads(ui.available_width() - fits, has_fits, &metrics);
    let row_height = ROW + ui.spacing().item_spacing.y;
    let builder = TableBuilder::new(ui)
        .id_salt("lanes side by side")
        .striped(true)
        .vscroll(false);
    sorted_table_ui(builder, &heads, &mut Sorting::default(), (ROW, n_lanes), |row, _| {
        let lane = row.index();
        row.set_selected(chosen == Some(lane));
        row.col(|ui| {
            ui.add_space(EDGE);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                let name = |ui: &mut Ui| menu::name_ui(ui, shown, lane, chosen == Some(lane), state, commands);
                if ui.horizontal(name).inner {
                    state.lane = Some(shown.comparison.lanes[lane].id);
                }
                marks_ui(ui, shown, lane);
            });
        });
        if has_fits {
            row.col(|ui| fits_ui(ui, shown, lane));
        }
        for metric in &metrics {
            row.col(|ui| figure_ui(ui, shown, lane, metric));
        }
    });
    if is_focused {
        let stroke = ui.visuals().selection.stroke;
        ui.painter().rect_stroke(area, 2, stroke, egui::StrokeKind::Inside);
    }
    chosen.map(|lane| {
        let top = area.bottom() - row_height * count_f32(n_lanes - lane);
        Rangef::new(top, top + ROW)
    })
}

/// Name, whether the lane fits, and a head per metric.
fn heads(room: f32, has_fits: bool, metrics: &[&Metric]) -> Vec<Head<'static>> {
    let (name, figure) = widths(room, metrics.len());
    let head = |title, about: &str, width: Column| Head {
        about: about.to_owned(),
        is_right_aligned: !matches!(title, "lane" | "fits"),
        margin: if title == "lane" { EDGE } else { 0.0 },
        ..Head::new(title, width.clip(true))
    };
    let name = Column::initial(name).at_least(LEAST_NAME).resizable(true);
    let fits = has_fits.then(|| head("fits", about_metric("fits"), Column::exact(FITS)));
    let figures = metrics.iter().map(|metric| {
        let title = if metric.is_estimate() {
            "est. overhead"
        } else {
            metric.label
        };
        head(title, about_metric(metric.name), Column::exact(figure))
    });
    std::iter::once(head("lane", "", name))
        .chain(fits)
        .chain(figures)
        .collect()
}

/// Widths of the name and of a figure within `room`: in narrow panes the name is cut first.
fn widths(room: f32, n_figures: usize) -> (f32, f32) {
    let n_figures = count_f32(n_figures.max(1));
    let name = |figure: f32| room - (figure + 4.0) * n_figures - 12.0;
    let figure = ((room - LEAST_NAME - 12.0) / n_figures - 4.0).clamp(LEAST_FIGURE, FIGURE);
    (name(figure).clamp(LEAST_NAME, 2.0 * NAME), figure)
}

/// The marks of a lane in small letters, whole on hover.
fn marks_ui(ui: &mut Ui, shown: Shown<'_>, lane: usize) {
    let marks = shown.comparison.lane_marks(lane, shown.session.document().goal);
    let labels = marks.iter().map(LaneMark::label).filter(|label| !label.is_empty());
    let text = labels.collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        return;
    }
    let color = if marks.iter().any(LaneMark::is_against) {
        shown.theme.bad
    } else {
        shown.theme.text_weak
    };
    let title = shown.title(lane);
    let sentences = marks.iter().filter_map(|mark| mark.sentence(&title));
    let hint: Vec<String> = std::iter::once(text.clone()).chain(sentences).collect();
    ui.add(egui::Label::new(RichText::new(text).size(SMALL).color(color)).truncate())
        .on_hover_text(hint.join("\n"));
}

/// A figure with the difference below.
fn figure_ui(ui: &mut Ui, shown: Shown<'_>, lane: usize, metric: &Metric) {
    let comparison = shown.comparison;
    ui.with_layout(Layout::top_down(Align::Max), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let small = |text: &str| RichText::new(text).size(SMALL);
        let Some(now) = comparison.figure(lane, metric) else {
            ui.weak(small("not recorded"));
            return;
        };
        let bound = comparison.figure_sign(lane, metric);
        ui.label(RichText::new(format!("{bound}{now}")).size(SIZE))
            .on_hover_text(now.exact());
        if lane == shown.baseline {
            ui.weak(small("baseline"));
            return;
        }
        let Some((difference, effect)) = comparison.difference(lane, shown.baseline, metric) else {
            let ends_early = [lane, shown.baseline].map(|lane| comparison.lanes[lane].ends_early());
            if ends_early.contains(&true) {
                ui.weak(small("ends early"));
            }
            return;
        };
        let hint = format!("{} vs. {}", difference.exact(), shown.title(shown.baseline));
        // Cut at the bytes, which the tooltip has in full, before the percentage.
        let text = difference.text();
        let is_wide = super::super::width_of(ui, &text, SMALL) > ui.available_width();
        let text = match now {
            Figure::Share(_) => text,
            _ if is_wide => difference.percent(),
            _ => text,
        };
        ui.label(small(&text).color(shown.theme.effect(effect)))
            .on_hover_text(hint);
    });
}

/// Whether the lane fits, and by how much.
fn fits_ui(ui: &mut Ui, shown: Shown<'_>, lane: usize) {
    let fit = shown.comparison.fit(lane);
    let color = if fit.is_good() {
        shown.theme.good
    } else {
        shown.theme.bad
    };
    let device = &shown.comparison.device_of(lane).name;
    let capacity = shown.comparison.capacity_of(lane);
    let capacity = capacity.map_or_else(|| device.clone(), |capacity| capacity.text(device));
    let hint = format!("{capacity}\n{}", fit.text());
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let word = ui.label(RichText::new(fit.word()).size(SIZE).color(color));
        word.on_hover_text(&hint);
        ui.add(egui::Label::new(RichText::new(fit.why_short()).size(SMALL).color(shown.theme.text_weak)).truncate())
            .on_hover_text(&hint);
    });
}

/// The table's name for assistive technology.
fn words(shown: Shown<'_>, chosen: Option<usize>) -> String {
    let row = chosen.map_or_else(String::new, |lane| {
        let metrics = COMPARED.iter().filter_map(|name| Metric::find(name));
        let figures: Vec<String> = metrics
            .filter_map(|metric| Some(format!("{} {}", metric.label, shown.comparison.figure(lane, metric)?)))
            .collect();
        format!(", {}: {}", shown.title(lane), figures.join(", "))
    });
    format!("lanes side by side, baseline {}{row}", shown.title(shown.baseline))
}

/// Keys that choose a lane; Enter makes it the baseline.
fn keys(
    ui: &Ui,
    id: egui::Id,
    shown: Shown<'_>,
    state: &mut CompareState,
    chosen: Option<usize>,
    commands: &mut Vec<Command>,
) {
    keep_arrows(ui, id, true, true);
    for (key, by) in [
        (Key::PageDown, egui::vec2(0.0, 0.85)),
        (Key::PageUp, egui::vec2(0.0, -0.85)),
        (Key::ArrowRight, egui::vec2(0.3, 0.0)),
        (Key::ArrowLeft, egui::vec2(-0.3, 0.0)),
    ] {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            state.scroll += by;
        }
    }
    let lanes = &shown.comparison.lanes;
    let others: Vec<usize> = (0..lanes.len()).filter(|lane| *lane != shown.baseline).collect();
    let at = chosen.and_then(|chosen| others.iter().position(|lane| *lane == chosen));
    if let Some(to) = walked_row(ui, Some(at.unwrap_or(0)), others.len(), 1) {
        state.lane = Some(lanes[others[to]].id);
        state.wants_row = true;
    }
    let is_entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    if let Some(chosen) = chosen.filter(|_| is_entered) {
        commands.push(Command::SetBaseline(Some(lanes[chosen].id)));
        state.lane = Some(lanes[shown.baseline].id);
        state.wants_row = true;
    }
}
