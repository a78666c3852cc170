//! The bar on top: menus, the open source, the export of the configuration.

use eframe::egui::{self, RichText};

use super::commands::{COMMANDS, Menu, UiCommand};
use super::dialogs::Purpose;
use super::frame_output::FrameOutput;
use super::help::keys_text;
use super::keys::why_not;
use super::lanes::{LanesState, whole_units};
use super::panels::{are_recordings, profiles_ui, width_of};
use super::panes::{Home, PANES, PaneRow, Panes};
use super::recent::recents_ui;
use super::theme::{STALE, Theme};
use super::widgets::Named as _;
use highwater_analysis::CapacitySource;
use highwater_model::units::grouped;
use highwater_options::keys;
use highwater_session::{Command, Recents, SAMPLES, Session, SourceSpec};

/// The state of a toggle command; `None` for other commands.
pub type Now<'a> = &'a dyn Fn(UiCommand) -> Option<&'static str>;

#[derive(Clone, Copy)]
pub struct TopBar<'a> {
    pub session: &'a Session,
    pub theme: &'a Theme,
    pub recents: &'a Recents,
    pub panes: &'a Panes,
    pub lanes: &'a LanesState,
    /// States of toggles.
    pub now: Now<'a>,
}

/// Room for the capacity and the export, in points.
const BESIDE_TITLE: f32 = 380.0;
/// Room for the export alone, and the least room for the hint.
const EXPORT: f32 = 200.0;
const LEAST_HINT: f32 = 160.0;

/// Panes by where they are in the default layout.
const PANELS: [(&str, &[Home]); 2] = [
    ("Panels", &[Home::Middle, Home::Below]),
    ("Details", &[Home::Left, Home::Right]),
];

pub fn top_bar_ui(ui: &mut egui::Ui, bar: &TopBar<'_>, output: &mut FrameOutput) {
    egui::Panel::top("top bar").show(ui, |ui| {
        egui::MenuBar::new().ui(ui, |ui| {
            scrolled_menu(ui, "File", |ui| {
                ui.menu_button("Open recent", |ui| recent_ui(ui, bar, output));
                menu_ui(ui, Menu::File, bar, output);
                submenus_ui(ui, &Menu::OF_FILE, bar, output);
                ui.separator();
                menu_ui(ui, Menu::Program, bar, output);
            });
            scrolled_menu(ui, "Edit", |ui| {
                menu_ui(ui, Menu::Edit, bar, output);
                submenus_ui(ui, &Menu::OF_EDIT, bar, output);
            });
            scrolled_menu(ui, "Samples", |ui| samples_ui(ui, &mut output.commands));
            scrolled_menu(ui, "View", |ui| {
                for (title, home) in PANELS {
                    ui.menu_button(title, |ui| panes_ui(ui, home, bar, output));
                }
                submenus_ui(ui, &Menu::OF_VIEW, bar, output);
                ui.separator();
                menu_ui(ui, Menu::View, bar, output);
            });
            ui.menu_button("Help", |ui| menu_ui(ui, Menu::Help, bar, output));
            ui.separator();
            title_ui(ui, bar.session);
            capacity_ui(ui, bar.session, output);
            batch_ui(ui, bar.session);
            assumption_ui(ui, bar.session, output);
            hint_ui(ui, bar.session);
            // File, Export has it too.
            if ui.available_width() >= EXPORT {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    command_ui(ui, UiCommand::ExportConfig, bar, output);
                });
            }
        });
    });
}

fn title_ui(ui: &mut egui::Ui, session: &Session) {
    let sources = &session.document().sources;
    let titles: Vec<String> = sources.iter().map(SourceSpec::title).collect();
    let title = titles.join(" + ");
    let title = match &session.document().part {
        Some(part) => format!("{title}: {part}"),
        None => title,
    };
    let labels: Vec<String> = sources.iter().map(SourceSpec::label).collect();
    let space = (ui.available_width() - BESIDE_TITLE).clamp(80.0, 420.0);
    let (title, hover) = match session.file_path() {
        None => (title, labels.join("\n")),
        Some(path) => {
            let part = session.document().part.as_ref();
            let part = part.map_or_else(String::new, |part| format!(": {part}"));
            let hover = format!("{}\n{}", path.display(), labels.join("\n"));
            (format!("{}{part}", session.document_name()), hover)
        }
    };
    if session.is_changed() {
        ui.label("•").on_hover_text("Unsaved changes (Ctrl+S saves them)");
    }
    ui.scope(|ui| {
        ui.set_max_width(space);
        ui.add(egui::Label::new(RichText::new(title).strong()).truncate())
            .on_hover_text(hover);
    });
}

