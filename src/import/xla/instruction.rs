//! One instruction of HLO text.
//!
//! `[ROOT] %name = shape opcode(operands), attribute=value, ...`; operands may carry their shapes, names their `%`. An operand
//! `%name#1` is element 1 of a tuple (since jaxlib 0.11.2).

use std::collections::BTreeMap;

use super::cursor::{Cursor, parts};
use super::in_place;
use super::model::{Fused, Instruction, runs_computations};
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

    pub(super) fn get(&self, name: &str) -> Result<u32, String> {
        let found = self.0.get(name).copied();
        found.ok_or_else(|| format!("\"{name}\" is read but is no instruction of the computation"))
    }
}

/// The elements of tuples that a statement reads without an instruction that takes them: `%name#1`, ascending in depth.
pub(super) fn elements(statement: &str) -> impl Iterator<Item = &str> {
    let operands = statement.contains('#').then(|| operands_of(statement)).flatten();
    parts(operands.unwrap_or("")).flat_map(|part| {
        let name = plain(part);
        let ends = name.match_indices('#').skip(1).map(|(end, _)| end).chain([name.len()]);
        let ends = ends.filter(|_| name.contains('#'));
        ends.map(|end| &name[..end]).collect::<Vec<&str>>()
    })
}

/// The instruction that takes an element, `name#1`, of a tuple before it.
pub(super) fn taken(name: &str, names: &Names<'_>, before: &[Instruction]) -> Result<Instruction, String> {
    let (tuple, position) = name.rsplit_once('#').unwrap_or((name, ""));
    let number: u64 = position
        .parse()
        .map_err(|_error| format!("\"{position}\" is no position"))?;
    let operand = names.get(tuple)?;
    let element = usize::try_from(number).ok();
    let shape = before.get(operand as usize).zip(element);
    let shape = shape.and_then(|(tuple, element)| tuple.shape.element(element));
    Ok(Instruction {
        name: name.into(),
        opcode: "get-tuple-element".into(),
        shape: shape
            .cloned()
            .ok_or_else(|| format!("\"{tuple}\" has no element {number}"))?,
        operands: Box::new([operand]),
        number,
        ..Instruction::default()
    })
}

/// The text between the brackets of the operands.
fn operands_of(statement: &str) -> Option<&str> {
    let (_, right) = statement.split_once('=')?;
    let mut cursor = Cursor::new(right);
    shape::parse(&mut cursor, &mut ShapeNotes::default()).ok()?;
    cursor.skip_blanks();
    cursor.word();
    cursor.balanced()
}

/// The name of an operand, which its shape may precede.
fn plain(operand: &str) -> &str {
    let name = operand.rsplit(char::is_whitespace).next().unwrap_or("");
    name.trim_start_matches('%')
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
        ..Instruction::default()
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
    let few: Vec<&str> = parts(arguments).take(MODULE.fields + 1).collect();
    match MODULE.many_fields(few.len()) {
        None => few.into_iter().map(|part| names.get(plain(part))).collect(),
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
    let is_fusion = &*instruction.opcode == "fusion";
    let (mut called, mut fused, mut is_loop_fusion) = (Vec::new(), None, false);
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
            "calls" if is_fusion => {
                fused = place(value, places).ok();
            }
            "kind" if is_fusion => is_loop_fusion = matches!(value.trim(), "kLoop" | "kInput"),
            "output_to_operand_aliasing" => {
                instruction.aliases = in_place::aliases(group(value)).into();
            }
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
    instruction.fused = fused.map(|place| Fused {
        place: place as usize,
        is_loop: is_loop_fusion,
    });
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
