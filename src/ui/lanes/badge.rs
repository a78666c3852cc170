//! Badges of a lane's header: a few words on a coloured ground, shorter where there is little room.

use eframe::egui::{Color32, FontId, Response, Sense, Ui, WidgetInfo, vec2};

/// Badges and small buttons beside their text.
pub(super) const BADGE: f32 = 12.0;
pub(super) const BADGE_SIZE: f32 = 11.0;

/// The words of a badge: all of them, and where there is little room.
pub(super) struct Badge {
    pub(super) full: &'static str,
    pub(super) short: &'static str,
}

/// The lane of a recording.
pub(super) const MEASURED: Badge = Badge::of("measured", "measured");
/// The policy in force.
pub(super) const CONFIGURED: Badge = Badge::of("configured", "in use");
/// The lane that needs least.
pub(super) const LOWEST: Badge = Badge::of("lowest peak", "lowest");
/// A plan that cannot be beaten.
pub(super) const OPTIMAL: Badge = Badge::of("proven optimal", "optimal");
/// The button that puts another policy in force.
pub(super) const USE: &str = "use";

impl Badge {
    const fn of(full: &'static str, short: &'static str) -> Self {
        Self { full, short }
    }

    const fn text(&self, is_short: bool) -> &'static str {
        if is_short { self.short } else { self.full }
    }
}

/// A badge; who does not see it hears all its words.
pub(super) fn badge(ui: &mut Ui, (badge, is_short): (&Badge, bool), (ground, color): (Color32, Color32)) -> Response {
    let text = badge.text(is_short).to_owned();
    let galley = ui
        .painter()
        .layout_no_wrap(text, FontId::proportional(BADGE_SIZE), color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(BADGE, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 8, ground);
    ui.painter().galley(rect.min + vec2(6.0, 2.0), galley, color);
    response.widget_info(|| WidgetInfo::labeled(eframe::egui::Role::Label, true, badge.full));
    response
}
