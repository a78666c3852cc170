//! The header of a lane: policy, badges, exact figures.
//!
//! Every part is measured first, so that none overlaps another. Where there is little room, fragmentation and percent
//! give way, then strategy and badges are shortened, then costs and the name of the policy go, then the difference;
//! narrow lanes have a second line for figures.

use eframe::egui::{Align, Color32, Layout, Rect, RichText, Sense, Ui, UiBuilder, pos2, vec2};

use super::LanesCx;
use super::badge::{BADGE, BADGE_SIZE, BROKEN, Badge, MEASURED, OPTIMAL, PINNED, SIMULATED, badge};
use super::figures::{self, SIZE, SPACING, width_of};
use super::frame::LaneFrame;
use super::placement::{COMBO, Certainty, certainty, certainty_ui, strategy_ui};
use super::{LanesInput, arrange};
use crate::commands::UiCommand;
use crate::panels::elided;
use crate::widgets::Named as _;
use highwater_analysis::{Configuration, Lane, LaneId, PinnedLane};
use highwater_model::diagnostics::Severity;
use highwater_session::Document;

/// Width of the lane's menu.
const MENU: f32 = 30.0;
const INDENT: f32 = 4.0;

/// One line on wide lanes, two on narrow ones.
pub(super) fn header_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let lane = &cx.input.comparison.lanes[frame.lane];
    let header = frame.header;
    let ground = ui.interact(header, ui.scope_id().with(("header", frame.lane)), Sense::click());
    let ground = ground.named(eframe::egui::Role::Button, || {
        format!("header of {}", cx.input.comparison.lane_title(lane.id))
    });
    if ground.clicked() {
        cx.window_commands.push(UiCommand::ExplainLane(lane.id));
    }
    let remat = cx.input.timeline.lanes[frame.lane].remat.as_deref();
    let mut figures = figures::figures(ui, lane, remat, cx.input);
    let mut name = Name::new(ui, lane, cx.input);
    if frame.is_wide {
        let room = header.width() - INDENT - SPACING - MENU;
        while name.width() + figures::width(&figures) > room {
            let least = figures.iter().map(|figure| figure.rank).min();
            let has_shrunk = match least {
                Some(figures::Rank::Fragmentation | figures::Rank::Behaviour | figures::Rank::Percent) => false,
                Some(figures::Rank::Costs) => name.shorten(),
                _ => name.shorten() || name.drop_words(),
            };
            if !has_shrunk && !figures::drop_one(&mut figures) {
                break;
            }
        }
        let combo = room - name.fixed_width() - figures::width(&figures) - SPACING;
        line_ui(ui, header, ("name", frame.lane), |ui| {
            arrange::menu_ui(ui, cx, frame);
            name.ui(ui, cx);
            if name.has_combo {
                strategy_ui(ui, cx, lane, combo);
            }
            certainty_ui(ui, lane, name.is_short, cx.input);
            figures_ui(ui, figures);
        });
        return;
    }
    let half = |n: f32| {
        let top = header.top() + header.height() / 2.0 * n;
        Rect::from_min_size(pos2(header.left(), top), vec2(header.width(), header.height() / 2.0))
    };
    let room = header.width() - INDENT - SPACING;
    let mut below = figures.split_off(figures.len().min(1));
    let is_too_wide = |name: &Name<'_>| name.fixed_width() + figures::width(&figures) > room - MENU;
    while is_too_wide(&name) && (name.shorten() || name.drop_words()) {}
    let least = if name.has_combo { COMBO.0 + SPACING } else { 0.0 };
    while figures::width(&below) + least > room && figures::drop_one(&mut below) {}
    let combo = room - figures::width(&below) - SPACING;
    line_ui(ui, half(0.0), ("name", frame.lane), |ui| {
        arrange::menu_ui(ui, cx, frame);
        name.ui(ui, cx);
        certainty_ui(ui, lane, name.is_short, cx.input);
        figures_ui(ui, figures);
    });
    line_ui(ui, half(1.0), ("costs", frame.lane), |ui| {
        ui.add_space(INDENT);
        if name.has_combo {
            strategy_ui(ui, cx, lane, combo);
        }
        figures_ui(ui, below);
    });
}

/// What lies on the curve instead of a header.
pub(super) struct CurveLabel {
    pub(super) place: Rect,
    name: String,
    /// Counts of a run under a budget, and how it ends; without room they give way.
    notes: Vec<figures::Figure>,
}

