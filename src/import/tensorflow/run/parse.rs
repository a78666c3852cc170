//! Messages of a run -> devices with their ops and memory events.

use indexmap::IndexMap;

use crate::ImportError;
use crate::budget::Budget;
use crate::tensorflow::fields::{Fields, Schema};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{RecordedName, RecordedNames};

const MAX_NAME: u64 = 64 << 10;
/// A rough price of one op, here and in the recording.
const OP_PRICE: u64 = 130;
/// A rough price of one event, here and in the recording.
const EVENT_PRICE: u64 = 120;
const DEVICE_PRICE: u64 = 512;

const RUN: Schema = Schema {
    what: "the run",
    fields: &[
        ("step_stats", 1),
        ("cost_graph", 2),
        ("partition_graphs", 3),
        ("function_graphs", 4),
    ],
};
const STEP_STATS: Schema = Schema {
    what: "the statistics of a step",
    fields: &[("dev_stats", 1)],
};
const DEVICE: Schema = Schema {
    what: "the statistics of a device",
    fields: &[("device", 1), ("node_stats", 2)],
};
const NODE: Schema = Schema {
    what: "the statistics of a node",
    fields: &[
        ("node_name", 1),
        ("all_start_micros", 2),
        ("op_start_rel_micros", 3),
        ("op_end_rel_micros", 4),
        ("all_end_rel_micros", 5),
        ("memory", 6),
        ("timeline_label", 8),
        ("memory_stats", 12),
        ("all_start_nanos", 13),
        ("op_start_rel_nanos", 14),
        ("op_end_rel_nanos", 15),
        ("all_end_rel_nanos", 16),
    ],
};
const MEMORY: Schema = Schema {
    what: "memory of a node",
    fields: &[
        ("allocator_name", 1),
        ("allocator_bytes_in_use", 5),
        ("allocation_records", 6),
    ],
};
const RECORD: Schema = Schema {
    what: "an allocation record",
    fields: &[("alloc_micros", 1), ("alloc_bytes", 2)],
};
const MEMORY_STATS: Schema = Schema {
    what: "memory statistics of a node",
    fields: &[("temp_memory_size", 1), ("persistent_memory_size", 3)],
};

#[derive(Debug, Default)]
pub(super) struct Device {
    /// Its name, such as `/job:localhost/replica:0/task:0/device:CPU:0`.
    pub(super) name: String,
    pub(super) ops: Vec<Op>,
    /// By allocator: events in the order of the file.
    pub(super) allocators: IndexMap<String, Allocator>,
    pub(super) names: RecordedNames,
}

#[derive(Debug, Default)]
pub(super) struct Allocator {
    pub(super) events: Vec<Event>,
    /// The stated live bytes at the end of an op: microseconds, bytes.
    pub(super) in_use: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// The run of an op that it belongs to, as a position in `ops`.
    pub(super) op: u32,
    /// In microseconds.
    pub(super) micros: u64,
    /// Bytes; negative where they are freed.
    pub(super) bytes: i64,
}

/// One run of an op. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) name: RecordedName,
    /// Its kind, where the label states it.
    pub(super) kind: RecordedName,
    pub(super) start: u64,
    pub(super) time: u64,
    pub(super) scratch: u64,
    /// Memory that it keeps for later runs.
    pub(super) persistent: u64,
}

/// Times of a node as the file states them, in micro- or nanoseconds; 0 where it does not.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    start: i64,
    op_start: i64,
    op_end: i64,
    all_end: i64,
}

