//! Op lists: a compiled graph as its memory planner gets it, one op a line (docs/text-formats.md has the whole description).
//!
//! ```text
//! # comment
//! op x   Data       out=4096
//! op c1  Conv       in=x:0 out=8192,512 ws=65536 stream=0
//! op end NetOutput  in=c1:0
//! ```
//!
//! In: text, read once. Out: one [`ProblemEntry`] that holds the arena of the graph, and the ops; graph
//! inputs and outputs lie behind the arena and are reported in a diagnostic. Inputs name earlier ops.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{ListedInput, ListedOp, NET_OUTPUT, OpList, ProblemEntry, Source};

/// Most ops: each is a step, and who walks over steps keeps a few hundred bytes for each.
const MOST_OPS: usize = 4_000_000;

/// Most ops, outputs, workspaces and inputs in sum: positions are 32-bit numbers.
const MOST_PARTS: usize = 100_000_000;

/// The largest sum of all bytes: planners add up sizes, with a margin.
const MOST_BYTES: u64 = 1 << 61;

/// The first line that is neither blank nor a comment is an op.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = String::from_utf8_lossy(input.head());
    let first = lines(&head).next();
    first.is_some_and(|(_, line)| {
        let mut words = line.split_ascii_whitespace();
        words.next() == Some("op") && words.next().is_some() && !line.contains(['{', '"'])
    })
}

/// Lines that are neither blank nor comments, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1_u64..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    let text = input.read_text(progress)?;
    let mut reader = Reader::default();
    for (number, line) in lines(&text) {
        if number.is_multiple_of(4096) {
            progress.check()?;
        }
        let op = reader.op(line, number, diagnostics).map_err(|fault| fault.at(number))?;
        reader.ops.ops.push(op);
    }
    let last = lines(&text).last().map_or(1, |(number, _)| number);
    let entry = entry(name, reader.ops, diagnostics);
    if entry.problem.buffers.is_empty() {
        return Err(ImportError::at(
            "no op asks for bytes of the arena",
            format!("line {last}"),
            "the list is cut off, or holds graph inputs and outputs alone; export it again",
        ));
    }
    Ok(Source::Problems(vec![Arc::new(entry)]))
}

fn entry(name: String, ops: OpList, diagnostics: &mut Diagnostics) -> ProblemEntry {
    let arena = ops.arena();
    if !arena.order.io.is_empty() {
        let bytes: Bytes = arena.order.io.iter().map(|block| block.bytes).sum();
        diagnostics.info(
            format!(
                "{} graph inputs and outputs of {bytes} are behind the arena, as the engine keeps them, and are none of \
                 its buffers",
                arena.order.io.len()
            ),
            "",
        );
    }
    if !arena.order.streams.is_empty() {
        diagnostics.info(
            "the ops run on several streams: the engine's assigners reuse memory within a stream, other strategies \
             regardless of it",
            "",
        );
    }
    ProblemEntry {
        name,
        problem: arena.problem,
        ids: arena.ids,
        order: Some(arena.order),
        ops: Some(Arc::new(ops)),
        ..ProblemEntry::default()
    }
}

struct LineFault {
    what: String,
    advice: &'static str,
}

impl LineFault {
    fn at(self, line: u64) -> ImportError {
        ImportError::at(self.what, format!("line {line}"), self.advice)
    }
}

fn fault<T>(what: impl Into<String>, advice: &'static str) -> Result<T, LineFault> {
    Err(LineFault {
        what: what.into(),
        advice,
    })
}

#[derive(Debug, Default)]
struct Reader<'a> {
    ops: OpList,
    /// The position and the line of each op.
    positions: BTreeMap<&'a str, (u32, u64)>,
    n_parts: usize,
    bytes: u64,
}

