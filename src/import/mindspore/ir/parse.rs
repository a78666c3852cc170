//! The lines of a dump, node by node.

use super::abstracts::{Leaf, closing, elements, leaves, on_device, parts};
use crate::lines::each_line;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

pub(super) const ADVICE: &str = "the file is damaged or of another version; run again with MS_DEV_SAVE_GRAPHS=2";

/// Bytes of a node with the values of its tensors.
const MOST_BYTES: usize = 4 << 20;

/// A parameter of the entry.
#[derive(Debug)]
pub(in crate::mindspore) struct Parameter {
    /// `%para1_x`, as operands name it.
    pub(in crate::mindspore) value: String,
    /// `x`.
    pub(in crate::mindspore) name: String,
    pub(in crate::mindspore) leaves: Vec<Leaf>,
    pub(in crate::mindspore) is_weight: bool,
}

#[derive(Debug, Default)]
pub(in crate::mindspore) struct Node {
    /// `%12`; empty for the return of a graph.
    pub(in crate::mindspore) value: String,
    pub(in crate::mindspore) kind: String,
    /// As they are written: `%12`, `%para1_x`, `I64(0)`, `Tensor(shape=[], ...)`, `@body`.
    pub(in crate::mindspore) operands: Vec<String>,
    /// By operand, where they are stated.
    pub(in crate::mindspore) inputs: Vec<Vec<Leaf>>,
    pub(in crate::mindspore) outputs: Vec<Leaf>,
    /// Leaves of each element of the first operand, where that is a tuple.
    pub(in crate::mindspore) elements: Vec<usize>,
    /// With its scope; empty where it is not stated.
    pub(in crate::mindspore) name: String,
    /// Whether shapes were stated: the lines behind are of other things.
    pub(in crate::mindspore) has_abstract: bool,
}

#[derive(Debug, Default)]
pub(in crate::mindspore) struct Subgraph {
    pub(in crate::mindspore) name: String,
    pub(in crate::mindspore) nodes: Vec<Node>,
}

#[derive(Debug, Default)]
pub(in crate::mindspore) struct Dump {
    pub(in crate::mindspore) entry: String,
    pub(in crate::mindspore) parameters: Vec<Parameter>,
    pub(in crate::mindspore) subgraphs: Vec<Subgraph>,
}

/// The name of the entry in the first line: `# IR entry: @name`, in 1.x `#IR entry      : @name.21:2`.
pub(super) fn entry_name(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let (word, name) = rest.split_once(':')?;
    (word.trim_end() == "IR entry").then_some(())?;
    name.trim().strip_prefix('@')
}

