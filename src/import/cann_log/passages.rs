//! Sentences of terminal text, however a terminal broke them over lines: padded or not, between words or inside of one.

use std::borrow::Cow;

use super::patterns::template::{BREAK, has_end};
use super::patterns::{Found, Reads, marks, marks_until};

/// Lines and bytes of a sentence, at most.
const MOST_LINES: u32 = 24;
const MOST_BYTES: usize = 4096;

/// Bytes of a line and of the one before it that are looked at for words that begin in one and end in the other.
const AROUND: usize = 60;

/// A line that is shorter was not broken because it was full.
const FULL: usize = 18;

/// Bytes of a prefix that lines share, at least and at most.
const PREFIX: usize = 8;
const MOST_PREFIX: usize = 160;

/// What quotes and tables put in front of lines.
const QUOTES: [char; 5] = ['>', '|', '\u{2502}', '\u{2503}', ' '];

/// What ends the prefix of a launcher, a list or a comment: `[rank3]: `, `3: `, `* `, `# `, `INFO - `.
const PREFIX_ENDS: [u8; 9] = *b":>|])#*-+";

/// Blanks that are no space: those of web pages and of Chinese text.
const BLANKS: [char; 6] = ['\u{a0}', '\u{2002}', '\u{2003}', '\u{2009}', '\u{202f}', '\u{3000}'];

/// One or more sentences, and where they began.
#[derive(Clone, Debug)]
pub(super) struct Passage<T> {
    /// From the first mark on.
    pub(super) text: String,
    /// The text in front of it in its line.
    pub(super) before: String,
    pub(super) begin: T,
    n_lines: u32,
}

#[derive(Debug)]
pub(super) struct Passages<T> {
    /// The line before, as far as words of it can go on.
    tail: String,
    /// What the line before begins with.
    head: String,
    open: Option<Passage<T>>,
}

impl<T> Default for Passages<T> {
    fn default() -> Self {
        Self {
            tail: String::new(),
            head: String::new(),
            open: None,
        }
    }
}

impl<T> Passages<T> {
    /// The open passage, which ends here; words do not go on either.
    pub(super) fn end(&mut self) -> Option<Passage<T>> {
        self.tail.clear();
        self.open.take()
    }

    /// Whether a sentence may go on in the next line.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes a line, as [`plain`] makes it, with its marks; returns the passages that end before or with it.
    pub(super) fn take(&mut self, line: &str, found: &[Found], begin: T) -> Vec<Passage<T>> {
        let mut ended = Vec::new();
        let first = found.iter().find(|one| begins_sentence(**one));
        let crossing = self.crossing(line);
        if let Some(at) = crossing {
            let head = self.tail[at..].to_owned();
            ended.extend(
                self.open
                    .take()
                    .map(|mut open| {
                        let kept = open.text.trim_end_matches('\n').len().saturating_sub(head.len());
                        open.text
                            .truncate((0..=kept).rev().find(|at| open.text.is_char_boundary(*at)).unwrap_or(0));
                        open.text.push('\n');
                        open
                    })
                    .filter(|open| open.text.len() > 1),
            );
            let rest = &line[shared_prefix(&self.head, line)..];
            self.open = Some(Passage {
                text: format!("{head}{BREAK}{rest}"),
                before: format!("{} {}", self.head, &self.tail[..at]),
                begin,
                n_lines: 2,
            });
        } else if let Some(first) = first {
            if let Some(mut open) = self.open.take() {
                open.go_on(&line[..first.at]);
                ended.push(open);
            }
            self.open = Some(Passage {
                text: without_frame(&line[..first.at], &line[first.at..]).to_owned(),
                before: line[..first.at].to_owned(),
                begin,
                n_lines: 1,
            });
        } else if let Some(open) = &mut self.open {
            if begins_other(&line[shared_prefix(&open.before, line)..]) {
                ended.extend(self.open.take());
            } else {
                open.go_on(line);
            }
        }
        ended.extend(self.open.take_if(|open| open.is_whole()));
        let trimmed = line.trim_end_matches('\n');
        let end = (0..=MOST_PREFIX.min(trimmed.len()))
            .rev()
            .find(|at| trimmed.is_char_boundary(*at));
        self.head.clear();
        self.head.push_str(&trimmed[..end.unwrap_or(0)]);
        let start = (trimmed.len().saturating_sub(AROUND)..=trimmed.len()).find(|at| trimmed.is_char_boundary(*at));
        self.tail.clear();
        self.tail.push_str(&trimmed[start.unwrap_or(trimmed.len())..]);
        ended
    }

