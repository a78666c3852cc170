//! The events of a log in order, and the subjects of their bytes.
//!
//! ```text
//! simulated   a list of events                       a list of subjects
//! recorded    which block begins or ends, by event   the blocks themselves: their steps, bytes and addresses
//! ```
//!
//! In: events one by one; of a recording, the region of each block as it begins, and which block ends. Out: the same by
//! number. A recording can have tens of millions of blocks, and a list of its events would be larger than the recording.

use std::sync::Arc;

use super::event::{Event, EventKind, RegionId, Subject, SubjectId, SubjectRow};
use super::recorded_log::EventSteps;
use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{RecordedBlock, Recording};

/// Events in chronological order.
#[derive(Clone, Debug)]
pub struct EventLog(Form);

#[derive(Clone, Debug)]
enum Form {
    Listed(Vec<Event>),
    Recorded(Box<RecordedEvents>),
}

impl EventLog {
    pub(crate) fn with_capacity(n_events: usize) -> Self {
        Self(Form::Listed(Vec::with_capacity(n_events)))
    }

    pub(crate) fn recorded(events: RecordedEvents) -> Self {
        Self(Form::Recorded(Box::new(events)))
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Listed(events) => events.len(),
            Form::Recorded(events) => events.rows.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `None` beyond the end. O(1); O(log blocks) for a block that is only stacked.
    #[inline]
    pub fn get(&self, position: usize) -> Option<Event> {
        match &self.0 {
            Form::Listed(events) => events.get(position).copied(),
            Form::Recorded(events) => events.get(position),
        }
    }

    pub fn last(&self) -> Option<Event> {
        self.get(self.len().checked_sub(1)?)
    }

    pub fn iter(&self) -> Events<'_> {
        self.from(0)
    }

    /// The events from a position on.
    pub fn from(&self, position: usize) -> Events<'_> {
        Events {
            log: self,
            next: position,
        }
    }

    /// The number of events at the start for which a condition holds, which it does for no other. O(log events).
    pub fn partition_point(&self, holds: impl Fn(&Event) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle).is_some_and(|event| holds(&event)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub fn push(&mut self, event: Event) {
        match &mut self.0 {
            Form::Listed(events) => events.push(event),
            Form::Recorded(events) => events.push(event),
        }
    }
}

impl Default for EventLog {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl PartialEq for EventLog {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl Eq for EventLog {}

impl FromIterator<Event> for EventLog {
    fn from_iter<T: IntoIterator<Item = Event>>(events: T) -> Self {
        Self(Form::Listed(events.into_iter().collect()))
    }
}

impl<'a> IntoIterator for &'a EventLog {
    type Item = Event;
    type IntoIter = Events<'a>;

    fn into_iter(self) -> Events<'a> {
        self.iter()
    }
}

/// Events of a log, in order.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    log: &'a EventLog,
    next: usize,
}

impl Iterator for Events<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        let event = self.log.get(self.next)?;
        self.next += 1;
        Some(event)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.log.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Events<'_> {}

/// What an event of a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Begin,
    End,
    Other,
}

/// Events that a recording's blocks tell, and others.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEvents {
    recording: Arc<Recording>,
    steps: EventSteps,
    /// Of events beyond the last.
    last_step: u32,
    /// Of the first block; the others follow.
    first_subject: SubjectId,
    kinds: Vec<RowKind>,
    /// The number of the block, or the position in `others`.
    rows: Vec<u32>,
    /// By block that has begun.
    regions: Vec<RegionId>,
    /// By region: the address of its first byte.
    origins: Vec<u64>,
    /// The number of a block without a place, and its offset in the stack; ascending.
    stacked: Vec<(u32, u64)>,
    others: Vec<Event>,
}

impl RecordedEvents {
    pub(crate) fn new(recording: &Arc<Recording>, steps: EventSteps, n_steps: u32, first_subject: SubjectId) -> Self {
        let n_blocks = recording.blocks.len();
        let n_freed = recording
            .blocks
            .iter()
            .filter(|block| block.end.0 < recording.n_steps)
            .count();
        let n_events = n_blocks + n_freed + 4 * recording.regions.len();
        Self {
            recording: Arc::clone(recording),
            steps,
            last_step: n_steps.saturating_sub(1),
            first_subject,
            kinds: Vec::with_capacity(n_events),
            rows: Vec::with_capacity(n_events),
            regions: Vec::with_capacity(n_blocks),
            origins: Vec::new(),
            stacked: Vec::new(),
            others: Vec::new(),
        }
    }

    /// The step of an event of the recording on the common axis.
    pub(crate) fn step(&self, event: Step) -> Step {
        Step(self.steps.get(event).unwrap_or(self.last_step))
    }

    /// The next block begins at its address in a region that starts at `origin`.
    pub(crate) fn begin(&mut self, region: RegionId, origin: u64) {
        let origins = &mut self.origins;
        if origins.len() <= region.0 as usize {
            origins.resize(region.0 as usize + 1, 0);
        }
        origins[region.0 as usize] = origin;
        self.add_begin(region);
    }

