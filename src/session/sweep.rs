//! The sweep over configurations: the order, and the table of points.
//!
//! The worker gets a few points per task; the [`Explorer`] keeps shared results from task to task.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::look_at;
use highwater_analysis::sweep::{
    AxisOf, Explorer, Goal, Recommendation, SmallestDevice, Space, SweepAxis, SweepPoint, front_of, largest_of,
};
use highwater_model::units::Bytes;
use highwater_options::{OptionKind, SeenFiles, find, paths_of};

/// Points per task, at least; in large spaces a two-hundredth of all.
const POINTS_A_JOB: usize = 24;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepOrder {
    /// Without any the current configuration alone.
    pub axes: Vec<SweepAxis>,
    /// Memory of the device in the place of the option.
    pub capacity: Option<Bytes>,
}

#[derive(Clone, Debug)]
pub struct SweepTable {
    /// The axes over the configuration at the start of the sweep.
    pub space: Space,
    /// In the order of the runs.
    pub points: Vec<SweepPoint>,
    /// Positions of the Pareto-optimal points, by peak.
    pub front: Vec<usize>,
    pub n_fitting: u64,
    /// By quantity axis, the position of the fitting point with the largest value.
    pub largest: BTreeMap<usize, usize>,
    /// The smallest device for the points, once it is known; the inner `None` means that no device is large enough.
    pub smallest: Option<Option<Box<SmallestDevice>>>,
    pub recommendation: Option<Arc<Recommendation>>,
    /// The number of the sweep in the session, from 1.
    pub number: u64,
    /// The goal of the recommendation, once all points are tried.
    pub(super) goal: Option<Goal>,
    positions: BTreeMap<u64, usize>,
    pub(super) explorer: Option<Arc<Explorer>>,
    /// The next one last.
    pending: Vec<u64>,
}

impl SweepTable {
    pub(super) const fn new(space: Space, number: u64) -> Self {
        Self {
            space,
            points: Vec::new(),
            front: Vec::new(),
            n_fitting: 0,
            largest: BTreeMap::new(),
            smallest: None,
            recommendation: None,
            number,
            goal: None,
            positions: BTreeMap::new(),
            explorer: None,
            pending: Vec::new(),
        }
    }

    pub fn is_unfinished(&self) -> bool {
        (self.points.len() as u64) < self.space.size()
    }

    /// The position of a point by its number.
    pub fn position(&self, idx: u64) -> Option<usize> {
        self.positions.get(&idx).copied()
    }

    /// Takes the preparation and the order of points.
    pub(super) fn start(&mut self, explorer: Arc<Explorer>, mut points: Vec<u64>) {
        points.reverse();
        self.pending = points;
        self.explorer = Some(explorer);
    }

    pub(super) fn next(&self) -> Vec<u64> {
        let most = POINTS_A_JOB.max(usize::try_from(self.space.size() / 200).unwrap_or(usize::MAX));
        self.pending.iter().rev().take(most).copied().collect()
    }

    /// Takes the results of the next points.
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

/// The states of the files that a space names, in its base and its axes.
pub fn probe_sweep_files(space: &Space) -> SeenFiles {
    let base = space.base();
    let mut named = paths_of(&base.options, &base.environment);
    for axis in space.axes() {
        let AxisOf::Option(key) = axis.of else { continue };
        let is_path = find(key).is_some_and(|row| matches!(row.kind, OptionKind::Path(_)));
        for value in axis.values.iter().filter(|_| is_path) {
            let mut options = base.options.clone();
            // The key is in the table of options: an axis is made from a row.
            drop(options.set(key, value.clone()));
            named.extend(paths_of(&options, &base.environment));
        }
    }
    look_at(&named)
}
