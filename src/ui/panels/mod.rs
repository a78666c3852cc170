//! The panes around the lanes. Each is a function of the session and its own state; it pushes commands.

mod change_list;
pub mod compare;
pub mod device;
pub mod empty;
pub mod files;
pub mod flame;
mod footprint;
pub mod inspector;
pub mod lane_set;
pub mod lane_table;
pub mod log;
pub(crate) mod marker;
mod measured;
pub mod measured_run;
pub mod name_reuse;
mod neighbourhood;
pub mod options;
pub mod overview;
mod overview_problem;
pub mod peak;
mod plots;
pub mod problems;
pub mod recording;
mod remat;
mod reuse;
pub mod schedule;
pub mod schedule_editor;
pub mod search;
mod sorted_table;
pub mod sweep;
pub mod tables;
mod verdict;

use eframe::egui;

use crate::combo::ShowChoices as _;
use crate::commands::UiCommand;
use crate::numbers::{part_of, to_points};
use crate::theme::{STALE, Theme};
use crate::widgets::{Named as _, bytes_ui};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::{Bytes, signed_bytes};
use highwater_model::workload::{Device, DeviceFigure};
use highwater_options::keys;
use highwater_session::{Command, Requested, Session};
use highwater_sim::fold::ReservedParts;

/// A small square, for legends. Painted, because the bundled font has no such letter.
pub fn swatch_ui(ui: &mut egui::Ui, color: egui::Color32) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
    ui.painter().rect_filled(area, 2, color);
}

/// Reserved bytes by use.
fn parts_of(parts: &ReservedParts) -> [(&'static str, Bytes); 4] {
    [
        ("feature memory", parts.features),
        ("weights", parts.weights),
        ("variables", parts.variables),
        ("inputs, outputs", parts.io),
    ]
}

/// Rows of a grid: the parts that are not zero.
fn parts_ui(ui: &mut egui::Ui, parts: &ReservedParts, theme: &Theme) {
    for (position, (name, bytes)) in parts_of(parts).into_iter().enumerate() {
        if bytes > Bytes::ZERO {
            swatch_ui(ui, theme.part(position));
            ui.label(name);
            bytes_ui(ui, bytes);
            ui.end_row();
        }
    }
}

/// The choice of a lane by its mark; `verb` precedes titles for assistive technology.
fn lane_marks_ui(ui: &mut egui::Ui, comparison: &Comparison, chosen: &mut usize, verb: &str) {
    let before = *chosen;
    for (position, row) in comparison.lanes.iter().enumerate() {
        let mark = ui.selectable_value(chosen, position, comparison.lane_mark(row.id));
        let mark = mark.named_choice(egui::Role::RadioButton, position == before, || {
            format!("{verb} {}", comparison.lane_title(row.id))
        });
        mark.on_hover_text(match row.id {
            LaneId::Problem(_) => row.strategy.label,
            LaneId::Policy(_) => row.policy.row().label,
            LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => row.title.as_deref().unwrap_or_default(),
        });
    }
}

/// A profile with its capacity, where that is not the profile's own.
pub fn device_title(device: &Device) -> String {
    let (_, set) = device.marks();
    if set.contains(&DeviceFigure::MemoryBytes) {
        format!("{} with {}", device.name, device.memory())
    } else {
        device.name.clone()
    }
}

/// Whether recordings alone are open: they have no device unless the user or the file names one.
pub fn are_recordings(session: &Session) -> bool {
    let kind = session.answer().map(|(comparison, _)| comparison.lane_kind());
    kind == Some(LaneKind::Recordings)
}

fn is_device_chosen(session: &Session) -> bool {
    let options = &session.document().options;
    options.is_set(keys::DEVICE) || options.is_set(keys::DEVICE_MEMORY)
}

/// The choice of a device profile, as the value of its option.
fn profile_choice_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    combo: egui::ComboBox<'_>,
    active: &Device,
) -> egui::Response {
    let has_default = is_device_chosen(cx.session) || !are_recordings(cx.session);
    let title = if has_default {
        device_title(active)
    } else {
        "not chosen".to_owned()
    };
    combo.selected_text(title).show_choices(ui, |ui| {
        if are_recordings(cx.session) && ui.selectable_label(!has_default, "not chosen").clicked() {
            let keys = [keys::DEVICE, keys::DEVICE_MEMORY].map(str::to_owned);
            cx.commands.extend(keys.map(Command::ResetOption));
        }
        let chosen = has_default.then_some(active.name.as_str());
        profiles_ui(ui, cx.session, chosen, cx.commands);
    })
}

/// The device profiles as entries of a menu.
pub fn profiles_ui(ui: &mut egui::Ui, session: &Session, chosen: Option<&str>, commands: &mut Vec<Command>) {
    for profile in &session.profiles().profiles {
        let memory = profile.text_with_mark(DeviceFigure::MemoryBytes);
        let is_chosen = chosen == Some(profile.name.as_str());
        let choice = ui.selectable_label(is_chosen, format!("{} ({memory})", profile.name));
        if choice.on_hover_text(&profile.summary).clicked() {
            commands.push(Command::set_option(keys::DEVICE, &profile.name));
        }
    }
}