    /// The next block begins in the stack of blocks without a place.
    pub(crate) fn begin_stacked(&mut self, region: RegionId, offset: u64) {
        self.stacked.push((self.n_begun(), offset));
        self.add_begin(region);
    }

    fn n_begun(&self) -> u32 {
        u32::try_from(self.regions.len()).unwrap_or(u32::MAX)
    }

    fn add_begin(&mut self, region: RegionId) {
        self.add(RowKind::Begin, self.n_begun());
        self.regions.push(region);
    }

    /// A block ends; its offset where it is stacked.
    pub(crate) fn end(&mut self, block: u32) -> Option<u64> {
        self.add(RowKind::End, block);
        self.stacked_at(block)
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.add(RowKind::Other, u32::try_from(self.others.len()).unwrap_or(u32::MAX));
        self.others.push(event);
    }

    fn add(&mut self, kind: RowKind, row: u32) {
        self.kinds.push(kind);
        self.rows.push(row);
    }

    #[inline]
    fn get(&self, position: usize) -> Option<Event> {
        let row = *self.rows.get(position)?;
        match self.kinds[position] {
            RowKind::Begin => self.of_block(row, EventKind::Alloc, |block| block.birth),
            RowKind::End => self.of_block(row, EventKind::Free, |block| block.end),
            RowKind::Other => self.others.get(row as usize).copied(),
        }
    }

    #[inline]
    fn of_block(&self, number: u32, kind: EventKind, at: impl Fn(&RecordedBlock) -> Step) -> Option<Event> {
        let block = self.recording.blocks.get(number as usize)?;
        let region = *self.regions.get(number as usize)?;
        let placed = || {
            let origin = self.origins.get(region.0 as usize)?;
            Some(block.address?.get().wrapping_sub(*origin))
        };
        Some(Event {
            step: self.step(at(block)),
            kind,
            region,
            subject: SubjectId(self.first_subject.0.saturating_add(number)),
            offset: self.stacked_at(number).or_else(placed).unwrap_or(0),
            bytes: occupied(block),
        })
    }

    #[inline]
    fn stacked_at(&self, number: u32) -> Option<u64> {
        if self.stacked.is_empty() {
            return None;
        }
        let found = self.stacked.binary_search_by_key(&number, |(block, _)| *block);
        found.ok().map(|position| self.stacked[position].1)
    }
}

/// Bytes that a block occupies.
pub(crate) fn occupied(block: &RecordedBlock) -> Bytes {
    block.held.max(block.bytes)
}

/// The subjects of a log, by id.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    listed: Vec<SubjectRow>,
    /// Its blocks come after the others.
    recording: Option<Arc<Recording>>,
}

impl Subjects {
    pub(crate) fn with_capacity(n_subjects: usize) -> Self {
        Self {
            listed: Vec::with_capacity(n_subjects),
            recording: None,
        }
    }

    /// Adds the blocks of a recording, after which none may follow. The first of them.
    pub(crate) fn add_blocks(&mut self, recording: &Arc<Recording>) -> SubjectId {
        self.recording = Some(Arc::clone(recording));
        SubjectId(u32::try_from(self.listed.len()).unwrap_or(u32::MAX))
    }

    pub fn push(&mut self, row: SubjectRow) {
        self.listed.push(row);
    }

    /// All but the blocks of a recording, which come behind: block `n` is tensor `n` of run 0.
    pub fn listed(&self) -> &[SubjectRow] {
        &self.listed
    }

    /// The first block of a recording.
    pub fn first_block(&self) -> Option<SubjectRow> {
        self.get(SubjectId(u32::try_from(self.listed.len()).ok()?))
    }

    fn blocks(&self) -> &[RecordedBlock] {
        self.recording.as_deref().map_or(&[], |recording| &recording.blocks)
    }

    pub fn len(&self) -> usize {
        self.listed.len() + self.blocks().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, id: SubjectId) -> Option<SubjectRow> {
        let idx = id.0 as usize;
        if let Some(row) = self.listed.get(idx) {
            return Some(*row);
        }
        let number = idx - self.listed.len();
        let block = self.blocks().get(number)?;
        Some(SubjectRow {
            subject: Subject::Tensor {
                run: 0,
                tensor: TensorId(u32::try_from(number).ok()?),
                copy: 0,
            },
            requested: block.bytes,
        })
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SubjectRow> + '_ {
        let ids = 0..u32::try_from(self.len()).unwrap_or(u32::MAX);
        ids.filter_map(|id| self.get(SubjectId(id)))
    }
}

impl PartialEq for Subjects {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Subjects {}

impl FromIterator<SubjectRow> for Subjects {
    fn from_iter<T: IntoIterator<Item = SubjectRow>>(rows: T) -> Self {
        Self {
            listed: rows.into_iter().collect(),
            recording: None,
        }
    }
}
