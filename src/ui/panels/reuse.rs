//! Part of the inspector: whose bytes the selected tensor reuses in a lane, who reuses its bytes, and why it has its
//! place.
//!
//! Computed when selection, lane or answer change.

use std::sync::{Arc, Weak};

use eframe::egui::{self, RichText};

use super::elided_middle;
use super::inspector::EditorState;
use super::neighbourhood::NeighbourState;
use crate::commands::UiCommand;
use crate::widgets::{link_ui, list_end_ui, list_length, right_bytes_ui, wrapped_ui};
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::{Bytes, Step};
use highwater_session::{Command, Selected};
use highwater_sim::RegionKind;
use highwater_timeline::{LaneView, ReuseSide, ReusedBytes, Support, Timeline, shown_name};

/// Rows of a collapsed list.
const FEW: usize = 6;

#[derive(Debug, Default)]
pub struct InspectorState {
    known: Option<Known>,
    pub editor: EditorState,
    pub(super) neighbours: NeighbourState,
}

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

struct Shown<'a> {
    comparison: &'a Comparison,
    view: &'a LaneView,
}

/// A click on a tensor selects it.
pub(super) fn reuse_ui(
    ui: &mut egui::Ui,
    (comparison, timeline): (&Comparison, &Arc<Timeline>),
    (tensor, lane): (Selected, usize),
    state: &mut InspectorState,
    commands: &mut Vec<Command>,
) {
    if !state
        .known
        .as_ref()
        .is_some_and(|known| known.is_of(timeline, lane, tensor))
    {
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
            "This lane holds no separate memory for the tensor.".to_owned()
        } else {
            format!("It is part of the {}.", facts.held_in)
        };
        wrapped_ui(ui, RichText::new(words).weak());
        return;
    };
    if let Some(why) = shown.view.unknown_neighbours(*block) {
        ui.weak(why);
        return;
    }
    support_ui(ui, &shown, *block, support, commands);
    let titles = ["Reuses the bytes of", "Bytes reused by"];
    let nothing = [
        "none: no earlier tensor used the bytes",
        "none: no later tensor uses the bytes",
    ];
    for (idx, passed) in known.passed.iter().enumerate() {
        ui.add_space(6.0);
        title_ui(ui, titles[idx], passed);
        if passed.is_empty() {
            ui.weak(nothing[idx]);
        }
        passed_ui(ui, &shown, titles[idx], passed, commands);
    }
}

