//! The colour mode of blocks, and its legend, which filters.

use eframe::egui::{ComboBox, Rect, Role, Sense, TextStyle, Ui, vec2};

use super::{LaneContent, LanesCx};
use crate::combo::ShowChoices as _;
use crate::panels::{elided_middle, width_of};
use crate::widgets::Named as _;
use highwater_model::units::counted;
use highwater_session::Command;
use highwater_timeline::{ColorBy, ColoringRequest, LegendRow};

/// Cuts longer names, such as call sites with paths.
const MOST_NAME: f32 = 150.0;
/// Width of the menu of groups without room.
const MORE: f32 = 44.0;
/// Width of a group's square and the room around it.
const SWATCH: f32 = 16.0;

/// The choice of the colour mode.
pub(super) fn choice_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, content: LaneContent) {
    let Some(order) = cx.input.drawn.order else { return };
    ComboBox::from_id_salt("color by")
        .selected_text(format!("Color: {}", order.by.words()))
        .show_choices(ui, |ui| {
            let comparison = cx.input.comparison;
            let is_offered = |by: &ColorBy| match by {
                // Areas are of groups: single tensors would be too many.
                ColorBy::Tensor => content != LaneContent::Areas,
                ColorBy::By(attribute) => *by == order.by || attribute.is_of(comparison),
            };
            for by in ColorBy::all().filter(is_offered) {
                if ui.selectable_label(by == order.by, by.words()).clicked() && by != order.by {
                    let hidden = Vec::new();
                    cx.commands.push(Command::SetLook(ColoringRequest { by, hidden }));
                }
            }
        })
        .named(Role::ComboBox, || format!("color by {}", order.by.words()))
        .on_hover_text("Attribute that colors the blocks");
}

/// The groups in one row; a click dims one. A menu has those without room.
pub(super) fn groups_ui(ui: &mut Ui, cx: &mut LanesCx<'_>) {
    let Some(order) = cx.input.drawn.order else { return };
    let look = cx
        .input
        .drawn
        .look
        .filter(|look| look.by == order.by && !look.legend.is_empty());
    let Some(look) = look else { return };
    let right = ui.max_rect().right();
    ui.horizontal(|ui| {
        ui.set_clip_rect(ui.clip_rect().intersect(Rect::everything_left_of(right)));
        if !order.hidden.is_empty() && ui.small_button("show all groups").clicked() {
            cx.commands.push(Command::SetLook(ColoringRequest {
                hidden: Vec::new(),
                ..order.clone()
            }));
        }
        let space = ui.spacing().item_spacing.x;
        let mut room = right - ui.cursor().left() - MORE;
        let fits = look.legend.iter().take_while(|row| {
            room -= row_width(ui, row) + space;
            room >= 0.0
        });
        let n_shown = fits.count();
        let (shown, rest) = look.legend.split_at(n_shown);
        for row in shown {
            row_ui(ui, cx, row, order);
        }
        if !rest.is_empty() {
            let button = ui.menu_button(format!("+{}", rest.len()), |ui| {
                eframe::egui::ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
                    for row in rest {
                        row_ui(ui, cx, row, order);
                    }
                });
            });
            let n_more = u64::try_from(rest.len()).unwrap_or(u64::MAX);
            let button = button
                .response
                .named(Role::Button, || format!("{} more", counted(n_more, "group")));
            button.on_hover_text("Show the other groups");
        }
    });
}

fn name_of(ui: &Ui, row: &LegendRow) -> String {
    elided_middle(ui, &row.text, super::canvas::SMALL.size, MOST_NAME)
}

fn row_width(ui: &Ui, row: &LegendRow) -> f32 {
    width_of(ui, &name_of(ui, row), super::canvas::SMALL.size) + SWATCH
}

/// A group: a click toggles it, Shift shows it alone; the tooltip says so.
fn row_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, row: &LegendRow, order: &ColoringRequest) {
    let theme = cx.input.theme;
    let color = if row.is_hidden { theme.text_weak } else { theme.text };
    let galley = ui
        .painter()
        .layout_no_wrap(name_of(ui, row), super::canvas::SMALL, color);
    let size = vec2(
        galley.size().x + SWATCH,
        ui.text_style_height(&TextStyle::Body).max(18.0),
    );
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let swatch = Rect::from_center_size(rect.left_center() + vec2(6.0, 0.0), vec2(10.0, 10.0));
    let number = row.color | if row.is_hidden { highwater_timeline::DIMMED } else { 0 };
    ui.painter().rect_filled(swatch, 2, theme.block(number));
    if response.hovered() || response.has_focus() {
        ui.painter().hline(
            rect.x_range(),
            rect.bottom() - 2.0,
            eframe::egui::Stroke::new(1.0, theme.accent()),
        );
    }
    let at = eframe::egui::pos2(rect.left() + 14.0, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
    let is_shown = !row.is_hidden;
    let response = response.named_choice(Role::CheckBox, is_shown, || format!("group {}", row.text));
    let (clicked, is_alone) = (response.clicked(), ui.input(|i| i.modifiers.shift));
    response.on_hover_text(format!(
        "{}: {} at the peak, {}\nClick: {}; with Shift: this group alone",
        row.text,
        row.at_peak.exact(),
        counted(u64::try_from(row.n_blocks).unwrap_or(u64::MAX), "block"),
        if row.is_hidden {
            "highlight this group"
        } else {
            "dim this group"
        },
    ));
    if clicked {
        let mut hidden = order.hidden.clone();
        if is_alone {
            let all = cx.input.drawn.look.map_or(&[][..], |look| &look.legend);
            let others = all.iter().filter(|other| other.text != row.text);
            hidden = others.map(|other| other.text.clone()).collect();
        } else if row.is_hidden {
            hidden.retain(|text| *text != row.text);
        } else {
            hidden.push(row.text.clone());
        }
        cx.commands.push(Command::SetLook(ColoringRequest {
            hidden,
            ..order.clone()
        }));
    }
}
