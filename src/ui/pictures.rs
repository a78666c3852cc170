//! Captures of the window: requested when no dialog covers it, taken by eframe, cut to the parts of a lane, passed to
//! the worker.

use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use eframe::egui::{self, ColorImage, Rect};

use super::lanes::LanesState;
use crate::numbers::to_whole;
use highwater_analysis::LaneId;
use highwater_session::{Command, Picture};

/// Subject and target of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// `None` for the whole window.
    pub lane: Option<LaneId>,
    pub path: PathBuf,
}

/// An image, and the wanted parts in points; `None` for all of it.
struct Taken {
    image: Arc<ColorImage>,
    parts: Option<(Vec<Rect>, f32)>,
    path: PathBuf,
}

/// Frames before a capture: the path dialog is closed by then, and the lane is in view.
const BEFORE: u8 = 3;
/// Frames to wait for a lane that is being computed.
const PATIENCE: u16 = 1200;
/// Most frames until the image arrives.
const UNTIL: u8 = 12;

/// Pending captures.
pub struct Pictures {
    /// The next capture, and frames left before it.
    wanted: Option<(Wanted, u8)>,
    /// Frames left to wait for a lane that is not on the screen.
    patience: u16,
    /// The captured lane until the image arrives, and frames left to wait.
    awaited: Option<(LaneId, u8)>,
    sender: Sender<Taken>,
    taken: Receiver<Taken>,
}

impl Default for Pictures {
    fn default() -> Self {
        let (sender, taken) = unbounded();
        Self {
            wanted: None,
            patience: PATIENCE,
            awaited: None,
            sender,
            taken,
        }
    }
}

impl std::fmt::Debug for Pictures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pictures")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

impl Pictures {
    pub fn want(&mut self, wanted: Wanted) {
        self.wanted = Some((wanted, BEFORE));
        self.patience = PATIENCE;
    }

    /// The lane to be laid out for its picture.
    pub fn lane(&self) -> Option<LaneId> {
        let wanted = self.wanted.as_ref().and_then(|(wanted, _)| wanted.lane);
        wanted.or(self.awaited.map(|(lane, _)| lane))
    }

    /// Requests the pending capture once nothing covers the window, and passes on images that arrived. Never waits.
    pub fn poll(&mut self, ctx: &egui::Context, lanes: &LanesState, commands: &mut Vec<Command>) {
        if let Some((lane, left)) = self.awaited.take() {
            self.awaited = left.checked_sub(1).map(|left| (lane, left));
            ctx.request_repaint();
        }
        while let Ok(Taken { image, parts, path }) = self.taken.try_recv() {
            self.awaited = None;
            let picture = parts.map_or_else(|| picture_of(&image, None), |parts| stacked(&image, &parts.0, parts.1));
            commands.push(Command::WritePicture { path, picture });
        }
        let Some((wanted, frames)) = self.wanted.take() else {
            return;
        };
        ctx.request_repaint();
        if let Some(left) = frames.checked_sub(1) {
            self.wanted = Some((wanted, left));
            return;
        }
        let parts = wanted.lane.map(|lane| (lanes.parts_of(lane), ctx.pixels_per_point()));
        if parts.as_ref().is_some_and(|(parts, _)| parts.is_empty())
            && let Some(left) = self.patience.checked_sub(1)
        {
            (self.wanted, self.patience) = (Some((wanted, 0)), left);
            return;
        }
        self.awaited = wanted.lane.map(|lane| (lane, UNTIL));
        let (sender, wake, path) = (self.sender.clone(), ctx.clone(), wanted.path);
        ctx.request_screenshot(move |image| {
            // The window may be closed by then.
            drop(sender.send(Taken { image, parts, path }));
            wake.request_repaint();
        });
    }
}

/// Parts stacked pixel for pixel; narrower ones are transparent at their right end.
pub fn stacked(image: &ColorImage, parts: &[Rect], scale: f32) -> Picture {
    let cut: Vec<Picture> = parts
        .iter()
        .map(|part| picture_of(image, Some((*part, scale))))
        .collect();
    let width = cut.iter().map(|part| part.width).max().unwrap_or(0);
    let (row, mut rgba, mut height) = (width as usize * 4, Vec::new(), 0);
    for part in cut.iter().filter(|part| part.width > 0) {
        for line in part.rgba.chunks_exact(part.width as usize * 4) {
            rgba.extend_from_slice(line);
            rgba.resize(rgba.len() + row - line.len(), 0);
        }
        height += part.height;
    }
    Picture { width, height, rgba }
}

