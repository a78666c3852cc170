//! A memory map with very many blocks: a picture in the drawing, with tooltips over the largest blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::areas::place_of;
use super::text::{escaped, number};
use super::{Area, Pen};
use crate::png_file::{Picture, png};
use highwater_timeline::{ItemRect, RasterFrame, RasterStyle, raster};

/// Pixels per point.
const SCALE: f64 = 1.5;
/// The number of blocks with tooltips.
const MOST_HINTED: usize = 600;

impl Pen<'_> {
    /// The blocks as a picture; `items` are blocks of at least a pixel.
    pub(super) fn pictured(&mut self, area: Area, items: &[ItemRect]) {
        let drawing = self.drawing;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a page is a few thousand points wide and high"
        )]
        let pixels = |points: f64| (points * SCALE).round().max(1.0) as u32;
        let frame = RasterFrame {
            view: drawing.viewport,
            axis: drawing.axis,
            width: pixels(area.width),
            height: pixels(area.height),
        };
        let style = RasterStyle {
            colors: drawing.colors.block_pixels(),
            gap: None,
        };
        let look = drawing.look.map(|look| look.colors(drawing.lane, self.view));
        let colors = look.unwrap_or(&self.view.blocks.color);
        let mut drawn = raster(self.view, &drawing.timeline.axes, colors, &frame, &style);
        straighten(&mut drawn.rgba);
        let picture = Picture {
            width: frame.width,
            height: frame.height,
            rgba: drawn.rgba,
        };
        // The raster has the size of its frame, so this cannot fail.
        if let Ok(file) = png(&picture) {
            let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
            let file = STANDARD.encode(file);
            self.line(format_args!(
                r#"<image x="{x}" y="{y}" width="{w}" height="{h}" preserveAspectRatio="none" href="data:image/png;base64,{file}"/>"#
            ));
        }
        self.hints(area, items);
        self.names(area, items);
    }

    /// Tooltips of the largest blocks.
    fn hints(&mut self, area: Area, items: &[ItemRect]) {
        let size = |item: &ItemRect| (item.x1 - item.x0) * (item.y1 - item.y0);
        let mut largest: Vec<&ItemRect> = items.iter().collect();
        largest.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.block.cmp(&b.block)));
        for item in largest.into_iter().take(MOST_HINTED) {
            let Some(hint) = self.hint(item.block) else { continue };
            self.rect(
                place_of(area, item),
                "none",
                format_args!(r#" pointer-events="all"><title>{}</title></rect>"#, escaped(&hint)),
            );
        }
    }
}

/// Divides colours that were multiplied by their opacity.
fn straighten(rgba: &mut [u8]) {
    for pixel in rgba.chunks_exact_mut(4) {
        let opacity = u32::from(pixel[3]);
        if opacity == 0 || opacity == u32::from(u8::MAX) {
            continue;
        }
        for part in &mut pixel[..3] {
            let straight = (u32::from(*part) * u32::from(u8::MAX) + opacity / 2) / opacity;
            *part = u8::try_from(straight).unwrap_or(u8::MAX);
        }
    }
}
