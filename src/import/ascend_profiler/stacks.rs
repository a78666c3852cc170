//! Call stacks of msmemscope: a line for each frame, the innermost first.
//!
//! In: `train.py(12): forward` for Python, a symbol as `backtrace_symbols` writes it for C. Out: frames and stacks, each
//! once.

use indexmap::IndexSet;

use highwater_model::workload::{RecordedFrame, RecordedNames};

#[derive(Debug, Default)]
pub(super) struct Stacks {
    frames: IndexSet<RecordedFrame>,
    stacks: IndexSet<Box<[u32]>>,
}

impl Stacks {
    /// The position of a stack; `None` where the text is empty.
    pub(super) fn add(&mut self, text: &[u8], names: &mut RecordedNames) -> Option<u32> {
        if text.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(text);
        let text = text.trim_matches('"');
        let mut stack = Vec::new();
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && *line != "NA")
        {
            let (function, file, number) = parts(line);
            let frame = RecordedFrame {
                function: names.intern(function),
                file: names.intern(file),
                line: number,
            };
            stack.push(u32::try_from(self.frames.insert_full(frame).0).unwrap_or(u32::MAX));
        }
        if stack.is_empty() {
            return None;
        }
        u32::try_from(self.stacks.insert_full(stack.into()).0).ok()
    }

    pub(super) fn frames(&self) -> Vec<RecordedFrame> {
        self.frames.iter().copied().collect()
    }

    pub(super) fn stacks(&self) -> Vec<Box<[u32]>> {
        self.stacks.iter().cloned().collect()
    }
}

/// Function, file and line; a line of another form is all function.
fn parts(line: &str) -> (&str, &str, u32) {
    let parsed = line.split_once("): ").and_then(|(place, function)| {
        let (file, number) = place.rsplit_once('(')?;
        Some((function, file, number.parse().ok()?))
    });
    parsed.unwrap_or((line, "", 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_frames_and_stacks_are_kept_once() {
        let (mut stacks, mut names) = (Stacks::default(), RecordedNames::default());
        let text = b"/a/b (x).py(12): forward\nlib.so(+0x1) [0xff]\n";
        assert_eq!(stacks.add(text, &mut names), Some(0));
        assert_eq!(stacks.add(b"\"NA\"", &mut names), None);
        assert_eq!(stacks.add(b"", &mut names), None);
        assert_eq!(stacks.add(text, &mut names), Some(0));
        let names = names.finish();
        let frames = stacks.frames();
        assert_eq!(frames.len(), 2);
        assert_eq!(
            (names.get(frames[0].function.0 as usize), frames[0].line),
            ("forward", 12)
        );
        assert_eq!(names.get(frames[0].file.0 as usize), "/a/b (x).py");
        assert_eq!(
            (names.get(frames[1].function.0 as usize), frames[1].line),
            ("lib.so(+0x1) [0xff]", 0)
        );
    }
}
