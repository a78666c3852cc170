//! The legend of a plot of points: series, of which a click hides one, lines and signs.

use eframe::egui::{self, RichText};

use super::PointsState;
use super::frame::Frame;
use super::points::{Mark, Points, Series, hover_text};
use crate::panels::marker::marker_ui;
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_model::units::grouped;

const TEXT: f32 = 11.0;

/// `frame` is that of the plot, where there is one.
pub(super) fn legend_ui(
    ui: &mut egui::Ui,
    points: &dyn Points,
    state: &mut PointsState,
    frame: Option<&Frame>,
    theme: &Theme,
) {
    let weak = |text: &str| RichText::new(text).size(TEXT).color(theme.text_weak);
    ui.spacing_mut().item_spacing.y = 1.0;
    let strips = points.strips();
    if let Some([_, below]) = strips {
        ui.label(weak(&format!("{below} from"))).on_hover_text(
            "The smallest figure from which on every tried point of a series completed within its limits",
        );
    }
    for series in points.series() {
        if strips.is_none() {
            series_ui(ui, &series, state, theme);
            continue;
        }
        ui.horizontal(|ui| {
            series_ui(ui, &series, state, theme);
            let more = series.limit_at.map(|at| hover_text(points, at));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(weak(&series.limit)).on_hover_text(more.unwrap_or_default());
            });
        });
    }
    if !state.hidden.is_empty() && ui.small_button("Show all").clicked() {
        state.hidden.clear();
    }
    if points.front().is_some() {
        ui.label(weak("outline: several in one place"))
            .on_hover_text("Several points have the same place: their marks are nested");
        ui.label(weak("line: Pareto front")).on_hover_text(
            "Pareto-optimal: none needs less memory without more time, or less time without more memory",
        );
    }
    let limit = points.limit().zip(frame);
    if let Some(((limit, name), _)) = limit.filter(|((limit, _), frame)| limit.number() < frame.axes[0].2.to) {
        ui.label(weak(&format!("{name} {limit}"))).on_hover_text(limit.exact());
    }
    let endings = state.endings(points);
    for (mark, sign) in [(Mark::Over, "hollow"), (Mark::Stopped, "small"), (Mark::Failed, "×")] {
        let (n_ended, words) = endings.of_mark(mark);
        if n_ended > 0 {
            let text = format!("{sign}: {} {}", grouped(n_ended), words.join(" or "));
            ui.label(weak(&text))
                .on_hover_text("Figures of points that did not complete end early; the table lists these points");
        }
    }
    if (0..points.len()).any(|at| points.is_lane(at)) {
        ui.label(weak("ring: open as a lane"));
    }
}

/// A click hides or shows the series.
fn series_ui(ui: &mut egui::Ui, series: &Series, state: &mut PointsState, theme: &Theme) {
    let (label, is_shown) = (&series.label, !state.hidden.contains(&series.position));
    let color = if is_shown {
        theme.heuristic(series.position)
    } else {
        theme.text_weak
    };
    marker_ui(ui, series.position, 10.0, color, is_shown);
    let text = RichText::new(label).size(TEXT).color(theme.text_weak);
    let text = if is_shown {
        text.color(theme.text)
    } else {
        text.strikethrough()
    };
    let button = ui.add(egui::Button::new(text).frame_when_inactive(false).small());
    let verb = if is_shown { "hide" } else { "show" };
    let button = button.named_choice(egui::Role::CheckBox, is_shown, || format!("{verb} {label}"));
    let hint = format!("{}\nclick: {verb} it", series.meaning);
    if button.on_hover_text(hint).clicked() {
        if is_shown {
            state.hidden.push(series.position);
        } else {
            state.hidden.retain(|hidden| *hidden != series.position);
        }
    }
}
