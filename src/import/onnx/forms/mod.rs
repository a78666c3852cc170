//! Models in other forms than the binary one: protobuf text, JSON, and ONNX's own syntax.
//!
//! In: a text. Out: the same model in the binary form, without long contents, which the parser reads as any other. Errors of
//! the parser name bytes of the binary form, so they get the line of the text. Deliberately not here: the meaning of fields.

mod encoder;
mod json;
mod proto_text;
mod schema;
mod syntax;
mod tokens;

use std::io::{BufReader, Cursor};

use serde::de::DeserializeSeed as _;

use self::encoder::{Binary, Encoder};
use crate::json_key::has_key;
use crate::json_stream::Counted;
use crate::text_proto::{self, TextProto};
use crate::{ImportError, Input};
use highwater_model::progress::{Cancel, Progress};

const SAVE_BINARY: &str = "save it with onnx.save(model, \"model.onnx\") and open that file";

/// The longest name that is read.
const MAX_NAME: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    ProtoText,
    Json,
    Syntax,
}

/// The form of a text with this head; `None` for all other content.
pub(super) fn of(head: &[u8]) -> Option<Form> {
    let text = head.trim_ascii_start();
    if text.starts_with(b"{") {
        let has = |keys: [&str; 2]| keys.iter().any(|key| has_key(head, key));
        let is_model = has(["irVersion", "ir_version"]) && has(["graph", "opsetImport"]);
        return is_model.then_some(Form::Json);
    }
    if is_syntax(text) {
        return Some(Form::Syntax);
    }
    is_proto_text(text).then_some(Form::ProtoText)
}

/// `<`, then a key of a model; comments may come first.
fn is_syntax(mut text: &[u8]) -> bool {
    const KEYS: &[&[u8]] = &[b"ir_version", b"opset_import", b"producer_name"];
    while text.starts_with(b"#") {
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        text = text[end..].trim_ascii_start();
    }
    let behind = text.strip_prefix(b"<").unwrap_or_default().trim_ascii_start();
    KEYS.iter().any(|key| {
        let value = behind.strip_prefix(*key);
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b":"))
    })
}

/// Whether a text has the fields of a model: a version and a graph, or a graph with nodes.
fn is_proto_text(head: &[u8]) -> bool {
    if !head
        .first()
        .is_some_and(|byte| byte.is_ascii_lowercase() || *byte == b'#')
    {
        return false;
    }
    let cancel = Cancel::new();
    let mut reader = Cursor::new(head);
    let mut text = TextProto::new(&mut reader, head.len() as u64, Progress::silent(&cancel));
    let mut seen = Seen::default();
    // The head may end within a graph.
    let is_foreign = seen.model(&mut text).unwrap_or(false);
    !is_foreign && seen.has_graph && (seen.has_version || seen.has_node)
}

#[derive(Default)]
struct Seen {
    has_version: bool,
    has_graph: bool,
    has_node: bool,
}

impl Seen {
    /// Notes the fields of a model up to its first node; returns whether it has one that is foreign.
    fn model(&mut self, text: &mut TextProto<'_>) -> Result<bool, ImportError> {
        while let Some(form) = text.field()? {
            match (text.name(), form) {
                ("ir_version", text_proto::Form::Scalar) | ("opset_import", text_proto::Form::Message) => {
                    self.has_version = true;
                }
                ("graph" | "functions", text_proto::Form::Message) => {
                    self.has_graph = true;
                    text.enter()?;
                    if self.graph(text)? {
                        return Ok(true);
                    }
                    if self.has_node {
                        return Ok(false);
                    }
                }
                (
                    "producer_name" | "producer_version" | "domain" | "model_version" | "doc_string" | "metadata_props"
                    | "training_info" | "configuration",
                    _,
                ) => {}
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    /// As [`Self::model`], for the fields of a graph or function.
    fn graph(&mut self, text: &mut TextProto<'_>) -> Result<bool, ImportError> {
        while let Some(form) = text.field()? {
            if (text.name(), form) == ("node", text_proto::Form::Message) {
                text.enter()?;
                while let Some(form) = text.field()? {
                    if (text.name(), form) == ("op_type", text_proto::Form::Scalar) {
                        self.has_node = true;
                        // GE writes graphs in this form, with a prefix of their types.
                        return Ok(text.text(MAX_NAME)?.starts_with("ge:"));
                    }
                }
            }
        }
        Ok(false)
    }
}

/// The model in the binary form.
pub(super) fn binary(form: Form, input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Binary, ImportError> {
    let len = input.len();
    let mut out = Encoder::default();
    match form {
        Form::ProtoText => {
            let mut text = TextProto::new(input.reader()?, len, *progress);
            proto_text::message(&mut text, &schema::MODEL, &mut out)?;
        }
        Form::Json => {
            let reader = BufReader::new(Counted::new(input.reader()?, len, progress));
            let mut json = serde_json::Deserializer::from_reader(reader);
            let model = json::Object {
                message: &schema::MODEL,
                out: &mut out,
            };
            let read = model.deserialize(&mut json).and_then(|()| json.end());
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            read.map_err(|error| of_json(&error, len))?;
        }
        Form::Syntax => syntax::model(&input.read_text(progress)?, &mut out)?,
    }
    Ok(out.finish())
}

/// The error of the JSON reader, whose nesting is limited.
fn of_json(error: &serde_json::Error, len: usize) -> ImportError {
    match ImportError::of_json(error, len) {
        ImportError::Malformed { what, place, .. } if what.contains("recursion limit exceeded") => {
            ImportError::at("the JSON nests deeper than is read", place, SAVE_BINARY)
        }
        ImportError::Malformed { what, place, .. } if error.is_data() => ImportError::at(what, place, SAVE_BINARY),
        other => other,
    }
}

impl Binary {
    /// An error of the parser, with the line of the text in place of the byte of the binary form.
    pub(super) fn placed(&self, error: ImportError) -> ImportError {
        match error {
            ImportError::Malformed { what, place, advice } => {
                let byte = place.strip_prefix("byte ").and_then(|byte| byte.parse().ok());
                let place = match byte.map(|byte| self.line(byte)) {
                    Some(line) if line > 0 => format!("line {line}"),
                    _ => format!("{place} of its binary form"),
                };
                ImportError::Malformed { what, place, advice }
            }
            other => other,
        }
    }
}
