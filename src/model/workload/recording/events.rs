//! Events of a recording with what they concern: a block, a range of a segment, a failed request.
//!
//! In: a recording and a range of its steps. Out: a row for each event. Where the recording states its events one by one
//! ([`EventLog`](super::EventLog)), they decide; else blocks, regions and marks tell what happened on a step, and steps on which
//! nothing did have no row.

use std::ops::Range;

use super::{
    CallSiteKind, EventAction, MarkKind, RecordedBlock, RecordedMark, RecordedName, RecordedRegion, Recording, StackIdx,
};
use crate::units::{Bytes, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    pub step: Step,
    pub action: EventAction,
    /// Of the block or the range.
    pub address: Option<u64>,
    /// Requested bytes of the block or the failed request, bytes of the range.
    pub bytes: Option<Bytes>,
    pub stream: Option<u64>,
    /// Of a range: the kind of its segment, with the private pool.
    pub segment: Option<RecordedName>,
    /// Where the event came from: of a free not where the block was allocated.
    pub stack: Option<StackIdx>,
    /// Position of the block.
    pub block: Option<u32>,
    /// Of a note its text.
    pub text: Option<RecordedName>,
}

impl RecordedEvent {
    const fn new(step: Step, action: EventAction, stack: Option<StackIdx>) -> Self {
        Self {
            step,
            action,
            address: None,
            bytes: None,
            stream: None,
            segment: None,
            stack,
            block: None,
            text: None,
        }
    }

    /// `segment_free 20.00 MiB at 0x7f00, by release (pool.py:9)`; of a free without a stack the name of its block.
    pub fn words(&self, recording: &Recording) -> String {
        let bytes = self.bytes.map_or_else(String::new, |bytes| format!(" {bytes}"));
        let at = self.address;
        let at = at.map_or_else(String::new, |address| format!(" at {address:#x}"));
        let by = match (self.call_site(recording), self.block_name(recording)) {
            ("", None | Some("")) => String::new(),
            ("", Some(block)) => format!(", of {block}"),
            (site, _) => format!(", by {site}"),
        };
        let action = self.action.name();
        match self.text.map_or("", |text| recording.text(text)) {
            "" => format!("{action}{bytes}{at}{by}"),
            text => format!("{action}{bytes}{at}{by}: {text}"),
        }
    }

    /// Empty where its stack is not stated, or names nothing.
    pub fn call_site<'a>(&self, recording: &'a Recording) -> &'a str {
        let sites = &recording.call_sites;
        let site = self.stack.and_then(|stack| sites.of_stack(stack));
        let is_named = |site: &u32| sites.get(*site).is_some_and(|site| site.kind != CallSiteKind::Unknown);
        site.filter(is_named).map_or("", |site| sites.text(site))
    }

    /// Of a free: where its block was allocated.
    pub fn block_name<'a>(&self, recording: &'a Recording) -> Option<&'a str> {
        let block = recording.blocks.get(self.block? as usize)?;
        Some(recording.block_name(block))
    }

    fn set_block(&mut self, position: u32, block: &RecordedBlock) {
        self.address = block.address.map(super::BlockAddress::get);
        self.bytes = Some(block.bytes);
        self.stream = block.stated_stream();
        self.block = Some(position);
        if self.action == EventAction::Alloc {
            self.stack = block.stack;
        }
    }

    /// An event may map or unmap several pieces.
    fn add_region(&mut self, region: &RecordedRegion) {
        let address = self.address.unwrap_or(region.address);
        self.address = Some(address.min(region.address));
        let bytes = self.bytes.unwrap_or_default();
        self.bytes = Some(Bytes(bytes.get().saturating_add(region.bytes.get())));
        self.stream = Some(region.stream);
        self.segment = Some(region.kind);
    }
}

struct Collector<'a> {
    recording: &'a Recording,
    range: Range<u32>,
    /// Where the recording states its events: by step of the range.
    rows: Vec<RecordedEvent>,
}

