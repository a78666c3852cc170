//! The device at one step of a lane: bytes in use by part, pools with their free lists, pages, regions; above them the
//! simulated device.
//!
//! A recorded lane shows the state of its allocator instead, segment by segment, where the file lists segments.
//!
//! In: the session, the selected lane, and the step of the lanes (under the pointer, or pinned). Out: a request for a picture of that
//! step, which the worker makes; until then the last picture stays, dimmed. A click on a pool or a region outlines it
//! in the memory map.

mod allocator;
mod events;
mod pool_history;
mod pools;
mod profile;
mod recorded;
mod regions;

use eframe::egui::{self, RichText};

use crate::commands::UiCommand;
use crate::lanes::{HoveredRegion, LanesInput, LanesState, Move, PinnedStep, sentences};
use crate::numbers::{to_f64, to_points};
use crate::panels::inspector::EditorState;
use crate::panels::sorted_table::Sorting;
use crate::panels::{Appearance, PaneCx, lane_marks_ui, parts_of, parts_ui, requested_ui, swatch_ui};
use crate::theme::Theme;
use crate::widgets::{Named as _, bytes_ui, named_button_ui, small};
use highwater_analysis::{Comparison, Lane, LaneKind};
use highwater_model::units::{Bytes, Step};
use highwater_session::Command;
use highwater_sim::DevicePicture;
use highwater_sim::fold::ReservedParts;
use highwater_timeline::{LaneView, Timeline, step_facts};

const BAR: f32 = 14.0;

#[derive(Clone, Debug)]
pub struct DeviceState {
    profile: profile::ProfileState,
    regions: Sorting,
    segments: Sorting,
    appearance: Appearance,
    /// Position of the pool whose free sizes are all listed.
    open: Option<usize>,
}

impl Default for DeviceState {
    fn default() -> Self {
        let usual = |sort| Sorting {
            chosen: None,
            usual: Some(sort),
        };
        Self {
            profile: profile::ProfileState::default(),
            regions: usual(regions::USUAL),
            segments: usual(allocator::USUAL),
            appearance: Appearance::default(),
            open: None,
        }
    }
}

#[derive(Clone, Copy)]
struct Shown<'a> {
    comparison: &'a Comparison,
    lane: &'a Lane,
    timeline: &'a Timeline,
    view: &'a LaneView,
    theme: &'a Theme,
    step: Step,
}

impl Shown<'_> {
    /// Empty without a graph.
    fn graph(&self, graph: Option<highwater_model::workload::GraphIdx>) -> &str {
        let name = graph.and_then(|graph| self.comparison.session.graph_name(graph));
        name.unwrap_or_default()
    }
}

pub fn device_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    (state, editor): (&mut DeviceState, &mut EditorState),
    lanes: &mut LanesState,
) {
    let Some((comparison, timeline)) = cx.session.answer() else {
        // The device can be chosen before anything runs.
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            profile::profile_ui(ui, cx, &mut state.profile);
            ui.weak("This tab shows device memory at a step. Open a graph (Ctrl+O) or a sample.");
        });
        return;
    };
    let Some(input) = LanesInput::of(cx.session, cx.theme) else {
        return;
    };
    if state.appearance.is_new(ui.ctx()) {
        lanes.forget_pointer();
    }
    let Some(spot) = lanes.spot_in(&input) else {
        ui.weak("The schedule has no steps, so the device is empty.");
        return;
    };
    if let Some(chosen) = spot_ui(ui, &input, spot, lanes) {
        cx.window_commands
            .push(UiCommand::ExplainLane(comparison.lanes[chosen].id));
    }
    let Some(spot) = lanes.spot_in(&input) else { return };
    let lane = &comparison.lanes[spot.lane];
    if comparison.is_measured_lane(spot.lane) {
        recorded::measured_ui(ui, comparison, spot.lane, &timeline.lanes[spot.lane], spot.step);
        if let Some(event) = recorded::recorded_allocator_ui(ui, cx, spot, (state, editor)) {
            lanes.pin(spot.lane, recorded::step_of(lane, event));
        }
        return;
    }
    let (requested, key) = (cx.session.device_picture(), (lane.id, spot.step));
    if !requested.wants(&key) {
        cx.commands.push(Command::PictureDevice(lane.id, spot.step));
    }
    let shown = Shown {
        comparison,
        lane,
        timeline,
        view: &timeline.lanes[spot.lane],
        theme: cx.theme,
        step: spot.step,
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        profile::profile_ui(ui, cx, &mut state.profile);
        story_ui(ui, shown, spot.step);
        let known = (requested.last(), &key);
        let Some(known) = requested_ui(ui, &requested, known, "Computing device memory…") else {
            return;
        };
        // The picture may be of another lane, or of an earlier answer.
        let position = comparison.position(known.lane).unwrap_or(spot.lane);
        let shown = Shown {
            lane: &comparison.lanes[position],
            view: &timeline.lanes[position],
            step: known.picture.step,
            ..shown
        };
        picture_ui(ui, shown, &known.picture, state, lanes);
    });
}

