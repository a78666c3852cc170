//! The simulated device: its profile, a slider for its memory, and every figure with its basis.
//!
//! In: the session. Out: edits of the options behind the figures; the letters typed into one field, and one drag of the
//! slider, are one undo step each.

use std::collections::BTreeMap;

use eframe::egui::{self, RichText};

use crate::numbers::{count_f32, to_f64, to_whole};
use crate::panels::PaneCx;
use crate::widgets::{named_button_ui, small};
use highwater_model::units::Bytes;
use highwater_model::workload::{Basis, Device, DeviceFigure};
use highwater_options::{Value, figure_option, find, keys};
use highwater_session::Command;

/// Range of the slider, in GiB.
const LEAST_GIB: f64 = 0.25;
const MOST_GIB: f64 = 256.0;

/// Width of a digit in a field, and digits of the largest figure, 2^63.
const DIGIT: f32 = 9.0;
const MOST_DIGITS: usize = 19;

const STEP: u64 = 64 << 20;

/// Texts in editing, by option: the text of the field, and the value at the last edit.
#[derive(Clone, Debug, Default)]
pub(super) struct ProfileState {
    texts: BTreeMap<&'static str, (String, String)>,
}

pub(super) fn profile_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ProfileState) {
    let device = cx.session.document().device();
    profile_choice_ui(ui, cx, &device);
    capacity_ui(ui, cx, &device, state);
    let (estimated, set) = device.marks();
    let mut title = format!("Timings: {} of {} assumed", estimated.len(), DeviceFigure::ALL.len());
    if !set.is_empty() {
        title.push_str(&format!(", {} set by you", set.len()));
    }
    let header = egui::CollapsingHeader::new(title).id_salt("device figures");
    header.show(ui, |ui| {
        ui.weak("Device events are counted exactly; timings are computed from these parameters.");
        for figure in DeviceFigure::ALL {
            if figure != DeviceFigure::MemoryBytes {
                figure_ui(ui, cx, &device, figure, state);
            }
        }
    });
    ui.separator();
}

fn profile_choice_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, device: &Device) {
    ui.horizontal(|ui| {
        let label = ui.strong("Profile");
        let combo = egui::ComboBox::from_id_salt("device profile")
            .width(ui.available_width())
            .truncate();
        let response = super::super::profile_choice_ui(ui, cx, combo, device);
        response.labelled_by(label.id).on_hover_text(&device.summary);
    });
}

/// The slider, the exact bytes, and their basis.
fn capacity_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, device: &Device, state: &mut ProfileState) {
    let memory = device.memory();
    ui.horizontal(|ui| {
        let label = ui.label("capacity");
        let mut gib = gib_of(memory);
        ui.spacing_mut().slider_width = (ui.available_width() - 74.0).max(60.0);
        let slider = egui::Slider::new(&mut gib, LEAST_GIB..=MOST_GIB)
            .logarithmic(true)
            // A memory beyond its ends stays as it was given.
            .clamping(egui::SliderClamping::Edits)
            .show_value(false);
        let response = ui.add(slider).labelled_by(label.id);
        let response = response.on_hover_text("Memory of the simulated device; arrow keys change it, undo restores it");
        if response.changed() {
            cx.commands.push(Command::type_option(
                keys::DEVICE_MEMORY,
                bytes_of(gib).get().to_string(),
            ));
        }
        if response.drag_stopped() || response.lost_focus() {
            cx.commands.push(Command::EndTyping);
        }
        ui.label(memory.to_string()).on_hover_text(memory.exact());
    });
    figure_ui(ui, cx, device, DeviceFigure::MemoryBytes, state);
}

fn gib_of(bytes: Bytes) -> f64 {
    to_f64(bytes.get()) / to_f64(Bytes::gib(1).get())
}

fn bytes_of(gib: f64) -> Bytes {
    let steps = (gib.clamp(LEAST_GIB, MOST_GIB) * to_f64(Bytes::gib(1).get()) / to_f64(STEP)).round();
    Bytes(to_whole(steps) * STEP)
}

