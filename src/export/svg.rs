//! A lane as an SVG drawing: curve and memory map of what a viewport shows, text as text.
//!
//! ```text
//! title, figures, what the lines and the colours mean
//!       | iterations, runs, phases
//! bytes | reserved and live, the capacity, the peak
//! bytes | the memory map: regions, blocks, names where they fit
//!       +-------------------------------------------------- steps
//! ```
//!
//! In: an answer with its view-model, a lane, a viewport, a size, colours as texts. Out: XML, the same every time. A column of the curve
//! spans the exact extremes of its steps; blocks are culled and merged as in the window.

mod areas;
mod bands;
mod colors;
mod flame;
mod legend;
mod pictured;
pub(super) mod text;

use std::fmt::Write as _;

pub use self::colors::SvgColors;
pub use self::flame::flame_svg;
use self::text::{escaped, number};
use highwater_analysis::Comparison;
use highwater_model::units::grouped;
use highwater_timeline::{AxisKind, Coloring, LaneView, Timeline, View, Viewport};

#[derive(Clone, Copy, Debug)]
pub struct LaneDrawing<'a> {
    pub comparison: &'a Comparison,
    pub timeline: &'a Timeline,
    pub lane: usize,
    pub viewport: Viewport,
    /// Steps where the answer has no such times.
    pub axis: AxisKind,
    /// Width and height in points; at least 320 by 240.
    pub size: (f64, f64),
    pub colors: &'a SvgColors,
    /// The colouring of blocks; `None` colours single tensors.
    pub look: Option<&'a Coloring>,
    /// With more visible blocks the memory map is a picture in the drawing; `None` for shapes alone.
    pub most_shapes: Option<usize>,
}

/// Room for texts in points; the top without groups and bands.
pub(super) const LEFT: f64 = 78.0;
pub(super) const RIGHT: f64 = 18.0;
const TOP: f64 = 62.0;
const BELOW: f64 = 40.0;
/// The base line of the legend of curves.
const LEGEND: f64 = 52.0;
/// The gap between curve and memory map, and the curve's share of the height.
const BETWEEN: f64 = 10.0;
const CURVE_SHARE: f64 = 0.42;

#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn right(self) -> f64 {
        self.left + self.width
    }

    fn bottom(self) -> f64 {
        self.top + self.height
    }
}

impl LaneDrawing<'_> {
    fn view(&self) -> View<'_> {
        let axis = self.timeline.axes.get(self.axis);
        View::new(self.viewport, axis.map(|axis| &**axis))
    }
}

struct Pen<'a> {
    drawing: &'a LaneDrawing<'a>,
    view: &'a LaneView,
    /// The top within a drawing of several lanes.
    below: Option<f64>,
    xml: String,
}

/// O(visible blocks log visible blocks + width log steps).
///
/// # Errors
/// A sentence, for an unknown lane or a schedule without steps.
pub fn lane_svg(drawing: &LaneDrawing<'_>) -> Result<String, String> {
    lane_at(drawing, None)
}

