//! The flame graph of a lane: live bytes by call stack, at the step or over the range that the Peak pane explains.
//!
//! In: the session, and what the Peak pane explains. Out: a request for the graph, which the worker makes; until then
//! the last graph stays, dimmed. A click zooms to a frame, a double click and the path above the graph lead back.

mod drawing;

use eframe::egui::{self, RichText, Role};

use super::peak::PeakState;
use super::{choice_ui, requested_ui};
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::lanes::{LanesInput, LanesState};
use crate::panels::{PaneCx, elided_middle};
use crate::widgets::{Named as _, named_button_ui};
use highwater_model::units::percent_text;
use highwater_session::Command;
use highwater_timeline::{FlameFrame, FlameGraph, FlameRequest};

/// A frame in the path above the graph has at most this width, in points.
const CRUMB: f32 = 220.0;
/// Frames of the path in front of the zoomed one that are listed.
const CRUMBS: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct FlameState {
    is_inverse: bool,
    keeps_native: bool,
    /// Frames whose text contains it are outlined.
    find: String,
    zoom: Zoom,
}

/// The zoomed frame, by its path, so that it stays where the step changes.
#[derive(Clone, Debug, Default)]
struct Zoom {
    path: Vec<FlameFrame>,
    back: Vec<Vec<FlameFrame>>,
    /// Whether the last click changed the zoom, so that a double click takes that back, too.
    is_fresh: bool,
}

impl Zoom {
    fn go(&mut self, path: Vec<FlameFrame>) {
        self.is_fresh = path != self.path;
        if self.is_fresh {
            self.back.push(std::mem::replace(&mut self.path, path));
        }
    }

    /// Undoes the click that a double click begins with, and goes back to the zoom before it.
    fn double_click(&mut self) {
        if std::mem::take(&mut self.is_fresh) {
            self.path = self.back.pop().unwrap_or_default();
        }
        self.path = self.back.pop().unwrap_or_default();
    }
}

pub fn flame_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    state: &mut FlameState,
    peak: &mut PeakState,
    lanes: &LanesState,
) {
    let Some(input) = LanesInput::of(cx.session, cx.theme) else {
        ui.weak("This tab shows live bytes by call stack. Open a recording with call stacks (Ctrl+O).");
        return;
    };
    let (lane, at) = peak.explained(&input, lanes);
    let ask = FlameRequest {
        lane,
        at,
        is_inverse: state.is_inverse,
        keeps_native: state.keeps_native,
    };
    let requested = cx.session.flame_graph();
    if !requested.wants(&ask) {
        cx.commands.push(Command::DrawFlame(ask));
    }
    let graph = requested.current();
    ui.horizontal_wrapped(|ui| {
        peak.explained_ui(ui, &input, lanes);
        ui.separator();
        options_ui(ui, state, graph.map(|graph| &**graph));
        let hint = "Write the flame graph as SVG, folded stacks or a text";
        if named_button_ui(ui, egui::Button::new("Export…"), "export flame graph", hint) {
            cx.window_commands.push(UiCommand::AskPath(Purpose::ExportFlame));
        }
    });
    let Some(graph) = requested_ui(ui, &requested, (graph, &ask), "Computing call stacks…") else {
        return;
    };
    if graph.nodes().len() == 1 {
        ui.weak("No block is live here.");
        return;
    }
    let zoomed = graph.find(&state.zoom.path);
    let comparison = input.comparison;
    let title = format!("{}: {}", comparison.title_of(lane), graph.title(comparison));
    path_ui(ui, graph, zoomed, &title, &mut state.zoom);
    let shown = drawing::Drawn {
        graph,
        zoomed,
        theme: cx.theme,
        found: state.find.trim(),
    };
    egui::ScrollArea::vertical()
        .id_salt("flame graph")
        .auto_shrink([false, false])
        .show(ui, |ui| match drawing::drawing_ui(ui, &shown) {
            Some(drawing::Click::Zoom(node)) => state.zoom.go(frames(graph, node)),
            Some(drawing::Click::Back) => state.zoom.double_click(),
            None => {}
        });
}

fn frames(graph: &FlameGraph, node: u32) -> Vec<FlameFrame> {
    let path = graph.path(node);
    path.into_iter().map(|node| graph.frame(node).clone()).collect()
}

/// Order, C++ frames, and the field that finds frames.
fn options_ui(ui: &mut egui::Ui, state: &mut FlameState, graph: Option<&FlameGraph>) {
    let orders = [(false, "outermost first"), (true, "inverse")];
    if choice_ui(ui, &mut state.is_inverse, "order of frames", &orders) {
        state.zoom = Zoom::default();
    }
    let has_native = state.keeps_native || graph.is_none_or(|graph| graph.has_native);
    let native = egui::Checkbox::new(&mut state.keeps_native, "C++ frames");
    ui.add_enabled(has_native, native)
        .on_hover_text("Show the C++ frames of stacks with Python frames, too")
        .on_disabled_hover_text("No stack has both C++ and Python frames");
    let field = egui::TextEdit::singleline(&mut state.find)
        .hint_text("find frames")
        .desired_width(120.0);
    ui.add(field).named_field(&state.find, || "find frames");
}

/// What is drawn, and the callers of the zoomed frame, which zoom out.
fn path_ui(ui: &mut egui::Ui, graph: &FlameGraph, zoomed: u32, title: &str, zoom: &mut Zoom) {
    let size = egui::TextStyle::Body.resolve(ui.style()).size;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(title).strong());
        let total = graph.total();
        ui.label(graph.bytes(total).to_string())
            .on_hover_text(graph.exact(total));
        if graph.cut.count > 0 {
            let share = percent_text(graph.share(graph.cut.weight));
            ui.weak(format!("{share} with cut stacks"))
                .on_hover_text("These stacks have more frames than are drawn");
        }
        if zoomed == FlameGraph::ROOT {
            ui.weak("click a frame to zoom");
            return;
        }
        let mut path = graph.path(zoomed);
        path.pop();
        let n_left_out = path.len().saturating_sub(CRUMBS);
        let callers = std::iter::once(FlameGraph::ROOT).chain(path.into_iter().skip(n_left_out));
        for (position, node) in callers.enumerate() {
            let text = &graph.frame(node).text;
            let button = ui.small_button(elided_middle(ui, text, size, CRUMB));
            if button.named(Role::Button, || format!("zoom out to {text}")).clicked() {
                zoom.go(frames(graph, node));
            }
            let is_cut = position == 0 && n_left_out > 0;
            ui.weak(if is_cut { "> … >" } else { ">" });
        }
        let text = &graph.frame(zoomed).text;
        ui.label(elided_middle(ui, text, size, CRUMB)).on_hover_text(&**text);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_click_takes_its_first_click_back_and_one_zoom_more() {
        let path = |names: &[&str]| -> Vec<FlameFrame> {
            let frame = |text: &&str| FlameFrame {
                text: (*text).into(),
                file: Box::default(),
                line: 0,
            };
            names.iter().map(frame).collect()
        };
        let mut zoom = Zoom::default();
        zoom.go(path(&["a"]));
        zoom.go(path(&["a", "b"]));
        // A double click on another frame, and one on the zoomed frame.
        zoom.go(path(&["a", "b", "c"]));
        zoom.double_click();
        assert_eq!(zoom.path, path(&["a"]));
        zoom.go(path(&["a"]));
        zoom.double_click();
        assert_eq!(zoom.path, path(&[]));
        zoom.double_click();
        assert_eq!(zoom.path, path(&[]));
    }
}
