//! The painter: a named thread that draws pictures of lanes with more blocks than a frame can draw, several at one time.
//!
//! In: orders, of which only the newest counts. Out: answers with one picture each, through the worker's channel. It stands
//! beside the worker, and numbers its orders by itself, because a view that moves must not wait for a comparison or a sweep. Before each lane it looks for a
//! newer order, and goes on with the lane that has waited longest, so that a view in motion leaves no lane behind. A panic
//! is told like one of the worker's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::jobs::Answer;
use highwater_timeline::{
    AxisKind, Canvas, Coloring, LaneRows, Raster, RasterFrame, RasterScratch, RasterStyle, RowsRaster, ScopeFolds,
    Timeline, Viewport,
};

/// Most pictures that are drawn at one time: as many as there are lanes of policies.
const MOST_AT_ONCE: usize = 4;

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

/// What a picture of rows is of.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsFrame {
    /// The steps that are shown.
    pub view: Viewport,
    /// Along what.
    pub axis: AxisKind,
    /// Which scopes are folded.
    pub folds: ScopeFolds,
    /// The place for rows, in points.
    pub canvas: Canvas,
    /// Pixels a point.
    pub scale: f64,
}

/// A picture of the rows of a lane, and what it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsPicture {
    /// What it is of.
    pub of: RowsFrame,
    /// The rows.
    pub lifetimes: Arc<LaneRows>,
    /// Where they stand, and their pixels.
    pub shown: RowsRaster,
    /// The number of the answer and of the look that it shows.
    pub version: (u64, u64),
    /// The colours.
    pub style: Arc<RasterStyle>,
}

/// Pictures to draw, the most wanted first.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOrder {
    /// The rows of the lifetimes view, where they are to be drawn.
    pub rows: Option<RowsFrame>,
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
    pub(super) look: Arc<Coloring>,
    pub(super) lifetimes: Option<Arc<LaneRows>>,
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
    pub(super) fn start(say: impl Fn(u64, Answer) + Send + Sync + 'static) -> std::io::Result<Self> {
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

fn serve(inbox: &Receiver<Painting>, say: &(dyn Fn(u64, Answer) + Sync)) {
    // By lane and kind: when it was drawn last.
    let mut drawn: Vec<((usize, PictureKind), u64)> = Vec::new();
    let mut clock = 0_u64;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut scratches: Vec<RasterScratch> = Vec::new();
    scratches.resize_with(cores.min(MOST_AT_ONCE), RasterScratch::default);
    let mut next = inbox.recv().ok();
    while let Some(painting) = next.take() {
        let age = |of: &PictureFrame, drawn: &[((usize, PictureKind), u64)]| {
            let known = drawn.iter().find(|(key, _)| *key == (of.lane, of.kind));
            known.map_or(0, |(_, at)| *at)
        };
        if let Some(answer) = guarded(|| draw_rows(&painting).map(|rows| Answer::PaintedRows(Arc::new(rows)))) {
            say(painting.generation, answer);
        }
        let mut frames = painting.order.frames.clone();
        frames.sort_by_key(|of| age(of, &drawn));
        let n_drawn = draw_all(&painting, &frames, &mut scratches, inbox, say);
        for of in &frames[..n_drawn] {
            clock += 1;
            drawn.retain(|(key, _)| *key != (of.lane, of.kind));
            drawn.push(((of.lane, of.kind), clock));
        }
        next = inbox.try_iter().last();
        say(painting.generation, Answer::Painted(None));
        next = next.or_else(|| inbox.recv().ok().map(|first| inbox.try_iter().last().unwrap_or(first)));
    }
}

/// Draws pictures in this order, a few at one time, until all are drawn or a newer order has come; at least one. How many were.
fn draw_all(
    painting: &Painting,
    frames: &[PictureFrame],
    scratches: &mut [RasterScratch],
    inbox: &Receiver<Painting>,
    say: &(dyn Fn(u64, Answer) + Sync),
) -> usize {
    let n_taken = Mutex::new(0_usize);
    let take = || {
        let mut n_taken = n_taken.lock().unwrap_or_else(PoisonError::into_inner);
        // The first is drawn in any case, so that a view in motion shows something.
        let is_wanted = *n_taken == 0 || inbox.is_empty();
        let of = frames.get(*n_taken).filter(|_| is_wanted)?;
        *n_taken += 1;
        Some(*of)
    };
    let draw_some = |scratch: &mut RasterScratch| {
        while let Some(of) = take() {
            let picture = || draw(painting, of, scratch).map(|picture| Answer::Painted(Some(Arc::new(picture))));
            if let Some(answer) = guarded(picture) {
                say(painting.generation, answer);
            }
        }
    };
    std::thread::scope(|scope| {
        let mut scratches = scratches.iter_mut();
        let own = scratches.next();
        for scratch in scratches.take(frames.len().saturating_sub(1)) {
            let draw_some = &draw_some;
            scope.spawn(move || draw_some(scratch));
        }
        if let Some(own) = own {
            draw_some(own);
        }
    });
    n_taken.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A picture, or that there was a fault.
fn guarded(draw: impl FnOnce() -> Option<Answer>) -> Option<Answer> {
    catch_unwind(AssertUnwindSafe(draw)).unwrap_or_else(|panic| {
        let text = super::worker::panic_text(&*panic);
        Some(Answer::Unpainted(text))
    })
}

fn draw_rows(painting: &Painting) -> Option<RowsPicture> {
    let (of, lifetimes) = painting.order.rows.as_ref().zip(painting.lifetimes.as_ref())?;
    let lane = painting.timeline.lanes.get(lifetimes.lane)?;
    let colors = painting.look.colors(lifetimes.lane, lane);
    let shown = lifetimes.raster(
        (of.view, of.axis, &of.folds),
        (&painting.timeline.axes, of.canvas, of.scale),
        colors,
        &painting.order.style,
    );
    Some(RowsPicture {
        of: of.clone(),
        lifetimes: Arc::clone(lifetimes),
        shown,
        version: painting.version,
        style: Arc::clone(&painting.order.style),
    })
}

fn draw(painting: &Painting, of: PictureFrame, scratch: &mut RasterScratch) -> Option<LanePicture> {
    let lane = painting.timeline.lanes.get(of.lane)?;
    let colors = painting.look.colors(of.lane, lane);
    Some(LanePicture {
        of,
        raster: scratch.lane(
            (lane, &painting.timeline.axes),
            colors,
            &of.frame,
            &painting.order.style,
        ),
        version: painting.version,
        style: Arc::clone(&painting.order.style),
    })
}
