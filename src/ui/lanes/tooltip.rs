//! Tooltips of the lanes: the tensor, the region or the curves under the pointer, in exact figures.

use eframe::egui::text::LayoutJob;
use eframe::egui::{AreaState, Grid, Label, Rect, RectAlign, Response, RichText, TextStyle, Tooltip, Ui, pos2};

use super::frame::LaneFrame;
use super::{LaneContent, LanesInput, LanesState, Selected, areas, constant, gestures, remat, shortage, ticks};
use crate::numbers::to_step;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_sim::RegionKind;
use highwater_timeline::{AxisKind, LaneView, Owner, step_facts};

/// The widest tooltip, and its first column.
const WIDEST: f32 = 420.0;
const NAMES: f32 = 90.0;

/// Shown where the pointer rests: at most three lines; the status bar has the figures of the step.
pub(super) fn lane_tooltip(frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let Some(pos) = frame.response.hover_pos() else { return };
    if frame.response.dragged() {
        return;
    }
    let lane = &input.timeline.lanes[frame.lane];
    let block = || {
        let block = gestures::block_at(pos, frame, input, state)?;
        Some((block, lane.tensor(block)?))
    };
    if let Some(column) = ticks::column_at(pos, frame, input, state) {
        beside_pointer(&frame.response, frame.body, |ui| {
            ticks::tooltip_ui(ui, frame.lane, &column, input);
        });
    } else if let Some(step) = shortage::request_at(pos, frame, input, state) {
        beside_pointer(&frame.response, frame.body, |ui| {
            shortage::request_tooltip_ui(ui, frame, step, input);
        });
    } else if shortage::is_at(pos, frame, input, state) {
        let row = &input.comparison.lanes[frame.lane];
        beside_pointer(&frame.response, frame.body, |ui| shortage::tooltip_ui(ui, row, input));
    } else if let Some((block, tensor)) = block() {
        beside_pointer(&frame.response, frame.body, |ui| {
            tensor_ui(ui, tensor, frame.lane, Some(block), input);
        });
    } else if frame.map.contains(pos) && state.content == LaneContent::Areas {
        beside_pointer(&frame.response, frame.body, |ui| {
            areas::tooltip_ui(ui, pos, frame, input, state);
        });
    } else if let Some(regions) = constant::at(pos, frame, input) {
        beside_pointer(&frame.response, frame.body, |ui| constant::tooltip_ui(ui, regions));
    } else if frame.map.contains(pos) {
        match free_at(pos, frame, input, state) {
            Some((_, Some(hole))) => {
                beside_pointer(&frame.response, frame.body, |ui| hole_ui(ui, frame, hole, input));
            }
            Some((region, None)) => {
                beside_pointer(&frame.response, frame.body, |ui| {
                    region_ui(ui, lane, region, pos, frame, input, state);
                });
            }
            None => {}
        }
    }
}

/// Height of three lines, where the tooltip was not shown before.
const LINES: f32 = 62.0;
/// Distance to the pointer.
const BESIDE: f32 = 12.0;

/// Shows a tooltip left or right of the pointer, within `body` of its lane: other lanes stay visible at the same step.
pub(super) fn beside_pointer(response: &Response, body: Rect, add: impl FnOnce(&mut Ui)) {
    let Some(pos) = response.hover_pos() else { return };
    let id = Tooltip::next_tooltip_id(&response.ctx, response.id);
    let known = AreaState::load(&response.ctx, id).and_then(|state| state.size);
    let height = known.map_or(LINES, |size| size.y);
    let is_right = pos.x < body.center().x;
    let room = if is_right {
        body.right() - pos.x
    } else {
        pos.x - body.left()
    };
    let top = (pos.y - BESIDE).min(body.bottom() - height).max(body.top());
    let align = if is_right {
        RectAlign::RIGHT_START
    } else {
        RectAlign::LEFT_START
    };
    let mut tooltip = Tooltip::for_enabled(response)
        .gap(BESIDE)
        .width((room - 2.0 * BESIDE).min(WIDEST));
    tooltip.popup = tooltip
        .popup
        .at_position(pos2(pos.x, top))
        .align(align)
        .align_alternatives(&[]);
    tooltip.show(add);
}

