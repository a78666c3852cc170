//! The summary: the active configuration, the lowest peak, the fit; next to it the peaks as stacked bars.

use eframe::egui::{self, RichText};

use super::overview_bars::bars_ui;
use super::overview_problem::{passes_text, passes_ui, problem_text, problem_ui};
use super::schedule::{can_add_evaluation, changing_values};
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{Comparison, Figure, Lane, LaneKind};
use highwater_model::workload::DeviceFigure;
use highwater_options::Estimate;
use highwater_rewrite::remat::RematStatus;
use highwater_session::{Command, Session};

/// Least widths of sentences and bars; narrower panes have no bars.
const LEAST_TEXT: f32 = 260.0;
const LEAST_BARS: f32 = 180.0;

/// Width of the button that collapses the summary.
const FOLD: f32 = 24.0;
/// In lower panes the summary is a line, unless it was expanded: the lanes need the room.
const LOW: f32 = 430.0;
/// In narrower panes, sentences and toolbars need this additional height.
const NARROW: f32 = 600.0;
const WRAPPED: f32 = 120.0;
/// Additional height of the lane of a difference.
const DIFFERENCE: f32 = 120.0;

/// The button that collapses the summary, and the line of a collapsed one; returns whether it is collapsed.
fn fold_ui(ui: &mut egui::Ui, session: &Session, comparison: &Comparison) -> bool {
    let id = egui::Id::unique("whether the summary is folded");
    let chosen: Option<bool> = ui.data_mut(|data| data.get_persisted(id));
    let low = LOW + session.difference().map_or(0.0, |_| DIFFERENCE);
    let wrapped = if ui.available_width() < NARROW { WRAPPED } else { 0.0 };
    let low = low + wrapped;
    let is_folded = chosen.unwrap_or(ui.available_height() < low);
    let Some((text, exact)) = headline(comparison) else {
        return false;
    };
    let area = ui.available_rect_before_wrap();
    let (mark, words) = if is_folded {
        ("+", "open the summary")
    } else {
        ("–", "fold the summary to a line, which gives room to the lanes")
    };
    let place = egui::Rect::from_min_size(
        egui::pos2(area.right() - FOLD + 2.0, area.top()),
        egui::vec2(FOLD - 4.0, 18.0),
    );
    let corner = egui::UiBuilder::new().max_rect(place).id_salt("fold summary");
    let button = ui.new_child(corner).add(egui::Button::new(mark).small());
    let label = words.split(" to ").next().unwrap_or(words);
    let button = button.named(egui::Role::Button, || &label);
    if button.on_hover_text(words).clicked() {
        ui.data_mut(|data| data.insert_persisted(id, Some(!is_folded)));
    }
    if is_folded {
        let line = egui::Rect::from_min_max(area.min, egui::pos2(place.left() - 4.0, area.top() + 20.0));
        let text = unread_text(session).map_or(text.clone(), |(unread, _)| format!("{unread}; {text}"));
        let label = egui::Label::new(RichText::new(text).strong()).truncate();
        let line_ui = egui::UiBuilder::new().max_rect(line).id_salt("summary line");
        ui.new_child(line_ui).add(label).on_hover_text(exact);
        ui.advance_cursor_after_rect(line);
    }
    is_folded
}

/// Sentences on the left, bars on the right.
pub fn overview_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, comparison: &Comparison) {
    if fold_ui(ui, cx.session, comparison) {
        return;
    }
    let mut area = ui.available_rect_before_wrap();
    area.set_right(area.right() - FOLD);
    let layout = egui::Layout::left_to_right(egui::Align::Min);
    // What is too wide here must not widen the panes below.
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(area).layout(layout));
    child.shrink_clip_rect(area);
    // One recording has nothing to compare with, and many cannot be told apart.
    let is_told_apart = (2..=super::measured::MOST_BARS).contains(&comparison.lanes.len());
    let has_bars =
        area.width() >= LEAST_TEXT + LEAST_BARS && (is_told_apart || comparison.lane_kind() != LaneKind::Recordings);
    let text = if has_bars {
        (area.width() * 0.56).max(LEAST_TEXT)
    } else {
        area.width()
    };
    let add = |ui: &mut egui::Ui| {
        ui.set_width(text.max(0.0));
        preview_ui(ui, cx.session);
        unread_ui(ui, cx.session, cx.theme);
        match comparison.lane_kind() {
            LaneKind::Strategies => problem_ui(ui, cx.session, comparison),
            LaneKind::Recordings => super::measured::measured_ui(ui, comparison),
            LaneKind::Passes => {
                passes_ui(ui, comparison);
                super::measured::beside_ui(ui, comparison);
            }
            LaneKind::Policies => {
                verdict_ui(ui, cx, comparison);
                super::measured::beside_ui(ui, comparison);
            }
        }
    };
    child.vertical(add);
    if has_bars {
        child.vertical(|ui| bars_ui(ui, comparison, cx.theme));
    }
    let height = child.min_rect().height();
    ui.advance_cursor_after_rect(egui::Rect::from_min_size(area.min, egui::vec2(area.width(), height)));
}

