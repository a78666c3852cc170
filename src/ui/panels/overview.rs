//! The answer in a few lines: what is configured, what is best and by how much, does it fit;
//! beside it the peaks as stacked bars.

use eframe::egui::{self, RichText};

use super::overview_bars::bars_ui;
use super::schedule::{can_add_evaluation, changing_values};
use crate::analysis::{Comparison, Figure, Lane};
use crate::options::Estimate;
use crate::plan::Fit;
use crate::rewrite::remat::RematStatus;
use crate::session::{Command, Session};
use crate::ui::theme::Theme;
use crate::units::{Bytes, percent_text};
use crate::workload::DeviceFigure;

/// The narrowest sentences and bars; without that room there are no bars.
const LEAST_TEXT: f32 = 260.0;
const LEAST_BARS: f32 = 180.0;

/// Room for what folds the summary.
const FOLD: f32 = 24.0;
/// In lower panes the summary is a line, unless it was opened: the lanes need the room.
const LOW: f32 = 430.0;
/// What the lane of a difference takes of that room.
const DIFFERENCE: f32 = 120.0;

/// The mark that folds the summary, and the line that is left of it; says whether it is folded.
fn fold_ui(ui: &mut egui::Ui, comparison: &Comparison, has_difference: bool) -> bool {
    let id = egui::Id::unique("whether the summary is folded");
    let chosen: Option<bool> = ui.data_mut(|data| data.get_persisted(id));
    let low = LOW + if has_difference { DIFFERENCE } else { 0.0 };
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
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, label));
    if button.on_hover_text(words).clicked() {
        ui.data_mut(|data| data.insert_persisted(id, Some(!is_folded)));
    }
    if is_folded {
        let line = egui::Rect::from_min_max(area.min, egui::pos2(place.left() - 4.0, area.top() + 20.0));
        let label = egui::Label::new(RichText::new(text).strong()).truncate();
        let line_ui = egui::UiBuilder::new().max_rect(line).id_salt("summary line");
        ui.new_child(line_ui).add(label).on_hover_text(exact);
        ui.advance_cursor_after_rect(line);
    }
    is_folded
}

/// Draws the sentences on the left and the bars on the right.
pub fn overview_ui(
    ui: &mut egui::Ui,
    session: &Session,
    comparison: &Comparison,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    if fold_ui(ui, comparison, session.difference().is_some()) {
        return;
    }
    let mut area = ui.available_rect_before_wrap();
    area.set_right(area.right() - FOLD);
    let layout = egui::Layout::left_to_right(egui::Align::Min);
    // What is too wide here must not make the panes below it wider than they are.
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(area).layout(layout));
    child.shrink_clip_rect(area);
    // One recording has nothing beside it, and many cannot be told apart.
    let is_told_apart = (2..=super::measured::MOST_BARS).contains(&comparison.lanes.len());
    let has_bars = area.width() >= LEAST_TEXT + LEAST_BARS && (is_told_apart || !comparison.is_measured());
    let text = if has_bars {
        (area.width() * 0.56).max(LEAST_TEXT)
    } else {
        area.width()
    };
    let add = |ui: &mut egui::Ui| {
        ui.set_width(text);
        preview_ui(ui, session);
        if comparison.is_problem() {
            problem_ui(ui, session, comparison);
        } else if comparison.is_measured() {
            super::measured::measured_ui(ui, comparison);
        } else if comparison.compares_passes() {
            passes_ui(ui, comparison);
            super::measured::beside_ui(ui, comparison);
        } else {
            verdict_ui(ui, session, comparison, commands);
            super::measured::beside_ui(ui, comparison);
        }
    };
    child.vertical(add);
    if has_bars {
        child.vertical(|ui| bars_ui(ui, comparison, theme));
    }
    let height = child.min_rect().height();
    ui.advance_cursor_after_rect(egui::Rect::from_min_size(area.min, egui::vec2(area.width(), height)));
}

/// Whether the searches for plans go on, or were stopped.
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

fn problem_text(comparison: &Comparison) -> Option<(String, String)> {
    let lane = &comparison.lanes[comparison.main_lane()?];
    let footprint = lane.plans.first()?.1.plan.footprint;
    let text = format!(
        "Smallest footprint of these lanes: {footprint} by {}",
        lane.strategy.label
    );
    Some((text, footprint.exact()))
}

