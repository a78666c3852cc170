//! Stacks of a recording, and what a block is called.
//!
//! In: lists of frames, which many events share. Out: each distinct stack and line once, and a name for each stack by this
//! rule: the innermost frame of a Python file that is not plumbing (the modules below, which call on behalf of others);
//! else the innermost frame of a Python file; else the innermost frame; else what the user noted; else `block`. What was
//! being compiled and the user's notes become the outermost lines of a stack. Invariants: texts are cut, and all
//! stacks together have at most as many lines as a budget allows, so that shared lists cost no more than the file.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::rows::{Frame, NONE};
use super::snapshot::cut;
use super::value::{DictContent, Heap, Kind, narrow};
use highwater_model::workload::{RecordedFrame, RecordedName, RecordedNames};

/// Python files (or folders) whose functions call on behalf of others.
const PLUMBING: &[&str] = &[
    "torch/nn/modules/module.py",
    "torch/nn/parallel/distributed.py",
    "torch/_ops.py",
    "torch/_compile.py",
    "torch/_utils.py",
    "torch/overrides.py",
    "torch/utils/_contextlib.py",
    "torch/utils/_device.py",
    "torch/autograd/__init__.py",
    "torch/autograd/function.py",
    "torch/autograd/graph.py",
    "torch/optim/optimizer.py",
    "torch/cuda/memory.py",
    "torch/cuda/graphs.py",
    "torch/_dynamo/",
    "torch/_functorch/",
    "torch/_inductor/",
    "torch_npu/npu/memory.py",
    "torch_npu/utils/_module.py",
    "contextlib.py",
    "functools.py",
];

/// Lines of one stack that are kept.
pub(super) const MOST_LINES: usize = 4096;

/// Characters of a name that are kept.
const NAME_CHARS: usize = 120;

/// A stack and what blocks with it are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedStack {
    pub(super) stack: Option<u32>,
    pub(super) name: RecordedName,
}

#[derive(Debug, Default)]
pub(super) struct Stacks {
    pub(super) names: RecordedNames,
    pub(super) distinct: IndexSet<Box<[u32]>>,
    /// Lines in the order of their first use.
    pub(super) frames: Vec<RecordedFrame>,
    frame_index: BTreeMap<RecordedFrame, u32>,
    frame_of_row: BTreeMap<u32, u32>,
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
        let extra = super::replay::extra(heap, extra);
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
            ("compile context", extra.compile_context),
            ("user metadata", extra.user_metadata),
        ] {
            if let Some(text) = heap.text_at(text) {
                let frame = RecordedFrame {
                    function: self.names.intern(what),
                    file: self.names.intern(&cut(text)),
                    line: 0,
                };
                lines.push(self.intern(frame));
            }
        }
        let name = self.name(heap, &rows, extra.user_metadata);
        if self.budget < lines.len() || most == 0 && frames != NONE {
            // From here on nothing is walked any more.
            self.budget = 0;
            self.left_out += 1;
            return NamedStack { stack: None, name };
        }
        self.cut += u64::from(heap.lists.items(frames).nth(MOST_LINES).is_some());
        if lines.is_empty() {
            return NamedStack { stack: None, name };
        }
        self.budget -= lines.len();
        let stack = self.distinct.insert_full(lines.into()).0;
        NamedStack {
            stack: Some(narrow(stack)),
            name,
        }
    }

    fn line(&mut self, heap: &Heap, row: u32) -> u32 {
        if let Some(line) = self.frame_of_row.get(&row) {
            return *line;
        }
        let nothing = Frame {
            function: NONE,
            file: NONE,
            line: 0,
        };
        let frame = heap.rows.frames.get(row as usize).copied().unwrap_or(nothing);
        let function = self.names.intern(&cut(heap.text_at(frame.function).unwrap_or(b"?")));
        let file = self.names.intern(&cut(heap.text_at(frame.file).unwrap_or(b"?")));
        let line = frame.line;
        let position = self.intern(RecordedFrame { function, file, line });
        self.frame_of_row.insert(row, position);
        position
    }

    fn intern(&mut self, frame: RecordedFrame) -> u32 {
        let next = narrow(self.frames.len());
        let position = *self.frame_index.entry(frame).or_insert(next);
        if position == next {
            self.frames.push(frame);
        }
        position
    }

    fn name(&mut self, heap: &Heap, rows: &[u32], metadata: u32) -> RecordedName {
        let frames = || rows.iter().filter_map(|row| heap.rows.frames.get(*row as usize));
        let file = |frame: &Frame| heap.text_at(frame.file).unwrap_or_default();
        let mut python = frames().filter(|frame| file(frame).ends_with(b".py"));
        let innermost = frames().find(|frame| file(frame).ends_with(b".py") && !is_plumbing(file(frame)));
        let chosen = innermost.or_else(|| python.next()).or_else(|| frames().next());
        let text = match (chosen, heap.text_at(metadata)) {
            (Some(frame), _) => {
                let path = file(frame);
                let start = path.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
                let base = short(&path[start.map_or(0, |start| start + 1)..]);
                let function = short(heap.text_at(frame.function).unwrap_or(b"?"));
                format!("{function} ({base}:{})", frame.line)
            }
            (None, Some(metadata)) => short(metadata),
            (None, None) => "block".to_owned(),
        };
        self.names.intern(&text)
    }
}

fn is_plumbing(file: &[u8]) -> bool {
    let file = String::from_utf8_lossy(file).replace('\\', "/");
    PLUMBING.iter().any(|module| {
        if module.ends_with('/') {
            file.contains(module)
        } else {
            file.strip_suffix(module)
                .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        }
    })
}

fn short(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * NAME_CHARS)]);
    text.chars().take(NAME_CHARS).collect()
}
