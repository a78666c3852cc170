//! The facts of a failed request for people, a row each: answers of the command line and the window show the same.

use super::{DeviceTotal, RecordedFailure};
use highwater_model::units::{Bytes, counted, grouped};

/// Frames of Python that a line names.
const MOST_FRAMES: usize = 6;

/// A row: what, its value, the exact value where it is rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureFact {
    pub label: &'static str,
    pub value: String,
    /// Empty where the value is exact.
    pub exact: String,
}

impl RecordedFailure {
    pub fn facts(&self, total: Option<DeviceTotal>) -> Vec<FailureFact> {
        let mut facts = Vec::new();
        let mut row = |label: &'static str, value: String, exact: String| {
            if !value.is_empty() {
                facts.push(FailureFact { label, value, exact });
            }
        };
        let words = |bytes: Option<Bytes>| bytes.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        let exact = |bytes: Option<Bytes>| bytes.map_or_else(String::new, Bytes::exact);
        row("requested", words(self.requested), exact(self.requested));
        row("call site", self.site.clone(), String::new());
        row("stack", self.stack_line(), String::new());
        row("free on the device", words(self.free), exact(self.free));
        row("reserved", words(self.reserved), exact(self.reserved));
        let sign = self.sums.map_or("", |sums| sums.at_most());
        let largest = self.sums.map(|sums| sums.largest_free);
        row(
            "largest free block",
            largest.map_or_else(|| "unknown".to_owned(), |bytes| format!("{sign}{bytes}")),
            largest.map_or_else(String::new, |bytes| format!("{sign}{}", bytes.exact())),
        );
        let (blocks, live) = self.live;
        row("live", format!("{live} in {}", counted(blocks, "block")), live.exact());
        row(
            "outside the allocator",
            self.outside(total).text().unwrap_or_default(),
            String::new(),
        );
        facts
    }

    /// `model.py:100 forward < train.py:30 main`, innermost first; empty without frames of Python.
    fn stack_line(&self) -> String {
        let frames = self.python.iter().filter_map(|position| self.frames.get(*position));
        let mut frames: Vec<&str> = frames.take(MOST_FRAMES).map(|frame| short(frame)).collect();
        let more = match self.python.len().saturating_sub(MOST_FRAMES) {
            0 => String::new(),
            left => format!("{} more", grouped(left as u64)),
        };
        if !more.is_empty() {
            frames.push(&more);
        }
        frames.join(" < ")
    }

    /// Whether a setting would have served it, and what would, a sentence each.
    pub fn answers(&self) -> Vec<String> {
        let Some(verdict) = &self.verdict else {
            return Vec::new();
        };
        let mut sentences = vec![verdict.sentence()];
        if self.settings.is_empty() {
            let less = self.less();
            let mut letters = less.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string());
            sentences.push(format!("{}{}.", first.unwrap_or_default(), letters.as_str()));
        }
        sentences.extend(self.settings.iter().map(|one| {
            let needs = one.needs_version.as_ref();
            let needs = needs.map_or_else(String::new, |version| format!(" (needs torch {version} or newer)"));
            format!("Set {}{needs}: {}.", one.text(), one.reason())
        }));
        sentences
    }
}

/// A frame without the folders of its file.
fn short(frame: &str) -> &str {
    let end = frame.find(' ').unwrap_or(frame.len());
    let start = frame[..end].rfind(['/', '\\']).map_or(0, |at| at + 1);
    &frame[start..]
}
