//! The header of a lane: which policy, whether it is configured or best, and its exact figures.

use eframe::egui::{
    Align, Button, Color32, ComboBox, FontId, Layout, Rect, RichText, Sense, Ui, UiBuilder, pos2, vec2,
};

use super::frame::LaneFrame;
use super::{LaneAction, LanesInput};
use crate::analysis::{Lane, LaneId};
use crate::graph::Id as _;
use crate::sim::StaticMemoryPolicy;
use crate::ui::panels::planner::choices;
use crate::ui::theme::Theme;
use crate::units::{Bytes, percent_text};

const SIZE: f32 = 13.0;

/// One line on wide lanes, three on narrow ones.
pub(super) fn header_ui(ui: &mut Ui, frame: &LaneFrame, input: &LanesInput<'_>, actions: &mut Vec<LaneAction>) {
    let lane = &input.comparison.lanes[frame.lane];
    let header = frame.header;
    if frame.is_wide {
        line_ui(ui, header, ("name", frame.lane), |ui| {
            name_ui(ui, lane, input, actions);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                verdict_ui(ui, lane, input);
                costs_ui(ui, lane, input);
                peak_ui(ui, lane, input);
            });
        });
    } else {
        let third = |n: f32| {
            let top = header.top() + header.height() / 3.0 * n;
            Rect::from_min_size(pos2(header.left(), top), vec2(header.width(), header.height() / 3.0))
        };
        line_ui(ui, third(0.0), ("name", frame.lane), |ui| {
            name_ui(ui, lane, input, actions);
        });
        line_ui(ui, third(1.0), ("peak", frame.lane), |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| peak_ui(ui, lane, input));
        });
        line_ui(ui, third(2.0), ("costs", frame.lane), |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                verdict_ui(ui, lane, input);
                costs_ui(ui, lane, input);
            });
        });
    }
}

fn line_ui(ui: &mut Ui, rect: Rect, salt: (&'static str, usize), add: impl FnOnce(&mut Ui)) {
    let layout = Layout::left_to_right(Align::Center);
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout).id_salt(salt));
    child.spacing_mut().item_spacing.x = 7.0;
    add(&mut child);
}

fn words(text: impl Into<String>, color: Color32) -> RichText {
    RichText::new(text).size(SIZE).color(color)
}

fn name_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>, actions: &mut Vec<LaneAction>) {
    let theme = input.theme;
    ui.add_space(4.0);
    if let LaneId::Problem(_) = lane.id {
        strategy_ui(ui, lane, input, actions);
        certainty_ui(ui, lane, input);
        return;
    }
    let row = lane.policy.row();
    ui.label(words(row.number.to_string(), theme.text).strong().size(16.0))
        .on_hover_text(row.summary);
    ui.label(words(row.label, theme.text).strong())
        .on_hover_text(row.summary);
    if lane.policy == input.comparison.configured {
        badge(ui, "configured", theme.configured)
            .on_hover_text("The options and the environment put this policy in force");
    } else {
        let button = ui.add(Button::new(words("use", theme.text_weak).size(11.0)).small());
        let button = button.on_hover_text(format!("Configure static_memory_policy = {}", row.number));
        if button.clicked() {
            actions.push(LaneAction::ConfigurePolicy(lane.policy));
        }
    }
    if let Some(best) = input.comparison.best.as_ref().filter(|best| best.policy == lane.policy) {
        badge(ui, "lowest peak", theme.best).on_hover_text(&best.why);
    }
    if !lane.plans.is_empty() {
        strategy_ui(ui, lane, input, actions);
    }
}

/// How the lane's arenas are placed, and the choice of another way.
fn strategy_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>, actions: &mut Vec<LaneAction>) {
    let label = format!(
        "{}, placed by {}",
        input.comparison.lane_title(lane.id),
        lane.strategy.label
    );
    let combo = ComboBox::from_id_salt(("strategy", lane.id))
        .selected_text(words(lane.strategy.label, input.theme.text_weak))
        .width(96.0)
        .height(420.0)
        .show_ui(ui, |ui| {
            if lane.chosen && ui.selectable_label(false, "as for all lanes").clicked() {
                actions.push(LaneAction::SetStrategy(lane.id, None));
            }
            for row in choices(input.comparison) {
                let button = ui
                    .selectable_label(row == lane.strategy, row.label)
                    .on_hover_text(row.summary);
                if button.clicked() {
                    actions.push(LaneAction::SetStrategy(lane.id, Some(row.name)));
                }
            }
        });
    combo
        .response
        .widget_info(|| eframe::egui::WidgetInfo::labeled(eframe::egui::Role::ComboBox, true, &label));
    combo.response.on_hover_text(plans_text(lane, input));
}

/// The plans of a lane in exact figures, one line an arena.
fn plans_text(lane: &Lane, input: &LanesInput<'_>) -> String {
    let mut text = format!("How static arenas are placed: {}", lane.strategy.summary);
    for (graph, planned) in lane.plans.iter().take(8) {
        let name = input
            .comparison
            .session
            .graphs
            .get(graph.idx())
            .map_or("", |graph| &graph.name);
        let sure = if planned.is_optimal() {
            "proven optimal".to_owned()
        } else {
            format!(
                "{} over the bound",
                percent_text(planned.plan.footprint.percent_over(planned.lower_bound))
            )
        };
        text.push_str(&format!("\n{name}: {}, {sure}", planned.plan.footprint.exact()));
    }
    text
}

