//! Stacks of a recording.
//!
//! In: lists of frames, which many events share. Out: each distinct stack and line once. A line of generated code that
//! states its FX node is followed by the node, as a note, and by the lines of the model that the node comes from. The lines of
//! the forward pass, what was being compiled and the user's notes become the outermost lines of a stack, as notes. A block
//! without a stack is called after the user's note, if any.
//! Invariants: texts are cut, and all stacks together have at most as many lines as a budget allows, so that shared lists
//! cost no more than the file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::rows::{Extra, Frame, FxNode, NONE};
use super::snapshot::cut;
use super::value::{DictContent, Heap, Kind, Value};
use highwater_model::workload::{NoteKind, RecordedName, RecordedStacks, StackIdx};

/// Lines of one stack that are kept.
pub(super) const MOST_LINES: usize = 4096;

/// Lines of one traceback that are kept.
const MOST_TRACED: usize = 64;

/// Bytes of a traceback that are looked at.
const TRACEBACK_BYTES: usize = 1 << 14;

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
    /// By FX node: the lines that follow its line.
    fx_lines: BTreeMap<u32, Vec<u32>>,
    /// By list of frames, without extra texts: as most events have them.
    by_list: Vec<Option<NamedStack>>,
    /// By list of frames and extra texts.
    known: BTreeMap<(u32, u32), NamedStack>,
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
        let is_plain = extra == NONE && frames != NONE;
        let known = if is_plain {
            self.by_list.get(frames as usize).copied().flatten()
        } else {
            self.known.get(&key).copied()
        };
        if let Some(called) = known {
            return called;
        }
        let called = self.new_stack(heap, frames, extra);
        if is_plain {
            if self.by_list.len() <= frames as usize {
                self.by_list.resize(frames as usize + 1, None);
            }
            self.by_list[frames as usize] = Some(called);
        } else {
            self.known.insert(key, called);
        }
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
        let mut lines = Vec::with_capacity(rows.len());
        for row in rows {
            lines.push(self.line(heap, row));
            self.push_fx_lines(heap, row, &mut lines);
        }
        self.push_notes(heap, extra, &mut lines);
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

    /// The FX node of a line of generated code, and the lines of the model that it comes from.
    fn push_fx_lines(&mut self, heap: &Heap, row: u32, lines: &mut Vec<u32>) {
        let fx = heap.rows.frames.get(row as usize).map_or(NONE, |frame| frame.fx);
        if fx == NONE {
            return;
        }
        if let Some(known) = self.fx_lines.get(&fx) {
            return lines.extend(known);
        }
        let node = heap.rows.fx_node_at(fx);
        let mut own = Vec::new();
        if let Some(text) = fx_text(heap, node) {
            own.push(self.tables.line(NoteKind::FxNode.name(), &text, 0));
        }
        let text = traceback(heap.text_at(node.original_trace));
        own.extend(traced_lines(&text).map(|traced| {
            let [function, file] = [traced.function, traced.file].map(|text| cut(text.as_bytes()));
            self.tables.line(&function, &file, traced.line)
        }));
        lines.extend(&own);
        self.fx_lines.insert(fx, own);
    }

    /// Notes on a whole stack.
    fn push_notes(&mut self, heap: &Heap, extra: Extra, lines: &mut Vec<u32>) {
        let mut texts: Vec<String> = Vec::new();
        for item in heap.lists.items(extra.forward).take(MOST_TRACED) {
            if let Some(frame) = frame_of(heap, item) {
                let text = |text: u32| cut(heap.text_at(text).unwrap_or(b"?"));
                texts.push(format!("{}:{} {}", text(frame.file), frame.line, text(frame.function)));
            } else {
                // Items are the pieces of a traceback, the outermost first.
                let text = traceback(heap.text(item));
                let traced = traced_lines(&text).map(|line| line.to_string());
                texts.splice(0..0, traced.collect::<Vec<String>>());
            }
        }
        texts.truncate(MOST_TRACED);
        for text in texts {
            lines.push(self.tables.line(NoteKind::ForwardPass.name(), &cut(text.as_bytes()), 0));
        }
        for (kind, text) in [
            (NoteKind::CompileContext, extra.compile_context),
            (NoteKind::UserMetadata, extra.user_metadata),
        ] {
            if let Some(text) = heap.text_at(text) {
                lines.push(self.tables.line(kind.name(), &cut(text), 0));
            }
        }
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

/// `linear (call_function aten.linear)`; `None` where neither name, op nor target is stated.
fn fx_text(heap: &Heap, node: FxNode) -> Option<String> {
    let [name, op, target] = [node.name, node.op, node.target].map(|text| heap.text_at(text).map(cut));
    let details: Vec<String> = [op, target].into_iter().flatten().collect();
    let details = details.join(" ");
    match name {
        Some(name) if details.is_empty() => Some(name),
        Some(name) => Some(format!("{name} ({details})")),
        None => (!details.is_empty()).then_some(details),
    }
}

/// The line that a value is.
fn frame_of(heap: &Heap, value: Value) -> Option<Frame> {
    let Kind::Dict(dict) = value.kind() else { return None };
    match heap.dicts.get(dict) {
        Some(DictContent::Frame(row)) => heap.rows.frames.get(row as usize).copied(),
        _ => None,
    }
}

/// The end of a traceback, whose innermost lines are the last: many stacks may share a long one.
fn traceback(text: Option<&[u8]>) -> Cow<'_, str> {
    let text = text.unwrap_or_default();
    String::from_utf8_lossy(&text[text.len().saturating_sub(TRACEBACK_BYTES)..])
}

/// A line of a traceback.
struct TracedLine<'a> {
    file: &'a str,
    line: u32,
    function: &'a str,
}

impl std::fmt::Display for TracedLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, function } = self;
        write!(f, "{file}:{line} {function}")
    }
}

/// The lines of a traceback as Python prints it, innermost first; those of code without a file are left out.
fn traced_lines(text: &str) -> impl Iterator<Item = TracedLine<'_>> {
    let lines = text.lines().rev().filter_map(|line| {
        let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
        let (number, function) = rest.split_once(", in ").unwrap_or((rest, "?"));
        let line = number.trim().parse().ok()?;
        let is_file = !file.is_empty() && !file.starts_with('<');
        is_file.then_some(TracedLine {
            file,
            line,
            function: function.trim(),
        })
    });
    lines.take(MOST_TRACED)
}
