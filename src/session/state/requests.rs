//! The requests of panes about the answer on the screen, one kind each.

use std::sync::Arc;

use super::super::name_reuse::{NamesReport, NamesTask, names_report};
use super::super::task::TaskKind;
use super::Session;
use super::recorded_at::RecordedAt;
use super::request::{Request, Requested, Task, Work};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::graph::Bindings;
use highwater_model::units::Step;
use highwater_model::workload::GraphIdx;
use highwater_options::lower;
use highwater_sim::{DevicePicture, picture};
use highwater_timeline::{
    Areas, FlameGraph, FlameRequest, LaneChanges, LaneDifference, LaneRows, PeakReport, PeakRequest, RowOrder,
    TableKind, TableRows, TableSpec, TableSubject,
};

/// The dimension whose value replaces -1 in shapes.
const BATCH: &str = "batch";

/// The last request of each kind.
#[derive(Debug, Default)]
pub(super) struct Requests {
    device: Request<(LaneId, Step), DeviceAt>,
    peak: Request<PeakRequest, Arc<PeakReport>>,
    flame: Request<FlameRequest, Arc<FlameGraph>>,
    table: Request<TableKey, Arc<TableRows>>,
    difference: Request<(LaneId, LaneId), LaneDifference>,
    changes: Request<(LaneId, LaneId), LaneChanges>,
    content: Request<ContentOrder, Content>,
    names: Request<GraphIdx, Arc<NamesReport>>,
}

/// The device at a step of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAt {
    pub lane: LaneId,
    pub picture: DevicePicture,
    /// `None` of a simulated lane, and before a recording begins.
    pub recorded: Option<RecordedAt>,
}

/// The content of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentOrder {
    /// Memory maps, which are part of every answer.
    #[default]
    Maps,
    /// The bytes of every group as areas.
    Areas,
    /// The rows of a lane.
    Lifetimes {
        /// The lane, by position.
        lane: usize,
        by: RowOrder,
    },
}

#[derive(Debug)]
pub(super) enum Content {
    Areas(Areas),
    Lifetimes(Arc<LaneRows>),
}

/// A table, and for the table of problems the revision of these.
#[derive(Clone, Debug, PartialEq)]
pub struct TableKey {
    spec: TableSpec,
    problems: Option<u64>,
}

pub(super) enum DeviceTask {}
pub(super) enum PeakTask {}
pub(super) enum FlameTask {}
pub(super) enum TableTask {}
/// The first lane less the second.
pub(super) enum DifferenceTask {}
/// The changes from the peak of the first lane to that of the second.
pub(super) enum ChangesTask {}
pub(super) enum ContentTask {}

impl Task for DeviceTask {
    type Key = (LaneId, Step);
    type Output = DeviceAt;

    const KIND: TaskKind = TaskKind::Device;

    fn request(requests: &mut Requests) -> &mut Request<Self::Key, DeviceAt> {
        &mut requests.device
    }

    fn work(session: &Session, (id, step): &Self::Key) -> Option<Work<DeviceAt>> {
        let comparison = session.comparison()?;
        let (lane, id, step) = (comparison.position(*id)?, *id, *step);
        // The pools of a lane are the same at every step.
        let known = session.device_picture().current().filter(|known| known.lane == id);
        let pools = known.and_then(|known| Some(Arc::clone(&known.recorded.as_ref()?.pools)));
        Some(Box::new(move |_| {
            Ok(Some(DeviceAt {
                lane: id,
                picture: picture(&comparison.lanes[lane].simulation, step),
                recorded: RecordedAt::new(&comparison, (lane, step), pools),
            }))
        }))
    }

    fn waits(_: &Self::Key, _: &Self::Key) -> bool {
        true
    }
}

impl Task for PeakTask {
    type Key = PeakRequest;
    type Output = Arc<PeakReport>;

    const KIND: TaskKind = TaskKind::Peak;

    fn request(requests: &mut Requests) -> &mut Request<PeakRequest, Self::Output> {
        &mut requests.peak
    }

    fn work(session: &Session, ask: &PeakRequest) -> Option<Work<Self::Output>> {
        let (comparison, ask) = (session.comparison()?, *ask);
        Some(Box::new(move |progress| {
            Ok(PeakReport::checked(&comparison, ask, progress)?.map(Arc::new))
        }))
    }

