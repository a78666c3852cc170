//! Markers: a shape for each heuristic or policy, so that they are told apart without their colours.

use eframe::egui::{Color32, Painter, Pos2, Sense, Shape, Stroke, Ui, vec2};

/// Positions of the triangles.
const UP: usize = 3;
const DOWN: usize = 4;

/// A convex polygon around a point, with corners in units of its radius.
pub(crate) fn polygon(at: Pos2, radius: f32, corners: &[(f32, f32)], fill: Color32, stroke: Stroke) -> Shape {
    let points = corners.iter().map(|(x, y)| at + vec2(*x, *y) * radius).collect();
    Shape::convex_polygon(points, fill, stroke)
}

/// A shape by position, filled or hollow.
pub(crate) fn marker(painter: &Painter, at: Pos2, position: usize, radius: f32, color: Color32, is_solid: bool) {
    let fill = if is_solid { color } else { Color32::TRANSPARENT };
    let stroke = Stroke::new(1.3, color);
    let polygon = |corners: &[(f32, f32)]| polygon(at, radius, corners, fill, stroke);
    let rect = |x: f32, y: f32| polygon(&[(-x, -y), (x, -y), (x, y), (-x, y)]);
    painter.add(match position {
        0 => Shape::from(eframe::epaint::CircleShape {
            center: at,
            radius,
            fill,
            stroke,
        }),
        1 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        2 => rect(0.9, 0.9),
        UP => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        DOWN => polygon(&[(0.0, 1.2), (-1.1, -0.8), (1.1, -0.8)]),
        5 => polygon(&[(-1.2, 0.0), (0.8, -1.1), (0.8, 1.1)]),
        6 => polygon(&[(1.2, 0.0), (-0.8, 1.1), (-0.8, -1.1)]),
        7 => rect(1.3, 0.5),
        _ => rect(0.5, 1.3),
    });
}

/// A cross, for runs without memory.
pub(crate) fn cross(painter: &Painter, at: Pos2, radius: f32, color: Color32) {
    crossed(painter, at, radius, Stroke::new(1.4, color));
}

pub(crate) fn crossed(painter: &Painter, at: Pos2, radius: f32, stroke: Stroke) {
    for arm in [vec2(radius, radius), vec2(radius, -radius)] {
        painter.line_segment([at - arm, at + arm], stroke);
    }
}

pub(crate) fn marker_ui(ui: &mut Ui, position: usize, side: f32, color: Color32, is_solid: bool) {
    let (area, _) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    marker(ui.painter(), area.center(), position, 3.2, color, is_solid);
}

/// A triangle: up for ascending. The bundled font has no such letter.
pub(crate) fn direction(painter: &Painter, at: Pos2, is_descending: bool, color: Color32) {
    let position = if is_descending { DOWN } else { UP };
    marker(painter, at, position, 2.8, color, true);
}

pub(super) fn direction_ui(ui: &mut Ui, is_descending: bool) {
    let (area, _) = ui.allocate_exact_size(vec2(7.0, 7.0), Sense::hover());
    direction(ui.painter(), area.center(), is_descending, ui.visuals().text_color());
}
