//! Pictures of lanes with more blocks than a frame can draw one by one, for the painter's thread.
//!
//! In: a lane, a view, a size in pixels, colours as numbers. Out: premultiplied RGBA. Blocks of at least a pixel are
//! drawn to the nearest pixel. Smaller ones are gathered: a pixel takes the colour of the block that covers most of it,
//! and its opacity grows with the covered share; it is never empty if it holds a block. Gathered pixels are drawn over
//! larger blocks, gaps below all. Every pixel depends on the lane and the view alone, so stripes can be drawn in
//! parallel. Blocks are visited in order of birth, so that neighbours in memory are neighbours in the picture. O(blocks
//! that meet the view + pixels that they cover), plus the search for them.

use super::axis::{Axes, AxisKind};
use super::block::LaneView;
use super::coloring::DIMMED;
use super::viewport::{Canvas, Scale, View, Viewport};
use highwater_model::threads::joined;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RasterFrame {
    pub view: Viewport,
    pub axis: AxisKind,
    pub width: u32,
    pub height: u32,
}

impl RasterFrame {
    fn canvas(&self) -> Canvas {
        Canvas {
            width: f64::from(self.width),
            height: f64::from(self.height),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RasterStyle {
    /// By colour number; numbers beyond the end use the last colour.
    pub colors: Vec<[u8; 4]>,
    /// Lines and background of gaps; `None` to leave gaps out.
    pub gap: Option<[[u8; 4]; 2]>,
}

impl RasterStyle {
    fn rgba(&self, color: u8) -> [u8; 4] {
        let known = self.colors.get(usize::from(color)).or(self.colors.last());
        known.copied().unwrap_or([0; 4])
    }
}

#[derive(Clone, PartialEq)]
pub struct Raster {
    pub frame: RasterFrame,
    /// Rows from top to bottom, premultiplied RGBA.
    pub rgba: Vec<u8>,
    /// Blocks that meet the view.
    pub n_blocks: usize,
}

impl std::fmt::Debug for Raster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raster")
            .field("frame", &self.frame)
            .field("n_blocks", &self.n_blocks)
            .finish_non_exhaustive()
    }
}

/// Distance of the hatching's lines in pixels.
const HATCH: usize = 6;
/// Opacity of a pixel of which nearly nothing is covered.
const LEAST_OPAQUE: f32 = 0.45;
/// Rectangles so many pixels wide or high leave a line to their neighbours.
const LEAST_GAP: i64 = 4;
const MOST_STRIPES: usize = 4;

pub type BlockColors<'a> = &'a [u8];

/// Buffers reused from picture to picture, because touching new memory costs about as much as drawing.
#[derive(Debug)]
pub struct RasterScratch {
    /// Stripes of a picture, a thread each.
    n_stripes: usize,
    stripes: Vec<StripeScratch>,
}

#[derive(Debug, Default)]
struct StripeScratch {
    pixels: Vec<[u8; 4]>,
    gathered: Vec<Gathered>,
}

impl RasterScratch {
    /// A picture is drawn on at most so many threads; pixels do not depend on it.
    pub fn on_threads(n_threads: usize) -> Self {
        Self {
            n_stripes: n_threads.clamp(1, MOST_STRIPES),
            stripes: Vec::new(),
        }
    }

    pub fn lane(
        &mut self,
        lane: &LaneView,
        axes: &Axes,
        colors: BlockColors<'_>,
        frame: &RasterFrame,
        style: &RasterStyle,
    ) -> Raster {
        let rgba = self.stripes(frame, axes, &|stripe| stripe.lane(lane, colors, style));
        Raster {
            frame: *frame,
            rgba,
            n_blocks: lane.blocks.count(frame.view.t0, frame.view.t1),
        }
    }

