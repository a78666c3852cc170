//! Markers: a shape for each heuristic or policy, so that they are told apart without their colours.

use eframe::egui::{Color32, Painter, Pos2, Rect, Sense, Shape, Stroke, Ui, vec2};

/// Positions of the triangles.
const UP: usize = 3;
const DOWN: usize = 4;

/// A shape by position, filled or hollow.
pub(super) fn marker(painter: &Painter, at: Pos2, position: usize, radius: f32, color: Color32, is_solid: bool) {
    let fill = if is_solid { color } else { Color32::TRANSPARENT };
    let stroke = Stroke::new(1.3, color);
    let polygon = |corners: &[(f32, f32)]| {
        let points = corners.iter().map(|(x, y)| at + vec2(*x, *y) * radius).collect();
        Shape::convex_polygon(points, fill, stroke)
    };
    let rect = |width: f32, height: f32| {
        let rect = Rect::from_center_size(at, vec2(width, height) * radius);
        polygon(&[
            ((rect.left() - at.x) / radius, (rect.top() - at.y) / radius),
            ((rect.right() - at.x) / radius, (rect.top() - at.y) / radius),
            ((rect.right() - at.x) / radius, (rect.bottom() - at.y) / radius),
            ((rect.left() - at.x) / radius, (rect.bottom() - at.y) / radius),
        ])
    };
    painter.add(match position {
        0 => Shape::from(eframe::epaint::CircleShape {
            center: at,
            radius,
            fill,
            stroke,
        }),
        1 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        2 => rect(1.8, 1.8),
        UP => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        DOWN => polygon(&[(0.0, 1.2), (-1.1, -0.8), (1.1, -0.8)]),
        5 => polygon(&[(-1.2, 0.0), (0.8, -1.1), (0.8, 1.1)]),
        6 => polygon(&[(1.2, 0.0), (-0.8, 1.1), (-0.8, -1.1)]),
        7 => rect(2.6, 1.0),
        _ => rect(1.0, 2.6),
    });
}

/// A cross, for runs without memory.
pub(super) fn cross(painter: &Painter, at: Pos2, radius: f32, color: Color32) {
    let stroke = Stroke::new(1.4, color);
    let arm = vec2(radius, radius);
    painter.line_segment([at - arm, at + arm], stroke);
    let arm = vec2(radius, -radius);
    painter.line_segment([at - arm, at + arm], stroke);
}

pub(super) fn marker_ui(ui: &mut Ui, position: usize, side: f32, color: Color32, is_solid: bool) {
    let (area, _) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    marker(ui.painter(), area.center(), position, 3.2, color, is_solid);
}

/// A triangle: up for ascending. The bundled font has no such letter.
pub(super) fn direction_ui(ui: &mut Ui, is_descending: bool) {
    let (area, _) = ui.allocate_exact_size(vec2(7.0, 7.0), Sense::hover());
    let position = if is_descending { DOWN } else { UP };
    let color = ui.visuals().text_color();
    marker(ui.painter(), area.center(), position, 2.8, color, true);
}
