//! `memory_block.csv` of `MindSpore`'s memory tracker: a row for each block of a memory pool.
//!
//! ```text
//! start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_used_memory,actual_peak_memory,file_name,
//! line_num,type,producer_task,task_name,node_name,graph_name,user_tasks,last_user_task,python_stack,is_persistent,is_small,
//! ```
//! Source: `mem_tracker.cc` of the public sources (2.4 to 2.10), and the rows of the same form that `HyperDryRun` of
//! hyper-parallel writes of a run on fake tensors. Older versions lack columns; lines end in a comma.
//!
//! In: rows. Out: one recording for each pool. Rules:
//!
//! * Stamps count operations of the pools and tasks, they are no times; a step is an allocation or a release. At one stamp
//!   releases come first: what ends at a stamp is free for what begins there.
//! * A block without an end has 2^63 - 1 in its place: it was never freed.
//! * Its call stack is `python_stack` (`File:F;Line:N;Function:f|...`, the outermost first), and innermost the line of C++
//!   that asked. Without Python the node's name takes the place of that line's function.
//! * `actual_used_memory` is what the pool had in use at the allocation, the curve of allocated bytes.
//! * The tracker leaves the pool of the CPU out, so that a run on the CPU alone has no rows.

use std::sync::Arc;

use indexmap::IndexMap;

use super::header::Header;
use super::number_of;
use super::table::{Fault, Row, Sink, Table, read_csv};
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    BlockAddress, RecordedBlock, RecordedName, RecordedStacks, RecordedTotal, Recording, RecordingRules, Source,
    StackIdx, TotalKind,
};

/// The end of a block that was never freed, as of 64-bit signed numbers.
const NEVER: u64 = i64::MAX.unsigned_abs();

/// A value that a row does not state.
const NONE: u64 = u64::MAX;

/// Pools of one process: a device has two, and few processes have two devices.
const MOST_POOLS: usize = 256;

#[derive(Clone, Debug)]
struct Columns {
    start: usize,
    end: usize,
    size: usize,
    address: Option<usize>,
    stream: Option<usize>,
    pool: Option<usize>,
    used: Option<usize>,
    file: Option<usize>,
    line: Option<usize>,
    /// The node, else the task.
    names: [Option<usize>; 2],
    stack: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    /// [`NEVER`] or more where it was never freed.
    end: u64,
    bytes: u64,
    address: u64,
    stream: u64,
    used: u64,
    name: RecordedName,
    stack: Option<StackIdx>,
}

#[derive(Debug, Default)]
struct Pool {
    texts: RecordedStacks,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Blocks {
    columns: Columns,
    /// By their texts.
    pools: IndexMap<Vec<u8>, Pool>,
}

fn is_header(header: &Header) -> bool {
    header.has_all(&["start time stamp", "end time stamp", "pool type", "size"])
}

/// The headings of the tracker in the first line.
pub(crate) fn detect(input: &Input<'_>) -> bool {
    super::first_row(input).is_some_and(|record| is_header(&Header::of(&record)))
}

pub(crate) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let mut sink = Sink::new(progress, diagnostics);
    let len = input.len();
    let choose = |header: &Header| -> Result<Box<dyn Table>, ImportError> { Ok(Box::new(Blocks::new(header)?)) };
    read_csv(input.reader()?, len, &choose, &mut sink)?;
    if sink.recordings.is_empty() {
        let message = "the tracker writes no rows of the CPU's pool: run on a device for blocks";
        sink.diagnostics.info(message, "");
    }
    Ok(Source::Recordings(sink.recordings.into_iter().map(Arc::new).collect()))
}

impl Blocks {
    fn new(header: &Header) -> Result<Self, ImportError> {
        let needed = |name: &str| Header::needed(header.find(&[name]));
        Ok(Self {
            columns: Columns {
                start: needed("start time stamp")?,
                end: needed("end time stamp")?,
                size: needed("size")?,
                address: header.find(&["device addr"]),
                stream: header.find(&["stream id"]),
                pool: header.find(&["pool type"]),
                used: header.find(&["actual used memory"]),
                file: header.find(&["file name"]),
                line: header.find(&["line num"]),
                names: [header.find(&["node name"]), header.find(&["task name"])],
                stack: header.find(&["python stack"]),
            },
            pools: IndexMap::new(),
        })
    }

    fn pool(&mut self, text: &[u8]) -> Result<&mut Pool, Fault> {
        if self.pools.len() >= MOST_POOLS && !self.pools.contains_key(text) {
            return Err(Fault::new("there are more pools than any run has", text));
        }
        Ok(self.pools.entry(text.to_vec()).or_default())
    }
}