pub(super) fn label(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>) -> CurveLabel {
    let lane = &input.comparison.lanes[frame.lane];
    let (number, label) = number_and_words(lane, input);
    let name = if lane.chosen {
        format!("{number}  {label}, placed by {}", lane.strategy.label)
    } else {
        format!("{number}  {label}")
    };
    let room = frame.header.width() - MENU - 2.0 * SPACING;
    let name = elided(ui, &name, SIZE, room.max(0.0));
    let named = MENU + width_of(ui, &name, SIZE) + 3.0 * SPACING;
    let remat = input.timeline.lanes[frame.lane].remat.as_deref();
    let mut notes = remat.map_or_else(Vec::new, |remat| figures::remat_notes(ui, remat, input.theme));
    while named + figures::width(&notes) > frame.header.width() && figures::drop_one(&mut notes) {}
    let width = named + figures::width(&notes);
    let right = (frame.header.left() + width).min(frame.header.right());
    CurveLabel {
        place: frame.header.with_max_x(right),
        name,
        notes,
    }
}

/// The name on the curve, with the menu of the lane; a strategy that was chosen for the lane alone is part of it.
pub(super) fn label_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let lane = &cx.input.comparison.lanes[frame.lane];
    let theme = cx.input.theme;
    let CurveLabel { place, name, notes } = label(ui, frame, cx.input);
    let ground = ui.interact(place, ui.scope_id().with(("header", frame.lane)), Sense::click());
    let title = cx.input.comparison.lane_title(lane.id);
    let ground = ground.named(eframe::egui::Role::Button, || format!("header of {title}"));
    if ground.clicked() {
        cx.window_commands.push(UiCommand::ExplainLane(lane.id));
    }
    ui.painter().rect_filled(place, 3, theme.canvas.gamma_multiply(0.82));
    line_ui(ui, place, ("name", frame.lane), |ui| {
        arrange::menu_ui(ui, cx, frame);
        ui.label(words(name, theme.text).strong());
        for note in notes {
            note.ui(ui);
        }
    });
}

pub(super) fn line_ui(ui: &mut Ui, rect: Rect, salt: (&'static str, usize), add: impl FnOnce(&mut Ui)) {
    let layout = Layout::left_to_right(Align::Center);
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout).id_salt(salt));
    child.shrink_clip_rect(rect);
    child.spacing_mut().item_spacing.x = SPACING;
    add(&mut child);
}

/// Right-aligned, the first one leftmost.
pub(super) fn figures_ui(ui: &mut Ui, figures: Vec<figures::Figure>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        for figure in figures.into_iter().rev() {
            figure.ui(ui);
        }
    });
}

/// The left part of a header, with its widths.
struct Name<'a> {
    lane: &'a Lane,
    number: f32,
    /// Width of the policy's name; 0 once dropped.
    words: f32,
    /// Widths of the badges in full, and in short words.
    badges: (f32, f32),
    /// Widths of the list of strategies in full, and at its narrowest.
    combo: (f32, f32),
    has_combo: bool,
    /// Whether badges and strategy are shortened.
    is_short: bool,
}

