//! Widgets of options that are typed: numbers, sizes, texts, paths, shape ranges.
//!
//! A field accepts any text: what is out of range or of another type is a finding. While it has the keyboard it shows
//! the typed text (`128KiB`); a change from elsewhere (undo, a fix) replaces that.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Response, Stroke};

use super::Edit;
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::widgets::{button_ui, small};
use highwater_model::units::Bytes;
use highwater_options::{OptionKind, OptionRow, ShapeRanges, Value};
use highwater_session::Command;

/// The text of a field.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed {
    pub(super) text: String,
    /// The value's text after the last edit here; another one means a change from elsewhere.
    expected: String,
}

impl Typed {
    /// The text to edit, given the current value.
    pub(super) fn sync(&mut self, current: &str) {
        if self.expected != current {
            current.clone_into(&mut self.text);
            current.clone_into(&mut self.expected);
        }
    }

    /// Takes the text as the value's, and returns it.
    pub(super) fn accept(&mut self) -> String {
        self.expected.clone_from(&self.text);
        self.text.clone()
    }
}

/// See the module's header.
pub(super) fn text_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    value: &Value,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let current = shown(value);
    let typed = edit.state.texts.entry(row.key).or_default();
    typed.sync(&current);
    let hint = hint(row, value);
    let is_path = matches!(row.kind, OptionKind::Path(_));
    let space = if is_path { 34.0 } else { hint_width(ui, &hint) };
    let response = ui
        .horizontal(|ui| {
            let width = (ui.available_width() - space).max(60.0);
            let field = if row.kind == OptionKind::ShapeRange {
                let error = range_error(&typed.text);
                range_field(ui, &mut typed.text, error, width)
            } else {
                ui.add(
                    egui::TextEdit::singleline(&mut typed.text)
                        .desired_width(width)
                        .hint_text(empty_hint(row)),
                )
            };
            let response = field.labelled_by(label.id);
            if let OptionKind::Path(kind) = row.kind {
                if button_ui(ui, small("…"), &format!("Choose a path for {}", row.key)) {
                    let purpose = Purpose::PickPath { key: row.key, kind };
                    edit.window_commands.push(UiCommand::AskPath(purpose));
                }
            } else {
                let label = egui::Label::new(egui::RichText::new(&hint).weak()).truncate();
                ui.add(label).on_hover_text(&hint);
            }
            response
        })
        .inner;
    let typed = edit.state.texts.entry(row.key).or_default();
    if response.changed() {
        typed.expected = expected(row, &typed.text);
        edit.commands.push(command(row, &typed.text));
    } else if !response.has_focus() && typed.text != current {
        typed.text.clone_from(&current);
        typed.expected = current;
    }
    if response.lost_focus() {
        edit.commands.push(Command::EndTyping);
    }
    response
}

fn shown(value: &Value) -> String {
    match value {
        Value::Unset => String::new(),
        other => other.to_string(),
    }
}

/// The edit of a text; an empty field of an option without a default unsets it.
fn command(row: &OptionRow, text: &str) -> Command {
    let is_unset = text.trim().is_empty() && row.default_value() == Value::Unset;
    Command::type_option(row.key, if is_unset { "None" } else { text })
}

/// The text of the value that an edit leads to.
fn expected(row: &OptionRow, text: &str) -> String {
    if text == "None" || (text.trim().is_empty() && row.default_value() == Value::Unset) {
        return shown(&row.default_value());
    }
    shown(&row.kind.read(text))
}

fn empty_hint(row: &OptionRow) -> &'static str {
    let has_fields = highwater_options::find_group(row.key).is_some();
    if has_fields {
        "not set; see its fields"
    } else {
        "not set"
    }
}

/// The unit, or a size in words.
fn hint(row: &OptionRow, value: &Value) -> String {
    match (&row.kind, value) {
        (OptionKind::Bytes { .. }, Value::Int(bytes)) => {
            u64::try_from(*bytes).map_or(String::new(), |bytes| Bytes(bytes).to_string())
        }
        (OptionKind::Bytes { .. }, _) => "bytes".to_owned(),
        _ => row.unit.unwrap_or_default().to_owned(),
    }
}

/// Room for the hint. Sizes in words have a fixed room, so that the field keeps its width while it is edited.
fn hint_width(ui: &egui::Ui, hint: &str) -> f32 {
    if hint.is_empty() {
        return 4.0;
    }
    let font = egui::TextStyle::Body.resolve(ui.style());
    let color = ui.visuals().text_color();
    let width = ui.painter().layout_no_wrap(hint.to_owned(), font, color).size().x;
    let least: f32 = if hint.len() <= 3 { 20.0 } else { 64.0 };
    // The field has a margin on either side.
    width.max(least) + 2.0 * ui.spacing().item_spacing.x + 8.0
}

/// The character from which a text is no shape range; `None` for an empty field.
fn range_error(text: &str) -> Option<usize> {
    if text.trim().is_empty() {
        return None;
    }
    ShapeRanges::parse(text).err().map(|error| error.position)
}

/// A field whose text is underlined from an error on.
fn range_field(ui: &mut egui::Ui, text: &mut String, error: Option<usize>, width: f32) -> Response {
    let (color, bad) = (ui.visuals().text_color(), ui.visuals().error_fg_color);
    let mut layouter = |ui: &egui::Ui, buffer: &dyn egui::TextBuffer, _wrap: f32| {
        let mut job = LayoutJob::default();
        let font = egui::TextStyle::Monospace.resolve(ui.style());
        let text = buffer.as_str();
        let split = error.map_or(text.len(), |position| {
            text.char_indices().nth(position).map_or(text.len(), |(at, _)| at)
        });
        job.append(&text[..split], 0.0, TextFormat::simple(font.clone(), color));
        let mut wrong = TextFormat::simple(font, bad);
        wrong.underline = Stroke::new(1.5, bad);
        job.append(&text[split..], 0.0, wrong);
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let field = egui::TextEdit::singleline(text)
        .desired_width(width)
        .hint_text("data:[1~32, 3, 224, 224]")
        .layouter(&mut layouter);
    ui.add(field)
}
