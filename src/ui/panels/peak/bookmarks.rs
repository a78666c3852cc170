//! The document's bookmarks as a list: go to, edit, remove.

use eframe::egui;

use crate::lanes::{LanesInput, LanesState, bookmark_lane};
use crate::widgets::{Named as _, named_button_ui, small};
use highwater_session::{Bookmark, Command};

/// Greatest height of the list.
const LIST: f32 = 120.0;

pub(super) fn bookmarks_ui(
    ui: &mut egui::Ui,
    input: &LanesInput<'_>,
    bookmarks: &[Bookmark],
    lanes: &mut LanesState,
    commands: &mut Vec<Command>,
) {
    let title = match bookmarks.len() {
        0 => "Bookmarks".to_owned(),
        count => format!("Bookmarks: {count}"),
    };
    let section = egui::CollapsingHeader::new(title)
        .id_salt("bookmarks")
        .default_open(true);
    section.show_unindented(ui, |ui| {
        if bookmarks.is_empty() {
            ui.weak("Ctrl+B saves the pinned step, or the one under the pointer, with a note.");
        }
        let list = egui::ScrollArea::vertical().id_salt("bookmark list").max_height(LIST);
        list.show(ui, |ui| {
            for (position, bookmark) in bookmarks.iter().enumerate() {
                ui.horizontal(|ui| row_ui(ui, input, position, bookmark, &mut *lanes, &mut *commands));
            }
        });
    });
}

/// Why a bookmark has no step in this answer.
fn gone_text(bookmark: &Bookmark, word: &str) -> String {
    let Some(turn) = &bookmark.turn else {
        return format!("The current result has no {word} {}", bookmark.step);
    };
    format!(
        "The current result lacks the step of {word} {}: {word} {} of the graph {}, iteration {}",
        bookmark.step, turn.op, turn.graph, turn.iteration
    )
}

fn row_ui(
    ui: &mut egui::Ui,
    input: &LanesInput<'_>,
    position: usize,
    bookmark: &Bookmark,
    lanes: &mut LanesState,
    commands: &mut Vec<Command>,
) {
    let word = input.comparison.axis_word();
    let there = lanes.bookmarked_step(position);
    let (step, is_there) = (there.unwrap_or(bookmark.step), there.is_some());
    let shown = input.comparison.shown_step(bookmark_lane(bookmark, input), step);
    let go = ui
        .add_enabled(is_there, egui::Button::new(shown.to_string()).small())
        .named(egui::Role::Button, || {
            format!("bookmark {}: go to {word} {shown}", position + 1)
        });
    let id = bookmark.lane.filter(|id| input.comparison.position(*id).is_some());
    let lane = id.map_or_else(|| "all lanes".to_owned(), |id| input.comparison.lane_title(id));
    let gone = gone_text(bookmark, word);
    if go
        .on_hover_text(format!("Pin {word} {shown} ({lane})"))
        .on_disabled_hover_text(gone)
        .clicked()
    {
        lanes.pin(bookmark_lane(bookmark, input), step);
    }
    let mut note = bookmark.note.clone();
    let width = (ui.available_width() - 30.0).max(40.0);
    let edit = egui::TextEdit::singleline(&mut note)
        .desired_width(width)
        .hint_text("note");
    let field = ui
        .add(edit)
        .named(egui::Role::TextInput, || format!("note of bookmark {}", position + 1));
    if field.changed() {
        commands.push(Command::NoteBookmark { position, note });
    }
    if field.lost_focus() {
        commands.push(Command::EndTyping);
    }
    let name = format!("remove bookmark {}", position + 1);
    if named_button_ui(ui, small("×"), &name, "Remove this bookmark (Ctrl+Z undoes it)") {
        commands.push(Command::RemoveBookmark(position));
    }
}
