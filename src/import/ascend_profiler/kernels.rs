//! `kernel_details` and `op_summary`: what ran on the device, when and how long.
//!
//! In: rows `[Step Id, Device_id,] Name, Type, Accelerator Core, Start Time(us), Duration(us), ...` of `torch_npu`, or
//! `Device_id, Op Name, OP Type, Task Type, Task Start Time(us), Task Duration(us), ...` of msprof. Out: one recording a
//! device with measured ops and no blocks: next to a graph it gives the graph's ops their times. An op that ran
//! several times is listed as often. Rows without a duration are left out and counted.

use std::collections::BTreeMap;

use super::header::{Header, TimeColumn};
use super::table::{Fault, Row, Sink, Table};
use crate::ImportError;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{RecordedNames, RecordedOp, Recording};

const NAME: &[&str] = &["op name", "name"];
const KIND: &[&str] = &["op type", "type"];
const START: &[&str] = &["task start time", "start time"];
const TIME: &[&str] = &["task duration", "duration"];
const CORE: &[&str] = &["task type", "accelerator core"];

#[derive(Debug)]
pub(super) struct Kernels {
    name: usize,
    kind: usize,
    device: Option<usize>,
    start: TimeColumn,
    time: TimeColumn,
    /// By device as written.
    devices: BTreeMap<String, Device>,
}

#[derive(Debug, Default)]
struct Device {
    names: RecordedNames,
    ops: Vec<RecordedOp>,
}

pub(super) fn is_header(header: &Header) -> bool {
    [NAME, KIND, START, TIME, CORE]
        .iter()
        .all(|names| header.find(names).is_some())
}

impl Kernels {
    pub(super) fn new(header: &Header) -> Result<Self, ImportError> {
        Ok(Self {
            name: Header::needed(header.find(NAME))?,
            kind: Header::needed(header.find(KIND))?,
            device: header.find(&["device id", "device"]),
            start: Header::needed(header.time(START)?)?,
            time: Header::needed(header.time(TIME)?)?,
            devices: BTreeMap::new(),
        })
    }
}

impl Table for Kernels {
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let name = row.field(Some(self.name));
        if name.is_empty() {
            return Err(Fault::new("the op has no name", name));
        }
        let Some((time, _)) = row.time(Some(self.time))? else {
            return Err(Fault::new("the duration is missing", name));
        };
        // A start whose digits are cut off loses its order, not its duration.
        let start = row.time(Some(self.start))?.map_or(0, |(start, _)| start);
        let device = String::from_utf8_lossy(row.field(self.device)).into_owned();
        let device = self.devices.entry(device).or_default();
        let op = RecordedOp {
            name: device.names.intern(&String::from_utf8_lossy(name)),
            kind: device
                .names
                .intern(&String::from_utf8_lossy(row.field(Some(self.kind)))),
            start: Nanos(start),
            time: Nanos(time),
            scratch: Bytes::ZERO,
            persistent: Bytes::ZERO,
        };
        device.ops.push(op);
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        for (device, mut rows) in self.devices {
            sink.progress.check()?;
            rows.ops.sort_by_key(|op| op.start);
            let n_ops = rows.ops.len() as u64;
            sink.recordings.push(Recording {
                name: super::device_name(device.as_bytes()),
                device: if device.is_empty() {
                    device
                } else {
                    super::device_name(device.as_bytes())
                },
                recorder: "Ascend profiler, times of kernels".to_owned(),
                ops: rows.ops,
                names: rows.names.finish(),
                counts: vec![("kernels".to_owned(), n_ops)],
                ..Recording::default()
            });
        }
        Ok(())
    }
}
