//! Call stacks of msmemscope: a line for each frame, the innermost first.
//!
//! In: `train.py(12): forward` for Python, a symbol as `backtrace_symbols` writes it for C. Out: frames and stacks, each
//! once.

use highwater_model::workload::{RecordedStacks, StackIdx};

/// Adds the stack of a text; `None` where the text is empty.
pub(super) fn add(text: &[u8], tables: &mut RecordedStacks) -> Option<StackIdx> {
    let text = String::from_utf8_lossy(text);
    let lines = text.trim_matches('"').lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && *line != "NA").map(|line| {
        let (function, file, number) = parts(line);
        tables.line(function, file, number)
    });
    let lines = lines.collect();
    tables.stack(lines)
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
        let mut tables = RecordedStacks::default();
        let text = b"/a/b (x).py(12): forward\nlib.so(+0x1) [0xff]\n";
        let stack = add(text, &mut tables).expect("a stack");
        assert_eq!(add(b"\"NA\"", &mut tables), None);
        assert_eq!(add(b"", &mut tables), None);
        assert_eq!(add(text, &mut tables), Some(stack));
        let lines: Vec<(&str, &str, u32)> = tables.of(stack).collect();
        assert_eq!(lines, [("forward", "/a/b (x).py", 12), ("lib.so(+0x1) [0xff]", "", 0)]);
    }
}
