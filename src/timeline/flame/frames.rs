//! Paths of blocks: frames of their call stack, or components of their name, outermost first.

use super::FlameFrame;
use crate::TensorKey;
use crate::call_stack::FrameOrigin;
use crate::grouping::full_scope;
use highwater_analysis::Comparison;
use highwater_model::workload::{NoteKind, RecordedFrame, Recording, StackIdx};

/// The only frame of blocks without a call stack.
pub(super) const NO_STACK: &str = "(no call stack)";
/// The outermost frame of stacks without a Python frame, in front of their C++ frames.
pub(super) const NO_PYTHON: &str = "(no Python frames)";
/// The only component of tensors whose name has no path.
const NO_SCOPE: &str = "(no scope)";

/// What decides the path of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PathKey<'a> {
    Stack(StackIdx),
    NoStack,
    Scope(&'a str),
}

impl<'a> PathKey<'a> {
    pub(super) fn of(comparison: &'a Comparison, tensor: TensorKey) -> Self {
        match comparison.recorded_block(tensor.graph, tensor.tensor) {
            Some((_, block)) => block.stack.map_or(Self::NoStack, Self::Stack),
            None => Self::Scope(full_scope(comparison, tensor)),
        }
    }
}

/// A path, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// A class of stacks, which stays outermost in the inverse tree.
    pub(super) class: Option<FlameFrame>,
    pub(super) frames: Vec<FlameFrame>,
    /// Whether it has both C++ and Python frames.
    pub(super) is_mixed: bool,
}

fn named(text: &str) -> FlameFrame {
    FlameFrame {
        text: text.into(),
        file: Box::default(),
        line: 0,
    }
}

impl Path {
    pub(super) fn of_scope(scope: &str) -> Self {
        let parts = scope.split(['/', '.']).filter(|part| !part.is_empty());
        let frames: Vec<FlameFrame> = parts.map(named).collect();
        if frames.is_empty() {
            return Self::only(NO_SCOPE);
        }
        Self {
            frames,
            ..Self::default()
        }
    }

    pub(super) fn only(text: &str) -> Self {
        Self {
            frames: vec![named(text)],
            ..Self::default()
        }
    }

    /// C++ frames are left out beside Python frames, unless they are kept.
    pub(super) fn of_stack(recording: &Recording, stack: StackIdx, keeps_native: bool) -> Self {
        let stack = recording.stacks.get(stack.idx()).map_or(&[][..], |stack| &**stack);
        let frames = stack.iter().rev();
        let frames = frames.filter_map(|frame| recording.frames.get(*frame as usize));
        // Other notes are on single lines of the stack.
        let of_whole = [None, Some(NoteKind::CompileContext), Some(NoteKind::UserMetadata)];
        let frames = frames.filter(|frame| of_whole.contains(&frame.note(recording)));
        let kinds = frames.clone().map(|frame| FrameOrigin::of(recording, *frame));
        let n_python = kinds.clone().filter(|kind| *kind == FrameOrigin::Python).count();
        let n_native = kinds.clone().filter(|kind| *kind == FrameOrigin::Native).count();
        let is_mixed = n_python > 0 && n_native > 0;
        let leaves_out = is_mixed && !keeps_native;
        let kept = frames
            .zip(kinds)
            .filter(|(_, kind)| *kind != FrameOrigin::Native || !leaves_out);
        let frames: Vec<FlameFrame> = kept.map(|(frame, kind)| frame_of(kind, recording, *frame)).collect();
        if frames.is_empty() {
            return Self::only(NO_STACK);
        }
        let has_class = n_python == 0 && n_native > 0 && !keeps_native;
        Self {
            class: has_class.then(|| named(NO_PYTHON)),
            frames,
            is_mixed,
        }
    }
}

fn frame_of(kind: FrameOrigin, recording: &Recording, frame: RecordedFrame) -> FlameFrame {
    let (function, file) = (recording.text(frame.function), recording.text(frame.file));
    let (text, file, line) = match kind {
        FrameOrigin::Python => {
            let base = base_name(file);
            let text = match frame.line {
                0 => format!("{base} {function}"),
                line => format!("{base}:{line} {function}"),
            };
            (text, file, frame.line)
        }
        FrameOrigin::Note => (format!("{file} ({function})"), "", 0),
        FrameOrigin::Native if function.is_empty() => (file.to_owned(), "", 0),
        FrameOrigin::Native => (function.to_owned(), "", 0),
    };
    FlameFrame {
        text: text.into(),
        file: file.into(),
        line,
    }
}

fn base_name(file: &str) -> &str {
    if file.starts_with('<') {
        return file;
    }
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::RecordedNames;

    /// Frames as `function file line`, innermost first.
    fn recording(stack: &[(&str, &str, u32)]) -> Recording {
        let mut names = RecordedNames::default();
        let frames: Vec<RecordedFrame> = stack
            .iter()
            .map(|(function, file, line)| RecordedFrame {
                function: names.intern(function),
                file: names.intern(file),
                line: *line,
            })
            .collect();
        Recording {
            stacks: vec![(0..).take(frames.len()).collect()],
            frames,
            names: names.finish(),
            ..Recording::default()
        }
    }

    fn texts(stack: &[(&str, &str, u32)], keeps_native: bool) -> String {
        let only = StackIdx::new(0).expect("a small number");
        let path = Path::of_stack(&recording(stack), only, keeps_native);
        let frames = path.class.iter().chain(&path.frames);
        frames.map(|frame| &*frame.text).collect::<Vec<_>>().join(" > ")
    }

    #[test]
    fn stacks_become_paths() {
        let mixed = [
            ("at::empty", "??", 0),
            ("forward", "/home/me/model.py", 20),
            ("<eval>", "<eval_with_key>.3 from /x/y.py:1 in f", 7),
            ("_PyEval", "ceval.c", 99),
            ("user metadata", "epoch 3; warm", 0),
        ];
        let native = [("at::empty", "??", 0), ("", "lib.so", 0)];
        for (stack, keeps_native, expected) in [
            (
                &mixed[..],
                false,
                "epoch 3; warm (user metadata) > <eval_with_key>.3 from /x/y.py:1 in f:7 <eval> > model.py:20 forward",
            ),
            (
                &mixed,
                true,
                "epoch 3; warm (user metadata) > _PyEval > <eval_with_key>.3 from /x/y.py:1 in f:7 <eval> > \
                 model.py:20 forward > at::empty",
            ),
            (&native, false, "(no Python frames) > lib.so > at::empty"),
            (&native, true, "lib.so > at::empty"),
            (&[("f", "C:\\a\\b.py", 0)], false, "b.py f"),
            (&[], false, "(no call stack)"),
        ] {
            assert_eq!(texts(stack, keeps_native), expected, "{stack:?}");
        }
    }

    #[test]
    fn scopes_become_paths() {
        for (scope, expected) in [
            ("encoder/layer_0", "encoder > layer_0"),
            ("/layer1.0/", "layer1 > 0"),
            ("", "(no scope)"),
            ("//", "(no scope)"),
        ] {
            let frames = Path::of_scope(scope).frames;
            let texts: Vec<&str> = frames.iter().map(|frame| &*frame.text).collect();
            assert_eq!(texts.join(" > "), expected, "{scope}");
        }
    }
}
