//! The inspector: the selected tensor in exact figures, with its neighbours in the graph; without a selection, what
//! holds the peak.

mod facts;
mod failure;
mod stack;

use eframe::egui::{self, RichText};
use egui_extras::{Column, TableBuilder};

use crate::commands::UiCommand;
use crate::lanes::LanesState;
use crate::panels::PaneCx;
use crate::panels::footprint::footprint_ui;
use crate::panels::neighbourhood::neighbourhood_ui;
use crate::panels::remat::remat_ui;
pub use crate::panels::reuse::InspectorState;
use crate::panels::reuse::{lane_ui, reuse_ui};
use crate::panels::sorted_table::{Head, Sorting, sorted_table_ui};
use crate::panels::{elided, elided_middle};
use crate::panes::Pane;
use crate::theme::Theme;
use crate::widgets::{button_ui, bytes_ui, list_end_ui, list_length, right_bytes_ui, wrapped_ui};
use highwater_analysis::{Comparison, Lane, LaneId, LaneKind, OutOfMemoryReport};
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_options::keys;
use highwater_session::{Command, Selected};
use highwater_sim::RegionKind;
use highwater_timeline::{CallStack, LaneView, Timeline, step_facts};
pub use stack::{EditorState, stack_ui};

/// Rows of the list of held regions.
const REGION_ROWS: usize = 8;

/// Widths of a figure, and of a count.
const FIGURE: f32 = 84.0;
const TIMES: f32 = 26.0;

pub fn inspector_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut InspectorState, lanes: &mut LanesState) {
    let selected_lane = lanes.selected_lane;
    let Some((comparison, timeline)) = cx.session.answer() else {
        ui.weak("Select a tensor to see its facts.");
        return;
    };
    egui::ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| match cx.session.selection() {
            Some(selected) => {
                state.neighbours.look(comparison, timeline, selected);
                if let Some(to) = facts::tensor_ui(ui, comparison, timeline, selected, state.neighbours.around()) {
                    state.neighbours.go(to, Some(selected), cx.commands);
                }
                if let Some(stack) = CallStack::new(comparison, selected) {
                    stack_ui(ui, cx, ("Call stack (allocation)", &stack), &mut state.editor);
                }
                neighbourhood_ui(ui, cx, selected, &mut state.neighbours);
                places_ui(ui, comparison, timeline, selected);
                ui.add_space(6.0);
                if let Some(lane) = lane_ui(ui, comparison, selected_lane, cx.window_commands) {
                    reuse_ui(ui, (comparison, timeline), (selected, lane), state, cx.commands);
                }
                ui.add_space(6.0);
                if ui.button("Clear selection (Esc)").clicked() {
                    cx.commands.push(Command::Select(None));
                }
            }
            None => without_selection_ui(ui, cx, (comparison, timeline), (state, lanes)),
        });
}

/// A failed request of the lane, where one is pinned; else what holds its peak.
fn without_selection_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    (comparison, timeline): (&Comparison, &Timeline),
    (state, lanes): (&mut InspectorState, &mut LanesState),
) {
    let Some(lane) = lane_ui(ui, comparison, lanes.selected_lane, cx.window_commands) else {
        ui.weak("Click a tensor in a lane to see its facts.");
        return;
    };
    if !failure::failures_ui(ui, cx, comparison, lane, (state, lanes)) {
        peak_ui(ui, cx, comparison, timeline, lane);
    }
}