impl Collector<'_> {
    /// The row of a step for an event of one of the actions; where the recording does not state its events, a new one of the
    /// first.
    fn row(&mut self, step: Step, actions: &[EventAction]) -> Option<&mut RecordedEvent> {
        if !self.range.contains(&step.0) {
            return None;
        }
        if self.recording.events.is_empty() {
            self.rows.push(RecordedEvent::new(step, *actions.first()?, None));
            return self.rows.last_mut();
        }
        let row = self.rows.get_mut((step.0 - self.range.start) as usize)?;
        actions.contains(&row.action).then_some(row)
    }

    /// The event that ends something: what the very first one ends is held for a step, as everything is.
    fn end_of(&self, end: Step, is_older: bool, address: Option<u64>) -> Step {
        let first = self.recording.ended_at_first.map(|first| first.address);
        let is_first = is_older && end == Step(1) && first.is_some() && first == address;
        if is_first { Step(0) } else { end }
    }

    fn add_block(&mut self, position: u32, block: &RecordedBlock) {
        use EventAction::{Alloc, Free, FreeCompleted, FreeRequested};
        if !block.is_older
            && let Some(row) = self.row(block.birth, &[Alloc])
        {
            row.set_block(position, block);
        }
        if !block.is_freed {
            return;
        }
        let address = block.address.map(super::BlockAddress::get);
        // The first event may but request the free.
        let is_requested = self.recording.events.get(Step(0)).map(|(action, _)| action) == Some(FreeRequested);
        let freed_at = self.end_of(block.freed_at, block.is_older, address);
        let end = self.end_of(block.end, block.is_older && !is_requested, address);
        let both = [
            (freed_at, &[FreeRequested, FreeCompleted][..]),
            (end, &[FreeCompleted, FreeRequested]),
        ];
        let one = [(end, &[Free, FreeCompleted, FreeRequested][..])];
        let ends = if block.freed_at < block.end { &both[..] } else { &one };
        for (end, actions) in ends {
            if let Some(row) = self.row(*end, actions)
                && row.block.is_none()
            {
                row.set_block(position, block);
            }
        }
    }

    fn add_region(&mut self, region: &RecordedRegion) {
        use EventAction::{SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
        if !region.is_older
            && let Some(row) = self.row(region.birth, &[SegmentAlloc, SegmentMap])
        {
            row.add_region(region);
        }
        if region.end.0 >= self.recording.n_steps {
            return;
        }
        let end = self.end_of(region.end, region.is_older, Some(region.address));
        if let Some(row) = self.row(end, &[SegmentFree, SegmentUnmap]) {
            row.add_region(region);
        }
    }

    fn add_mark(&mut self, mark: &RecordedMark) {
        use EventAction::{Other, OutOfMemory, Snapshot};
        let action = match mark.kind {
            MarkKind::OutOfMemory => OutOfMemory,
            MarkKind::Snapshot => Snapshot,
            MarkKind::Note => Other,
        };
        let is_empty = self.recording.text(mark.text).is_empty();
        let Some(row) = self.row(mark.step, &[action]) else {
            return;
        };
        row.text = (!is_empty).then_some(mark.text);
        row.bytes = Some(mark.bytes).filter(|bytes| *bytes > Bytes::ZERO);
        if let Some(failed) = mark.failed {
            row.stream = Some(failed.stream);
            row.stack = row.stack.or(failed.stack);
        }
    }
}

