//! The lines of a dump.
//!
//! Lines are told by their marks, not by the section that they are in: versions order and name sections differently.

use std::collections::BTreeMap;

use super::ADVICE;
use crate::lines::each_line;
use crate::problem::number::shortened;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) bytes: u64,
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct Tensor {
    pub(super) id: u64,
    /// 0 where it lies outside of the arena.
    pub(super) aligned: u64,
    pub(super) bytes: u64,
    pub(super) offset: u64,
    pub(super) kind: String,
    pub(super) lifelong: String,
    /// First and last step.
    pub(super) life: (u64, u64),
    pub(super) node: String,
    pub(super) line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Tensor(u64),
    Parameter(u64),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) inputs: Vec<Operand>,
    pub(super) outputs: Vec<u64>,
    pub(super) workspaces: Vec<u64>,
    pub(super) stream: u64,
}

#[derive(Debug, Default)]
pub(super) struct Dump {
    /// By id.
    pub(super) parameters: BTreeMap<u64, Parameter>,
    /// In the order of the file.
    pub(super) tensors: Vec<Tensor>,
    /// Positions in `tensors` by id.
    pub(super) positions: BTreeMap<u64, usize>,
    pub(super) nodes: Vec<Node>,
    /// Ids of tensors that are one block.
    pub(super) unions: Vec<Vec<u64>>,
    /// Lists of tensors that lie one behind the other.
    pub(super) n_contiguous: u64,
    /// Groups of streams that run one after the other.
    pub(super) n_stream_groups: u64,
}

impl Dump {
    pub(super) fn tensor(&self, id: u64) -> Option<&Tensor> {
        self.tensors.get(*self.positions.get(&id)?)
    }
}

/// What the tensors of a dump are called: the node that makes them and their id, as the dump writes it.
pub(super) fn tensor_name(tensor: &Tensor) -> String {
    format!("{} %{}T", tensor.node, tensor.id)
}

pub(super) fn read(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Dump, ImportError> {
    let mut dump = Dump::default();
    let mut is_processed = false;
    let lines = each_line(input, progress, ADVICE, |line, number| {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let fault = |what: &str| {
            let what = format!("{what}: \"{}\"", shortened(line));
            ImportError::at(what, format!("line {number}"), ADVICE)
        };
        match line.as_bytes() {
            [b'%', ..] if line.split_whitespace().next().is_some_and(|word| word.ends_with('T')) => {
                let tensor = tensor(line, number).ok_or_else(|| fault("a tensor cannot be read"))?;
                if dump.positions.insert(tensor.id, dump.tensors.len()).is_some() {
                    return Err(fault("a tensor has the number of another"));
                }
                dump.tensors.push(tensor);
            }
            [b'%', ..] => {
                let (id, parameter) = parameter(line).ok_or_else(|| fault("a parameter cannot be read"))?;
                dump.parameters.insert(id, parameter);
            }
            [b'$', ..] => dump
                .nodes
                .push(node(line).ok_or_else(|| fault("a node cannot be read"))?),
            _ if line.starts_with("union tensors:") || line.starts_with("refnode input-output:") => {
                dump.unions
                    .push(ids(line).ok_or_else(|| fault("a union cannot be read"))?);
            }
            _ if line.starts_with("All Processed Contiguous") => is_processed = true,
            // Both lists name the same tensors, once before they are joined with unions.
            _ if is_processed && line.starts_with("contiguous tensors:") => dump.n_contiguous += 1,
            _ if line.starts_with("stm") => dump.n_stream_groups += 1,
            _ => {}
        }
        Ok(())
    })?;
    if dump.tensors.is_empty() {
        return Err(ImportError::at("no tensor is listed", format!("line {lines}"), ADVICE));
    }
    Ok(dump)
}

/// A number between two marks, as in `#512S`.
fn marked(word: &str, before: char, after: &str) -> Option<u64> {
    word.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

fn parameter(line: &str) -> Option<(u64, Parameter)> {
    let mut words = line.split_whitespace();
    let id = marked(words.next()?, '%', "P")?;
    let bytes = marked(words.next()?, '#', "S")?;
    let name = words.next().unwrap_or_default().to_owned();
    Some((id, Parameter { bytes, name }))
}

fn tensor(text: &str, line: u64) -> Option<Tensor> {
    let mut words = text.split_whitespace().peekable();
    let id = marked(words.next()?, '%', "T")?;
    let aligned = marked(words.next()?, '#', "S")?;
    let bytes = match words.next_if(|word| word.starts_with('#')) {
        Some(word) => marked(word, '#', "S")?,
        None => aligned,
    };
    let offset = words.next()?.strip_prefix('&')?.parse().ok()?;
    // 1.x writes the address behind the offset.
    while words.next_if(|word| word.starts_with('&')).is_some() {}
    let kind = words.next()?.to_owned();
    let lifelong = words.next()?.to_owned();
    let steps = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Tensor {
        id,
        aligned,
        bytes,
        offset,
        kind,
        lifelong,
        life: steps,
        node: words.collect::<Vec<&str>>().join(" "),
        line,
    })
}

/// The content of the field `key[...]`; other fields end in the same word.
fn list<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let fields = line.split('\t').map(str::trim);
    let mut content = fields.filter_map(|field| field.strip_prefix(key)?.strip_prefix('['));
    content.next_back()?.strip_suffix(']')
}

fn node(line: &str) -> Option<Node> {
    let mut fields = line.split('\t').map(str::trim);
    fields.next()?.strip_prefix('$')?.parse::<u64>().ok()?;
    let name = fields.next()?.to_owned();
    let items = |key: &str| list(line, key).unwrap_or_default().split(',').map(str::trim);
    let tensors = |key: &str| -> Option<Vec<u64>> {
        let items = items(key).filter(|item| !item.is_empty());
        items.map(|item| marked(item, '%', "T")).collect()
    };
    let operand = |item: &str| {
        let tensor = marked(item, '%', "T").map(Operand::Tensor);
        tensor.or_else(|| marked(item, '%', "P").map(Operand::Parameter))
    };
    let inputs = items("inputs").filter(|item| !item.is_empty());
    Some(Node {
        name,
        inputs: inputs.map(operand).collect::<Option<Vec<Operand>>>()?,
        outputs: tensors("outputs")?,
        workspaces: tensors("workspace")?,
        stream: marked(items("streamID").next()?, '@', "").unwrap_or(0),
    })
}

/// The tensors that a line names.
fn ids(line: &str) -> Option<Vec<u64>> {
    let (_, rest) = line.split_once(':')?;
    let words = rest.split(|letter: char| letter.is_whitespace() || matches!(letter, '[' | ']' | ','));
    let words = words.filter(|word| !word.is_empty());
    words.map(|word| marked(word, '%', "T")).collect()
}
