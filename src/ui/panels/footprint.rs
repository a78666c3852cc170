//! Part of the inspector: the stacked tensors that define the arena size of a lane, and its fragmentation.

use eframe::egui;

use highwater_analysis::Comparison;
use highwater_model::units::Bytes;
use highwater_plan::Fragmentation;
use highwater_session::Command;
use highwater_timeline::{ArenaStack, facts};

use crate::widgets::{bytes_ui, link_ui, list_end_ui, list_length, wrapped_ui};

/// Links of a collapsed list, largest first.
const FEW: usize = 8;
/// The list's name for assistive technology.
const LINKS: &str = "stacked tensors";

/// The stack and the gaps of the lane's largest arena; a click on a name selects it.
pub(super) fn footprint_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    stack: &ArenaStack,
    commands: &mut Vec<Command>,
) {
    if stack.chain.links.is_empty() {
        return;
    }
    ui.strong("Arena size");
    let name = comparison.session.graph_name(stack.graph).unwrap_or_default();
    let noun = comparison.study().words().tensor;
    let (footprint, holes) = (stack.footprint, stack.chain.gap_bytes);
    let text = format!(
        "{footprint} in {name}: {} stacked {noun}s define the arena size; {holes} of gaps",
        stack.chain.links.len()
    );
    wrapped_ui(ui, text).on_hover_text(format!(
        "{}, including {} of gaps; {} of the stack are live at the peak",
        footprint.exact(),
        holes.exact(),
        stack.chain.live_at_peak
    ));
    chain_ui(ui, comparison, stack, commands);
    ui.add_space(6.0);
    fragmentation_ui(ui, &stack.fragmentation);
    ui.add_space(6.0);
}

fn chain_ui(ui: &mut egui::Ui, comparison: &Comparison, stack: &ArenaStack, commands: &mut Vec<Command>) {
    let n_links = stack.chain.links.len();
    let n_shown = list_length(ui, LINKS, FEW, n_links);
    egui::Grid::new(LINKS)
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            ui.weak("size");
            ui.weak("offset");
            ui.weak("name");
            ui.end_row();
            for link in stack.links().take(n_shown) {
                bytes_ui(ui, link.size);
                bytes_ui(ui, Bytes(link.offset));
                let tensor = stack.tensor(link);
                let name = tensor.map_or(String::new(), |tensor| facts(comparison, tensor).name);
                let button = link_ui(ui, &name);
                let live = if link.is_live_at_peak {
                    "live at the peak"
                } else {
                    "not live at the peak"
                };
                if button.on_hover_text(format!("Select {name}; {live}")).clicked() {
                    commands.push(Command::Select(tensor));
                }
                ui.end_row();
                if link.gap_below > Bytes::ZERO {
                    bytes_ui(ui, link.gap_below);
                    ui.label("");
                    ui.weak("gap below");
                    ui.end_row();
                }
            }
        });
    list_end_ui(ui, LINKS, FEW, n_links);
}

fn fragmentation_ui(ui: &mut egui::Ui, fragmentation: &Fragmentation) {
    ui.strong("Gaps");
    let lost = fragmentation.lost();
    let peak = fragmentation.peak_live;
    let at = fragmentation
        .peak_step
        .map_or(String::new(), |step| format!(" (step {step})"));
    let text = if lost == Bytes::ZERO {
        format!("none: the footprint equals the peak of live bytes, rounded, {peak}{at}")
    } else {
        format!(
            "{lost}: the footprint is {}, the peak of live bytes, rounded, is {peak}{at}",
            fragmentation.footprint
        )
    };
    wrapped_ui(ui, text).on_hover_text(lost.exact());
    let at = fragmentation.at_footprint.and_then(|at| fragmentation.steps.get(at));
    if let Some(at) = at {
        let text = match at.n_gaps {
            0 => format!("The footprint is reached at step {} without a gap.", at.step),
            1 => format!(
                "The footprint is reached at step {} with a gap of {}.",
                at.step, at.largest_gap
            ),
            count => format!(
                "The footprint is reached at step {} with {count} gaps of {} in total, largest {}.",
                at.step,
                at.gap_bytes(),
                at.largest_gap
            ),
        };
        wrapped_ui(ui, text);
    }
}