/// Number and reasons of files that could not be read.
fn unread_text(session: &Session) -> Option<(String, String)> {
    let unread: Vec<(usize, &str)> = session.unread().collect();
    let sources = &session.document().sources;
    let first = sources.get(unread.first()?.0)?.title();
    let text = match unread.len() {
        1 => format!("1 file could not be read: {first}"),
        2 => format!("2 files could not be read: {first} and another"),
        count => format!("{count} files could not be read: {first} and {} more", count - 1),
    };
    let why: Vec<&str> = unread.into_iter().map(|(_, why)| why).collect();
    Some((text, why.join("\n")))
}

/// The answer is not about all files.
fn unread_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme) {
    let Some((text, why)) = unread_text(session) else {
        return;
    };
    let text = RichText::new(format!("{text} (Problems and Import report tell why).")).color(theme.bad);
    wrapped_ui(ui, text).on_hover_text(why);
}

/// Whether the search for plans continues or was stopped.
fn preview_ui(ui: &mut egui::Ui, session: &Session) {
    if !session.is_preview() {
        return;
    }
    ui.label(if session.busy().is_some() {
        "Plans found at once are shown; the search for smaller ones goes on."
    } else {
        "The search for smaller plans was stopped; the plans found at once are shown."
    });
}

/// The active policy, and whether it fits.
fn configured_text(comparison: &Comparison, lane: &Lane) -> String {
    let (number, peak) = (lane.policy.number(), lane.summary.peak_reserved);
    let memory = comparison.device.text_with_mark(DeviceFigure::MemoryBytes);
    let device = format!("{} ({memory})", comparison.device.name);
    let given_up = lane.rewrite.iter().flat_map(|rewrite| rewrite.remat.iter().flatten());
    let given_up = given_up
        .map(|run| &run.answer.status)
        .find(|status| **status != RematStatus::Ok);
    if let Some(status) = given_up {
        let end = status.name().replace('_', " ");
        format!(
            "Configured: the run under the budget ends early ({end}), so policy {number}'s peak {peak} is no answer"
        )
    } else if lane.summary.out_of_memory {
        format!("Configured: policy {number} does not fit {device}")
    } else if lane.refusals.is_some() {
        format!("Configured: policy {number}, peak {peak}; not every request fits {device}")
    } else {
        format!("Configured: policy {number}, peak {peak}; fits {device}")
    }
}

/// The summary as a sentence, with exact figures.
fn headline(comparison: &Comparison) -> Option<(String, String)> {
    match comparison.lane_kind() {
        LaneKind::Strategies => return problem_text(comparison),
        LaneKind::Recordings => return super::measured::headline(comparison),
        LaneKind::Passes => return passes_text(comparison),
        LaneKind::Policies => {}
    }
    let lane = comparison.lane(comparison.active_policy)?;
    let exact = lane.summary.peak_reserved.exact();
    let text = configured_text(comparison, lane);
    let best = comparison.lowest_peak.as_ref();
    let best = best.filter(|best| best.policy != comparison.active_policy);
    let best = best.map_or_else(String::new, |best| {
        format!("; best: policy {}, {}", best.policy.number(), best.why)
    });
    Some((text + &best, exact))
}

fn verdict_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, comparison: &Comparison) {
    let configured = comparison.lane(comparison.active_policy);
    if let Some(lane) = configured {
        let peak = lane.summary.peak_reserved;
        let text = configured_text(comparison, lane);
        ui.label(RichText::new(text).strong()).on_hover_text(peak.exact());
        if let Some(text) = lane.out_of_memory_text() {
            ui.label(text);
        }
        if let Some(text) = comparison.refusal_text(lane) {
            ui.label(text);
        }
        if lane.summary.unloads > 0 {
            ui.label(format!(
                "Policy {} unloads graphs that wait: {} unload{}, each loaded again at its next run.",
                lane.policy.number(),
                lane.summary.unloads,
                if lane.summary.unloads == 1 { "" } else { "s" },
            ));
        }
    }
    match &comparison.lowest_peak {
        None => {
            ui.label(if comparison.trace().is_some() {
                "Every policy refuses requests on this device."
            } else if comparison.lanes.iter().any(|lane| !lane.forbidden.is_empty()) {
                "Every policy that no rule forbids runs out of memory on this device."
            } else {
                "Every policy runs out of memory on this device."
            });
            if let Some(text) = least_device(comparison) {
                ui.label(text);
            }
        }
        Some(best) => {
            ui.horizontal_wrapped(|ui| {
                ui.label(format!("Best: policy {}, {}", best.policy.number(), best.why));
                if best.policy != comparison.active_policy {
                    let button = ui
                        .small_button(format!("Use policy {}", best.policy.number()))
                        .on_hover_text("set memory_config.static_memory_policy");
                    if button.clicked() {
                        cx.commands.push(Command::SetOption {
                            key: "memory_config.static_memory_policy".to_owned(),
                            text: best.policy.number().to_string(),
                        });
                    }
                }
            });
        }
    }
    if let Some(alike) = &comparison.equivalence {
        ui.label(alike);
        differ_ui(ui, cx);
    }
    if let Some(configured) = configured {
        pins_ui(ui, comparison, configured);
    }
    notes_ui(ui, comparison);
}

