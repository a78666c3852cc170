//! Keys in the first bytes of a JSON text, at the level where a form has them: what detection asks.
//!
//! A path names a level: `traceEvents` is a key of the outermost object, `buffers[].lower` a key of any item of its list
//! `buffers`, `[].ph` a key of any item of an outermost list. Keys further inside never decide, because any file may hold
//! another one. Texts may be in single quotes and lists in parentheses, so that printed Python values are found, too.
//! The head may be cut off anywhere; what lies behind the outermost value is not looked at. O(head) for each path.

/// What lies behind the first key with this path and its colon.
pub(super) fn value_of<'a>(head: &'a [u8], path: &str) -> Option<&'a [u8]> {
    let parts = parts(path);
    let mut rest = head.trim_ascii_start();
    if !matches!(rest.first(), Some(b'{' | b'[' | b'(')) {
        return None;
    }
    // By open container: whether it is a list, and whether it lies on the path.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut is_on_path = true;
    loop {
        let (first, behind) = rest.split_first()?;
        match first {
            b'{' => open.push((false, is_on_path)),
            b'[' | b'(' => open.push((true, is_on_path)),
            b'}' | b']' | b')' => {
                open.pop();
                if open.is_empty() {
                    return None;
                }
            }
            b'"' | b'\'' => {
                let (text, behind) = quoted(*first, behind)?;
                rest = behind.trim_ascii_start();
                let depth = open.len();
                let Some((false, is_inside)) = open.last().copied() else {
                    continue;
                };
                if let Some(value) = rest.strip_prefix(b":") {
                    rest = value.trim_ascii_start();
                    is_on_path = is_inside && parts.get(depth - 1) == Some(&Part::Key(text));
                    if is_on_path && depth == parts.len() {
                        return Some(rest);
                    }
                }
                continue;
            }
            _ => {}
        }
        if let (Some((true, is_inside)), b'[' | b'(' | b',') = (open.last(), first) {
            is_on_path = *is_inside && parts.get(open.len() - 1) == Some(&Part::Item);
        }
        rest = behind.trim_ascii_start();
    }
}

/// Whether the head holds a key with this path.
pub fn has_key(head: &[u8], path: &str) -> bool {
    value_of(head, path).is_some()
}

/// Whether the value behind a key with this path is one of these texts.
pub(super) fn is_text(head: &[u8], path: &str, texts: &[&str]) -> bool {
    let text = value_of(head, path).and_then(|value| {
        let (quote, behind) = value.split_first()?;
        matches!(quote, b'"' | b'\'').then(|| quoted(*quote, behind))?
    });
    text.is_some_and(|(text, _)| texts.iter().any(|wanted| wanted.as_bytes() == text))
}

#[derive(PartialEq, Eq)]
enum Part<'a> {
    Key(&'a [u8]),
    Item,
}

fn parts(path: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for name in path.split('.') {
        let key = name.trim_end_matches("[]");
        if !key.is_empty() {
            parts.push(Part::Key(key.as_bytes()));
        }
        parts.extend((key.len()..name.len()).step_by(2).map(|_| Part::Item));
    }
    parts
}

/// A text up to its closing quote, and what lies behind; `None` where the head ends before.
fn quoted(quote: u8, text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            byte if *byte == quote => return Some((&text[..at], &text[at + 1..])),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_at_its_level_alone() {
        let text = br#" {"a": {"b": [{"c": 1, "d": "x\"{"}, {"e": [2, {"f": 3}]}]}, "g": ["h", "i"], "j": 4} {"k": 5}"#;
        for (path, expected) in [
            ("a", Some(&b"{"[..])),
            ("a.b", Some(b"[{")),
            ("a.b[].c", Some(b"1,")),
            ("a.b[].e[].f", Some(b"3}")),
            ("g", Some(b"[")),
            ("j", Some(b"4}")),
            ("b", None),
            ("c", None),
            ("a.c", None),
            ("b[].c", None),
            ("a.b.c", None),
            ("h", None),
            ("g[].h", None),
            ("k", None),
            ("[].a", None),
        ] {
            let found = value_of(text, path);
            match expected {
                Some(start) => assert!(found.is_some_and(|found| found.starts_with(start)), "{path}"),
                None => assert_eq!(found, None, "{path}"),
            }
        }
        assert!(has_key(b"[(1, 2), {'a': {'b': 1}, 'c': 2", "[].c"));
        assert!(is_text(b"[{'a': 'x'", "[].a", &["y", "x"]));
        assert!(!is_text(b"[{'a': 'x'", "[].a", &["y"]));
        assert!(has_key(b"[[{\"a\": 1}]]", "[][].a"));
        for cut in [&b"{\"a"[..], b"{\"a\"", b"{'a\\", b"{", b"[[", b"", b"}", b"\"a\": 1"] {
            assert_eq!(value_of(cut, "a"), None, "{}", cut.escape_ascii());
        }
    }
}