/// Whether a problem's plan can be beaten.
fn certainty_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>) {
    let Some((_, planned)) = lane.plans.first() else { return };
    if planned.is_optimal() {
        badge(ui, "proven optimal", input.theme.best).on_hover_text("No plan needs less");
        return;
    }
    let over = percent_text(planned.plan.footprint.percent_over(planned.lower_bound));
    ui.label(words(format!("{over} over bound"), input.theme.text_weak))
        .on_hover_text(format!("No plan needs less than {}", planned.proved_bound.exact()));
}

fn badge(ui: &mut Ui, text: &str, (ground, color): (Color32, Color32)) -> eframe::egui::Response {
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), FontId::proportional(11.0), color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(12.0, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 8, ground);
    ui.painter().galley(rect.min + vec2(6.0, 2.0), galley, color);
    response.widget_info(|| eframe::egui::WidgetInfo::labeled(eframe::egui::Role::Label, true, text));
    response
}

/// From right to left: costs, fragmentation.
fn costs_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>) {
    let (summary, theme) = (&lane.summary, input.theme);
    if input.comparison.is_problem() {
        return;
    }
    ui.label(words(format!("est. {}", summary.estimated_overhead), theme.text_weak))
        .on_hover_text("Estimated time that the policy's own calls cost: device mallocs, frees, maps, waits");
    let fragmentation = format!("frag {:.1} %", summary.fragmentation * 100.0);
    ui.label(words(fragmentation, theme.text_weak))
        .on_hover_text("Fragmentation: 1 - peak live / peak reserved of feature memory");
}

/// From right to left: the difference to policy 0, the peak.
fn peak_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>) {
    let (summary, theme) = (&lane.summary, input.theme);
    if let Some((text, exact, color)) = difference(input, lane) {
        ui.label(words(text, color)).on_hover_text(exact);
    }
    let bound = if input.comparison.lower_bound { "≥\u{a0}" } else { "" };
    let mut exact = format!("Peak reserved: {}", summary.peak_reserved.exact());
    if input.comparison.lower_bound {
        exact.push_str("\nA lower bound: no op states its scratch memory");
    }
    let peak = words(format!("{bound}{}", summary.peak_reserved), theme.text)
        .strong()
        .size(14.5);
    ui.label(peak).on_hover_text(exact);
}

fn verdict_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>) {
    let (theme, device) = (input.theme, &input.comparison.device);
    if input.comparison.is_problem() {
        return;
    }
    let capacity = device.memory();
    let peak = lane.summary.peak_reserved;
    let short = whole_units(capacity);
    if let Some(failed) = &lane.simulation.out_of_memory {
        let why = format!(
            "Out of memory at step {}: {} more were asked for while {} of {} were in use",
            failed.step,
            failed.requested.exact(),
            failed.in_use.exact(),
            capacity.exact(),
        );
        ui.label(words("out of memory", theme.bad).strong()).on_hover_text(why);
    } else if peak > capacity {
        let why = format!("{} more than {} has", (peak - capacity).exact(), device.name);
        ui.label(words(format!("exceeds {short}"), theme.bad).strong())
            .on_hover_text(why);
    } else {
        let why = format!(
            "Fits {}: {} are left at the peak",
            device.name,
            (capacity - peak).exact()
        );
        ui.label(words(format!("fits {short}"), theme.good)).on_hover_text(why);
    }
}

/// `32 GiB` rather than `32.00 GiB`.
pub(super) fn whole_units(bytes: Bytes) -> String {
    bytes
        .to_string()
        .replace(".000", "")
        .replace(".00", "")
        .replace(".0\u{a0}", "\u{a0}")
}

/// The difference to policy 0 in readable text, in exact text, and what it means.
#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio for display, shown with three figures"
)]
fn difference(input: &LanesInput<'_>, lane: &Lane) -> Option<(String, String, Color32)> {
    if lane.policy == StaticMemoryPolicy::Dynamic || input.comparison.is_problem() {
        return None;
    }
    let theme: &Theme = input.theme;
    let zero = input
        .comparison
        .lanes
        .iter()
        .find(|lane| lane.policy == StaticMemoryPolicy::Dynamic)?;
    if zero.summary.out_of_memory || lane.summary.out_of_memory {
        // What a run held before it failed is no peak to compare.
        return None;
    }
    let (before, after) = (zero.summary.peak_reserved, lane.summary.peak_reserved);
    let (sign, bytes, color) = match after.cmp(&before) {
        std::cmp::Ordering::Less => ("−", before - after, theme.good),
        std::cmp::Ordering::Equal => ("±", Bytes::ZERO, theme.text_weak),
        std::cmp::Ordering::Greater => ("+", after - before, theme.bad),
    };
    let percent = bytes.get() as f64 / before.get().max(1) as f64 * 100.0;
    let text = format!("{sign}{bytes} ({sign}{percent:.1} %)");
    Some((text, format!("{sign}{} against policy 0", bytes.exact()), color))
}
