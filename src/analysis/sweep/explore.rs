//! Simulates points of a space over the cores, and hands them on as they are ready.
//!
//! ```text
//! space        slow axes (what passes, schedule or placement read)  x  fast axes (policy, device, costs)
//! family       one value of each slow axis: its points share a session, which the first of them makes
//! threads      take a family each; when none is left, they help with the points of open ones
//! ```
//!
//! Which axes are slow is told by comparing what their values are lowered to, for speed alone: every point is worked out from its
//! own configuration. The points that come back are sorted by their numbers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::unbounded;

use super::store::Store;
use super::{Space, SweepError, SweepPoint};
use crate::Request;
use highwater_model::progress::{Cancelled, Progress};

/// Most threads.
const MAX_THREADS: usize = 8;

/// Values at each end of an axis that are asked whether it is slow.
const ASKED: usize = 8;

/// The stage that progress names.
const STAGE: &str = "trying configurations";

/// Simulates points of one space; what they share is kept from call to call.
#[derive(Debug)]
pub struct Explorer {
    space: Space,
    store: Arc<Store>,
    /// Positions of the axes that part families.
    slow: Vec<usize>,
}

/// Points that share a session, and how many of them were taken.
#[derive(Debug)]
struct Family {
    points: Vec<u64>,
    taken: usize,
}

/// Which points are left.
#[derive(Debug)]
struct Queue {
    families: Vec<Family>,
    /// The first family that nobody took.
    next: usize,
}

impl Explorer {
    /// For a space over what a request runs. Its base stands in the place of the request's own configuration.
    ///
    /// # Errors
    /// [`SweepError::NothingRuns`] where the workload holds no graph and no trace.
    pub fn new(request: &Request, space: Space) -> Result<Self, SweepError> {
        if let Some(what) = runs_nothing(request) {
            return Err(SweepError::NothingRuns {
                name: request.workload.name.clone(),
                what,
            });
        }
        let store = Arc::new(Store::new(request.clone()));
        let slow = (0..space.axes().len())
            .filter(|axis| is_slow(&store, &space, *axis))
            .collect();
        Ok(Self { space, store, slow })
    }

    /// The same space with every point on a device profile; what the points share is shared with this one.
    #[must_use]
    pub fn on_device(&self, profile: &str) -> Self {
        Self {
            space: self.space.on_device(profile),
            store: Arc::clone(&self.store),
            slow: self.slow.clone(),
        }
    }

    /// The space.
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// What is asked about.
    pub fn request(&self) -> &Request {
        self.store.request()
    }

    /// Simulates the points of these numbers, each once, in no particular order, on all cores. Each is handed on when it is
    /// ready, and all come back sorted by number.
    ///
    /// # Errors
    /// [`Cancelled`]; the points that were handed on until then hold.
    pub fn explore(
        &self,
        points: &[u64],
        on_point: &mut dyn FnMut(&SweepPoint),
        progress: &Progress<'_>,
    ) -> Result<Vec<SweepPoint>, Cancelled> {
        let total = points.len() as u64;
        progress.set(STAGE, 0, total)?;
        let queue = Mutex::new(self.queue(points));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_threads = cores.min(MAX_THREADS).min(points.len()).max(1);
        let cancel = progress.cancel_flag();
        let (sender, receiver) = unbounded();
        let mut found = Vec::with_capacity(points.len());
        std::thread::scope(|scope| {
            for _ in 0..n_threads {
                let (queue, sender) = (&queue, sender.clone());
                scope.spawn(move || {
                    let mut own = None;
                    while let Some(idx) = take(queue, &mut own) {
                        let point = self.point(idx, &Progress::silent(cancel));
                        let is_over = point.is_err();
                        if sender.send(point).is_err() || is_over {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for point in receiver {
                let point = point?;
                on_point(&point);
                found.push(point);
                progress.set(STAGE, found.len() as u64, total)?;
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|point| point.idx);
        Ok(found)
    }

    /// One point, on this thread.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn point(&self, idx: u64, progress: &Progress<'_>) -> Result<SweepPoint, Cancelled> {
        self.store.point(idx, &self.space.configuration(idx), progress)
    }

    /// One configuration beside the space, by the store of its points; its number is `idx`.
    pub(super) fn beside(
        &self,
        idx: u64,
        configuration: &crate::Configuration,
        progress: &Progress<'_>,
    ) -> Result<SweepPoint, Cancelled> {
        self.store.point(idx, configuration, progress)
    }

    /// The points in an order in which those that share most follow each other, for callers that try a few at a time.
    pub fn ordered(&self, points: &[u64]) -> Vec<u64> {
        let families = self.queue(points).families;
        families.into_iter().flat_map(|family| family.points).collect()
    }

    /// The points by families, in the order of their slow values.
    fn queue(&self, points: &[u64]) -> Queue {
        let mut families: BTreeMap<Vec<usize>, Vec<u64>> = BTreeMap::new();
        for idx in points {
            let digits = self.space.digits(*idx);
            let key = self.slow.iter().map(|axis| digits[*axis]).collect();
            families.entry(key).or_default().push(*idx);
        }
        let family = |mut points: Vec<u64>| {
            points.sort_unstable();
            points.dedup();
            Family { points, taken: 0 }
        };
        Queue {
            families: families.into_values().map(family).collect(),
            next: 0,
        }
    }
}

/// The next point of a thread: of its own family, of a new one, of any.
fn take(queue: &Mutex<Queue>, own: &mut Option<usize>) -> Option<u64> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(idx) = own.and_then(|family| queue.families[family].take()) {
        return Some(idx);
    }
    if queue.next < queue.families.len() {
        let family = queue.next;
        queue.next += 1;
        *own = Some(family);
        return queue.families[family].take();
    }
    queue.families.iter_mut().find_map(Family::take)
}

impl Family {
    fn take(&mut self) -> Option<u64> {
        let idx = *self.points.get(self.taken)?;
        self.taken += 1;
        Some(idx)
    }
}

/// Whether the first and another value of an axis lead to different sessions. Of many values some are asked: an axis that is
/// taken for a quick one by that costs time alone.
fn is_slow(store: &Store, space: &Space, axis: usize) -> bool {
    let n_values = space.axes()[axis].values.len();
    let asked = (1..n_values.min(ASKED)).chain(n_values.saturating_sub(ASKED).max(ASKED)..n_values);
    let mut digits = vec![0; space.axes().len()];
    let first = store.session_of(&space.configuration(0));
    for digit in asked {
        digits[axis] = digit;
        if store.session_of(&space.configuration(space.idx(&digits))) != first {
            return true;
        }
    }
    false
}

/// What a workload is that holds nothing to run configurations on.
fn runs_nothing(request: &Request) -> Option<&'static str> {
    let workload = &request.workload;
    if !workload.problems().is_empty() {
        Some("a placement problem, which `highwater plan` places")
    } else if !workload.tapes().is_empty() {
        Some("a log of one run, which `highwater remat --sweep` runs under budgets")
    } else if !workload.programs().is_empty() {
        Some("a program of blocks, whose names `highwater reuse` shares")
    } else if workload.graphs().is_empty() && workload.traces().is_empty() {
        Some("a recording: what was measured does not change")
    } else {
        None
    }
}
