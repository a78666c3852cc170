//! The drawings of the lanes, in colours that follow the light or dark scheme of the reader.

use super::Report;
use super::figures::Shown;
use crate::blocks::{Block, paragraph, text};
use crate::subject::ExportError;
use crate::svg::{LaneDrawing, SvgColors, lane_svg};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, grouped};
use highwater_timeline::{AxisKind, Viewport};

/// Width and height of a drawing in points.
const SIZE: (f64, f64) = (1100.0, 440.0);
/// A memory map with more shapes is drawn as pixels.
const MOST_SHAPES: usize = 1500;

/// Colours as variables of the page's style sheet; blocks have the same colours in light and dark.
fn colors() -> SvgColors {
    let named = |name: &str| format!("var(--{name})");
    SvgColors {
        page: named("page"),
        canvas: named("hw-canvas"),
        text: named("text"),
        text_weak: named("weak"),
        grid: named("hw-grid"),
        frame: named("hw-frame"),
        reserved: named("hw-reserved"),
        reserved_fill: named("hw-reserved-fill"),
        live: named("hw-live"),
        live_fill: named("hw-live-fill"),
        physical: named("hw-physical"),
        capacity: named("hw-capacity"),
        peak: named("hw-peak"),
        region: named("hw-region"),
        region_outline: named("hw-region-outline"),
        runs: ["hw-run-a", "hw-run-b"].map(named),
        phases: ["hw-forward", "hw-backward", "hw-optimizer"].map(named),
        ..SvgColors::print()
    }
}

impl Report<'_> {
    /// A figure for each lane.
    pub(super) fn lanes_part(&self, progress: &Progress<'_>) -> Result<Vec<Block>, ExportError> {
        let mut blocks = vec![paragraph(
            "Top: reserved and live bytes per step. Bottom: memory map with addresses upwards, each block from \
             allocation to end. With scripts enabled, the line below a picture describes the point under the pointer; \
             arrow keys move it.",
        )];
        let end = self.subject.timeline.n_steps;
        if end == 0 {
            blocks.push(paragraph("The schedule has no steps, so there is nothing to draw."));
            return Ok(blocks);
        }
        let lanes = self.lanes();
        for (position, lane) in lanes.iter().enumerate() {
            progress.set("drawing", position as u64, lanes.len() as u64)?;
            blocks.push(Block::Heading(3, text(self.lane_name(*lane))));
            let shown = Shown {
                lane: *lane,
                start: 0,
                end,
            };
            blocks.push(self.figure(position, &shown)?);
            let remarks = self.comparison.lanes[*lane].explanation.iter();
            blocks.push(Block::List(remarks.map(|remark| (0, text(&remark.text))).collect()));
        }
        Ok(blocks)
    }

    /// A drawing; `position` is its place among the drawings of the page.
    pub(super) fn figure(&self, position: usize, shown: &Shown) -> Result<Block, ExportError> {
        let viewport = Viewport {
            t0: f64::from(shown.start),
            t1: f64::from(shown.end),
            ..self.subject.timeline.fit()
        };
        let svg = lane_svg(&LaneDrawing {
            comparison: self.comparison,
            timeline: &self.subject.timeline,
            lane: shown.lane,
            viewport,
            axis: AxisKind::Order,
            size: SIZE,
            colors: &colors(),
            look: Some(&self.subject.look),
            most_shapes: Some(MOST_SHAPES),
        })?;
        let caption = self.caption(shown, svg.contains("<image "));
        Ok(Block::Figure { position, svg, caption })
    }

    fn caption(&self, shown: &Shown, is_pictured: bool) -> String {
        let view = &self.subject.timeline.lanes[shown.lane];
        let blocks = counted(view.blocks.len() as u64, "block");
        let mut text = if view.blocks.is_empty() {
            "Curves (no blocks known)".to_owned()
        } else {
            format!("Curves and {blocks}")
        };
        if shown.end - shown.start < self.subject.timeline.n_steps {
            let word = self.comparison.axis_word();
            let [first, last] = [shown.start, shown.end.saturating_sub(1)].map(|step| grouped(u64::from(step)));
            text.push_str(&format!(" in total, {word}s {first} to {last} shown"));
        }
        if is_pictured {
            text.push_str(&format!(
                ", more than {} shapes, so the map is a picture; the largest of them tell what they are",
                grouped(MOST_SHAPES as u64)
            ));
        }
        text.push('.');
        text
    }
}