/// The step under the pointer in one line, for the status bar.
pub(super) fn reading(frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Option<String> {
    frame.response.hover_pos()?;
    let step = to_step(state.cursor?);
    let lane = &input.timeline.lanes[frame.lane];
    let facts = step_facts(input.comparison, step).unwrap_or_default();
    let mut parts = vec![
        input.comparison.title_of(frame.lane),
        input.comparison.step_text(frame.lane, step),
    ];
    if !facts.is_recomputed {
        parts.push(facts.op_text().to_owned());
    }
    parts.extend(
        time_rows(step, facts.time, input, state)
            .into_iter()
            .map(|(name, text)| format!("{name} {text}")),
    );
    if let Some(ended) = shortage::ended_text(&input.comparison.lanes[frame.lane], step) {
        parts.push(ended);
        parts.retain(|part| !part.is_empty());
        return Some(parts.join(" \u{b7} "));
    }
    let (states_reserved, states_live) = input.comparison.states(frame.lane);
    let mut add = |is_stated: bool, bytes: u64, what: &str| {
        if is_stated {
            parts.push(format!("{} {what}", Bytes(bytes)));
        }
    };
    add(states_reserved, lane.reserved.at(step.0), "reserved");
    add(lane.physical.max() > 0, lane.physical.at(step.0), "in pages");
    add(states_live, lane.live.at(step.0), "live");
    let has_blocks = !input.comparison.is_measured_lane(frame.lane) || !lane.blocks.is_empty();
    // Of a recording the Device pane has the gaps of the allocator, which count more.
    if has_blocks && lane.knows_gaps() && !input.comparison.is_measured_lane(frame.lane) {
        parts.push(format!("gaps {}", holes_text(lane, f64::from(step.0))));
    }
    if let Some(remat) = &lane.remat {
        let rows = remat::reading_rows(remat, step, |bytes| bytes.to_string());
        parts.extend(rows.into_iter().map(|(name, text)| format!("{name} {text}")));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" \u{b7} "))
}

/// Memory without a tensor: region and owner.
fn region_ui(
    ui: &mut Ui,
    lane: &LaneView,
    region: usize,
    pos: eframe::egui::Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let region = &lane.regions[region];
    let life = |start: u32, end: u32| input.comparison.steps_text(frame.lane, Step(start), Step(end));
    let holding = place_at(pos, frame, state).and_then(|(step, address)| lane.pick_owned_range(step, address));
    ui.strong(&*region.label);
    if region.kind == RegionKind::Unplaced {
        ui.label("Addresses are not known: blocks are stacked for drawing only.");
        return;
    }
    let what = if region.is_paged { "addresses used" } else { "reserved" };
    let held = life(region.start.0, region.end.0);
    let mut rows = vec![(what, format!("{}, {held}", region.bytes))];
    match holding {
        Some(idx) => {
            let holdings = &lane.owned_ranges;
            let bytes = Bytes(holdings.bytes.at(idx));
            let pages = holdings.n_pages[idx];
            let owner = holdings.owner[idx].words(&input.comparison.session);
            let text = match pages {
                0 => format!("{owner}, granted block of {bytes}"),
                1 => format!("{owner}, one page of {bytes}"),
                _ => format!("{owner}, {pages} pages of {bytes} in total"),
            };
            rows.push(("here", text));
        }
        None if region.is_paged => rows.push(("here", "address space without memory".to_owned())),
        None if region.owner == Owner::DevicePool => rows.push(("here", "free in the device pool".to_owned())),
        None => {}
    }
    rows_ui(ui, &rows);
}

/// Step and address under the pointer.
fn place_at(pos: eframe::egui::Pos2, frame: &LaneFrame, state: &LanesState) -> Option<(f64, f64)> {
    let (viewport, map) = (frame.view(state)?, frame.map);
    let step = viewport.step_from_x(f64::from(pos.x - map.left()), f64::from(map.width()));
    let address = viewport.address_from_y(f64::from(pos.y - map.top()), f64::from(map.height()));
    Some((step, address))
}

/// The region under the pointer, and the gap there.
fn free_at(
    pos: eframe::egui::Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
) -> Option<(usize, Option<u32>)> {
    let (step, address) = place_at(pos, frame, state)?;
    let lane = &input.timeline.lanes[frame.lane];
    Some((lane.pick_region(step, address)?, lane.pick_gap(step, address)))
}

