//! What holds whatever was pressed.

use eframe::egui::{Rect, Role, Shape};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::{Comparison, LaneKind};
use highwater_model::visible::visible;
use highwater_ui::panes::Pane;

use crate::harness::Window;

/// Below this size a pane may have no room for words.
const LEAST: (f32, f32) = (120.0, 60.0);

/// The texts of the last frame with the visible parts of their rectangles.
fn texts(window: &Window) -> Vec<(String, Rect)> {
    let mut found = Vec::new();
    for clipped in &window.output().shapes {
        collect(&clipped.shape, clipped.clip_rect, &mut found);
    }
    found
}

fn collect(shape: &Shape, clip: Rect, found: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, found)),
        Shape::Text(text) => {
            let place = text.galley.rect.translate(text.pos.to_vec2()).intersect(clip);
            if place.is_positive() {
                found.push((text.galley.text().to_owned(), place));
            }
        }
        _ => {}
    }
}

pub(super) fn panes_have_words(window: &mut Window) {
    if empty_pane(window).is_some() {
        // A new layout takes its size from the content in a second frame.
        window.run_steps(1);
    }
    if let Some((pane, rect)) = empty_pane(window) {
        panic!("the pane {pane:?} is empty at {rect:?}");
    }
}

fn empty_pane(window: &Window) -> Option<(Pane, Rect)> {
    let texts = texts(window);
    let screen = window.ctx.content_rect();
    let panes = window.state().shown_panes().into_iter();
    let mut visible = panes.map(|(pane, rect)| (pane, rect.intersect(screen)));
    visible.find(|(_, rect)| {
        let is_large = rect.width() >= LEAST.0 && rect.height() >= LEAST.1;
        is_large && !texts.iter().any(|(_, place)| place.intersects(*rect))
    })
}

/// The verdict, the table of lanes and the Inspector against the answer.
pub(super) fn figures_agree(window: &Window) {
    let session = window.state().session();
    let Some((comparison, _)) = session
        .answer()
        .filter(|_| !session.is_stale() && session.busy().is_none())
    else {
        return;
    };
    if comparison.lane_kind() == LaneKind::Policies {
        verdict(window, comparison);
        table(window, comparison);
    }
    inspector(window, comparison);
}

/// `Least overhead: policy 2 · 3.485 GiB · ...`, and the other end.
fn verdict(window: &Window, comparison: &Comparison) {
    let ends = comparison.trade();
    for (text, _) in texts(window) {
        let Some((label, rest)) = text.split_once(": ") else {
            continue;
        };
        if !["Recommended", "Least overhead", "Lowest peak"].contains(&label) {
            continue;
        }
        if label == "Recommended" && !rest.starts_with("policy ") {
            continue;
        }
        let end = ends.iter().find(|end| end.label() == label);
        let end = end.unwrap_or_else(|| panic!("nothing is recommended: {text}"));
        let all = highwater_analysis::Brevity::ALL.map(|brevity| end.text(brevity));
        assert!(all.iter().any(|known| known == rest), "{text} is none of {all:?}");
    }
}

/// Rows are radio buttons whose labels have the peak.
fn table(window: &Window, comparison: &Comparison) {
    for node in window.query_all_by_role(Role::RadioButton) {
        let label = node.accesskit_node().label().unwrap_or_default();
        let Some((_, peak)) = label.split_once("peak reserved ") else {
            continue;
        };
        let lanes = comparison.lanes.iter().enumerate();
        // Control characters in the names of pinned configurations are escaped.
        let mut own = lanes.filter(|(_, lane)| label.starts_with(&*visible(&comparison.lane_title(lane.id))));
        let (position, _) = own.next().unwrap_or_else(|| panic!("no lane has the row {label}"));
        let wanted = comparison.least_reserved(position).exact();
        assert!(peak.contains(&wanted), "{label} is not {wanted}");
    }
}

/// Below `Peak of policy 0`, the row `peak reserved`.
fn inspector(window: &Window, comparison: &Comparison) {
    let panes = window.state().shown_panes();
    let Some((_, pane)) = panes.into_iter().find(|(pane, _)| *pane == Pane::Inspector) else {
        return;
    };
    let texts = texts(window);
    let own = || texts.iter().filter(|(_, place)| pane.contains_rect(*place));
    let Some(title) = own().find_map(|(text, _)| text.strip_prefix("Peak of ")) else {
        return;
    };
    let Some(lane) = comparison
        .lanes
        .iter()
        .find(|lane| comparison.lane_title(lane.id) == title)
    else {
        return;
    };
    let Some((_, row)) = own().find(|(text, _)| text == "peak reserved") else {
        return;
    };
    let beside = |place: &Rect| (place.center().y - row.center().y).abs() < 3.0 && place.left() > row.right();
    let Some((figure, _)) = own().find(|(_, place)| beside(place)) else {
        return;
    };
    let wanted = lane.summary.peak_reserved.to_string();
    assert_eq!(figure.trim(), wanted, "the peak of {title} in the Inspector");
}