/// A part of an image (or all of it), pixel for pixel.
pub fn picture_of(image: &ColorImage, part: Option<(Rect, f32)>) -> Picture {
    let [width, height] = image.size;
    let (mut columns, mut rows) = (0..width, 0..height);
    if let Some((rect, scale)) = part {
        let pixel = |place: f32| usize::try_from(to_whole(f64::from(place))).unwrap_or(usize::MAX);
        let range = |low: f32, high: f32, most: usize| {
            let low = pixel((low * scale).floor()).min(most);
            low..pixel((high * scale).ceil()).clamp(low, most)
        };
        columns = range(rect.left(), rect.right(), width);
        rows = range(rect.top(), rect.bottom(), height);
    }
    let mut rgba = Vec::with_capacity(columns.len() * rows.len() * 4);
    for row in rows.clone() {
        let line = image.pixels.get(row * width..(row + 1) * width).unwrap_or(&[]);
        for pixel in line.get(columns.clone()).unwrap_or(&[]) {
            rgba.extend_from_slice(&pixel.to_array());
        }
    }
    Picture {
        width: u32::try_from(columns.len()).unwrap_or(0),
        height: u32::try_from(rows.len()).unwrap_or(0),
        rgba,
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::{self, ColorImage, Rect, pos2};

    use super::{BEFORE, PATIENCE, Pictures, UNTIL, Wanted, picture_of, stacked};
    use crate::lanes::LanesState;
    use highwater_analysis::LaneId;
    use highwater_sim::StaticMemoryPolicy;

    #[test]
    fn a_part_is_cut_out_pixel_for_pixel() {
        let levels: Vec<u8> = (0..24).collect();
        let image = ColorImage::from_gray([6, 4], &levels);
        let whole = picture_of(&image, None);
        assert_eq!((whole.width, whole.height, whole.rgba.len()), (6, 4, 96));
        let rect = |x0: f32, y0: f32, x1: f32, y1: f32| Rect::from_min_max(pos2(x0, y0), pos2(x1, y1));
        let reds = |rect: Rect, scale: f32| {
            let picture = picture_of(&image, Some((rect, scale)));
            assert_eq!(picture.rgba.len(), (picture.width * picture.height * 4) as usize);
            picture.rgba.chunks(4).map(|pixel| pixel[0]).collect::<Vec<u8>>()
        };
        assert_eq!(reds(rect(1.0, 1.0, 3.0, 2.0), 1.0), [7, 8]);
        assert_eq!(reds(rect(0.5, 0.5, 1.5, 1.0), 2.0), [7, 8]);
        assert_eq!(reds(rect(-3.0, 3.0, 99.0, 99.0), 1.0), [18, 19, 20, 21, 22, 23]);
        assert!(reds(rect(9.0, 9.0, 12.0, 12.0), 1.0).is_empty());
    }

    /// The lane keeps the layout for its picture until the image arrives or the wait ends.
    #[test]
    fn a_lane_sits_for_its_picture_and_no_longer() {
        let ctx = egui::Context::default();
        let (mut pictures, lanes) = (Pictures::default(), LanesState::default());
        assert_eq!(pictures.lane(), None);
        let lane = LaneId::Policy(StaticMemoryPolicy::StaticExtend);
        pictures.want(Wanted {
            lane: Some(lane),
            path: "lane.png".into(),
        });
        let mut commands = Vec::new();
        // The lane is not on the screen: it may still be computed.
        for _ in 0..=u16::from(BEFORE) + PATIENCE + u16::from(UNTIL) {
            assert_eq!(pictures.lane(), Some(lane));
            pictures.poll(&ctx, &lanes, &mut commands);
        }
        for _ in 0..2 {
            pictures.poll(&ctx, &lanes, &mut commands);
        }
        assert_eq!(pictures.lane(), None);
        assert!(commands.is_empty());
    }

    #[test]
    fn parts_stand_one_below_the_other() {
        let levels: Vec<u8> = (0..24).collect();
        let image = ColorImage::from_gray([6, 4], &levels);
        let rect = |x0: f32, y0: f32, x1: f32, y1: f32| Rect::from_min_max(pos2(x0, y0), pos2(x1, y1));
        // The title below, the ruler above it on the screen, an invisible part, a narrower one.
        let parts = [
            rect(1.0, 2.0, 4.0, 3.0),
            rect(1.0, 0.0, 4.0, 1.0),
            rect(9.0, 9.0, 12.0, 12.0),
            rect(1.0, 3.0, 3.0, 4.0),
        ];
        let picture = stacked(&image, &parts, 1.0);
        assert_eq!((picture.width, picture.height), (3, 3));
        let reds: Vec<u8> = picture.rgba.chunks(4).map(|pixel| pixel[0]).collect();
        assert_eq!(reds, [13, 14, 15, 1, 2, 3, 19, 20, 0]);
        assert_eq!(picture.rgba[35], 0, "what does not exist is clear");
        // Fractions of points are scaled to pixels.
        let fine = stacked(&image, &[rect(0.5, 0.0, 1.5, 0.5), rect(0.5, 1.5, 1.5, 2.0)], 2.0);
        assert_eq!((fine.width, fine.height), (2, 2));
        assert!(stacked(&image, &[], 1.0).rgba.is_empty());
    }
}
