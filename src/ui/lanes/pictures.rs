//! Pictures of lanes that hold more blocks than a frame can draw one by one.
//!
//! The painter draws them elsewhere; here they are put on the screen, stretched to the view of the moment until one of
//! that view arrives. Beside what the nearest picture shows stands the picture of everything.

use std::sync::Arc;

use eframe::egui::{self, Color32, ColorImage, Painter, Pos2, Rect, TextureHandle, TextureOptions, Ui, pos2};

use super::frame::LaneFrame;
use super::{LanesInput, LanesState};
use crate::gpu::DeviceLanes;
use highwater_session::{ContentOrder, LanePicture, PictureFrame, PictureKind, PictureOrder, RowsPicture};
use highwater_timeline::{
    Areas, AxisKind, Coloring, ColoringRequest, LaneDifference, LaneRows, LaneView, RasterFrame, View, Viewport,
};

/// Lanes with at most so many blocks, and so many holes, in view are drawn block by block: in four lanes about two
/// milliseconds of a frame.
const MOST_DIRECT: usize = 4_000;
/// The share of the width that a picture shows beyond each end of the view, so that a moving view stays filled.
const BESIDE: f32 = 0.25;

/// Pictures, and the colours of blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn<'a> {
    /// The colours; those of single tensors where there are none.
    pub look: Option<&'a Coloring>,
    /// What colours are to stand for.
    pub order: Option<&'a ColoringRequest>,
    /// The newest pictures.
    pub pictures: &'a [Arc<LanePicture>],
    /// What groups hold, where that is worked out.
    pub areas: Option<&'a Areas>,
    /// The rows of a lane, where they are worked out.
    pub lifetimes: Option<&'a Arc<LaneRows>>,
    /// The newest picture of them.
    pub rows_picture: Option<&'a Arc<RowsPicture>>,
    /// What lanes were asked to show.
    pub content: ContentOrder,
    /// One lane less another, where that is asked for.
    pub difference: Option<&'a LaneDifference>,
    /// What pictures would be drawn from now.
    pub version: (u64, u64),
    /// For a graphics device that draws instead.
    pub device: Option<DeviceLanes<'a>>,
}

