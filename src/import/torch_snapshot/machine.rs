//! The opcode machine: runs a pickle of protocol 0 to 5 on a stack of values, and nothing else.
//!
//! In: bytes. Out: the value that the pickle leaves behind, in a [`Heap`]. Whatever would import a name or call something
//! is an error with the name and the place; nothing is ever called. Invariants: stack, memo and pools grow by at most a few
//! values for each byte of the file, and never from a number that the file states; values are not followed, so that
//! neither depth nor lists that contain themselves matter.

use std::collections::BTreeSet;

use super::fast_path::Memo;
use super::lists::ListsSize;
use super::old_text;
use super::opcode as op;
use super::range::{EventFilter, Kept};
use super::value::{Heap, MOST_CONTAINERS, Value};
use super::window::Window;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

/// Values that every pickle may have, of any size.
const SOME: u64 = 4096;

pub(super) struct Machine<'a> {
    pub(super) window: Window<'a>,
    pub(super) stack: Vec<Value>,
    /// Heights of the stack at marks.
    pub(super) marks: Vec<u32>,
    pub(super) memo: Memo,
    pub(super) heap: Heap,
    /// Most values on the stack: a snapshot has at most one for eight bytes.
    pub(super) most_values: usize,
    /// Most lists and dicts: a snapshot has at most one for four bytes.
    pub(super) most_containers: usize,
    pub(super) most_memo: usize,
    pub(super) at: u64,
    /// Gives up events outside a range.
    pub(super) range: Option<RangeReading>,
}

