//! Widgets that panes and lanes share: names for assistive technology, texts with exact figures, links.

use eframe::egui::containers::menu::{MenuButton, MenuConfig, SubMenuButton, is_in_menu};
use eframe::egui::{
    self, Button, EventFilter, Id, Key, Label, Layout, Modifiers, PopupCloseBehavior, Rect, Response, RichText, Role,
    Ui, UiBuilder, Widget, WidgetInfo, WidgetText,
};

use highwater_model::units::Bytes;

/// Names that assistive technology reads.
pub(crate) trait Named: Sized {
    /// Gives a widget its role and its name.
    fn named<S: ToString>(self, role: Role, name: impl Fn() -> S) -> Self;

    /// Gives a field of text its name.
    fn named_field<S: ToString>(self, text: &str, name: impl Fn() -> S) -> Self;

    /// Gives a widget its role, its name, and whether it is chosen.
    fn named_choice<S: ToString>(self, role: Role, is_chosen: bool, name: impl Fn() -> S) -> Self;
}

impl Named for Response {
    fn named<S: ToString>(self, role: Role, name: impl Fn() -> S) -> Self {
        self.widget_info(|| WidgetInfo::labeled(role, self.enabled(), name()));
        self
    }

    fn named_field<S: ToString>(self, text: &str, name: impl Fn() -> S) -> Self {
        self.widget_info(|| WidgetInfo {
            label: Some(name().to_string()),
            ..WidgetInfo::text_edit(true, text, text, "")
        });
        self
    }

    fn named_choice<S: ToString>(self, role: Role, is_chosen: bool, name: impl Fn() -> S) -> Self {
        self.widget_info(|| WidgetInfo::selected(role, self.enabled(), is_chosen, name()));
        self
    }
}

/// Shows a button with a tooltip; returns whether it was clicked.
pub(crate) fn button_ui(ui: &mut Ui, button: impl Widget, hint: &str) -> bool {
    ui.add(button).on_hover_text(hint).clicked()
}

/// [`button_ui`] with a name for assistive technology, which the text of the button does not say.
pub(crate) fn named_button_ui(ui: &mut Ui, button: impl Widget, name: &str, hint: &str) -> bool {
    let button = ui.add(button).named(Role::Button, || name);
    button.on_hover_text(hint).clicked()
}

/// A small button.
pub(crate) fn small(text: &str) -> Button<'_> {
    Button::new(text).small()
}

/// A text in as many lines as it needs.
pub(crate) fn wrapped_ui(ui: &mut Ui, text: impl Into<WidgetText>) -> Response {
    ui.add(Label::new(text).wrap())
}

/// Bytes as a figure, exact on hover.
pub(crate) fn bytes_ui(ui: &mut Ui, bytes: Bytes) -> Response {
    ui.monospace(bytes.to_string()).on_hover_text(bytes.exact())
}

/// [`bytes_ui`] on the right of a column.
pub(crate) fn right_bytes_ui(ui: &mut Ui, bytes: Bytes) -> Response {
    ui.monospace(format!("{:>11}", bytes.to_string()))
        .on_hover_text(bytes.exact())
}

/// A menu of switches, which stays open while they are clicked; within another menu a submenu.
pub(crate) fn stay_open_menu_ui(ui: &mut Ui, text: &str, add: impl FnOnce(&mut Ui)) -> Response {
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    if is_in_menu(ui) {
        SubMenuButton::new(text).config(config).ui(ui, add).0
    } else {
        MenuButton::new(text).config(config).ui(ui, add).0
    }
}

/// A button that looks like a link, cut where it is too long.
pub(crate) fn link_ui(ui: &mut Ui, text: &str) -> Response {
    let text = RichText::new(text).color(ui.visuals().hyperlink_color);
    ui.add(egui::Button::new(text).frame(false).truncate())
}

/// A row at a place that cuts what is too long.
pub(crate) fn row_at(ui: &mut Ui, place: Rect, layout: Layout, salt: impl std::hash::Hash + std::fmt::Debug) -> Ui {
    let mut row = ui.new_child(UiBuilder::new().max_rect(place).layout(layout).id_salt(salt));
    row.shrink_clip_rect(place);
    row
}

/// Keeps the arrow keys at a widget while it has the keyboard.
pub(crate) fn keep_arrows(ui: &Ui, id: Id, horizontal_arrows: bool, vertical_arrows: bool) {
    let filter = EventFilter {
        horizontal_arrows,
        vertical_arrows,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
}

/// The button that opens a list of which the largest few are shown, or closes it again.
fn more_ui(ui: &mut Ui, title: &str, is_open: &mut bool, few: usize, n_left: usize) {
    let words = if *is_open {
        format!("Show only the largest {few}")
    } else {
        format!("Show {n_left} more")
    };
    let button = ui.small_button(&words);
    let button = button.named(Role::Button, || format!("{title}: {}", words.to_lowercase()));
    *is_open ^= button.clicked();
}

/// Rows of an expanded list.
const MANY: usize = 500;

/// Whether a list of a pane is expanded, by its name; it is collapsed where the window opens.
fn is_expanded(ui: &Ui, title: &str) -> (Id, bool) {
    let id = Id::unique(("expanded list", title));
    (id, ui.data(|data| data.get_temp(id)).unwrap_or(false))
}

/// The number of listed rows.
pub(crate) fn list_length(ui: &Ui, title: &str, few: usize, all: usize) -> usize {
    let (_, is_open) = is_expanded(ui, title);
    all.min(if is_open { MANY } else { few })
}

/// The button below a list that expands or collapses it; nothing below a short one.
pub(crate) fn list_end_ui(ui: &mut Ui, title: &str, few: usize, all: usize) {
    let (id, mut is_open) = is_expanded(ui, title);
    if is_open && all > MANY {
        ui.weak(format!("{MANY} of {all} listed"));
    }
    if all > few {
        more_ui(ui, title, &mut is_open, few, all - few);
        ui.data_mut(|data| data.insert_temp(id, is_open));
    }
}

/// The row that a pressed arrow, page key, Home or End leads to.
pub(crate) fn walked_row(ui: &Ui, here: Option<usize>, n_rows: usize, page: usize) -> Option<usize> {
    let last = n_rows.checked_sub(1)?;
    let at = here.unwrap_or(0).min(last);
    let keys = [
        (Key::ArrowDown, here.map_or(0, |_| at + 1)),
        (Key::ArrowUp, at.saturating_sub(1)),
        (Key::PageDown, at + page),
        (Key::PageUp, at.saturating_sub(page)),
        (Key::Home, 0),
        (Key::End, last),
    ];
    let is_pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (_, row) = keys.into_iter().find(|(key, _)| is_pressed(*key))?;
    Some(row.min(last))
}