/// Input of a pane, and its commands.
pub struct PaneCx<'a> {
    pub session: &'a Session,
    pub theme: &'a Theme,
    pub commands: &'a mut Vec<Command>,
    pub window_commands: &'a mut Vec<UiCommand>,
    /// An option or variable to show in the option panel.
    pub option: Option<String>,
}

/// The last result of a request, dimmed while a newer one is computed; else the words for what is computed.
fn requested_ui<'a, K: PartialEq, O>(
    ui: &mut egui::Ui,
    requested: &Requested<'a, K, O>,
    (known, key): (Option<&'a O>, &K),
    computing: &str,
) -> Option<&'a O> {
    match known {
        None => drop(ui.weak(computing)),
        Some(_) if requested.has(key) => {}
        Some(_) => ui.multiply_opacity(STALE),
    }
    known
}

/// Bytes that one side has more than the other, exact on hover.
fn change_ui(ui: &mut egui::Ui, change: &highwater_timeline::Change) {
    let figure = ui.monospace(signed_bytes(change.difference()));
    figure.on_hover_text(format!(
        "{} there, {} here",
        change.before.exact(),
        change.after.exact()
    ));
}

/// Progress of a long job; `name` is read by assistive technology.
fn progress_ui(ui: &mut egui::Ui, [done, all]: [u64; 2], width: f32, text: &str, name: impl Fn() -> String) {
    let bar = egui::ProgressBar::new(to_points(part_of(done, all)));
    let bar = ui.add(bar.desired_width(width).text(text));
    bar.named(egui::Role::ProgressIndicator, name);
}

/// When a pane was drawn last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Appearance(u64);

impl Appearance {
    /// Whether the pane was not drawn in the frame before.
    pub(crate) fn is_new(&mut self, ctx: &egui::Context) -> bool {
        let now = ctx.cumulative_frame_nr();
        let is_new = self.0 + 1 < now;
        self.0 = now;
        is_new
    }
}

pub fn width_of(ui: &egui::Ui, text: &str, size: f32) -> f32 {
    let font = egui::FontId::proportional(size);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, egui::Color32::WHITE);
    galley.size().x
}

/// A text cut with an ellipsis where it is too wide.
pub fn elided(ui: &egui::Ui, text: &str, size: f32, room: f32) -> String {
    let width = |text: &str| width_of(ui, text, size);
    if width(text) <= room {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(end, _)| end).rev();
    let mut cut = ends.map(|end| format!("{}…", text[..end].trim_end()));
    cut.find(|text| width(text) <= room).unwrap_or_default()
}

/// A text cut in the middle, which keeps both ends of a path.
pub fn elided_middle(ui: &egui::Ui, text: &str, size: f32, room: f32) -> String {
    let width = |text: &str| width_of(ui, text, size);
    if width(text) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let is_call_site = text.contains(".py:");
    let cut = |kept: usize| {
        // The end says more than the beginning; of a call site it has the line.
        let first = if is_call_site { 0 } else { kept * 2 / 5 };
        let last = kept - first;
        let ends = letters[..first]
            .iter()
            .chain(&['…'])
            .chain(&letters[letters.len() - last..]);
        ends.collect::<String>()
    };
    // Binary search for the number of letters that fit.
    let (mut fits, mut fails) = (0, letters.len());
    while fits + 1 < fails {
        let middle = usize::midpoint(fits, fails);
        if width(&cut(middle)) <= room {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    cut(fits)
}

/// A choice of a few values in a row; `what` precedes their names for assistive technology.
pub fn choice_ui<T: Copy + PartialEq>(ui: &mut egui::Ui, chosen: &mut T, what: &str, choices: &[(T, &str)]) -> bool {
    let before = *chosen;
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing.x, 2.0);
    for (value, words) in choices {
        let is_chosen = *chosen == *value;
        let response = ui
            .selectable_label(is_chosen, *words)
            .named_choice(egui::Role::RadioButton, is_chosen, || format!("{what} {words}"));
        if response.clicked() {
            *chosen = *value;
        }
    }
    ui.spacing_mut().item_spacing.x = spacing;
    ui.add_space((spacing - 2.0).max(0.0));
    before != *chosen
}

/// The choice of a graph by position; nothing where there is one.
pub fn graph_choice_ui(ui: &mut egui::Ui, chosen: &mut usize, what: &str, names: &[&str]) {
    if names.len() < 2 {
        return;
    }
    egui::ComboBox::from_id_salt(what).width(120.0).truncate().show_values(
        ui,
        &format!("{what}: "),
        chosen,
        0..names.len(),
        |graph| names[*graph].to_owned(),
    );
}