fn picture_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    picture: &DevicePicture,
    state: &mut DeviceState,
    lanes: &mut LanesState,
) {
    in_use_ui(ui, shown, picture);
    ui.add_space(6.0);
    pools::pools_ui(ui, shown, picture, &mut state.open, lanes);
    pages_ui(ui, picture);
    regions::regions_ui(ui, shown, picture, &mut state.regions, lanes);
}

/// Lane and step, with buttons to move; returns a newly chosen lane.
fn spot_ui(ui: &mut egui::Ui, input: &LanesInput<'_>, spot: PinnedStep, lanes: &mut LanesState) -> Option<usize> {
    let mut chosen = spot.lane;
    ui.horizontal_wrapped(|ui| {
        let title = match input.comparison.lane_kind() {
            LaneKind::Recordings => "In lane",
            LaneKind::Passes => "Device in lane",
            LaneKind::Policies | LaneKind::Strategies => "Device under policy",
        };
        ui.strong(title);
        lane_marks_ui(ui, input.comparison, &mut chosen, "device under");
    });
    ui.horizontal_wrapped(|ui| {
        let moves = [
            (
                "<<",
                "previous step with device events",
                "[",
                Move::Event { is_next: false },
            ),
            ("<", "previous step", "J", Move::Step { is_next: false }),
            (">", "next step", "K", Move::Step { is_next: true }),
            (">>", "next step with device events", "]", Move::Event { is_next: true }),
        ];
        for (text, words, key, how) in moves {
            if named_button_ui(ui, small(text), words, &format!("{words} ({key})")) {
                lanes.move_spot(how, input);
            }
        }
        if named_button_ui(ui, small("peak"), "pin the peak", "Pin the peak of the lane") {
            lanes.pin_peak(input);
        }
        let spot = lanes.spot_in(input).unwrap_or(spot);
        let mut is_pinned = spot.is_pinned;
        let toggle = ui.toggle_value(&mut is_pinned, "Pin").named_choice(
            egui::Role::Button,
            spot.is_pinned,
            || "pin this step instead of following the pointer",
        );
        let toggle = toggle.on_hover_text("Pin this step instead of following the pointer (Esc: unpin)");
        if toggle.clicked() {
            if is_pinned {
                lanes.pin(spot.lane, spot.step);
            } else {
                lanes.unpin();
            }
        }
    });
    let step = lanes.spot_in(input).unwrap_or(spot).step;
    let facts = step_facts(input.comparison, step).unwrap_or_default();
    let at = match (facts.graph.as_str(), facts.op_text()) {
        // The graph does not run in a recording.
        _ if input.comparison.is_measured_lane(spot.lane) => input.comparison.step_text(spot.lane, step),
        (graph, "") => format!("step {step}, {graph} runs"),
        (graph, op) => format!("step {step}, {graph} runs {op}"),
    };
    ui.add(egui::Label::new(&at).truncate()).on_hover_text(&at);
    ui.separator();
    (chosen != spot.lane).then_some(chosen)
}

