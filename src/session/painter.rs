//! The painter: a named thread that draws pictures of lanes with more blocks than a frame can draw, several at one time.
//!
//! In: orders, of which only the newest counts. Out: messages with one picture each, through the worker's channel. The painter
//! is a separate thread because a view that moves must not wait for a comparison or a sweep. Before each lane it looks for a
//! newer order, and continues with the lane that has waited longest, so that a moving view starves no lane.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::state::{Notice, Session};
use super::task::Failure;
use super::worker::{Message, Reply, TaskId, guarded};
use highwater_timeline::{
    Coloring, LaneRows, Raster, RasterFrame, RasterScratch, RasterStyle, RowsFrame, RowsRaster, Timeline,
};

/// Pictures that are drawn in parallel: as many as there are lanes of policies.
const MOST_AT_ONCE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PictureKind {
    /// The view and a margin.
    Near,
    /// The whole lane, shown until a near picture is drawn.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureFrame {
    /// By position.
    pub lane: usize,
    pub kind: PictureKind,
    pub frame: RasterFrame,
}

/// A picture of the rows of a lane, with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsPicture {
    pub of: RowsFrame,
    pub lifetimes: Arc<LaneRows>,
    pub shown: RowsRaster,
    /// Of the answer and of its colouring.
    pub version: (u64, u64),
    pub style: Arc<RasterStyle>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PictureOrder {
    /// The rows of the lifetimes view, where they are shown.
    pub rows: Option<RowsFrame>,
    /// The most important first.
    pub frames: Vec<PictureFrame>,
    pub style: Arc<RasterStyle>,
}

/// A picture of a lane, with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct LanePicture {
    pub of: PictureFrame,
    pub raster: Raster,
    /// Of the answer and of its colouring.
    pub version: (u64, u64),
    pub style: Arc<RasterStyle>,
}

/// An order with its inputs.
pub(super) struct Painting {
    pub(super) id: TaskId,
    pub(super) timeline: Arc<Timeline>,
    pub(super) look: Arc<Coloring>,
    pub(super) lifetimes: Option<Arc<LaneRows>>,
    pub(super) version: (u64, u64),
    pub(super) order: PictureOrder,
}

/// Joins the thread when dropped.
pub(super) struct Painter {
    orders: Option<Sender<Painting>>,
    thread: Option<JoinHandle<()>>,
}

impl Painter {
    /// The thread answers through `say`, and draws on at most so many threads.
    pub(super) fn start(n_threads: usize, say: impl Fn(Message) + Send + Sync + 'static) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded::<Painting>();
        let thread = std::thread::Builder::new()
            .name("highwater-painter".to_owned())
            .spawn(move || serve(&inbox, n_threads, &say))?;
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// Draws these pictures in the place of those ordered before.
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

fn serve(inbox: &Receiver<Painting>, n_threads: usize, say: &(dyn Fn(Message) + Sync)) {
    // When each picture was drawn last.
    let mut drawn: Vec<((usize, PictureKind), u64)> = Vec::new();
    let mut clock = 0_u64;
    let mut scratches: Vec<RasterScratch> = Vec::new();
    scratches.resize_with(n_threads.min(MOST_AT_ONCE), || RasterScratch::on_threads(n_threads));
    let mut next = inbox.recv().ok();
    while let Some(painting) = next.take() {
        let age = |of: &PictureFrame, drawn: &[((usize, PictureKind), u64)]| {
            let known = drawn.iter().find(|(key, _)| *key == (of.lane, of.kind));
            known.map_or(0, |(_, at)| *at)
        };
        painted(say, || draw_rows(&painting, n_threads), Session::take_rows_picture);
        let mut frames = painting.order.frames.clone();
        frames.sort_by_key(|of| age(of, &drawn));
        let n_drawn = draw_all(&painting, &frames, &mut scratches, inbox, say);
        for of in &frames[..n_drawn] {
            clock += 1;
            drawn.retain(|(key, _)| *key != (of.lane, of.kind));
            drawn.push(((of.lane, of.kind), clock));
        }
        next = inbox.try_iter().last();
        say(Message::Done(painting.id, Box::new(|_| {})));
        next = next.or_else(|| inbox.recv().ok().map(|first| inbox.try_iter().last().unwrap_or(first)));
    }
}

/// Draws pictures in this order, some in parallel, at least one, until all are drawn or a newer order comes. Returns how many.
fn draw_all(
    painting: &Painting,
    frames: &[PictureFrame],
    scratches: &mut [RasterScratch],
    inbox: &Receiver<Painting>,
    say: &(dyn Fn(Message) + Sync),
) -> usize {
    let n_taken = Mutex::new(0_usize);
    let take = || {
        let mut n_taken = n_taken.lock().unwrap_or_else(PoisonError::into_inner);
        // The first is drawn in any case, so that a moving view shows something.
        let is_wanted = *n_taken == 0 || inbox.is_empty();
        let of = frames.get(*n_taken).filter(|_| is_wanted)?;
        *n_taken += 1;
        Some(*of)
    };
    let draw_some = |scratch: &mut RasterScratch| {
        while let Some(of) = take() {
            painted(say, || draw(painting, of, scratch), Session::take_picture);
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

/// Draws something and hands it to the session; a fault becomes a notice.
fn painted<P: Send + 'static>(
    say: &(dyn Fn(Message) + Sync),
    draw: impl FnOnce() -> Option<P>,
    take: fn(&mut Session, P),
) {
    let reply: Reply = match guarded(|| Ok(draw())) {
        Ok(None) => return,
        Ok(Some(picture)) => Box::new(move |session| take(session, picture)),
        Err(Failure(message)) => Box::new(move |session| session.notify(Notice::Failed(message))),
    };
    say(Message::Painted(reply));
}

fn draw_rows(painting: &Painting, n_threads: usize) -> Option<RowsPicture> {
    let (of, lifetimes) = painting.order.rows.as_ref().zip(painting.lifetimes.as_ref())?;
    let lane = painting.timeline.lanes.get(lifetimes.lane)?;
    let colors = painting.look.colors(lifetimes.lane, lane);
    let shown = lifetimes.raster(of, &painting.timeline.axes, colors, &painting.order.style, n_threads);
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
        raster: scratch.lane(lane, &painting.timeline.axes, colors, &of.frame, &painting.order.style),
        version: painting.version,
        style: Arc::clone(&painting.order.style),
    })
}