pub(super) fn read(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Dump, ImportError> {
    let mut dump = Dump::default();
    let mut open: Option<Subgraph> = None;
    let mut pending = None;
    let last = each_line(input, progress, ADVICE, |line, number| {
        let line = String::from_utf8_lossy(line);
        let text = line.trim();
        if let Some(name) = entry_name(text).filter(|_| dump.entry.is_empty()) {
            name.clone_into(&mut dump.entry);
        } else if let Some(subgraph) = &mut open {
            if text != "}" {
                line_of(subgraph, &mut pending, text, number)?;
            } else if let Some(pending) = &pending {
                return Err(pending.fault());
            } else {
                dump.subgraphs.extend(open.take());
            }
        } else if let Some(rest) = text.strip_prefix("subgraph @").filter(|rest| rest.ends_with('{')) {
            let end = rest.find([' ', '(']).unwrap_or(rest.len());
            open = Some(Subgraph {
                name: rest[..end].to_owned(),
                nodes: Vec::new(),
            });
        } else if text.starts_with("%para") {
            dump.parameters.extend(parameter(text));
        }
        Ok(())
    })?;
    if let Some(subgraph) = open {
        return Err(ImportError::at(
            format!("the graph \"{}\" does not end", subgraph.name),
            format!("line {last}"),
            ADVICE,
        ));
    }
    if dump.subgraphs.iter().all(|subgraph| subgraph.nodes.is_empty()) {
        return Err(ImportError::at("there is no node", format!("line {last}"), ADVICE));
    }
    Ok(dump)
}

/// `%para1_x: <Tensor[Float32], (32, 64)> : [32, 64] : has_default : IsWeight: true`.
fn parameter(text: &str) -> Option<Parameter> {
    let (value, rest) = text.split_once(':')?;
    let rest = rest.trim();
    let end = end_of_abstract(rest);
    Some(Parameter {
        value: value.trim().to_owned(),
        name: name_of(value.trim()).to_owned(),
        leaves: leaves(&rest[..end]),
        is_weight: rest.contains("has_default") || rest.contains("IsWeight: true"),
    })
}

/// `a.weight` of `%para4_a.weight`; other values are their names.
pub(super) fn name_of(value: &str) -> &str {
    let digits = value.strip_prefix("%para").unwrap_or(value);
    match digits.split_once('_') {
        Some((number, name)) if !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => value,
    }
}

/// Where the first `<...>` of a text ends.
fn end_of_abstract(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// A node whose call is not closed yet: values of tensors have several lines.
struct Pending {
    text: String,
    line: u64,
}

impl Pending {
    fn fault(&self) -> ImportError {
        let text: String = self.text.chars().take(60).collect();
        let what = format!("a node cannot be read: \"{text}\"");
        ImportError::at(what, format!("line {}", self.line), ADVICE)
    }
}

fn line_of(subgraph: &mut Subgraph, pending: &mut Option<Pending>, text: &str, number: u64) -> Result<(), ImportError> {
    let is_node = text.starts_with('%') && text.contains(" = ") || text.starts_with("Return(");
    if pending.is_some() || is_node {
        let mut call = pending.take().unwrap_or(Pending {
            text: String::new(),
            line: number,
        });
        if call.text.len() + text.len() > MOST_BYTES || number > call.line && text.starts_with(": (") {
            return Err(call.fault());
        }
        call.text.push_str(text);
        let found = if text.contains(')') { node(&call.text) } else { None };
        match found {
            Some(node) => subgraph.nodes.push(node),
            None if call.text.contains('(') => *pending = Some(call),
            None => return Err(call.fault()),
        }
        return Ok(());
    }
    let Some(node) = subgraph.nodes.last_mut() else {
        return Ok(());
    };
    if let Some(rest) = text.strip_prefix(": (").filter(|rest| rest.starts_with(['<', ')'])) {
        if node.has_abstract {
            take_device(node, rest);
        } else {
            node.has_abstract = true;
            let (inputs, outputs) = rest.split_once(") -> (").unwrap_or((rest.trim_end_matches(')'), ""));
            let outputs = outputs.strip_suffix(')').unwrap_or(outputs);
            let inputs = parts(inputs);
            node.elements = inputs.first().map_or_else(Vec::new, |first| elements(first));
            node.inputs = inputs.into_iter().map(leaves).collect();
            node.outputs = parts(outputs).into_iter().flat_map(leaves).collect();
        }
    } else if let Some(name) = scoped_name(text).filter(|_| node.name.is_empty()) {
        name.clone_into(&mut node.name);
    }
    Ok(())
}

/// Results have the types and shapes that the second line states of the device, in whose layout their memory is.
fn take_device(node: &mut Node, rest: &str) {
    let outputs = rest
        .split_once(") -> (")
        .and_then(|(_, outputs)| outputs.strip_suffix(')'));
    let outputs = parts(outputs.unwrap_or_default());
    let in_memory = node.outputs.iter_mut().filter(|leaf| leaf.dtype.is_some());
    let mut leaves: Vec<&mut Leaf> = in_memory.collect();
    if leaves.len() != outputs.len() {
        return;
    }
    for (leaf, text) in leaves.iter_mut().zip(outputs) {
        if let Some((dtype, dims)) = on_device(text) {
            leaf.dtype = Some(dtype);
            leaf.dims = Some(dims);
        }
    }
}

/// `# Fullname with scope: (Default/MatMul-op0)`, in 1.x `# (Default/MatMul-op0)`.
fn scoped_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("Fullname with scope:").unwrap_or(rest).trim_start();
    let name = rest.strip_prefix('(')?.strip_suffix(')')?;
    (!name.is_empty() && !name.contains(' ')).then_some(name)
}

/// `%1(equiv_6_x) = PrimFunc_MatMul(%para5_x, %0, Bool(0)) {instance name: matmul} ...`, or `Return(%1)`.
fn node(text: &str) -> Option<Node> {
    let (value, call) = match text.split_once(" = ") {
        Some((value, call)) if text.starts_with('%') => (value, call),
        _ => ("", text),
    };
    let (kind, rest) = call.split_once('(')?;
    let value = value.split(['(', '[']).next().unwrap_or_default();
    Some(Node {
        value: value.trim().to_owned(),
        kind: kind.trim().to_owned(),
        operands: parts(&rest[..closing(rest)?]).into_iter().map(str::to_owned).collect(),
        ..Node::default()
    })
}
