//! Comments `# highwater: key = value`: options without a constructor.

use serde_json::Value as Json;

use super::super::super::json_value::value_of;
use super::arms::Path;
use super::reader::Reader;

pub(in super::super) const MARK: &str = "# highwater: ";

impl Reader<'_> {
    /// A value that is not JSON is a text.
    pub(super) fn comments(&mut self) {
        let comments: Vec<_> = self.source.comments().collect();
        for (at, comment) in comments {
            let Some(body) = comment.strip_prefix(MARK) else {
                continue;
            };
            let line = self.source.line(at);
            let Some((key, text)) = key_and_value(body) else {
                self.records
                    .warn(line, format!("\"{comment}\" is not of the form {MARK}key = value"));
                continue;
            };
            let json: Json = serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
            self.records.set(super::records::Setting {
                value: value_of(&json),
                json: Some(json),
                line,
                at,
                run: None,
                path: Path::new(),
                note: None,
                key,
            });
        }
    }
}

/// The key, bare or as a JSON text, and the text after the equals sign.
fn key_and_value(body: &str) -> Option<(String, &str)> {
    let body = body.trim();
    if body.starts_with('"') {
        let mut texts = serde_json::Deserializer::from_str(body).into_iter::<String>();
        let key = texts.next()?.ok()?;
        let rest = body.get(texts.byte_offset()..)?;
        return Some((key, rest.trim_start().strip_prefix('=')?.trim()));
    }
    let (key, value) = body.split_once('=')?;
    let key = key.trim();
    (!key.is_empty()).then(|| (key.to_owned(), value.trim()))
}
