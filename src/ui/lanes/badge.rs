//! Badges of a lane's header: a few words on a coloured ground, fewer where there is little room.

use crate::widgets::Named as _;
use eframe::egui::{Color32, FontId, Response, Sense, Ui, vec2};

/// Room of a badge or small button besides its text.
pub(super) const BADGE: f32 = 12.0;
pub(super) const BADGE_SIZE: f32 = 11.0;

/// All words of a badge, and those for little room.
pub(super) struct Badge {
    pub(super) full: &'static str,
    pub(super) short: &'static str,
}

pub(super) const MEASURED: Badge = Badge::of("measured", "measured");
pub(super) const SIMULATED: Badge = Badge::of("simulated", "simulated");
pub(super) const PINNED: Badge = Badge::of("pinned", "pin");
pub(super) const BROKEN: Badge = Badge::of("breaks a rule", "rule");
/// A plan with a proof.
pub(super) const OPTIMAL: Badge = Badge::of("proven optimal", "optimal");

impl Badge {
    const fn of(full: &'static str, short: &'static str) -> Self {
        Self { full, short }
    }

    const fn text(&self, is_short: bool) -> &'static str {
        if is_short { self.short } else { self.full }
    }
}

/// Assistive technology reads the full words.
pub(super) fn badge(ui: &mut Ui, badge: &Badge, is_short: bool, colors: (Color32, Color32)) -> Response {
    let (ground, color) = colors;
    let text = badge.text(is_short).to_owned();
    let galley = ui
        .painter()
        .layout_no_wrap(text, FontId::proportional(BADGE_SIZE), color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(BADGE, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 8, ground);
    ui.painter().galley(rect.min + vec2(6.0, 2.0), galley, color);
    response.named(eframe::egui::Role::Label, || badge.full)
}
