//! The placement strategy of a lane, in its header: the choice, and how good the plans are.

use eframe::egui::{Color32, ComboBox, FontId, Response, Role, Sense, Ui, vec2};

use super::LanesCx;
use super::LanesInput;
use super::figures::{SIZE, SPACING, width_of};
use super::header::words;
use crate::combo::ShowChoices as _;
use crate::panels::elided;
use crate::panels::sweep::choices;
use crate::widgets::Named as _;
use highwater_analysis::Lane;
use highwater_model::units::percent_text;
use highwater_plan::Planned;
use highwater_session::Command;

/// Least width of the list of strategies, and its width besides the text.
const COMBO: (f32, f32) = (96.0, 34.0);

/// The choice of the placement strategy.
pub(super) fn strategy_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, lane: &Lane, room: f32) {
    let shown = elided(ui, lane.strategy.label, SIZE, (room - COMBO.1).max(COMBO.0 - COMBO.1));
    let label = format!(
        "{}, placed by {}",
        cx.input.comparison.lane_title(lane.id),
        lane.strategy.label
    );
    let set_strategy = |strategy| Command::SetStrategy {
        lane: Some(lane.id),
        strategy,
    };
    ComboBox::from_id_salt(("strategy", lane.id))
        .selected_text(words(shown, cx.input.theme.text_weak))
        .width(COMBO.0)
        .height(640.0)
        .show_choices(ui, |ui| {
            if lane.chosen && ui.selectable_label(false, "same as all lanes").clicked() {
                cx.commands.push(set_strategy(None));
            }
            for row in choices(cx.input.comparison) {
                let button = ui
                    .selectable_label(row == lane.strategy, row.label)
                    .on_hover_text(format!("{}\nOn the command line: {}", row.summary, row.name));
                if button.clicked() {
                    cx.commands.push(set_strategy(Some(row.name)));
                }
            }
        })
        .named(Role::ComboBox, || &label)
        .on_hover_text(plans_text(lane, cx.input));
}

/// The plans of a lane in exact figures, one line per arena.
fn plans_text(lane: &Lane, input: &LanesInput<'_>) -> String {
    let row = lane.strategy;
    let mut text = format!(
        "Placement strategy of static arenas: {}: {} ({})",
        row.label, row.summary, row.name
    );
    for (graph, planned) in lane.plans.iter().take(8) {
        let name = input.comparison.session.graph_name(*graph).unwrap_or_default();
        let sure = if planned.is_optimal() {
            optimal_texts(planned)[0].to_owned()
        } else {
            format!(
                "{} above the bound",
                percent_text(planned.plan.footprint.percent_over(planned.lower_bound))
            )
        };
        text.push_str(&format!("\n{name}: {}, {sure}", planned.plan.footprint.exact()));
    }
    text
}

/// Width of the list of strategies with its text in full.
pub(super) fn strategy_width(ui: &Ui, lane: &Lane) -> f32 {
    (width_of(ui, lane.strategy.label, SIZE) + COMBO.1).max(COMBO.0) + SPACING
}

/// The badge of a plan with a proof, and for little room.
const OPTIMAL: [&str; 2] = ["proven optimal", "optimal"];
/// The same where the file fixes offsets.
const FIXED: [&str; 2] = ["smallest with its fixed offsets", "offsets fixed"];
/// Room of the badge besides its text, and the size of that.
const BADGE: (f32, f32) = (12.0, 11.0);

fn optimal_texts(planned: &Planned) -> [&'static str; 2] {
    if planned.n_fixed > 0 { FIXED } else { OPTIMAL }
}

/// The distance of a plan from the bound; `None` for an optimal one.
fn over_text(planned: &Planned) -> Option<String> {
    let over = planned.plan.footprint.percent_over(planned.lower_bound);
    (!planned.is_optimal()).then(|| format!("{} above bound", percent_text(over)))
}

/// Widths of [`certainty_ui`] in full, and in short words.
pub(super) fn certainty_widths(ui: &Ui, lane: &Lane) -> (f32, f32) {
    let Some((_, planned)) = lane.plans.first() else {
        return (0.0, 0.0);
    };
    match over_text(planned) {
        None => optimal_texts(planned)
            .map(|text| width_of(ui, text, BADGE.1) + BADGE.0 + SPACING)
            .into(),
        Some(text) => [width_of(ui, &text, SIZE) + SPACING; 2].into(),
    }
}

/// How good the plan is: proven optimal, or its distance from the bound.
pub(super) fn certainty_ui(ui: &mut Ui, lane: &Lane, is_short: bool, input: &LanesInput<'_>) {
    let Some((_, planned)) = lane.plans.first() else { return };
    let Some(text) = over_text(planned) else {
        let [full, short] = optimal_texts(planned);
        let text = if is_short { short } else { full };
        let why = planned.optimality().unwrap_or_default();
        badge_ui(ui, text, full, input.theme.best).on_hover_text(why);
        return;
    };
    ui.label(words(text, input.theme.text_weak))
        .on_hover_text(format!("Lower bound: {}", planned.proved_bound.exact()));
}

/// A text on a coloured ground; assistive technology reads `name`.
fn badge_ui(ui: &mut Ui, text: &str, name: &str, (ground, color): (Color32, Color32)) -> Response {
    let font = FontId::proportional(BADGE.1);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(BADGE.0, 4.0), Sense::hover());
    ui.painter().rect_filled(rect, 8, ground);
    ui.painter().galley(rect.min + vec2(6.0, 2.0), galley, color);
    response.named(Role::Label, || name)
}