impl<'a> Name<'a> {
    fn new(ui: &Ui, lane: &'a Lane, input: &LanesInput<'_>) -> Self {
        let width = |text: &str| width_of(ui, text, BADGE_SIZE) + BADGE + SPACING;
        let is_problem = matches!(lane.id, LaneId::Problem(_));
        // Lanes named by their content instead of their policy.
        let is_pass = matches!(lane.id, LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_));
        let (number, label) = number_and_words(lane, input);
        let mut badges = (0.0, 0.0);
        let mut add = |(full, short): (f32, f32)| badges = (badges.0 + full, badges.1 + short);
        let of = |badge: &Badge| (width(badge.full), width(badge.short));
        if is_problem {
            match certainty(lane) {
                Some(Certainty::Optimal) => add(of(&OPTIMAL)),
                Some(Certainty::Over(text)) => {
                    let plain = width_of(ui, &text, SIZE) + SPACING;
                    add((plain, plain));
                }
                None => {}
            }
        } else if let LaneId::Measured(_) = lane.id {
            add(of(&MEASURED));
        } else if let LaneId::Pinned(_) = lane.id {
            add(of(&PINNED));
            if has_error(lane) {
                add(of(&BROKEN));
            }
        } else if !is_pass && has_error(lane) {
            add(of(&BROKEN));
        }
        // All lanes of passes are placed by the options.
        let has_combo = is_problem || !is_pass && !lane.plans.is_empty();
        let combo = (width_of(ui, lane.strategy.label, SIZE) + COMBO.1).max(COMBO.0) + SPACING;
        Self {
            lane,
            number: if is_problem {
                0.0
            } else {
                width_of(ui, &number, 16.0) + SPACING
            },
            words: if is_problem {
                0.0
            } else {
                width_of(ui, label, SIZE) + SPACING
            },
            badges,
            combo: if has_combo {
                (combo, COMBO.0 + SPACING)
            } else {
                (0.0, 0.0)
            },
            has_combo,
            is_short: false,
        }
    }

    fn fixed_width(&self) -> f32 {
        let badges = if self.is_short { self.badges.1 } else { self.badges.0 };
        self.number + self.words + badges
    }

    fn width(&self) -> f32 {
        self.fixed_width() + if self.is_short { self.combo.1 } else { self.combo.0 }
    }

    /// Shortens badges and strategy; returns whether they were in full.
    fn shorten(&mut self) -> bool {
        !std::mem::replace(&mut self.is_short, true)
    }

    /// Drops the policy's name (the tooltip has it); returns whether it was there.
    fn drop_words(&mut self) -> bool {
        std::mem::replace(&mut self.words, 0.0) > 0.0
    }

    fn ui(&self, ui: &mut Ui, cx: &LanesCx<'_>) {
        let (theme, lane) = (cx.input.theme, self.lane);
        ui.add_space(INDENT);
        if let LaneId::Problem(_) = lane.id {
            return;
        }
        let row = lane.policy.row();
        let (number, label) = number_and_words(lane, cx.input);
        let explanation = match lane.id {
            LaneId::Measured(_) if cx.input.comparison.simulation(lane.id).is_some() => {
                "Simulated under allocator settings".to_owned()
            }
            LaneId::Measured(_) => "Measured, not simulated".to_owned(),
            LaneId::Pass(_) => format!("{label}; under policy {}, {}", row.number, row.label),
            LaneId::Pinned(_) => pinned_words(lane, cx.input),
            _ => format!("{}: {}", row.label, row.summary),
        };
        ui.label(words(number, theme.text).strong().size(16.0))
            .on_hover_text(&explanation);
        if self.words > 0.0 {
            ui.label(words(label, theme.text).strong()).on_hover_text(&explanation);
        }
        if let LaneId::Measured(_) = lane.id {
            let (shown, hint) = match cx.input.comparison.simulation(lane.id) {
                Some(_) => (
                    &SIMULATED,
                    "The recorded requests under other allocator settings: an estimate",
                ),
                None => (&MEASURED, "Recorded by a tool from a real run; not simulated"),
            };
            badge(ui, shown, self.is_short, theme.configured).on_hover_text(hint);
        }
        if let LaneId::Pinned(_) = lane.id {
            badge(ui, &PINNED, self.is_short, theme.configured).on_hover_text(&explanation);
        }
        if has_error(lane) {
            let why = lane
                .forbidden
                .iter()
                .map(|finding| format!("\n{}: {}", finding.rule, finding.message));
            let why = explanation.clone() + &why.collect::<String>();
            badge(ui, &BROKEN, self.is_short, (theme.bad, theme.canvas)).on_hover_text(why);
        }
    }
}

fn pinned_words(lane: &Lane, input: &LanesInput<'_>) -> String {
    let title = input.comparison.lane_title(lane.id);
    let options = input.compared.document.map(Document::configuration).unwrap_or_default();
    lane.pinned
        .as_deref()
        .map_or_else(|| title.clone(), |pinned| pinned_text(&title, pinned, &options))
}

/// The configuration of a pinned lane: its differences from the active one, its alignment, its findings.
pub fn pinned_text(title: &str, pinned: &PinnedLane, options: &Configuration) -> String {
    /// Differences listed.
    const MOST: usize = 2;
    let policy = pinned.configuration.policy().row();
    let (device, memory) = (&pinned.device.name, pinned.device.memory());
    let mut text = format!("{title}: policy {}, {device} with {memory}", policy.number);
    let differences = pinned.configuration.differences(options);
    let listed: Vec<String> = differences.iter().take(MOST).map(ToString::to_string).collect();
    text.push_str(&match differences.len() {
        0 => "\nEqual to the active configuration.".to_owned(),
        count if count > MOST => format!("\nDiffers in {} and {} more", listed.join(", "), count - MOST),
        _ => format!("\nDiffers in {}", listed.join(", ")),
    });
    // The gravest of what speaks against it.
    let findings = pinned.findings.iter();
    let gravest = findings
        .filter(|finding| finding.severity != Severity::Info)
        .min_by_key(|finding| finding.severity);
    let gravest = gravest.map(|finding| format!("{}: {} {}", finding.severity, finding.rule, finding.message));
    if let Some(sentence) = gravest.or(pinned.fit.sentences().into_iter().next()) {
        text.push_str(&format!("\n{sentence}"));
    }
    text
}

/// The policy's number and name; of other lanes position and title.
fn number_and_words<'a>(lane: &'a Lane, input: &LanesInput<'_>) -> (String, &'a str) {
    match lane.id {
        LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => {
            let title = lane.title.as_deref().unwrap_or("");
            (input.comparison.lane_mark(lane.id), title)
        }
        _ => (lane.policy.row().number.to_string(), lane.policy.row().label),
    }
}

/// Whether a pinned lane's configuration breaks a rule of severity error.
fn has_error(lane: &Lane) -> bool {
    let findings = lane.pinned.iter().flat_map(|pinned| &pinned.findings);
    findings
        .chain(&lane.forbidden)
        .any(|finding| finding.severity == Severity::Error)
}

pub(super) fn words(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).size(SIZE).color(color)
}
