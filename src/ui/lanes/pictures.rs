//! Pictures of lanes with more blocks than a frame can draw.
//!
//! The painter thread draws them; here they are stretched to the current view until one of that view arrives. A picture
//! of everything fills the parts that the nearest one lacks.

use std::sync::Arc;

use eframe::egui::{self, Color32, ColorImage, Painter, Pos2, Rect, TextureHandle, TextureOptions, Ui, pos2};

use super::frame::LaneFrame;
use super::{LanesInput, LanesState};
use crate::numbers::{at_least_one, count_f32, to_points};
use highwater_session::{ContentOrder, LanePicture, PictureFrame, PictureKind, PictureOrder, RowsPicture};
use highwater_timeline::{
    Areas, AxisKind, Coloring, ColoringRequest, LaneDifference, LaneRows, LaneView, RasterFrame, View, Viewport,
};

/// Lanes with at most this many blocks and gaps in view are drawn directly: about two milliseconds of a frame with four
/// lanes.
const MOST_DIRECT: usize = 4_000;
/// A picture extends beyond each end of the view by this part of the width (a fourth), so that a moving view stays
/// filled.
const BESIDE: u32 = 4;

/// Colours of blocks, and results of the worker and the painter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn<'a> {
    /// `None` colours single tensors.
    pub look: Option<&'a Coloring>,
    /// The requested colour mode.
    pub order: Option<&'a ColoringRequest>,
    pub pictures: &'a [Arc<LanePicture>],
    /// `None` until the worker has added them up.
    pub areas: Option<&'a Areas>,
    /// Rows of a lane, once the worker has sorted them.
    pub lifetimes: Option<&'a Arc<LaneRows>>,
    pub rows_picture: Option<&'a Arc<RowsPicture>>,
    /// The requested content.
    pub content: ContentOrder,
    pub difference: Option<&'a LaneDifference>,
    /// Versions that new pictures would be drawn from.
    pub version: (u64, u64),
}

impl Drawn<'_> {
    /// The palette index of a block.
    pub(super) fn color(&self, number: usize, lane: &LaneView, block: u32) -> u8 {
        let own = || lane.blocks.color.get(block as usize).copied().unwrap_or(0);
        self.look
            .map_or_else(own, |look| look.color(number, lane, block as usize))
    }
}

/// A picture on the device.
#[derive(Clone)]
struct Shown {
    picture: Arc<LanePicture>,
    texture: TextureHandle,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shown")
            .field("of", &self.picture.of)
            .finish_non_exhaustive()
    }
}

/// The last order.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    version: (u64, u64),
    order: PictureOrder,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Textures {
    shown: Vec<Shown>,
    asked: Option<Asked>,
}

/// Whether a lane has more in view than a frame can draw.
pub(super) fn is_picture(lane: &LaneView, viewport: &View<'_>, has_holes: bool) -> bool {
    let n_holes = if has_holes { lane.n_gaps_within(viewport) } else { 0 };
    lane.n_within(viewport).max(n_holes) > MOST_DIRECT
}

/// Uploads the newest pictures, and drops outdated ones.
pub(super) fn take(ctx: &egui::Context, drawn: &Drawn<'_>, textures: &mut Textures) {
    let is_wanted = |shown: &Shown| {
        drawn
            .pictures
            .iter()
            .any(|picture| Arc::ptr_eq(picture, &shown.picture))
    };
    let is_known =
        |shown: &[Shown], picture: &Arc<LanePicture>| shown.iter().any(|shown| Arc::ptr_eq(&shown.picture, picture));
    textures.shown.retain(is_wanted);
    for picture in drawn.pictures {
        if is_known(&textures.shown, picture) || picture.version.0 != drawn.version.0 {
            continue;
        }
        let frame = &picture.raster.frame;
        let size = [frame.width as usize, frame.height as usize];
        let image = ColorImage::from_rgba_premultiplied(size, &picture.raster.rgba);
        let name = format!("lane {} {:?}", picture.of.lane, picture.of.kind);
        textures.shown.push(Shown {
            picture: Arc::clone(picture),
            texture: ctx.load_texture(name, image, TextureOptions::NEAREST),
        });
    }
}

/// Paints the pictures of a lane; returns whether there are any. `tint` dims them beside a selection.
pub(super) fn paint(
    painter: &Painter,
    rect: Rect,
    viewport: &View<'_>,
    lane: usize,
    textures: &Textures,
    axis: AxisKind,
    tint: Color32,
) -> bool {
    let of_kind = |kind: PictureKind| {
        let mut shown = textures.shown.iter();
        // A picture of another axis has other widths and cannot be stretched.
        let of = |shown: &&Shown| {
            (
                shown.picture.of.lane,
                shown.picture.of.kind,
                shown.picture.of.frame.axis,
            )
        };
        shown.find(|shown| of(shown) == (lane, kind, axis))
    };
    let near = of_kind(PictureKind::Near).and_then(|near| {
        let placed = placed(&near.picture.raster.frame.view, viewport, rect)?;
        painter.image(near.texture.id(), placed.0, placed.1, tint);
        Some(placed.0)
    });
    let Some(whole) = of_kind(PictureKind::Whole) else {
        return near.is_some();
    };
    let Some((place, uv)) = placed(&whole.picture.raster.frame.view, viewport, rect) else {
        return near.is_some();
    };
    for part in beside(rect, near) {
        painter
            .with_clip_rect(part.intersect(painter.clip_rect()))
            .image(whole.texture.id(), place, uv, tint);
    }
    true
}

