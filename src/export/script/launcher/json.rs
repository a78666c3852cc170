//! Environment variables of launchers' JSON, with comments and trailing commas as editors write them.

use serde_json::Value as Json;

use super::super::reading::Reading;
use super::{Collector, is_environment, is_variable};

/// Deeper objects are no launcher's.
const MAX_DEPTH: usize = 64;

/// Reads the variables of a file; `None` where it is not JSON.
pub(in super::super) fn from_launcher_json(text: &str) -> Option<Reading> {
    let plain = without_comments(text);
    let value: Json = serde_json::from_str(&plain).ok()?;
    let mut walk = Walk {
        lines: text.lines().collect(),
        line: 0,
        collector: Collector::default(),
    };
    walk.value(&value, 0);
    Some(walk.collector.reading)
}

struct Walk<'t> {
    /// As in the file.
    lines: Vec<&'t str>,
    /// Position of the line that was found last; values come in the order of the file.
    line: usize,
    collector: Collector,
}

impl Walk<'_> {
    fn value(&mut self, value: &Json, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Json::Object(fields) => {
                let text = |key: &str| fields.get(key).and_then(Json::as_str);
                if let (Some(name), Some(value)) = (text("name"), fields.get("value")) {
                    self.variable(name, value);
                }
                for (key, value) in fields {
                    self.variable(key, value);
                    let outside = self.collector.is_inside;
                    self.collector.is_inside |= is_environment(key);
                    self.value(value, depth + 1);
                    self.collector.is_inside = outside;
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.value(item, depth + 1)),
            Json::String(text) => {
                if !text.contains('=') {
                    return;
                }
                let line = self.line(text.lines().next().unwrap_or_default());
                if !self.collector.assignment(text, line) {
                    self.collector.script(text, line);
                }
            }
            _ => {}
        }
    }

    fn variable(&mut self, name: &str, value: &Json) {
        if !self.collector.is_inside && !is_variable(name) {
            return;
        }
        let line = self.line(name);
        match value {
            Json::String(text) => self.collector.variable(name, text, line),
            Json::Number(number) => self.collector.variable(name, &number.to_string(), line),
            Json::Bool(flag) => self.collector.variable(name, &flag.to_string(), line),
            _ => {}
        }
    }

    /// The next line with a text in quotes, from 1.
    fn line(&mut self, text: &str) -> usize {
        let holds = |line: &&str| line.contains('"') && line.contains(text);
        let further = self.lines.get(self.line..).unwrap_or_default();
        self.line += further.iter().position(holds).unwrap_or(0);
        self.line + 1
    }
}

/// Comments become blanks, and commas before a closing bracket too; lines keep their places.
fn without_comments(text: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut is_in_text = false;
    while let Some(letter) = letters.next() {
        match (is_in_text, letter, letters.peek()) {
            (true, '\\', _) => {
                out.push(letter);
                out.extend(letters.next());
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

#[cfg(test)]
mod tests {
    use super::{from_launcher_json, without_comments};

    #[test]
    fn comments_and_trailing_commas_go() {
        let text = "{\"a\": \"x // y\", // no\n /* b\n c */ \"d\": [1, 2,],\n}";
        let value: serde_json::Value = serde_json::from_str(&without_comments(text)).expect("JSON");
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
        assert!(from_launcher_json("{").is_none());
    }
}
