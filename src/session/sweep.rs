//! Spaces of configurations in a session: what is asked, what is known of it, and what the worker does for it.
//!
//! The worker gets a few points a job, so that files are read and comparisons made in between; what points share is kept from
//! job to job by the [`Explorer`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::look_at;
use super::jobs::{Answer, Job};
use highwater_analysis::sweep::{
    AxisOf, Explorer, Recommendation, SmallestDevice, Space, SweepAxis, SweepPoint, front_of, largest_of,
    recommend_from, smallest_device,
};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_options::{OptionKind, SeenFiles, find, paths_of};

/// Points a job, at least; of large spaces a two-hundredth of all.
const POINTS_A_JOB: usize = 24;

/// What is to be tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepOrder {
    /// The axes; without any the configuration at hand alone.
    pub axes: Vec<SweepAxis>,
    /// Memory of the device, instead of what is set.
    pub capacity: Option<Bytes>,
}

/// A space as far as it is known.
#[derive(Clone, Debug)]
pub struct SweepTable {
    /// The axes over the configuration as it was when they were tried.
    pub space: Space,
    /// The points that were tried, in the order in which they came.
    pub points: Vec<SweepPoint>,
    /// Positions of those that no other one beats, by peak.
    pub front: Vec<usize>,
    /// How many of the points fit.
    pub n_fitting: u64,
    /// By axis of amounts, the position of the point that fits with the largest value.
    pub largest: BTreeMap<usize, usize>,
    /// The smallest device for its points, once all are tried and it is known; within, `None` where none is large enough.
    pub smallest: Option<Option<Box<SmallestDevice>>>,
    /// The configuration to take, where that was asked.
    pub recommendation: Option<Arc<Recommendation>>,
    /// Whether a job is being worked out; otherwise it was stopped, or all are there.
    pub is_running: bool,
    /// Which space of the session it is, counted from 1.
    pub number: u64,
    positions: BTreeMap<u64, usize>,
    pub(super) explorer: Option<Arc<Explorer>>,
    /// Points to try, the next one last.
    pending: Vec<u64>,
}

impl SweepTable {
    /// A table without a point.
    pub(super) const fn new(space: Space, number: u64) -> Self {
        Self {
            space,
            points: Vec::new(),
            front: Vec::new(),
            n_fitting: 0,
            largest: BTreeMap::new(),
            smallest: None,
            recommendation: None,
            is_running: false,
            number,
            positions: BTreeMap::new(),
            explorer: None,
            pending: Vec::new(),
        }
    }

    /// Whether points are still to be tried.
    pub fn is_unfinished(&self) -> bool {
        (self.points.len() as u64) < self.space.size()
    }

    /// A point by its number, where it was tried.
    pub fn point(&self, idx: u64) -> Option<&SweepPoint> {
        self.points.get(*self.positions.get(&idx)?)
    }

    /// Everything is ready for the points, in this order.
    pub(super) fn start(&mut self, explorer: Arc<Explorer>, mut points: Vec<u64>) {
        points.reverse();
        self.pending = points;
        self.explorer = Some(explorer);
    }

    /// The next points for the worker.
    pub(super) fn next(&self) -> Vec<u64> {
        let most = POINTS_A_JOB.max(usize::try_from(self.space.size() / 200).unwrap_or(usize::MAX));
        self.pending.iter().rev().take(most).copied().collect()
    }

    /// Takes what the worker made of the next points.
    pub(super) fn take(&mut self, points: Vec<SweepPoint>) {
        let left = self.pending.len().saturating_sub(points.len());
        self.pending.truncate(left);
        let first = self.points.len();
        for point in points {
            self.positions.insert(point.idx, self.points.len());
            self.points.push(point);
        }
        let known = std::mem::take(&mut self.front);
        let new = first..self.points.len();
        self.front = front_of(&self.points, known.into_iter().chain(new.clone()));
        self.n_fitting += self.points[first..]
            .iter()
            .filter(|point| point.fitting().is_some())
            .count() as u64;
        let axes = self.space.axes().iter().enumerate();
        for (axis, _) in axes.filter(|(_, axis)| axis.is_quantity()) {
            let known = self.largest.get(&axis).copied().into_iter();
            if let Some(largest) = largest_of(&self.space, &self.points, axis, known.chain(new.clone())) {
                self.largest.insert(axis, largest);
            }
        }
    }
}

/// Whether a job is about a space.
pub(super) const fn is_of_space(job: &Job) -> bool {
    matches!(
        job,
        Job::SpaceStart(..) | Job::SpacePoints(..) | Job::SmallestDevice(..) | Job::Recommend(..)
    )
}

/// What the worker does for a space.
pub(super) fn try_space(job: Job, progress: &Progress<'_>) -> Result<Answer, String> {
    match job {
        Job::SpaceStart(mut request, space) => {
            request.files = Arc::new(probe_sweep_files(&space));
            let all: Vec<u64> = (0..space.size()).collect();
            let explorer = Explorer::new(&request, *space).map_err(|error| error.to_string())?;
            let ordered = explorer.ordered(&all);
            Ok(Answer::SpaceReady(Arc::new(explorer), ordered))
        }
        Job::SpacePoints(explorer, points) => {
            let tried = explorer.explore(&points, &mut |_: &SweepPoint| {}, progress);
            Ok(Answer::SpacePoints(tried.map_err(|cancelled| cancelled.to_string())?))
        }
        Job::SmallestDevice(explorer, points) => {
            let found = smallest_device(&explorer, &points, progress).map_err(|cancelled| cancelled.to_string())?;
            Ok(Answer::SmallestDevice(found.map(Box::new)))
        }
        Job::Recommend(explorer, goal, points) => {
            let found = recommend_from(&explorer, goal, points, progress).map_err(|error| error.to_string())?;
            Ok(Answer::Recommended(Arc::new(found)))
        }
        _ => Err("this job tries no configurations".to_owned()),
    }
}

/// What stands at the paths that the base of a space and the values of its axes name.
pub fn probe_sweep_files(space: &Space) -> SeenFiles {
    let base = space.base();
    let mut paths = paths_of(&base.options, &base.environment);
    for axis in space.axes() {
        let AxisOf::Option(key) = axis.of else { continue };
        let is_path = find(key).is_some_and(|row| matches!(row.kind, OptionKind::Path(_)));
        for value in axis.values.iter().filter(|_| is_path) {
            let mut options = base.options.clone();
            // The key is a row of the table: an axis is made of one.
            drop(options.set(key, value.clone()));
            paths.extend(paths_of(&options, &base.environment));
        }
    }
    paths.sort_unstable();
    paths.dedup();
    look_at(&paths)
}