/// The tensor's place in each lane.
fn places_ui(ui: &mut egui::Ui, comparison: &Comparison, timeline: &Timeline, selected: Selected) {
    ui.add_space(6.0);
    ui.strong("In each lane");
    let times = |lane: usize| timeline.rows_of(lane).find(selected).map_or(1, |row| row.n_pieces);
    let has_times = (0..timeline.lanes.len()).any(|lane| times(lane) > 1);
    let width = ui.available_width() - if has_times { TIMES } else { 0.0 };
    egui::Grid::new("places")
        .num_columns(3)
        .spacing([8.0, 4.0])
        .striped(true)
        .show(ui, |ui| {
            ui.weak("lane");
            ui.weak("place")
                .on_hover_text("Address in the memory map, where lanes begin at 0");
            ui.weak("occupies");
            ui.end_row();
            for (position, (lane, view)) in comparison.lanes.iter().zip(&timeline.lanes).enumerate() {
                // Address and bytes stay visible; a long title is cut.
                let title = comparison.lane_title(lane.id);
                let size = egui::TextStyle::Body.resolve(ui.style()).size;
                let short = elided(ui, &title, size, (width - 2.0 * FIGURE).max(48.0));
                ui.label(short).on_hover_text(title);
                match view.blocks_of(selected).next() {
                    None => {
                        whole_ui(ui, comparison, timeline, position, selected);
                    }
                    Some(block) => {
                        let idx = block as usize;
                        let address = Bytes(view.blocks.base.at(idx));
                        let region = view.regions.get(view.blocks.span[idx] as usize);
                        let offset = Bytes(view.blocks.offset.at(idx));
                        match region {
                            Some(region) if region.kind != RegionKind::Unplaced => {
                                ui.monospace(address.to_string()).on_hover_text(format!(
                                    "in {}, at offset {} there",
                                    region.label,
                                    offset.exact()
                                ));
                            }
                            _ => {
                                ui.weak("not known")
                                    .on_hover_text("The file states no segment for it: it is stacked for drawing only");
                            }
                        }
                        let bytes = Bytes(view.blocks.bytes.at(idx));
                        let times = times(position);
                        let text = if times > 1 {
                            format!("{bytes} ×{times}")
                        } else {
                            bytes.to_string()
                        };
                        let held = if times > 1 {
                            format!(", live {times} times")
                        } else {
                            String::new()
                        };
                        ui.monospace(text).on_hover_text(format!("{}{held}", bytes.exact()));
                    }
                }
                ui.end_row();
            }
        });
}

/// A tensor without a block: the region that holds it as a whole, if any.
fn whole_ui(ui: &mut egui::Ui, comparison: &Comparison, timeline: &Timeline, lane: usize, selected: Selected) {
    let facts = timeline.facts(comparison, lane, selected);
    let has_whole = !facts.held_in.is_empty() && !comparison.is_measured_lane(lane);
    let (held, why) = if has_whole {
        ("as a whole", facts.held_in.as_str())
    } else {
        ("none", "this lane holds no memory for it")
    };
    ui.weak(held).on_hover_text(why);
    let bytes = facts.bytes.filter(|_| has_whole);
    ui.monospace(bytes.map_or_else(String::new, |bytes| bytes.to_string()))
        .on_hover_text(why);
}