/// Why the lane ended, if it has by this step.
fn story_ui(ui: &mut egui::Ui, shown: Shown<'_>, step: Step) {
    let failed = shown.lane.simulation.out_of_memory.as_ref();
    if failed.is_none_or(|failed| failed.step > step) {
        return;
    }
    for sentence in sentences(shown.lane) {
        ui.label(RichText::new(sentence).color(shown.theme.bad));
    }
    ui.add_space(4.0);
}

/// Device bytes in use by part, as a bar and in figures.
fn in_use_ui(ui: &mut egui::Ui, shown: Shown<'_>, picture: &DevicePicture) {
    let theme = shown.theme;
    let in_use = picture.parts.total();
    // Lanes of name reuse have no limit: what is left is that of the active device.
    let memory = shown.comparison.device.memory();
    let available = picture.available.min(memory.saturating_sub(in_use));
    let capacity = in_use + available;
    ui.horizontal_wrapped(|ui| {
        ui.strong(format!("{in_use} reserved at step {}", picture.step))
            .on_hover_text(in_use.exact());
    });
    bar_ui(ui, &picture.parts, available, theme);
    egui::Grid::new("device parts")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([6.0, 3.0])
        .show(ui, |ui| {
            parts_ui(ui, &picture.parts, theme);
            swatch_ui(ui, theme.range);
            ui.label("available");
            bytes_ui(ui, available).on_hover_text(format!("Of {}", capacity.exact()));
            ui.end_row();
        });
}

fn bar_ui(ui: &mut egui::Ui, held: &ReservedParts, available: Bytes, theme: &Theme) {
    let total = held.total();
    let capacity = to_f64((total + available).get().max(1));
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), BAR), egui::Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2, theme.range);
    let mut left = rect.left();
    for (position, (_, bytes)) in parts_of(held).into_iter().enumerate() {
        let width = to_points(to_f64(bytes.get()) / capacity * f64::from(rect.width()));
        let part = egui::Rect::from_min_size(egui::pos2(left, rect.top()), egui::vec2(width, rect.height()));
        painter.rect_filled(part, 0, theme.part(position));
        left += width;
    }
    let frame = egui::Stroke::new(1.0, theme.frame);
    painter.rect_stroke(rect, 2, frame, egui::StrokeKind::Inside);
    let percent = to_f64(total.get()) / capacity * 100.0;
    let words = format!("{total} of the device reserved, {percent:.1} %; {available} available");
    let response = response.named(egui::Role::ProgressIndicator, || &words);
    response.on_hover_text(&words);
}

fn pages_ui(ui: &mut egui::Ui, picture: &DevicePicture) {
    let pages = picture.pages;
    if pages.count == 0 {
        return;
    }
    ui.strong("Physical pages");
    egui::Grid::new("device pages")
        .num_columns(2)
        .spacing([8.0, 3.0])
        .show(ui, |ui| {
            let count = highwater_model::units::grouped;
            let rows = [
                (
                    "from the driver",
                    format!("{} ({})", count(pages.count), pages.bytes),
                    "Pages from the driver",
                ),
                ("live", count(pages.touched), "Pages of live tensors"),
                (
                    "mapped at",
                    format!("{} places", count(pages.mappings)),
                    "A page may be mapped at several addresses: it is unmapped when another range needs it",
                ),
            ];
            for (name, value, explanation) in rows {
                ui.label(name).on_hover_text(explanation);
                ui.monospace(value).on_hover_text(explanation);
                ui.end_row();
            }
        });
    ui.add_space(6.0);
}

/// A row's button: a click outlines the region in the memory map and scrolls to it, a second click removes the outline.
fn highlight_ui(
    ui: &mut egui::Ui,
    text: &str,
    name: &str,
    shown: Shown<'_>,
    region: HoveredRegion,
    lanes: &mut LanesState,
) -> egui::Response {
    let lane = shown.lane.id;
    let is_chosen = lanes.highlight == Some((lane, region));
    let response = ui
        .add(egui::Button::selectable(is_chosen, text).truncate())
        .named_choice(egui::Role::Button, is_chosen, || name);
    if response.clicked() {
        lanes.highlight = (!is_chosen).then_some((lane, region));
        if !is_chosen {
            lanes.show_highlight(shown.timeline, shown.view, region, shown.step);
        }
    }
    response
}
