//! The painter: one named thread that draws pictures of lanes with more blocks than a frame can draw.
//!
//! In: orders, of which only the newest counts. Out: answers with one picture each, through the worker's channel. It stands
//! beside the worker, and numbers its orders by itself, because a view that moves must not wait for a comparison or a sweep. After each lane it looks for a
//! newer order, and goes on with the lane that has waited longest, so that a view in motion leaves no lane behind. A panic
//! is told like one of the worker's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::jobs::Answer;
use crate::timeline::{Look, Raster, RasterFrame, RasterStyle, Timeline, raster};

/// Who draws lanes with more blocks than a frame draws one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PainterChoice {
    /// The graphics device where there is a real one, otherwise the worker.
    #[default]
    Auto,
    /// The graphics device, whatever it is.
    Device,
    /// The worker, as pictures.
    Picture,
}

/// Which of a lane's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PictureKind {
    /// What the view shows, and a little beside it.
    Near,
    /// Everything there is, to be seen while nothing nearer is drawn yet.
    Whole,
}

/// What a picture is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureFrame {
    /// The lane, by position.
    pub lane: usize,
    /// Which of its pictures.
    pub kind: PictureKind,
    /// The part and the size.
    pub frame: RasterFrame,
}

/// Pictures to draw, the most wanted first.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOrder {
    /// What is to be drawn.
    pub frames: Vec<PictureFrame>,
    /// In which colours.
    pub style: Arc<RasterStyle>,
}

/// A picture of a lane, and what it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct LanePicture {
    /// What it is of.
    pub of: PictureFrame,
    /// Its pixels.
    pub raster: Raster,
    /// The number of the answer and of the look that it shows.
    pub version: (u64, u64),
    /// The colours.
    pub style: Arc<RasterStyle>,
}

/// An order with what it is drawn from.
pub(super) struct Painting {
    pub(super) generation: u64,
    pub(super) timeline: Arc<Timeline>,
    pub(super) look: Arc<Look>,
    pub(super) version: (u64, u64),
    pub(super) order: PictureOrder,
}

/// The handle of the painter's thread; joins it when dropped.
pub(super) struct Painter {
    orders: Option<Sender<Painting>>,
    thread: Option<JoinHandle<()>>,
}

impl Painter {
    /// Starts the thread, which answers through `say`.
    pub(super) fn start(say: impl Fn(u64, Answer) + Send + 'static) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded::<Painting>();
        let thread = std::thread::Builder::new()
            .name("highwater-painter".to_owned())
            .spawn(move || serve(&inbox, &say))?;
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// Draws these pictures instead of those asked for before.
    pub(super) fn paint(&self, painting: Painting) {
        if let Some(orders) = &self.orders {
            // Closed only while the program ends.
            drop(orders.send(painting));
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(inbox: &Receiver<Painting>, say: &dyn Fn(u64, Answer)) {
    // By lane and kind: when it was drawn last.
    let mut drawn: Vec<((usize, PictureKind), u64)> = Vec::new();
    let mut clock = 0_u64;
    let mut next = inbox.recv().ok();
    while let Some(painting) = next.take() {
        let age = |of: &PictureFrame, drawn: &[((usize, PictureKind), u64)]| {
            let known = drawn.iter().find(|(key, _)| *key == (of.lane, of.kind));
            known.map_or(0, |(_, at)| *at)
        };
        let mut frames = painting.order.frames.clone();
        frames.sort_by_key(|of| age(of, &drawn));
        for of in frames {
            let picture = catch_unwind(AssertUnwindSafe(|| draw(&painting, of)));
            match picture {
                Ok(Some(picture)) => say(painting.generation, Answer::Painted(Some(Arc::new(picture)))),
                Ok(None) => {}
                Err(panic) => say(
                    painting.generation,
                    Answer::Unpainted(super::worker::panic_text(&*panic)),
                ),
            }
            clock += 1;
            drawn.retain(|(key, _)| *key != (of.lane, of.kind));
            drawn.push(((of.lane, of.kind), clock));
            next = inbox.try_iter().last();
            if next.is_some() {
                break;
            }
        }
        say(painting.generation, Answer::Painted(None));
        next = next.or_else(|| inbox.recv().ok().map(|first| inbox.try_iter().last().unwrap_or(first)));
    }
}

fn draw(painting: &Painting, of: PictureFrame) -> Option<LanePicture> {
    let lane = painting.timeline.lanes.get(of.lane)?;
    let colors = painting.look.colors(of.lane, lane);
    Some(LanePicture {
        of,
        raster: raster(lane, colors, &of.frame, &painting.order.style),
        version: painting.version,
        style: Arc::clone(&painting.order.style),
    })
}
