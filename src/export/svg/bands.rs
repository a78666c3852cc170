//! Bands above the curve: iterations, runs, phases, as on the ruler of the window.

use super::text::{cut, width};
use super::{Area, LaneDrawing, Pen};
use highwater_model::graph::Phase;
use highwater_model::units::Step;
use highwater_timeline::{Bands, RunBand};

/// Height of a row in points, with the gap below it.
const ROW: f64 = 15.0;
const GAP: f64 = 2.0;
/// The smallest width of a band with a name, and with a name that is cut off.
const LEAST_NAME: f64 = 24.0;
const LEAST_CUT: f64 = 40.0;
/// Narrower runs have short names.
const LEAST_LABEL: f64 = 150.0;
/// A band that ends this close to the end of the band before is not drawn.
const LEAST_STEP: f64 = 0.5;

pub(super) fn height(bands: &Bands) -> f64 {
    let rows = [
        bands.iterations.is_empty(),
        bands.runs.is_empty(),
        bands.phases.is_empty(),
    ];
    let n_rows = rows.into_iter().filter(|is_empty| !is_empty).count() + bands.annotations.len().min(ANNOTATION_ROWS);
    (0..n_rows).map(|_| ROW).sum()
}

/// Rows of annotations that are drawn: the outermost.
const ANNOTATION_ROWS: usize = 3;

struct Band<'a> {
    steps: (Step, Step),
    color: &'a str,
    /// From long to short.
    names: Vec<String>,
}

impl Pen<'_> {
    /// All rows; `area` starts at the first.
    pub(super) fn bands(&mut self, area: Area) {
        let drawing = self.drawing;
        let (bands, colors, viewport) = (&drawing.timeline.bands, drawing.colors, drawing.viewport);
        let mut top = area.top;
        if !bands.iterations.is_empty() {
            let iterations = bands
                .iterations_within(viewport.t0, viewport.t1)
                .iter()
                .map(|band| Band {
                    steps: (band.start, band.end),
                    color: &colors.runs[band.iteration as usize % 2],
                    names: vec![format!("iteration {}", band.iteration), band.iteration.to_string()],
                });
            self.row(Area { top, ..area }, "iteration", iterations);
            top += ROW;
        }
        if !bands.runs.is_empty() {
            let runs = bands.runs_within(viewport.t0, viewport.t1).iter().map(|band| Band {
                steps: (band.start, band.end),
                color: &colors.runs[band.graph.0 as usize % 2],
                names: run_names(band, width_of(area, drawing, (band.start, band.end)), bands),
            });
            self.row(Area { top, ..area }, "run", runs);
            top += ROW;
        }
        let phases = bands.phases_within(viewport.t0, viewport.t1);
        if !bands.phases.is_empty() {
            let phases = phases.iter().map(|band| Band {
                steps: (band.start, band.end),
                color: match band.phase {
                    Phase::Unknown => &colors.page,
                    Phase::Forward => &colors.phases[0],
                    Phase::Backward => &colors.phases[1],
                    Phase::Optimizer => &colors.phases[2],
                },
                names: vec![band.phase.name().to_owned()],
            });
            self.row(Area { top, ..area }, "phase", phases);
            top += ROW;
        }
        for row in 0..bands.annotations.len().min(ANNOTATION_ROWS) {
            let within = bands.annotations_within(row, viewport.t0, viewport.t1).iter();
            let annotations = within.map(|band| Band {
                steps: (band.start, band.end),
                color: &colors.runs[usize::from(band.shade)],
                names: vec![band.name.to_string()],
            });
            self.row(Area { top, ..area }, "annotation", annotations);
            top += ROW;
        }
    }

    fn row<'a>(&mut self, area: Area, name: &str, bands: impl Iterator<Item = Band<'a>>) {
        let colors = self.drawing.colors;
        let baseline = area.top + ROW - GAP - 3.0;
        self.words(area.left - 6.0, baseline, "end", &colors.text_weak, name);
        let mut drawn_to = f64::NEG_INFINITY;
        for band in bands {
            let (left, right) = ends(area, self.drawing, band.steps);
            if right - drawn_to < LEAST_STEP {
                continue;
            }
            drawn_to = right;
            let room = right - left;
            let gap = if room > 4.0 { 0.75 } else { 0.0 };
            let place = Area {
                left: area.left + left,
                top: area.top,
                width: (room - gap).max(0.25),
                height: ROW - GAP,
            };
            self.rect(place, band.color, format_args!("/>"));
            let fits = band.names.iter().find(|name| width(name) <= room - 6.0);
            let last = band.names.last().filter(|_| room >= LEAST_CUT);
            let name = fits.filter(|_| room >= LEAST_NAME).or(last);
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let words = cut(name, room - 6.0);
                self.words(area.left + left + 3.0, baseline, "start", &colors.text, &words);
            }
        }
    }
}

/// Long names contain the iteration, which is left out where iterations have a band.
fn run_names(band: &RunBand, room: f64, bands: &Bands) -> Vec<String> {
    if bands.iterations.is_empty() && room >= LEAST_LABEL {
        vec![band.label.clone(), band.short.clone()]
    } else {
        vec![band.short.clone()]
    }
}

/// Both ends of some steps in points from the left of an area, cut to the area.
fn ends(area: Area, drawing: &LaneDrawing<'_>, steps: (Step, Step)) -> (f64, f64) {
    let view = drawing.view();
    let x = |step: Step| view.x_from_step(f64::from(step.0), area.width).clamp(0.0, area.width);
    (x(steps.0), x(steps.1))
}

fn width_of(area: Area, drawing: &LaneDrawing<'_>, steps: (Step, Step)) -> f64 {
    let (left, right) = ends(area, drawing, steps);
    right - left
}