/// Which strategy is smallest, and how far from what can be proved.
fn problem_ui(ui: &mut egui::Ui, session: &Session, comparison: &Comparison) {
    let Some(lane) = comparison.main_lane().map(|position| &comparison.lanes[position]) else {
        ui.label("No strategy gave a plan.");
        return;
    };
    let Some((_, planned)) = lane.plans.first() else { return };
    let footprint = planned.plan.footprint;
    if let Some((text, exact)) = problem_text(comparison) {
        ui.label(RichText::new(text).strong()).on_hover_text(exact);
    }
    let plans = comparison.lanes.iter().flat_map(|lane| &lane.plans);
    let table = session
        .planner_table()
        .filter(|_| session.has_planner_table(crate::workload::GraphIdx(0)));
    let proved = table.map(crate::session::PlannerTable::proved_bound);
    let best = session.best_plan();
    let bound = plans
        .map(|(_, planned)| planned.proved_bound)
        .chain(proved)
        .chain(best.map(|best| best.proved_bound))
        .max()
        .unwrap_or_default();
    let smaller = table
        .and_then(crate::session::PlannerTable::smallest)
        .filter(|smallest| *smallest < footprint);
    let over = percent_text(footprint.percent_over(planned.lower_bound));
    let shown_before = best.filter(|best| best.footprint < smaller.unwrap_or(footprint));
    let known = shown_before.map(|best| best.footprint).or(smaller);
    let least = known
        .filter(|known| *known <= bound)
        .map_or("", |_| ", the smallest there is");
    let sure = match (shown_before, smaller) {
        _ if footprint <= bound => "proven optimal: no plan is smaller".to_owned(),
        (Some(best), _) => {
            let (label, footprint) = (best.strategy.label, best.footprint);
            format!("{over} over the bound; {label} gave one of {footprint}{least}")
        }
        (None, Some(smaller)) => format!("{over} over the bound; the Planner has one of {smaller}{least}"),
        (None, None) => format!("{over} over the bound; smaller plans may exist"),
    };
    ui.label(format!(
        "{} buffers, bound {bound}: {sure}.",
        planned.plan.offsets.len()
    ))
    .on_hover_text(format!(
        "{}; the largest sum of buffers that live at once is {}",
        bound.exact(),
        planned.lower_bound.exact()
    ));
    if let Some(capacity) = comparison.workload.problems().first().and_then(|entry| entry.capacity) {
        let text = match planned.fit(capacity) {
            Fit::Fits => format!("Fits the {capacity} that the file states."),
            Fit::Impossible => format!("Does not fit the file's capacity {capacity}: proved."),
            Fit::NotFound => format!("No plan was found that fits the file's capacity {capacity}; there may be one."),
        };
        ui.label(text);
    }
    ui.weak("The Planner tab compares all strategies.");
}

fn passes_text(comparison: &Comparison) -> Option<(String, String)> {
    let first = comparison.lanes.first()?;
    let title = comparison.lane_title(first.id);
    let peak = first.summary.peak_reserved;
    let text = format!("{title}: peak {peak} under policy {}", first.policy.number());
    Some((text, peak.exact()))
}

/// What each pass needs, and which needs least.
fn passes_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    let Some((text, exact)) = passes_text(comparison) else {
        return;
    };
    ui.label(RichText::new(text).strong()).on_hover_text(exact);
    let peak = comparison.lanes[0].summary.peak_reserved;
    let is_whole = |lane: &&crate::analysis::Lane| {
        let runs = lane.rewrite.iter().flat_map(|rewrite| rewrite.remat.iter().flatten());
        !lane.summary.out_of_memory && runs.into_iter().all(|run| run.answer.status == RematStatus::Ok)
    };
    let others = comparison.simulated_lanes().skip(1);
    match others
        .clone()
        .filter(is_whole)
        .min_by_key(|lane| lane.summary.peak_reserved)
    {
        Some(least) => {
            let (title, bytes) = (comparison.lane_title(least.id), least.summary.peak_reserved);
            let text = match peak.get().checked_sub(bytes.get()) {
                Some(saved) if saved > 0 => format!("Least: {title}, peak {bytes}, {} less.", Bytes(saved)),
                _ => format!("No lane needs less; {title} peaks at {bytes}."),
            };
            ui.label(text).on_hover_text(bytes.exact());
        }
        None if comparison.lanes.len() > 1 => {
            ui.label("No other lane runs to its end.");
        }
        None => {}
    }
    let n_failed = others.filter(|lane| !is_whole(lane)).count();
    if n_failed > 0 {
        ui.label(format!(
            "{n_failed} of {} lanes stop early; each says why.",
            comparison.lanes.len()
        ));
    }
    notes_ui(ui, comparison);
}

