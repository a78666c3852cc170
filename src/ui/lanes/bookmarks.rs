//! Bookmarks on the ruler: flags with a note, and the field for a new note.

use eframe::egui::epaint::PathShape;
use eframe::egui::{self, Rect, Role, Sense, Stroke, Ui, pos2, vec2};

use super::canvas::visible_x;
use super::popup_field::PopupField;
use super::{LanesInput, LanesState};
use crate::widgets::Named as _;
use highwater_model::units::Step;
use highwater_session::{Bookmark, Session};

/// Flags drawn at once.
const MOST: usize = 200;
/// Half the width of the clickable part.
const REACH: f32 = 5.0;

/// A note in writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Noting {
    step: Step,
    /// By position; `None` for all lanes.
    lane: Option<usize>,
    text: String,
    wants_focus: bool,
}

impl Noting {
    fn into_noted(self) -> (Step, Option<usize>, String) {
        (self.step, self.lane, self.text.trim().to_owned())
    }
}

/// Bookmarks of the document, and the note in writing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Flags {
    /// In the document's order.
    known: Vec<Bookmark>,
    /// Steps on the axis of this answer.
    steps: Vec<Option<Step>>,
    /// The number of the answer that `steps` belong to.
    of: Option<u64>,
    noting: Option<Noting>,
    /// A finished note: step, lane by position, text.
    noted: Option<(Step, Option<usize>, String)>,
}

impl LanesState {
    /// Takes the document's bookmarks and finds their steps in this answer.
    pub fn set_bookmarks(&mut self, session: &Session) {
        let Some((comparison, _)) = session.answer() else {
            return;
        };
        let (bookmarks, of) = (&session.document().bookmarks, Some(session.picture_version().0));
        if self.flags.of != of || self.flags.known != *bookmarks {
            let steps = bookmarks.iter().map(|bookmark| bookmark.step_in(comparison));
            self.flags.steps = steps.collect();
            self.flags.known.clone_from(bookmarks);
            self.flags.of = of;
        }
    }

    /// The step of a bookmark on the axis of this answer, by position; `None` where it is not on it.
    pub fn bookmarked_step(&self, position: usize) -> Option<Step> {
        self.flags.steps.get(position).copied().flatten()
    }

    /// Opens the field at the pinned step, else at the step under the pointer. Returns whether there is one.
    pub fn begin_note(&mut self) -> bool {
        let Some(step) = self.step_meant() else {
            return false;
        };
        let lane = self.pinned().map(|spot| spot.lane);
        self.flags.noting = Some(Noting {
            step,
            lane,
            text: String::new(),
            wants_focus: true,
        });
        true
    }

    /// Whether a field takes letters.
    pub fn is_noting(&self) -> bool {
        self.flags.noting.is_some() || self.goto.is_some()
    }

    /// Finishes the note in writing, as when the document is saved or closed.
    pub fn end_note(&mut self) {
        if let Some(noting) = self.flags.noting.take() {
            self.flags.noted = Some(noting.into_noted());
        }
    }

    /// The finished note: step, lane by position, text. Returned once.
    pub fn take_note(&mut self) -> Option<(Step, Option<usize>, String)> {
        self.flags.noted.take()
    }
}

fn x_of(step: Step, rect: Rect, state: &LanesState) -> Option<f32> {
    visible_x(rect, &state.view()?, f64::from(step.0) + 0.5)
}

/// The flags on a ruler: hover shows the note, a click goes there.
pub(super) fn flags_ui(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let painter = ui.painter_at(rect.expand2(vec2(REACH, 0.0)));
    let theme = input.theme;
    let flags = state.flags.known.iter().zip(&state.flags.steps).enumerate();
    let flags = flags.filter_map(|(position, (bookmark, step))| {
        let step = (*step)?;
        Some((position, (bookmark, step), x_of(step, rect, state)?))
    });
    let mut clicked = None;
    for (position, flag, x) in flags.take(MOST) {
        let (top, foot) = (rect.bottom() - 15.0, rect.bottom());
        painter.vline(x, egui::Rangef::new(top, foot), Stroke::new(1.5, theme.peak));
        let points = vec![pos2(x, top), pos2(x + 8.0, top + 3.5), pos2(x, top + 7.0)];
        painter.add(PathShape::convex_polygon(points, theme.peak, Stroke::NONE));
        let reach = Rect::from_min_max(pos2(x - REACH, top), pos2(x + REACH + 3.0, foot));
        let id = ui.scope_id().with(("bookmark", position, rect.left().to_bits()));
        let response = ui.interact(reach, id, Sense::click());
        let words = flag_words(flag.0, flag.1, input);
        let response = response.named(Role::Button, || format!("go to bookmark: {words}"));
        if response.on_hover_text(&words).clicked() {
            clicked = Some((lane_of(flag.0, input), flag.1));
        }
    }
    if let Some((lane, step)) = clicked {
        state.pin(lane, step);
    }
}

/// The lane of a bookmark by position: its own, else the main one.
pub fn lane_of(bookmark: &Bookmark, input: &LanesInput<'_>) -> usize {
    let own = bookmark.lane.and_then(|id| input.comparison.position(id));
    own.or(input.comparison.main_lane()).unwrap_or(0)
}

fn flag_words(bookmark: &Bookmark, step: Step, input: &LanesInput<'_>) -> String {
    let at = input.comparison.step_text(lane_of(bookmark, input), step);
    let lane = bookmark.lane.filter(|id| input.comparison.position(*id).is_some());
    let lane = lane.map_or_else(String::new, |id| format!(", {}", input.comparison.lane_title(id)));
    let note = if bookmark.note.is_empty() {
        String::new()
    } else {
        format!("{} ", bookmark.note)
    };
    format!("{note}({at}{lane})")
}

/// The field for a new note, at its step.
pub(super) fn note_ui(ui: &Ui, area: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let Some(mut noting) = state.flags.noting.take() else {
        return;
    };
    let x = x_of(noting.step, area, state).unwrap_or(area.center().x);
    let place = pos2(x.min(area.right() - 260.0).max(area.left()), area.top() + 4.0);
    let mut is_open = true;
    let mut is_saved = false;
    let field = PopupField {
        id: "bookmark note",
        place,
        width: 240.0,
        label: format!("Note for {} {}", input.comparison.axis_word(), noting.step),
        hint: "description of this step",
    };
    field.ui(ui, &mut noting.text, &mut noting.wants_focus, |ui, _, keys| {
        is_saved = keys.is_entered;
        ui.horizontal(|ui| {
            is_saved |= ui.button("Save").clicked();
            is_open &= !ui.button("Discard").clicked();
        });
        is_open &= !keys.is_left;
    });
    if is_saved {
        state.flags.noted = Some(noting.into_noted());
        // The next frame shows the note.
        ui.ctx().request_repaint();
    } else if is_open {
        state.flags.noting = Some(noting);
    }
}
