//! The frame of a plot of points: ranges and marks of its axes, and its strips.

use eframe::egui::{self, RichText};
use egui_plot::{GridMark, PlotPoint, PlotUi, Polygon, Text};

use super::PointsState;
use super::points::{Mark, Points};
use crate::numbers::{count_f32, to_whole};
use crate::panels::plots::{LABEL_ROOM, PlotAxis, Span, round_bytes, round_step};
use crate::theme::Theme;
use highwater_analysis::Figure;
use highwater_model::units::Bytes;

/// Height of a strip and of the gap to the curves, as shares of the curves' height.
const STRIPS: (f64, f64) = (0.24, 0.05);

pub(super) struct Frame {
    /// Of the figures along and up: a title, one of its kind, the range.
    pub(super) axes: [(&'static str, Figure, Span); 2],
    is_log: bool,
    pub(super) strips: Option<Strips>,
}

/// Strips above and below the curves, with a row for each shown series.
pub(super) struct Strips {
    names: [&'static str; 2],
    series: Vec<usize>,
}

/// A point with its figures along and up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) at: usize,
    pub(super) place: [f64; 2],
    pub(super) series: usize,
    pub(super) mark: Mark,
}

impl Frame {
    pub(super) fn of(
        points: &dyn Points,
        state: &PointsState,
        axes: [(&'static str, Figure, Span); 2],
        placed: &[Placed],
    ) -> Self {
        let series = points.series().into_iter().map(|series| series.position);
        let strips = points.strips().map(|names| Strips {
            names,
            series: series.filter(|series| !state.hidden.contains(series)).collect(),
        });
        let is_log = state.is_log;
        let mut frame = Self { axes, is_log, strips };
        // Points that failed are drawn where they are in range, or in the strip: their figures end early.
        let is_any = placed.iter().any(|point| point.mark.has_completed());
        let (mut x, mut y) = (Span::EMPTY, Span::EMPTY);
        for point in placed {
            let is_counted = !is_any || point.mark.has_completed();
            let [along, up] = point.place;
            if is_counted || frame.strips.is_some() {
                x.include(along);
            }
            if is_counted {
                y.include(frame.height(up));
            }
        }
        // Includes the limit where points come near.
        let limit = points.limit().map(|(limit, _)| limit.number());
        if let Some(limit) = limit.filter(|limit| *limit < x.to * 1.5) {
            x.include(limit);
        }
        let room = |span: Span, least: f64| span.widened((span.length() * 0.06).max(least));
        frame.axes[0].2 = room(x, x.to * 0.01);
        let least = if is_log {
            0.1
        } else {
            (y.to * 0.05).max(least(axes[1].1))
        };
        frame.axes[1].2 = room(y, least);
        frame
    }

    /// A figure up, in decades where they are wanted.
    fn height(&self, figure: f64) -> f64 {
        let least = least(self.axes[1].1);
        if self.is_log { figure.max(least).log10() } else { figure }
    }

    pub(super) fn place(&self, point: &Placed) -> PlotPoint {
        let [x, y] = point.place;
        match &self.strips {
            Some(strips) if !point.mark.has_completed() => PlotPoint::new(x, self.row(strips, true, point.series)),
            _ => PlotPoint::new(x, self.height(y)),
        }
    }

    /// The strip above the curves, or that below them.
    pub(super) fn strip(&self, is_above: bool) -> Span {
        let (.., curves) = self.axes[1];
        let [height, gap] = [STRIPS.0, STRIPS.1].map(|share| curves.length() * share);
        let from = if is_above {
            curves.to + gap
        } else {
            curves.from - gap - height
        };
        Span {
            from,
            to: from + height,
        }
    }

    /// The height of a series in a strip, below the strip's name.
    fn row(&self, strips: &Strips, is_above: bool, series: usize) -> f64 {
        let strip = self.strip(is_above);
        let row = strips.series.iter().position(|shown| *shown == series).unwrap_or(0);
        let part = f64::from((count_f32(row) + 0.5) / count_f32(strips.series.len().max(1)));
        strip.from + strip.length() * 0.92 * (1.0 - part)
    }

    pub(super) fn draw_strips(&self, plot: &mut PlotUi<'_>, theme: &Theme) {
        let Some(strips) = &self.strips else { return };
        let (.., x) = self.axes[0];
        let anchors = [
            (true, x.to, egui::Align2::RIGHT_TOP),
            (false, x.from, egui::Align2::LEFT_TOP),
        ];
        for ((is_above, along, anchor), name) in anchors.into_iter().zip(strips.names) {
            let Span { from, to } = self.strip(is_above);
            let corners = vec![[x.from, from], [x.to, from], [x.to, to], [x.from, to]];
            let ground = Polygon::new("strip", corners).fill_color(theme.grid.gamma_multiply(0.6));
            plot.polygon(ground.stroke(egui::Stroke::NONE).allow_hover(false));
            let text = RichText::new(format!(" {name} ")).color(theme.text_weak).size(10.5);
            let name = Text::new("strip", PlotPoint::new(along, to), text);
            plot.text(name.anchor(anchor).allow_hover(false));
        }
    }

    /// Where shown series fit from, in the strip below.
    pub(super) fn limits(
        &self,
        points: &dyn Points,
        placed: &[Placed],
        theme: &Theme,
    ) -> Vec<(egui::Color32, PlotPoint)> {
        let Some(strips) = &self.strips else { return Vec::new() };
        let limits = points.series().into_iter().filter_map(|series| {
            let point = placed_at(placed, series.limit_at?)?;
            let y = self.row(strips, false, series.position);
            Some((theme.heuristic(series.position), PlotPoint::new(point.place[0], y)))
        });
        limits.collect()
    }

    /// Labels are at round figures.
    pub(super) fn axis(&self, axis: usize, points: f32) -> PlotAxis<impl Fn(f64) -> String + 'static> {
        let (title, kind, span) = self.axes[axis];
        let is_log = axis == 1 && self.is_log;
        // With strips the curves have this share of the height.
        let share = if axis == 1 && self.strips.is_some() { 0.6 } else { 1.0 };
        let step = span.least_step(points * share, LABEL_ROOM[axis]);
        let step = match kind {
            _ if is_log => step.ceil().max(1.0),
            Figure::Bytes(_) => round_bytes(step),
            _ => round_step(step),
        };
        let marks: Vec<GridMark> = span.marks(step);
        PlotAxis {
            title,
            marks: marks.into_iter().filter(|mark| is_log || mark.value >= 0.0).collect(),
            text: move |value: f64| {
                let text = figure_text(kind, if is_log { 10_f64.powf(value) } else { value });
                match kind {
                    Figure::Share(_) if axis == 1 => format!("+{text}"),
                    _ => text,
                }
            },
        }
    }
}

/// The least figure in decades.
const fn least(kind: Figure) -> f64 {
    match kind {
        Figure::Share(_) => 1e-6,
        Figure::Bytes(_) | Figure::Count(_) | Figure::Nanos(_) => 1.0,
    }
}

/// A label of an axis.
fn figure_text(kind: Figure, value: f64) -> String {
    match kind {
        Figure::Share(_) => {
            let text = format!("{:.4}", value * 100.0);
            format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
        }
        Figure::Bytes(_) => Bytes(to_whole(value)).short(),
        Figure::Count(_) => Figure::Count(to_whole(value)).to_string(),
        Figure::Nanos(_) => Figure::Nanos(to_whole(value.round())).to_string(),
    }
}

/// Placed points are in the order of their positions.
pub(super) fn placed_at(placed: &[Placed], at: usize) -> Option<&Placed> {
    let found = placed.binary_search_by_key(&at, |point| point.at);
    found.ok().map(|position| &placed[position])
}
