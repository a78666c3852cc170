//! The sweep over configurations, and its recommendation.

use std::sync::Arc;

use super::super::sweep::{SweepOrder, SweepTable, probe_sweep_files};
use super::super::task::{Failure, TaskKind};
use super::Session;
use super::swept::{Change, Part, Settings, Sweep, Swept};
use highwater_analysis::Configuration;
use highwater_analysis::sweep::{AxisOf, Explorer, Goal, Space, recommend_from, smallest_device};
use highwater_options::keys;

impl Swept for SweepTable {
    type Order = SweepOrder;

    const KIND: TaskKind = TaskKind::Sweep;

    fn sweep(session: &mut Session) -> &mut Sweep<Self> {
        &mut session.sweep
    }

    /// The document without settings that do not affect the points: those of the axes, and of lanes. The sweep looks at
    /// files itself.
    fn settings(session: &Session, order: &SweepOrder) -> Option<Settings> {
        let mut settings = session.document.without_lanes();
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
        Some((settings, Arc::default()))
    }

    /// The space of the order over the current settings.
    fn new(session: &Session, order: &SweepOrder) -> Result<Option<Self>, Failure> {
        let Some(request) = session.request() else {
            return Ok(None);
        };
        let mut space = Space::new(request.configuration(), order.axes.clone())?;
        if let Some(capacity) = order.capacity {
            space = space.with_capacity(capacity)?;
        }
        space.checked()?;
        Ok(Some(Self::new(space, session.sweep.number + 1)))
    }

    /// Preparation, points, then the recommendation or the smallest device.
    fn next(session: &Session) -> Option<Part> {
        let table = session.sweep.table.as_ref()?;
        let Some(explorer) = table.explorer.clone() else {
            return prepare(session, table.space.clone());
        };
        let next = table.next();
        if !next.is_empty() {
            return Some(Box::new(move |_, progress| {
                let points = explorer.explore(&next, &mut |_| {}, progress)?;
                Ok(change(|table| table.take(points)))
            }));
        }
        let points = table.points.clone();
        if let Some(goal) = table.goal {
            return Some(Box::new(move |_, progress| {
                let found = recommend_from(&explorer, goal, points, progress)?;
                Ok(change(|table| {
                    table.goal = None;
                    table.recommendation = Some(Arc::new(found));
                }))
            }));
        }
        if table.smallest.is_some() || table.is_unfinished() {
            return None;
        }
        Some(Box::new(move |_, progress| {
            let found = smallest_device(&explorer, &points, progress)?;
            Ok(change(|table| table.smallest = Some(found.map(Box::new))))
        }))
    }
}

fn change(change: impl FnOnce(&mut SweepTable) + Send + 'static) -> Change {
    Box::new(|session| session.sweep.change(change))
}

/// Looks at the files that the space names, and orders its points so that those that share most follow each other.
fn prepare(session: &Session, space: Space) -> Option<Part> {
    let mut request = session.request()?;
    Some(Box::new(move |_, _| {
        request.files = Arc::new(probe_sweep_files(&space));
        let all: Vec<u64> = (0..space.size()).collect();
        let explorer = Explorer::new(&request, space)?;
        let ordered = explorer.ordered(&all);
        Ok(change(|table| table.start(Arc::new(explorer), ordered)))
    }))
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
        self.is_sweep_running() && self.sweep().is_some_and(|table| table.goal.is_some())
    }

    /// Whether the sweep was made with other settings than those of the document, besides its axes.
    pub fn is_sweep_stale(&self) -> bool {
        self.sweep.is_stale(self)
    }

    /// Starts or continues a sweep; with a goal, recommends a configuration once all points are tried.
    pub(super) fn start_sweep(&mut self, order: SweepOrder, goal: Option<Goal>) -> Result<(), Failure> {
        let has_axis = |dim: &str| {
            order
                .axes
                .iter()
                .any(|axis| matches!(&axis.of, AxisOf::Dim(name) if name == dim))
        };
        let assumed: Vec<&str> = self.assumed_dims().iter().map(String::as_str).collect();
        let open: Vec<&str> = assumed.into_iter().filter(|dim| !has_axis(dim)).collect();
        if goal.is_some() && !open.is_empty() {
            return Err(Failure(format!(
                "nothing is recommended while a dimension has no value: set {} under Session, or vary it here",
                open.join(", ")
            )));
        }
        let is_running = self.is_sweep_running();
        self.start_with::<SweepTable>(order, |table| {
            // A goal that waits for the running points stays.
            table.goal = goal.or(table.goal.filter(|_| is_running));
        })
    }

    /// Applies a configuration of what is shown. Assumed values that do not change stay assumed, and so does the schedule of what
    /// is not shown.
    pub(super) fn use_configuration(&mut self, configuration: Configuration) {
        let Configuration {
            options,
            environment,
            mut plan,
        } = configuration;
        plan.dims.retain(|name, values| !self.schedule.is_assumed(name, values));
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