/// When and why a lane peaks: the main lane unless another was chosen.
fn peak_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, comparison: &Comparison, timeline: &Timeline, position: usize) {
    let (lane, view) = (&comparison.lanes[position], &timeline.lanes[position]);
    if let Some(story) = &lane.out_of_memory_report {
        for sentence in story.sentences() {
            wrapped_ui(ui, RichText::new(sentence).color(cx.theme.bad));
        }
        remedies_ui(ui, cx, story);
        ui.add_space(4.0);
        if lane.summary.peak_reserved == Bytes::ZERO {
            ui.weak("Nothing was reserved before.");
            return;
        }
    }
    if let Some(remat) = &view.remat {
        remat_ui(ui, cx, lane, remat);
    }
    let Some(step) = comparison.shown_peak(position).step else {
        ui.weak("The schedule has no steps.");
        return;
    };
    ui.strong(format!("Peak of {}", comparison.lane_title(lane.id)));
    ui.add_space(2.0);
    if let LaneId::Measured(_) = lane.id {
        measured_ui(ui, lane, comparison.lane_kind());
    } else {
        peak_parts_ui(ui, lane, cx.theme);
        ui.add_space(6.0);
        explanation_ui(ui, lane);
    }
    overhead_ui(ui, lane);
    if let Some(stack) = &view.arena_stack {
        footprint_ui(ui, comparison, stack, cx.commands);
    }
    regions_ui(ui, comparison, position, view, step);
    ui.add_space(6.0);
    if view.blocks.is_empty() {
        ui.weak(if matches!(lane.id, LaneId::Measured(_)) {
            "The file lists no blocks."
        } else {
            "No tensor is live at any step."
        });
        return;
    }
    let live_step = lane.summary.peak_live_step.unwrap_or(step);
    // A recording aligned to a graph may have run another op on this step.
    let known = (!matches!(lane.id, LaneId::Measured(_))).then(|| step_facts(comparison, live_step));
    let at = known.flatten().map_or(String::new(), |facts| match facts.op_text() {
        "" => format!(" in {}", facts.graph),
        op => format!(" in {}, at {op}", facts.graph),
    });
    let live = &view.at_peak.blocks;
    let noun = comparison.study_of_lane(position).words().tensor;
    let holders = counted(live.len() as u64, noun);
    let peak_at = comparison.step_text(position, live_step);
    ui.label(format!("Peak live at {peak_at}{at}, {holders}:"));
    live_table_ui(ui, comparison, timeline, position, cx.commands);
}

/// What makes the session fit.
fn remedies_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, story: &OutOfMemoryReport) {
    ui.horizontal_wrapped(|ui| {
        if let Some(enough) = story.sufficient_device {
            let button = egui::Button::new(format!("Try a device with {enough}"));
            if button_ui(ui, button, "Sets simulation.device_memory") {
                let text = format!("{}MiB", enough.get() >> 20);
                cx.commands.push(Command::set_option(keys::DEVICE_MEMORY, text));
            }
        }
        if Pane::Budgets.why_not(cx.session).is_none() {
            let hint = "Budgets: evict and recompute tensors to need less memory";
            if button_ui(ui, egui::Button::new("Find a budget"), hint) {
                cx.window_commands.push(UiCommand::ShowPane(Pane::Budgets));
            }
        }
    });
}

/// Remarks of a recording. Where recordings alone are open, the panel on the left has those without a step.
fn measured_ui(ui: &mut egui::Ui, lane: &Lane, kind: LaneKind) {
    let is_told = |position: usize, step: Option<Step>| kind == LaneKind::Recordings && position > 0 && step.is_none();
    let remarks = lane.explanation.iter().enumerate();
    for (_, remark) in remarks.filter(|(position, remark)| !is_told(*position, remark.step)) {
        wrapped_ui(ui, &remark.text);
        ui.add_space(3.0);
    }
}

/// Where the peak comes from, and where the lane differs from policy 0.
fn explanation_ui(ui: &mut egui::Ui, lane: &Lane) {
    // The parts above say what the first remark says.
    for remark in lane.explanation.iter().skip(1) {
        wrapped_ui(ui, &remark.text);
        ui.add_space(3.0);
    }
}

/// Costs of the policy's own calls by cause: exact counts, estimated times.
fn overhead_ui(ui: &mut egui::Ui, lane: &Lane) {
    let rows: Vec<_> = lane.summary.overhead.iter().filter(|row| row.count > 0).collect();
    if rows.is_empty() {
        return;
    }
    let title = format!("Device calls, est. {}", lane.summary.estimated_overhead);
    egui::CollapsingHeader::new(title).id_salt("overhead").show(ui, |ui| {
        egui::Grid::new("overhead rows")
            .num_columns(3)
            .striped(true)
            .show(ui, |ui| {
                for row in rows {
                    ui.label(row.cause.label());
                    ui.monospace(row.count.to_string());
                    ui.weak(format!("est. {}", row.time));
                    ui.end_row();
                }
            });
    });
    ui.add_space(4.0);
}

