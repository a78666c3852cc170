//! Part of the inspector: whose bytes the selected tensor took over in a lane, who took its bytes, and why it stands
//! where it stands.
//!
//! What is shown is worked out when the selection, the lane or the answer changes, not in every frame.

use std::sync::{Arc, Weak};

use eframe::egui::{self, RichText};

use super::elided_middle;
use super::footprint::Footprint;
use super::neighbourhood::NeighbourState;
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::{Bytes, Step};
use highwater_session::{Command, Selected};
use highwater_sim::RegionKind;
use highwater_timeline::{LaneView, ReuseSide, ReusedBytes, Support, Timeline, tensor_name};

/// Rows of a list that is not opened.
const FEW: usize = 6;
/// Rows of a list that is.
const MANY: usize = 200;

/// What the inspector remembers.
#[derive(Debug, Default)]
pub struct InspectorState {
    /// The lane that is explained; `None` for the main one.
    lane: Option<LaneId>,
    /// Whether the list of donors, and that of heirs, is opened.
    is_open: [bool; 2],
    known: Option<Known>,
    /// What is around the selected tensor in its graph.
    pub(super) neighbours: NeighbourState,
    /// What holds the footprint of the lane's plan.
    pub(super) footprint: Option<Footprint>,
}

impl InspectorState {
    /// The lane that was clicked last.
    pub const fn explained(&self) -> Option<LaneId> {
        self.lane
    }

    /// Explains a lane from now on.
    pub fn explain(&mut self, lane: LaneId) {
        self.lane = Some(lane);
    }
}

/// What is known of a tensor in a lane.
#[derive(Debug)]
struct Known {
    timeline: Weak<Timeline>,
    lane: usize,
    tensor: Selected,
    passed: [Vec<ReusedBytes>; 2],
    support: Option<(u32, Support)>,
}

impl Known {
    fn new(timeline: &Arc<Timeline>, lane: usize, tensor: Selected) -> Self {
        let view = &timeline.lanes[lane];
        let first = view.blocks_of(tensor).next();
        Self {
            timeline: Arc::downgrade(timeline),
            lane,
            tensor,
            passed: [ReuseSide::Earlier, ReuseSide::Later].map(|side| view.reused_bytes(tensor, side)),
            support: first.map(|block| (block, view.support(block))),
        }
    }

    fn is_of(&self, timeline: &Arc<Timeline>, lane: usize, tensor: Selected) -> bool {
        let is_same = std::ptr::eq(self.timeline.as_ptr(), Arc::as_ptr(timeline));
        is_same && self.lane == lane && self.tensor == tensor
    }
}

/// Who reads and who names.
struct Shown<'a> {
    comparison: &'a Comparison,
    view: &'a LaneView,
}

/// The sections of a lane; a click on a tensor selects it.
pub(super) fn reuse_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    timeline: &Arc<Timeline>,
    tensor: Selected,
    state: &mut InspectorState,
    commands: &mut Vec<Command>,
) {
    ui.add_space(6.0);
    let Some(lane) = lane_ui(ui, comparison, state) else {
        return;
    };
    if !state
        .known
        .as_ref()
        .is_some_and(|known| known.is_of(timeline, lane, tensor))
    {
        state.is_open = [false; 2];
        state.known = Some(Known::new(timeline, lane, tensor));
    }
    let Some(known) = &state.known else { return };
    let shown = Shown {
        comparison,
        view: &timeline.lanes[lane],
    };
    let Some((block, support)) = &known.support else {
        let facts = timeline.facts(comparison, lane, tensor);
        let words = if facts.held_in.is_empty() {
            "This lane holds no memory of its own for the tensor.".to_owned()
        } else {
            format!("It is held with the {}, as long as these are.", facts.held_in)
        };
        ui.add(egui::Label::new(RichText::new(words).weak()).wrap());
        return;
    };
    if let Some(why) = shown.view.unknown_neighbours(*block) {
        ui.weak(why);
        return;
    }
    support_ui(ui, &shown, *block, support, commands);
    let titles = ["Bytes taken over from", "Bytes passed on to"];
    let nothing = [
        "nobody: the bytes were never used before",
        "nobody: the bytes are not used again",
    ];
    for (idx, passed) in known.passed.iter().enumerate() {
        ui.add_space(6.0);
        title_ui(ui, titles[idx], passed);
        if passed.is_empty() {
            ui.weak(nothing[idx]);
        }
        passed_ui(ui, &shown, titles[idx], passed, &mut state.is_open[idx], commands);
    }
}

/// The choice of the lane; returns its position.
pub(super) fn lane_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut InspectorState) -> Option<usize> {
    let position = |id: LaneId| comparison.lanes.iter().position(|lane| lane.id == id);
    let lane = state
        .lane
        .and_then(position)
        .or_else(|| comparison.main_lane())
        .or_else(|| (!comparison.lanes.is_empty()).then_some(0))?;
    let mut chosen = lane;
    ui.horizontal_wrapped(|ui| {
        ui.strong(if comparison.lane_kind() == LaneKind::Policies {
            "In the lane of policy"
        } else {
            "In lane"
        });
        for (idx, row) in comparison.lanes.iter().enumerate() {
            let number = comparison.lane_mark(row.id);
            let response = ui.selectable_value(&mut chosen, idx, &number);
            response.widget_info(|| {
                let words = format!("explain the lane of {}", comparison.lane_title(row.id));
                egui::WidgetInfo::selected(egui::Role::RadioButton, true, idx == lane, words)
            });
            response.on_hover_text(match row.id {
                LaneId::Problem(_) => row.strategy.label,
                LaneId::Policy(_) => row.policy.row().label,
                LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => row.title.as_deref().unwrap_or_default(),
            });
        }
    });
    if chosen != lane {
        state.lane = Some(comparison.lanes[chosen].id);
    }
    Some(chosen)
}

