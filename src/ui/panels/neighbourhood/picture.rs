//! Layout of nodes and edges in points: layers from left to right where the pane is wide enough, else from top to
//! bottom with as many nodes side by side as fit.

use eframe::egui::{self, Pos2, Rect, Vec2, pos2, vec2};

use crate::numbers::{at_least_one, count_f32};
use crate::panels::elided_middle;
use highwater_timeline::{NeighbourNode, Neighbourhood, NodeKey, Slot};

pub(super) const SIZE: f32 = 11.0;
/// Height of a node, and its least and greatest width.
const HEIGHT: f32 = 38.0;
const WIDTH: (f32, f32) = (76.0, 150.0);
/// Gaps between layers, and between nodes of one.
const BETWEEN: f32 = 24.0;
const BESIDE: f32 = 7.0;
/// Channels next to columns of several nodes, for edges of nodes that lie above or below others.
const CHANNEL: f32 = 7.0;
/// Room of a passing edge.
const BEND: f32 = 8.0;
const MARGIN: f32 = 2.0;
/// Segments of a curve.
const PIECES: u8 = 12;

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) rect: Rect,
    pub(super) first: String,
    pub(super) second: String,
}

/// In points from the upper left corner.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// The key: width and pixels per point.
    room: (f32, f32),
    pub(super) size: Vec2,
    pub(super) nodes: Vec<Place>,
    pub(super) edges: Vec<Vec<Pos2>>,
}

impl Picture {
    pub(super) fn is_for(&self, width: f32, scale: f32) -> bool {
        (self.room.0 - width).abs() < 0.5 && (self.room.1 - scale).abs() < 1e-3
    }

    pub(super) fn new(ui: &egui::Ui, around: &Neighbourhood, width: f32) -> Self {
        let n_layers = count_f32(around.layers.len().max(1));
        let room = (width - 2.0 * MARGIN).max(WIDTH.0);
        let is_wide = (room + BETWEEN) / n_layers >= WIDTH.0 + BETWEEN;
        let grid = if is_wide {
            beside(around, room)
        } else {
            below(around, room)
        };
        let nodes = around.nodes.iter().zip(&grid.nodes).map(|(node, rect)| Place {
            rect: *rect,
            first: first_line(ui, node, rect.width() - 10.0),
            second: second_line(ui, node, rect.width() - 10.0),
        });
        Self {
            room: (width, ui.ctx().pixels_per_point()),
            size: vec2(width, grid.height + 2.0 * MARGIN),
            nodes: nodes.collect(),
            edges: (0..around.edges.len()).map(|edge| grid.path(around, edge)).collect(),
        }
    }
}

/// The layout without texts.
struct Grid {
    nodes: Vec<Rect>,
    /// By node: the points through which its edges enter and leave.
    ways: Vec<[Vec<Pos2>; 2]>,
    /// By edge: the points where it passes through layers.
    bends: Vec<Vec<Pos2>>,
    height: f32,
    is_wide: bool,
}

impl Grid {
    fn empty(around: &Neighbourhood, is_wide: bool) -> Self {
        Self {
            nodes: vec![Rect::ZERO; around.nodes.len()],
            ways: vec![[Vec::new(), Vec::new()]; around.nodes.len()],
            bends: vec![Vec::new(); around.edges.len()],
            height: 0.0,
            is_wide,
        }
    }

    /// A curve between two nodes, through its bends.
    fn path(&self, around: &Neighbourhood, edge: usize) -> Vec<Pos2> {
        let (from, to) = around.edges[edge];
        let [out, into] = [self.way(from, 1), self.way(to, 0)];
        let mut points = vec![out[0]];
        let mut last = out[0];
        let bends = self.bends[edge].iter().copied();
        for next in out[1..].iter().copied().chain(bends).chain(into) {
            points.extend((1..=PIECES).map(|piece| self.curve(last, next, f32::from(piece) / f32::from(PIECES))));
            last = next;
        }
        points
    }

    /// Points where edges enter (0) or leave (1) a node: in the middle of a side, unless other nodes are in the way.
    fn way(&self, node: usize, side: usize) -> Vec<Pos2> {
        let (rect, way) = (self.nodes[node], &self.ways[node][side]);
        if !way.is_empty() {
            return way.clone();
        }
        vec![match (self.is_wide, side) {
            (true, 0) => rect.left_center(),
            (true, _) => rect.right_center(),
            (false, 0) => rect.center_top(),
            (false, _) => rect.center_bottom(),
        }]
    }

    /// In a column of several rows, edges pass next to nodes. `ends` are top and bottom of the layer.
    fn pass_beside(&mut self, node: usize, ends: (f32, f32), row: usize, n_rows: usize) {
        let rect = self.nodes[node];
        let (left, right) = (rect.left() - CHANNEL, rect.right() + CHANNEL);
        let middle = rect.center().y;
        if row > 0 {
            self.ways[node][0] = vec![pos2(left, ends.0), pos2(left, middle), rect.left_center()];
        }
        if row + 1 < n_rows {
            self.ways[node][1] = vec![rect.right_center(), pos2(right, middle), pos2(right, ends.1)];
        }
    }