impl Table for Blocks {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let columns = self.columns.clone();
        let number = |at: usize, what: &'static str| {
            let text = row.field(Some(at));
            number_of(text).ok_or_else(|| Fault::new(what, text))
        };
        let start = number(columns.start, "the stamp of an allocation cannot be read")?;
        let end = match row.field(Some(columns.end)) {
            b"" => NEVER,
            _ => number(columns.end, "the stamp of a release cannot be read")?,
        };
        let bytes = number(columns.size, "a size cannot be read")?;
        let optional = |at: Option<usize>| number_of(row.field(at)).unwrap_or(NONE);
        if start >= NEVER || end < start {
            return Err(Fault::new(
                "a block ends before it begins",
                row.field(Some(columns.end)),
            ));
        }
        let pool = self.pool(row.field(columns.pool))?;
        let names = columns.names.map(|at| row.field(at));
        let name = String::from_utf8_lossy(names.into_iter().find(|name| !name.is_empty()).unwrap_or_default());
        let line = u32::try_from(optional(columns.line)).unwrap_or(0);
        let file = String::from_utf8_lossy(row.field(columns.file));
        let python = String::from_utf8_lossy(row.field(columns.stack));
        let entry = Entry {
            start,
            end,
            bytes,
            address: optional(columns.address),
            stream: optional(columns.stream),
            used: optional(columns.used),
            name: pool.texts.names.intern(&name),
            stack: stack(&mut pool.texts, &python, (&name, &file, line)),
        };
        pool.entries.push(entry);
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        for (name, pool) in std::mem::take(&mut self.pools) {
            let recording = pool.finish(String::from_utf8_lossy(&name).into_owned(), sink.progress)?;
            sink.recordings.push(recording);
        }
        Ok(())
    }
}

/// The stack of a block, innermost first: `asked` are node, file and line of the C++ code, which the last line of Python
/// may repeat.
fn stack(texts: &mut RecordedStacks, python: &str, asked: (&str, &str, u32)) -> Option<StackIdx> {
    let frames = python.split('|').map(str::trim).filter(|frame| !frame.is_empty());
    let mut lines: Vec<(&str, &str, u32)> = frames.map(frame).collect();
    lines.reverse();
    let (node, file, line) = asked;
    let is_repeated = lines.first().is_some_and(|(_, of, at)| (*of, *at) == (file, line));
    if !file.is_empty() && !is_repeated {
        let function = if lines.is_empty() { node } else { "" };
        lines.insert(0, (function, file, line));
    }
    let lines = lines
        .into_iter()
        .map(|(function, file, line)| texts.line(function, file, line));
    let lines = lines.collect();
    texts.stack(lines)
}

/// Function, file and line of `File:F;Line:N;Function:f`; a frame of another form is all function.
fn frame(text: &str) -> (&str, &str, u32) {
    let parsed = text.strip_prefix("File:").and_then(|rest| {
        let (file, rest) = rest.split_once(";Line:")?;
        let (line, function) = rest.split_once(";Function:")?;
        Some((function, file, line.parse().ok()?))
    });
    parsed.unwrap_or((text, "", 0))
}

/// The order of events at one stamp.
const RELEASE: u8 = 0;
const ALLOCATION: u8 = 1;
/// Of a block that is freed at the stamp of its allocation.
const INSTANT_RELEASE: u8 = 2;

impl Pool {
    fn finish(self, name: String, progress: &Progress<'_>) -> Result<Recording, ImportError> {
        let too_many = || {
            ImportError::at(
                "there are more blocks than can be counted",
                name.as_str(),
                "track fewer steps",
            )
        };
        let n_entries = u32::try_from(self.entries.len()).map_err(|_overflow| too_many())?;
        let mut events: Vec<(u64, u8, u32)> = Vec::with_capacity(self.entries.len());
        for (row, entry) in (0..n_entries).zip(&self.entries) {
            events.push((entry.start, ALLOCATION, row));
            if entry.end < NEVER {
                let kind = if entry.end > entry.start {
                    RELEASE
                } else {
                    INSTANT_RELEASE
                };
                events.push((entry.end, kind, row));
            }
        }
        let events = progress.sorted(events)?;
        let n_steps = u32::try_from(events.len()).map_err(|_overflow| too_many())?;
        let mut positions = vec![0_usize; self.entries.len()];
        let (mut used, mut recording) = (Vec::new(), Recording::default());
        for (step, (_, kind, row)) in (0..n_steps).zip(events) {
            let entry = &self.entries[row as usize];
            if kind != ALLOCATION {
                let block: &mut RecordedBlock = &mut recording.blocks[positions[row as usize]];
                block.end_at(Step(step));
                continue;
            }
            positions[row as usize] = recording.blocks.len();
            recording.blocks.push(entry.block(step, n_steps));
            if entry.used != NONE {
                used.push((Step(step), Bytes(entry.used)));
            }
        }
        self.texts.finish(&mut recording);
        recording.totals = RecordedTotal::known([(TotalKind::Allocated, used)]);
        "MindSpore memory tracker".clone_into(&mut recording.recorder);
        recording.n_steps = n_steps;
        recording.name = name;
        recording.apply_rules(&RecordingRules::default());
        Ok(recording)
    }
}

impl Entry {
    fn block(&self, step: u32, n_steps: u32) -> RecordedBlock {
        RecordedBlock {
            address: BlockAddress::new(self.address),
            stream: self.stream,
            stack: self.stack,
            is_freed: self.end < NEVER,
            ..RecordedBlock::new(self.name, Step(step), Step(n_steps), Bytes(self.bytes))
        }
    }
}