/// The capacity that peaks are checked against, with the choice of the device.
fn capacity_ui(ui: &mut egui::Ui, session: &Session, output: &mut FrameOutput) {
    let Some((comparison, _)) = session.answer() else {
        return;
    };
    let lane = comparison.main_lane().unwrap_or(0);
    let device = &comparison.device_of(lane).name;
    let capacity = comparison.capacity_of(lane);
    let text = match capacity {
        None if !are_recordings(session) => return,
        None => "no capacity".to_owned(),
        Some(capacity) => match capacity.source {
            CapacitySource::Device => format!("{} ({device})", whole_units(capacity.bytes)),
            CapacitySource::Recording { is_lower_bound: false } => whole_units(capacity.bytes),
            CapacitySource::Recording { is_lower_bound: true } => {
                format!("\u{2265}\u{a0}{}", whole_units(capacity.bytes))
            }
        },
    };
    let why = capacity.map_or_else(
        || "The recording states no capacity: choose a device to check against".to_owned(),
        |capacity| format!("Capacity: {}", capacity.text(device)),
    );
    let opacity = ui.opacity();
    if session.is_stale() {
        ui.multiply_opacity(STALE);
    }
    let menu = ui.menu_button(&text, |ui| {
        let chosen = capacity.filter(|capacity| capacity.source == CapacitySource::Device);
        profiles_ui(ui, session, chosen.map(|_| device.as_str()), &mut output.commands);
        ui.separator();
        if ui.button("Other capacity…").clicked() {
            output.window_commands.push(UiCommand::ShowOption(keys::DEVICE_MEMORY));
            ui.close();
        }
    });
    ui.set_opacity(opacity);
    let menu = menu.response.named(egui::Role::Button, || format!("capacity: {text}"));
    menu.on_hover_text(why);
}

/// The largest batch that fits on the device, once it is known.
fn batch_ui(ui: &mut egui::Ui, session: &Session) {
    let Some(search) = session.batch_search() else { return };
    let (text, why) = match search.largest() {
        _ if !search.is_done() && session.is_searching_batch() => (
            "largest batch …".to_owned(),
            "Values are simulated one by one".to_owned(),
        ),
        _ if !search.is_done() => return,
        None => (
            "no batch fits".to_owned(),
            format!("Not even {} = 1 fits under any policy", search.symbol),
        ),
        Some((value, policy)) => {
            let (number, policy) = (grouped(value), policy.number());
            // Peaks that are lower bounds make it an upper one.
            let is_bound = session.answer().is_some_and(|(comparison, _)| comparison.lower_bound);
            let sign = match (search.is_at_limit(), is_bound) {
                (true, _) => "\u{2265}\u{a0}",
                (false, true) => "\u{2264}\u{a0}",
                (false, false) => "",
            };
            let next = if search.is_at_limit() {
                "larger values were not tried".to_owned()
            } else {
                format!(
                    "{} fits under no policy, and larger values are taken not to fit",
                    grouped(value + 1)
                )
            };
            let bound = if is_bound {
                "; figures are lower bounds, so it may be less"
            } else {
                ""
            };
            (
                format!("largest batch {sign}{number} (policy {policy})"),
                format!(
                    "{} = {number} fits under policy {policy}, {next}; simulated, each value under every policy{bound}",
                    search.symbol
                ),
            )
        }
    };
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    if width_of(ui, &text, size) + PADDING <= ui.available_width() {
        ui.label(text).on_hover_text(why);
    }
}

/// What is assumed, where that moves the answer more than any policy does, with a menu that states it.
fn assumption_ui(ui: &mut egui::Ui, session: &Session, output: &mut FrameOutput) {
    let comparison = session.answer().filter(|_| !session.is_provisional());
    let Some(assumption) = comparison.and_then(|(comparison, _)| comparison.headline_assumption()) else {
        return;
    };
    let room = ui.available_width() - EXPORT;
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let forms = [
        format!(
            "Assumed: {}, {} or {}",
            assumption.short, assumption.peak, assumption.changed
        ),
        format!("Assumed: {} or {}", assumption.peak, assumption.changed),
        "Assumed".to_owned(),
    ];
    let Some(shown) = forms.iter().find(|form| width_of(ui, form, size) + PADDING <= room) else {
        return;
    };
    let sentence = assumption.sentence();
    let menu = ui.menu_button(RichText::new(shown).color(ui.visuals().warn_fg_color), |ui| {
        ui.set_max_width(420.0);
        ui.label(&sentence);
        if ui
            .button(format!("Set {}={}", assumption.key, assumption.value))
            .clicked()
        {
            let value = assumption.value.to_string();
            output.commands.push(Command::set_option(assumption.key, value));
            ui.close();
        }
    });
    menu.response
        .named(egui::Role::Button, || format!("assumed: {sentence}"));
}

/// Of a button in the bar.
const PADDING: f32 = 16.0;

/// How to open one's own graph, while samples alone are open.
fn hint_ui(ui: &mut egui::Ui, session: &Session) {
    let sources = &session.document().sources;
    let are_samples = sources.iter().all(|source| matches!(source, SourceSpec::Sample(_)));
    if are_samples && session.file_path().is_none() {
        let room = ui.available_width() - EXPORT;
        if room < LEAST_HINT {
            return;
        }
        let words = egui::RichText::new("Sample: drop a graph, a recording or a log here, or press Ctrl+O").weak();
        ui.scope(|ui| {
            ui.set_max_width(room);
            ui.add(egui::Label::new(words).truncate());
        });
    }
}