    fn waits(_: &PeakRequest, _: &PeakRequest) -> bool {
        true
    }
}

impl Task for FlameTask {
    type Key = FlameRequest;
    type Output = Arc<FlameGraph>;

    const KIND: TaskKind = TaskKind::Flame;

    fn request(requests: &mut Requests) -> &mut Request<FlameRequest, Self::Output> {
        &mut requests.flame
    }

    fn work(session: &Session, ask: &FlameRequest) -> Option<Work<Self::Output>> {
        let (comparison, ask) = (session.comparison()?, *ask);
        Some(Box::new(move |_| Ok(FlameGraph::new(&comparison, ask).map(Arc::new))))
    }

    fn waits(_: &FlameRequest, _: &FlameRequest) -> bool {
        true
    }
}

impl Task for TableTask {
    type Key = TableKey;
    type Output = Arc<TableRows>;

    const KIND: TaskKind = TaskKind::Table;

    fn request(requests: &mut Requests) -> &mut Request<TableKey, Self::Output> {
        &mut requests.table
    }

    fn work(session: &Session, key: &TableKey) -> Option<Work<Self::Output>> {
        let (comparison, timeline) = session.answers.pair().cloned()?;
        let subject = TableSubject {
            comparison,
            timeline,
            problems: Arc::clone(session.problem_lines()),
        };
        let spec = key.spec.clone();
        Some(Box::new(move |progress| {
            Ok(Some(Arc::new(TableRows::new(spec, subject, progress)?)))
        }))
    }

    /// A table that differs by the step under the pointer alone waits for the running one.
    fn waits(running: &TableKey, wanted: &TableKey) -> bool {
        wanted.spec.differs_by_step(&running.spec)
    }
}

impl Task for DifferenceTask {
    type Key = (LaneId, LaneId);
    type Output = LaneDifference;

    const KIND: TaskKind = TaskKind::Difference;

    fn request(requests: &mut Requests) -> &mut Request<Self::Key, LaneDifference> {
        &mut requests.difference
    }

    fn work(session: &Session, (first, second): &Self::Key) -> Option<Work<LaneDifference>> {
        let comparison = session.comparison()?;
        let (first, second) = (comparison.position(*first)?, comparison.position(*second)?);
        Some(Box::new(move |_| {
            let lanes = &comparison.lanes;
            Ok(Some(LaneDifference::new(&lanes[first], &lanes[second])))
        }))
    }
}

impl Task for ChangesTask {
    type Key = (LaneId, LaneId);
    type Output = LaneChanges;

    const KIND: TaskKind = TaskKind::LaneChanges;

    fn request(requests: &mut Requests) -> &mut Request<Self::Key, LaneChanges> {
        &mut requests.changes
    }

    fn work(session: &Session, lanes: &Self::Key) -> Option<Work<LaneChanges>> {
        let (comparison, lanes) = (session.comparison()?, *lanes);
        Some(Box::new(move |_| Ok(LaneChanges::new(&comparison, lanes))))
    }
}

impl Task for ContentTask {
    type Key = ContentOrder;
    type Output = Content;

    const KIND: TaskKind = TaskKind::Content;

    fn request(requests: &mut Requests) -> &mut Request<ContentOrder, Content> {
        &mut requests.content
    }

    fn work(session: &Session, order: &ContentOrder) -> Option<Work<Content>> {
        let (comparison, timeline) = session.answers.pair().cloned()?;
        match *order {
            ContentOrder::Maps => None,
            // Colours that are on their way will ask again.
            ContentOrder::Areas if !session.knows_look() => None,
            ContentOrder::Areas => {
                let look = session.look();
                Some(Box::new(move |_| {
                    Ok(Some(Content::Areas(Areas::new(&timeline, &look))))
                }))
            }
            ContentOrder::Lifetimes { lane, by } => Some(Box::new(move |_| {
                let rows = LaneRows::new(&comparison, &timeline, lane, by);
                Ok(Some(Content::Lifetimes(Arc::new(rows))))
            })),
        }
    }
}

