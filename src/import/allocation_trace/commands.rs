//! Lines of a trace as commands.
//!
//! In: one line after the other. Out: the trace. Names are interned: equal names are one
//! [`TraceName`]. Invariant: `commands` and `lines` are equally long.

use indexmap::IndexSet;

use super::limits;
use crate::ImportError;
use crate::problem::number::shortened;
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationTrace, ArenaSegment, TraceCommand, TraceName};

/// Commands with the number of words behind them: at least, at most.
const COMMANDS: &[(&str, usize, usize)] = &[
    ("device", 1, 1),
    ("threshold_gb", 1, 1),
    ("no_reserve", 0, 0),
    ("use", 1, 1),
    ("a", 2, 2),
    ("f", 1, 1),
    ("sync", 0, 0),
    ("recycle", 0, 0),
    ("recycle_l1", 0, 0),
    ("destroy", 1, 1),
    ("end_iteration", 1, 1),
    ("load", 1, usize::MAX),
    ("exec", 1, 1),
    ("begin", 1, 1),
    ("finish", 1, 1),
    ("unload", 1, 1),
    ("w", 2, 2),
    ("wf", 1, 1),
    ("fixed", 2, 2),
    ("unfixed", 1, 1),
];

const ADVICE: &str = "docs/text-formats.md lists the commands of allocation traces";

/// The resemblance of a line to one of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resemblance {
    /// It is empty or a comment.
    Nothing,
    Command,
    /// It begins with a command's word.
    Word,
    Other,
}

pub(super) fn resemblance(line: &str) -> Resemblance {
    let mut words = words(line);
    let Some(word) = words.next() else {
        return Resemblance::Nothing;
    };
    if !COMMANDS.iter().any(|(known, _, _)| *known == word) {
        return Resemblance::Other;
    }
    if Reader::new("").line(line, 1).is_ok() {
        Resemblance::Command
    } else {
        Resemblance::Word
    }
}

fn words(line: &str) -> std::str::SplitWhitespace<'_> {
    line.split('#').next().unwrap_or("").split_whitespace()
}

#[derive(Debug)]
pub(super) struct Reader {
    trace: AllocationTrace,
    names: IndexSet<String>,
    name_bytes: usize,
    pools: IndexSet<u32>,
}

impl Reader {
    pub(super) fn new(name: &str) -> Self {
        Self {
            trace: AllocationTrace {
                name: name.to_owned(),
                device_bytes: None,
                threshold_gib: None,
                can_reserve: true,
                commands: Vec::new(),
                lines: Vec::new(),
                segments: Vec::new(),
                names: highwater_model::workload::Names::default(),
            },
            names: IndexSet::new(),
            name_bytes: 0,
            pools: IndexSet::new(),
        }
    }

    /// Reads one line; `number` counts from 1.
    pub(super) fn line(&mut self, line: &str, number: u64) -> Result<(), ImportError> {
        let mut words = words(line);
        let Some(word) = words.next() else {
            return Ok(());
        };
        let arguments: Vec<&str> = words.collect();
        let line = Line {
            word,
            arguments,
            number,
        };
        line.check_arguments()?;
        if self.header(&line)? {
            return Ok(());
        }
        let command = self.command(&line)?;
        limits::check_count(self.trace.commands.len(), limits::COMMANDS, "commands", number)?;
        self.trace.commands.push(command);
        self.trace.lines.push(u32::try_from(number).unwrap_or(u32::MAX));
        Ok(())
    }

    pub(super) fn finish(self) -> AllocationTrace {
        let mut trace = self.trace;
        trace.names = self.names.iter().map(String::as_str).collect();
        trace
    }

    /// Whether the line is one of the header; then it was taken in.
    fn header(&mut self, line: &Line<'_>) -> Result<bool, ImportError> {
        match line.word {
            "device" => {
                let bytes = line.size(0)?;
                if bytes == Bytes::ZERO || bytes > limits::DEVICE {
                    return Err(line.error(
                        format!("a device of {} bytes cannot be simulated", bytes.get()),
                        "state between one byte and 4096G",
                    ));
                }
                self.trace.device_bytes = Some(bytes);
            }
            "threshold_gb" => self.trace.threshold_gib = Some(line.whole(0)?),
            "no_reserve" => self.trace.can_reserve = false,
            _ => return Ok(false),
        }
        if self.trace.commands.is_empty() {
            return Ok(true);
        }
        Err(line.error(
            format!("\"{}\" comes after a command", line.word),
            "it speaks of the whole trace, so move it to the beginning",
        ))
    }

