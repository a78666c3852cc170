//! Events of a recorded lane in order: action, address, bytes, stream, pool, and where each came from.

use serde::Serialize;

use super::answer::{Answer, Page, diagnostics_blocks, lines_blocks};
use super::blocks::paragraph;
use super::json_parts::diagnostics_json;
use super::record::{Record, Rows, Value};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Step, counted};
use highwater_model::workload::{RecordedEvent, RecordedName, Recording, Segments};
use highwater_timeline::CallStack;

/// Between the frames of a stack in a cell.
const FRAMES: &str = " | ";

/// Events of a lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct EventsAnswer<'a> {
    pub comparison: &'a Comparison,
    /// By position.
    pub lane: usize,
    pub recording: &'a Recording,
    pub events: &'a [RecordedEvent],
    /// The number of listed events.
    pub most: usize,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

fn frames(recording: &Recording, event: &RecordedEvent) -> Vec<String> {
    let stack = event.stack.and_then(|stack| CallStack::of(recording, stack));
    let frames = stack.unwrap_or_default().frames;
    frames.iter().map(ToString::to_string).collect()
}

/// The kind of the segment of an event, or of its block.
fn kind(recording: &Recording, segments: &Segments, event: &RecordedEvent) -> Option<RecordedName> {
    let of_block = || segments.of(recording.blocks.get(event.block? as usize)?);
    event.segment.or_else(|| Some(of_block()?.kind))
}

/// The number of an event in its file, of which a range may be read.
fn in_file(recording: &Recording, event: &RecordedEvent) -> Step {
    let range = recording.range;
    range.map_or(event.step, |range| Step(range.in_file(event.step.0)))
}

/// The fields of an event, for programs.
pub(super) fn event_record<'a>(recording: &'a Recording, segments: &Segments, event: &RecordedEvent) -> Record<'a> {
    let kind = kind(recording, segments, event).map(|kind| recording.segment_kind(kind));
    Record::new()
        .key("event", event.step)
        .key("file_event", in_file(recording, event))
        .key("time_ns", recording.times.get(event.step.idx()))
        .key("action", event.action.name())
        .key("address", event.address.map(|address| format!("{address:#x}")))
        .key("bytes", event.bytes)
        .key("stream", event.stream)
        .key("segment_kind", kind.map(|(kind, _)| kind))
        .key("private_pool", kind.and_then(|(_, pool)| pool))
        .key("call_site", event.call_site(recording))
        // Of a free: where its block was allocated.
        .key("block", event.block_name(recording))
        .key("text", event.text.map(|text| recording.text(text)))
}

impl EventsAnswer<'_> {
    fn listed(&self) -> &[RecordedEvent] {
        &self.events[..self.events.len().min(self.most)]
    }
}

impl<'a> EventsAnswer<'a> {
    fn rows(&self) -> Rows<'a> {
        let (answer, segments) = (*self, Segments::new(self.recording));
        let events = self.events;
        Rows::indexed(events.len(), move |position| {
            let (recording, event) = (answer.recording, &events[position]);
            event_record(recording, &segments, event).key("stack", frames(recording, event).join(FRAMES))
        })
    }

    /// For people.
    fn table(&self) -> Rows<'a> {
        let (answer, segments) = (*self, Segments::new(self.recording));
        let events = self.events;
        Rows::indexed(events.len(), move |position| {
            let (recording, event) = (answer.recording, &events[position]);
            let kind = kind(recording, &segments, event).map_or("", |kind| recording.text(kind));
            let by = event.call_site(recording);
            let of = event.block_name(recording).unwrap_or_default();
            let what = match event.text.map_or("", |text| recording.text(text)) {
                "" if of == by => String::new(),
                "" => of.to_owned(),
                text => text.to_owned(),
            };
            let address = event
                .address
                .map_or_else(String::new, |address| format!("{address:#x}"));
            let stream = event.stream.map_or_else(String::new, |stream| stream.to_string());
            let bytes = event.bytes.map_or_else(|| Value::from(""), Value::from);
            let head = Record::new().shown(">event", event.step.0.to_string());
            let head = match recording.range {
                Some(_) => head.shown(">in the file", in_file(recording, event).to_string()),
                None => head,
            };
            head.shown("action", event.action.name())
                .shown(">bytes", bytes)
                .shown("address", address)
                .shown(">stream", stream)
                .shown("segment", kind)
                .shown("by", by)
                .shown("block of", what)
        })
        .captioned("Events", "")
    }
}

impl Answer for EventsAnswer<'_> {
    fn page(&self) -> Page {
        let lane = self.comparison.title_of(self.lane);
        let name = &self.comparison.workload.name;
        let title = format!("{name}, {lane}: {}", counted(self.events.len() as u64, "event"));
        let mut blocks = vec![paragraph(title)];
        blocks.extend(self.table().blocks(self.most));
        // The stack of one event is what is asked for.
        if let [event] = self.events {
            blocks.extend(lines_blocks(frames(self.recording, event)));
        }
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let segments = Segments::new(self.recording);
        let events = self.listed().iter().map(|event| {
            let stack = frames(self.recording, event);
            event_record(self.recording, &segments, event)
                .key("stack", serde_json::json!(stack))
                .to_json()
        });
        Record::new()
            .key("lane", self.comparison.title_of(self.lane))
            .key("axis", self.comparison.axis_word())
            .key("events_total", self.events.len())
            .key("events", serde_json::Value::Array(events.collect()))
            .key("diagnostics", diagnostics_json(self.import))
    }

    fn csv(&self) -> Option<String> {
        let header =
            "event,file_event,time_ns,action,address,bytes,stream,segment_kind,private_pool,call_site,block,text,stack";
        Some(self.rows().first(self.most).csv(header))
    }
}
