//! Part of the inspector: the selected tensor and its neighbours in the graph.
//!
//! A click on a tensor selects it; a click on an op moves on to its largest result, or from the producer to the largest
//! tensor that it reads. Tab and arrows move between nodes. The neighbourhood is computed when selection or answer
//! change, the layout when the width changes; a frame only paints.

mod picture;

use std::sync::{Arc, Weak};

use eframe::egui::{self, Role, Sense, Shape, Stroke, StrokeKind};

use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::Comparison;
use highwater_model::units::{counted, grouped};
use highwater_session::{Command, Selected};
use highwater_timeline::{
    Destination, HiddenNodes, NeighbourLimits, NeighbourNode, Neighbourhood, NodeKey, TensorKey, Timeline,
};
use picture::Picture;

#[derive(Debug, Default)]
pub(super) struct NeighbourState {
    /// The clicked view, with the tensor that owns its memory.
    view: Option<(Selected, TensorKey)>,
    known: Option<Known>,
    /// Whether the two lists of further nodes are expanded.
    is_open: [bool; 2],
}

#[derive(Debug)]
struct Known {
    timeline: Weak<Timeline>,
    of: (Selected, TensorKey),
    answer: Result<Neighbourhood, &'static str>,
    picture: Option<Picture>,
}

impl NeighbourState {
    /// The tensor in the centre: the selected one, or the clicked view of it.
    fn center(&self, selected: Selected) -> TensorKey {
        let view = self.view.filter(|(of, _)| *of == selected);
        view.map_or(selected.key(), |(_, view)| view)
    }

    /// Computes the neighbourhood of the selected tensor, unless it is known.
    pub(super) fn look(&mut self, comparison: &Comparison, timeline: &Arc<Timeline>, selected: Selected) {
        let of = (selected, self.center(selected));
        let is_known = |known: &Known| std::ptr::eq(known.timeline.as_ptr(), Arc::as_ptr(timeline)) && known.of == of;
        if self.known.as_ref().is_some_and(is_known) {
            return;
        }
        self.is_open = [false; 2];
        self.known = Some(Known {
            timeline: Arc::downgrade(timeline),
            of,
            answer: timeline.neighbourhood(comparison, of.0, of.1, NeighbourLimits::default()),
            picture: None,
        });
    }

    /// `None` where the source has no graph.
    pub(super) fn around(&self) -> Option<&Neighbourhood> {
        self.known.as_ref()?.answer.as_ref().ok()
    }

    /// Follows a click.
    pub(super) fn go(&mut self, to: Destination, now: Option<Selected>, commands: &mut Vec<Command>) {
        self.view = (to.center != to.selected.key()).then_some((to.selected, to.center));
        if now != Some(to.selected) {
            commands.push(Command::Select(Some(to.selected)));
        }
    }
}

/// The graph, and lists of nodes without room in it.
pub(super) fn neighbourhood_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, selected: Selected, state: &mut NeighbourState) {
    ui.add_space(6.0);
    ui.strong("Neighbors")
        .on_hover_text("The producer of the tensor with its inputs, and the consumers with their outputs");
    let Some(known) = &mut state.known else { return };
    let around = match &known.answer {
        Ok(around) => around,
        Err(why) => {
            ui.weak(*why);
            return;
        }
    };
    // Leaves room for the scroll bar.
    let width = ui.available_width() - 8.0;
    let scale = ui.ctx().pixels_per_point();
    if !known
        .picture
        .as_ref()
        .is_some_and(|picture| picture.is_for(width, scale))
    {
        known.picture = Some(Picture::new(ui, around, width));
    }
    let Some(picture) = &known.picture else { return };
    let mut to = paint(ui, around, picture, cx.theme);
    for (list, words, is_open) in [
        (&around.inputs, "inputs of its op", 0),
        (&around.consumers, "readers", 1),
    ] {
        to = to.or(rest_ui(ui, list, words, &mut state.is_open[is_open], cx.theme));
    }
    if let Some(to) = to {
        state.go(to, Some(selected), cx.commands);
    }
}