/// Lanes under each other as one drawing.
///
/// # Errors
/// As [`lane_svg`], and without lanes.
pub fn lanes_svg(drawings: &[LaneDrawing<'_>]) -> Result<String, String> {
    let first = match drawings {
        [] => return Err("no lane to draw".to_owned()),
        [only] => return lane_svg(only),
        [first, ..] => first,
    };
    let width = drawings.iter().map(|drawing| size_of(drawing).0).fold(0.0, f64::max);
    let height: f64 = drawings.iter().map(|drawing| size_of(drawing).1).sum();
    let (w, h) = (number(width), number(height));
    let mut xml = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="sans-serif" font-size="11">"#
    );
    let name = escaped(&first.comparison.workload.name);
    let page = escaped(&first.colors.page);
    let count = drawings.len();
    xml.push_str(&format!("\n<title>{name}: {count} lanes</title>\n"));
    xml.push_str(&format!(r#"<rect width="{w}" height="{h}" fill="{page}"/>"#));
    xml.push('\n');
    let mut below = 0.0;
    for drawing in drawings {
        xml.push_str(&lane_at(drawing, Some(below))?);
        below += size_of(drawing).1;
    }
    xml.push_str("</svg>\n");
    Ok(xml)
}

fn size_of(drawing: &LaneDrawing<'_>) -> (f64, f64) {
    (drawing.size.0.max(320.0), drawing.size.1.max(240.0))
}

fn lane_at(drawing: &LaneDrawing<'_>, below: Option<f64>) -> Result<String, String> {
    let known = drawing.timeline.lanes.get(drawing.lane);
    let view = known.filter(|_| drawing.lane < drawing.comparison.lanes.len());
    let view = view.ok_or("no such lane")?;
    if drawing.timeline.n_steps == 0 {
        return Err("nothing to draw: the schedule has no steps".to_owned());
    }
    let (width, height) = size_of(drawing);
    let groups = legend::height(drawing, width);
    let bands = Area {
        left: LEFT,
        top: TOP + groups,
        width: width - LEFT - RIGHT,
        height: bands::height(&drawing.timeline.bands),
    };
    let room = (height - bands.bottom() - BELOW - BETWEEN).max(60.0);
    let has_map = !view.blocks.is_empty() || !view.regions.is_empty();
    let curve = Area {
        top: bands.bottom(),
        height: if has_map { room * CURVE_SHARE } else { room + BETWEEN },
        ..bands
    };
    let map = Area {
        top: curve.bottom() + BETWEEN,
        height: room - curve.height,
        ..curve
    };
    let mut pen = Pen {
        drawing,
        view,
        below,
        xml: String::new(),
    };
    pen.head(width, height);
    pen.groups_legend(width, LEGEND + 16.0);
    pen.bands(bands);
    pen.curve(curve);
    if has_map {
        pen.map(map);
    }
    let lowest = if has_map { map } else { curve };
    pen.peak(curve, lowest);
    pen.steps(lowest, height);
    pen.xml.push_str("</svg>\n");
    Ok(pen.xml)
}

impl Pen<'_> {
    /// Adds a line; writing to a string cannot fail.
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.xml.write_fmt(line).expect("writing to a string cannot fail");
        self.xml.push('\n');
    }

    /// A rectangle; `end` has further attributes and the end of the element.
    fn rect(&mut self, area: Area, fill: &str, end: std::fmt::Arguments<'_>) {
        let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
        let fill = escaped(fill);
        self.line(format_args!(
            r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}"{end}"#
        ));
    }

    /// A text on a baseline; `anchor` is the part of the text at the place.
    fn words(&mut self, x: f64, y: f64, anchor: &str, color: &str, words: &str) {
        let (x, y, words) = (number(x), number(y), escaped(words));
        let color = escaped(color);
        self.line(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{color}">{words}</text>"#
        ));
    }

    fn head(&mut self, width: f64, height: f64) {
        let LaneDrawing {
            comparison,
            lane,
            colors,
            viewport,
            ..
        } = *self.drawing;
        let row = &comparison.lanes[lane];
        let title = format!("{}: {}", comparison.workload.name, comparison.lane_title(row.id));
        let (states_reserved, states_live) = comparison.states(lane);
        let (reserved, live) = (comparison.least_reserved(lane), row.summary.peak_live);
        let mut figures = Vec::new();
        if states_reserved {
            let sign = comparison.bound_sign(lane);
            figures.push(format!(
                "peak reserved {sign}{reserved} ({} B)",
                grouped(reserved.get())
            ));
        }
        if states_live {
            figures.push(format!("peak live {live} ({} B)", grouped(live.get())));
        }
        let (axis, view) = (comparison.axis_text(), shown_steps(viewport));
        figures.push(format!(
            "{axis} {} to {} of {}",
            view.0,
            view.1,
            grouped(u64::from(comparison.axis.n_steps))
        ));
        let figures = figures.join(", ");
        let (w, h) = (number(width), number(height));
        let place = self
            .below
            .map_or_else(String::new, |below| format!(r#" y="{}""#, number(below)));
        self.line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg"{place} width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="sans-serif" font-size="11">"#
        ));
        self.line(format_args!("<title>{}</title>", escaped(&title)));
        self.line(format_args!("<desc>{}</desc>", escaped(&figures)));
        self.line(format_args!(
            r#"<rect width="{w}" height="{h}" fill="{}"/>"#,
            escaped(&colors.page)
        ));
        let (x, color) = (number(LEFT), escaped(&colors.text));
        self.line(format_args!(
            r#"<text x="{x}" y="20" fill="{color}" font-size="15" font-weight="bold">{}</text>"#,
            escaped(&title)
        ));
        self.words(LEFT, 36.0, "start", &colors.text, &figures);
        self.lines_legend(LEFT, LEGEND);
    }

    fn steps(&mut self, area: Area, height: f64) {
        let drawing = self.drawing;
        let colors = drawing.colors;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a handful of marks"
        )]
        let most = (area.width / 90.0).max(2.0) as u32;
        let view = drawing.view();
        for tick in view.ticks([most; 2]) {
            let x = area.left + view.x_from_step(tick.value, area.width);
            let (at, top, low) = (number(x), number(area.bottom()), number(area.bottom() + 4.0));
            let color = escaped(&colors.text_weak);
            self.line(format_args!(
                r#"<path d="M{at} {top}V{low}" stroke="{color}" fill="none"/>"#
            ));
            self.words(x, area.bottom() + 16.0, "middle", &colors.text_weak, &tick.label);
        }
        let word = match view.axis() {
            None if drawing.comparison.has_common_axis() => drawing.comparison.axis_text(),
            None => drawing.comparison.axis_word().to_owned(),
            Some(_) => drawing.timeline.axes.name(drawing.axis),
        };
        let middle = area.left + area.width / 2.0;
        self.words(middle, height - 8.0, "middle", &colors.text_weak, &word);
    }
}

/// The first and the last visible step.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "steps fit, and none is negative"
)]
fn shown_steps(viewport: Viewport) -> (String, String) {
    let step = |value: f64| grouped(value.max(0.0) as u64);
    (step(viewport.t0.floor()), step((viewport.t1.ceil() - 1.0).max(0.0)))
}