    fn command(&mut self, line: &Line<'_>) -> Result<TraceCommand, ImportError> {
        Ok(match line.word {
            "use" => TraceCommand::Use(self.pool(line)?),
            "destroy" => TraceCommand::Destroy(self.pool(line)?),
            "sync" => TraceCommand::Synchronize,
            "recycle" => TraceCommand::Recycle,
            "recycle_l1" => TraceCommand::RecycleDevice,
            "load" => self.load(line)?,
            word => {
                let name = self.name(line.arguments[0], line)?;
                match word {
                    "a" => TraceCommand::Allocate {
                        id: name,
                        bytes: line.size(1)?,
                    },
                    "w" => TraceCommand::Weights {
                        id: name,
                        bytes: line.size(1)?,
                    },
                    "fixed" => TraceCommand::Fixed {
                        graph: name,
                        bytes: line.size(1)?,
                    },
                    "f" => TraceCommand::Free { id: name },
                    "wf" => TraceCommand::FreeWeights { id: name },
                    "exec" => TraceCommand::Execute(name),
                    "begin" => TraceCommand::Begin(name),
                    "finish" => TraceCommand::Finish(name),
                    "unload" => TraceCommand::Unload(name),
                    "unfixed" => TraceCommand::Unfixed(name),
                    _ => TraceCommand::EndIteration(name),
                }
            }
        })
    }

    fn pool(&mut self, line: &Line<'_>) -> Result<u32, ImportError> {
        let number = line.whole(0)?;
        let Ok(number) = u32::try_from(number) else {
            return Err(line.error(
                format!("pool {number} is beyond the highest number, {}", u32::MAX),
                "number the pools from 0",
            ));
        };
        if !self.pools.contains(&number) {
            limits::check_count(self.pools.len(), limits::POOLS, "pools", line.number)?;
            self.pools.insert(number);
        }
        Ok(number)
    }

    fn name(&mut self, text: &str, line: &Line<'_>) -> Result<TraceName, ImportError> {
        let idx = if let Some(idx) = self.names.get_index_of(text) {
            idx
        } else {
            limits::check_count(self.names.len(), limits::NAMES, "names", line.number)?;
            limits::check_count(self.name_bytes, limits::NAME_BYTES, "bytes of names", line.number)?;
            self.name_bytes += text.len();
            self.names.insert_full(text.to_owned()).0
        };
        Ok(TraceName(u32::try_from(idx).unwrap_or(u32::MAX)))
    }

    fn load(&mut self, line: &Line<'_>) -> Result<TraceCommand, ImportError> {
        let graph = self.name(line.arguments[0], line)?;
        let first = self.trace.segments.len();
        for argument in 1..line.arguments.len() {
            limits::check_count(self.trace.segments.len(), limits::SEGMENTS, "segments", line.number)?;
            self.trace.segments.push(line.segment(argument)?);
        }
        let count = self.trace.segments.len() - first;
        Ok(TraceCommand::Load {
            graph,
            first: u32::try_from(first).unwrap_or(u32::MAX),
            count: u32::try_from(count).unwrap_or(u32::MAX),
        })
    }
}

#[derive(Debug)]
struct Line<'a> {
    word: &'a str,
    arguments: Vec<&'a str>,
    number: u64,
}

impl Line<'_> {
    fn error(&self, what: String, advice: &'static str) -> ImportError {
        ImportError::at(what, format!("line {}", self.number), advice)
    }

    fn check_arguments(&self) -> Result<(), ImportError> {
        let Some((_, least, most)) = COMMANDS.iter().find(|(known, _, _)| *known == self.word) else {
            return Err(self.error(format!("\"{}\" is no command", shortened(self.word)), ADVICE));
        };
        let found = self.arguments.len();
        if (*least..=*most).contains(&found) {
            return Ok(());
        }
        let wanted = if *most == usize::MAX {
            format!("at least {least}")
        } else {
            least.to_string()
        };
        Err(self.error(
            format!(
                "\"{}\" takes {wanted} words behind it, and there are {found}",
                self.word
            ),
            ADVICE,
        ))
    }

    fn whole(&self, argument: usize) -> Result<u64, ImportError> {
        let text = self.arguments[argument];
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
            self.error(
                format!("\"{}\" is no whole number", shortened(text)),
                "write digits only",
            )
        })
    }

    fn size(&self, argument: usize) -> Result<Bytes, ImportError> {
        self.size_of(self.arguments[argument])
    }

    /// `1536`, `1.5K`, `2M`, `3G`; what is behind the point counts down to whole bytes.
    fn size_of(&self, text: &str) -> Result<Bytes, ImportError> {
        let digits = text.strip_suffix(['K', 'M', 'G', 'k', 'm', 'g']).unwrap_or(text);
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        Bytes::parse(text).ok().filter(|_| is_plain).ok_or_else(|| {
            self.error(
                format!("\"{}\" is no size", shortened(text)),
                "write bytes below 2^64, or a number with K, M or G (powers of 1024)",
            )
        })
    }

    fn segment(&self, argument: usize) -> Result<ArenaSegment, ImportError> {
        let text = self.arguments[argument];
        let (size, flags) = text.split_once(':').unwrap_or((text, ""));
        if let Some(flag) = flags.chars().find(|flag| !"nzg".contains(*flag)) {
            return Err(self.error(
                format!("\"{flag}\" is no flag of a segment"),
                "the flags are n (memory of the caller), z (zero-copy) and g (a gap before it)",
            ));
        }
        Ok(ArenaSegment {
            bytes: self.size_of(size)?,
            by_caller: flags.contains('n'),
            is_zero_copy: flags.contains('z'),
            has_gap: flags.contains('g'),
        })
    }
}