/// A figure: name, field, basis, and the button that resets it.
fn figure_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, device: &Device, figure: DeviceFigure, state: &mut ProfileState) {
    let key = figure_option(figure);
    let basis = device.basis(figure);
    let why = format!("{}; {key}", basis.sentence());
    let label = ui.horizontal(|ui| {
        let name = match figure {
            DeviceFigure::MemoryBytes => "exact bytes",
            other => other.label(),
        };
        let (mark, color) = match basis {
            Basis::Source(_) => ("source", ui.visuals().weak_text_color()),
            Basis::Estimate(_) => ("estimate", ui.visuals().warn_fg_color),
            Basis::User => ("set by you", cx.theme.accent()),
        };
        let label = ui.add(egui::Label::new(name).truncate()).on_hover_text(&why);
        ui.label(RichText::new(mark).small().color(color)).on_hover_text(&why);
        label.id
    });
    ui.horizontal_wrapped(|ui| {
        field_ui(ui, device, figure, label.inner, state, cx.commands);
        ui.label(RichText::new(figure.unit().short()).small());
        if cx.session.document().options.is_set(key) {
            let words = format!("reset {} to the profile's value", figure.label());
            if named_button_ui(ui, small("reset"), &words, &words) {
                cx.commands.push(Command::ResetOption(key.to_owned()));
            }
        }
        let text = format!("= {}", figure.unit().text(device.figure(figure)));
        ui.weak(text);
    });
    if let Some(problem) = problem_of(figure, state) {
        ui.label(RichText::new(problem).small().color(cx.theme.bad));
    }
}

/// The error in the text of a field.
fn problem_of(figure: DeviceFigure, state: &ProfileState) -> Option<String> {
    let key = figure_option(figure);
    let (text, _) = state.texts.get(key)?;
    let row = find(key)?;
    if text.trim().is_empty() {
        return None;
    }
    let problem = row.problem(&row.kind.read(&plain(figure, text)))?;
    Some(format!("{} {problem} ({})", row.short_key(), figure.unit().forms()))
}

/// The text with the field's unit, as the option reads it.
fn plain(figure: DeviceFigure, text: &str) -> String {
    let value = figure.unit().parse(text);
    value.map_or_else(|| text.to_owned(), |value| value.to_string())
}

/// The field with the figure in digits; sizes may have a unit.
fn field_ui(
    ui: &mut egui::Ui,
    device: &Device,
    figure: DeviceFigure,
    label: egui::Id,
    state: &mut ProfileState,
    commands: &mut Vec<Command>,
) {
    let key = figure_option(figure);
    let current = device.figure(figure).to_string();
    let (text, known) = state
        .texts
        .entry(key)
        .or_insert_with(|| (current.clone(), current.clone()));
    // A cut number would look like another one.
    let digits = count_f32(text.chars().count().min(MOST_DIGITS)) * DIGIT;
    let width = (ui.available_width() - 165.0).clamp(108.0, 140.0).max(digits);
    let field = egui::TextEdit::singleline(text)
        .desired_width(width)
        .font(egui::TextStyle::Monospace);
    let response = ui.add(field).labelled_by(label);
    let (unit, value) = (figure.unit(), device.figure(figure));
    let response = response.on_hover_text(format!("{}; write {}", unit.exact(value), unit.forms()));
    let read = find(key).map(|row| (row, row.kind.read(&plain(figure, text))));
    let is_readable = read.as_ref().is_some_and(|(row, value)| row.problem(value).is_none());
    let is_cancelled = ui.input(|input| input.key_pressed(egui::Key::Escape));
    if response.changed() {
        if text.trim().is_empty() {
            commands.push(Command::ResetOption(key.to_owned()));
        } else if let Some((row, value)) = read
            && row.problem(&value).is_none()
            && value != Value::Unset
        {
            known.clone_from(&value.to_string());
            commands.push(Command::type_option(key, value.to_string()));
        }
    } else if *known != current || (!response.has_focus() && (is_readable || is_cancelled)) {
        // The field lost the keyboard, or the value changed elsewhere (slider, undo). A text that cannot be parsed
        // stays until Esc.
        text.clone_from(&current);
        known.clone_from(&current);
    }
    if response.lost_focus() {
        commands.push(Command::EndTyping);
    }
}
