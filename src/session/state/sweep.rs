//! The space of configurations that is tried, and the recommendation out of it.

use std::sync::Arc;

use super::super::document::Document;
use super::super::jobs::{Answer, Job};
use super::super::sweep::{SweepOrder, SweepTable};
use super::{Notice, Session};
use highwater_analysis::sweep::{AxisOf, Goal, Space, SweepError};
use highwater_analysis::{Configuration, LaneSet, LaneStrategies};
use highwater_model::workload::Workload;
use highwater_options::keys;

/// The space and what it was asked for.
#[derive(Debug, Default)]
pub(super) struct SweepWatch {
    table: Option<SweepTable>,
    order: Option<SweepOrder>,
    /// The settings that the table belongs to.
    of: Option<Document>,
    /// What is to be recommended when all is tried.
    goal: Option<Goal>,
    /// How many spaces there were.
    number: u64,
    /// What the worker has in hand; 0 is nothing.
    generation: u64,
}

impl Session {
    /// The space that is tried, as far as it is known.
    pub fn space(&self) -> Option<&SweepTable> {
        self.space.table.as_ref()
    }

    /// What was asked for last.
    pub fn space_order(&self) -> Option<&SweepOrder> {
        self.space.order.as_ref()
    }

    /// Whether points, or a recommendation, are still to come.
    pub fn is_trying(&self) -> bool {
        self.space.generation != 0
    }

    /// Whether a recommendation is being worked out or waits for points.
    pub fn is_recommending(&self) -> bool {
        self.is_trying() && self.space.goal.is_some()
    }

    /// Whether the points on the screen were tried over other settings than those of the document, axes apart.
    pub fn is_space_stale(&self) -> bool {
        let space = &self.space;
        let order = space.order.as_ref();
        order.is_some_and(|order| space.of.as_ref() != Some(&self.space_settings(order)))
    }

    /// What a space depends on: neither what its axes set, nor how lanes are shown.
    fn space_settings(&self, order: &SweepOrder) -> Document {
        let mut settings = self.document.clone();
        settings.lanes = LaneSet::Policies;
        settings.strategies = LaneStrategies::default();
        settings.bookmarks = Vec::new();
        settings.baseline = None;
        settings.pins = Vec::new();
        for axis in &order.axes {
            match &axis.of {
                AxisOf::Option(key) => settings.options.reset(key),
                AxisOf::Iterations => settings.plan.iterations = 1,
                AxisOf::Dim(name) => {
                    settings.plan.dims.remove(name);
                    settings.plan.clear_dim(name);
                }
            }
        }
        if order.capacity.is_some() {
            settings.options.reset(keys::DEVICE_MEMORY);
        }
        settings
    }

    /// The space of an order over the settings at hand.
    ///
    /// # Errors
    /// [`SweepError`]: too many points, an axis twice.
    fn space_of(&self, order: &SweepOrder, workload: &Arc<Workload>) -> Result<Space, SweepError> {
        let mut base = self.request(Arc::clone(workload)).configuration();
        let symbols = workload.symbols();
        base.plan.dims.retain(|name, _| symbols.contains(name));
        let mut space = Space::new(base, order.axes.clone())?;
        if let Some(capacity) = order.capacity {
            space = space.with_capacity(capacity)?;
        }
        space.checked()?;
        Ok(space)
    }

    /// Tries a space; what is known of the same one stays, and goes on where it was stopped. With a goal, recommends one of its
    /// configurations when all are tried.
    pub(super) fn try_space(&mut self, order: SweepOrder, goal: Option<Goal>) {
        let Some(loaded) = self.loaded.as_ref().filter(|_| self.load_generation == 0) else {
            // What is loaded is not what the document names.
            return;
        };
        let is_same = self.space.order.as_ref() == Some(&order) && !self.is_space_stale();
        if is_same && self.space.table.is_some() {
            self.space.goal = goal.or(self.space.goal);
            if !self.is_trying() {
                self.next_of_space();
            }
            return;
        }
        let space = match self.space_of(&order, &loaded.workload) {
            Ok(space) => space,
            Err(error) => {
                self.notice = Some(Notice::Failed(error.to_string()));
                return;
            }
        };
        let number = self.space.number + 1;
        let request = self.request(Arc::clone(&loaded.workload));
        let job = Job::SpaceStart(Box::new(request), Box::new(space.clone()));
        self.space = SweepWatch {
            table: Some(SweepTable::new(space, number)),
            of: Some(self.space_settings(&order)),
            order: Some(order),
            goal,
            number,
            generation: self.worker.send(job),
        };
        self.show_running();
    }

