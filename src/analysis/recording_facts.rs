//! The facts of a recording for people, a row each: the command `inspect` and the window show the same.

use indexmap::IndexMap;

use super::recording_figures::{Fragmentation, RecordingFigures};
use highwater_model::units::{Bytes, Nanos, Step, counted, grouped, percents};
use highwater_model::workload::{MarkKind, RecordedRange};

/// A row: what, its value, the exact value where it is rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFact {
    pub label: String,
    pub value: String,
    /// Empty where the value is exact.
    pub exact: String,
}

impl RecordingFigures {
    /// O(totals + settings).
    pub fn facts(&self) -> Vec<RecordedFact> {
        let mut facts = Facts(Vec::new());
        if !self.device.is_empty() {
            facts.plain("device", self.device.clone());
        }
        if self.is_host {
            facts.plain("memory", "pinned, of the host; not of a device".to_owned());
        }
        if let Some(memory) = self.device_memory {
            let bound = if memory.is_lower_bound { "at least " } else { "" };
            facts.row(
                "device memory",
                format!("{bound}{}", memory.bytes),
                memory.bytes.exact(),
            );
        }
        facts.plain("recorded by", self.recorder.clone());
        let is_moment = self.is_one_moment && self.older_blocks + self.regions > 0;
        let events = match self.steps {
            _ if is_moment => "none: the state at one moment".to_owned(),
            count => grouped(u64::from(count)),
        };
        facts.plain("events", events);
        if let Some(RecordedRange { first, end, of }) = self.range {
            let [first, last, of] = [first, end.saturating_sub(1), of].map(|event| grouped(u64::from(event)));
            facts.plain(
                "events of the file",
                format!("{first} to {last} of {of}; event 0 here is {first}"),
            );
        }
        match self.duration {
            _ if is_moment => {}
            // All events are at one time, or at times that are not stated.
            Some(Nanos(0)) => {}
            Some(duration) => facts.plain("duration", duration.to_string()),
            None => facts.plain("order", "that of the file; no times are used".to_owned()),
        }
        for (kind, count) in &self.marks {
            let label = match kind {
                MarkKind::OutOfMemory => "failed requests",
                MarkKind::Snapshot => "snapshots",
                MarkKind::Note => "notes",
            };
            facts.plain(label, grouped(*count));
        }
        facts.phases(self);
        if self.blocks + self.older_blocks > 0 {
            facts.blocks(self);
        }
        if self.regions > 0 {
            facts.reserved(self);
            facts.bytes("reserved at end", self.reserved_at_end);
            facts.plain("segments taken from the device", grouped(self.regions));
            facts.fragmentation(&self.fragmentation);
        }
        if self.ops > 0 {
            facts.plain("measured ops", grouped(self.ops));
        }
        for (kind, bytes, step) in &self.totals {
            facts.peak(&format!("peak {} that the file states", kind.name()), *bytes, *step);
        }
        for (key, value) in &self.settings {
            facts.plain(key, value.clone());
        }
        facts.0
    }
}

/// Names of annotations that are listed.
const MOST_PHASES: usize = 12;

/// A name without its number: `ProfilerStep#3` is one of `ProfilerStep#`.
fn unnumbered(name: &str) -> &str {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem.ends_with(['#', '_', ' ']) { stem } else { name }
}

struct Facts(Vec<RecordedFact>);

impl Facts {
    fn row(&mut self, label: &str, value: String, exact: String) {
        self.0.push(RecordedFact {
            label: label.to_owned(),
            value,
            exact,
        });
    }

    fn plain(&mut self, label: &str, value: String) {
        self.row(label, value, String::new());
    }

    fn bytes(&mut self, label: &str, bytes: Bytes) {
        self.row(label, bytes.to_string(), bytes.exact());
    }

    /// A peak with its event, where it has one.
    fn peak(&mut self, label: &str, bytes: Bytes, step: Option<Step>) {
        let text = step.map_or_else(|| bytes.to_string(), |step| format!("{bytes} at event {step}"));
        self.row(label, text, bytes.exact());
    }

    /// The peak of reserved bytes; without an event where the file lists a part of the segments.
    fn reserved(&mut self, figures: &RecordingFigures) {
        let (bytes, event) = figures.reserved;
        if bytes < figures.peak.0 {
            let text = format!("\u{2265}\u{a0}{}; the listed segments have {bytes}", figures.peak.0);
            return self.row("peak reserved", text, figures.peak.0.exact());
        }
        self.peak("peak reserved", bytes, event);
    }

    /// The share, and what of the reserved bytes was inactive at their peak.
    fn fragmentation(&mut self, fragmentation: &Fragmentation) {
        if let Some(share) = fragmentation.share() {
            self.plain("fragmentation", percents(share * 100.0, 1));
        }
        if let Some((event, sums)) = &fragmentation.at_peak {
            let bound = sums.at_most();
            let mut row = |label: &str, bytes: Bytes| {
                self.row(label, format!("{bound}{bytes} at event {event}"), bytes.exact());
            };
            row("inactive split at peak reserved", sums.inactive_split);
            row("largest free block at peak reserved", sums.largest_free);
        }
    }

    /// Annotated ranges by name, in the order of their first event.
    fn phases(&mut self, figures: &RecordingFigures) {
        let mut groups: IndexMap<&str, (u64, Step, Step)> = IndexMap::new();
        for (name, start, end) in &figures.phases {
            let group = groups.entry(unnumbered(name)).or_insert((0, *start, *end));
            group.0 += 1;
            group.2 = group.2.max(*end);
        }
        for (name, (count, start, end)) in groups.iter().take(MOST_PHASES) {
            let last = grouped(u64::from(end.0.saturating_sub(1)));
            let value = format!("{}, events {start} to {last}", counted(*count, "range"));
            self.plain(&format!("annotation {name}"), value);
        }
        if groups.len() > MOST_PHASES {
            let more = groups.len() - MOST_PHASES;
            self.plain("further annotations", counted(more as u64, "name"));
        }
        if figures.step_marks > 0 {
            self.plain("steps marked by annotations", grouped(figures.step_marks));
        }
    }

    /// Blocks, and apart from them those that predate the recording.
    fn blocks(&mut self, figures: &RecordingFigures) {
        let has_older = figures.older_blocks > 0;
        let begun = if has_older {
            "blocks allocated in trace"
        } else {
            "blocks"
        };
        self.plain(begun, grouped(figures.blocks));
        if has_older {
            let older = grouped(figures.older_blocks);
            self.row("blocks that predate the recording", older, figures.older_bytes.exact());
        }
        if figures.appeared_blocks > 0 {
            let count = grouped(figures.appeared_blocks);
            self.plain("blocks without a recorded allocation", count);
        }
        let live = figures.live_at_end.exact();
        self.row("blocks not freed in trace", grouped(figures.never_freed), live);
        self.peak("peak live", figures.peak.0, figures.peak.1);
        if has_older {
            let what = "peak live of blocks allocated in trace";
            self.peak(what, figures.peak_seen.0, figures.peak_seen.1);
        }
    }
}