/// The choice of the selected lane; returns its position.
pub(super) fn lane_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    selected: Option<LaneId>,
    window_commands: &mut Vec<UiCommand>,
) -> Option<usize> {
    let lane = selected
        .and_then(|id| comparison.position(id))
        .or_else(|| comparison.main_lane())
        .or_else(|| (!comparison.lanes.is_empty()).then_some(0))?;
    let mut chosen = lane;
    ui.horizontal_wrapped(|ui| {
        ui.strong(if comparison.lane_kind() == LaneKind::Policies {
            "In the lane of policy"
        } else {
            "In lane"
        });
        super::lane_marks_ui(ui, comparison, &mut chosen, "show lane");
    });
    if chosen != lane {
        window_commands.push(UiCommand::ExplainLane(comparison.lanes[chosen].id));
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

/// Bytes, steps and names; a collapsed list has the largest.
fn passed_ui(ui: &mut egui::Ui, shown: &Shown<'_>, title: &str, passed: &[ReusedBytes], commands: &mut Vec<Command>) {
    let n_rows = list_length(ui, title, FEW, passed.len());
    let rows = passed.iter().map(|passed| (Bytes(passed.bytes), passed.block));
    blocks_ui(
        ui,
        shown,
        egui::Grid::new(title).striped(true),
        rows.take(n_rows),
        commands,
    );
    list_end_ui(ui, title, FEW, passed.len());
}

/// Bytes, steps and names of blocks.
fn blocks_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    grid: egui::Grid,
    blocks: impl Iterator<Item = (Bytes, u32)>,
    commands: &mut Vec<Command>,
) {
    let grid = grid.num_columns(3).min_col_width(0.0).spacing([8.0, 2.0]);
    grid.show(ui, |ui| {
        for (bytes, block) in blocks {
            right_bytes_ui(ui, bytes);
            ui.weak(steps_text(shown, block))
                .on_hover_text("First and last live step");
            tensor_ui(ui, shown, block, commands);
            ui.end_row();
        }
    });
}

fn steps_text(shown: &Shown<'_>, block: u32) -> String {
    let (blocks, idx) = (&shown.view.blocks, block as usize);
    let graph = shown.view.tensor(block).map(|tensor| tensor.graph);
    let lane = graph.map_or(0, |graph| shown.comparison.lane_of_blocks(graph));
    let ends = [blocks.start[idx], blocks.end[idx].saturating_sub(1)];
    let [first, last] = ends.map(|step| shown.comparison.shown_step(lane, Step(step)));
    format!("{first}–{last}")
}

/// A tensor's name; a click selects it.
fn tensor_ui(ui: &mut egui::Ui, shown: &Shown<'_>, block: u32, commands: &mut Vec<Command>) {
    let Some(tensor) = shown.view.tensor(block) else {
        ui.weak("not a tensor");
        return;
    };
    let name = shown_name(shown.comparison, tensor);
    if link_ui(ui, &name).on_hover_text(format!("Select {name}")).clicked() {
        commands.push(Command::Select(Some(tensor)));
    }
}

/// The blocks below this one, and whether it could be lower.
fn support_ui(ui: &mut egui::Ui, shown: &Shown<'_>, block: u32, support: &Support, commands: &mut Vec<Command>) {
    let blocks = &shown.view.blocks;
    let idx = block as usize;
    let region = &shown.view.regions[blocks.span[idx] as usize];
    let offset = |address: u64| Bytes(address.saturating_sub(region.base));
    // A path cannot be wrapped, and must not widen the pane.
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    let label = elided_middle(ui, &region.label, size, ui.available_width() * 0.6);
    ui.add_space(2.0);
    ui.horizontal_wrapped(|ui| {
        ui.strong("Placement");
        let at = offset(blocks.base.at(idx));
        ui.weak(format!("offset {at} in {label}"))
            .on_hover_text(format!("{} in {}", at.exact(), region.label));
    });
    let free = blocks.base.at(idx).saturating_sub(support.floor);
    if free > 0 {
        let free = Bytes(free);
        ui.label(format!("{free} below it are free for its whole life"))
            .on_hover_text(free.exact());
    } else if support.below.is_empty() {
        ui.label(format!("Placed at the bottom of the {label}."));
    } else {
        ui.label("Lies above");
        let n_rows = list_length(ui, "tensors below", FEW, support.below.len());
        let rows = support.below.iter().take(n_rows);
        let rows = rows.map(|below| (Bytes(blocks.bytes.at(*below as usize)), *below));
        blocks_ui(ui, shown, egui::Grid::new("rests on"), rows, commands);
        list_end_ui(ui, "tensors below", FEW, support.below.len());
    }
    // A pool grants what is free at the time; only a plan knows live ranges.
    if region.kind != RegionKind::Arena {
        return;
    }
    match support.room {
        Some(room) => {
            let at = offset(room);
            let by = Bytes(blocks.base.at(idx).saturating_sub(room));
            ui.label(format!(
                "Could be {by} lower: it fits at offset {at} for its whole life."
            ))
            .on_hover_text(format!(
                "{} lower, at {}, with all other tensors unchanged",
                by.exact(),
                at.exact()
            ));
        }
        None if support.below.is_empty() => {}
        None => {
            ui.weak("Cannot be lower with the others fixed.");
        }
    }
}