/// The parts of a rectangle outside another.
fn beside(rect: Rect, inner: Option<Rect>) -> Vec<Rect> {
    let Some(inner) = inner else { return vec![rect] };
    let x = |left: f32, right: f32| Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
    let y = |top: f32, bottom: f32| Rect::from_min_max(pos2(inner.left(), top), pos2(inner.right(), bottom));
    let parts = [
        x(rect.left(), inner.left()),
        x(inner.right(), rect.right()),
        y(rect.top(), inner.top()),
        y(inner.bottom(), rect.bottom()),
    ];
    parts
        .into_iter()
        .filter(|part| part.width() > 0.01 && part.height() > 0.01)
        .collect()
}

/// The place of the visible part of a picture, and that part in texture coordinates.
fn placed(of: &Viewport, viewport: &View<'_>, rect: Rect) -> Option<(Rect, Rect)> {
    let of = &viewport.with(*of);
    let (t0, t1) = (of.t0.max(viewport.t0), of.t1.min(viewport.t1));
    let (a0, a1) = (of.a0.max(viewport.a0), of.a1.min(viewport.a1));
    if t0 >= t1 || a0 >= a1 {
        return None;
    }
    let corner = |view: &View<'_>, (step, address): (f64, f64), (width, height): (f64, f64)| -> Pos2 {
        pos2(
            to_points(view.x_from_step(step, width)),
            to_points(view.y_from_address(address, height)),
        )
    };
    let size = (f64::from(rect.width()), f64::from(rect.height()));
    let place = Rect::from_min_max(corner(viewport, (t0, a1), size), corner(viewport, (t1, a0), size));
    let uv = Rect::from_min_max(corner(of, (t0, a1), (1.0, 1.0)), corner(of, (t1, a0), (1.0, 1.0)));
    Some((place.translate(rect.min.to_vec2()), uv))
}

/// The missing pictures of visible lanes, unless they are ordered already.
pub(super) fn order(
    ui: &Ui,
    frames: &[LaneFrame],
    input: &LanesInput<'_>,
    state: &mut LanesState,
) -> Option<PictureOrder> {
    let whole = state.whole?;
    let mut wanted = Vec::new();
    for frame in frames {
        let lane = &input.timeline.lanes[frame.lane];
        let is_seen = ui.clip_rect().intersects(frame.map) && frame.map.height() >= 1.0;
        let Some(viewport) = frame.view(state).filter(|_| is_seen) else {
            continue;
        };
        if !is_picture(lane, &viewport, state.marks.has_holes) {
            continue;
        }
        let room = ui.input(|input| input.max_texture_side);
        let size = pixels(frame.map, ui.pixels_per_point(), room);
        let kinds = [
            (PictureKind::Near, near_frame(&viewport, state.axis, size, room)),
            (
                PictureKind::Whole,
                raster_frame(frame.scale.view(&View::from(whole)).viewport(), state.axis, size),
            ),
        ];
        let of = |(kind, raster): (PictureKind, RasterFrame)| PictureFrame {
            lane: frame.lane,
            kind,
            frame: raster,
        };
        wanted.extend(kinds.map(of));
    }
    // The view first, then the substitute for a moving view.
    wanted.sort_by_key(|of| of.kind);
    let style = Arc::new(input.theme.raster_style(state.marks.has_holes));
    let is_there = |of: &PictureFrame| {
        let mut pictures = input.drawn.pictures.iter();
        pictures.any(|known| known.of == *of && known.version == input.drawn.version && known.style == style)
    };
    wanted.retain(|of| !is_there(of));
    if wanted.is_empty() {
        return None;
    }
    let asked = Asked {
        version: input.drawn.version,
        order: PictureOrder {
            rows: None,
            frames: wanted,
            style,
        },
    };
    if is_asked(state.caches.textures.asked.as_ref(), &asked) {
        return None;
    }
    state.caches.textures.asked = Some(asked.clone());
    Some(asked.order)
}

/// Whether the last order includes all of this one.
fn is_asked(last: Option<&Asked>, asked: &Asked) -> bool {
    last.is_some_and(|last| {
        let is_in = |of: &PictureFrame| last.order.frames.contains(of);
        last.version == asked.version && last.order.style == asked.order.style && asked.order.frames.iter().all(is_in)
    })
}

/// The size of a map in pixels, at most that of a texture.
fn pixels(rect: Rect, per_point: f32, room: usize) -> [u32; 2] {
    let side = |points: f32| at_least_one((points * per_point).round().min(count_f32(room.max(1))));
    [side(rect.width()), side(rect.height())]
}

const fn raster_frame(view: Viewport, axis: AxisKind, [width, height]: [u32; 2]) -> RasterFrame {
    RasterFrame {
        view,
        axis,
        width,
        height,
    }
}

/// A view and its margins, in whole pixels of the view.
fn near_frame(view: &View<'_>, axis: AxisKind, [width, height]: [u32; 2], room: usize) -> RasterFrame {
    let room = u32::try_from(room).unwrap_or(u32::MAX).saturating_sub(width) / 2;
    let margin = (width / BESIDE).min(room);
    let view = view.widened(f64::from(margin) / f64::from(width));
    raster_frame(view, axis, [width + 2 * margin, height])
}
