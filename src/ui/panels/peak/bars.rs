//! Groups as bars by their share; an expanded group lists its tensors.

use eframe::egui::{self, Align2, FontId, Rect, Response, Role, Sense, pos2, vec2};

use super::{PeakState, Shown};
use crate::combo::ShowChoices as _;
use crate::numbers::to_points;
use crate::panels::elided_middle;
use crate::widgets::Named as _;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, counted, percent_text};
use highwater_session::Command;
use highwater_timeline::{Attribute, LiveGroup, LiveMember, tensor_label};

/// Tensors listed of an expanded group, and added per click.
const PAGE: usize = 30;
const HEIGHT: f32 = 19.0;
const SIZE: f32 = 12.5;

/// A line with a bar behind it: name on the left, figures on the right.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) figures: &'a str,
    /// Length of the bar, from 0 to 1.
    pub(super) part: f32,
    pub(super) is_selected: bool,
    /// In points.
    pub(super) indent: f32,
}

/// A clickable line. `words` are its name for assistive technology and its tooltip.
pub(super) fn line_ui(ui: &mut egui::Ui, shown: Shown<'_>, line: Line<'_>, words: &str) -> Response {
    let theme = shown.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
    let (words, is_selected) = (words.to_owned(), line.is_selected);
    let response = response.named_choice(Role::Button, is_selected, || &words);
    if ui.is_rect_visible(rect) {
        let inner = Rect::from_min_max(pos2(rect.left() + line.indent, rect.top() + 1.0), rect.max);
        let painter = ui.painter_at(rect);
        let ground = if line.is_selected {
            theme.band(theme.selection)
        } else if response.hovered() || response.has_focus() {
            theme.range
        } else {
            theme.panel
        };
        painter.rect_filled(inner, 2, ground);
        let bar = Rect::from_min_size(
            inner.min,
            vec2(inner.width() * line.part.clamp(0.0, 1.0), inner.height()),
        );
        painter.rect_filled(bar, 2, theme.live_fill);
        let font = FontId::proportional(SIZE);
        let place = pos2(inner.right() - 4.0, inner.center().y);
        let figures = painter.text(place, Align2::RIGHT_CENTER, line.figures, font.clone(), theme.text);
        let room = figures.left() - inner.left() - 12.0;
        let name = elided_middle(ui, line.name, SIZE, room);
        painter.text(
            pos2(inner.left() + 4.0, inner.center().y),
            Align2::LEFT_CENTER,
            name,
            font,
            theme.text,
        );
    }
    response.on_hover_text(words)
}

pub(super) fn by_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    ui.horizontal(|ui| {
        ui.label("Group by");
        let mut chosen = state.by_in(comparison);
        let attributes = Attribute::ALL.into_iter().filter(|one| one.is_of(comparison));
        let list = egui::ComboBox::from_id_salt("peak group by").width(110.0).show_values(
            ui,
            "group by ",
            &mut chosen,
            attributes,
            |one| one.words().to_owned(),
        );
        if list.changed() {
            state.by = Some(chosen);
        }
    });
}

/// All groups, with the tensors of the expanded one.
pub(super) fn groups_ui(ui: &mut egui::Ui, shown: Shown<'_>, state: &mut PeakState, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 1.0;
    for (position, group) in (0_u32..).zip(&shown.report.groups) {
        let open = state.open.as_ref().filter(|(text, _)| *text == group.text);
        let n_listed = open.map(|(_, n_listed)| *n_listed);
        if group_ui(ui, shown, group, n_listed.is_some()).clicked() {
            state.open = n_listed.is_none().then(|| (group.text.clone(), PAGE));
        }
        let Some(n_listed) = n_listed else { continue };
        for part in group.parts.iter().take(n_listed) {
            ui.label(format!(
                "{} · {} in {}",
                part.text,
                part.bytes,
                counted(part.count, "block")
            ));
        }
        let mut members = shown.report.members_of(position);
        for (_, member) in members.by_ref().take(n_listed) {
            member_ui(ui, shown, member, commands);
        }
        let n_left = members.len();
        if n_left > 0
            && ui
                .small_button(format!("{} more", highwater_model::units::grouped(n_left as u64)))
                .clicked()
        {
            state.open = Some((group.text.clone(), n_listed + PAGE));
        }
    }
}

fn part(shown: Shown<'_>, bytes: Bytes) -> f32 {
    to_points(shown.report.share(bytes) / 100.0)
}

fn group_ui(ui: &mut egui::Ui, shown: Shown<'_>, group: &LiveGroup, is_open: bool) -> Response {
    let share = percent_text(shown.report.share(group.bytes));
    let tensors = counted(group.count, shown.noun());
    let verb = if is_open { "close" } else { "open" };
    let largest = tensor_label(shown.comparison, group.largest.0);
    let words = format!(
        "{verb} {}: {} in {tensors}, {share}; the largest is {largest}, {}",
        group.text,
        group.bytes.exact(),
        group.largest.1
    );
    let sign = if is_open { "−" } else { "+" };
    let name = format!("{sign} {}", group.text);
    let figures = format!("{}  {share}", group.bytes);
    let line = Line {
        name: &name,
        figures: &figures,
        part: part(shown, group.bytes),
        is_selected: false,
        indent: 0.0,
    };
    line_ui(ui, shown, line, &words)
}

/// A tensor; a click selects it.
pub(super) fn member_ui(ui: &mut egui::Ui, shown: Shown<'_>, member: &LiveMember, commands: &mut Vec<Command>) {
    let share = percent_text(shown.report.share(member.bytes));
    let name = tensor_label(shown.comparison, member.tensor);
    let life = shown
        .comparison
        .steps_text(shown.report.ask.lane, member.birth, member.end);
    let older = match shown.report.range.as_ref().map(|stats| stats.range.start) {
        Some(start) if member.birth < start => ", live before the range",
        _ => "",
    };
    let copies = if member.n_copies > 1 {
        format!(", {} copies", member.n_copies)
    } else {
        String::new()
    };
    let words = format!(
        "select {name}: {}, {share}, {life}{copies}{older}",
        member.bytes.exact()
    );
    let figures = member.bytes.to_string();
    let row = Line {
        name: &name,
        figures: &figures,
        part: part(shown, member.bytes),
        is_selected: shown.selected == Some(member.tensor),
        indent: 12.0,
    };
    if line_ui(ui, shown, row, &words).clicked() {
        commands.push(Command::Select(Some(member.tensor)));
    }
}
