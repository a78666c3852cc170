//! The sweep over configurations, and its recommendation.

use std::sync::Arc;

use super::super::document::Document;
use super::super::sweep::{SweepOrder, SweepTable, probe_sweep_files};
use super::super::task::{Failure, Outcome, TaskKind};
use super::{Notice, Session};
use highwater_analysis::sweep::{AxisOf, Explorer, Goal, Space, SweepError, recommend_from, smallest_device};
use highwater_analysis::{Configuration, LaneSet, LaneStrategies};
use highwater_model::progress::Progress;
use highwater_model::workload::Workload;
use highwater_options::keys;

#[derive(Debug, Default)]
pub(super) struct Sweep {
    table: Option<SweepTable>,
    order: Option<SweepOrder>,
    settings: Option<Document>,
    /// The goal of the recommendation, once all points are tried.
    goal: Option<Goal>,
    number: u64,
}

impl Sweep {
    fn change(&mut self, change: impl FnOnce(&mut SweepTable)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }
}

impl Session {
    pub fn space(&self) -> Option<&SweepTable> {
        self.space.table.as_ref()
    }

    pub fn space_order(&self) -> Option<&SweepOrder> {
        self.space.order.as_ref()
    }

    pub fn is_trying(&self) -> bool {
        self.worker.is_waiting(TaskKind::Sweep)
    }

    /// Whether a recommendation is pending.
    pub fn is_recommending(&self) -> bool {
        self.is_trying() && self.space.goal.is_some()
    }

    /// Whether the sweep was made with other settings than those of the document, besides its axes.
    pub fn is_space_stale(&self) -> bool {
        let space = &self.space;
        let order = space.order.as_ref();
        order.is_some_and(|order| space.settings.as_ref() != Some(&self.space_settings(order)))
    }

    /// The document without settings that do not affect the sweep: those of its axes, and of lanes.
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

    /// The space of an order over the current settings.
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

    /// Starts a sweep, or continues a stopped one of the same order and settings. With a goal, recommends a configuration once all
    /// points are tried.
    pub(super) fn try_space(&mut self, order: SweepOrder, goal: Option<Goal>) {
        let Some(loaded) = self.loaded.as_ref().filter(|_| !self.worker.is_waiting(TaskKind::Load)) else {
            // The document names other sources than those that are loaded.
            return;
        };
        let is_same = self.space.order.as_ref() == Some(&order) && !self.is_space_stale();
        if is_same && self.space.table.is_some() {
            self.space.goal = goal.or(self.space.goal);
            if !self.is_trying() {
                self.continue_sweep();
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
        self.space = Sweep {
            table: Some(SweepTable::new(space, number)),
            settings: Some(self.space_settings(&order)),
            order: Some(order),
            goal,
            number,
        };
        self.discard(TaskKind::Sweep);
        self.continue_sweep();
    }

    pub(super) fn drop_space(&mut self) {
        self.stop_space();
        self.space = Sweep {
            number: self.space.number,
            ..Sweep::default()
        };
    }

    /// Stops the sweep; its points stay.
    pub(super) fn stop_space(&mut self) {
        self.discard(TaskKind::Sweep);
        self.space.goal = None;
        self.show_running();
    }

    fn show_running(&mut self) {
        let is_running = self.is_trying();
        if let Some(table) = &mut self.space.table {
            table.is_running = is_running;
        }
    }

    /// Sends the next task: preparation, points, the recommendation or the smallest device.
    fn continue_sweep(&mut self) {
        self.send_next_of_sweep();
        self.show_running();
    }

    fn send_next_of_sweep(&mut self) {
        let Some(table) = &self.space.table else { return };
        let Some(explorer) = table.explorer.clone() else {
            self.prepare_sweep();
            return;
        };
        let next = table.next();
        let goal = self.space.goal;
        if !next.is_empty() {
            self.sweep_step(
                move |progress| Ok(explorer.explore(&next, &mut |_| {}, progress)?),
                |sweep, points| sweep.change(|table| table.take(points)),
            );
        } else if let Some(goal) = goal {
            let points = table.points.clone();
            self.sweep_step(
                move |progress| Ok(recommend_from(&explorer, goal, points, progress)?),
                |sweep, found| {
                    sweep.goal = None;
                    sweep.change(|table| table.recommendation = Some(Arc::new(found)));
                },
            );
        } else if table.smallest.is_none() && !table.is_unfinished() {
            let points = table.points.clone();
            self.sweep_step(
                move |progress| Ok(smallest_device(&explorer, &points, progress)?),
                |sweep, found| sweep.change(|table| table.smallest = Some(found.map(Box::new))),
            );
        }
    }

    /// Looks at the files that the space names, and orders its points so that those that share most follow each other.
    fn prepare_sweep(&mut self) {
        let Some((loaded, table)) = self.loaded.as_ref().zip(self.space.table.as_ref()) else {
            return;
        };
        let mut request = self.request(Arc::clone(&loaded.workload));
        let space = table.space.clone();
        self.sweep_step(
            move |_| {
                request.files = Arc::new(probe_sweep_files(&space));
                let all: Vec<u64> = (0..space.size()).collect();
                let explorer = Explorer::new(&request, space)?;
                let ordered = explorer.ordered(&all);
                Ok((Arc::new(explorer), ordered))
            },
            |sweep, (explorer, points)| sweep.change(|table| table.start(explorer, points)),
        );
    }

    fn sweep_step<A: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Progress<'_>) -> Result<A, Failure> + Send + 'static,
        take: impl FnOnce(&mut Sweep, A) + Send + 'static,
    ) {
        self.worker
            .send(TaskKind::Sweep, work, |session, outcome| match outcome {
                Outcome::Done(answer) => {
                    take(&mut session.space, answer);
                    session.continue_sweep();
                }
                Outcome::Failed(_) => session.stop_space(),
                // A comparison interrupted the sweep, which continues after it.
                Outcome::Cancelled => session.continue_sweep(),
            });
    }

    /// Applies a configuration. Assumed values that do not change stay assumed.
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
