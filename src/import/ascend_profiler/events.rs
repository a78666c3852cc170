//! Events of msmemscope (once msleaks): blocks of several pools, with the ops that were running.
//!
//! In: rows `ID, Event, Event Type, Name, Timestamp(ns), Process Id, Thread Id, Device Id, Ptr, Attr, Call Stack(...)` of a
//! CSV or of the table `memscope_dump`; rows of older tools, with sizes in columns; rows of msprof's table `NPU_OP_MEM`.
//! Out: one recording per pool and device, named `PTA/0`; see `pools.rs` for how blocks are made of events. Rules:
//!
//! * `MALLOC` and `FREE` are blocks, their Event Type is the pool. A block is called like the innermost op that was open
//!   (`..._START` without `..._END`) on its thread at its time, else like its owner.
//! * `SYSTEM`, `MSTX`, `SNAPSHOT` and `OOM_DETAIL` are marks, in the recordings of their device or of all.
//! * `ACCESS` rows and launches of kernels are counted only.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::attributes::each_attribute;
use super::header::{Header, SizeColumn, TimeColumn};
use super::number_of;
use super::pools::{DumpTables, Event, Group, Item, Mark, NONE};
use super::stacks;
use super::table::{Fault, Row, Sink, Table, Tally};
use crate::ImportError;
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;
use highwater_model::workload::{MarkKind, RecordedName, RecordedStacks};

