//! The line of a program that asked for memory: of the traceback before a sentence the deepest frame outside installed packages.

/// Lines after a frame within which a sentence may end its traceback.
const BEHIND: u64 = 40;

/// Tracebacks that are kept, the last ones: those of interleaved processes.
const MOST_OPEN: usize = 32;

/// Bytes of a path, at most.
const MOST_PATH: usize = 240;

/// Parts of paths that are no part of a user's program.
const PACKAGES: [&str; 9] = [
    "site-packages",
    "dist-packages",
    "/lib/python",
    "\\lib\\",
    "/bin/",
    "<frozen",
    "<string>",
    "<__array_function__",
    "/_functorch/",
];

/// Calls that pin memory of the host.
const PINNING: [&str; 5] = [
    "pin_memory(",
    "HostAlloc(",
    "cudaHostAlloc",
    "hipHostMalloc",
    "MallocHost(",
];

#[derive(Debug, Default)]
pub(super) struct Tracebacks {
    open: Vec<(Option<u64>, Traceback)>,
}

#[derive(Debug, Default)]
struct Traceback {
    /// Of the deepest frame of the program.
    line: Option<String>,
    /// Whether the code of its last frame pins memory of the host.
    is_pinning: bool,
    /// The position of its last frame.
    position: u64,
}

impl Tracebacks {
    /// Takes a line of a process.
    pub(super) fn take(&mut self, line: &str, pid: Option<u64>, position: u64) {
        let is_head = line.contains("Traceback (most recent call last)");
        let frame = frame(line);
        let is_pinning = frame.is_none() && PINNING.iter().any(|call| line.contains(call));
        if !is_head && frame.is_none() && !is_pinning {
            return;
        }
        if is_head {
            self.open.retain(|(of, _)| *of != pid);
        }
        let known = self.open.iter().position(|(of, _)| *of == pid);
        let known = known.unwrap_or_else(|| {
            if self.open.len() >= MOST_OPEN {
                self.open.remove(0);
            }
            self.open.push((pid, Traceback::default()));
            self.open.len() - 1
        });
        let traceback = &mut self.open[known].1;
        traceback.position = position;
        traceback.is_pinning = is_pinning || traceback.is_pinning && frame.is_none();
        if let Some((path, number)) = frame
            && !PACKAGES.iter().any(|part| path.contains(part))
            && path.len() <= MOST_PATH
        {
            traceback.line = Some(format!("{path}:{number}"));
        }
    }

    /// The line of the program, and whether it pins memory of the host, of a traceback that ends near a position.
    pub(super) fn before(&self, pid: Option<u64>, position: u64) -> (Option<&str>, bool) {
        let own = self.open.iter().find(|(of, _)| *of == pid);
        let own = own.filter(|(_, one)| position.saturating_sub(one.position) <= BEHIND);
        own.map_or((None, false), |(_, one)| (one.line.as_deref(), one.is_pinning))
    }
}

/// `File "train.py", line 61, in <module>`, `File ~/train.py:61, in main()`, `train.py:61 in main`.
fn frame(line: &str) -> Option<(&str, u64)> {
    if let Some((_, rest)) = line.split_once("File \"") {
        let (path, rest) = rest.split_once('"')?;
        return Some((path, number(rest.strip_prefix(", line ")?)?));
    }
    if let Some((_, rest)) = line.split_once("File ") {
        let (place, _) = rest.split_once(", in ")?;
        let (path, line) = place.rsplit_once(':')?;
        return Some((path.trim(), number(line)?));
    }
    let (_, rest) = line.split_once(".py:")?;
    let digits = rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    rest[digits..].strip_prefix(" in ")?;
    let end = line.len() - rest.len() - 1;
    let begin = line[..end]
        .rfind([' ', '\u{2502}'])
        .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
    Some((&line[begin..end], number(rest)?))
}

/// The number that a text begins with.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_frame_outside_packages_counts() {
        let mut all = Tracebacks::default();
        for (position, line) in (0..).zip([
            "Traceback (most recent call last):",
            "  File \"/w/train.py\", line 61, in <module>",
            "    main()",
            "  File \"/w/net.py\", line 7, in forward",
            "  File \"/usr/lib/python3/dist-packages/torch/nn/functional.py\", line 9, in linear",
        ]) {
            all.take(line, None, position);
        }
        assert_eq!(all.before(None, 5), (Some("/w/net.py:7"), false));
        assert_eq!(all.before(Some(1), 5), (None, false));
        assert_eq!(all.before(None, 500), (None, false));
    }

    #[test]
    fn only_a_call_in_the_last_frame_pins_memory() {
        let pins = |lines: &[&str]| {
            let mut all = Tracebacks::default();
            for (position, line) in (0..).zip(lines) {
                all.take(line, None, position);
            }
            all.before(None, 5).1
        };
        let frame = "  File \"/w/pin_memory_demo/train.py\", line 61, in <module>";
        assert!(pins(&[frame, "    x = x.pin_memory()"]));
        assert!(pins(&[
            "  File \"/t/pin_memory.py\", line 34, in f",
            "    data = pin_memory(data, device)"
        ]));
        assert!(!pins(&[frame, "    y = net(x)"]));
        assert!(!pins(&[frame, "    x = x.pin_memory()", frame, "    y = net(x)"]));
    }

    #[test]
    fn frames_of_all_tools_are_read() {
        assert_eq!(frame("[rank0]:   File \"a b.py\", line 3, in f"), Some(("a b.py", 3)));
        assert_eq!(frame("File ~/w/train.py:12, in main(args)"), Some(("~/w/train.py", 12)));
        assert_eq!(
            frame("\u{2502} /w/train.py:61 in <module>   \u{2502}"),
            Some(("/w/train.py", 61))
        );
        assert_eq!(frame("see train.py:61"), None);
    }
}