/// Free bytes below live ones.
fn hole_ui(ui: &mut Ui, frame: &LaneFrame, hole: u32, input: &LanesInput<'_>) {
    let lane = &input.timeline.lanes[frame.lane];
    let (holes, idx) = (&lane.gaps, hole as usize);
    let bytes = Bytes(holes.bytes.at(idx));
    ui.strong(format!("gap: {} free under live blocks", exact(bytes)));
    let region = lane.gap_region(idx).and_then(|region| lane.regions.get(region));
    let [start, end] = [holes.start[idx], holes.end[idx]].map(Step);
    let rows = [
        ("free", input.comparison.steps_text(frame.lane, start, end)),
        (
            "offset",
            region.map_or_else(String::new, |region| {
                let offset = Bytes(holes.base.at(idx).saturating_sub(region.base));
                format!("{offset} in {}", region.label)
            }),
        ),
    ];
    rows_ui(ui, &rows);
}

/// Number and size of the gaps on a step.
fn holes_text(lane: &LaneView, step: f64) -> String {
    let sum = lane.gaps.at(to_step(step).0);
    match sum.count {
        0 => "none".to_owned(),
        1 => Bytes(sum.total).to_string(),
        count => format!(
            "{count} of {} in total, largest {}",
            Bytes(sum.total),
            Bytes(sum.largest)
        ),
    }
}

/// The time of a step and its duration, from the data or the axis.
fn time_rows(
    step: Step,
    stated: Option<Nanos>,
    input: &LanesInput<'_>,
    state: &LanesState,
) -> Vec<(&'static str, String)> {
    let Some(axis) = state.along(input.timeline) else {
        return stated.map(|time| ("after", time.to_string())).into_iter().collect();
    };
    let (start, end) = (axis.time_at(step.0), axis.time_at(step.0.saturating_add(1)));
    let prefix = state.axis.prefix();
    let took = match end.saturating_sub(start) {
        0 => "takes no time".to_owned(),
        took => format!("{prefix}{}", Nanos(took)),
    };
    // An event takes no time: the next one comes after it.
    let name = match state.axis {
        AxisKind::Wall => "until next",
        AxisKind::Order | AxisKind::Estimated => "takes",
    };
    vec![("after", format!("{prefix}{}", Nanos(start))), (name, took)]
}

/// A tensor's name, bytes and live range; the inspector has everything else.
pub(super) fn tensor_ui(ui: &mut Ui, tensor: Selected, lane: usize, block: Option<u32>, input: &LanesInput<'_>) {
    let facts = input.timeline.facts(input.comparison, lane, tensor);
    ui.add(Label::new(RichText::new(&facts.name).strong()).truncate());
    let occupied = block.map(|block| Bytes(input.timeline.lanes[lane].blocks.bytes.at(block as usize)));
    let bytes = facts.bytes.or(occupied).map_or_else(String::new, exact);
    let own = input.comparison.lane_of_blocks(tensor.graph);
    let life = facts
        .life
        .map(|(start, end)| input.comparison.steps_text(own, start, end));
    rows_ui(ui, &[("bytes", bytes), ("live", life.unwrap_or_default())]);
}

/// `2 763 672 996 B (2.574 GiB)`.
pub(super) fn exact(bytes: Bytes) -> String {
    if bytes.get() < 1024 {
        return bytes.exact();
    }
    format!("{} ({bytes})", bytes.exact())
}

/// Names and values, a line each; longer values are cut.
pub(super) fn rows_ui(ui: &mut Ui, rows: &[(&str, String)]) {
    let font = TextStyle::Monospace.resolve(ui.style());
    let room = (ui.available_width().min(WIDEST) - NAMES).max(NAMES);
    Grid::new("facts").num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
        for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
            ui.weak(*name);
            // Cut here: a column of a grid is as narrow as possible.
            let mut job = LayoutJob::simple(value.clone(), font.clone(), ui.visuals().text_color(), room);
            job.wrap.max_rows = 1;
            ui.add(Label::new(job));
            ui.end_row();
        }
    });
}
