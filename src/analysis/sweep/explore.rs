//! Simulates points of a sweep on all cores, and hands each on when it is ready.
//!
//! ```text
//! space        slow axes (read by passes, schedule or placement)  x  fast axes (policy, device, costs)
//! family       one value of each slow axis: its points share a session, which the first of them computes
//! threads      take a family each; when none is left, they help with the points of open ones
//! ```
//!
//! Slow axes are found by comparing lowered options, for speed alone: every point is computed from its own
//! configuration. Points are returned sorted by number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::unbounded;

use super::store::Store;
use super::{Space, SweepError, SweepPoint};
use crate::configuration::Configuration;
use crate::request::Request;
use crate::study::study_of;
use crate::verified::{Audit, Verification};
use highwater_model::progress::{Cancelled, Progress};

const MAX_THREADS: usize = 8;

/// Values at each end of an axis that are lowered to find out whether it is slow.
const MAX_COMPARED: usize = 8;

const STAGE: &str = "simulating configurations";

/// Simulates points of one space and caches what they share between calls.
#[derive(Debug)]
pub struct Explorer {
    space: Space,
    store: Arc<Store>,
    /// Positions of the slow axes.
    slow: Vec<usize>,
}

/// Points that share a session, and how many threads have taken.
#[derive(Debug)]
struct Family {
    points: Vec<u64>,
    taken: usize,
}

/// The points that are left.
#[derive(Debug)]
struct Queue {
    families: Vec<Family>,
    /// The first family that no thread has taken.
    next: usize,
}

impl Explorer {
    /// For a space over a request's workload; the base of the space replaces the request's configuration.
    ///
    /// # Errors
    /// [`SweepError::NothingRuns`] unless the workload holds graphs or a trace.
    pub fn new(request: &Request, space: Space) -> Result<Self, SweepError> {
        Self::with(Store::new(request.clone()), request, space)
    }

    /// The same; every simulation is verified as it is made ([`Self::verification`]).
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn verifying(request: &Request, space: Space) -> Result<Self, SweepError> {
        Self::with(Store::new(request.clone()).verifying(), request, space)
    }

    fn with(store: Store, request: &Request, space: Space) -> Result<Self, SweepError> {
        if let Some(what) = study_of(&request.workload).words().no_sweep {
            return Err(SweepError::NothingRuns {
                name: request.workload.name.clone(),
                what,
            });
        }
        let store = Arc::new(store);
        let slow = (0..space.axes().len())
            .filter(|axis| is_slow(&store, &space, *axis))
            .collect();
        Ok(Self { space, store, slow })
    }

    /// The same space with every point on a device profile; both share the cache.
    #[must_use]
    pub fn on_device(&self, profile: &str) -> Self {
        Self {
            space: self.space.on_device(profile),
            store: Arc::clone(&self.store),
            slow: self.slow.clone(),
        }
    }

    /// What verification found so far; `None` where nothing is verified.
    pub fn verification(&self) -> Option<Verification> {
        self.store.audit().map(Audit::verification)
    }

    pub const fn space(&self) -> &Space {
        &self.space
    }

    pub fn request(&self) -> &Request {
        self.store.request()
    }

    /// Simulates the points of these numbers, each once, on all cores. Each is handed on when it is ready, and all are
    /// returned sorted by number.
    ///
    /// # Errors
    /// [`Cancelled`]; points handed on until then are valid.
    pub fn explore(
        &self,
        points: &[u64],
        on_point: &mut dyn FnMut(&SweepPoint),
        progress: &Progress<'_>,
    ) -> Result<Vec<SweepPoint>, Cancelled> {
        let total = points.len() as u64;
        progress.set(STAGE, 0, total)?;
        let queue = Mutex::new(self.queue(points));
        let n_threads = progress.n_threads().min(MAX_THREADS).min(points.len()).max(1);
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

    /// Simulates one point on this thread.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn point(&self, idx: u64, progress: &Progress<'_>) -> Result<SweepPoint, Cancelled> {
        self.store.point(idx, &self.space.configuration(idx), progress)
    }

    /// Simulates a configuration outside the space, with the cache of the space; `idx` becomes its number.
    pub(super) fn beside(
        &self,
        idx: u64,
        configuration: &Configuration,
        progress: &Progress<'_>,
    ) -> Result<SweepPoint, Cancelled> {
        self.store.point(idx, configuration, progress)
    }

    /// The points in an order in which those that share most are neighbours, for callers that simulate a few at a time.
    pub fn ordered(&self, points: &[u64]) -> Vec<u64> {
        let families = self.queue(points).families;
        families.into_iter().flat_map(|family| family.points).collect()
    }

    /// The points by family, in the order of their slow values.
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

/// The next point of a thread: of the same family, of a new one, or of any.
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

/// Whether two values of an axis lead to different sessions. Of many values some are compared: a slow axis taken for a
/// fast one costs time alone.
fn is_slow(store: &Store, space: &Space, axis: usize) -> bool {
    let n_values = space.axes()[axis].values.len();
    let compared =
        (1..n_values.min(MAX_COMPARED)).chain(n_values.saturating_sub(MAX_COMPARED).max(MAX_COMPARED)..n_values);
    let mut digits = vec![0; space.axes().len()];
    let first = store.session_of(&space.configuration(0));
    for digit in compared {
        digits[axis] = digit;
        if store.session_of(&space.configuration(space.idx(&digits))) != first {
            return true;
        }
    }
    false
}
