//! A drawing as a picture: the same SVG, rendered with the window's font.
//!
//! In: SVG as this program writes it. Out: a PNG file, the same bytes every time: fonts of the machine play no part.

use std::sync::Arc;

use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::png::{Picture, png};

/// Pixels a point.
const SCALE: f32 = 2.0;
/// Of larger pictures a point is one pixel.
const MOST_PIXELS: u64 = 64 << 20;
/// Larger ones are refused.
const MOST: u64 = 256 << 20;

/// A drawing as a PNG file. O(pixels + shapes).
///
/// # Errors
/// A sentence, for what is no drawing or too large for a picture.
pub(super) fn picture_of(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(UBUNTU_LIGHT.to_vec());
    fonts.load_font_data(HACK_REGULAR.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    fonts.set_monospace_family("Hack");
    let options = Options {
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree =
        Tree::from_str(svg, &options).map_err(|error| format!("the drawing cannot be made a picture: {error}"))?;
    let size = tree.size().to_int_size();
    let points = u64::from(size.width()) * u64::from(size.height());
    let too_large = || "the lanes are too many for one picture; choose fewer, or write a drawing (.svg)".to_owned();
    if points > MOST {
        return Err(too_large());
    }
    let (scale, factor) = if points * 4 > MOST_PIXELS { (1.0, 1) } else { (SCALE, 2) };
    let (width, height) = (size.width() * factor, size.height() * factor);
    let mut pixels = Pixmap::new(width, height).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    // The page is opaque, so that colours with their opacity are the colours themselves.
    png(&Picture {
        width,
        height,
        rgba: pixels.take(),
    })
}
