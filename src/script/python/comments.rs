//! Comments `# highwater: key = value`: options without a constructor; and `# highwater schedule: {...}`, `device` and `evaluation`.

use serde_json::Value as Json;

use highwater_options::Framework;

use super::arms::Path;
use super::reader::Reader;
use crate::config::schedule_from_json;
use crate::json_value::value_of;

pub(in super::super) const MARK: &str = "# highwater: ";
pub(in super::super) const SCHEDULE_MARK: &str = "# highwater schedule: ";
pub(in super::super) const DEVICE_MARK: &str = "# highwater device: ";
pub(in super::super) const EVALUATION_MARK: &str = "# highwater evaluation: ";
pub(in super::super) const FRAMEWORK_MARK: &str = "# highwater framework: ";

impl Reader<'_> {
    /// A value that is not JSON is a text.
    pub(super) fn comments(&mut self) {
        let comments: Vec<_> = self.source.comments().collect();
        for (at, comment) in comments {
            if self.session_comment(self.source.line(at), comment) {
                continue;
            }
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
                is_unread: false,
                key,
            });
        }
    }
}

impl Reader<'_> {
    /// Whether a comment states a part of the session around the script.
    fn session_comment(&mut self, line: usize, comment: &str) -> bool {
        let session = &mut self.records.session;
        let read = if let Some(text) = comment.strip_prefix(SCHEDULE_MARK) {
            schedule_from_json(text.as_bytes())
                .map(|plan| session.schedule = Some(plan))
                .map_err(|error| error.reason)
        } else if let Some(text) = comment.strip_prefix(DEVICE_MARK) {
            serde_json::from_str(text)
                .map(|device| session.device = Some(device))
                .map_err(|error| error.to_string())
        } else if let Some(name) = comment.strip_prefix(FRAMEWORK_MARK) {
            match Framework::of_name(name.trim()) {
                Some(framework) => {
                    session.framework = Some(framework);
                    Ok(())
                }
                None => Err("no framework of that name has defaults here".to_owned()),
            }
        } else if let Some(text) = comment.strip_prefix(EVALUATION_MARK) {
            serde_json::from_str(text)
                .map(|evaluation| session.evaluation = evaluation)
                .map_err(|error| error.to_string())
        } else {
            return false;
        };
        if let Err(why) = read {
            self.records
                .warn(line, format!("this comment of highwater is not readable: {why}"));
        }
        true
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
