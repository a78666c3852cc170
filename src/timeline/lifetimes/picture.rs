//! A picture of more rows than a frame can draw one by one, for the painter's thread.

use std::sync::Arc;

use super::items::place;
use super::{LaneRows, RowLayout, ScopeFolds};
use crate::axis::{Axes, AxisKind};
use crate::raster::{BlockColors, Raster, RasterFrame, RasterStyle, raster_of};
use crate::viewport::{Canvas, View, Viewport};

#[derive(Clone, Debug, PartialEq)]
pub struct RowsFrame {
    pub view: Viewport,
    pub axis: AxisKind,
    pub folds: ScopeFolds,
    /// In points.
    pub canvas: Canvas,
    /// Pixels per point.
    pub scale: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RowsRaster {
    /// In points.
    pub layout: Arc<RowLayout>,
    /// Pixels of all rows, transparent at scopes; empty where no row is shown.
    pub raster: Raster,
}

impl LaneRows {
    /// Lays out and draws the rows of a view. `colors` are those of the lane's blocks.
    /// Pixels do not depend on the number of threads. O(alive rows log alive rows + pixels that they cover).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what a texture may be"
    )]
    pub fn raster(
        &self,
        of: &RowsFrame,
        axes: &Axes,
        colors: BlockColors<'_>,
        style: &RasterStyle,
        n_threads: usize,
    ) -> RowsRaster {
        const MOST: f64 = 8192.0;
        let along = View::new(of.view, axes.get(of.axis).map(|axis| &**axis));
        let layout = self.layout(along, &of.folds, of.canvas);
        let side = |points: f64| (points * of.scale).ceil().clamp(1.0, MOST) as u32;
        let frame = RasterFrame {
            view: of.view,
            axis: of.axis,
            width: side(of.canvas.width),
            height: if layout.n_rows() == 0 { 1 } else { side(layout.height) },
        };
        let width = f64::from(frame.width);
        let per_point = f64::from(frame.height) / layout.height.max(1.0);
        let row_height = layout.row_height * per_point;
        let raster = raster_of(&frame, axes, style, n_threads, &|(left, right), draw| {
            for (position, top) in layout.rows_within((0.0, layout.height)) {
                let Some(number) = layout.number(self, position) else {
                    continue;
                };
                let Some(row) = self.row(number) else { continue };
                if f64::from(row.start.0) >= right || f64::from(row.end.0) <= left {
                    continue;
                }
                let known = self.block(number).and_then(|block| colors.get(block as usize).copied());
                let color = known.unwrap_or_else(|| self.rows.color(row.tensor));
                self.rows.each_piece(row.tensor, |start, end| {
                    let place = place(&along, width, top * per_point, row_height, (start, end));
                    draw(place, color);
                });
            }
        });
        RowsRaster {
            layout: Arc::new(layout),
            raster,
        }
    }
}
