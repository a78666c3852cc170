//! Bands above the curve: iterations, runs, phases, as on the ruler of the window.

use super::text::{cut, width};
use super::{Area, Pen};
use highwater_model::graph::Phase;
use highwater_model::units::Step;
use highwater_timeline::{BandRow, Bands, Shade};

/// Height of a row in points, with the gap below it.
const ROW: f64 = 15.0;
const GAP: f64 = 2.0;
/// The smallest width of a band with a name, and with a name that is cut off.
const LEAST_NAME: f64 = 24.0;
const LEAST_CUT: f64 = 40.0;
/// A band that ends this close to the end of the band before is not drawn.
const LEAST_STEP: f64 = 0.5;

pub(super) fn height(bands: &Bands) -> f64 {
    bands.rows().map(|_| ROW).sum()
}

impl Pen<'_> {
    /// All rows; `area` starts at the first.
    pub(super) fn bands(&mut self, area: Area) {
        let mut top = area.top;
        for row in self.drawing.timeline.bands.rows() {
            self.row(Area { top, ..area }, row);
            top += ROW;
        }
    }

    fn row(&mut self, area: Area, row: BandRow) {
        let drawing = self.drawing;
        let (colors, bands, view) = (drawing.colors, &drawing.timeline.bands, drawing.view());
        let baseline = area.top + ROW - GAP - 3.0;
        self.words(area.left - 6.0, baseline, "end", &colors.text_weak, row.label());
        let x = |step: Step| view.x_from_step(f64::from(step.0), area.width).clamp(0.0, area.width);
        let mut drawn_to = f64::NEG_INFINITY;
        for band in bands.within(row, view.t0, view.t1) {
            let (start, end) = band.steps();
            let (left, right) = (x(start), x(end));
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
            let color = match band.shade() {
                Shade::Alternating(shade) => &colors.runs[shade],
                Shade::Phase(Phase::Unknown) => &colors.page,
                Shade::Phase(Phase::Forward) => &colors.phases[0],
                Shade::Phase(Phase::Backward) => &colors.phases[1],
                Shade::Phase(Phase::Optimizer) => &colors.phases[2],
            };
            self.rect(place, color, format_args!("/>"));
            let names = band.names_within(room, bands);
            let fits = names.iter().find(|name| width(name) <= room - 6.0);
            let last = names.last().filter(|_| room >= LEAST_CUT);
            let name = fits.filter(|_| room >= LEAST_NAME).or(last);
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let words = cut(name, room - 6.0);
                self.words(area.left + left + 3.0, baseline, "start", &colors.text, &words);
            }
        }
    }
}
