//! Problems as JSON, read as a stream: a list of `buffers`, or of `tensors` with the offsets that the vendor's engine
//! gave them. Unknown keys are skipped.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::banks::{Banks, MEMORY};
use super::draft::Row;
use crate::ImportError;
use crate::each::each;
use crate::json_key::has_key;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::ProblemEntry;

const ENGINE_ALIGNMENT: u64 = 512;

/// Whether the first bytes of an object name the parts of a problem, and none of a graph.
pub(super) fn detect(head: &[u8]) -> bool {
    let has = |key: &str| has_key(head, key);
    let is_problem = has("buffers[].lower") && has("buffers[].size");
    let is_plan = has("tensors[].born") && has("tensors[].last") && has("tensors[].bytes");
    (is_problem || is_plan) && !has("highwater_graph") && !has("nodes")
}

/// Reads an object.
///
/// # Errors
/// [`ImportError`] with line and column, or the buffer's position.
pub(super) fn read(
    text: &str,
    name: String,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<ProblemEntry>, ImportError> {
    let mut reading = Reading {
        banks: Banks::new(name, MEMORY),
        is_engine: false,
        progress: *progress,
        cancelled: None,
        inputs: Vec::new(),
        others_end: 0,
        list: None,
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = deserializer
        .deserialize_map(Document(&mut reading))
        .and_then(|()| deserializer.end());
    if let Some(cancelled) = reading.cancelled {
        return Err(cancelled.into());
    }
    result.map_err(|error| ImportError::of_json(&error, text.len()))?;
    let list = reading.list.unwrap_or("buffers");
    if reading.banks.is_empty() {
        return Err(ImportError::at(
            format!("the list \"{list}\" is missing or empty"),
            "the end of the file",
            "docs/text-formats.md describes the format",
        ));
    }
    if reading.is_engine {
        reading.explain(diagnostics);
    }
    reading.banks.finish(&|row| format!("{list}[{row}]"), diagnostics)
}

struct Reading<'p> {
    banks: Banks,
    /// Whether the file is a plan of the vendor's engine.
    is_engine: bool,
    progress: Progress<'p>,
    cancelled: Option<Cancelled>,
    /// Names and offsets of graph inputs in an engine's plan.
    inputs: Vec<(String, u64)>,
    /// The end of everything else in the plan.
    others_end: u64,
    list: Option<&'static str>,
}

impl Reading<'_> {
    fn pace(&mut self) -> Result<(), String> {
        if self.banks.len().is_multiple_of(1024)
            && let Err(cancelled) = self.progress.check()
        {
            self.cancelled = Some(cancelled);
            return Err(cancelled.to_string());
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: &WireBuffer<'_>) -> Result<(), String> {
        self.pace()?;
        let (upper, is_inclusive) = match (buffer.upper, buffer.end) {
            (Some(upper), None) => (upper, false),
            (None, Some(end)) => (end, true),
            (Some(_), Some(_)) => return Err("a buffer has \"upper\" (exclusive) and \"end\" (inclusive)".to_owned()),
            (None, None) => return Err("missing field `upper` (or `end`)".to_owned()),
        };
        let bank = buffer.mem_id.as_ref().map_or("", |id| &*id.0);
        let draft = self.banks.next(bank)?;
        draft.push(&Row {
            id: &buffer.id.0,
            lower: buffer.lower,
            upper,
            is_inclusive,
            size: buffer.size,
            alignment: buffer.alignment.unwrap_or(1),
            offset: buffer.offset,
        })?;
        for (lower, upper) in buffer.gaps.iter().flatten() {
            draft.gap(*lower, *upper, is_inclusive)?;
        }
        if let Some(other) = &buffer.same_address_as {
            draft.same_address_as(&other.0);
        }
        Ok(())
    }

    fn tensor(&mut self, tensor: &WireTensor<'_>) -> Result<(), String> {
        self.pace()?;
        self.is_engine = true;
        self.banks.maker = Some("the vendor's engine".to_owned());
        self.banks.next("")?.push(&Row {
            id: &tensor.tensor.0,
            lower: tensor.born,
            upper: tensor.last,
            is_inclusive: true,
            size: tensor.bytes,
            alignment: ENGINE_ALIGNMENT,
            offset: tensor.offset,
        })?;
        let Some(offset) = tensor.offset else { return Ok(()) };
        if tensor.op.as_ref().is_some_and(|op| op == "Data") {
            self.inputs.push((tensor.tensor.0.clone().into_owned(), offset));
        } else {
            self.others_end = self.others_end.max(offset.saturating_add(tensor.bytes));
        }
        Ok(())
    }

    fn explain(&self, diagnostics: &mut Diagnostics) {
        diagnostics.info(
            format!(
                "the offsets are the engine's plan (as_dumped shows it) and fix nothing; offsets are aligned to \
                 {ENGINE_ALIGNMENT}, sizes are those of the file (the engine itself reserves a multiple of \
                 {ENGINE_ALIGNMENT} with at least 32 bytes to spare)"
            ),
            "",
        );
        for (name, offset) in &self.inputs {
            let placed = if *offset >= self.others_end {
                format!("above all other memory, which ends at {}", self.others_end)
            } else {
                "among the other memory".to_owned()
            };
            diagnostics.info(
                format!(
                    "graph input \"{name}\" is placed like any other buffer; the file has it at {offset}, {placed}"
                ),
                name,
            );
        }
    }

    fn begin(&mut self, list: &'static str) -> Result<(), String> {
        match self.list.replace(list) {
            None => Ok(()),
            Some(before) => Err(format!("there is a list \"{before}\" already")),
        }
    }
}

/// A name: a text or a number.
struct Id<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Cow::Owned(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Cow::Owned(number.to_string()))
            }
        }
        deserializer.deserialize_any(Any).map(Self)
    }
}

#[derive(Deserialize)]
struct WireBuffer<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    lower: u64,
    #[serde(default)]
    upper: Option<u64>,
    #[serde(default)]
    end: Option<u64>,
    size: u64,
    #[serde(default)]
    alignment: Option<u64>,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    gaps: Option<Vec<(u64, u64)>>,
    #[serde(borrow, default)]
    same_address_as: Option<Id<'a>>,
    #[serde(borrow, default)]
    mem_id: Option<Id<'a>>,
}

#[derive(Deserialize)]
struct WireTensor<'a> {
    #[serde(borrow)]
    tensor: Id<'a>,
    born: u64,
    last: u64,
    #[serde(default)]
    offset: Option<u64>,
    bytes: u64,
    #[serde(default)]
    op: Option<String>,
}

struct Document<'r, 'p>(&'r mut Reading<'p>);

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of buffers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "buffers" => {
                    reading.begin("buffers").map_err(A::Error::custom)?;
                    map.next_value_seed(each(|buffer: WireBuffer<'de>| reading.buffer(&buffer)))?;
                }
                "tensors" => {
                    reading.begin("tensors").map_err(A::Error::custom)?;
                    map.next_value_seed(each(|tensor: WireTensor<'de>| reading.tensor(&tensor)))?;
                }
                "capacity" => reading.banks.capacity = map.next_value()?,
                "name" => reading.banks.name = map.next_value()?,
                "planned_by" => reading.banks.maker = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