    /// Draws stripes in parallel, one thread each, and joins them.
    fn stripes(&mut self, frame: &RasterFrame, axes: &Axes, paint: &(dyn Fn(&mut Stripe<'_>) + Sync)) -> Vec<u8> {
        let width = frame.width as usize;
        let view = View::new(frame.view, axes.get(frame.axis).map(|axis| &**axis));
        let n_stripes = self.n_stripes.min(width.max(1));
        let edges: Vec<usize> = (0..=n_stripes).map(|n| width * n / n_stripes).collect();
        self.stripes.resize_with(n_stripes, StripeScratch::default);
        std::thread::scope(|scope| {
            let make = |edge: &[usize], scratch: &mut StripeScratch| {
                paint(&mut Stripe::new(frame, view, (edge[0], edge[1]), scratch));
            };
            let mut stripes = edges.windows(2).zip(&mut self.stripes);
            let own = stripes.next();
            let others: Vec<_> = stripes
                .map(|(edge, scratch)| scope.spawn(move || make(edge, scratch)))
                .collect();
            if let Some((edge, scratch)) = own {
                make(edge, scratch);
            }
            others.into_iter().for_each(joined);
        });
        let mut rgba = Vec::with_capacity(width * frame.height as usize * 4);
        for row in 0..frame.height as usize {
            for (edge, stripe) in edges.windows(2).zip(&self.stripes) {
                let n_columns = edge[1] - edge[0];
                rgba.extend_from_slice(stripe.pixels[row * n_columns..(row + 1) * n_columns].as_flattened());
            }
        }
        rgba
    }
}

/// Draws a lane on this thread; for many pictures use a [`RasterScratch`].
pub fn raster(
    lane: &LaneView,
    axes: &Axes,
    colors: BlockColors<'_>,
    frame: &RasterFrame,
    style: &RasterStyle,
) -> Raster {
    RasterScratch::on_threads(1).lane(lane, axes, colors, frame, style)
}

/// Takes a rectangle (left, top, right, bottom in pixels) and its colour number.
pub(super) type Draw<'a> = dyn FnMut([f64; 4], u8) + 'a;

/// Draws the rectangles that `each` emits for the steps it is given; it is called once per stripe.
pub(super) fn raster_of(
    frame: &RasterFrame,
    axes: &Axes,
    style: &RasterStyle,
    n_threads: usize,
    each: &(dyn Fn((f64, f64), &mut Draw<'_>) + Sync),
) -> Raster {
    let rgba = RasterScratch::on_threads(n_threads).stripes(frame, axes, &|stripe| {
        each(stripe.steps(), &mut |rect, color| stripe.rect(rect, color, style));
        stripe.add_gathered(style);
    });
    Raster {
        frame: *frame,
        rgba,
        n_blocks: 0,
    }
}

/// A range of columns of a picture.
struct Stripe<'a> {
    frame: &'a RasterFrame,
    view: View<'a>,
    /// Half-open.
    columns: (usize, usize),
    on: &'a mut StripeScratch,
}

#[derive(Clone, Copy, Debug, Default)]
struct Gathered {
    largest: f32,
    covered: f32,
    color: u8,
}

/// A rectangle in pixels of a stripe: columns and rows, half-open, and the unrounded width and height.
struct Place {
    x: (usize, usize),
    y: (usize, usize),
    size: (f64, f64),
}

impl<'a> Stripe<'a> {
    fn new(frame: &'a RasterFrame, view: View<'a>, columns: (usize, usize), on: &'a mut StripeScratch) -> Self {
        on.pixels.clear();
        on.pixels
            .resize((columns.1 - columns.0) * frame.height as usize, [0; 4]);
        on.gathered.clear();
        Self {
            frame,
            view,
            columns,
            on,
        }
    }

    fn n_columns(&self) -> usize {
        self.columns.1 - self.columns.0
    }

    fn lane(&mut self, lane: &LaneView, colors: BlockColors<'_>, style: &RasterStyle) {
        if let Some(gap) = style.gap {
            self.gaps(lane, gap);
        }
        let columns = &lane.blocks;
        let scale = Scale::new(self.view, self.frame.canvas());
        columns.each_met(self.steps(), |idx| {
            let color = colors.get(idx).copied().unwrap_or(u8::MAX);
            self.rect(columns.scaled(idx, &scale), color, style);
        });
        self.add_gathered(style);
    }

    /// Draws a rectangle, or gathers it if it is smaller than a pixel.
    #[inline]
    fn rect(&mut self, rect: [f64; 4], color: u8, style: &RasterStyle) {
        let Some(place) = self.place(rect) else { return };
        if place.size.0 >= 1.0 && place.size.1 >= 1.0 {
            self.fill(&place, style.rgba(color));
        } else {
            self.gather(&place, color);
        }
    }

    fn add_gathered(&mut self, style: &RasterStyle) {
        for (pixel, gathered) in self.on.pixels.iter_mut().zip(&self.on.gathered) {
            if gathered.covered > 0.0 {
                *pixel = over(style.rgba(gathered.color), gathered.covered, *pixel);
            }
        }
    }

    fn steps(&self) -> (f64, f64) {
        let width = f64::from(self.frame.width);
        let edge = |column: usize| f64::from(u32::try_from(column).unwrap_or(u32::MAX));
        // Rounding to the nearest pixel may move rectangles by half a pixel.
        let (from, to) = (edge(self.columns.0) - 1.0, edge(self.columns.1) + 1.0);
        self.view.steps_between(from, to, width)
    }

    /// `None` outside the stripe.
    fn place(&self, [x0, y0, x1, y1]: [f64; 4]) -> Option<Place> {
        let size = (x1 - x0, y1 - y0);
        let pixels = |low: f64, high: f64, span: f64| -> (i64, i64) {
            if span < 1.0 {
                let at = floor(low);
                return (at, at.saturating_add(1));
            }
            let at = floor(low + 0.5);
            (at, floor(high + 0.5).max(at.saturating_add(1)))
        };
        let cut = |(low, high): (i64, i64), from: usize, to: usize| -> Option<(usize, usize)> {
            let least = i64::try_from(from).unwrap_or(i64::MAX);
            let most = i64::try_from(to).unwrap_or(i64::MAX);
            let (low, high) = (low.max(least) - least, high.min(most) - least);
            (low < high).then_some((usize::try_from(low).ok()?, usize::try_from(high).ok()?))
        };
        let (mut x, mut y) = (pixels(x0, x1, size.0), pixels(y0, y1, size.1));
        if size.0 >= 1.0 && size.1 >= 1.0 {
            x.1 -= i64::from(x.1 - x.0 >= LEAST_GAP);
            y.0 += i64::from(y.1 - y.0 >= LEAST_GAP);
        }
        Some(Place {
            x: cut(x, self.columns.0, self.columns.1)?,
            y: cut(y, 0, self.frame.height as usize)?,
            size,
        })
    }

    fn fill(&mut self, place: &Place, color: [u8; 4]) {
        let n_columns = self.n_columns();
        for row in place.y.0..place.y.1 {
            self.on.pixels[row * n_columns + place.x.0..row * n_columns + place.x.1].fill(color);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "shares of a pixel")]
    fn gather(&mut self, place: &Place, color: u8) {
        if self.on.gathered.is_empty() {
            self.on.gathered.resize(self.on.pixels.len(), Gathered::default());
        }
        let share = (place.size.0.clamp(1e-6, 1.0) * place.size.1.clamp(1e-6, 1.0)) as f32;
        let n_columns = self.n_columns();
        for row in place.y.0..place.y.1 {
            for pixel in &mut self.on.gathered[row * n_columns + place.x.0..row * n_columns + place.x.1] {
                pixel.covered += share;
                // A dimmed block hides none that is not.
                let rank = |share: f32, color: u8| (share > 0.0 && color < DIMMED, share, color);
                if rank(share, color) > rank(pixel.largest, pixel.color) {
                    (pixel.largest, pixel.color) = (share, color);
                }
            }
        }
    }

    /// Hatches the gaps; the pattern is fixed to the picture, so that it continues from gap to gap.
    fn gaps(&mut self, lane: &LaneView, [stroke, ground]: [[u8; 4]; 2]) {
        let columns = &lane.gaps;
        let scale = Scale::new(self.view, self.frame.canvas());
        let n_columns = self.n_columns();
        columns.each_met(self.steps(), |idx| {
            let Some(place) = self.place(columns.scaled(idx, &scale)) else {
                return;
            };
            for row in place.y.0..place.y.1 {
                for column in place.x.0..place.x.1 {
                    let is_line = (row + column + self.columns.0).is_multiple_of(HATCH);
                    self.on.pixels[row * n_columns + column] = if is_line { stroke } else { ground };
                }
            }
        });
    }
}

/// `f64::floor` is a function call on baseline x86-64, and this runs four times per block.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "casts of floats saturate"
)]
#[inline]
fn floor(number: f64) -> i64 {
    let cut = number as i64;
    cut.saturating_sub(i64::from(cut as f64 > number))
}

/// Blends a colour that covers a share of a pixel over the ground.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 255"
)]
fn over(color: [u8; 4], covered: f32, ground: [u8; 4]) -> [u8; 4] {
    let opaque = LEAST_OPAQUE + (1.0 - LEAST_OPAQUE) * covered.min(1.0);
    let alpha = f32::from(color[3]) / 255.0 * opaque;
    std::array::from_fn(|channel| {
        let mixed = f32::from(color[channel]) * opaque + f32::from(ground[channel]) * (1.0 - alpha);
        // Rounds to the nearest; values are not negative, and casts saturate.
        (mixed + 0.5) as u8
    })
}
