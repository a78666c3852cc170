//! Stacks of a recording.
//!
//! In: lists of frames, which many events share. Out: each distinct stack and line once. What was being compiled and the
//! user's notes become the outermost lines of a stack. A block without a stack is called after the user's note, if any.
//! Invariants: texts are cut, and all stacks together have at most as many lines as a budget allows, so that shared lists
//! cost no more than the file.

use std::collections::BTreeMap;

use super::rows::{Frame, NONE};
use super::snapshot::cut;
use super::value::{DictContent, Heap, Kind};
use highwater_model::workload::{COMPILE_CONTEXT, RecordedName, RecordedStacks, StackIdx, USER_METADATA};

/// Lines of one stack that are kept.
pub(super) const MOST_LINES: usize = 4096;

/// What a block without a call stack is called.
const NO_STACK: &str = "no call stack";

/// A stack and what blocks with it are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedStack {
    pub(super) stack: Option<StackIdx>,
    pub(super) name: RecordedName,
}

#[derive(Debug, Default)]
pub(super) struct Stacks {
    pub(super) tables: RecordedStacks,
    /// By row of a frame: its line, or [`NONE`].
    line_of_row: Vec<u32>,
    /// By list of frames and extra texts.
    known: BTreeMap<(u32, u32), NamedStack>,
    last: Option<((u32, u32), NamedStack)>,
    /// Lines that may still be added.
    budget: usize,
    pub(super) left_out: u64,
    pub(super) cut: u64,
}

impl Stacks {
    /// No stacks yet; all together may have as many lines as `budget`.
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// The stack of a list of frames and extra texts.
    pub(super) fn stack_of(&mut self, heap: &Heap, frames: u32, extra: u32) -> NamedStack {
        let key = (frames, extra);
        if let Some((last, called)) = self.last
            && last == key
        {
            return called;
        }
        let called = if let Some(called) = self.known.get(&key).copied() {
            called
        } else {
            let called = self.new_stack(heap, frames, extra);
            self.known.insert(key, called);
            called
        };
        self.last = Some((key, called));
        called
    }

    fn new_stack(&mut self, heap: &Heap, frames: u32, extra: u32) -> NamedStack {
        let extra = heap.rows.extra_at(extra);
        let most = if self.budget == 0 { 0 } else { MOST_LINES };
        let rows: Vec<u32> = heap
            .lists
            .items(frames)
            .take(most)
            .filter_map(|item| match item.kind() {
                Kind::Dict(dict) => match heap.dicts.get(dict) {
                    Some(DictContent::Frame(row)) => Some(row),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let mut lines: Vec<u32> = rows.iter().map(|row| self.line(heap, *row)).collect();
        for (what, text) in [
            (COMPILE_CONTEXT, extra.compile_context),
            (USER_METADATA, extra.user_metadata),
        ] {
            if let Some(text) = heap.text_at(text) {
                lines.push(self.tables.line(what, &cut(text), 0));
            }
        }
        let note = heap.text_at(extra.user_metadata).map(cut);
        let name = self.tables.names.intern(note.as_deref().unwrap_or(NO_STACK));
        if self.budget < lines.len() || most == 0 && frames != NONE {
            // From here on nothing is walked any more.
            self.budget = 0;
            self.left_out += 1;
            return NamedStack { stack: None, name };
        }
        self.cut += u64::from(heap.lists.items(frames).nth(MOST_LINES).is_some());
        self.budget -= lines.len();
        let stack = self.tables.stack(lines);
        NamedStack { stack, name }
    }

    fn line(&mut self, heap: &Heap, row: u32) -> u32 {
        if let Some(line) = self.line_of_row.get(row as usize).filter(|line| **line != NONE) {
            return *line;
        }
        let frame = heap.rows.frames.get(row as usize).copied().unwrap_or(Frame::EMPTY);
        let text = |text: u32| cut(heap.text_at(text).unwrap_or(b"?"));
        let position = self.tables.line(&text(frame.function), &text(frame.file), frame.line);
        let n_rows = heap.rows.frames.len();
        if self.line_of_row.len() < n_rows {
            self.line_of_row.resize(n_rows, NONE);
        }
        if let Some(place) = self.line_of_row.get_mut(row as usize) {
            *place = position;
        }
        position
    }
}
