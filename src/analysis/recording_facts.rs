//! The facts of a recording for people, a row each: the command `inspect` and the window show the same.

use super::recording_figures::RecordingFigures;
use highwater_model::units::{Bytes, Step, grouped};
use highwater_model::workload::MarkKind;

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
        facts.plain("recorded by", self.recorder.clone());
        let is_moment = self.is_moment();
        let events = match self.steps {
            _ if is_moment => "none: the state at one moment".to_owned(),
            count => grouped(u64::from(count)),
        };
        facts.plain("events", events);
        match self.duration {
            _ if is_moment => {}
            Some(duration) => facts.plain("duration", duration.to_string()),
            None => facts.plain("order", "that of the file; no times are used".to_owned()),
        }
        for (kind, count) in &self.marks {
            let label = match kind {
                MarkKind::OutOfMemory => "out of memory",
                MarkKind::Snapshot => "snapshots",
                MarkKind::Note => "notes",
            };
            facts.plain(label, grouped(*count));
        }
        if self.blocks + self.older_blocks > 0 {
            facts.blocks(self);
        }
        if self.regions > 0 {
            facts.peak("peak reserved", self.reserved.0, self.reserved.1);
            facts.bytes("reserved at end", self.reserved_at_end);
            facts.plain("segments taken from the device", grouped(self.regions));
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

    /// Whether no event was recorded: the only step is the state of the snapshot.
    fn is_moment(&self) -> bool {
        let begun = self.blocks + self.appeared_blocks + self.ops + self.older_freed;
        let found = self.older_blocks + self.regions;
        self.steps == 1 && self.duration.is_none() && begun == 0 && found > 0 && self.totals.is_empty()
    }
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