/// Edges below, nodes above; returns the target of a click.
fn paint(ui: &mut egui::Ui, around: &Neighbourhood, picture: &Picture, theme: &Theme) -> Option<Destination> {
    let (rect, _) = ui.allocate_exact_size(picture.size, Sense::hover());
    let origin = rect.min.to_vec2();
    let mut responses = Vec::with_capacity(around.nodes.len());
    for (node, place) in around.nodes.iter().zip(&picture.nodes) {
        let id = ui.scope_id().with(("neighbour", node.key));
        let response = ui.interact(place.rect.translate(origin), id, Sense::click());
        let (words, is_center) = (words(node), node.key == NodeKey::Tensor(around.center));
        let response = response.named_choice(Role::Button, is_center, || &words);
        responses.push(response);
    }
    if ui.is_rect_visible(rect) {
        let is_at = |node: usize| responses[node].hovered() || responses[node].has_focus();
        for ((from, to), line) in around.edges.iter().zip(&picture.edges) {
            let is_marked = is_at(*from) || is_at(*to);
            let stroke = if is_marked {
                Stroke::new(2.0, theme.accent())
            } else {
                Stroke::new(1.2, theme.region_outline)
            };
            let points: Vec<egui::Pos2> = line.iter().map(|point| *point + origin).collect();
            head(ui.painter(), &points, stroke);
            ui.painter().add(Shape::line(points, stroke));
        }
        for (idx, (node, place)) in around.nodes.iter().zip(&picture.nodes).enumerate() {
            let is_center = node.key == NodeKey::Tensor(around.center);
            node_ui(ui, node, place, origin, is_center, is_at(idx), theme);
        }
    }
    let clicked = responses.iter().position(egui::Response::clicked);
    for (response, node) in responses.into_iter().zip(&around.nodes) {
        response.on_hover_ui(|ui| tooltip_ui(ui, node, around));
    }
    clicked.and_then(|node| around.nodes[node].to)
}

/// The head of an edge.
fn head(painter: &egui::Painter, points: &[egui::Pos2], stroke: Stroke) {
    let [.., before, tip] = points else { return };
    let along = (*tip - *before).normalized();
    let across = egui::vec2(-along.y, along.x) * 3.0;
    let back = *tip - along * 5.0;
    let corners = vec![*tip, back + across, back - across];
    painter.add(Shape::convex_polygon(corners, stroke.color, Stroke::NONE));
}

/// A box for an op; a rounded box for a tensor, in the colour of its role.
fn node_ui(
    ui: &egui::Ui,
    node: &NeighbourNode,
    place: &picture::Place,
    origin: egui::Vec2,
    is_center: bool,
    is_at: bool,
    theme: &Theme,
) {
    let rect = place.rect.translate(origin);
    let painter = ui.painter();
    let (ground, corner, edge) = match node.key {
        NodeKey::Op(_) => (theme.runs[0], 1, theme.region_outline),
        NodeKey::Tensor(_) => {
            let hue = theme.role(node.role);
            (hue.lerp_to_gamma(theme.canvas, 0.72), 9, hue)
        }
    };
    painter.rect_filled(rect, corner, ground);
    let stroke = match (is_center, is_at) {
        (true, _) => Stroke::new(2.5, theme.selection),
        (false, true) => Stroke::new(2.0, theme.accent()),
        (false, false) => Stroke::new(1.0, edge),
    };
    painter.rect_stroke(rect, corner, stroke, StrokeKind::Inside);
    for (line, (text, color)) in [(&place.first, theme.text), (&place.second, theme.text_weak)]
        .into_iter()
        .enumerate()
    {
        let height = match (place.second.is_empty(), line) {
            (true, _) => 0.0,
            (false, 0) => -7.5,
            (false, _) => 7.5,
        };
        let at = rect.center() + egui::vec2(0.0, height);
        let font = egui::FontId::proportional(picture::SIZE);
        painter.text(at, egui::Align2::CENTER_CENTER, text, font, color);
    }
}

/// The name of a node for assistive technology.
fn words(node: &NeighbourNode) -> String {
    let mut words = match node.key {
        NodeKey::Op(_) => format!("op {}", title(node)),
        NodeKey::Tensor(_) => format!("tensor {}", node.name),
    };
    if let Some(bytes) = node.bytes {
        words.push_str(&format!(", {bytes}"));
    }
    if let Some(role) = node.role {
        words.push_str(&format!(", {}", role.name()));
    }
    if node.is_view {
        words.push_str(", a view");
    }
    words
}