/// A pickle of which a range of events is kept.
#[derive(Debug)]
pub(super) struct RangeReading {
    pub(super) filter: EventFilter,
    /// Dicts that are not complete, with their places in the memo, and the lists before them.
    pub(super) open: Vec<OpenDict>,
    /// Lists up to this number are kept whatever is given up.
    pub(super) n_wanted: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDict {
    pub(super) dict: u32,
    pub(super) place: Option<usize>,
    pub(super) lists: ListsSize,
}

/// What a pickle leaves behind, and the number of bytes behind its end.
pub(super) type ReadPickle = (Heap, Value, u64);

/// Runs a pickle; returns also the number of bytes behind its end.
pub(super) fn run(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<ReadPickle, ImportError> {
    run_machine(Machine::new(Window::new(input, progress, "the pickle")?)).map(|(_, read)| read)
}

/// As [`run`]; events outside a range are given up.
pub(super) fn run_within(
    input: &mut Input<'_>,
    filter: EventFilter,
    progress: &Progress<'_>,
) -> Result<(EventFilter, ReadPickle), ImportError> {
    let mut machine = Machine::new(Window::new(input, progress, "the pickle")?);
    let unused = EventFilter::new(Kept::Since(0), BTreeSet::new());
    machine.memo = Memo::sparse();
    machine.range = Some(RangeReading {
        filter,
        open: Vec::new(),
        n_wanted: 0,
    });
    let (range, read) = run_machine(machine)?;
    Ok((range.map_or(unused, |range| range.filter), read))
}

fn run_machine(mut machine: Machine<'_>) -> Result<(Option<RangeReading>, ReadPickle), ImportError> {
    while machine.step()? {}
    let result = machine.pop()?;
    let rest = machine.window.len().saturating_sub(machine.window.position());
    Ok((machine.range, (machine.heap, result, rest)))
}

impl<'a> Machine<'a> {
    pub(super) fn new(window: Window<'a>) -> Self {
        let len = window.len();
        let most = |share: u64| usize::try_from((len / share + SOME).min(MOST_CONTAINERS)).unwrap_or(0);
        Self {
            most_values: most(8),
            most_containers: most(4),
            most_memo: most(4),
            window,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::default(),
            heap: Heap::new(len),
            at: 0,
            range: None,
        }
    }
}

impl Machine<'_> {
    /// Runs one opcode; false at the end.
    #[inline]
    fn step(&mut self) -> Result<bool, ImportError> {
        self.at = self.window.position();
        if self.step_fast()? {
            return Ok(true);
        }
        let opcode = self.window.byte()?;
        match opcode {
            op::BINGET => {
                let index = self.window.byte()?;
                self.get(usize::from(index))?;
            }
            op::MEMOIZE => self.memoize()?,
            op::LONG1 => {
                let n = self.window.byte()?;
                self.long(u64::from(n))?;
            }
            op::MARK => self.mark()?,
            op::EMPTY_DICT => self.open_dict()?,
            op::SETITEMS => self.set_items()?,
            op::BININT1 => {
                let number = self.window.byte()?;
                self.push(Value::small(i32::from(number)))?;
            }
            op::BININT2 => {
                let number = u16::from_le_bytes(self.window.array()?);
                self.push(Value::small(i32::from(number)))?;
            }
            op::BININT => {
                let number = i32::from_le_bytes(self.window.array()?);
                self.push(Value::small(number))?;
            }
            op::LONG_BINGET => {
                let index = u32::from_le_bytes(self.window.array()?);
                self.get(index as usize)?;
            }
            op::EMPTY_LIST | op::EMPTY_TUPLE | op::EMPTY_SET => self.list_of(self.stack.len())?,
            op::APPENDS | op::ADDITEMS => self.appends()?,
            op::SHORT_BINUNICODE | op::SHORT_BINSTRING => {
                let n = self.window.byte()?;
                self.text(u64::from(n))?;
            }
            op::NONE => self.push(Value::NOTHING)?,
            op::NEWTRUE => self.push(Value::bool(true))?,
            op::NEWFALSE => self.push(Value::bool(false))?,
            op::STOP => return Ok(false),
            _ => self.binary(opcode)?,
        }
        Ok(true)
    }

    /// Opcodes of the binary protocols that are seldom.
    fn binary(&mut self, opcode: u8) -> Result<(), ImportError> {
        match opcode {
            op::PROTO => {
                let version = self.window.byte()?;
                if version > 5 {
                    return Err(self.fault(&format!("protocol {version} of pickle is not known (2 to 5 are)")));
                }
            }
            op::FRAME => {
                // The length of what follows, for readers that fetch it at once.
                self.window.array::<8>()?;
            }
            op::BINPUT => {
                let index = self.window.byte()?;
                self.put(usize::from(index))?;
            }
            op::LONG_BINPUT => {
                let index = u32::from_le_bytes(self.window.array()?);
                self.put(index as usize)?;
            }
            op::BINUNICODE | op::BINSTRING => {
                let n = u32::from_le_bytes(self.window.array()?);
                self.text(u64::from(n))?;
            }
            op::BINUNICODE8 => {
                let n = u64::from_le_bytes(self.window.array()?);
                self.text(n)?;
            }
            op::BINFLOAT => {
                let number = f64::from_be_bytes(self.window.array()?);
                let number = self.heap.float(number);
                self.push(number)?;
            }
            op::LONG4 => {
                let n = i32::from_le_bytes(self.window.array()?);
                let n = u64::try_from(n).ok();
                self.long(n.ok_or_else(|| self.fault("a number has a negative length"))?)?;
            }
            op::TUPLE1 | op::TUPLE2 | op::TUPLE3 => {
                let n = usize::from(opcode - op::TUPLE1) + 1;
                let start = self.stack.len().checked_sub(n).filter(|start| *start >= self.floor());
                let start = start.ok_or_else(|| self.fault("a tuple takes more values than there are"))?;
                self.list_of(start)?;
            }
            op::APPEND => {
                let item = self.pop()?;
                let list = self.top_list()?;
                if item != Value::GIVEN_UP {
                    self.append(list, &[item]);
                }
            }
            op::SETITEM => {
                let value = self.pop()?;
                let key = self.pop()?;
                let dict = self.top_dict()?;
                self.heap.fill(dict, &[key, value]);
            }
            _ => self.old(opcode)?,
        }
        Ok(())
    }

    /// Opcodes of the text protocols, bytes, and what moves values about.
    fn old(&mut self, opcode: u8) -> Result<(), ImportError> {
        match opcode {
            op::POP => {
                if self.stack.len() == self.floor() && self.marks.pop().is_some() {
                    return Ok(());
                }
                self.pop()?;
            }
            op::POP_MARK => {
                let start = self.pop_mark()?;
                self.stack.truncate(start);
            }
            op::DUP => {
                let top = self.top()?;
                self.push(top)?;
            }
            op::LIST | op::TUPLE | op::FROZENSET => {
                let start = self.pop_mark()?;
                self.list_of(start)?;
            }
            op::DICT => {
                let start = self.pop_mark()?;
                let items = self.stack.split_off(start);
                self.empty_dict()?;
                self.fill(&items)?;
            }
            op::SHORT_BINBYTES => {
                let n = self.window.byte()?;
                self.bytes(u64::from(n))?;
            }
            op::BINBYTES => {
                let n = u32::from_le_bytes(self.window.array()?);
                self.bytes(u64::from(n))?;
            }
            op::BINBYTES8 | op::BYTEARRAY8 => {
                let n = u64::from_le_bytes(self.window.array()?);
                self.bytes(n)?;
            }
            op::PUT | op::GET => {
                let line = self.window.line()?;
                let index = old_text::index(&line).ok_or_else(|| self.fault("a place of the memo is no number"))?;
                if opcode == op::PUT {
                    self.put(index)?;
                } else {
                    self.get(index)?;
                }
            }
            op::INT | op::LONG | op::FLOAT | op::STRING | op::UNICODE => {
                let line = self.window.line()?;
                let value = old_text::value(&mut self.heap, opcode, &line);
                let value = value.ok_or_else(|| self.fault("a number or text of the old form cannot be read"))?;
                self.push(value)?;
            }
            _ => return Err(self.refuse(opcode)),
        }
        Ok(())
    }

    /// The error for opcodes that are not read on purpose, or unknown.
    #[cold]
    fn refuse(&mut self, opcode: u8) -> ImportError {
        let what = match opcode {
            op::GLOBAL | op::INST => {
                let lines = self.window.line().and_then(|module| Ok((module, self.window.line()?)));
                match lines {
                    Ok((module, name)) => wants(&module, &name),
                    Err(error) => return error,
                }
            }
            op::STACK_GLOBAL => {
                let mut names = self
                    .stack
                    .iter()
                    .rev()
                    .map(|name| self.heap.text(*name).unwrap_or(b"?"));
                let name = names.next().unwrap_or(b"?");
                wants(names.next().unwrap_or(b"?"), name)
            }
            op::REDUCE | op::BUILD | op::OBJ | op::NEWOBJ | op::NEWOBJ_EX => {
                "the pickle wants to call a function or to build an object".to_owned()
            }
            op::EXT1 | op::EXT2 | op::EXT4 => "the pickle wants a registered extension".to_owned(),
            op::PERSID | op::BINPERSID => "the pickle wants an object from outside".to_owned(),
            op::NEXT_BUFFER | op::READONLY_BUFFER => "the pickle wants a buffer from outside".to_owned(),
            other => return self.fault(&format!("0x{other:02x} is no opcode of a pickle")),
        };
        ImportError::at(
            what,
            format!("byte {}", self.at),
            "memory snapshots hold only numbers, texts, lists and dicts; this is another pickle, and nothing of it was run",
        )
    }
}

fn wants(module: &[u8], name: &[u8]) -> String {
    let cut = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(100)]).into_owned();
    format!("the pickle wants to import {}.{}", cut(module), cut(name))
}
