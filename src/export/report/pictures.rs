//! The drawings of the lanes in the page, in colours that follow the reader's scheme.

use super::Report;
use super::figures::Shown;
use super::page::Page;
use crate::subject::ExportError;
use crate::svg::text::escaped;
use crate::svg::{LaneDrawing, SvgColors, lane_svg};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, grouped};
use highwater_timeline::{AxisKind, Viewport};

/// Points of a lane.
const SIZE: (f64, f64) = (1100.0, 440.0);
/// A map with more shapes is a picture.
const MOST_SHAPES: usize = 1500;

/// Colours by the names that the page's style gives them; blocks keep theirs, in light and dark.
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
    /// A figure per lane.
    pub(super) fn pictures(&self, page: &mut Page, progress: &Progress<'_>) -> Result<(), ExportError> {
        page.line(
            "p",
            "Above the bytes that are reserved and live on each step, below the memory map: addresses upwards, a block from its \
             allocation to its end. Where scripts run, the line below each picture tells what lies under the pointer; \
             arrow keys move it.",
        );
        if self.subject.timeline.n_steps == 0 {
            page.line("p", "The schedule has no steps, so there is nothing to draw.");
            return Ok(());
        }
        let lanes = self.lanes();
        for (number, lane) in lanes.iter().enumerate() {
            progress.set("drawing", number as u64, lanes.len() as u64)?;
            page.line("h3", &self.lane_name(*lane));
            let end = self.subject.timeline.n_steps;
            let shown = Shown {
                lane: *lane,
                start: 0,
                end,
            };
            self.figure(page, number, &shown)?;
            self.remarks(page, *lane);
        }
        Ok(())
    }

    /// A drawing with what lies under the pointer; `number` is its place among those of the page.
    pub(super) fn figure(&self, page: &mut Page, number: usize, shown: &Shown) -> Result<(), ExportError> {
        let viewport = Viewport {
            t0: f64::from(shown.start),
            t1: f64::from(shown.end),
            ..self.subject.timeline.fit()
        };
        let colors = colors();
        let svg = lane_svg(&LaneDrawing {
            comparison: self.comparison,
            timeline: &self.subject.timeline,
            lane: shown.lane,
            viewport,
            axis: AxisKind::Order,
            size: SIZE,
            colors: &colors,
            look: Some(&self.subject.look),
            most_shapes: Some(MOST_SHAPES),
        })?;
        page.raw(&format!(
            "<figure data-lane=\"{number}\">\n<div class=\"scroll\">\n{svg}"
        ));
        page.raw("</div>\n<output></output>\n");
        page.line("figcaption", &self.caption(shown, svg.contains("<image ")));
        page.raw("</figure>\n");
        Ok(())
    }

    /// What a picture shows, and what it cannot.
    fn caption(&self, shown: &Shown, is_pictured: bool) -> String {
        let view = &self.subject.timeline.lanes[shown.lane];
        let blocks = counted(view.blocks.len() as u64, "block");
        let mut text = if view.blocks.is_empty() {
            "Curves; no single blocks are known".to_owned()
        } else {
            format!("Curves and {blocks}")
        };
        if shown.end - shown.start < self.subject.timeline.n_steps {
            let word = self.comparison.axis_word();
            let [first, last] = [shown.start, shown.end.saturating_sub(1)].map(|step| grouped(u64::from(step)));
            text.push_str(&format!(" in all, {word}s {first} to {last} of them"));
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

    /// What is said of the lane's peak.
    fn remarks(&self, page: &mut Page, lane: usize) {
        let remarks = self.comparison.lanes[lane].explanation.iter();
        let items: Vec<String> = remarks.map(|remark| escaped(&remark.text)).collect();
        page.list(&items);
    }
}