/// A menu that scrolls in low windows.
fn scrolled_menu(ui: &mut egui::Ui, title: &str, add: impl FnOnce(&mut egui::Ui)) {
    ui.menu_button(title, |ui| scrolled_ui(ui, add));
}

fn scrolled_ui(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    /// Margins below the last row, and between the bar and the first.
    const EDGES: f32 = 48.0;
    let window = ui.ctx().content_rect().height();
    // A solid scroll bar shows that there is more.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let height = (window - EDGES).max(120.0);
    egui::ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, add);
}

fn submenus_ui(ui: &mut egui::Ui, menus: &[(Menu, &str)], bar: &TopBar<'_>, output: &mut FrameOutput) {
    for (menu, title) in menus {
        ui.menu_button(*title, |ui| scrolled_ui(ui, |ui| menu_ui(ui, *menu, bar, output)));
    }
}

fn menu_ui(ui: &mut egui::Ui, menu: Menu, bar: &TopBar<'_>, output: &mut FrameOutput) {
    for row in COMMANDS.iter().filter(|row| row.menu == menu) {
        command_ui(ui, row.command, bar, output);
        if row.command == UiCommand::DrawLane {
            ui.menu_button("Save one of the lanes", |ui| lanes_ui(ui, bar, output));
        }
    }
}

fn command_ui(ui: &mut egui::Ui, command: UiCommand, bar: &TopBar<'_>, output: &mut FrameOutput) {
    let Some(row) = COMMANDS.iter().find(|row| row.command == command) else {
        return;
    };
    let now = (bar.now)(command);
    if let Some(state @ ("on" | "off")) = now {
        let keys = row
            .shortcut
            .map_or_else(String::new, |shortcut| format!(" ({})", keys_text(shortcut, ui.ctx())));
        let mut is_on = state == "on";
        let switch = ui.checkbox(&mut is_on, format!("{}{keys}", row.text));
        if switch.on_hover_text(row.tooltip).clicked() {
            output.window_commands.push(command);
            ui.close();
        }
        return;
    }
    let text = now.map_or_else(|| row.text.to_owned(), |now| format!("{} (current: {now})", row.text));
    let mut button = egui::Button::new(text);
    if let Some(shortcut) = row.shortcut {
        button = button.shortcut_text(keys_text(shortcut, ui.ctx()));
    }
    let why = why_not(command, bar.session);
    let response = ui.add_enabled(why.is_none(), button).on_hover_text(row.tooltip);
    if response.on_disabled_hover_text(why.unwrap_or_default()).clicked() {
        output.window_commands.push(command);
        ui.close();
    }
}

/// The panes, with a tick before open ones.
fn panes_ui(ui: &mut egui::Ui, homes: &[Home], bar: &TopBar<'_>, output: &mut FrameOutput) {
    for row in PANES.iter().filter(|row| homes.contains(&row.home)) {
        let mut is_open = bar.panes.is_open(row.pane);
        let keys = pane_keys(row, ui.ctx());
        let text = if keys.is_empty() {
            row.title.to_owned()
        } else {
            format!("{} ({keys})", row.title)
        };
        let why = row.pane.why_not(bar.session);
        let switch = ui.add_enabled(why.is_none(), egui::Checkbox::new(&mut is_open, text));
        let switch = switch
            .on_hover_text(row.what)
            .on_disabled_hover_text(why.unwrap_or_default());
        if switch.clicked() {
            output.window_commands.push(UiCommand::OpenOrClosePane(row.pane));
        }
    }
}

fn pane_keys(row: &PaneRow, ctx: &egui::Context) -> String {
    let known = COMMANDS
        .iter()
        .find(|known| known.command == UiCommand::TogglePane(row.pane));
    let shortcut = known.and_then(|known| known.shortcut);
    shortcut.map_or_else(String::new, |shortcut| keys_text(shortcut, ctx))
}

fn recent_ui(ui: &mut egui::Ui, bar: &TopBar<'_>, output: &mut FrameOutput) {
    if bar.recents.list.is_empty() {
        ui.weak("No recent files.");
        return;
    }
    ui.set_min_width(280.0);
    recents_ui(ui, bar.recents, bar.session, "", &mut output.commands);
    ui.separator();
    menu_ui(ui, Menu::Recent, bar, output);
}

/// Pictures and drawings of shown lanes.
fn lanes_ui(ui: &mut egui::Ui, bar: &TopBar<'_>, output: &mut FrameOutput) {
    let Some((comparison, _)) = bar.session.answer() else {
        ui.weak("No result is available yet.");
        return;
    };
    for id in bar.lanes.arrangement.shown_lanes(comparison) {
        let title = comparison.lane_title(id);
        for (form, purpose) in [
            ("picture (PNG)", Purpose::SavePicture(Some(id))),
            ("drawing (SVG)", Purpose::DrawLane(id)),
        ] {
            if ui.button(format!("{title}: {form}…")).clicked() {
                output.window_commands.push(UiCommand::AskPath(purpose));
                ui.close();
            }
        }
    }
}

fn samples_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    for sample in SAMPLES {
        if ui.button(sample.title).clicked() {
            commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
            ui.close();
        }
    }
}