    /// Forgets the space: it is about sources that are gone.
    pub(super) fn drop_space(&mut self) {
        self.stop_space();
        self.space = SweepWatch {
            number: self.space.number,
            ..SweepWatch::default()
        };
    }

    /// Ends the trying where it is.
    pub(super) fn stop_space(&mut self) {
        self.space.generation = 0;
        self.space.goal = None;
        self.show_running();
        self.worker.cancel_space();
    }

    fn show_running(&mut self) {
        let is_running = self.space.generation != 0;
        if let Some(table) = &mut self.space.table {
            table.is_running = is_running;
        }
    }

    /// Takes what the worker says about the space; gives back what is about something else.
    pub(super) fn take_space(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.space.generation || generation == 0 {
            let is_old = matches!(
                answer,
                Answer::SpaceReady(..) | Answer::SpacePoints(_) | Answer::SmallestDevice(_) | Answer::Recommended(_)
            );
            return (!is_old).then_some(answer);
        }
        let table = self.space.table.as_mut();
        match answer {
            Answer::SpaceReady(explorer, points) => {
                if let Some(table) = table {
                    table.start(explorer, points);
                }
                self.next_of_space();
            }
            Answer::SpacePoints(points) => {
                if let Some(table) = table {
                    table.take(points);
                }
                self.next_of_space();
            }
            Answer::Recommended(found) => {
                if let Some(table) = table {
                    table.recommendation = Some(found);
                }
                self.space.goal = None;
                self.next_of_space();
            }
            Answer::SmallestDevice(found) => {
                if let Some(table) = table {
                    table.smallest = Some(found);
                }
                self.next_of_space();
            }
            Answer::Failed(message) => {
                self.stop_space();
                self.notice = Some(Notice::Failed(message));
            }
            // A comparison came in between: go on behind it.
            Answer::Cancelled => self.next_of_space(),
            _ => {}
        }
        None
    }

    /// Asks for what comes next: to make ready, points, the recommendation, or nothing.
    fn next_of_space(&mut self) {
        let job = self.next_job();
        self.space.generation = job.map_or(0, |job| self.worker.send(job));
        self.show_running();
    }

    fn next_job(&self) -> Option<Job> {
        let table = self.space.table.as_ref()?;
        let Some(explorer) = &table.explorer else {
            let workload = &self.loaded.as_ref()?.workload;
            let request = self.request(Arc::clone(workload));
            return Some(Job::SpaceStart(Box::new(request), Box::new(table.space.clone())));
        };
        let points = table.next();
        if !points.is_empty() {
            return Some(Job::SpacePoints(Arc::clone(explorer), points));
        }
        if let Some(goal) = self.space.goal {
            return Some(Job::Recommend(Arc::clone(explorer), goal, table.points.clone()));
        }
        let is_sought = table.smallest.is_none() && !table.is_unfinished();
        is_sought.then(|| Job::SmallestDevice(Arc::clone(explorer), table.points.clone()))
    }

    /// Takes a configuration over. Values of dimensions that were assumed and stay as they are stay assumed.
    pub(super) fn use_configuration(&mut self, configuration: Configuration) {
        let Configuration {
            options,
            environment,
            plan,
        } = configuration;
        let known = &self.document.plan.dims;
        self.assumed.retain(|name| known.get(name) == plan.dims.get(name));
        self.document.options = options;
        self.document.environment = environment;
        self.document.plan = plan;
    }
}