#[derive(Clone, Debug)]
struct Columns {
    id: Option<usize>,
    event: usize,
    kind: usize,
    name: Option<usize>,
    time: TimeColumn,
    process: Option<usize>,
    thread: Option<usize>,
    device: Option<usize>,
    address: Option<usize>,
    attributes: Option<usize>,
    /// Sizes in separate columns: block, live, reserved.
    sizes: [Option<SizeColumn>; 3],
    stacks: [Option<usize>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Launch {
    name: RecordedName,
    is_start: bool,
}

/// The kind of a row, in the order of the file.
#[derive(Clone, Copy, Debug)]
enum RowKind {
    Launch(Launch),
    Block(u32),
    Mark(u32),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    id: u64,
    thread: u32,
    kind: RowKind,
    /// Whether digits of the time are cut off.
    is_rough: bool,
}

#[derive(Debug)]
pub(super) struct Events {
    columns: Columns,
    texts: RecordedStacks,
    entries: Vec<Entry>,
    blocks: Vec<Event>,
    /// Marks with their device; `None` means all devices.
    marks: Vec<(Option<String>, Mark)>,
    /// By the texts of pool and device.
    groups: IndexMap<(Vec<u8>, Vec<u8>), Group>,
    /// By the texts of process and thread.
    threads: IndexSet<(Vec<u8>, Vec<u8>)>,
    /// Rows that are counted only, by their event.
    left_out: BTreeMap<String, u64>,
    rough: Tally,
}

pub(super) fn is_header(header: &Header) -> bool {
    header.has_all(&["event", "event type", "timestamp"]) && header.find(ADDRESS).is_some()
}

/// Pools and devices of one table: seven pools on a rack of devices are fewer.
const MOST_GROUPS: usize = 256;

const ADDRESS: &[&str] = &["ptr", "addr"];

impl Events {
    pub(super) fn new(header: &Header) -> Result<Self, ImportError> {
        Ok(Self {
            columns: Columns {
                id: header.find(&["id", "record index"]),
                event: Header::needed(header.find(&["event"]))?,
                kind: Header::needed(header.find(&["event type"]))?,
                name: header.find(&["name"]),
                time: Header::needed(header.time(&["timestamp"])?)?,
                process: header.find(&["process id", "pid"]),
                thread: header.find(&["thread id", "tid"]),
                device: header.find(&["device id", "device"]),
                address: header.find(ADDRESS),
                attributes: header.find(&["attr"]),
                sizes: [
                    header.size(&["size"])?,
                    header.size(&["total allocated"])?,
                    header.size(&["total reserved"])?,
                ],
                stacks: [
                    header.find_marked("call stack", "python"),
                    header.find_marked("call stack", "c"),
                ],
            },
            texts: RecordedStacks::default(),
            entries: Vec::new(),
            blocks: Vec::new(),
            marks: Vec::new(),
            groups: IndexMap::new(),
            threads: IndexSet::new(),
            left_out: BTreeMap::new(),
            rough: Tally::default(),
        })
    }

    fn block(&mut self, row: Row<'_>, time: u64, is_malloc: bool) -> Result<RowKind, Fault> {
        let columns = &self.columns;
        let address = row.field(columns.address);
        let mut event = Event {
            name: RecordedName(u32::MAX),
            time,
            group: 0,
            address: number_of(address).unwrap_or(NONE),
            allocation: NONE,
            bytes: row.size(columns.sizes[0])?.unwrap_or(NONE),
            used: row.size(columns.sizes[1])?.unwrap_or(NONE),
            taken: row.size(columns.sizes[2])?.unwrap_or(NONE),
            stack: None,
            is_malloc,
        };
        let mut owner: &[u8] = b"";
        each_attribute(row.field(columns.attributes), |key, value| {
            let number = number_of(value).unwrap_or(NONE);
            match key {
                b"addr" if event.address == NONE => event.address = number,
                b"size" => event.bytes = number,
                b"used" => event.used = number,
                b"total" => event.taken = number,
                b"allocation_id" | b"MID" | b"mid" => event.allocation = number,
                b"owner" => owner = value,
                _ => {}
            }
        });
        if event.address == NONE && event.allocation == NONE {
            return Err(Fault::new(
                "a block has neither an address nor an allocation id",
                address,
            ));
        }
        if is_malloc && event.bytes == NONE {
            return Err(Fault::new(
                "a block has no size that can be read",
                row.field(columns.attributes),
            ));
        }
        if is_malloc {
            let stated = row.field(columns.name);
            let name = if stated.is_empty() { owner } else { stated };
            if !name.is_empty() {
                event.name = self.texts.names.intern(&String::from_utf8_lossy(name));
            }
            let python = row.field(columns.stacks[0]);
            let stack = if python.is_empty() {
                row.field(columns.stacks[1])
            } else {
                python
            };
            event.stack = stacks::add(stack, &mut self.texts);
        }
        event.group = self.group(row)?;
        self.blocks.push(event);
        Ok(RowKind::Block(u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX)))
    }

    fn group(&mut self, row: Row<'_>) -> Result<u32, Fault> {
        let (pool, device) = (row.field(Some(self.columns.kind)), row.field(self.columns.device));
        let key = (pool.to_vec(), device.to_vec());
        if self.groups.len() >= MOST_GROUPS && !self.groups.contains_key(&key) {
            return Err(Fault::new("there are more pools and devices than any tool has", pool));
        }
        let entry = self.groups.entry(key);
        let group = entry.index();
        entry.or_insert_with(|| Group::new(pool, device));
        Ok(u32::try_from(group).unwrap_or(u32::MAX))
    }

    fn mark(&mut self, row: Row<'_>, kind: MarkKind) -> RowKind {
        let (event, detail) = (row.field(Some(self.columns.event)), row.field(Some(self.columns.kind)));
        let name = row.field(self.columns.name);
        let text = [event, detail, name].map(String::from_utf8_lossy);
        let words: Vec<&str> = text.iter().map(AsRef::as_ref).filter(|word| !word.is_empty()).collect();
        let mut bytes = 0;
        each_attribute(row.field(self.columns.attributes), |key, value| {
            if key == b"req_size" {
                bytes = number_of(value).unwrap_or(0);
            }
        });
        let device = row.field(self.columns.device);
        let device = (!device.is_empty()).then(|| String::from_utf8_lossy(device).into_owned());
        let text = self.texts.names.intern(&words.join(" "));
        self.marks.push((device, Mark { kind, text, bytes }));
        RowKind::Mark(u32::try_from(self.marks.len() - 1).unwrap_or(u32::MAX))
    }

    /// The kind of a row; `None` where it is only counted.
    fn row_kind(&mut self, row: Row<'_>, at: u64) -> Result<Option<RowKind>, Fault> {
        let event = row.field(Some(self.columns.event)).to_ascii_uppercase();
        let kind = row.field(Some(self.columns.kind)).to_ascii_uppercase();
        Ok(Some(match event.as_slice() {
            b"MALLOC" | b"ALLOCATE" | b"ALLOC" => self.block(row, at, true)?,
            b"FREE" | b"RELEASE" => self.block(row, at, false)?,
            b"SYSTEM" | b"MSTX" => self.mark(row, MarkKind::Note),
            b"SNAPSHOT" => self.mark(row, MarkKind::Snapshot),
            b"OOM_DETAIL" if kind == b"OOM_TRIGGER" => self.mark(row, MarkKind::OutOfMemory),
            b"OP_LAUNCH" if kind.ends_with(b"_START") || kind.ends_with(b"_END") => RowKind::Launch(Launch {
                name: self
                    .texts
                    .names
                    .intern(&String::from_utf8_lossy(row.field(self.columns.name))),
                is_start: kind.ends_with(b"_START"),
            }),
            b"" => return Err(Fault::new("the event is missing", b"")),
            _ => {
                let event: String = String::from_utf8_lossy(&event).chars().take(40).collect();
                // A damaged file may have as many events as rows.
                let is_known = self.left_out.len() < 16 || self.left_out.contains_key(&event);
                let event = if is_known { event } else { "others".to_owned() };
                *self.left_out.entry(event).or_default() += 1;
                return Ok(None);
            }
        }))
    }

    /// Gives each block that begins the name of the innermost op that is open on its thread. `order` is that of time.
    fn name_blocks(&mut self, order: &[(u64, u64, u32)], progress: &Progress<'_>) -> Result<(), ImportError> {
        let mut open: Vec<Vec<RecordedName>> = vec![Vec::new(); self.threads.len()];
        for (done, (_, _, row)) in order.iter().enumerate() {
            if done.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let entry = self.entries[*row as usize];
            let open = &mut open[entry.thread as usize];
            match entry.kind {
                RowKind::Launch(launch) if launch.is_start => open.push(launch.name),
                RowKind::Launch(launch) => {
                    // An end without its start closes nothing. Ops nest a few levels deep; more is damage.
                    let depth = open.iter().rev().take(256).position(|name| *name == launch.name);
                    if let Some(depth) = depth {
                        open.truncate(open.len() - depth - 1);
                    }
                }
                RowKind::Block(position) => {
                    let event = &mut self.blocks[position as usize];
                    if let Some(name) = open.last().filter(|_| event.is_malloc) {
                        event.name = *name;
                    }
                }
                RowKind::Mark(_) => {}
            }
        }
        Ok(())
    }
}

impl Events {
    /// Leaves rows out whose times are damaged, where they are few; whether times are known then. Counts what is left.
    fn settle_times(&mut self) -> bool {
        let has_times = self.rough.is_few(self.entries.len());
        if has_times && self.rough.count > 0 {
            self.entries.retain(|entry| !entry.is_rough);
        }
        for entry in &self.entries {
            if let RowKind::Block(position) = entry.kind {
                let group = self.blocks[position as usize].group;
                self.groups[group as usize].count((entry.time, entry.id));
            }
        }
        has_times
    }

