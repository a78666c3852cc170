//! The sweep over configurations, and its recommendation.

use std::sync::Arc;

use super::super::document::Document;
use super::super::sweep::{SweepOrder, SweepTable, probe_sweep_files};
use super::super::task::{Failure, TaskKind};
use super::Session;
use highwater_analysis::sweep::{AxisOf, Explorer, Goal, Space, SweepError, recommend_from, smallest_device};
use highwater_analysis::{Configuration, LaneGoal, LaneSet, LaneStrategies, Request};
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

impl Session {
    pub fn sweep(&self) -> Option<&SweepTable> {
        self.sweep.table.as_ref()
    }

    pub fn sweep_order(&self) -> Option<&SweepOrder> {
        self.sweep.order.as_ref()
    }

    pub fn is_sweep_running(&self) -> bool {
        self.worker.is_waiting(TaskKind::Sweep)
    }

    /// Whether a recommendation is pending.
    pub fn is_recommending(&self) -> bool {
        self.is_sweep_running() && self.sweep.goal.is_some()
    }

    /// Whether the sweep was made with other settings than those of the document, besides its axes.
    pub fn is_sweep_stale(&self) -> bool {
        let order = self.sweep.order.as_ref();
        order.is_some_and(|order| self.sweep.settings.as_ref() != Some(&self.sweep_settings(order)))
    }

    /// The document without settings that do not affect the sweep: those of its axes, and of lanes.
    fn sweep_settings(&self, order: &SweepOrder) -> Document {
        let mut settings = self.document.clone();
        settings.lanes = LaneSet::Policies;
        settings.strategies = LaneStrategies::default();
        settings.bookmarks = Vec::new();
        settings.baseline = None;
        settings.goal = LaneGoal::default();
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

    /// The space of an order over the settings of a request.
    ///
    /// # Errors
    /// [`SweepError`]: too many points, an axis twice.
    fn space_of(order: &SweepOrder, request: &Request) -> Result<Space, SweepError> {
        let mut space = Space::new(request.configuration(), order.axes.clone())?;
        if let Some(capacity) = order.capacity {
            space = space.with_capacity(capacity)?;
        }
        space.checked()?;
        Ok(space)
    }

    /// Starts a sweep, or continues a stopped one of the same order and settings. With a goal, recommends a configuration once all
    /// points are tried.
    pub(super) fn start_sweep(&mut self, order: SweepOrder, goal: Option<Goal>) -> Result<(), Failure> {
        let Some(request) = self.request().filter(|_| !self.worker.is_waiting(TaskKind::Load)) else {
            // The document names other sources than those that are loaded.
            return Ok(());
        };
        let is_running = self.is_sweep_running();
        let is_same = self.sweep.order.as_ref() == Some(&order) && !self.is_sweep_stale();
        if is_same && self.sweep.table.is_some() {
            self.sweep.goal = goal.or(self.sweep.goal.filter(|_| is_running));
            if !is_running {
                self.continue_sweep();
            }
            return Ok(());
        }
        let space = Self::space_of(&order, &request)?;
        let number = self.sweep.number + 1;
        self.sweep = Sweep {
            table: Some(SweepTable::new(space, number)),
            settings: Some(self.sweep_settings(&order)),
            order: Some(order),
            goal,
            number,
        };
        self.continue_sweep();
        Ok(())
    }

    pub(super) fn drop_sweep(&mut self) {
        self.discard(TaskKind::Sweep);
        self.sweep = Sweep {
            number: self.sweep.number,
            ..Sweep::default()
        };
    }

    /// Sends the next part: preparation, points, the recommendation or the smallest device.
    fn continue_sweep(&mut self) {
        let Some(table) = &self.sweep.table else { return };
        let Some(explorer) = table.explorer.clone() else {
            self.prepare_sweep();
            return;
        };
        let next = table.next();
        if !next.is_empty() {
            self.run_part(
                TaskKind::Sweep,
                move |progress| Ok(explorer.explore(&next, &mut |_| {}, progress)?),
                |session, points| session.change_sweep(|table| table.take(points)),
                Self::continue_sweep,
            );
        } else if let Some(goal) = self.sweep.goal {
            let points = table.points.clone();
            self.run_part(
                TaskKind::Sweep,
                move |progress| Ok(recommend_from(&explorer, goal, points, progress)?),
                |session, found| {
                    session.sweep.goal = None;
                    session.change_sweep(|table| table.recommendation = Some(Arc::new(found)));
                },
                Self::continue_sweep,
            );
        } else if table.smallest.is_none() && !table.is_unfinished() {
            let points = table.points.clone();
            self.run_part(
                TaskKind::Sweep,
                move |progress| Ok(smallest_device(&explorer, &points, progress)?),
                |session, found| session.change_sweep(|table| table.smallest = Some(found.map(Box::new))),
                Self::continue_sweep,
            );
        }
    }

    fn change_sweep(&mut self, change: impl FnOnce(&mut SweepTable)) {
        if let Some(table) = &mut self.sweep.table {
            change(table);
        }
    }

    /// Looks at the files that the space names, and orders its points so that those that share most follow each other.
    fn prepare_sweep(&mut self) {
        let Some((mut request, table)) = self.request().zip(self.sweep.table.as_ref()) else {
            return;
        };
        let space = table.space.clone();
        self.run_part(
            TaskKind::Sweep,
            move |_| {
                request.files = Arc::new(probe_sweep_files(&space));
                let all: Vec<u64> = (0..space.size()).collect();
                let explorer = Explorer::new(&request, space)?;
                let ordered = explorer.ordered(&all);
                Ok((Arc::new(explorer), ordered))
            },
            |session, (explorer, points)| session.change_sweep(|table| table.start(explorer, points)),
            Self::continue_sweep,
        );
    }

    /// Applies a configuration of what is shown. Assumed values that do not change stay assumed, and so does the schedule of what
    /// is not shown.
    pub(super) fn use_configuration(&mut self, configuration: Configuration) {
        let Configuration {
            options,
            environment,
            mut plan,
        } = configuration;
        plan.dims.retain(|name, values| !self.is_assumed(name, values));
        self.document.options = options;
        self.document.environment = environment;
        let own = &mut self.document.plan;
        own.iterations = plan.iterations;
        for (name, values) in plan.dims {
            let has_own_values = plan.entries.iter().any(|entry| entry.dims.contains_key(&name));
            if own.dims.get(&name) != Some(&values) || !has_own_values {
                own.clear_dim(&name);
            }
            own.dims.insert(name, values);
        }
    }
}
