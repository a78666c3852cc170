//! A tape in the making: instructions in, names resolved.
//!
//! In: lines in order. Out: a [`Tape`], or an error with the line's number. Invariants: every name is bound to a tensor
//! that exists; references are counted as the tape's calls will count them; an op whose results are not all described
//! yet is pending, and nothing but their descriptions may follow.

use indexmap::IndexMap;

use super::line::{Line, Number, Text};
use crate::ImportError;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Tape, TapeCall, TapeOp, TapeTensor};

/// Most tensors, ops, arguments and references in sum.
const MOST_PARTS: usize = 64 << 20;

const MOST_NAME_BYTES: usize = 1 << 30;

/// The largest sum of all bytes, and of all times.
const MOST_IN_SUM: u64 = 1 << 61;

type Fault = (String, &'static str);

const RECORD_AGAIN: &str = "the log is damaged or cut off, record it again";

#[derive(Clone, Copy)]
enum Alias {
    Own,
    /// It is a view of a storage.
    Of(u32),
}

/// A result whose MEMORY and ALIAS lines are awaited.
struct Awaited {
    name: Box<str>,
    bytes: Option<Bytes>,
    alias: Option<Alias>,
}

struct Pending {
    op: TapeOp,
    results: Vec<Awaited>,
}

pub(super) struct Draft {
    tape: Tape,
    /// In the order in which names were first bound.
    names: IndexMap<Box<str>, u32>,
    references: Vec<u64>,
    pending: Option<Pending>,
    n_parts: usize,
    name_bytes: usize,
    bytes: u64,
    time: u64,
}

impl Draft {
    pub(super) fn new(name: &str) -> Self {
        Self {
            tape: Tape {
                name: name.to_owned(),
                ..Tape::default()
            },
            names: IndexMap::new(),
            references: Vec::new(),
            pending: None,
            n_parts: 0,
            name_bytes: 0,
            bytes: 0,
            time: 0,
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>, number: u64) -> Result<(), ImportError> {
        self.instruction(line)
            .map_err(|(what, advice)| ImportError::at(what, format!("line {number}"), advice))
    }

    /// The tape; `n_lines` is where the log ends.
    pub(super) fn finish(mut self, n_lines: u64) -> Result<Tape, ImportError> {
        let end = |(what, advice)| ImportError::at(what, format!("line {n_lines}, the last"), advice);
        self.is_described().map_err(end)?;
        if self.tape.ops.is_empty() {
            return Err(end(("the log holds no op".to_owned(), RECORD_AGAIN)));
        }
        let kept = self.names.values().copied();
        self.tape.kept = kept.filter(|tensor| self.references[*tensor as usize] > 0).collect();
        Ok(self.tape)
    }

    fn instruction(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        match &*line.instruction {
            "MEMORY" => return self.memory(line),
            "ALIAS" => return self.alias(line),
            _ => self.is_described()?,
        }
        match &*line.instruction {
            "ANNOTATE" => Ok(()),
            "CONSTANT" => self.constant(line),
            "CALL" => self.call(line),
            "MUTATE" => self.mutate(line),
            "COPY" => {
                let (dst, src) = (text("DST", line.dst.as_ref())?, text("SRC", line.src.as_ref())?);
                let tensor = self.tensor(src)?;
                self.retain(tensor)?;
                self.bind(dst, tensor)
            }
            "COPY_FROM" => {
                let (dst, src) = (text("DST", line.dst.as_ref())?, text("SRC", line.src.as_ref())?);
                let (old, tensor) = (self.tensor(dst)?, self.tensor(src)?);
                self.release(old)?;
                self.retain(tensor)?;
                self.bind(dst, tensor)
            }
            "RELEASE" => match self.names.get(text("NAME", line.name.as_ref())?) {
                Some(tensor) => self.release(*tensor),
                None => Ok(()),
            },
            other => Err((
                format!("the instruction \"{other}\" is unknown"),
                "known are ANNOTATE, CONSTANT, MEMORY, CALL, ALIAS, MUTATE, COPY, COPY_FROM and RELEASE",
            )),
        }
    }

    fn constant(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let name = text("NAME", line.name.as_ref())?;
        let op = self.op("constant", 0, Vec::new())?;
        self.await_results(
            TapeOp { is_source: true, ..op },
            vec![Awaited {
                name: name.into(),
                bytes: None,
                alias: Some(Alias::Own),
            }],
        )
    }

    fn call(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let name = text("NAME", line.name.as_ref())?;
        let inputs = self.arguments(line)?;
        let time = time(line)?;
        let Some(results) = &line.result else {
            return Err((format!("the call of \"{name}\" has no RESULT"), RECORD_AGAIN));
        };
        let op = self.op(name, time, inputs)?;
        let results = results.iter().map(|result| Awaited {
            name: (&*result.0).into(),
            bytes: None,
            alias: None,
        });
        self.await_results(op, results.collect())
    }

    fn mutate(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let name = text("NAME", line.name.as_ref())?;
        let inputs = self.arguments(line)?;
        let (Some(args), Some(mutated)) = (&line.args, &line.mutate) else {
            return Err((format!("the op \"{name}\" has no MUTATE"), RECORD_AGAIN));
        };
        let time = time(line)?;
        let mut changes = Vec::with_capacity(mutated.len());
        let mut results = Vec::with_capacity(mutated.len());
        for position in mutated {
            let (position, old) = argument(&inputs, *position, name)?;
            let root = self.tape.tensors[old as usize].storage;
            changes.push((&*args[position].0, old));
            results.push(Awaited {
                name: format!("{}$", args[position].0).into(),
                bytes: Some(self.tape.tensors[root as usize].bytes),
                alias: Some(Alias::Own),
            });
        }
        let op = self.op(name, time, inputs)?;
        let outputs = self.commit(Pending { op, results })?;
        for ((name, old), new) in changes.into_iter().zip(outputs) {
            self.bind(name, new)?;
            self.release(old)?;
        }
        Ok(())
    }

    fn memory(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let name = text("NAME", line.name.as_ref())?;
        let Some(Number(bytes)) = line.memory else {
            return Err((format!("the MEMORY of \"{name}\" has no number"), RECORD_AGAIN));
        };
        let Ok(bytes) = u64::try_from(bytes) else {
            return Err((format!("\"{name}\" has {bytes} bytes"), "write whole bytes"));
        };
        self.awaited(name, "MEMORY", |result| result.bytes.is_none())?.bytes = Some(Bytes(bytes));
        self.commit_if_described()
    }

    fn alias(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let name = text("NAME", line.name.as_ref())?;
        let Some(alias) = line.alias else {
            return Err((format!("the ALIAS of \"{name}\" has no number"), RECORD_AGAIN));
        };
        let mut base = Alias::Own;
        if alias.0 != -1 {
            let op = self.pending.as_ref().map(|pending| &pending.op);
            let (name, inputs) = op.map_or(("", &[][..]), |op| (&op.name, &op.inputs));
            let (_, tensor) = argument(inputs, alias, name)?;
            base = Alias::Of(self.tape.tensors[tensor as usize].storage);
        }
        self.awaited(name, "ALIAS", |result| result.alias.is_none())?.alias = Some(base);
        self.commit_if_described()
    }

    /// The first result of a name that still lacks something.
    fn awaited(&mut self, name: &str, what: &str, lacks: impl Fn(&Awaited) -> bool) -> Result<&mut Awaited, Fault> {
        let results = self.pending.as_mut().map(|pending| pending.results.iter_mut());
        let found = results.and_then(|mut results| results.find(|result| *result.name == *name && lacks(result)));
        found.ok_or_else(|| {
            (
                format!("the {what} of \"{name}\" belongs to no result above"),
                "it comes right after the op that computes it, once",
            )
        })
    }

    fn await_results(&mut self, op: TapeOp, results: Vec<Awaited>) -> Result<(), Fault> {
        self.pending = Some(Pending { op, results });
        self.commit_if_described()
    }

    fn commit_if_described(&mut self) -> Result<(), Fault> {
        let is_whole = |result: &Awaited| result.bytes.is_some() && result.alias.is_some();
        if let Some(pending) = self.pending.take_if(|pending| pending.results.iter().all(is_whole)) {
            let names: Vec<Box<str>> = pending.results.iter().map(|result| result.name.clone()).collect();
            let outputs = self.commit(pending)?;
            for (name, tensor) in names.iter().zip(outputs) {
                self.bind(name, tensor)?;
            }
        }
        Ok(())
    }

    fn is_described(&self) -> Result<(), Fault> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let mut results = pending.results.iter();
        let lacking = results.find_map(|result| match (result.bytes, result.alias) {
            (None, _) => Some((&result.name, "MEMORY")),
            (_, None) => Some((&result.name, "ALIAS")),
            _ => None,
        });
        let Some((name, what)) = lacking else { return Ok(()) };
        let op = &pending.op.name;
        Err((
            format!("the result \"{name}\" of \"{op}\" has no {what} line before this"),
            RECORD_AGAIN,
        ))
    }

    /// Adds an op with its results; returns their numbers.
    fn commit(&mut self, pending: Pending) -> Result<std::ops::Range<u32>, Fault> {
        let Pending { mut op, results } = pending;
        let number = position(self.tape.ops.len());
        let first = position(self.tape.tensors.len());
        for result in results {
            let tensor = position(self.tape.tensors.len());
            let (storage, bytes) = match result.alias {
                Some(Alias::Of(storage)) => (storage, Bytes::ZERO),
                _ => (tensor, result.bytes.unwrap_or_default()),
            };
            self.bytes = self.bytes.saturating_add(bytes.get());
            self.count(1, result.name.len())?;
            self.tape.tensors.push(TapeTensor {
                name: result.name,
                storage,
                bytes,
                op: number,
                is_external: op.is_source,
            });
            self.references.push(1);
            op.outputs.push(tensor);
        }
        if self.bytes > MOST_IN_SUM {
            return Err(("the sizes add up to more than 2^61 bytes".to_owned(), "check the sizes"));
        }
        self.tape.ops.push(op);
        self.tape.calls.push(TapeCall::Call(number));
        Ok(first..position(self.tape.tensors.len()))
    }

    fn op(&mut self, name: &str, time: u64, inputs: Vec<u32>) -> Result<TapeOp, Fault> {
        self.time = self.time.saturating_add(time);
        if self.time > MOST_IN_SUM {
            return Err(("the times add up to more than 2^61 ns".to_owned(), "check the times"));
        }
        self.count(2 + inputs.len(), name.len())?;
        Ok(TapeOp {
            name: format!("{name}/{}", self.tape.ops.len()).into(),
            time: Nanos(time),
            inputs,
            outputs: Vec::new(),
            is_source: false,
            is_non_recomputable: false,
        })
    }

    fn arguments(&self, line: &Line<'_>) -> Result<Vec<u32>, Fault> {
        let Some(args) = &line.args else {
            return Err(("the op has no ARGS".to_owned(), RECORD_AGAIN));
        };
        args.iter().map(|name| self.tensor(&name.0)).collect()
    }

    fn tensor(&self, name: &str) -> Result<u32, Fault> {
        self.names.get(name).copied().ok_or_else(|| {
            (
                format!("\"{name}\" names no tensor above"),
                "the log lacks its beginning, record it again",
            )
        })
    }

    fn bind(&mut self, name: &str, tensor: u32) -> Result<(), Fault> {
        if let Some(bound) = self.names.get_mut(name) {
            *bound = tensor;
            return Ok(());
        }
        self.count(1, name.len())?;
        self.names.insert(name.into(), tensor);
        Ok(())
    }

    fn retain(&mut self, tensor: u32) -> Result<(), Fault> {
        self.references[tensor as usize] += 1;
        self.tape.calls.push(TapeCall::Retain(tensor));
        self.count(1, 0)
    }

    fn release(&mut self, tensor: u32) -> Result<(), Fault> {
        let references = &mut self.references[tensor as usize];
        *references = references.saturating_sub(1);
        self.tape.calls.push(TapeCall::Release(tensor));
        self.count(1, 0)
    }

    fn count(&mut self, parts: usize, name_bytes: usize) -> Result<(), Fault> {
        self.n_parts += parts;
        self.name_bytes += name_bytes;
        if self.n_parts > MOST_PARTS || self.name_bytes > MOST_NAME_BYTES {
            return Err((
                format!("the log has more than {MOST_PARTS} tensors, ops, arguments and references, or 1 GiB of names"),
                "record fewer batches",
            ));
        }
        Ok(())
    }
}

fn text<'a>(field: &str, text: Option<&'a Text<'_>>) -> Result<&'a str, Fault> {
    text.map(|text| &*text.0)
        .ok_or_else(|| (format!("the instruction has no {field}"), RECORD_AGAIN))
}

fn time(line: &Line<'_>) -> Result<u64, Fault> {
    let Some(Number(time)) = line.time else {
        return Err(("the op has no TIME".to_owned(), RECORD_AGAIN));
    };
    u64::try_from(time).map_err(|_negative| (format!("the op takes {time} ns"), "write whole nanoseconds"))
}

fn argument(inputs: &[u32], position: Number, op: &str) -> Result<(usize, u32), Fault> {
    let index = usize::try_from(position.0).ok();
    let found = index.and_then(|index| Some((index, *inputs.get(index)?)));
    found.ok_or_else(|| {
        (
            format!(
                "argument {} is asked for, and \"{op}\" has {}",
                position.0,
                inputs.len()
            ),
            "arguments count from 0; -1 in ALIAS means none",
        )
    })
}

/// A count below [`MOST_PARTS`] as a number.
fn position(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
