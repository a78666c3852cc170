//! A list of commands for an allocator, read from text.

use std::collections::BTreeMap;

use crate::device::{DeviceSpec, Order};
use crate::private_pools::Filter;

/// One command. Allocations are numbered in order of their first mention.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Ask for bytes on a stream.
    Alloc {
        /// The allocation.
        id: u32,
        /// Bytes.
        size: u64,
        /// Handle of the stream.
        stream: u64,
    },
    /// Give an allocation back.
    Free {
        /// The allocation.
        id: u32,
    },
    /// Another stream uses an allocation.
    Record {
        /// The allocation.
        id: u32,
        /// Handle of the stream.
        stream: u64,
    },
    /// All events recorded on the stream so far are complete.
    Done(u64),
    /// Give back what is cached, in all or in one private pool.
    Empty(Option<u64>),
    /// Limit the process to a part of the device.
    Fraction(f64),
    /// Open a private pool for streams.
    PoolBegin(u64, Filter),
    /// Close it.
    PoolEnd(u64),
    /// Take a use off it.
    PoolRelease(u64),
    /// Make it an overflow pool.
    PoolUseOnOom(u64),
    /// Never split its blocks.
    PoolNoSplit(u64),
    /// Change settings.
    Set(Box<str>),
    /// Answer with all segments.
    Snapshot,
}

/// A device and commands.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The device of the first line.
    pub device: DeviceSpec,
    /// In order.
    pub commands: Vec<Command>,
    /// Number of allocations that are mentioned.
    pub allocations: usize,
}

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct TraceError {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// What is wrong, and what is right.
    pub problem: String,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is no command.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut device = None;
        let mut reader = Reader::default();
        let mut commands = Vec::new();
        for (text, line) in text.lines().zip(1..) {
            let mut words = Words { line, text, at: 0 };
            let Some(verb) = words.next().filter(|verb| !verb.starts_with('#')) else {
                continue;
            };
            if device.is_none() {
                device = Some(read_device(verb, &mut words)?);
                continue;
            }
            commands.push(reader.command(verb, &mut words)?);
            words.end()?;
        }
        let problem = "the first line must be `device total=BYTES other=BYTES order=up|down`";
        let device = device.ok_or_else(|| TraceError {
            line: 1,
            column: 1,
            problem: problem.to_owned(),
        })?;
        Ok(Self {
            device,
            commands,
            allocations: reader.places.len(),
        })
    }
}

/// The words of a line.
struct Words<'t> {
    line: usize,
    text: &'t str,
    /// Where the rest starts.
    at: usize,
}

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start().len();
        let word = self.text[start..].split_whitespace().next();
        self.at = start + word.map_or(0, str::len);
        word
    }

    fn error(&self, word: Option<&str>, problem: impl Into<String>) -> TraceError {
        TraceError {
            line: self.line,
            column: self.at - word.map_or(0, str::len) + 1,
            problem: problem.into(),
        }
    }

    fn number(&mut self, what: &str) -> Result<u64, TraceError> {
        let word = self.next();
        let number = word.and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.error(word, expected(what, word)))
    }

    fn end(&mut self) -> Result<(), TraceError> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(self.error(
                Some(word),
                format!("`{word}` is more than the command takes: remove it"),
            )),
        }
    }
}

fn expected(what: &str, word: Option<&str>) -> String {
    match word {
        Some(word) => format!("`{word}` is no {what}: write a whole number below 2^64"),
        None => format!("the {what} is missing: write a whole number below 2^64"),
    }
}

