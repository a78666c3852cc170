//! What is in front of a sentence: an error whose message it is, a quote, or the code of a program.

/// What ends the prefix of a line.
const PREFIX_ENDS: [char; 9] = [']', ')', '>', '|', '\u{2502}', ':', '-', '*', '#'];

/// What a title of a report begins with: its words are no message.
const TITLES: [&str; 8] = [
    "title",
    "subject",
    "summary",
    "bug",
    "issue",
    "changelog",
    "re",
    "\u{6807}\u{9898}",
];

/// What code has in front of a text.
const CODE: [&str; 12] = [
    "raise ",
    "assert",
    "Regex",
    "match=",
    "pytest",
    " = ",
    " == ",
    "elif ",
    "if ",
    "return ",
    "TORCH_CHECK",
    "print(",
];

/// Where a sentence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The message of an error: its name is in front of it, and only a prefix in front of that.
    Message,
    /// Between quotes or marks of code: a pattern, a title, an example, unless it has figures.
    Quoted,
    /// In the text or in a comment of a program.
    Code,
    Other,
}

impl Place {
    /// Of a sentence by what is in front of it in its line; `marks` are its row's.
    pub(super) fn of(before: &str, marks: &[&str]) -> Self {
        let before = before.trim_end();
        let is_own = marks.iter().any(|mark| mark.trim_end().ends_with("Error"));
        let name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.');
        let head = before
            .strip_suffix(':')
            .map_or(before, |head| head.trim_end_matches(name))
            .trim_end();
        let has_error = is_own || before.ends_with("Error:") || before.ends_with("Exception:");
        let head = if is_own {
            before.trim_end_matches(name)
        } else if has_error {
            head
        } else {
            before
        };
        if is_comment(head) {
            return Self::Code;
        }
        if head.ends_with(['"', '\'']) {
            let is_code = CODE.iter().any(|word| head.contains(word));
            return match value_of(head) {
                _ if is_code => Self::Code,
                true => Self::Other,
                false => Self::Quoted,
            };
        }
        if head.bytes().filter(|byte| *byte == b'`').count() % 2 == 1 {
            return Self::Quoted;
        }
        let word = head.trim_end_matches(':').trim_start_matches(['[', '#', ' ', '*', '>']);
        let is_title = TITLES
            .iter()
            .any(|title| word.trim_end_matches(']').eq_ignore_ascii_case(title));
        let begins = head.is_empty() || head.ends_with(PREFIX_ENDS) && !is_title;
        if has_error && (begins || !is_own && !is_title) {
            Self::Message
        } else {
            Self::Other
        }
    }
}

/// Whether the quote that ends a text opens a value: `"message": "`, `{"`, `["`, or nothing is in front of it.
fn value_of(head: &str) -> bool {
    let open = head.trim_end_matches(['"', '\'']).trim_end();
    open.ends_with([':', '{', '[', '='])
}

/// Whether a text ends in the sign of a comment behind code.
fn is_comment(head: &str) -> bool {
    ["#", "//"].iter().any(|sign| {
        head.strip_suffix(sign)
            .is_some_and(|code| code.trim_end().ends_with([',', ')', ';', '{', '}']))
    })
}

/// Whether an error code has the process or the time that a run prints.
pub(super) fn has_stamp(sentence: &str) -> bool {
    let head: String = sentence.chars().take(60).collect();
    let digit = |char: char| char.is_ascii_digit();
    let after_process = head
        .split_once("PID")
        .map(|(_, rest)| rest.trim_start_matches([':', ' ']));
    let has_time = head
        .split(|char: char| !digit(char) && char != '-')
        .any(|word| word.len() >= 10 && word.bytes().filter(|byte| *byte == b'-').count() >= 2);
    has_time || after_process.is_some_and(|rest| rest.starts_with(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_quotes_and_code() {
        for (before, place) in [
            ("RuntimeError: ", Place::Message),
            ("[rank3]: torch.OutOfMemoryError: ", Place::Message),
            ("2025-01-02 ERROR x.py:3] RuntimeError: ", Place::Message),
            ("", Place::Other),
            ("INFO: no ", Place::Other),
            ("Title: torch.OutOfMemoryError: ", Place::Other),
            ("fixed where \"RuntimeError: ", Place::Quoted),
            ("- `RuntimeError: ", Place::Quoted),
            ("{\"message\": \"RuntimeError: ", Place::Other),
            ("exception=RuntimeError('", Place::Quoted),
            ("    exc = RuntimeError(\"", Place::Code),
            ("with self.assertRaisesRegex(RuntimeError, \"", Place::Code),
            ("    [4, 32, False], # ", Place::Code),
            ("# ", Place::Other),
        ] {
            assert_eq!(Place::of(before, &["CUDA out of memory"]), place, "{before}");
        }
        assert_eq!(Place::of("", &["MemoryError"]), Place::Message);
        assert_eq!(Place::of("I get a ", &["MemoryError"]), Place::Other);
    }

    #[test]
    fn codes_of_a_run_have_a_process_or_a_time() {
        assert!(has_stamp("EL0004: [PID: 1] Failed"));
        assert!(has_stamp("EL0004: 2024-05-02-11:11:11.123.456 Failed"));
        assert!(!has_stamp("EL0004: [PID: N] TIME Failed"));
        assert!(!has_stamp("EL0004: Failed to allocate memory."));
    }
}
