//! The call stack of the selected block: Python frames, the C++ frames folded, copy, and open in the editor.

use eframe::egui::{self, Role};

use crate::commands::UiCommand;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, named_button_ui, small, wrapped_ui};
use highwater_session::{Command, USUAL_EDITOR};
use highwater_timeline::{CallStack, StackFrame};

/// The choice of the editor.
#[derive(Clone, Debug, Default)]
pub struct EditorState {
    /// The command with `{file}` and `{line}`; empty for [`USUAL_EDITOR`].
    pub command: String,
    /// Whether the field for it is shown.
    is_open: bool,
}

impl EditorState {
    fn command(&self) -> &str {
        match self.command.trim() {
            "" => USUAL_EDITOR,
            command => command,
        }
    }
}

pub fn stack_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, (title, stack): (&str, &CallStack), editor: &mut EditorState) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.strong(title).on_hover_text("Innermost frame first");
        if named_button_ui(ui, small("Copy"), "copy call stack", "Copy all frames, C++ included") {
            ui.ctx().copy_text(stack.text());
            cx.window_commands.push(UiCommand::SayCopied("the call stack"));
        }
        let choose = ui
            .small_button("Editor…")
            .named_choice(Role::Button, editor.is_open, || "choose editor");
        editor.is_open ^= choose.on_hover_text("Choose the command that opens a frame").clicked();
    });
    if editor.is_open {
        let field = egui::TextEdit::singleline(&mut editor.command)
            .hint_text(USUAL_EDITOR)
            .desired_width(f32::INFINITY);
        ui.add(field)
            .named_field(&editor.command, || "editor command")
            .on_hover_text("Program and arguments; {file} and {line} are filled in, quotes keep spaces");
    }
    let command = editor.command();
    frames_ui(ui, cx, stack.python(), command);
    let n_native = stack.native().count();
    if n_native > 0 {
        let plural = if n_native == 1 { "" } else { "s" };
        egui::CollapsingHeader::new(format!("C++ ({n_native} frame{plural})"))
            .id_salt("C++ frames")
            .show_unindented(ui, |ui| frames_ui(ui, cx, stack.native(), command));
    }
}

fn frames_ui<'a>(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, frames: impl Iterator<Item = &'a StackFrame>, command: &str) {
    for frame in frames {
        ui.horizontal_top(|ui| {
            let text = frame.to_string();
            let button = ui.add_enabled(frame.has_place(), egui::Button::new("open").small());
            let button = button.named(Role::Button, || format!("open {text}"));
            let button = button.on_disabled_hover_text("This frame has no file");
            if button.on_hover_text(command).clicked() {
                cx.commands.push(Command::OpenInEditor {
                    command: command.to_owned(),
                    file: frame.file.to_string(),
                    line: frame.line,
                });
            }
            wrapped_ui(ui, text);
        });
    }
}
