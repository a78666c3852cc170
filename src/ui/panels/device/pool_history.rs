//! Pools of a recorded allocator over time: of each the envelope of its segments, and what of it is live.

use eframe::egui::{self, Color32, Rect, RichText, Role, Sense, Stroke, StrokeKind, pos2, vec2};

use crate::numbers::{part_of, to_points};
use crate::panels::sorted_table::SIZE;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{PoolCurve, PoolHistory};
use highwater_model::units::{Bytes, Step, counted, grouped};

/// Height of a picture.
const HEIGHT: f32 = 26.0;

/// Pools that are drawn.
const MOST: usize = 32;

/// Returns an event that was clicked. `at` is the current one.
pub(super) fn pool_history_ui(
    ui: &mut egui::Ui,
    pools: &[PoolHistory],
    (n_steps, at): (u32, Step),
    theme: &Theme,
) -> Option<Step> {
    if pools.is_empty() {
        return None;
    }
    let mut clicked = None;
    let title = egui::CollapsingHeader::new("Pools over time").default_open(true);
    title.show_unindented(ui, |ui| {
        for pool in pools.iter().take(MOST) {
            title_ui(ui, pool);
            clicked = picture_ui(ui, pool, (n_steps, at), theme).or(clicked);
            ui.add_space(2.0);
        }
        if pools.len() > MOST {
            ui.weak(format!("and {} more (highwater inspect lists all)", pools.len() - MOST));
        }
    });
    ui.add_space(4.0);
    clicked
}

fn title_ui(ui: &mut egui::Ui, pool: &PoolHistory) {
    let (reserved, live) = (&pool.reserved, &pool.live);
    let text = format!(
        "{}, stream {}: peak {} reserved, {} live",
        pool.pool, pool.stream, reserved.peak, live.peak
    );
    let at = |curve: &PoolCurve| curve.step.map_or_else(String::new, |step| format!(" at event {step}"));
    let hint = format!(
        "{}, {}\nreserved: peak {}{}, {} at the peak of all pools, {} at the end\nlive: peak {}{}, {} at the end",
        counted(pool.regions, "segment"),
        counted(pool.blocks, "block"),
        reserved.peak.exact(),
        at(reserved),
        reserved.at_peak_of_all.exact(),
        reserved.at_end.exact(),
        live.peak.exact(),
        at(live),
        live.at_end.exact(),
    );
    wrapped_ui(ui, RichText::new(text).size(SIZE)).on_hover_text(hint);
}

/// Both curves, each pool on its own scale.
fn picture_ui(ui: &mut egui::Ui, pool: &PoolHistory, (n_steps, at): (u32, Step), theme: &Theme) -> Option<Step> {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0, theme.canvas);
    let most = pool.reserved.peak.max(pool.live.peak).get().max(1);
    let curve_ui = |parts: &[Bytes], fill: Color32| {
        let n_parts = parts.len().max(1) as u64;
        // Whole points: bars that share one would show a seam.
        let x = |part: u64| (rect.left() + rect.width() * to_points(part_of(part, n_parts))).round();
        for (part, bytes) in (0..).zip(parts) {
            let height = rect.height() * to_points(part_of(bytes.get(), most));
            let (left, right) = (x(part), x(part + 1));
            let bar = Rect::from_min_max(pos2(left, rect.bottom() - height), pos2(right, rect.bottom()));
            painter.rect_filled(bar, 0, fill);
        }
    };
    curve_ui(&pool.reserved.parts, theme.reserved_fill);
    curve_ui(&pool.live.parts, theme.live_fill);
    let x = |step: Step| rect.left() + rect.width() * to_points(part_of(u64::from(step.0), u64::from(n_steps.max(1))));
    painter.vline(x(at), rect.y_range(), Stroke::new(1.0, theme.hover));
    painter.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Inside);
    let response = response.named(Role::Image, || {
        format!("{} of stream {} over time", pool.pool, pool.stream)
    });
    let under = response.hover_pos().map(|pointer| {
        let share = ((pointer.x - rect.left()) / rect.width().max(1.0)).clamp(0.0, 1.0);
        step_at(f64::from(share), n_steps)
    })?;
    let part = usize::try_from(u64::from(under.0) * pool.reserved.parts.len() as u64 / u64::from(n_steps.max(1)));
    let value = |curve: &PoolCurve| {
        part.ok()
            .and_then(|part| curve.parts.get(part).copied())
            .unwrap_or_default()
    };
    let hint = format!(
        "near event {}: up to {} reserved, {} live\nClick: go to this event",
        grouped(u64::from(under.0)),
        value(&pool.reserved),
        value(&pool.live)
    );
    response.on_hover_text_at_pointer(hint).clicked().then_some(under)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of steps"
)]
fn step_at(share: f64, n_steps: u32) -> Step {
    let step = (share * f64::from(n_steps)) as u32;
    Step(step.min(n_steps.saturating_sub(1)))
}