fn read_device(verb: &str, words: &mut Words<'_>) -> Result<DeviceSpec, TraceError> {
    if verb != "device" {
        let problem =
            format!("`{verb}` comes before `device total=BYTES other=BYTES order=up|down`: write that line first");
        return Err(words.error(Some(verb), problem));
    }
    let mut total = None;
    let mut other = 0;
    let mut order = Order::Up;
    while let Some(word) = words.next() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let number = value.parse::<u64>().ok();
        match (key, number, value) {
            ("total", Some(bytes), _) => total = Some(bytes),
            ("other", Some(bytes), _) => other = bytes,
            ("order", _, "up") => order = Order::Up,
            ("order", _, "down") => order = Order::Down,
            _ => {
                let problem = format!("`{word}` is not total=BYTES, other=BYTES or order=up|down: correct it");
                return Err(words.error(Some(word), problem));
            }
        }
    }
    match total {
        Some(total) => Ok(DeviceSpec { total, other, order }),
        None => Err(words.error(None, "the device has no size: write total=BYTES")),
    }
}

/// Places of allocations by their written numbers.
#[derive(Default)]
struct Reader {
    places: BTreeMap<u64, Mention>,
}

struct Mention {
    place: u32,
    is_allocated: bool,
}

impl Reader {
    fn mention(&mut self, id: u64) -> &mut Mention {
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.entry(id).or_insert(Mention {
            place,
            is_allocated: false,
        })
    }

    fn command(&mut self, verb: &str, words: &mut Words<'_>) -> Result<Command, TraceError> {
        Ok(match verb {
            "alloc" => self.alloc(words)?,
            "free" => Command::Free { id: self.known(words)? },
            "record" => Command::Record {
                id: self.known(words)?,
                stream: words.number("stream")?,
            },
            "done" => Command::Done(words.number("stream")?),
            "empty" => {
                let is_one = !words.text[words.at..].trim().is_empty();
                Command::Empty(if is_one { Some(words.number("pool")?) } else { None })
            }
            "fraction" => fraction(words)?,
            "pool_begin" => Command::PoolBegin(words.number("pool")?, filter(words)?),
            "pool_end" => Command::PoolEnd(words.number("pool")?),
            "pool_release" => Command::PoolRelease(words.number("pool")?),
            "pool_use_on_oom" => Command::PoolUseOnOom(words.number("pool")?),
            "pool_no_split" => Command::PoolNoSplit(words.number("pool")?),
            "set" => {
                let rest = words.text[words.at..].trim();
                words.at = words.text.len();
                Command::Set(rest.into())
            }
            "snapshot" => Command::Snapshot,
            _ => {
                let known = "alloc, free, record, done, empty, fraction, pool_begin, pool_end, pool_release, \
                             pool_use_on_oom, pool_no_split, set and snapshot";
                return Err(words.error(Some(verb), format!("`{verb}` is no command: there are {known}")));
            }
        })
    }

    fn alloc(&mut self, words: &mut Words<'_>) -> Result<Command, TraceError> {
        let id = words.number("allocation")?;
        let mention = self.mention(id);
        if mention.is_allocated {
            let problem = format!("allocation {id} was made before: give each its own number");
            let digits = id.to_string();
            return Err(words.error(Some(&digits), problem));
        }
        mention.is_allocated = true;
        let id = mention.place;
        Ok(Command::Alloc {
            id,
            size: words.number("size")?,
            stream: words.number("stream")?,
        })
    }

    fn known(&mut self, words: &mut Words<'_>) -> Result<u32, TraceError> {
        let id = words.number("allocation")?;
        Ok(self.mention(id).place)
    }
}

fn fraction(words: &mut Words<'_>) -> Result<Command, TraceError> {
    let word = words.next();
    let part = word.and_then(|word| word.parse().ok());
    match part.filter(|part| (0.0..=1.0).contains(part)) {
        Some(part) => Ok(Command::Fraction(part)),
        None => Err(words.error(word, "a fraction is a number from 0 to 1: write one")),
    }
}

fn filter(words: &mut Words<'_>) -> Result<Filter, TraceError> {
    let word = words.next();
    match word {
        Some("*") => Ok(Filter::Any),
        Some(word) if word.parse::<u64>().is_ok() => Ok(Filter::Stream(word.parse().unwrap_or_default())),
        _ => Err(words.error(word, "a pool takes one stream or `*`, all: write which")),
    }
}