    /// Where a mark begins in the end of the line before that ends in this line.
    fn crossing(&mut self, line: &str) -> Option<usize> {
        let end = self.tail.len();
        let line = &line[shared_prefix(&self.head, line)..];
        let head = (0..=AROUND.min(line.len()))
            .rev()
            .find(|at| line.is_char_boundary(*at))?;
        self.tail.push(BREAK);
        self.tail.push_str(&line[..head]);
        let is_crossing = |one: &Found| begins_sentence(*one) && one.end > end + 1;
        let found = marks_until(&self.tail, end).into_iter().find(is_crossing);
        self.tail.truncate(end);
        found.map(|one| one.at)
    }
}

impl<T> Passage<T> {
    /// Takes the rest of a sentence from a line.
    fn go_on(&mut self, line: &str) {
        let rest = without_frame(&self.before, &line[shared_prefix(&self.before, line)..]);
        let own = self.text.trim_end_matches('\n');
        let last = own.rsplit(BREAK).next().unwrap_or("");
        let is_full = last.len() + if own.contains(BREAK) { 0 } else { self.before.len() } >= FULL;
        let ends_in_digit = last.ends_with(|char: char| char.is_ascii_digit());
        let is_other_number = !is_full && ends_in_digit && rest.starts_with(|char: char| char.is_ascii_digit());
        self.text.truncate(own.len());
        if is_other_number {
            self.text.push(' ');
        }
        self.text.push(BREAK);
        self.text.push_str(rest);
        self.n_lines += 1;
    }

    /// Whether the last sentence has ended.
    fn is_whole(&self) -> bool {
        if self.n_lines >= MOST_LINES || self.text.len() >= MOST_BYTES {
            return true;
        }
        let found = marks(&self.text);
        let sentences = || found.iter().filter(|one| begins_sentence(**one));
        let Some(last) = sentences().map(|one| one.at).max() else {
            return true;
        };
        let mut rows = sentences().filter(|one| one.at == last);
        let text = self.text.trim_end_matches('\n');
        let is_ended = |one: &Found| one.row().ends.iter().any(|end| has_end(text, end, last));
        let has_ends = sentences().any(|one| one.at == last && !one.row().ends.is_empty());
        !has_ends || rows.any(is_ended)
    }
}

fn begins_sentence(one: Found) -> bool {
    matches!(one.row().reads, Reads::Request(_) | Reads::Statement(_))
}

/// A line that is no part of a sentence before it.
fn begins_other(line: &str) -> bool {
    const BEGINS: [&str; 6] = [
        "Traceback",
        "File \"",
        "[ERROR]",
        "[rank",
        "During handling",
        "The above exception",
    ];
    BEGINS.iter().any(|begin| line.starts_with(begin)) || line.contains("Error: ")
}

/// Bytes of a launcher's prefix that the first line of a sentence and another one share, else of what quotes the line.
/// Digits may differ in a time, as long as they are as many.
fn shared_prefix(before: &str, line: &str) -> usize {
    let end = |same: usize| {
        let end = line.as_bytes()[..same]
            .iter()
            .rposition(|byte| matches!(byte, b' ' | b']'));
        end.map_or(0, |at| at + 1)
    };
    let kind = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let pairs = || before.bytes().zip(line.bytes());
    let exact = end(pairs().take_while(|(one, other)| one == other).count());
    let of_kind = end(pairs().take_while(|(one, other)| kind(*one) == kind(*other)).count());
    let shared = if has_time(line.get(..of_kind).unwrap_or("")) {
        of_kind
    } else {
        exact
    };
    let head = line.get(..shared).unwrap_or("").trim_end();
    let is_prefix = head.bytes().last().is_some_and(|byte| PREFIX_ENDS.contains(&byte));
    if is_prefix || head.len() >= PREFIX {
        return shared;
    }
    line.len() - line.trim_start_matches(QUOTES).len()
}