    /// A point of a curve that starts and ends along the layers.
    fn curve(&self, from: Pos2, to: Pos2, t: f32) -> Pos2 {
        // Slow at both ends across the layers, uniform along them.
        let bent = t * t * (3.0 - 2.0 * t);
        if self.is_wide {
            pos2(egui::lerp(from.x..=to.x, t), egui::lerp(from.y..=to.y, bent))
        } else {
            pos2(egui::lerp(from.x..=to.x, bent), egui::lerp(from.y..=to.y, t))
        }
    }
}

/// Layers from left to right, vertically centred.
fn beside(around: &Neighbourhood, room: f32) -> Grid {
    let n_layers = count_f32(around.layers.len().max(1));
    let width = ((room + BETWEEN) / n_layers - BETWEEN).min(WIDTH.1);
    let used = (width + BETWEEN) * n_layers - BETWEEN;
    let left = MARGIN + (room - used) / 2.0;
    let extent = |slot: &Slot| if matches!(slot, Slot::Node(_)) { HEIGHT } else { BEND };
    let height_of =
        |layer: &[Slot]| layer.iter().map(extent).sum::<f32>() + BESIDE * count_f32(layer.len().saturating_sub(1));
    let mut grid = Grid::empty(around, true);
    grid.height = around
        .layers
        .iter()
        .map(|layer| height_of(layer))
        .fold(HEIGHT, f32::max);
    for (number, layer) in around.layers.iter().enumerate() {
        let x = left + (width + BETWEEN) * count_f32(number);
        let mut y = MARGIN + (grid.height - height_of(layer)) / 2.0;
        for slot in layer {
            match slot {
                Slot::Node(node) => grid.nodes[*node] = Rect::from_min_size(pos2(x, y), vec2(width, HEIGHT)),
                Slot::Bend(edge) => {
                    let middle = y + BEND / 2.0;
                    grid.bends[*edge].extend([pos2(x, middle), pos2(x + width, middle)]);
                }
            }
            y += extent(slot) + BESIDE;
        }
    }
    grid
}

/// Layers from top to bottom; a layer with many nodes has several rows.
fn below(around: &Neighbourhood, room: f32) -> Grid {
    let mut grid = Grid::empty(around, false);
    let mut y = MARGIN;
    for layer in &around.layers {
        let n_nodes = layer.iter().filter(|slot| matches!(slot, Slot::Node(_))).count();
        let n_bends = layer.len() - n_nodes;
        let beside = room - (BEND + BESIDE) * count_f32(n_bends);
        let fit = at_least_one(((beside + BESIDE) / (WIDTH.0 + BESIDE)).min(3.0)) as usize;
        // Rows of equal length, as far as possible.
        let n_rows = n_nodes.div_ceil(fit).max(1);
        let in_row = n_nodes.div_ceil(n_rows).max(1);
        let channels = if n_rows > 1 { 2.0 * CHANNEL } else { 0.0 };
        let column = ((beside + BESIDE) / count_f32(in_row) - BESIDE).min(WIDTH.1 + channels);
        let width = column - channels;
        let height = (HEIGHT + BESIDE) * count_f32(n_rows) - BESIDE;
        let n_beside = count_f32(in_row.min(n_nodes));
        let used = (column + BESIDE) * n_beside + (BEND + BESIDE) * count_f32(n_bends) - BESIDE;
        let mut x = MARGIN + (room - used) / 2.0;
        let mut n_placed = 0;
        for slot in layer {
            match slot {
                Slot::Bend(edge) => {
                    let middle = x + BEND / 2.0;
                    grid.bends[*edge].extend([pos2(middle, y), pos2(middle, y + height)]);
                    x += BEND + BESIDE;
                }
                Slot::Node(node) => {
                    let row = n_placed % n_rows;
                    let top = y + (HEIGHT + BESIDE) * count_f32(row);
                    grid.nodes[*node] = Rect::from_min_size(pos2(x + channels / 2.0, top), vec2(width, HEIGHT));
                    grid.pass_beside(*node, (y, y + height), row, n_rows);
                    n_placed += 1;
                    // The next node is below, until the column is full.
                    if n_placed % n_rows == 0 {
                        x += column + BESIDE;
                    }
                }
            }
        }
        y += height + BETWEEN;
    }
    grid.height = (y - BETWEEN - MARGIN).max(0.0);
    grid
}

/// An op's type; a tensor's name.
fn first_line(ui: &egui::Ui, node: &NeighbourNode, room: f32) -> String {
    let text = match node.key {
        NodeKey::Op(_) if !node.what.is_empty() => &node.what,
        NodeKey::Op(_) | NodeKey::Tensor(_) => &node.name,
    };
    elided_middle(ui, text, SIZE, room)
}

/// An op's name; a tensor's bytes.
fn second_line(ui: &egui::Ui, node: &NeighbourNode, room: f32) -> String {
    let text = match (node.key, node.bytes) {
        (NodeKey::Op(_), _) if node.what.is_empty() => String::new(),
        (NodeKey::Op(_), _) => node.name.to_string(),
        (NodeKey::Tensor(_), Some(bytes)) if node.is_view => format!("{bytes}, view"),
        (NodeKey::Tensor(_), Some(bytes)) => bytes.to_string(),
        (NodeKey::Tensor(_), None) => node.what.to_string(),
    };
    elided_middle(ui, &text, SIZE, room)
}
