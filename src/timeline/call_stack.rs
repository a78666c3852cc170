//! The call stack of a recorded block, and the kinds of its frames.

use super::Selected;
use highwater_analysis::Comparison;
use highwater_model::workload::{RecordedFrame, Recording, StackIdx, is_python_file};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOrigin {
    Python,
    /// A note of the user, the compiler or the autograd graph.
    Note,
    /// C++: of any other file.
    Native,
}

impl FrameOrigin {
    pub(super) fn of(recording: &Recording, frame: RecordedFrame) -> Self {
        if frame.note(recording).is_some() {
            Self::Note
        } else if is_python_file(recording.text(frame.file)) {
            Self::Python
        } else {
            Self::Native
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    pub kind: FrameOrigin,
    pub function: Box<str>,
    pub file: Box<str>,
    /// 0 where there is none.
    pub line: u32,
}

impl StackFrame {
    /// Whether an editor may open its file.
    pub fn has_place(&self) -> bool {
        let is_generated = self.file.starts_with('<') || matches!(&*self.file, "" | "?" | "??");
        self.kind != FrameOrigin::Note && !is_generated
    }
}

impl std::fmt::Display for StackFrame {
    /// `file:line function`; a note is its text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { function, file, .. } = self;
        match (self.kind, self.line) {
            (FrameOrigin::Note, _) => write!(f, "{file} ({function})"),
            (_, 0) if file.is_empty() => f.write_str(function),
            (_, 0) => write!(f, "{file} {function}"),
            (_, line) => write!(f, "{file}:{line} {function}"),
        }
    }
}

/// Every frame, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStack {
    pub frames: Vec<StackFrame>,
}

impl CallStack {
    /// Of a recorded block; `None` where it has none.
    pub fn new(comparison: &Comparison, selected: Selected) -> Option<Self> {
        let (recording, block) = comparison.recorded_block(selected.graph, selected.tensor)?;
        Self::of(recording, block.stack?)
    }

    /// `None` for an unknown stack.
    pub fn of(recording: &Recording, stack: StackIdx) -> Option<Self> {
        let stack = recording.stacks.get(stack.idx())?;
        let frames = stack.iter().filter_map(|frame| recording.frames.get(*frame as usize));
        let frames = frames.map(|frame| StackFrame {
            kind: FrameOrigin::of(recording, *frame),
            function: recording.text(frame.function).into(),
            file: recording.text(frame.file).into(),
            line: frame.line,
        });
        Some(Self {
            frames: frames.collect(),
        })
    }

    /// Frames of Python, and notes.
    pub fn python(&self) -> impl Iterator<Item = &StackFrame> {
        self.frames.iter().filter(|frame| frame.kind != FrameOrigin::Native)
    }

    pub fn native(&self) -> impl Iterator<Item = &StackFrame> {
        self.frames.iter().filter(|frame| frame.kind == FrameOrigin::Native)
    }

    /// A line per frame, innermost first.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for frame in &self.frames {
            text.push_str(&format!("{frame}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameOrigin, StackFrame};

    #[test]
    fn frames_are_written_as_place_and_function() {
        for (kind, function, file, line, text, has_place) in [
            (FrameOrigin::Python, "f", "/a/b.py", 3, "/a/b.py:3 f", true),
            (FrameOrigin::Python, "f", "<string>", 1, "<string>:1 f", false),
            (FrameOrigin::Native, "at::empty", "??", 0, "?? at::empty", false),
            (FrameOrigin::Native, "so [1]", "", 0, "so [1]", false),
            (FrameOrigin::Native, "g", "/x/g.cpp", 7, "/x/g.cpp:7 g", true),
            (
                FrameOrigin::Note,
                "user metadata",
                "epoch 3",
                0,
                "epoch 3 (user metadata)",
                false,
            ),
        ] {
            let frame = StackFrame {
                kind,
                function: function.into(),
                file: file.into(),
                line,
            };
            assert_eq!((frame.to_string().as_str(), frame.has_place()), (text, has_place));
        }
    }
}
