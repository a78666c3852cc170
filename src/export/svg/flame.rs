//! A flame graph as an SVG drawing: the root on top, a tooltip with exact figures per box, colours by file.

use std::fmt::Write as _;

use super::SvgColors;
use super::text::{cut, escaped, number, width};
use crate::flame::FlameAnswer;
use highwater_model::units::{counted, percent_text};
use highwater_timeline::{FlameBox, FlameGraph};

/// In points.
const WIDTH: f64 = 1200.0;
const SIDE: f64 = 10.0;
const TOP: f64 = 52.0;
const ROW: f64 = 17.0;
/// Boxes narrower than this are left out.
const LEAST: f64 = 0.5;
/// The least width of a box with a text.
const LEAST_TEXT: f64 = 24.0;

/// The whole graph. O(boxes).
pub fn flame_svg(answer: &FlameAnswer<'_>, colors: &SvgColors) -> String {
    let graph = answer.graph;
    let room = WIDTH - 2.0 * SIDE;
    let boxes = graph.boxes(FlameGraph::ROOT, LEAST / room);
    let rows = boxes.iter().map(|one| one.row + 1).max().unwrap_or(1);
    let height = TOP + f64::from(rows) * ROW + SIDE;
    let (w, h) = (number(WIDTH), number(height));
    let title = escaped(&answer.title());
    let figures = figures(answer, boxes.len());
    let [page, ink, weak] = [&colors.page, &colors.text, &colors.text_weak].map(|color| escaped(color));
    let x = number(SIDE);
    let mut xml = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="sans-serif" font-size="11">
<title>{title}</title>
<rect width="{w}" height="{h}" fill="{page}"/>
<text x="{x}" y="20" fill="{ink}" font-size="15" font-weight="bold">{title}</text>
<text x="{x}" y="38" fill="{weak}">{}</text>
"#,
        escaped(&figures)
    );
    for one in &boxes {
        xml.push_str(&drawn(graph, one, room, colors));
    }
    xml.push_str("</svg>\n");
    xml
}

/// The whole, and what is too narrow to draw.
fn figures(answer: &FlameAnswer<'_>, n_drawn: usize) -> String {
    let graph = answer.graph;
    let root = graph.node(FlameGraph::ROOT);
    let mut parts = vec![format!(
        "{} ({}) in {}",
        graph.bytes(root.total),
        graph.exact(root.total),
        counted(root.count, graph.noun())
    )];
    if graph.nodes().len() > n_drawn {
        let n_narrow = counted((graph.nodes().len() - n_drawn) as u64, "frame");
        parts.push(format!("{n_narrow} too narrow to draw"));
    }
    if graph.cut.count > 0 {
        let deep = counted(graph.cut.count, graph.noun());
        parts.push(format!("the innermost frames of {deep} are cut"));
    }
    parts.join(", ")
}

fn drawn(graph: &FlameGraph, one: &FlameBox, room: f64, colors: &SvgColors) -> String {
    let (left, right) = (SIDE + one.ends.0 * room, SIDE + one.ends.1 * room);
    let top = TOP + f64::from(one.row) * ROW;
    let gap = if right - left > 4.0 { 0.75 } else { 0.0 };
    let [x, y, w, h] = [left, top, right - left - gap, ROW - 1.0].map(number);
    let fill = match one.node {
        FlameGraph::ROOT => &colors.region,
        node => colors.block(graph.color(node)),
    };
    let (fill, hint) = (escaped(fill), escaped(&graph.hint(one.node)));
    let mut xml =
        format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}"><title>{hint}</title></rect>"#);
    xml.push('\n');
    let inner = right - left - 8.0;
    if right - left >= LEAST_TEXT {
        let node = graph.node(one.node);
        let name = &graph.frame(one.node).text;
        let long = format!(
            "{name}  {}, {}",
            graph.bytes(node.total),
            percent_text(graph.share(node.total))
        );
        let words = if width(&long) <= inner { long } else { cut(name, inner) };
        let (x, y) = (number(left + 4.0), number(top + 12.0));
        let (color, words) = (escaped(&colors.on_tensor), escaped(&words));
        // The box below has the tooltip.
        write!(
            xml,
            r#"<text x="{x}" y="{y}" fill="{color}" pointer-events="none">{words}</text>"#
        )
        .expect("writing to a string cannot fail");
        xml.push('\n');
    }
    xml
}
