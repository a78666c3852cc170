//! The texts of both formats, and how they are recognised.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

use crate::json_key::{has_key, value_of};
use crate::{ImportError, Input};

/// An object that begins with the key "vars" or "ops" or has variables with bytes, alone or under "graph".
pub(crate) fn detect_graph(input: &Input<'_>) -> bool {
    let head = input.head().trim_ascii_start();
    let first_of = |object: &[u8]| key(object, 1).is_some_and(|first| first == b"vars" || first == b"ops");
    if head.first() != Some(&b'{') || has_key(head, "blocks") {
        return false;
    }
    let has_vars = has_key(head, "vars[].bytes") && !has_key(head, "nodes");
    has_lists(head) && (first_of(head) || has_vars)
        || value_of(head, "graph").is_some_and(|graph| graph.first() == Some(&b'{') && first_of(graph))
}

/// A list of such entries, or an object with one under "script".
pub(crate) fn detect_script(input: &Input<'_>) -> bool {
    let head = input.head().trim_ascii_start();
    let is_script = |list: &[u8]| {
        let plain: Vec<u8> = list
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_whitespace())
            .take(6)
            .collect();
        [&b"[[\"P\","[..], b"[[\"O\",", b"[[\"D\","].contains(&&plain[..])
    };
    match head.first() {
        Some(b'[') => is_script(head),
        Some(b'{') => value_of(head, "script").is_some_and(is_script),
        _ => false,
    }
}

/// Whether the head may begin an op sequence: "ops" may lie behind the head.
fn has_lists(head: &[u8]) -> bool {
    value_of(head, "vars")
        .or_else(|| value_of(head, "ops"))
        .is_some_and(|list| list.first() == Some(&b'['))
}

/// The text in quotes from a position on.
fn key(object: &[u8], from: usize) -> Option<&[u8]> {
    let rest = object.get(from..)?.trim_ascii_start().strip_prefix(b"\"")?;
    rest.split(|byte| *byte == b'"').next()
}

#[derive(Deserialize, Debug)]
pub(super) struct WireVariable {
    pub(super) name: String,
    pub(super) bytes: u64,
    #[serde(default)]
    pub(super) flags: Vec<String>,
}

#[derive(Deserialize, Debug)]
pub(super) struct WireOp {
    pub(super) name: String,
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) inputs: Vec<String>,
    #[serde(default)]
    pub(super) outputs: Vec<String>,
}

#[derive(Deserialize, Debug)]
pub(super) struct WireGraph {
    pub(super) vars: Vec<WireVariable>,
    pub(super) ops: Vec<WireOp>,
}

#[derive(Deserialize)]
struct GraphFile {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    graph: Option<WireGraph>,
    #[serde(default)]
    vars: Option<Vec<WireVariable>>,
    #[serde(default)]
    ops: Option<Vec<WireOp>>,
}

pub(super) fn read_graph(bytes: &[u8]) -> Result<(Option<String>, WireGraph), ImportError> {
    let file: GraphFile = parse(bytes)?;
    match (file.graph, file.vars, file.ops) {
        (Some(graph), _, _) => Ok((file.name, graph)),
        (None, Some(vars), Some(ops)) => Ok((file.name, WireGraph { vars, ops })),
        (None, vars, _) => Err(ImportError::at(
            format!(
                "the list \"{}\" is missing",
                if vars.is_none() { "vars" } else { "ops" }
            ),
            "the end of the file",
            "docs/text-formats.md describes the format",
        )),
    }
}

#[derive(Debug)]
pub(super) enum WireEntry {
    Put(String, u64),
    Op {
        name: String,
        is_bad: bool,
        inputs: Vec<String>,
        outputs: Vec<(String, u64)>,
    },
    Delete(String),
}

impl<'de> Deserialize<'de> for WireEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = WireEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[\"P\", name, bytes], [\"O\", op, bad, [input], [[name, bytes]]] or [\"D\", name]")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WireEntry, A::Error> {
                let kind: String = part(&mut seq, "a letter")?;
                let name: String = part(&mut seq, "a name")?;
                let entry = match kind.as_str() {
                    "P" => WireEntry::Put(name, part(&mut seq, "bytes")?),
                    "O" => WireEntry::Op {
                        name,
                        is_bad: part::<_, u8>(&mut seq, "0 or 1")? != 0,
                        inputs: part(&mut seq, "inputs")?,
                        outputs: part(&mut seq, "outputs")?,
                    },
                    "D" => WireEntry::Delete(name),
                    other => return Err(A::Error::custom(format!("the entry \"{other}\" is none of P, O and D"))),
                };
                match seq.next_element::<IgnoredAny>()? {
                    None => Ok(entry),
                    Some(_) => Err(A::Error::custom(format!("the entry \"{kind}\" has parts too many"))),
                }
            }
        }
        deserializer.deserialize_seq(Entry)
    }
}

fn part<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(seq: &mut A, what: &str) -> Result<T, A::Error> {
    seq.next_element()?
        .ok_or_else(|| A::Error::custom(format!("an entry ends where {what} should be")))
}

#[derive(Deserialize)]
struct ScriptFile {
    #[serde(default)]
    name: Option<String>,
    script: Vec<WireEntry>,
}

pub(super) fn read_script(bytes: &[u8]) -> Result<(Option<String>, Vec<WireEntry>), ImportError> {
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Ok((None, parse(bytes)?));
    }
    let file: ScriptFile = parse(bytes)?;
    Ok((file.name, file.script))
}

fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ImportError> {
    serde_json::from_slice(bytes.trim_ascii_start()).map_err(|error| ImportError::of_json(&error, bytes.len()))
}
