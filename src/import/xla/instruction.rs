//! One instruction of HLO text.
//!
//! `[ROOT] %name = shape opcode(operands), attribute=value, ...`; operands may carry their shapes, names their `%`.

use std::collections::BTreeMap;

use super::cursor::{Cursor, parts};
use super::model::{Instruction, runs_computations};
use super::shape::{self, ShapeNotes};
use crate::text_limits::MODULE;

/// Names of a computation's instructions and their positions.
#[derive(Debug, Default)]
pub(super) struct Names<'t>(BTreeMap<&'t str, u32>);

impl<'t> Names<'t> {
    pub(super) fn add(&mut self, name: &'t str) -> bool {
        let position = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(name, position).is_none()
    }

    fn get(&self, name: &str) -> Result<u32, String> {
        let name = name.trim_start_matches('%');
        let found = self.0.get(name).copied();
        found.ok_or_else(|| format!("\"{name}\" is read but is no instruction of the computation"))
    }
}

/// The name of an instruction, and whether it is the root.
pub(super) fn name(statement: &str) -> Option<(bool, &str)> {
    let (left, _) = statement.split_once('=')?;
    let (is_root, left) = match left.trim().strip_prefix("ROOT ") {
        Some(rest) => (true, rest),
        None => (false, left),
    };
    let name = left.trim().trim_start_matches('%');
    (!name.is_empty()).then_some((is_root, name))
}

/// Reads an instruction; `places` are the computations of the file.
///
/// # Errors
/// The fault in a sentence.
pub(super) fn read(
    statement: &str,
    names: &Names<'_>,
    places: &BTreeMap<&str, usize>,
    notes: &mut ShapeNotes,
) -> Result<Instruction, String> {
    let (_, name) = name(statement).ok_or("an instruction has no name")?;
    let (_, right) = statement.split_once('=').unwrap_or_default();
    let mut cursor = Cursor::new(right);
    let shape = shape::parse(&mut cursor, notes)?;
    cursor.skip_blanks();
    let opcode = cursor.word();
    if opcode.is_empty() || cursor.peek() != Some('(') {
        return Err("an operation with its operands is expected behind the shape".to_owned());
    }
    let arguments = cursor.balanced().ok_or("the operands do not end")?;
    let mut instruction = Instruction {
        name: name.into(),
        opcode: opcode.into(),
        shape,
        operands: Box::default(),
        controls: Box::default(),
        called: Box::default(),
        number: 0,
        id: 0,
    };
    match opcode {
        "parameter" => {
            let number = arguments.trim().parse();
            instruction.number = number.map_err(|_error| format!("\"{arguments}\" is no number of a parameter"))?;
        }
        "constant" | "iota" | "partition-id" | "replica-id" => {}
        _ => instruction.operands = operands(arguments, names)?,
    }
    attributes(cursor.rest(), &mut instruction, names, places)?;
    Ok(instruction)
}

/// Operands by name; a shape may precede each.
fn operands(arguments: &str, names: &Names<'_>) -> Result<Box<[u32]>, String> {
    let last = |part: &str| part.rsplit(char::is_whitespace).next().unwrap_or("").to_owned();
    let few: Vec<&str> = parts(arguments).take(MODULE.fields + 1).collect();
    match MODULE.many_fields(few.len()) {
        None => few.into_iter().map(|part| names.get(&last(part))).collect(),
        Some(what) => Err(what),
    }
}

fn attributes(
    text: &str,
    instruction: &mut Instruction,
    names: &Names<'_>,
    places: &BTreeMap<&str, usize>,
) -> Result<(), String> {
    let is_caller = runs_computations(&instruction.opcode);
    let is_loop = &*instruction.opcode == "while";
    let mut called = Vec::new();
    for attribute in parts(text) {
        let Some((key, value)) = attribute.split_once('=') else {
            continue;
        };
        match key.trim() {
            "index" => {
                let position = value.trim().parse();
                instruction.number = position.map_err(|_error| format!("\"{value}\" is no position"))?;
            }
            "control-predecessors" => instruction.controls = operands(group(value), names)?,
            "body" if is_loop => called.insert(0, place(value, places)?),
            "condition" if is_loop => called.push(place(value, places)?),
            "to_apply" | "calls" | "true_computation" | "false_computation" if is_caller => {
                called.push(place(value, places)?);
            }
            "branch_computations" | "called_computations" if is_caller => {
                for name in parts(group(value)) {
                    called.push(place(name, places)?);
                }
            }
            _ => {}
        }
    }
    if is_loop && called.len() != 2 {
        return Err("a while has no body or no condition".to_owned());
    }
    instruction.called = called.into();
    Ok(())
}

/// The text between the braces of a value.
fn group(value: &str) -> &str {
    let value = value.trim();
    let inner = value.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    inner.unwrap_or(value)
}

fn place(name: &str, places: &BTreeMap<&str, usize>) -> Result<u32, String> {
    let name = name.trim().trim_start_matches('%');
    let found = places.get(name).and_then(|place| u32::try_from(*place).ok());
    found.ok_or_else(|| format!("computation \"{name}\" is called but is not in the module"))
}
