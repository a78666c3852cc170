//! Tooltips of the lanes: the tensor, the region or the curves under the pointer, in exact figures.

use eframe::egui::{Grid, Label, RichText, TextStyle, Ui};

use super::bands::took_words;
use super::frame::LaneFrame;
use super::{LaneContent, LanesInput, LanesState, Selected, areas, gestures, remat, shortage, ticks};
use crate::numbers::to_step;
use crate::widgets::wrapped_ui;
use highwater_analysis::LaneKind;
use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::RegionKind;
use highwater_timeline::{AxisKind, LaneView, Owner, step_facts};

/// The widest tooltip, and its first column.
const WIDEST: f32 = 420.0;
const NAMES: f32 = 90.0;

/// Shown where the pointer rests.
pub(super) fn lane_tooltip(frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let Some(pos) = frame.response.hover_pos() else { return };
    if frame.response.dragged() {
        return;
    }
    let lane = &input.timeline.lanes[frame.lane];
    let response = frame.response.clone();
    let block = || {
        let block = gestures::block_at(pos, frame, input, state)?;
        Some((block, lane.tensor(block)?))
    };
    if let Some(column) = ticks::column_at(pos, frame, input, state) {
        response.on_hover_ui_at_pointer(|ui| ticks::tooltip_ui(ui, frame.lane, &column, input));
    } else if shortage::is_at(pos, frame, input, state) {
        let row = &input.comparison.lanes[frame.lane];
        response.on_hover_ui_at_pointer(|ui| shortage::tooltip_ui(ui, row, input));
    } else if let Some((block, tensor)) = block() {
        response.on_hover_ui_at_pointer(|ui| tensor_ui(ui, tensor, frame.lane, Some(block), input, state));
    } else if frame.map.contains(pos) && state.content == LaneContent::Areas {
        response.on_hover_ui_at_pointer(|ui| areas::tooltip_ui(ui, pos, frame, input, state));
    } else if frame.map.contains(pos) {
        match free_at(pos, frame, input, state) {
            Some((_, Some(hole))) => {
                response.on_hover_ui_at_pointer(|ui| hole_ui(ui, frame, hole, input, state));
            }
            Some((region, None)) => {
                response.on_hover_ui_at_pointer(|ui| region_ui(ui, lane, region, pos, frame, input, state));
            }
            None => {}
        }
    } else if let Some(step) = state.cursor {
        response.on_hover_ui_at_pointer(|ui| curve_ui(ui, frame, input, state, step));
    }
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
    let word = input.comparison.axis_word();
    let life = |start: u32, end: u32| format!("{word}s {} to {}", Step(start), Step(end.saturating_sub(1)));
    let holding = place_at(pos, frame, state).and_then(|(step, address)| lane.pick_owned_range(step, address));
    ui.strong(&*region.label);
    if region.kind == RegionKind::Unplaced {
        ui.label(
            "Blocks are stacked here only to be drawn: heights are no addresses, and what is beside them is not known.",
        );
        return;
    }
    let what = if region.is_paged { "addresses used" } else { "reserved" };
    let mut rows = vec![
        (what, exact(region.bytes)),
        ("held", life(region.start.0, region.end.0)),
    ];
    let name = |graph: GraphIdx| {
        let known = input.comparison.session.graphs.get(graph.idx());
        known.map(|graph| graph.name.as_str())
    };
    match holding {
        Some(idx) => {
            let holdings = &lane.owned_ranges;
            let bytes = Bytes(holdings.bytes[idx]);
            let pages = holdings.n_pages[idx];
            let text = match pages {
                0 => format!("{}, granted block of {bytes}", holdings.owner[idx].words(name)),
                1 => format!("{}, one page of {bytes}", holdings.owner[idx].words(name)),
                _ => format!("{}, {pages} pages of {bytes} in sum", holdings.owner[idx].words(name)),
            };
            rows.push(("here", text));
            rows.push(("since", life(holdings.start[idx], holdings.end[idx])));
        }
        None if region.is_paged => rows.push(("here", "address space without memory".to_owned())),
        None if region.owner == Owner::DevicePool => rows.push(("here", "idle in the device pool".to_owned())),
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
fn hole_ui(ui: &mut Ui, frame: &LaneFrame, hole: u32, input: &LanesInput<'_>, state: &LanesState) {
    let lane = &input.timeline.lanes[frame.lane];
    let (holes, idx) = (&lane.gaps, hole as usize);
    let bytes = Bytes(holes.bytes[idx]);
    ui.strong(format!("hole: {bytes} free under live blocks"));
    let last = holes.end[idx].saturating_sub(1);
    let region = &lane.regions[holes.span[idx] as usize];
    let offset = Bytes(holes.base[idx].saturating_sub(region.base));
    let mut rows = vec![
        ("exact", bytes.exact()),
        (
            "free",
            format!("{}s {} to {last}", input.comparison.axis_word(), holes.start[idx]),
        ),
        ("offset", format!("{} in {}", exact(offset), region.label)),
    ];
    let holes_now = state.cursor.map(|step| holes_text(lane, step));
    rows.extend(holes_now.map(|text| ("all holes", text)));
    rows_ui(ui, &rows);
}

/// Number and size of the gaps on a step.
fn holes_text(lane: &LaneView, step: f64) -> String {
    let sum = lane.gaps.at(to_step(step).0);
    match sum.count {
        0 => "none".to_owned(),
        1 => Bytes(sum.total).to_string(),
        count => format!(
            "{count} of {} in sum, the largest {}",
            Bytes(sum.total),
            Bytes(sum.largest)
        ),
    }
}

fn curve_ui(ui: &mut Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState, step: f64) {
    let lane = &input.timeline.lanes[frame.lane];
    let step = to_step(step);
    ui.strong(format!("{} {step}", input.comparison.axis_word()));
    let facts = step_facts(input.comparison, step).unwrap_or_default();
    let is_measured = input.comparison.is_measured_lane(frame.lane);
    let is_alone = input.comparison.lane_kind() == LaneKind::Recordings;
    let mut rows = vec![if is_alone {
        let id = input.comparison.lanes[frame.lane].id;
        ("recording", input.comparison.lane_title(id))
    } else {
        ("graph", facts.graph.clone())
    }];
    // Each lane states its own recomputations.
    if !facts.is_recomputed && !is_alone {
        rows.push(("op", facts.op_text().to_owned()));
    }
    rows.push(("phase", facts.phase.name().to_owned()));
    rows.extend(time_rows(step, facts.time, input, state));
    let (states_reserved, states_live) = input.comparison.states(frame.lane);
    let stated = |is_stated: bool, bytes: u64| {
        if is_stated {
            exact(Bytes(bytes))
        } else {
            "not recorded".to_owned()
        }
    };
    rows.push(("reserved", stated(states_reserved, lane.reserved.at(step.0))));
    if !is_measured {
        rows.push(("for features", exact(Bytes(lane.features.at(step.0)))));
    }
    if lane.physical.max() > 0 {
        rows.push(("in pages", exact(Bytes(lane.physical.at(step.0)))));
    }
    if lane.virtual_space.max() > 0 {
        rows.push(("in ranges", exact(Bytes(lane.virtual_space.at(step.0)))));
    }
    rows.push(("live", stated(states_live, lane.live.at(step.0))));
    let has_blocks = !is_measured || !lane.blocks.is_empty();
    if has_blocks {
        rows.push(("live, rounded", exact(Bytes(lane.rounded.at(step.0)))));
    }
    if has_blocks && lane.knows_gaps() {
        rows.push(("holes", holes_text(lane, f64::from(step.0))));
    }
    if let Some(remat) = &lane.remat {
        rows.extend(remat::reading_rows(remat, step, exact));
    }
    rows_ui(ui, &rows);
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
        0 => "no time of its own".to_owned(),
        took => format!("{prefix}{}", Nanos(took)),
    };
    // An event takes no time: the next one comes after it.
    let name = match state.axis {
        AxisKind::Wall => "next after",
        AxisKind::Order | AxisKind::Estimated => "takes",
    };
    vec![("after", format!("{prefix}{}", Nanos(start))), (name, took)]
}

/// A tensor's facts in a lane, and of a block there.
pub(super) fn tensor_ui(
    ui: &mut Ui,
    tensor: Selected,
    lane: usize,
    block: Option<u32>,
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let facts = input.timeline.facts(input.comparison, lane, tensor);
    ui.set_max_width(WIDEST);
    wrapped_ui(ui, RichText::new(&facts.name).strong());
    let op = match (facts.op_kind.is_empty(), facts.op.is_empty()) {
        (false, false) => format!("{} ({})", facts.op_kind, facts.op),
        (false, true) => facts.op_kind.clone(),
        (true, _) => facts.op.clone(),
    };
    let mut rows = vec![
        ("op", op),
        ("shape", facts.shape.clone()),
        ("dtype", facts.dtype.clone()),
    ];
    rows.push(("bytes", facts.bytes.map_or_else(String::new, exact)));
    if let Some((start, end)) = facts.life {
        let n_steps = end.0.saturating_sub(start.0);
        let last = Step(end.0.saturating_sub(1));
        let word = input.comparison.axis_word();
        rows.push(("lives", format!("{word}s {start} to {last} ({})", Step(n_steps))));
        if state.shown_axis() == AxisKind::Estimated {
            let took = took_words(start, end, state.along(input.timeline), "");
            rows.push(("for", took.replacen(", ", "est. ", 1)));
        }
        if facts.n_pieces > 1 && facts.n_held < n_steps {
            rows.push(("held", format!("{} times, on {} steps", facts.n_pieces, facts.n_held)));
            rows.push(("away", away_text(&input.timeline.rows_of(lane).pieces(tensor))));
        }
    }
    if let Some(block) = block {
        let lane = &input.timeline.lanes[lane];
        let block = block as usize;
        let region = &lane.regions[lane.blocks.span[block] as usize];
        rows.push(("occupies", exact(Bytes(lane.blocks.bytes[block]))));
        let offset = if region.kind == RegionKind::Unplaced {
            "not recorded".to_owned()
        } else {
            format!("{} in {}", exact(Bytes(lane.blocks.offset[block])), region.label)
        };
        rows.push(("offset", offset));
    }
    // The inspector shows whole stacks.
    let told = facts.recorded.iter().filter(|(what, _)| *what != "called from");
    rows.extend(told.cloned());
    rows.push(("shares with", facts.sharing.words()));
    if let Some((op, through)) = &facts.sharing.read_last {
        rows.push(("read last", format!("by {op}, as {through}")));
    }
    rows_ui(ui, &rows);
}

/// The first intervals in which a tensor is evicted.
fn away_text(pieces: &[(Step, Step)]) -> String {
    const TOLD: usize = 3;
    let gaps = pieces.windows(2).filter(|pair| pair[0].1 < pair[1].0);
    let mut texts: Vec<String> = gaps
        .map(|pair| format!("{} to {}", pair[0].1, pair[1].0.0.saturating_sub(1)))
        .collect();
    let left = texts.len().saturating_sub(TOLD);
    texts.truncate(TOLD);
    let more = if left > 0 {
        format!(" and {left} more")
    } else {
        String::new()
    };
    format!("steps {}{more}", texts.join(", "))
}

/// `2 763 672 996 B (2.574 GiB)`.
pub(super) fn exact(bytes: Bytes) -> String {
    if bytes.get() < 1024 {
        return bytes.exact();
    }
    format!("{} ({bytes})", bytes.exact())
}

pub(super) fn rows_ui(ui: &mut Ui, rows: &[(&str, String)]) {
    let font = TextStyle::Monospace.resolve(ui.style());
    Grid::new("facts").num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
        for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
            ui.weak(*name);
            // Wrapped here: a column of a grid is as narrow as possible.
            let color = ui.visuals().text_color();
            let text = ui.painter().layout(value.clone(), font.clone(), color, WIDEST - NAMES);
            ui.add(Label::new(text));
            ui.end_row();
        }
    });
}
