//! Pictures of the window: asked for when nothing stands in front of it, taken by eframe, cut to a lane, handed to the
//! worker.

use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use eframe::egui::{self, ColorImage, Rect};

use super::lanes::LanesState;
use crate::analysis::LaneId;
use crate::session::{Command, Picture};

/// What a picture is of, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The lane; `None` for the whole window.
    pub lane: Option<LaneId>,
    /// The file.
    pub path: PathBuf,
}

/// A picture that was taken, and the part of it that is wanted, in points.
struct Taken {
    image: Arc<ColorImage>,
    part: Option<(Rect, f32)>,
    path: PathBuf,
}

/// Pictures on their way.
pub struct Pictures {
    /// What is wanted, and how many frames are still drawn before.
    wanted: Option<(Wanted, u8)>,
    sender: Sender<Taken>,
    taken: Receiver<Taken>,
}

impl Default for Pictures {
    fn default() -> Self {
        let (sender, taken) = unbounded();
        Self {
            wanted: None,
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
    /// Asks for a picture.
    pub fn want(&mut self, wanted: Wanted) {
        // The dialog that asked for the path is gone two frames later.
        self.wanted = Some((wanted, 2));
    }

    /// Takes what is wanted once nothing stands in front of it, and hands on what was taken. Never waits.
    pub fn poll(&mut self, ctx: &egui::Context, lanes: &LanesState, commands: &mut Vec<Command>) {
        while let Ok(Taken { image, part, path }) = self.taken.try_recv() {
            let picture = picture_of(&image, part);
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
        let place = wanted.lane.and_then(|lane| lanes.place_of(lane));
        let part = place.map(|place| (place, ctx.pixels_per_point()));
        let (sender, wake, path) = (self.sender.clone(), ctx.clone(), wanted.path);
        ctx.request_screenshot(move |image| {
            // The window may be gone by then.
            drop(sender.send(Taken { image, part, path }));
            wake.request_repaint();
        });
    }
}

/// A part of a picture (all of it where none is said), pixel for pixel.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture before the cast"
)]
pub fn picture_of(image: &ColorImage, part: Option<(Rect, f32)>) -> Picture {
    let [width, height] = image.size;
    let (mut columns, mut rows) = (0..width, 0..height);
    if let Some((rect, scale)) = part {
        let range = |low: f32, high: f32, most: usize| {
            let low = ((low * scale).floor().max(0.0) as usize).min(most);
            low..((high * scale).ceil().max(0.0) as usize).clamp(low, most)
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
    use eframe::egui::{ColorImage, Rect, pos2};

    use super::picture_of;

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
}