/// Whether a prefix has a time of a day.
fn has_time(prefix: &str) -> bool {
    let bytes = prefix.as_bytes();
    let is_time = |at: &[u8]| at[2] == b':' && [0, 1, 3, 4].iter().all(|place| at[*place].is_ascii_digit());
    bytes.windows(5).any(is_time)
}

/// Without the right side of a frame whose left side is in front of the first line.
fn without_frame<'a>(before: &str, line: &'a str) -> &'a str {
    let side = before
        .chars()
        .next()
        .filter(|side| QUOTES.contains(side) && *side != '>');
    let Some(side) = side.filter(|side| *side != ' ') else {
        return line;
    };
    line.trim_end().strip_suffix(side).map_or(line, str::trim_end)
}

/// A line with single blanks, without blanks at its ends; its line feed stays.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    let bytes = line.as_bytes();
    let own = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let ends = [own.first(), own.last()].into_iter().flatten();
    let has_more = own.contains(&b'\t') || own.windows(2).any(|two| two == b"  ");
    let has_more = has_more || !line.is_ascii() && line.contains(BLANKS);
    if !has_more && !ends.into_iter().any(is_blank) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let is_blank = |char: char| matches!(char, ' ' | '\t' | '\r' | '\n') || BLANKS.contains(&char);
    for word in line.split(is_blank).filter(|word| !word.is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    if line.ends_with('\n') {
        text.push('\n');
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str = "RuntimeError: NPU out of memory. Tried to allocate 5.75 GiB (NPU 5; 60.97 GiB total capacity; 54.49 GiB \
                            already allocated; 54.49 GiB current active; 4.10 GiB free; 55.48 GiB reserved in total by PyTorch) If x";

    fn passages(text: &str) -> Vec<String> {
        let mut all = Passages::default();
        let mut ended = Vec::new();
        for line in text.split_inclusive('\n') {
            let line = plain(line);
            ended.extend(all.take(&line, &marks(&line), ()));
        }
        ended.extend(all.end());
        ended.into_iter().map(|one| one.text).collect()
    }

    fn figures(text: &str) -> Vec<(Option<u64>, Option<u64>, Option<u64>)> {
        let reports = passages(text)
            .into_iter()
            .filter_map(|text| super::super::patterns::first_report(&text, |_| true));
        reports.map(|one| (one.device, one.free, one.reserved)).collect()
    }

    /// Broken at any width, inside of words, padded or between words, a sentence has the same figures.
    #[test]
    fn a_sentence_is_whole_at_any_width() {
        let whole = figures(&format!("{SENTENCE}\n"));
        assert_eq!(whole, [(Some(5), Some(4_402_341_478), Some(59_571_196_396))]);
        for width in 20..180 {
            let letters: Vec<char> = SENTENCE.chars().collect();
            let lines = letters.chunks(width).map(|line| line.iter().collect::<String>());
            let padded: Vec<String> = lines
                .clone()
                .map(|line| format!("{:width$}", line.trim_end()))
                .collect();
            let cut: Vec<String> = lines.collect();
            let mut words = vec![String::new()];
            for word in SENTENCE.split(' ') {
                let last = words.last_mut().expect("one");
                if last.len() + word.len() >= width && !last.is_empty() {
                    words.push(word.to_owned());
                } else {
                    *last += if last.is_empty() { "" } else { " " };
                    *last += word;
                }
            }
            for lines in [cut, padded, words] {
                let text = format!("Traceback (most recent call last):\n{}\n", lines.join("\n"));
                assert_eq!(figures(&text), whole, "{width}\n{text}");
            }
        }
    }

    #[test]
    fn prefixes_of_lines_are_no_part_of_a_sentence() {
        let prefix = "(Worker pid=7) ERROR 07-12 23:38:48 [x.py:932] ";
        let time = "2025-01-02 03:04:05,678 - INFO - ";
        for prefix in [
            prefix,
            time,
            "| ",
            "> > ",
            "",
            "3: ",
            "[rank3]: ",
            "# ",
            "* ",
            "[1,3]<stderr>: ",
            "worker-0: ",
            "\u{2502} ",
        ] {
            for at in [20, 28, 41, 60, 100] {
                let text = format!("{prefix}{}\n{prefix}{}\n", &SENTENCE[..at], &SENTENCE[at..]);
                assert_eq!(figures(&text), figures(SENTENCE), "{text}");
            }
        }
    }
}
