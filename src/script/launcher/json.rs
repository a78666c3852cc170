//! Environment variables of launchers' JSON, with comments and trailing commas as editors write them.

use serde::de::IgnoredAny;

use super::super::reading::Reading;
use super::from_yaml;

/// Reads the variables of a file; `None` where it is not JSON.
pub(in super::super) fn from_launcher_json(text: &str) -> Option<Reading> {
    let plain = plain(text);
    serde_json::from_str::<IgnoredAny>(&plain).ok()?;
    Some(from_yaml(&plain))
}

/// The JSON without what YAML does not take: comments, tabs, commas before a closing bracket, pairs of surrogates. Lines keep their places.
fn plain(text: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut is_in_text = false;
    while let Some(letter) = letters.next() {
        match (is_in_text, letter, letters.peek()) {
            (true, '\\', _) => {
                let is_unit = letters.peek() == Some(&'u');
                let pair = is_unit.then(|| letters.clone().take(11).collect::<String>());
                if let Some(letter) = pair.as_deref().and_then(letter_of_pair) {
                    out.push(letter);
                    letters.nth(10);
                } else {
                    out.push(letter);
                    out.extend(letters.next());
                }
                continue;
            }
            (false, '\t', _) => {
                out.push(' ');
                continue;
            }
            (_, '"', _) => is_in_text = !is_in_text,
            (false, '/', Some('/')) => {
                while letters.peek().is_some_and(|next| *next != '\n') {
                    letters.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                let mut last = ' ';
                letters.next();
                for next in letters.by_ref() {
                    if next == '\n' {
                        out.push(next);
                    }
                    if (last, next) == ('*', '/') {
                        break;
                    }
                    last = next;
                }
                continue;
            }
            (false, ']' | '}', _) => {
                let end = out.iter().rposition(|letter| !letter.is_whitespace());
                if let Some(comma) = end.filter(|end| out[*end] == ',') {
                    out[comma] = ' ';
                }
            }
            _ => {}
        }
        out.push(letter);
    }
    out.into_iter().collect()
}

/// The letter of two escapes such as `ud83d\ude00`, behind the first backslash.
fn letter_of_pair(pair: &str) -> Option<char> {
    let (high, low) = pair.strip_prefix('u')?.split_once("\\u")?;
    let units = [high, low].map(|unit| u16::from_str_radix(unit, 16).unwrap_or_default());
    let letter = char::decode_utf16(units).next()?.ok()?;
    (letter.len_utf16() == 2).then_some(letter)
}

#[cfg(test)]
mod tests {
    use super::{from_launcher_json, plain};

    #[test]
    fn comments_and_trailing_commas_go() {
        let text = "{\"a\": \"x // y\", // no\n /* b\n c */ \"d\": [1, 2,],\n}";
        let value: serde_json::Value = serde_json::from_str(&plain(text)).expect("JSON");
        assert_eq!(value, serde_json::json!({"a": "x // y", "d": [1, 2]}));
    }

    #[test]
    fn an_editors_file_sets_variables() {
        let text = "{\n  // Launch\n  \"configurations\": [{\n    \"env\": {\"PYTORCH_CUDA_ALLOC_CONF\": \"max_split_size_mb:64\",},\n  }],\n}";
        let reading = from_launcher_json(text).expect("JSON");
        let environment = &reading.document.environment;
        assert_eq!(environment.get("PYTORCH_CUDA_ALLOC_CONF"), Some("max_split_size_mb:64"));
    }

    #[test]
    fn lists_of_names_and_of_assignments_set_variables() {
        for text in [
            r#"{"env": [{"name": "PYTORCH_ALLOC_CONF", "value": "a:1"}]}"#,
            r#"{"x": [{"environment": ["PYTORCH_ALLOC_CONF=a:1"]}]}"#,
            r#"{"env_vars": [{"PYTORCH_ALLOC_CONF": "a:1"}]}"#,
            r#"{"command": ["bash", "-c", "export PYTORCH_ALLOC_CONF=a:1 && python train.py"]}"#,
        ] {
            let reading = from_launcher_json(text).expect("JSON");
            assert_eq!(
                reading.document.environment.get("PYTORCH_ALLOC_CONF"),
                Some("a:1"),
                "{text}"
            );
        }
        assert!(
            !from_launcher_json(r#"{"env": {"HOME": "/root"}}"#)
                .expect("JSON")
                .is_found
        );
        let surrogates =
            from_launcher_json("{\n\t\"title\": \"\\ud83d\\ude00\",\n\t\"env\": {\"PYTORCH_ALLOC_CONF\": \"a:1\"}}");
        assert!(surrogates.expect("JSON").is_found);
        assert!(from_launcher_json("{").is_none());
    }
}
