//! Lines within a line: a log as a JSON string, as Docker and other collectors write it, has its line feeds escaped.

/// Whether a line has lines within.
pub(super) fn has_lines(line: &str) -> bool {
    line.contains("\\n")
}

/// The lines of a line.
pub(super) fn lines_within(line: &str) -> Vec<String> {
    let is_json = line.trim_start().starts_with(['{', '"']);
    let mut lines = Vec::new();
    let mut own = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            own.push(letter);
            continue;
        }
        match letters.peek().copied() {
            Some('n') => {
                letters.next();
                // A path such as C:\new is no line feed, outside of JSON.
                if !is_json && letters.peek().is_some_and(char::is_ascii_lowercase) {
                    own.push_str("\\n");
                } else {
                    own.push('\n');
                    lines.push(std::mem::take(&mut own));
                }
            }
            Some(escaped @ ('"' | '\\' | '/')) if is_json => {
                letters.next();
                own.push(escaped);
            }
            Some('t' | 'r') if is_json => {
                letters.next();
                own.push(' ');
            }
            _ => own.push(letter),
        }
    }
    lines.push(own);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_line_feeds_are_line_feeds() {
        assert_eq!(
            lines_within("{\"log\":\"a \\\"b\\\"\\nc\\tC:\\\\new\\n\",\"stream\":\"stderr\"}\n"),
            ["{\"log\":\"a \"b\"\n", "c C:\\new\n", "\",\"stream\":\"stderr\"}\n"]
        );
        assert_eq!(lines_within("x.\\nRuntimeError: y\n"), ["x.\n", "RuntimeError: y\n"]);
        assert_eq!(lines_within("File \"C:\\new\\x.py\"\n"), ["File \"C:\\new\\x.py\"\n"]);
    }
}