/// The configured policy, and whether it fits.
fn configured_text(comparison: &Comparison, lane: &Lane) -> String {
    let (number, peak) = (lane.policy.number(), lane.summary.peak_reserved);
    let memory = comparison.device.marked(DeviceFigure::MemoryBytes);
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

/// The summary in a line: its sentence, and exact figures.
fn headline(comparison: &Comparison) -> Option<(String, String)> {
    if comparison.is_problem() {
        return problem_text(comparison);
    }
    if comparison.is_measured() {
        return super::measured::headline(comparison);
    }
    if comparison.compares_passes() {
        return passes_text(comparison);
    }
    let lane = comparison.lane(comparison.configured)?;
    let exact = lane.summary.peak_reserved.exact();
    let text = configured_text(comparison, lane);
    let best = comparison.best.as_ref();
    let best = best.filter(|best| best.policy != comparison.configured);
    let best = best.map_or_else(String::new, |best| {
        format!("; best: policy {}, {}", best.policy.number(), best.why)
    });
    Some((text + &best, exact))
}

fn verdict_ui(ui: &mut egui::Ui, session: &Session, comparison: &Comparison, commands: &mut Vec<Command>) {
    let configured = comparison.lane(comparison.configured);
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
    match &comparison.best {
        None => {
            ui.label(if comparison.trace().is_some() {
                "Every policy refuses requests on this device."
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
                if best.policy != comparison.configured {
                    let button = ui
                        .small_button(format!("Use policy {}", best.policy.number()))
                        .on_hover_text("set memory_config.static_memory_policy");
                    if button.clicked() {
                        commands.push(Command::SetOption {
                            key: "memory_config.static_memory_policy".to_owned(),
                            text: best.policy.number().to_string(),
                        });
                    }
                }
            });
        }
    }
    if let Some(alike) = &comparison.alike {
        ui.label(alike);
        differ_ui(ui, session, commands);
    }
    if let Some(configured) = configured {
        pins_ui(ui, comparison, configured);
    }
    notes_ui(ui, comparison);
}

/// What pins need beside the configured lane, in a line each: more than a few would leave the lanes no room.
fn pins_ui(ui: &mut egui::Ui, comparison: &Comparison, configured: &Lane) {
    /// Pins that have lines.
    const MOST: usize = 3;
    let pinned = comparison.lanes.iter().enumerate();
    let pinned = pinned.filter(|(_, lane)| lane.pinned.is_some());
    let n_pins = pinned.clone().count() + comparison.pin_problems.len();
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
    for problem in comparison.pin_problems.iter().take(1) {
        let text = format!("Pinned {} has no lane: {}.", problem.name, problem.why);
        ui.add(egui::Label::new(&text).truncate()).on_hover_text(text);
    }
    let n_lanes = n_pins - comparison.pin_problems.len();
    let n_told = n_lanes.min(MOST) + comparison.pin_problems.len().min(1);
    if n_pins > n_told {
        let text = format!(
            "And {} more pins: the pane Compare (Shift+V) lists all.",
            n_pins - n_told
        );
        ui.weak(text);
    }
}

/// A sentence begins with it.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// What the figures hold, and what of it is estimated.
fn notes_ui(ui: &mut egui::Ui, comparison: &Comparison) {
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

/// The policy for which the smallest device was found to be enough, where none fits this one.
fn least_device(comparison: &Comparison) -> Option<String> {
    let stories = comparison.own_lanes().filter_map(|lane| {
        let enough = lane.out_of_memory_story.as_ref()?.enough?;
        Some((enough, lane.policy.number()))
    });
    let (enough, policy) = stories.min()?;
    Some(format!(
        "Policy {policy} needs least: a device of {enough} was tried and is enough."
    ))
}

/// One click to a schedule in which the policies differ.
fn differ_ui(ui: &mut egui::Ui, session: &Session, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        if can_add_evaluation(session) {
            let button = ui
                .button("Add the evaluation graph")
                .on_hover_text("run the forward phase, with the loss as output, after each training step");
            if button.clicked() {
                commands.push(Command::SetEvaluation(true));
            }
        }
        let symbols = session
            .loaded()
            .map(|loaded| loaded.workload.symbols())
            .unwrap_or_default();
        for symbol in symbols {
            let values = changing_values(&session.document().plan, &symbol);
            let button = ui
                .button(format!("Run with several values of {symbol}"))
                .on_hover_text(format!("one run each for {values:?}"));
            if button.clicked() {
                commands.push(Command::SetDim { name: symbol, values });
            }
        }
    });
}
