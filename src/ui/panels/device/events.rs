//! The event of a recorded allocator at the step, with those around it and the call stack that it came from.

use eframe::egui::{self, RichText, Role};

use crate::panels::PaneCx;
use crate::panels::inspector::{EditorState, stack_ui};
use crate::widgets::Named as _;
use highwater_model::units::Step;
use highwater_model::workload::Recording;
use highwater_session::RecordedAt;
use highwater_timeline::CallStack;

/// Returns an event that was clicked.
pub(super) fn events_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    (recording, at): (&Recording, &RecordedAt),
    editor: &mut EditorState,
) -> Option<Step> {
    if at.events.is_empty() {
        return None;
    }
    let mut clicked = None;
    ui.strong("Events")
        .on_hover_text("The order of the recording: J and K, or < and >, step through it");
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for event in &at.events {
            let is_current = event.step == at.event;
            let words = event.words(recording);
            // In a narrow pane the call site tells more than the address.
            let bytes = event.bytes.map_or_else(String::new, |bytes| bytes.to_string());
            let by = match event.call_site(recording) {
                "" => event.block_name(recording).unwrap_or_default(),
                site => site,
            };
            let text = RichText::new(format!("{} {} {bytes} {by}", event.step, event.action.name())).small();
            // As wide as the pane, cut there.
            let row = egui::Button::selectable(is_current, text).truncate();
            let row = ui
                .add(row)
                .named_choice(Role::Button, is_current, || format!("event {}", event.step));
            if row.on_hover_text(words).clicked() && !is_current {
                clicked = Some(event.step);
            }
        }
    });
    let current = at.events.iter().find(|event| event.step == at.event);
    let stack = current.and_then(|event| CallStack::of(recording, event.stack?));
    if let Some(stack) = stack {
        stack_ui(ui, cx, ("Call stack (event)", &stack), editor);
    } else if current.is_some() {
        ui.weak("The file states no call stack of this event.");
    }
    ui.add_space(6.0);
    clicked
}