    fn report(&self, has_times: bool, sink: &mut Sink<'_, '_>) {
        for (event, count) in &self.left_out {
            let message = format!("rows of the event {event} are counted only");
            sink.diagnostics.counted(Severity::Info, message, "", *count);
        }
        let message = if has_times {
            "digits of a time are cut off, as spreadsheets do: the row is left out, so that a block may seem to be never \
             freed; take the file that the tool wrote"
        } else {
            "digits of a time are cut off, as spreadsheets do: the rows are in the order of the file; take the file that \
             the tool wrote"
        };
        self.rough.report(Severity::Warning, message, sink.diagnostics);
    }
}

impl Table for Events {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let Some((time, is_rough)) = row.time(Some(self.columns.time))? else {
            return Err(Fault::new("the time is missing", row.field(Some(self.columns.event))));
        };
        let id = number_of(row.field(self.columns.id)).unwrap_or(NONE);
        let Some(kind) = self.row_kind(row, time)? else {
            return Ok(());
        };
        if is_rough {
            self.rough.add(row.field(Some(self.columns.time.at)));
        }
        let thread = (row.field(self.columns.process), row.field(self.columns.thread));
        let thread = (thread.0.to_vec(), thread.1.to_vec());
        let thread = u32::try_from(self.threads.insert_full(thread).0).unwrap_or(u32::MAX);
        self.entries.push(Entry {
            time,
            id,
            thread,
            kind,
            is_rough,
        });
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        if u32::try_from(self.entries.len()).is_err() {
            return Err(ImportError::at(
                "there are more events than can be counted",
                "the table",
                "record fewer steps",
            ));
        }
        let has_times = self.settle_times();
        let time = |entry: &Entry| if has_times { entry.time } else { 0 };
        let keys = (0_u32..)
            .zip(&self.entries)
            .map(|(row, entry)| (time(entry), entry.id, row));
        let order = sink.progress.sorted(keys.collect())?;
        self.name_blocks(&order, sink.progress)?;
        self.report(has_times, sink);
        let Self {
            texts,
            entries,
            blocks: events,
            marks,
            groups,
            ..
        } = *self;
        let shared = DumpTables {
            texts: &texts,
            events: &events,
            has_times,
        };
        for (number, group) in (0_u32..).zip(groups.into_values()) {
            sink.progress.check()?;
            let own = |entry: &Entry| match entry.kind {
                RowKind::Block(position) => {
                    (events[position as usize].group == number).then_some(Item::Event(position))
                }
                RowKind::Mark(position) => {
                    let (device, mark) = &marks[position as usize];
                    let is_here = device.as_ref().is_none_or(|device| *device == group.device);
                    is_here.then_some(Item::Mark(*mark))
                }
                RowKind::Launch(_) => None,
            };
            let as_written: Vec<Item> = entries.iter().filter_map(own).collect();
            let by_time: Vec<Item> = order
                .iter()
                .filter_map(|(_, _, row)| own(&entries[*row as usize]))
                .collect();
            group.record(&as_written, &by_time, &shared, sink)?;
        }
        Ok(())
    }
}
