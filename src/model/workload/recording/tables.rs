//! Texts, lines and stacks of a recording in the making, each once.

use indexmap::IndexSet;

use super::{RecordedFrame, RecordedName, Recording, StackIdx};
use crate::workload::Names;

#[derive(Debug, Default)]
pub struct RecordedNames {
    index: IndexSet<Box<str>>,
}

impl RecordedNames {
    pub fn intern(&mut self, text: &str) -> RecordedName {
        let position = match self.index.get_index_of(text) {
            Some(position) => position,
            None => self.index.insert_full(text.into()).0,
        };
        RecordedName(narrow(position))
    }

    /// Empty for an unknown name.
    pub fn get(&self, name: RecordedName) -> &str {
        self.index.get_index(name.0 as usize).map_or("", |text| text)
    }

    pub fn finish(self) -> Names {
        self.index.iter().map(|text| &**text).collect()
    }
}

/// Lines are named by their position, stacks are lists of lines, the innermost first.
#[derive(Debug, Default)]
pub struct RecordedStacks {
    pub names: RecordedNames,
    lines: IndexSet<RecordedFrame>,
    stacks: IndexSet<Box<[u32]>>,
}

impl RecordedStacks {
    pub fn line(&mut self, function: &str, file: &str, line: u32) -> u32 {
        let frame = RecordedFrame {
            function: self.names.intern(function),
            file: self.names.intern(file),
            line,
        };
        narrow(self.lines.insert_full(frame).0)
    }

    /// `None` for a stack without lines.
    pub fn stack(&mut self, lines: Vec<u32>) -> Option<StackIdx> {
        if lines.is_empty() {
            return None;
        }
        StackIdx::new(narrow(self.stacks.insert_full(lines.into()).0))
    }

    /// The lines of a stack with their texts.
    pub fn of(&self, stack: StackIdx) -> impl Iterator<Item = (&str, &str, u32)> {
        let stack = self.stacks.get_index(stack.idx()).into_iter().flatten();
        let frames = stack.filter_map(|line| self.lines.get_index(*line as usize));
        frames.map(|frame| (self.names.get(frame.function), self.names.get(frame.file), frame.line))
    }

    /// Moves the tables into a recording.
    pub fn finish(self, recording: &mut Recording) {
        recording.names = self.names.finish();
        recording.frames = self.lines.into_iter().collect();
        recording.stacks = self.stacks.into_iter().collect();
    }
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