impl Task for NamesTask {
    type Key = GraphIdx;
    type Output = Arc<NamesReport>;

    const KIND: TaskKind = TaskKind::NameReuse;

    fn request(requests: &mut Requests) -> &mut Request<GraphIdx, Self::Output> {
        &mut requests.names
    }

    fn work(session: &Session, graph: &GraphIdx) -> Option<Work<Self::Output>> {
        let comparison = session.comparison()?;
        let document = &session.document;
        let lowered = lower(
            &document.options,
            &document.environment,
            &document.device(),
            &**session.judged.files(),
        );
        let dims = session.scheduled().dims.iter();
        let values = dims.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
        let bindings: Bindings = values.collect();
        let task = Self {
            comparison,
            graph: *graph,
            batch: bindings.get(BATCH).copied().unwrap_or(1),
            bindings,
            request: lowered.name_reuse,
        };
        Some(Box::new(move |progress| {
            Ok(names_report(&task, progress)?.map(Arc::new))
        }))
    }
}

impl Session {
    fn comparison(&self) -> Option<Arc<Comparison>> {
        self.answers.comparison().cloned()
    }

    /// Pictures of the device at a step of a lane.
    pub fn device_picture(&self) -> Requested<'_, (LaneId, Step), DeviceAt> {
        self.requested(&self.requests.device)
    }

    /// Reports that explain a step of a lane; none where there is nothing to explain.
    pub fn peak_report(&self) -> Requested<'_, PeakRequest, Arc<PeakReport>> {
        self.requested(&self.requests.peak)
    }

    /// Flame graphs of a lane; none where there is no such step.
    pub fn flame_graph(&self) -> Requested<'_, FlameRequest, Arc<FlameGraph>> {
        self.requested(&self.requests.flame)
    }

    /// Tables: one is shown at a time, and stays until the next is known.
    pub fn table(&self) -> Requested<'_, TableKey, Arc<TableRows>> {
        self.requested(&self.requests.table)
    }

    /// The key of a table of the problems on the screen.
    pub fn table_key(&self, spec: TableSpec) -> TableKey {
        let is_about_problems = spec.kind == TableKind::Problems;
        TableKey {
            spec,
            problems: is_about_problems.then(|| self.problems_revision()),
        }
    }

    /// Changes from the peak of one lane to that of another.
    pub fn lane_changes(&self) -> Requested<'_, (LaneId, LaneId), LaneChanges> {
        self.requested(&self.requests.changes)
    }

    /// Name reuse with its log in a graph or program.
    pub fn name_reuse(&self) -> Requested<'_, GraphIdx, Arc<NamesReport>> {
        self.requested(&self.requests.names)
    }

    /// The first lane less the second: of the last answer until that of a newer one is known. Its key says which lanes are wanted;
    /// lanes that the answer lacks may come back with another one.
    pub fn difference(&self) -> Requested<'_, (LaneId, LaneId), LaneDifference> {
        self.requested(&self.requests.difference)
    }

    /// The content of lanes.
    pub fn content_order(&self) -> ContentOrder {
        let key = self.requested(&self.requests.content).key();
        key.copied().unwrap_or_default()
    }

    /// The areas of the answer on the screen; `None` while unknown or not shown.
    pub fn areas(&self) -> Option<&Areas> {
        match self.requested(&self.requests.content).current()? {
            Content::Areas(areas) => Some(areas),
            Content::Lifetimes(_) => None,
        }
    }

    /// The rows of a lane of the answer on the screen; `None` while unknown or not shown.
    pub fn lifetimes(&self) -> Option<&Arc<LaneRows>> {
        match self.requested(&self.requests.content).current()? {
            Content::Lifetimes(rows) => Some(rows),
            Content::Areas(_) => None,
        }
    }

    /// Chooses the content of lanes.
    pub(super) fn show_content(&mut self, order: ContentOrder) {
        if self.content_order() != order {
            self.ask::<ContentTask>(order);
        }
        if order == ContentOrder::Maps {
            self.drop_rows_picture();
        }
    }

    /// Areas have the colours of blocks.
    pub(super) fn look_changed(&mut self) {
        if self.content_order() == ContentOrder::Areas {
            self.ask_again::<ContentTask>();
        }
    }
}