/// Peaks of pins against the active policy; few lines, so that the lanes keep their room.
fn pins_ui(ui: &mut egui::Ui, comparison: &Comparison, configured: &Lane) {
    /// Pins with a line.
    const MOST: usize = 3;
    let pinned = comparison.lanes.iter().enumerate();
    let pinned = pinned.filter(|(_, lane)| lane.pinned.is_some());
    let n_pins = pinned.clone().count() + comparison.pin_failures.len();
    for (position, lane) in pinned.take(MOST) {
        let (now, before) = (lane.summary.peak_reserved, configured.summary.peak_reserved);
        let (now_figure, then) = (Figure::Bytes(now.get()), Figure::Bytes(before.get()));
        let title = capital(&comparison.lane_title(lane.id));
        let fit = comparison.fit(position);
        let text = if fit.is_good() {
            let (bytes, percent) = (now_figure.difference_text(then), now_figure.percent_text(then));
            format!("{title}: peak {now}, {bytes} ({percent}); fits.")
        } else {
            format!("{title}: peak {now}; fits: {}.", fit.text())
        };
        ui.add(egui::Label::new(text).truncate()).on_hover_text(now.exact());
    }
    for problem in comparison.pin_failures.iter().take(1) {
        let text = format!("Pinned {} has no lane: {}.", problem.name, problem.why);
        ui.add(egui::Label::new(&text).truncate()).on_hover_text(text);
    }
    let n_lanes = n_pins - comparison.pin_failures.len();
    let n_told = n_lanes.min(MOST) + comparison.pin_failures.len().min(1);
    if n_pins > n_told {
        let text = format!(
            "And {} more pins: the pane Compare (Shift+V) lists all.",
            n_pins - n_told
        );
        ui.weak(text);
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// What the figures include, and which are estimates.
pub(super) fn notes_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    if let Some(note) = comparison.scratch.note() {
        ui.weak(note);
    }
    let (estimated, set) = comparison.device.marks();
    if !estimated.is_empty() || !set.is_empty() {
        let mut text = format!(
            "Times rest on estimates: {} of {} device figures",
            estimated.len(),
            DeviceFigure::ALL.len()
        );
        if !set.is_empty() {
            text.push_str(&format!(", {} set by you", set.len()));
        }
        ui.weak(text + ".").on_hover_text(comparison.device.marks_sentence());
    }
    if !comparison.estimates.is_empty() {
        let text = |estimate: &Estimate| format!("{} {}", estimate.key, estimate.effect);
        let texts: Vec<String> = comparison.estimates.iter().map(text).collect();
        let names: Vec<&str> = comparison.estimates.iter().map(|estimate| estimate.key).collect();
        ui.weak(format!("Estimated effect: {}.", names.join(", ")))
            .on_hover_text(texts.join("\n"));
    }
}

/// The policy with the smallest sufficient device, where none fits this one.
fn least_device(comparison: &Comparison) -> Option<String> {
    let stories = comparison.own_lanes().filter_map(|lane| {
        let enough = lane.out_of_memory_report.as_ref()?.sufficient_device?;
        Some((enough, lane.policy.number()))
    });
    let (enough, policy) = stories.min()?;
    Some(format!(
        "Policy {policy} needs least: a device of {enough} was tried and is enough."
    ))
}

/// Buttons for a schedule in which policies differ.
fn differ_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    ui.horizontal_wrapped(|ui| {
        if can_add_evaluation(cx.session) {
            let button = ui
                .button("Add the evaluation graph")
                .on_hover_text("run the forward phase, with the loss as output, after each training step");
            if button.clicked() {
                cx.commands.push(Command::SetEvaluation(true));
            }
        }
        let symbols = cx
            .session
            .loaded()
            .map(|loaded| loaded.workload.symbols())
            .unwrap_or_default();
        for symbol in symbols {
            let values = changing_values(&cx.session.document().plan, &symbol);
            let button = ui
                .button(format!("Run with several values of {symbol}"))
                .on_hover_text(format!("one run each for {values:?}"));
            if button.clicked() {
                cx.commands.push(Command::SetDim { name: symbol, values });
            }
        }
    });
}
