//! Part of the inspector: the stacked tensors that define the arena size of a lane, and its fragmentation.

use eframe::egui;

use highwater_analysis::Comparison;
use highwater_model::graph::Id as _;
use highwater_model::units::Bytes;
use highwater_plan::Fragmentation;
use highwater_session::Command;
use highwater_timeline::{ArenaStack, facts};

use crate::widgets::{bytes_ui, link_ui, more_ui, wrapped_ui};

/// Links of a collapsed list, largest first.
const FEW: usize = 8;
/// Links of an expanded one.
const MANY: usize = 400;

/// The stack and the gaps of the lane's largest arena; a click on a name selects it.
pub(super) fn footprint_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    stack: &ArenaStack,
    is_open: &mut bool,
    commands: &mut Vec<Command>,
) {
    if stack.chain.links.is_empty() {
        return;
    }
    ui.strong("What holds the footprint");
    let name = comparison
        .session
        .graphs
        .get(stack.graph.idx())
        .map_or("", |graph| &graph.name);
    let noun = comparison.study().words().tensor;
    let (footprint, holes) = (stack.footprint, stack.chain.gap_bytes);
    let text = format!(
        "{footprint} in {name}: {} {noun}s stand on each other, over {holes} of holes; the largest first",
        stack.chain.links.len()
    );
    wrapped_ui(ui, text).on_hover_text(format!(
        "{}, of it {} of holes; {} of the stack live on the step with the most live bytes",
        footprint.exact(),
        holes.exact(),
        stack.chain.live_at_peak
    ));
    chain_ui(ui, comparison, stack, is_open, commands);
    ui.add_space(6.0);
    fragmentation_ui(ui, &stack.fragmentation);
    ui.add_space(6.0);
}

fn chain_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    stack: &ArenaStack,
    is_open: &mut bool,
    commands: &mut Vec<Command>,
) {
    let most = if *is_open { MANY } else { FEW };
    egui::Grid::new("stack of the footprint")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            ui.weak("size");
            ui.weak("offset");
            ui.weak("name");
            ui.end_row();
            for link in stack.links().take(most) {
                bytes_ui(ui, link.size);
                bytes_ui(ui, Bytes(link.offset));
                let tensor = stack.tensor(link);
                let name = tensor.map_or(String::new(), |tensor| facts(comparison, tensor).name);
                let button = link_ui(ui, &name);
                let live = if link.is_live_at_peak {
                    "live on the step with the most live bytes"
                } else {
                    "not live on the step with the most live bytes"
                };
                if button.on_hover_text(format!("Select {name}; {live}")).clicked() {
                    commands.push(Command::Select(tensor));
                }
                ui.end_row();
                if link.gap_below > Bytes::ZERO {
                    bytes_ui(ui, link.gap_below);
                    ui.label("");
                    ui.weak("hole below");
                    ui.end_row();
                }
            }
        });
    let left = stack.chain.links.len().saturating_sub(FEW);
    if left > 0 {
        more_ui(ui, "stack of the footprint", is_open, FEW, left);
    }
}

fn fragmentation_ui(ui: &mut egui::Ui, fragmentation: &Fragmentation) {
    ui.strong("Lost to holes");
    let lost = fragmentation.lost();
    let peak = fragmentation.peak_live;
    let at = fragmentation
        .peak_step
        .map_or(String::new(), |step| format!(" (step {step})"));
    let text = if lost == Bytes::ZERO {
        format!("nothing: the footprint is the most bytes that are live at once, rounding included, {peak}{at}")
    } else {
        format!(
            "{lost}: the footprint is {}, the most live bytes, rounding included, are {peak}{at}",
            fragmentation.footprint
        )
    };
    wrapped_ui(ui, text).on_hover_text(lost.exact());
    let at = fragmentation.at_footprint.and_then(|at| fragmentation.steps.get(at));
    if let Some(at) = at {
        let text = match at.n_gaps {
            0 => format!("The footprint is reached at step {} with no hole.", at.step),
            1 => format!(
                "The footprint is reached at step {} over a hole of {}.",
                at.step, at.largest_gap
            ),
            count => format!(
                "The footprint is reached at step {} over {count} holes of {} in sum, the largest {}.",
                at.step,
                at.gap_bytes(),
                at.largest_gap
            ),
        };
        wrapped_ui(ui, text);
    }
}