/// Type and name of an op, as far as it has them.
pub(super) fn title(node: &NeighbourNode) -> String {
    match (&*node.what, &*node.name) {
        ("", "") => "unnamed".to_owned(),
        (what, "") => what.to_owned(),
        ("", name) => name.to_owned(),
        (what, name) if what == name => name.to_owned(),
        (what, name) => format!("{what} {name}"),
    }
}

/// Exact facts, and the effect of a click.
fn tooltip_ui(ui: &mut egui::Ui, node: &NeighbourNode, around: &Neighbourhood) {
    ui.set_max_width(420.0);
    let name = if node.name.is_empty() { &node.what } else { &node.name };
    let name = egui::RichText::new(&**name);
    wrapped_ui(ui, name.strong());
    let mut lines = Vec::new();
    match node.key {
        NodeKey::Op(_) => {
            lines.push(node.what.to_string());
            lines.extend(node.step.map(|step| format!("runs at step {step}")));
            let (n_read, n_computed) = node.counts;
            let read = counted(n_read as u64, "tensor");
            lines.push(format!("reads {read}, computes {}", grouped(n_computed as u64)));
        }
        NodeKey::Tensor(_) => {
            lines.push(node.what.to_string());
            let bytes = node.bytes.map(|bytes| format!("{} ({bytes})", bytes.exact()));
            lines.push(bytes.unwrap_or_else(|| "its bytes are not known".to_owned()));
            lines.extend(node.role.map(|role| role.name().to_owned()));
            if node.is_view {
                lines.push("a view: it uses the memory of another tensor".to_owned());
            }
        }
    }
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        ui.label(line);
    }
    let is_center = node.key == NodeKey::Tensor(around.center);
    ui.weak(match (node.key, node.to) {
        (_, None) => "no neighbor",
        _ if is_center => "this is the selected tensor",
        (NodeKey::Tensor(_), _) => "Click: select it",
        (NodeKey::Op(_), _) if around.producers().any(|producer| producer.key == node.key) => {
            "Click: select its largest input"
        }
        (NodeKey::Op(_), _) => "Click: select its largest output",
    });
}

/// How many of a kind are shown, and the others on demand; returns the target of a click.
fn rest_ui(
    ui: &mut egui::Ui,
    rest: &HiddenNodes,
    what: &str,
    is_open: &mut bool,
    theme: &Theme,
) -> Option<Destination> {
    let n_left = rest.n_total - rest.n_shown;
    if n_left == 0 {
        return None;
    }
    ui.horizontal_wrapped(|ui| {
        ui.weak(format!(
            "{} of {} {what} are drawn",
            rest.n_shown,
            grouped(rest.n_total as u64)
        ));
        let verb = if *is_open { "hide" } else { "list" };
        let text = format!("{verb} {} more", grouped(n_left as u64));
        let button = ui.small_button(&text);
        let button = button.named(Role::Button, || {
            format!("{verb} {} further {what}", grouped(n_left as u64))
        });
        if button.clicked() {
            *is_open = !*is_open;
        }
    });
    if !*is_open {
        return None;
    }
    let mut to = None;
    let height = ui.text_style_height(&egui::TextStyle::Body) + 2.0;
    egui::ScrollArea::vertical().id_salt(what).max_height(180.0).show_rows(
        ui,
        height,
        rest.list.len(),
        |ui, visible| {
            for node in &rest.list[visible] {
                let text = egui::RichText::new(line(node)).color(theme.accent());
                let link = ui
                    .add(egui::Button::new(text).frame(false).truncate())
                    .named(Role::Button, || words(node));
                if link.on_hover_text(words(node)).clicked() {
                    to = node.to;
                }
            }
        },
    );
    let n_cut = n_left - rest.list.len();
    if n_cut > 0 {
        ui.weak(format!("and {} not listed", grouped(n_cut as u64)));
    }
    to
}

/// A node in a list.
fn line(node: &NeighbourNode) -> String {
    match node.bytes {
        Some(bytes) => format!("{bytes}  {}", node.name),
        None => title(node),
    }
}