impl Recording {
    /// The events of a range of steps, in order. O(range + blocks + regions + marks).
    pub fn events_in(&self, range: Range<u32>) -> Vec<RecordedEvent> {
        let range = range.start..range.end.min(self.n_steps);
        let stated = range.clone().filter_map(|step| {
            let (action, stack) = self.events.get(Step(step))?;
            Some(RecordedEvent::new(Step(step), action, stack))
        });
        let mut found = Collector {
            recording: self,
            rows: stated.collect(),
            range: range.clone(),
        };
        for region in &self.regions {
            found.add_region(region);
        }
        // Blocks are sorted by birth.
        let n_begun = self.blocks.partition_point(|block| block.birth.0 < range.end);
        for (position, block) in (0..).zip(&self.blocks[..n_begun]) {
            if block.birth.0 >= range.start || block.end.0 >= range.start {
                found.add_block(position, block);
            }
        }
        for mark in self.marks.iter().filter(|mark| range.contains(&mark.step.0)) {
            found.add_mark(mark);
        }
        found.rows.sort_by_key(|row| row.step);
        let first = found
            .rows
            .first_mut()
            .filter(|row| row.step == Step(0) && row.address.is_none());
        if let Some((row, ended)) = first.zip(self.ended_at_first) {
            (row.address, row.bytes, row.stream) = (Some(ended.address), Some(ended.bytes), Some(ended.stream));
        }
        found.rows
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EndedAtFirst, EventLog, RecordedNames};
    use super::*;
    use crate::workload::BlockAddress;

    fn recording(has_log: bool) -> Recording {
        let mut names = RecordedNames::default();
        let kind = names.intern("large");
        let mut block = |birth: u32, freed_at: u32, end: u32, address: u64| RecordedBlock {
            freed_at: Step(freed_at),
            address: BlockAddress::new(address),
            is_freed: end < 9,
            is_older: address == 0x10,
            stack: StackIdx::new(1),
            ..RecordedBlock::new(names.intern("b"), Step(birth), Step(end), Bytes(address))
        };
        let blocks = vec![block(0, 1, 1, 0x10), block(2, 3, 5, 0x20), block(4, 9, 9, 0x40)];
        let region = RecordedRegion {
            address: 0x100,
            bytes: Bytes(64),
            birth: Step(1),
            end: Step(6),
            stream: 7,
            kind,
            is_older: false,
        };
        let mut events = EventLog::default();
        if has_log {
            use EventAction::{Alloc, FreeCompleted, FreeRequested, Other, SegmentFree, SegmentMap};
            for action in [
                FreeCompleted,
                SegmentMap,
                Alloc,
                FreeRequested,
                Alloc,
                FreeCompleted,
                SegmentFree,
                Other,
                Other,
            ] {
                events.push(action, StackIdx::new(5).filter(|_| action == SegmentFree));
            }
        }
        Recording {
            n_steps: 9,
            ended_at_first: has_log.then_some(EndedAtFirst {
                address: 0x30,
                bytes: Bytes(16),
                stream: 0,
            }),
            blocks,
            regions: vec![region],
            names: names.finish(),
            events,
            ..Recording::default()
        }
    }

    #[test]
    fn events_name_what_they_concern() {
        let text = |event: &RecordedEvent| {
            let bytes = event
                .bytes
                .map_or_else(String::new, |bytes| format!(" {}", bytes.get()));
            let stack = event
                .stack
                .map_or_else(String::new, |stack| format!(" at {}", stack.idx()));
            format!("{} {}{bytes}{stack}", event.step.0, event.action.name())
        };
        let texts = |has_log, range| {
            let events = recording(has_log).events_in(range);
            events.iter().map(text).collect::<Vec<String>>()
        };
        let stated = [
            "0 free_completed 16",
            "1 segment_map 64",
            "2 alloc 32 at 1",
            "3 free_requested 32",
            "4 alloc 64 at 1",
            "5 free_completed 32",
            "6 segment_free 64 at 5",
            "7 other",
            "8 other",
        ];
        assert_eq!(texts(true, 0..99), stated);
        for start in 0..9 {
            assert_eq!(texts(true, start..7), stated[start as usize..7.max(start as usize)]);
        }
        // Without a log the very first event is unknown, and steps without an event have no row.
        assert_eq!(
            texts(false, 0..9),
            [
                "1 segment_alloc 64",
                "1 free 16",
                "2 alloc 32 at 1",
                "3 free_requested 32",
                "4 alloc 64 at 1",
                "5 free_completed 32",
                "6 segment_free 64",
            ]
        );
    }
}