pub(super) fn file<F: Fields>(
    fields: &mut F,
    len: u64,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Device>, ImportError> {
    let mut budget = Budget::for_file(len);
    let mut devices = Vec::new();
    while let Some(number) = fields.next(&RUN)? {
        let what = match number {
            1 => {
                fields.enter()?;
                while fields.next(&STEP_STATS)?.is_some() {
                    devices.push(device(fields, &mut budget)?);
                }
                continue;
            }
            2 => "the cost model of a run",
            3 => "a partition's graph of a run",
            _ => "a function's graph of a run",
        };
        diagnostics.skipped(what, &format!("byte {}", fields.at()));
    }
    Ok(devices)
}

fn device(fields: &mut impl Fields, budget: &mut Budget) -> Result<Device, ImportError> {
    fields.enter()?;
    budget.charge(DEVICE_PRICE, fields.at())?;
    let mut device = Device::default();
    while let Some(number) = fields.next(&DEVICE)? {
        if number == 1 {
            device.name = text(fields, budget)?;
        } else {
            budget.charge(OP_PRICE, fields.at())?;
            node(fields, &mut device, budget)?;
        }
    }
    Ok(device)
}

fn node(fields: &mut impl Fields, device: &mut Device, budget: &mut Budget) -> Result<(), ImportError> {
    fields.enter()?;
    let at = fields.at();
    let position = u32::try_from(device.ops.len())
        .map_err(|_overflow| ImportError::at_byte("a device ran more than 2^32 ops", at))?;
    let (mut name, mut label) = (String::new(), String::new());
    let (mut micros, mut nanos) = (Times::default(), Times::default());
    let (mut scratch, mut persistent) = (0, 0);
    let mut in_use: Vec<(usize, u64)> = Vec::new();
    while let Some(number) = fields.next(&NODE)? {
        match number {
            1 => name = text(fields, budget)?,
            8 => label = fields.text(MAX_NAME)?.unwrap_or_default(),
            6 => in_use.extend(memory(fields, device, position, budget)?),
            12 => {
                fields.enter()?;
                while let Some(number) = fields.next(&MEMORY_STATS)? {
                    let bytes = u64::try_from(fields.int()?).unwrap_or(0);
                    if number == 1 {
                        scratch = bytes;
                    } else {
                        persistent = bytes;
                    }
                }
            }
            _ => {
                let value = fields.int()?;
                let times = if number < 12 { &mut micros } else { &mut nanos };
                match number {
                    2 | 13 => times.start = value,
                    3 | 14 => times.op_start = value,
                    4 | 15 => times.op_end = value,
                    _ => times.all_end = value,
                }
            }
        }
    }
    let (start, time) = if nanos.start > 0 {
        nanos.span(1)
    } else {
        micros.span(1000)
    };
    for (allocator, bytes) in in_use {
        let allocator = &mut device.allocators[allocator];
        allocator.in_use.push((start.saturating_add(time) / 1000, bytes));
    }
    let kind = device.names.intern(kind_of(&name, &label));
    device.ops.push(Op {
        name: device.names.intern(&name),
        kind,
        start,
        time,
        scratch,
        persistent,
    });
    Ok(())
}

impl Times {
    /// Start and duration of the kernel: from the op's start to its end, which both count from the
    /// node's start; where the op's end is not given, that of all that belongs to it.
    fn span(self, unit: u64) -> (u64, u64) {
        let number = |value: i64| u64::try_from(value).unwrap_or(0).saturating_mul(unit);
        let end = if self.op_end > 0 { self.op_end } else { self.all_end };
        let begin = number(self.op_start).min(number(end));
        (
            number(self.start).saturating_add(begin),
            number(end).saturating_sub(begin),
        )
    }
}

/// The memory of one allocator; returns its position and its stated live bytes.
fn memory(
    fields: &mut impl Fields,
    device: &mut Device,
    op: u32,
    budget: &mut Budget,
) -> Result<Option<(usize, u64)>, ImportError> {
    let mut events = Vec::new();
    let (mut name, mut in_use) = (String::new(), 0);
    fields.enter()?;
    while let Some(number) = fields.next(&MEMORY)? {
        match number {
            1 => name = fields.text(MAX_NAME)?.unwrap_or_default(),
            5 => in_use = u64::try_from(fields.int()?).unwrap_or(0),
            _ => {
                budget.charge(EVENT_PRICE, fields.at())?;
                let (mut micros, mut bytes) = (0, 0);
                fields.enter()?;
                while let Some(number) = fields.next(&RECORD)? {
                    let value = fields.int()?;
                    if number == 1 {
                        micros = u64::try_from(value).unwrap_or(0);
                    } else {
                        bytes = value;
                    }
                }
                events.push(Event { op, micros, bytes });
            }
        }
    }
    if events.is_empty() && in_use == 0 {
        return Ok(None);
    }
    if !device.allocators.contains_key(&name) {
        budget.charge(DEVICE_PRICE + name.len() as u64, fields.at())?;
    }
    let entry = device.allocators.entry(name);
    let position = entry.index();
    entry.or_default().events.append(&mut events);
    Ok((in_use > 0).then_some((position, in_use)))
}

fn text(fields: &mut impl Fields, budget: &mut Budget) -> Result<String, ImportError> {
    let at = fields.at();
    let text = fields.text(MAX_NAME)?;
    let text = text.ok_or_else(|| ImportError::at_byte(format!("a name is longer than {MAX_NAME} bytes"), at))?;
    budget.charge(text.len() as u64 * 2 + 16, at)?;
    Ok(text)
}

/// `[cpu 1.5MB 1.5MB] name = MaxPool(Relu)`: the word before the bracket; empty where the label is another.
fn kind_of<'a>(name: &str, label: &'a str) -> &'a str {
    let rest = label.split_once(" = ").filter(|(before, _)| before.ends_with(name));
    let kind = rest
        .and_then(|(_, rest)| rest.split_once('('))
        .map_or("", |(kind, _)| kind);
    let is_word = kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_word { kind } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_the_kind() {
        assert_eq!(kind_of("a/b", "[cpu 0.2MB 0.2MB] a/b = MatMul(x, y)"), "MatMul");
        assert_eq!(kind_of("a", "a = Const()"), "Const");
        assert_eq!(
            (kind_of("a", "MatMul"), kind_of("a", "b = C(x)"), kind_of("a", "")),
            ("", "", "")
        );
    }

    #[test]
    fn times_are_those_of_the_kernel() {
        let times = Times {
            start: 100,
            op_start: 2,
            op_end: 12,
            all_end: 15,
        };
        assert_eq!(times.span(1000), (102_000, 10_000));
        let whole = Times {
            op_start: 0,
            op_end: 0,
            ..times
        };
        assert_eq!(whole.span(1), (100, 15));
        let odd = Times { op_start: 30, ..times };
        assert_eq!(odd.span(1), (112, 0));
    }
}
