//! The style of egui's widgets, and the hatching.

use eframe::egui::{self, Color32};

use super::Theme;

/// Period of the hatching, in points.
pub const HATCH_POINTS: f32 = 8.0;

/// One period of the hatching: a diagonal line on its ground.
pub fn hatch(colors: (Color32, Color32)) -> egui::ColorImage {
    const SIDE: usize = 16;
    let (ground, line) = colors;
    let pixel = |idx: usize| {
        let place = (idx % SIDE + idx / SIDE) % SIDE;
        ground.lerp_to_gamma(line, [1.0, 0.6, 0.0][place.min(SIDE - place).min(2)])
    };
    egui::ColorImage::new([SIDE, SIDE], (0..SIDE * SIDE).map(pixel).collect())
}

/// Sizes, spacing and grounds of egui's widgets, for both themes.
pub fn style(ctx: &egui::Context) {
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.interaction.selectable_labels = false;
        style.animation_time = 0.0;
        style.interaction.tooltip_delay = 0.3;
        style.scroll_animation = egui::style::ScrollAnimation::none();
        // egui's 9 points are too small for findings and facts.
        style
            .text_styles
            .insert(egui::TextStyle::Small, egui::FontId::proportional(10.5));
    });
    for (which, theme) in [
        (egui::Theme::Dark, Theme::new(true)),
        (egui::Theme::Light, Theme::new(false)),
    ] {
        ctx.style_mut_of(which, |style| {
            let visuals = &mut style.visuals;
            visuals.panel_fill = theme.panel;
            visuals.window_fill = theme.panel;
            visuals.extreme_bg_color = theme.canvas;
            visuals.faint_bg_color = theme.panel.lerp_to_gamma(theme.grid, 0.6);
            visuals.weak_text_color = Some(theme.text_weak);
            visuals.widgets.noninteractive.fg_stroke.color = theme.text;
            visuals.widgets.inactive.fg_stroke.color = theme.text;
            visuals.widgets.noninteractive.bg_stroke.color = theme.frame;
            visuals.hyperlink_color = theme.accent();
            // The focus ring (egui draws focus as hover) is visible on every ground.
            visuals.widgets.hovered.bg_stroke = egui::Stroke::new(1.0, theme.accent());
        });
    }
}