impl<'a> Reader<'a> {
    fn op(&mut self, line: &'a str, number: u64, diagnostics: &mut Diagnostics) -> Result<ListedOp, LineFault> {
        const FORM: &str = "write: op NAME TYPE in=OP:0,.. out=BYTES,.. ws=BYTES,..";
        let mut words = line.split_ascii_whitespace();
        let (word, name, kind) = (words.next(), words.next(), words.next());
        let (Some("op"), Some(name), Some(kind)) = (word, name, kind) else {
            return fault("this is no op with a name and a type", FORM);
        };
        if let Some(field) = [name, kind].into_iter().find(|word| word.contains('=')) {
            return fault(format!("\"{field}\" is where the op's name and type belong"), FORM);
        }
        if self.ops.ops.last().is_some_and(|last| last.kind == NET_OUTPUT) {
            return fault(
                format!("op \"{name}\" comes after {NET_OUTPUT}, which gathers the graph's outputs"),
                "move NetOutput to the end",
            );
        }
        let mut op = ListedOp {
            name: name.to_owned(),
            kind: kind.to_owned(),
            ..ListedOp::default()
        };
        let mut seen: Vec<&str> = Vec::new();
        for field in words {
            let Some((key, value)) = field.split_once('=') else {
                return fault(format!("\"{field}\" is no field with a value"), FORM);
            };
            if seen.contains(&key) {
                return fault(format!("the field \"{key}\" occurs twice"), "join the two with a comma");
            }
            seen.push(key);
            self.field(&mut op, key, value, number, diagnostics)?;
        }
        if kind == NET_OUTPUT && (op.outputs.len() + op.workspaces.len()) > 0 {
            return fault(
                format!("{NET_OUTPUT} has bytes, although it only gathers outputs"),
                "remove its out and ws",
            );
        }
        let position = u32::try_from(self.ops.ops.len()).unwrap_or(u32::MAX);
        if let Some((_, first)) = self.positions.insert(name, (position, number)) {
            return fault(
                format!("op \"{name}\" occurs twice, first on line {first}"),
                "give every op a different name",
            );
        }
        self.n_parts += 1 + op.inputs.len() + op.outputs.len() + op.workspaces.len();
        if self.n_parts > MOST_PARTS || self.ops.ops.len() >= MOST_OPS {
            return fault(
                format!("there are more than {MOST_OPS} ops, or {MOST_PARTS} with their inputs and outputs"),
                "split the graph",
            );
        }
        Ok(op)
    }

    fn field(
        &mut self,
        op: &mut ListedOp,
        key: &str,
        value: &str,
        number: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), LineFault> {
        match key {
            "in" => op.inputs = list(value, |text| self.input(text))?,
            "out" => op.outputs = list(value, |text| self.size(text))?,
            "ws" => op.workspaces = list(value, |text| self.size(text))?,
            "stream" => match value.parse() {
                Ok(stream) => op.stream = stream,
                Err(_) => return fault(format!("the stream \"{value}\" is no number"), "number streams from 0"),
            },
            "ref" if value.split(',').all(|input| input == "-1") => {}
            "ref" => diagnostics.warning(
                format!(
                    "an output of op \"{}\" refers to an input, and is counted with separate bytes",
                    op.name
                ),
                &format!("line {number}"),
            ),
            other => diagnostics.skipped(&format!("field \"{other}\""), &format!("line {number}")),
        }
        Ok(())
    }

    fn input(&self, text: &str) -> Result<ListedInput, LineFault> {
        let (name, output) = text.rsplit_once(':').unwrap_or((text, ""));
        let Ok(output) = output.parse::<u32>() else {
            return fault(
                format!("the input \"{text}\" does not say which output"),
                "write the op's name, a colon and the number of its output",
            );
        };
        let Some((op, _)) = self.positions.get(name) else {
            return fault(
                format!("the input \"{text}\" names no op above"),
                "put ops in execution order; leave constants out",
            );
        };
        let n_outputs = self.ops.ops[*op as usize].outputs.len();
        if output as usize >= n_outputs {
            return fault(
                format!("the input \"{text}\" asks for output {output}, and op \"{name}\" has {n_outputs}"),
                "outputs count from 0",
            );
        }
        Ok(ListedInput { op: *op, output })
    }

    fn size(&mut self, text: &str) -> Result<Bytes, LineFault> {
        let Ok(bytes) = text.parse::<u64>() else {
            return fault(
                format!("\"{text}\" is no number of bytes"),
                "write whole bytes, without a unit",
            );
        };
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(512);
        if self.bytes > MOST_BYTES {
            return fault("the sizes add up to more than 2^61 bytes", "check the sizes");
        }
        Ok(Bytes(bytes))
    }
}

/// Comma-separated parts; an empty text has none.
fn list<T>(value: &str, mut part: impl FnMut(&str) -> Result<T, LineFault>) -> Result<Vec<T>, LineFault> {
    if value.is_empty() {
        return Ok(Vec::new());
    }
    value.split(',').map(&mut part).collect()
}