/// Live tensors with their bytes; only visible rows are made.
fn live_table_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    timeline: &Timeline,
    lane: usize,
    commands: &mut Vec<Command>,
) {
    let view = &timeline.lanes[lane];
    let live = &view.at_peak.rows;
    let noun = comparison.study_of_lane(lane).words().tensor;
    ui.add_space(4.0);
    let height = ui.text_style_height(&egui::TextStyle::Body) + 6.0;
    // A solid scroll bar shows that there are more.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let table = TableBuilder::new(ui)
        .striped(true)
        .sense(egui::Sense::click())
        .auto_shrink([false, true])
        .max_scroll_height(420.0);
    let heads = [
        ("bytes", Column::exact(92.0), true),
        (noun, Column::remainder().clip(true), false),
    ];
    let heads = heads.map(|(title, width, is_right_aligned)| Head {
        is_right_aligned,
        ..Head::new(title, width)
    });
    sorted_table_ui(
        table,
        &heads,
        &mut Sorting::default(),
        (height, live.len()),
        |row, _| {
            let Some(held) = live.get(row.index()) else { return };
            let Some(selected) = view.tensor(held.block) else {
                return;
            };
            let facts = timeline.facts(comparison, lane, selected);
            row.col(|ui| {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    right_bytes_ui(ui, held.bytes)
                });
            });
            row.col(|ui| {
                let text = if held.count > 1 {
                    format!("{} × {}", grouped(held.count), facts.name)
                } else if facts.op_kind.is_empty() {
                    facts.name.clone()
                } else {
                    format!("{} {}", facts.op_kind, facts.shape)
                };
                let size = egui::TextStyle::Body.resolve(ui.style()).size;
                let shown = elided_middle(ui, &text, size, ui.available_width());
                ui.add(egui::Label::new(shown).truncate()).on_hover_text(&facts.name);
            });
            if row.response().clicked() {
                commands.push(Command::Select(Some(selected)));
            }
        },
    );
}

/// The peak by use.
fn peak_parts_ui(ui: &mut egui::Ui, lane: &Lane, theme: &Theme) {
    egui::Grid::new("parts")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([6.0, 3.0])
        .show(ui, |ui| {
            super::parts_ui(ui, &lane.summary.reserved, theme);
            ui.label("");
            ui.strong("peak reserved");
            let peak = lane.summary.peak_reserved;
            bytes_ui(ui, peak);
            ui.end_row();
        });
}

/// Regions held on the first step of the peak; those of graphs that do not run then are idle.
fn regions_ui(ui: &mut egui::Ui, comparison: &Comparison, lane: usize, view: &LaneView, step: Step) {
    let is_measured = comparison.is_measured_lane(lane);
    let held = &view.at_peak.regions;
    if is_measured && held.is_empty() {
        // The file names no segment.
        return;
    }
    let running = comparison
        .axis
        .locate(step)
        .map(|(run, _)| comparison.axis.runs[run].run.graph);
    let name = running.and_then(|graph| comparison.session.graph_name(graph));
    let name = name.unwrap_or_default();
    ui.label(if comparison.trace().is_some() || is_measured {
        format!("Reserved at {}:", comparison.step_text(lane, step))
    } else {
        format!("Reserved at step {step}, while {name} runs:")
    });
    let n_rows = list_length(ui, "regions", REGION_ROWS, held.len());
    egui::Grid::new("regions")
        .num_columns(2)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            for (idx, bytes) in held.iter().take(n_rows) {
                let span = &view.regions[*idx as usize];
                right_bytes_ui(ui, *bytes);
                ui.add(egui::Label::new(&*span.label).truncate())
                    .on_hover_text(&*span.label);
                ui.end_row();
            }
        });
    list_end_ui(ui, "regions", REGION_ROWS, held.len());
}
