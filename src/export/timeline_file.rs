//! Lanes under each other as a drawing (SVG), or as a picture of it (PNG) with the window's fonts.
//!
//! Pictures are the same bytes on every machine: its fonts are not used.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::file_names::ending;
use super::png_file::{Picture, png};
use super::subject::{ExportError, ExportSubject};
use super::svg::{LaneDrawing, SvgColors, lanes_svg};
use highwater_model::progress::Progress;

/// Width and height of a lane in points, of several lanes and of a single one.
const LANE: (f64, f64) = (1200.0, 420.0);
const SINGLE: (f64, f64) = (1200.0, 600.0);

/// Pixels per point, and the number of pixels above which a point is one pixel.
const SCALE: f32 = 2.0;
const MOST_SCALED: u64 = 64 << 20;
/// Larger pictures are refused.
const MOST_POINTS: u64 = 256 << 20;

pub(super) fn timeline_file(
    subject: &ExportSubject,
    path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    progress.set("drawing", 0, 2)?;
    let lanes = subject.lanes_or_all();
    let colors = SvgColors::print();
    let size = if lanes.len() == 1 { SINGLE } else { LANE };
    let drawing = |lane: usize| LaneDrawing {
        comparison: &subject.comparison,
        timeline: &subject.timeline,
        lane,
        viewport: subject.timeline.fit(),
        axis: subject.axis,
        size,
        colors: &colors,
        look: Some(&subject.look),
        most_shapes: None,
    };
    let drawings: Vec<LaneDrawing<'_>> = lanes.into_iter().map(drawing).collect();
    let svg = lanes_svg(&drawings)?;
    if ending(path) != "png" {
        return Ok(out.write_all(svg.as_bytes())?);
    }
    progress.set("drawing", 1, 2)?;
    Ok(out.write_all(&picture_of(&svg)?)?)
}

/// A drawing as a PNG file. O(pixels + shapes).
fn picture_of(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(UBUNTU_LIGHT.to_vec());
    fonts.load_font_data(HACK_REGULAR.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    fonts.set_monospace_family("Hack");
    let options = Options {
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| format!("the drawing cannot be rendered: {error}"))?;
    let size = tree.size().to_int_size();
    let points = u64::from(size.width()) * u64::from(size.height());
    let too_large = || "too many lanes for one picture; choose fewer, or write a drawing (.svg)".to_owned();
    if points > MOST_POINTS {
        return Err(too_large());
    }
    let (scale, factor) = if points * 4 > MOST_SCALED { (1.0, 1) } else { (SCALE, 2) };
    let (width, height) = (size.width() * factor, size.height() * factor);
    let mut pixels = Pixmap::new(width, height).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    // The page is opaque, so colours premultiplied by their opacity are the colours.
    png(&Picture {
        width,
        height,
        rgba: pixels.take(),
    })
}