impl<'a> Drawn<'a> {
    /// What the graphics device draws of a large lane; `None` where a picture is to be drawn, as along times: on the device
    /// steps are as wide as each other.
    pub(super) fn on_device(&self, lane: usize, view: &View<'_>) -> Option<DeviceLanes<'a>> {
        self.device.filter(|device| view.axis().is_none() && device.takes(lane))
    }

    /// The colour number of a block.
    pub(super) fn color(&self, (number, lane): (usize, &LaneView), block: u32) -> u8 {
        let own = || lane.blocks.color.get(block as usize).copied().unwrap_or(0);
        self.look
            .map_or_else(own, |look| look.color((number, lane), block as usize))
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

/// What was asked for last.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    version: (u64, u64),
    order: PictureOrder,
}

/// Pictures that are on the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Textures {
    shown: Vec<Shown>,
    asked: Option<Asked>,
}

impl PartialEq for Textures {
    /// Textures follow from what is shown.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Whether a lane is drawn as a picture: it has more in view than a frame can draw.
pub(super) fn is_picture(lane: &LaneView, viewport: &View<'_>, has_holes: bool) -> bool {
    let n_holes = if has_holes { lane.n_gaps_within(viewport) } else { 0 };
    lane.n_within(viewport).max(n_holes) > MOST_DIRECT
}

/// Takes the newest pictures to the device, and lets go of those that show something else by now.
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

/// Paints what there is of a lane's picture, and says whether there is any; `tint` dims it beside a selection.
pub(super) fn paint(
    painter: &Painter,
    (rect, viewport): (Rect, &View<'_>),
    lane: usize,
    (textures, axis): (&Textures, AxisKind),
    tint: Color32,
) -> bool {
    let of_kind = |kind: PictureKind| {
        let mut shown = textures.shown.iter();
        // Of another axis it shows other widths, and no stretching makes it right.
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

/// What of a rectangle lies beside another.
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

/// Where the part of a picture that is in view stands, and which part that is.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
fn placed(of: &Viewport, viewport: &View<'_>, rect: Rect) -> Option<(Rect, Rect)> {
    let of = &viewport.with(*of);
    let (t0, t1) = (of.t0.max(viewport.t0), of.t1.min(viewport.t1));
    let (a0, a1) = (of.a0.max(viewport.a0), of.a1.min(viewport.a1));
    if t0 >= t1 || a0 >= a1 {
        return None;
    }
    let corner = |view: &View<'_>, (step, address): (f64, f64), (width, height): (f64, f64)| -> Pos2 {
        pos2(
            view.x_from_step(step, width) as f32,
            view.y_from_address(address, height) as f32,
        )
    };
    let size = (f64::from(rect.width()), f64::from(rect.height()));
    let place = Rect::from_min_max(corner(viewport, (t0, a1), size), corner(viewport, (t1, a0), size));
    let uv = Rect::from_min_max(corner(of, (t0, a1), (1.0, 1.0)), corner(of, (t1, a0), (1.0, 1.0)));
    Some((place.translate(rect.min.to_vec2()), uv))
}

/// The pictures that the lanes need and that nobody was asked for, those in sight alone.
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
        let is_by_device = input.drawn.on_device(frame.lane, &viewport).is_some();
        if is_by_device || !is_picture(lane, &viewport, state.marks.has_holes) {
            continue;
        }
        let room = ui.input(|input| input.max_texture_side);
        let size = pixels(frame.map, ui.pixels_per_point(), room);
        let kinds = [
            (PictureKind::Near, near_frame((&viewport, state.axis), size, room)),
            (
                PictureKind::Whole,
                raster_frame((whole_of(frame, whole), state.axis), size),
            ),
        ];
        let of = |(kind, raster): (PictureKind, RasterFrame)| PictureFrame {
            lane: frame.lane,
            kind,
            frame: raster,
        };
        wanted.extend(kinds.map(of));
    }
    // What is on the screen first, then what stands in for it while it moves.
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
    if is_asked(state.textures.asked.as_ref(), &asked) {
        return None;
    }
    state.textures.asked = Some(asked.clone());
    Some(asked.order)
}

/// Whether all of an order was asked for already.
fn is_asked(last: Option<&Asked>, asked: &Asked) -> bool {
    last.is_some_and(|last| {
        let is_in = |of: &PictureFrame| last.order.frames.contains(of);
        last.version == asked.version && last.order.style == asked.order.style && asked.order.frames.iter().all(is_in)
    })
}

/// The size of a map in pixels of the screen, as far as a texture has room for it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "pixels of a screen fit both types"
)]
fn pixels(rect: Rect, per_point: f32, room: usize) -> (u32, u32) {
    let side = |points: f32| (points * per_point).round().clamp(1.0, room.max(1) as f32) as u32;
    (side(rect.width()), side(rect.height()))
}

/// Everything there is of a lane, on its scale.
fn whole_of(frame: &LaneFrame, whole: Viewport) -> Viewport {
    Viewport {
        a0: whole.a0 * frame.reach,
        a1: whole.a1 * frame.reach,
        ..whole
    }
}

const fn raster_frame((view, axis): (Viewport, AxisKind), (width, height): (u32, u32)) -> RasterFrame {
    RasterFrame {
        view,
        axis,
        width,
        height,
    }
}

/// A view and what lies beside it, in whole pixels of the view.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "pixels of a screen fit both types"
)]
fn near_frame((view, axis): (&View<'_>, AxisKind), (width, height): (u32, u32), room: usize) -> RasterFrame {
    let room = u32::try_from(room).unwrap_or(u32::MAX).saturating_sub(width) / 2;
    let margin = ((width as f32 * BESIDE) as u32).min(room);
    let view = view.widened(f64::from(margin) / f64::from(width));
    raster_frame((view, axis), (width + 2 * margin, height))
}
