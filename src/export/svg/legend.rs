//! The legends of curves, in one row, and of colours, in a few rows.

use super::text::{cut, width};
use super::{Area, LEFT, LaneDrawing, Pen, RIGHT, areas};
use highwater_timeline::{DIMMED, LegendRow};

const ROW: f64 = 16.0;
const MOST_ROWS: usize = 3;
const MOST_NAME: f64 = 160.0;
/// Room for the number of left-out groups.
const MORE: f64 = 60.0;

struct Placed<'a> {
    group: &'a LegendRow,
    name: String,
    row: usize,
    left: f64,
}

/// The places of groups, and the number of left-out groups.
fn placed<'a>(drawing: &LaneDrawing<'a>, page: f64) -> (Vec<Placed<'a>>, usize) {
    let legend = drawing.look.map_or(&[][..], |look| &look.legend);
    let (mut row, mut left) = (0, LEFT + width(&title(drawing)) + 12.0);
    let mut groups = Vec::new();
    for (position, group) in legend.iter().enumerate() {
        let name = cut(&group.text, MOST_NAME);
        let room = 34.0 + width(&name);
        let is_last = row + 1 == MOST_ROWS;
        let right = page - RIGHT - if is_last { MORE } else { 0.0 };
        if left + room > right {
            if is_last {
                return (groups, legend.len() - position);
            }
            (row, left) = (row + 1, LEFT);
        }
        groups.push(Placed { group, name, row, left });
        left += room;
    }
    (groups, 0)
}

fn title(drawing: &LaneDrawing<'_>) -> String {
    drawing
        .look
        .map_or_else(String::new, |look| format!("colour: {}", look.by.words()))
}

/// Height of the groups on a page of a width, in points; 0 where colours are of single tensors.
pub(super) fn height(drawing: &LaneDrawing<'_>, page: f64) -> f64 {
    let (groups, _) = placed(drawing, page);
    groups.last().map_or(0.0, |last| {
        let n_rows = u32::try_from(last.row + 1).unwrap_or(1);
        f64::from(n_rows) * ROW
    })
}

impl Pen<'_> {
    fn swatch(&mut self, x: f64, y: f64, fill: &str, color: &str, words: &str) {
        let place = Area {
            left: x,
            top: y - 8.0,
            width: 14.0,
            height: 8.0,
        };
        self.rect(place, fill, format_args!("/>"));
        self.words(x + 18.0, y, "start", color, words);
    }

    pub(super) fn lines_legend(&mut self, left: f64, y: f64) {
        let drawing = self.drawing;
        let colors = drawing.colors;
        let (states_reserved, states_live) = drawing.comparison.states(drawing.lane);
        let lines = [
            (states_reserved, &colors.reserved, "reserved"),
            (states_live, &colors.live, "live"),
            (self.view.physical.max() > 0, &colors.physical, "in pages"),
            (
                areas::near_capacity(drawing).is_some(),
                &colors.capacity,
                "capacity of the device",
            ),
        ];
        let mut x = left;
        for (_, color, words) in lines.into_iter().filter(|(is_there, ..)| *is_there) {
            self.swatch(x, y, color, &colors.text_weak, words);
            x += 34.0 + width(words);
        }
    }

    /// The groups of the colouring; dimmed groups are dimmed here too.
    pub(super) fn groups_legend(&mut self, page: f64, y: f64) {
        let drawing = self.drawing;
        let colors = drawing.colors;
        let (groups, n_more) = placed(drawing, page);
        let Some(last) = groups.last() else { return };
        let baseline = |row: usize| y + f64::from(u32::try_from(row).unwrap_or(0)) * ROW;
        self.words(LEFT, y, "start", &colors.text_weak, &title(drawing));
        for placed in &groups {
            let (dimmed, words) = if placed.group.is_hidden {
                (DIMMED, &colors.text_weak)
            } else {
                (0, &colors.text)
            };
            let fill = colors.block(placed.group.color | dimmed);
            self.swatch(placed.left, baseline(placed.row), fill, words, &placed.name);
        }
        if n_more > 0 {
            let behind = last.left + 34.0 + width(&last.name);
            let more = format!("+{n_more} more");
            self.words(behind, baseline(last.row), "start", &colors.text_weak, &more);
        }
    }
}