fn title_ui(ui: &mut egui::Ui, title: &str, passed: &[ReusedBytes]) {
    let sum: Bytes = passed.iter().map(|passed| Bytes(passed.bytes)).sum();
    ui.horizontal_wrapped(|ui| {
        ui.strong(title);
        if !passed.is_empty() {
            let noun = if passed.len() == 1 { "tensor" } else { "tensors" };
            ui.weak(format!("{} {noun}, {sum}", passed.len()))
                .on_hover_text(sum.exact());
        }
    });
}

/// Bytes, steps and name of each; the few with the most bytes until the list is opened.
fn passed_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    title: &str,
    passed: &[ReusedBytes],
    is_open: &mut bool,
    commands: &mut Vec<Command>,
) {
    let most = if *is_open { MANY } else { FEW };
    egui::Grid::new(title)
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            for passed in passed.iter().take(most) {
                let bytes = Bytes(passed.bytes);
                ui.monospace(format!("{:>11}", bytes.to_string()))
                    .on_hover_text(bytes.exact());
                ui.weak(steps_text(shown.view, passed.block))
                    .on_hover_text("first and last step of its life");
                tensor_ui(ui, shown, passed.block, commands);
                ui.end_row();
            }
        });
    let left = passed.len().saturating_sub(most);
    if *is_open && left > 0 {
        ui.weak(format!("{most} of {} listed", passed.len()));
    }
    if passed.len() > FEW {
        let words = if *is_open {
            format!("Show only the largest {FEW}")
        } else {
            format!("Show {left} more")
        };
        let response = ui.small_button(&words);
        response.widget_info(|| {
            let name = format!("{title}: {}", words.to_lowercase());
            egui::WidgetInfo::labeled(egui::Role::Button, true, name)
        });
        if response.clicked() {
            *is_open = !*is_open;
        }
    }
}

fn steps_text(view: &LaneView, block: u32) -> String {
    let idx = block as usize;
    let last = Step(view.blocks.end[idx].saturating_sub(1));
    format!("{}–{last}", view.blocks.start[idx])
}

/// A tensor's name; a click selects it.
fn tensor_ui(ui: &mut egui::Ui, shown: &Shown<'_>, block: u32, commands: &mut Vec<Command>) {
    let Some(tensor) = shown.view.tensor(block) else {
        ui.weak("not a tensor");
        return;
    };
    let name = match tensor_name(shown.comparison, tensor) {
        "" => format!("tensor {}", tensor.tensor.0),
        name => name.to_owned(),
    };
    let text = RichText::new(&name).color(ui.visuals().hyperlink_color);
    let button = egui::Button::new(text).frame(false).truncate();
    let response = ui.add(button).on_hover_text(format!("Select {name}"));
    if response.clicked() {
        commands.push(Command::Select(Some(tensor)));
    }
}

/// What the block rests on, and whether it could be lower.
fn support_ui(ui: &mut egui::Ui, shown: &Shown<'_>, block: u32, support: &Support, commands: &mut Vec<Command>) {
    let blocks = &shown.view.blocks;
    let idx = block as usize;
    let region = &shown.view.regions[blocks.span[idx] as usize];
    let offset = |address: u64| Bytes(address.saturating_sub(region.base));
    // A name that is a path has no place to be wrapped at, and must not make the pane wider.
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let label = elided_middle(ui, &region.label, size, ui.available_width() * 0.6);
    ui.add_space(2.0);
    ui.horizontal_wrapped(|ui| {
        ui.strong("Why here");
        let at = offset(blocks.base[idx]);
        ui.weak(format!("offset {at} in {label}"))
            .on_hover_text(format!("{} in {}", at.exact(), region.label));
    });
    let free = blocks.base[idx].saturating_sub(support.floor);
    if free > 0 {
        let free = Bytes(free);
        ui.label(format!("{free} below it are free for its whole life"))
            .on_hover_text(free.exact());
    } else if support.below.is_empty() {
        ui.label(format!("It rests on the bottom of the {label}."));
    } else {
        ui.label("It rests on");
        egui::Grid::new("rests on")
            .num_columns(3)
            .min_col_width(0.0)
            .spacing([8.0, 2.0])
            .show(ui, |ui| {
                for below in support.below.iter().take(FEW) {
                    let bytes = Bytes(blocks.bytes[*below as usize]);
                    ui.monospace(format!("{:>11}", bytes.to_string()))
                        .on_hover_text(bytes.exact());
                    ui.weak(steps_text(shown.view, *below))
                        .on_hover_text("first and last step of its life");
                    tensor_ui(ui, shown, *below, commands);
                    ui.end_row();
                }
            });
        if support.below.len() > FEW {
            ui.weak(format!("and {} more", support.below.len() - FEW));
        }
    }
    // A pool hands out what is free at the moment; only a plan knows whole lives.
    if region.kind != RegionKind::Arena {
        return;
    }
    match support.room {
        Some(room) => {
            let at = offset(room);
            let by = Bytes(blocks.base[idx].saturating_sub(room));
            ui.label(format!(
                "It could be {by} lower: it fits at offset {at} for its whole life."
            ))
            .on_hover_text(format!(
                "{} lower, at {}, with every other tensor left where it is",
                by.exact(),
                at.exact()
            ));
        }
        None if support.below.is_empty() => {}
        None => {
            ui.weak("It cannot be lower while the others stay.");
        }
    }
}
